//! The interface between a host and the engine.
//!
//! The host names everything from outside *before* [`render`](crate::render): files, the contents
//! that flags refer to, environment variables. Only bytes that a run needs are read ([`Content`]).
//! An error of reading is reported when the input is used: like the reference, we complain only
//! about inputs that are used, in the order of their use.

use ytterby_diag::{Diagnostic, Failure, Path, ValueForm};
use ytterby_text::Str;
use ytterby_text::budget::{Cancellation, Limits, Meter};

use crate::input::{Content, InputFile};
use crate::output_types::OutputTypes;

/// The version of ytt that we are compatible with; `@ytt:version` returns it.
pub const YTT_VERSION: &str = "0.55.0";

/// The limit of loop iterations and calls if the host neither sets one nor has a clock
/// ([`Options::meter`]): minutes of work.
pub const MAX_STEPS: u64 = 2_000_000_000;

/// Everything a run depends on besides its files. New versions can add fields: end with
/// `..Options::default()`.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The name in front of messages: the basename of the program.
    pub program: String,
    /// `--strict`: only the strict subset of YAML.
    pub strict: bool,
    /// `--ignore-unknown-comments`.
    pub ignore_unknown_comments: bool,
    /// `--implicit-map-key-overrides`.
    pub implicit_map_key_overrides: bool,
    /// `--debug`: report progress to [`Host::debug`].
    pub debug: bool,
    /// `--file-mark`, in order.
    pub file_marks: Vec<String>,
    /// Data values from the command line.
    pub values: ValueFlags,
    /// Environment variables in the order of the environment; empty unless a flag uses them.
    pub env: Vec<(String, String)>,
    /// What to show instead of the rendered templates.
    pub inspect: Option<Inspect>,
    /// `--output`, each type as written.
    pub output_types: OutputTypes,
    /// The form of the result.
    pub target: OutputForm,
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
    /// Whether to look for common mistakes that are not errors: boolean keys, Helm's braces, values
    /// files passed as templates. This walks all inputs; the warnings are
    /// [`Diagnostic::beyond_text`].
    pub look_for_slips: bool,
    /// `--limit-time` and similar flags: the limits of the whole run. One call of a validation rule
    /// has lower limits.
    pub limits: Limits,
    /// Measures time and memory for the limits. Without it, time is not limited.
    pub meter: Option<std::sync::Arc<dyn Meter>>,
    /// A token that another thread can use to stop the run.
    pub cancellation: Option<Cancellation>,
    /// `--library`, outermost first: inspect this library instead of the root.
    pub library: Vec<String>,
    /// Records which items of overlays matched something.
    pub overlay_record: Option<std::sync::Arc<crate::overlay_record::OverlayRecord>>,
    /// Records coverage: lines of templates, data values. It costs time; `None` records nothing.
    pub coverage: Option<std::sync::Arc<crate::coverage::Coverage>>,
    /// Whether problems in the output contain the data values that cause them, found by experiment;
    /// otherwise only those that the line reads. It needs further renders if something is wrong.
    pub find_causes: bool,
    /// Whether to return where each line of the output comes from ([`Rendered::source_map`]).
    pub source_map: bool,
    /// Whether the process ends after this run: then the run need not be freed, nor documents as
    /// long as they are small.
    pub is_last_run: bool,
    /// A further check of output documents.
    pub output_check: Option<std::sync::Arc<dyn crate::OutputCheck>>,
}

/// Which extensions of ytt are enabled, and which version of ytt is emulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Compat {
    /// All extensions; the version is [`YTT_VERSION`].
    #[default]
    Latest,
    /// Exactly ytt 0.`minor`: no extensions and no new messages.
    Ytt {
        /// The number of the release: 49, or 50 to 55, which differ only in this number.
        minor: u8,
    },
}

impl Compat {
    /// Exactly ytt 0.49.
    pub const V0_49: Compat = Compat::Ytt { minor: 49 };
    /// Exactly ytt 0.55.
    pub const V0_55: Compat = Compat::Ytt { minor: LATEST_MINOR };

    /// The level for a value of `--compat`: `0.49`, `0.50` to `0.55`, or `off`.
    ///
    /// ```
    /// use ytterby::Compat;
    /// assert_eq!(Compat::find("0.55"), Some(Compat::V0_55));
    /// assert_eq!(Compat::find("off"), Some(Compat::Latest));
    /// assert_eq!(Compat::find("0.48"), None);
    /// ```
    pub fn find(name: &str) -> Option<Compat> {
        if name == "off" {
            return Some(Compat::Latest);
        }
        let minors = (Compat::FIRST_MINOR..=LATEST_MINOR).map(|minor| (format!("0.{minor}"), minor));
        minors.into_iter().find(|(text, _)| text == name).map(|(_, minor)| Compat::Ytt { minor })
    }

    /// The version of ytt that templates see.
    pub fn ytt_version(self) -> String {
        format!("0.{}.0", self.minor())
    }

    /// Whether extensions are disabled.
    pub fn is_ytt_only(self) -> bool {
        self != Compat::Latest
    }

    /// The emulated release of ytt, apart from extensions.
    pub(crate) fn minor(self) -> u8 {
        match self {
            Compat::Latest => LATEST_MINOR,
            Compat::Ytt { minor } => minor,
        }
    }

