//! What a host gives to the engine and gets back.
//!
//! Everything from outside is named by the host *before* [`render`](crate::render): files, the contents behind flags,
//! environment variables. Only bytes that a run really needs are read ([`Content`]), and what cannot be read travels as
//! the text of the failure: like the reference, we complain only about inputs that are used, in the order of their use.

use std::fmt;

use ytterby_diag::{Diagnostic, Kind, Message, Note, Pos, Severity};
use ytterby_text::spelling;

use crate::input::{Content, InputFile};

/// The version of ytt whose behaviour is the measure; `@ytt:version` answers with it.
pub const YTT_VERSION: &str = "0.49.0";

/// How many turns of loops and calls the code of one file may take, if the host does not say: minutes of work. Beyond
/// that it hardly ends at all.
pub const MAX_STEPS: u64 = 2_000_000_000;

/// Everything a run depends on besides its files. New versions can bring new fields: end with `..Options::default()`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The name in front of messages: the basename that the program was called by.
    pub program: String,
    /// `--strict`: only the strict subset of YAML.
    pub strict: bool,
    /// `--ignore-unknown-comments`.
    pub ignore_unknown_comments: bool,
    /// `--implicit-map-key-overrides`.
    pub implicit_map_key_overrides: bool,
    /// `--debug`: tell [`Host::debug`] what goes on.
    pub debug: bool,
    /// `--file-mark`, in order.
    pub file_marks: Vec<String>,
    /// Data values from the command line.
    pub values: ValueFlags,
    /// Environment variables in the order of the environment; empty unless a flag asks for them.
    pub env: Vec<(String, String)>,
    /// What to show instead of the rendered templates.
    pub inspect: Option<Inspect>,
    /// `--output`, each type as written.
    pub output_types: OutputTypes,
    /// In which form the host wants the result.
    pub target: Target,
    /// `--dangerous-data-values-disable-validation` and its alias.
    pub skip_value_validation: bool,
    /// `--output-disable-validation`.
    pub skip_output_validation: bool,
    /// `--strict-annotations`: suspicious annotations fail the run.
    pub strict_annotations: bool,
    /// `--all-errors` (implied by the machine-readable diagnostics): go on after a type error.
    pub all_errors: bool,
    /// `--data-value-coerce`.
    pub coerce_values: bool,
    /// `--compat`.
    pub compat: Compat,
    /// Whether notes of [`Message`] (hints, excerpts) will be shown, so that they are worth computing.
    pub rich: bool,
    /// Whether messages show of long source lines only what is around the place in question. ytt shows all of them.
    pub cut_lines: bool,
    /// How many turns of loops and calls of functions the code of one file may take; a bound against endless loops.
    /// Nothing is [`MAX_STEPS`]. One call of a validation rule has a lower bound of its own.
    pub max_steps: Option<u64>,
    /// `--library`, outermost first: inspect this library instead of the root.
    pub library: Vec<String>,
}

/// How far the program goes beyond ytt.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Compat {
    /// All of it.
    #[default]
    Latest,
    /// Exactly ytt 0.49: nothing new is recognised, nothing new is said.
    V0_49,
}

/// What `--…-inspect` flags show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Inspect {
    /// `--files-inspect`: the files that take part.
    Files,
    /// `--data-values-inspect`: the final data values.
    Values,
    /// `--data-values-schema-inspect`: the schema, in the format that `--output` names.
    Schema,
    /// `--schema-inspect`: the same with `ytt-schema` as the format when none is named.
    SchemaDocs,
}

/// The form of the result that the host can use; the other one is not made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Target {
    /// All documents in one stream.
    #[default]
    Documents,
    /// One output per input file.
    Files,
}

