//! What is wrong in files, with ranges in bytes.

use crate::TextRange;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// A run fails.
    Error,
    /// A run goes on.
    Warning,
}

/// One problem in a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// Where in it.
    pub range: TextRange,
    /// The stable name of the problem: `schema/type`.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, and what to do about it.
    pub message: String,
    /// Whether a string is expected where there is something else.
    pub wants_string: bool,
    /// Whether the range is of no use: editors fade it.
    pub is_unnecessary: bool,
    /// Whether the range is deprecated: editors strike it through.
    pub is_deprecated: bool,
    /// The data value that is required here and not given, by its path.
    pub missing: Option<Vec<Option<String>>>,
    /// Other places that matter.
    pub related: Vec<RelatedPlace>,
    /// Edits that mend it.
    pub fixes: Vec<Fix>,
}

/// A place that matters for a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct RelatedPlace {
    /// The file.
    pub path: String,
    /// Where in it.
    pub range: TextRange,
    /// Why it matters.
    pub text: String,
}

/// Edits that mend a problem.
#[derive(Clone, PartialEq, Debug)]
pub struct Fix {
    /// What they do.
    pub title: String,
    /// The edits.
    pub edits: Vec<TextEdit>,
    /// Whether it is what most users want.
    pub is_preferred: bool,
}

/// A range of a file is replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextEdit {
    /// The file.
    pub path: String,
    /// What is replaced.
    pub range: TextRange,
    /// What comes in its place.
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