    const FIRST_MINOR: u8 = 49;
}

/// The release of [`YTT_VERSION`].
const LATEST_MINOR: u8 = 55;

/// What `--…-inspect` flags show.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Inspect {
    /// `--files-inspect`: the files that take part.
    Files,
    /// `--data-values-inspect`: the final data values.
    Values,
    /// `--data-values-schema-inspect`: the schema, in the format of `--output`.
    Schema,
    /// `--schema-inspect`: the same, with `ytt-schema` as the default format.
    SchemaDocs,
}

/// The form of the result that the host needs; the other one is not computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum OutputForm {
    /// All documents in one stream.
    #[default]
    Documents,
    /// One output per input file.
    Files,
}

/// Data values from flags. Later fields take precedence over earlier ones, except for `placed`;
/// within a field, the order is that of the command line.
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
    /// Values that a host read itself, such as `set` of a project file. They take precedence over
    /// files and the environment, not over `--data-value` and the like.
    pub placed: Vec<PlacedValue>,
    /// `key=value` of text and YAML in one order, as written. They take precedence over everything
    /// else.
    pub pairs: Vec<(ValueForm, String)>,
}

/// A data value with its position in a source that the host added.
#[derive(Clone, Debug)]
pub struct PlacedValue {
    /// `a.b.c`, with `@library:` before it for a library.
    pub key: String,
    /// The value. Maps are merged with existing ones, as in values files; everything else is
    /// replaced. The position of a node is that of the item that contains it.
    pub value: crate::OutputNode,
}

impl ValueFlags {
    /// Adds others. They take precedence over those of the same field; the order of fields stays
    /// the same.
    pub fn append(&mut self, others: ValueFlags) {
        let ValueFlags { files, env, env_yaml, strings, yaml, contents, placed, pairs } = others;
        self.files.extend(files);
        self.env.extend(env);
        self.env_yaml.extend(env_yaml);
        self.strings.extend(strings);
        self.yaml.extend(yaml);
        self.contents.extend(contents);
        self.placed.extend(placed);
        self.pairs.extend(pairs);
    }
}

/// One `--data-values-file`: a file, or all YAML files below a directory.
#[derive(Clone, Debug)]
pub struct ValuesFile {
    /// The target library, with its `@`; empty for the root.
    pub library: String,
    /// The path as written, without the library.
    pub path: String,
    /// The files at the path, including those in directories that are not YAML; or the error in the
    /// flag or the path.
    pub files: Result<Vec<InputFile>, Failure>,
}

/// One `--data-value-file`.
#[derive(Clone, Debug)]
pub struct ValueFromFile {
    /// The target library, with its `@`; empty for the root.
    pub library: String,
    /// `a.b.c`.
    pub key: String,
    /// The path as written.
    pub path: String,
    /// The bytes; reading them fails if the flag or the path is wrong.
    pub content: Content,
}

/// Receives messages of a run while it goes on. All evaluations of a run share it, hence `&self`.
pub trait Host {
    /// Text of `print()` in templates, with its line feed. Strings of code are bytes; they need not
    /// be UTF-8.
    fn print(&self, text: &[u8]);

    /// A piece of debug output, enabled by [`Options::debug`], with its line feeds.
    fn debug(&self, text: &str);
}

/// A host that discards output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Host for Silent {
    fn print(&self, _text: &[u8]) {}
    fn debug(&self, _text: &str) {}
}

/// A run that succeeded.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Rendered {
    /// The stream of documents ([`OutputForm::Documents`]).
    pub documents: Vec<u8>,
    /// The output files in order ([`OutputForm::Files`]).
    pub files: Vec<OutputFile>,
    /// Whether there are results that are not YAML and so not part of `documents`.
    pub has_other_files: bool,
    /// Warnings, in the order of the sources.
    pub warnings: Vec<Diagnostic>,
    /// Where each line of the output comes from, if [`Options::source_map`] is set.
    pub source_map: Vec<SourceLine>,
}

impl Rendered {
    /// A result that consists of one text.
    pub fn of_text(text: impl Into<Vec<u8>>) -> Rendered {
        Rendered { documents: text.into(), ..Rendered::default() }
    }
}

/// A node of the output: the line where it begins, and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SourceLine {
    /// The output file ([`OutputForm::Files`]).
    pub output: Option<String>,
    /// The line of the output, from 1.
    pub line: u32,
    /// The number of the document, from 1.
    pub document: usize,
    /// The path of the node in it.
    pub path: Path,
    /// The source, as a path that can be opened.
    pub file: String,
    /// The line there, from 1.
    pub source_line: u32,
    /// The column there, from 1, in characters.
    pub column: u32,
}

/// One output file.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OutputFile {
    /// The path below the output directory, as templates and marks set it.
    pub path: String,
    /// Its content. A text file without code shares the bytes of the input.
    pub bytes: Str,
}

impl OutputFile {
    /// A file with this content.
    pub fn new(path: impl Into<String>, bytes: impl Into<Str>) -> OutputFile {
        OutputFile { path: path.into(), bytes: bytes.into() }
    }
}
