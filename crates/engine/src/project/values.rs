//! Data values for a render.

use ytterby_diag::{Failure, Id};

use super::ProjectError;
use crate::api::{ValueFlags, ValuesFile};
use crate::input::{Content, InputFile};

/// Data values for a render: whole documents, and single values by path. Later ones take precedence over earlier ones, and
/// single values over documents.
///
/// ```
/// use ytterby::Values;
///
/// let values = Values::new()
///     .document(&std::collections::BTreeMap::from([("replicas", 3)]))
///     .yaml("prod.yml", "db: {host: db.prod.test}\n")
///     .set("db.port", 5432)
///     .set_text("db.user", "shop");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Values {
    flags: ValueFlags,
    /// The first value that could not be converted.
    problem: Option<Failure>,
}

impl Values {
    /// No values: the defaults of the schema.
    pub fn new() -> Values {
        Values::default()
    }

    /// Adds a document of values, like `--data-values-file`: plain YAML or JSON. Messages show the name.
    #[must_use]
    pub fn yaml(mut self, name: impl Into<String>, text: impl AsRef<[u8]>) -> Values {
        let path = name.into();
        let file = InputFile::new(path.clone(), Content::new(text.as_ref()));
        self.flags.files.push(ValuesFile { library: String::new(), path, files: Ok(vec![file]) });
        self
    }

    /// Adds a document of values: a map or a struct.
    #[cfg(feature = "serde")]
    #[must_use]
    pub fn document(mut self, values: &impl serde::Serialize) -> Values {
        match serde_json::to_vec(values) {
            Ok(text) => self.yaml("(values)", text),
            Err(why) => {
                self.refuse(format!("Values cannot be represented as YAML: {why}"));
                self
            }
        }
    }

    /// Sets the value at a path: `db.port`; `@library:db.port` for a library.
    #[cfg(feature = "serde")]
    #[must_use]
    pub fn set(mut self, path: &str, value: impl serde::Serialize) -> Values {
        match serde_json::to_string(&value) {
            Ok(text) => self.set_yaml(path, &text),
            Err(why) => {
                self.refuse(format!("The value of {path} cannot be represented as YAML: {why}"));
                self
            }
        }
    }

    /// Sets the value at a path to a string.
    #[must_use]
    pub fn set_text(mut self, path: &str, text: &str) -> Values {
        if self.takes(path) {
            self.flags.strings.push(format!("{path}={text}"));
        }
        self
    }

    /// Sets the value at a path to a YAML text.
    #[must_use]
    pub fn set_yaml(mut self, path: &str, yaml: &str) -> Values {
        if self.takes(path) {
            self.flags.yaml.push(format!("{path}={yaml}"));
        }
        self
    }

    /// Adds values as flags of the command.
    #[must_use]
    pub fn flags(mut self, flags: ValueFlags) -> Values {
        self.flags.append(flags);
        self
    }

    fn takes(&mut self, path: &str) -> bool {
        let is_path = !path.contains('=');
        if !is_path {
            self.refuse(format!("The path {path} contains an equals sign; give the value in a document"));
        }
        is_path
    }

    fn refuse(&mut self, why: String) {
        self.problem.get_or_insert_with(|| Failure::new(Id::FLAG_VALUE, why));
    }

    /// Adds them to the values of a project.
    pub(super) fn add_to(&self, flags: &mut ValueFlags) -> Result<(), ProjectError> {
        match &self.problem {
            Some(failure) => Err(ProjectError::new(failure.clone(), std::sync::Arc::default())),
            None => {
                flags.append(self.flags.clone());
                Ok(())
            }
        }
    }
}
