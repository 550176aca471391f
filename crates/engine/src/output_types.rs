//! The formats of `--output`: a table for documents and one for schemas.
//!
//! Completion, suggestions and `--compat` read the rows. `render` has an arm for each format, which
//! calls its writer.

use ytterby_diag::{Diagnostic, Failure, Help, Id};
use ytterby_text::spelling;

use crate::level::Level;

/// The values of `--output`: the first document format and the first schema format count.
///
/// ```
/// use ytterby::{Format, OutputTypes, SchemaFormat};
/// assert_eq!(OutputTypes::from(Format::Json).0, ["json"]);
/// assert_eq!(OutputTypes::from(SchemaFormat::OpenApi).0, ["openapi-v3"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct OutputTypes(pub Vec<String>);

impl From<Format> for OutputTypes {
    fn from(format: Format) -> OutputTypes {
        OutputTypes(vec![format.name().to_owned()])
    }
}

impl From<SchemaFormat> for OutputTypes {
    fn from(format: SchemaFormat) -> OutputTypes {
        OutputTypes(vec![format.name().to_owned()])
    }
}

/// A row of a table: a format, its name, and the first level that has it.
struct FormatRow<T> {
    format: T,
    name: &'static str,
    since: Level,
}

macro_rules! formats {
    ($(#[$doc:meta])* $type:ident: $($(#[$about:meta])* $variant:ident $name:literal $since:ident;)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[non_exhaustive]
        pub enum $type { $(#[doc = concat!("`", $name, "`: ")] $(#[$about])* $variant),* }

        impl $type {
            const TABLE: &'static [FormatRow<$type>] =
                &[$(FormatRow { format: $type::$variant, name: $name, since: Level::$since }),*];

            /// All names in `--output`.
            pub const NAMES: &'static [&'static str] = &[$($name),*];

            /// Its name in `--output`.
            pub fn name(self) -> &'static str {
                Self::TABLE[self as usize].name
            }
        }
    };
}

formats! {
    /// How documents are written.
    #[derive(Default)]
    Format:
    /// YAML.
    #[default]
    Yaml "yaml" Ytt049;
    /// JSON.
    Json "json" Ytt049;
    /// the origin of each node, in ytt's form.
    Pos "pos" Ytt049;
    /// YAML with the origin of each line as a comment.
    YamlSource "yaml+source" Ytterby;
}

formats! {
    /// How a schema is shown.
    SchemaFormat:
    /// a document of OpenAPI.
    OpenApi "openapi-v3" Ytt049;
    /// JSON Schema.
    JsonSchema "json-schema" Ytterby;
    /// a custom resource definition of Kubernetes.
    Crd "crd" Ytterby;
    /// the fields as YAML.
    YttSchema "ytt-schema" Ytterby;
    /// the fields as a table.
    Markdown "markdown" Ytterby;
    /// a page with the fields.
    Html "html" Ytterby;
    /// a file of values to fill in.
    Values "values" Ytterby;
}

/// Which formats a run offers. Schema formats that ytt does not have are known only if the run
/// shows a schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Offer {
    pub level: Level,
    pub shows_schema: bool,
}

impl Offer {
    /// The names of document formats.
    fn formats(self) -> impl Iterator<Item = &'static str> {
        Format::TABLE
            .iter()
            .filter(move |row| self.level == Level::Ytterby || row.since == self.level)
            .map(|row| row.name)
    }

    /// The names of schema formats.
    pub fn schema_formats(self) -> impl Iterator<Item = &'static str> {
        let has_all = self.level == Level::Ytterby && self.shows_schema;
        SchemaFormat::TABLE.iter().filter(move |row| has_all || row.since == Level::Ytt049).map(|row| row.name)
    }

    fn names(self) -> impl Iterator<Item = &'static str> {
        self.formats().chain(self.schema_formats())
    }
}

impl OutputTypes {
    /// All names, document formats first.
    pub const NAMES: &'static [&'static str] = &{
        let (formats, schemas) = (Format::NAMES, SchemaFormat::NAMES);
        let mut names = [""; Format::NAMES.len() + SchemaFormat::NAMES.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = if at < formats.len() { formats[at] } else { schemas[at - formats.len()] };
            at += 1;
        }
        names
    };

    /// The document format; the default is YAML.
    pub(crate) fn format(&self, offer: Offer) -> Result<Format, Failure> {
        self.check(offer)?;
        Ok(self.first(Format::TABLE).unwrap_or_default())
    }

    /// The schema format, if one is given.
    pub(crate) fn schema(&self, offer: Offer) -> Result<Option<SchemaFormat>, Failure> {
        self.check(offer)?;
        Ok(self.first(SchemaFormat::TABLE))
    }

    fn first<T: Copy>(&self, table: &[FormatRow<T>]) -> Option<T> {
        self.0.iter().find_map(|name| table.iter().find(|row| row.name == name).map(|row| row.format))
    }

    fn check(&self, offer: Offer) -> Result<(), Failure> {
        match self.0.iter().find(|name| !offer.names().any(|known| known == *name)) {
            Some(name) => {
                let problem = Diagnostic::error(Id::FLAG_VALUE, format!("Unknown output type '{name}'"));
                Err(problem.help(advice(name, offer)).into())
            }
            None => Ok(()),
        }
    }
}

/// The suggestion for an unknown name.
fn advice(name: &str, offer: Offer) -> Help {
    let shows_schema = Offer { shows_schema: true, ..offer };
    if shows_schema.schema_formats().any(|known| known == name) {
        return format!("{name} is a format of schemas: add --data-values-schema-inspect").into();
    }
    match spelling::closest(name, offer.names(), spelling::tolerance_of_short(name)) {
        Some(near) => format!("did you mean {near}?").into(),
        None => format!("output types are {}", offer.names().collect::<Vec<_>>().join(", ")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_has_its_formats() {
        let names = |level, shows_schema| Offer { level, shows_schema }.names().collect::<Vec<_>>().join(" ");
        for shows_schema in [false, true] {
            assert_eq!(names(Level::Ytt049, shows_schema), "yaml json pos openapi-v3");
        }
        assert_eq!(names(Level::Ytterby, false), "yaml json pos yaml+source openapi-v3");
        assert_eq!(names(Level::Ytterby, true), OutputTypes::NAMES.join(" "));
    }
}
