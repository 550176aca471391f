//! Data values for a render: whole documents, single values by path, or flags of the command.
//!
//! Methods only collect; `Values::add_to` hands everything to the same code that reads the
//! command's flags, so precedence and errors are the same. Serialized values travel as JSON, and
//! the end of this file makes that YAML with the same strings.

use std::fmt;

use ytterby_diag::{Failure, Id, ValueForm};

use super::ProjectError;
use crate::api::{ValueFlags, ValuesFile};
use crate::input::{Content, FileKind, InputFile};

/// Data values for a render: whole documents, and single values by path. Later ones take precedence
/// over earlier ones, and single values over documents and [`Values::flags`].
///
/// Rust values are converted as JSON represents them: keys become strings, and floats that are not
/// finite become null. `Debug` shows what was set, but no values, which may be secret.
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
#[derive(Clone, Default)]
pub struct Values {
    flags: ValueFlags,
    /// The first value that could not be converted.
    problem: Option<Failure>,
}

impl fmt::Debug for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ValueFlags { files, env, env_yaml, strings, yaml, contents, placed, pairs } = &self.flags;
        let files = files.iter().map(|file| &*file.path).chain(env.iter().chain(env_yaml).map(String::as_str));
        let pairs = strings.iter().chain(yaml).chain(pairs.iter().map(|(_, pair)| pair));
        let keys = pairs.map(|pair| pair.split_once('=').map_or("", |(key, _)| key));
        let keys = keys.chain(contents.iter().map(|value| &*value.key)).chain(placed.iter().map(|value| &*value.key));
        f.debug_struct("Values")
            .field("documents", &files.collect::<Vec<_>>())
            .field("keys", &keys.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

impl Values {
    /// No values: the defaults of the schema.
    pub fn new() -> Values {
        Values::default()
    }

    /// Adds a document of values, like `--data-values-file`: plain YAML or JSON. Messages show the
    /// name, which has no other meaning.
    #[must_use]
    pub fn yaml(mut self, name: impl Into<String>, text: impl AsRef<[u8]>) -> Values {
        let path = name.into();
        let content = Content::new(text.as_ref());
        let file = InputFile { marked_kind: Some(FileKind::Yaml), ..InputFile::new(path.clone(), content) };
        self.flags.files.push(ValuesFile { library: String::new(), path, files: Ok(vec![file]) });
        self
    }

    /// Adds a document of values: a map or a struct.
    #[cfg(feature = "serde")]
    #[must_use]
    pub fn document(mut self, values: &impl serde::Serialize) -> Values {
        match serde_json::to_string(values) {
            Ok(text) => self.yaml("(values)", json_as_yaml(&text)),
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
            Ok(text) => self.set_yaml(path, &json_as_yaml(&text)),
            Err(why) => {
                self.refuse(format!("The value of {path} cannot be represented as YAML: {why}"));
                self
            }
        }
    }

    /// Sets the value at a path to a string.
    #[must_use]
    pub fn set_text(self, path: &str, text: &str) -> Values {
        self.pair(ValueForm::Text, path, text)
    }

    /// Sets the value at a path to a YAML text.
    #[must_use]
    pub fn set_yaml(self, path: &str, yaml: &str) -> Values {
        self.pair(ValueForm::Yaml, path, yaml)
    }

    /// Adds values as flags of the command. The other methods that set single values take
    /// precedence over them.
    #[must_use]
    pub fn flags(mut self, flags: ValueFlags) -> Values {
        self.flags.append(flags);
        self
    }

    fn pair(mut self, form: ValueForm, path: &str, value: &str) -> Values {
        if path.contains('=') {
            self.refuse(format!("The path {path} contains an equals sign; give the value in a document"));
        } else {
            self.flags.pairs.push((form, format!("{path}={value}")));
        }
        self
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

/// Compact JSON as YAML with the same strings: YAML 1.1 refuses some characters that JSON allows or
/// reads them as line breaks, and an implicit key has at most 1024 bytes.
#[cfg(feature = "serde")]
fn json_as_yaml(json: &str) -> String {
    use std::fmt::Write as _;

    const LONG_KEY: usize = 1000;
    let mut yaml = String::with_capacity(json.len());
    let (mut string_start, mut is_escaped) = (None, false);
    for (at, c) in json.char_indices() {
        match c {
            '"' if !is_escaped => match string_start.take() {
                None => string_start = Some(yaml.len()),
                Some(start) => {
                    if yaml.len() - start > LONG_KEY && json[at + 1..].starts_with(':') {
                        yaml.insert_str(start, "? ");
                    }
                }
            },
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                _ = write!(yaml, "\\u{:04x}", u32::from(c));
                continue;
            }
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        yaml.push(c);
    }
    yaml
}