/// Data values from flags. Precedence is that of the fields, later ones win; within a field, that of the command line.
#[derive(Clone, Debug, Default)]
pub struct ValueFlags {
    /// `--data-values-file`.
    pub files: Vec<ValuesFile>,
    /// `--data-values-env`: prefixes, as written.
    pub env: Vec<String>,
    /// `--data-values-env-yaml`: prefixes, as written.
    pub env_yaml: Vec<String>,
    /// `--data-value`: `key=value`, as written.
    pub strings: Vec<String>,
    /// `--data-value-yaml`: `key=value`, as written.
    pub yaml: Vec<String>,
    /// `--data-value-file`: `key=path`.
    pub contents: Vec<ValueFromFile>,
}

/// One `--data-values-file`: a file, or all YAML files below a directory.
#[derive(Clone, Debug)]
pub struct ValuesFile {
    /// The library that it is for, with its `@`; empty for the root.
    pub library: String,
    /// The path as written, without the library.
    pub path: String,
    /// What is there, files of directories that are no YAML included; or the reference's text (without its
    /// `Extracting data value from file: `) about what is wrong with the flag or the path.
    pub files: Result<Vec<InputFile>, String>,
}

/// One `--data-value-file`.
#[derive(Clone, Debug)]
pub struct ValueFromFile {
    /// The library that it is for, with its `@`; empty for the root.
    pub library: String,
    /// `a.b.c`.
    pub key: String,
    /// The path as written.
    pub path: String,
    /// The bytes; it fails with the reference's text (without its `Extracting data value from file: `) about what is
    /// wrong with the flag or the path.
    pub content: Content,
}

/// The values of `--output`: at most one document format and one schema format count, the first of each.
#[derive(Clone, Debug, Default)]
pub struct OutputTypes(pub Vec<String>);

/// How documents are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Format {
    /// `yaml`.
    #[default]
    Yaml,
    /// `json`.
    Json,
    /// `pos`: YAML with the origin of each line.
    Pos,
}

/// How a schema is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SchemaFormat {
    /// `openapi-v3`.
    OpenApi,
    /// `json-schema`.
    JsonSchema,
    /// `crd`.
    Crd,
    /// `ytt-schema`.
    YttSchema,
    /// `markdown`.
    Markdown,
    /// `html`.
    Html,
    /// `values`: a file of values to fill in.
    Values,
}

impl OutputTypes {
    const FORMATS: [(&str, Format); 3] = [("yaml", Format::Yaml), ("json", Format::Json), ("pos", Format::Pos)];

    const SCHEMA_FORMATS: [(&str, SchemaFormat); 7] = [
        ("openapi-v3", SchemaFormat::OpenApi),
        ("json-schema", SchemaFormat::JsonSchema),
        ("crd", SchemaFormat::Crd),
        ("ytt-schema", SchemaFormat::YttSchema),
        ("markdown", SchemaFormat::Markdown),
        ("html", SchemaFormat::Html),
        ("values", SchemaFormat::Values),
    ];

    /// The document format; YAML if none is named. Unknown names are an error, in the reference's words.
    pub fn format(&self, known: KnownSchemaFormats) -> Result<Format, String> {
        self.check(known)?;
        Ok(self.0.iter().find_map(|name| find(&OutputTypes::FORMATS, name)).unwrap_or_default())
    }

    /// The schema format, if one is named.
    pub fn schema(&self, known: KnownSchemaFormats) -> Result<Option<SchemaFormat>, String> {
        self.check(known)?;
        Ok(self.0.iter().find_map(|name| find(&OutputTypes::SCHEMA_FORMATS, name)))
    }

    fn check(&self, known: KnownSchemaFormats) -> Result<(), String> {
        let schemas = match known {
            KnownSchemaFormats::OpenApiOnly => &OutputTypes::SCHEMA_FORMATS[..1],
            KnownSchemaFormats::All => &OutputTypes::SCHEMA_FORMATS[..],
        };
        let is_known = |name: &str| find(&OutputTypes::FORMATS, name).is_some() || find(schemas, name).is_some();
        match self.0.iter().find(|name| !is_known(name)) {
            Some(name) => Err(format!("Unknown output type '{name}'")),
            None => Ok(()),
        }
    }

