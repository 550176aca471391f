//! The results of `validate`, independent of the output format.

use ytterby_diag::Pos;
use ytterby_kubevirt::evaluate::{RuleOutcome, Status, is_valid};

/// The results for all objects.
#[derive(Debug, Default)]
pub(super) struct ValidationReport {
    pub objects: Vec<CheckedObject>,
}

/// The results for one VM or template, or for a file if there is no kind.
#[derive(Debug, Default)]
pub(super) struct CheckedObject {
    pub kind: String,
    pub name: String,
    pub namespace: String,
    pub file: String,
    pub line: u32,
    /// Whether the rules or the file could not be read at all.
    pub unreadable: bool,
    /// The reason that no rules apply.
    pub exempt: Option<&'static str>,
    pub results: Vec<Located>,
}

/// A result and its positions.
#[derive(Debug)]
pub(super) struct Located {
    pub outcome: RuleOutcome,
    /// The id, if the result comes from no rule.
    pub id: &'static str,
    /// The position in the VM.
    pub at: Option<Position>,
    /// The position of the rule.
    pub rule_at: Option<Position>,
}

impl Located {
    /// A result that comes from no rule.
    pub(super) fn new(id: &'static str, status: Status, message: &str, detail: String) -> Located {
        let outcome = RuleOutcome {
            rule: String::new(),
            status,
            path: String::new(),
            message: message.to_owned(),
            detail,
            offset: None,
            value: None,
            notable: false,
        };
        Located { outcome, id, at: None, rule_at: None }
    }

    /// The id of the rule, or of the check.
    pub(super) fn id(&self) -> &str {
        if self.outcome.rule.is_empty() { self.id } else { &self.outcome.rule }
    }

    /// Whether to show it as a warning.
    pub(super) fn warns(&self) -> bool {
        self.outcome.status == Status::Warning || self.outcome.notable
    }
}

/// A position in a file; line and column count from 1.
#[derive(Clone, Debug)]
pub(super) struct Position {
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// The same position for diagnostics.
    pub pos: Pos,
    /// The path to the value, if the file is one long line.
    pub path: Option<String>,
    /// Whether its line is too long to show.
    pub is_on_long_line: bool,
}

impl Position {
    /// A position in a file that could not be read.
    pub(super) fn unread(file: String, line: u32, column: u32) -> Position {
        Position { file, line, column, pos: Pos::UNKNOWN, path: None, is_on_long_line: false }
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)?;
        self.path.as_ref().map_or(Ok(()), |path| write!(f, " ({path})"))
    }
}

impl CheckedObject {
    pub(super) fn valid(&self) -> bool {
        self.results.iter().all(|result| is_valid(std::slice::from_ref(&result.outcome)))
    }

    /// Example: `VirtualMachine ns/name`.
    pub(super) fn label(&self) -> String {
        match (self.kind.as_str(), self.namespace.as_str(), self.name.as_str()) {
            ("", _, _) => "file".to_owned(),
            (kind, _, "") => kind.to_owned(),
            (kind, "", name) => format!("{kind} {name}"),
            (kind, namespace, name) => format!("{kind} {namespace}/{name}"),
        }
    }

    /// Whether this is a file, not an object in one.
    pub(super) fn is_file(&self) -> bool {
        self.kind.is_empty()
    }

    pub(super) fn count(&self, status: Status) -> usize {
        self.results.iter().filter(|result| result.outcome.status == status).count()
    }
}

impl ValidationReport {
    pub(super) fn valid(&self) -> bool {
        self.objects.iter().all(CheckedObject::valid)
    }

    pub(super) fn unreadable(&self) -> bool {
        self.objects.iter().any(|object| object.unreadable)
    }

    pub(super) fn warns(&self) -> bool {
        self.objects.iter().flat_map(|object| &object.results).any(Located::warns)
    }
}
