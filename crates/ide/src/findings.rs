//! Problems in files, with byte ranges.

pub use ytterby_diag::Severity;

use crate::TextRange;

/// One problem in a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// The range in it.
    pub range: TextRange,
    /// The stable id of the problem: `schema/type`.
    pub code: String,
    /// Its severity.
    pub severity: Severity,
    /// The problem and its remedy.
    pub message: String,
    /// Whether a string is expected instead of another type.
    pub wants_string: bool,
    /// Whether the range is unnecessary: editors fade it.
    pub is_unnecessary: bool,
    /// Whether the range is deprecated: editors strike it through.
    pub is_deprecated: bool,
    /// The path of a required data value that is missing here.
    pub missing: Option<Vec<Option<String>>>,
    /// Related places.
    pub related: Vec<RelatedPlace>,
    /// Edits that fix it.
    pub fixes: Vec<QuickFix>,
}

/// A place related to a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct RelatedPlace {
    /// The file.
    pub path: String,
    /// The range in it.
    pub range: TextRange,
    /// How it is related.
    pub text: String,
}

/// Edits that fix a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct QuickFix {
    /// A description of the edits.
    pub title: String,
    /// The edits.
    pub edits: Vec<TextEdit>,
    /// Whether it is the best choice for most users.
    pub is_preferred: bool,
}

/// A replacement of a range of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// The file.
    pub path: String,
    /// The range to replace.
    pub range: TextRange,
    /// The replacement.
    pub text: String,
}

impl TextEdit {
    /// Replaces a range.
    pub fn new(path: &str, range: TextRange, text: impl Into<String>) -> TextEdit {
        TextEdit { path: path.to_owned(), range, text: text.into() }
    }

    /// Inserts a text.
    pub fn insert(path: &str, at: usize, text: impl Into<String>) -> TextEdit {
        TextEdit::new(path, TextRange::new(at, at), text)
    }
}

impl Finding {
    /// An error.
    pub fn error(path: &str, range: TextRange, code: &str, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            range,
            code: code.to_owned(),
            severity: Severity::Error,
            message: message.into(),
            wants_string: false,
            is_unnecessary: false,
            is_deprecated: false,
            missing: None,
            related: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// A warning.
    pub fn warning(path: &str, range: TextRange, code: &str, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Warning, ..Finding::error(path, range, code, message) }
    }
}