    /// What to try in place of the first name that is not known.
    pub(crate) fn hint(&self, known: KnownSchemaFormats) -> Option<String> {
        let formats = OutputTypes::FORMATS.iter().map(|entry| entry.0);
        let schemas: Vec<&str> = OutputTypes::schema_names(known);
        let names: Vec<&str> = formats.chain(schemas).collect();
        let name = self.0.iter().find(|name| !names.contains(&name.as_str()))?;
        if find(&OutputTypes::SCHEMA_FORMATS, name).is_some() {
            return Some(format!("{name} is a form of schemas: it needs --data-values-schema-inspect"));
        }
        let near = spelling::closest(name, names.iter().copied(), spelling::tolerance_of_short(name));
        Some(match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", names.join(", ")),
        })
    }

    /// The names of schema formats.
    pub(crate) fn schema_names(known: KnownSchemaFormats) -> Vec<&'static str> {
        let count = if known == KnownSchemaFormats::All { OutputTypes::SCHEMA_FORMATS.len() } else { 1 };
        OutputTypes::SCHEMA_FORMATS[..count].iter().map(|entry| entry.0).collect()
    }
}

/// Which names of schema formats `--output` takes: the newer ones only together with a flag that shows a schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnownSchemaFormats {
    /// Only what ytt has.
    OpenApiOnly,
    /// Everything.
    All,
}

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|entry| entry.0 == name).map(|entry| entry.1)
}

/// What a run may tell while it goes on. Everything that a run evaluates shares it, hence `&self`.
pub trait Host {
    /// Text of `print()` in templates, with its line feed. Strings of code are bytes; they need not be UTF-8.
    fn print(&self, text: &[u8]);

    /// A piece of debug output, asked for by [`Options::debug`], with its line feeds.
    fn debug(&self, text: &str);
}

/// A host that hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Host for Silent {
    fn print(&self, _text: &[u8]) {}
    fn debug(&self, _text: &str) {}
}

/// A run that succeeded.
#[derive(Debug, Default)]
pub struct Rendered {
    /// The stream of documents ([`Target::Documents`]).
    pub documents: Vec<u8>,
    /// The output files in their order ([`Target::Files`]).
    pub files: Vec<OutputFile>,
    /// Whether there are results that are no YAML and so not part of `documents`.
    pub has_other_files: bool,
    /// Warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// One output file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputFile {
    /// The path below the output directory, as templates and marks left it.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A run that failed. Shown, it is the text of its message.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The reference's text, what follows `Error: `, before the outermost layout step.
    pub message: Message,
    /// Warnings, and the errors in pieces; a failure without errors here is shown as one error made of `message`.
    pub diagnostics: Vec<Diagnostic>,
}

impl Failure {
    /// A failure with this text.
    pub fn new(text: impl Into<String>) -> Failure {
        Failure { message: Message::new(text), diagnostics: Vec::new() }
    }

    /// A failure with this text whose place is not known yet, and with what to try: a line of rich messages.
    pub(crate) fn hinted(text: &str, hint: Option<String>) -> Failure {
        let mut failure = Failure::new(text);
        let hints = Vec::from_iter(hint);
        hints.iter().for_each(|hint| failure.message.note(Note::Text(format!("    = hint: {hint}"))));
        failure.diagnostics.push(Diagnostic { hints, ..Diagnostic::new(Severity::Error, Kind::Other, text) });
        failure
    }

    /// Says where it is, unless it says so itself.
    pub(crate) fn place_at(&mut self, pos: Pos) {
        let is_placeless = |one: &Diagnostic| one.severity == Severity::Error && one.from.is_none() && one.by.is_none();
        if !self.diagnostics.iter().any(is_placeless) {
            return;
        }
        self.message.note_first(Note::Excerpt(pos));
        self.diagnostics.iter_mut().filter(|one| is_placeless(one)).for_each(|one| one.from = Some(pos));
    }

    /// The same behind a text that says what was being done.
    #[must_use]
    pub fn prefixed(mut self, prefix: &str) -> Failure {
        self.message = self.message.prefixed(prefix);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

impl std::error::Error for Failure {}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure { message: Message::from(text), diagnostics: Vec::new() }
    }
}
