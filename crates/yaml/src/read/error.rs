//! Why a text is not YAML, as data.
//!
//! The reference's message and its line are kept apart from the position. So its text can be
//! repeated to the letter, while other renderings show the actual position of the problem.

use std::borrow::Cow;

use ytterby_diag::{Diagnostic, Help, Id, Label, Part, Role, Span};

use super::advice::Mistake;

/// Why a text is not YAML.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadError {
    /// The reference's message, without its line: `did not find expected key`.
    pub problem: Cow<'static, str>,
    /// The line in the reference's message, if any. It is one too low for errors of its parser.
    pub reference_line: Option<u32>,
    /// The actual position of the problem.
    pub span: Span,
    /// Other positions that matter.
    pub labels: Vec<Label>,
    /// Advice.
    pub helps: Vec<Help>,
    pub(super) mistake: Mistake,
}

impl ReadError {
    pub(super) fn new(problem: impl Into<Cow<'static, str>>, span: Span) -> ReadError {
        ReadError {
            problem: problem.into(),
            reference_line: None,
            span,
            labels: Vec::new(),
            helps: Vec::new(),
            mistake: Mistake::Other,
        }
    }

    /// The reference's text: `yaml: line 3: did not find expected key`.
    pub fn reference(&self) -> String {
        match self.reference_line {
            Some(line) => format!("yaml: line {line}: {}", self.problem),
            None => format!("yaml: {}", self.problem),
        }
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reference())
    }
}

impl std::error::Error for ReadError {}

impl From<ReadError> for Diagnostic {
    fn from(error: ReadError) -> Diagnostic {
        let reference = error.reference();
        let ReadError { problem, span, labels, helps, .. } = error;
        let label = Label::new(Role::Problem, span.pos(), Part::Bytes(span.end - span.start));
        let diagnostic = Diagnostic::error(Id::YAML_SYNTAX, problem).reference(reference).label(label);
        labels.into_iter().fold(diagnostic, Diagnostic::label).helps(helps)
    }
}
