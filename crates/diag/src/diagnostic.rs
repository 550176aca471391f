//! What is wrong, as data.

use crate::Pos;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Severity {
    /// The run fails.
    Error,
    /// The run goes on.
    Warning,
}

/// What sort of problem it is; the `kind` of the JSON rendering and the rule id of SARIF.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A value of another type than the schema says.
    Type,
    /// A key that the schema does not declare.
    UnknownKey,
    /// A value that must be given was not.
    Required,
    /// A value was given for a key that the schema removed.
    Removed,
    /// A data value breaks a rule.
    Validation,
    /// An output document breaks a rule.
    Output,
    /// The schema itself is wrong.
    Schema,
    /// An annotation is unknown, repeated or misplaced.
    Annotation,
    /// A deprecated value was given.
    Deprecated,
    /// Anything else.
    Other,
}

impl Severity {
    /// As the machine-readable renderings call it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 10] = [
        Kind::Type,
        Kind::UnknownKey,
        Kind::Required,
        Kind::Removed,
        Kind::Validation,
        Kind::Output,
        Kind::Schema,
        Kind::Annotation,
        Kind::Deprecated,
        Kind::Other,
    ];

    /// As the machine-readable renderings call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Type => "type",
            Kind::UnknownKey => "unknown-key",
            Kind::Required => "required",
            Kind::Removed => "removed",
            Kind::Validation => "validation",
            Kind::Output => "output",
            Kind::Schema => "schema",
            Kind::Annotation => "annotation",
            Kind::Deprecated => "deprecated",
            Kind::Other => "other",
        }
    }

    /// What it is about, in a sentence.
    pub fn description(self) -> &'static str {
        match self {
            Kind::Type => "A value has another type than the schema says.",
            Kind::UnknownKey => "A key is not declared in the schema.",
            Kind::Required => "A value that must be given is missing.",
            Kind::Removed => "A value was given for a key that the schema removed.",
            Kind::Validation => "A data value breaks a rule.",
            Kind::Output => "An output document breaks a rule.",
            Kind::Schema => "The schema itself is wrong.",
            Kind::Annotation => "An annotation is unknown, repeated or misplaced.",
            Kind::Deprecated => "A deprecated value was given.",
            Kind::Other => "The templates could not be rendered.",
        }
    }
}

/// One problem. `message` stands alone; the other fields say the same in pieces, where they are known.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// The sort of problem.
    pub kind: Kind,
    /// One line without its position: `<path>: …` where there is a path.
    pub message: String,
    /// The data value or node in question: `db.port`.
    pub path: Option<String>,
    /// What a rule asks for.
    pub must_be: Option<String>,
    /// What a type asks for.
    pub expected: Option<String>,
    /// What was there instead.
    pub found: Option<String>,
    /// Where the offending value stands.
    pub from: Option<Pos>,
    /// Where the rule or type stands.
    pub by: Option<Pos>,
    /// What to try.
    pub hints: Vec<String>,
    /// What an excerpt shows in place of the line of `from`, which holds a secret.
    pub line: Option<String>,
}

impl Diagnostic {
    /// A problem with nothing known but its message.
    pub fn new(severity: Severity, kind: Kind, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity,
            kind,
            message: message.into(),
            path: None,
            must_be: None,
            expected: None,
            found: None,
            from: None,
            by: None,
            hints: Vec::new(),
            line: None,
        }
    }
}
