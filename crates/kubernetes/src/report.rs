//! Positions in a document during a check, and the findings so far.
//!
//! A position is a linked list on the stack ([`At`]); its path is only built for a finding.
//! [`CheckFindings`] either collects diagnostics or only counts errors: both modes run the same
//! checks, and in the second one nothing is formatted.

use ytterby_diag::{Diagnostic, Help, Id, Part, Path, Pos, Severity, Step, Text};

use crate::document::{MapEntry, Node, SharedStr};

/// The position of a node in its document.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    up: Option<&'a At<'a>>,
    step: AtStep<'a>,
    pub pos: Pos,
}

#[derive(Clone, Copy)]
enum AtStep<'a> {
    Root,
    Key(&'a str),
    /// The key of an item, whose text is read only for a finding.
    Entry(&'a SharedStr),
    Index(usize),
}

impl<'a> At<'a> {
    pub fn root(pos: Pos) -> At<'a> {
        At { up: None, step: AtStep::Root, pos }
    }

    /// The value of a key.
    pub fn key(&'a self, key: &'a str, node: &Node) -> At<'a> {
        At { up: Some(self), step: AtStep::Key(key), pos: if node.pos.is_known() { node.pos } else { self.pos } }
    }

    /// The value of an item of a map.
    pub fn entry(&'a self, entry: &'a MapEntry) -> At<'a> {
        let pos = entry.node.pos;
        At { up: Some(self), step: AtStep::Entry(&entry.key), pos: if pos.is_known() { pos } else { self.pos } }
    }

    /// A missing key; its position is that of the map.
    pub fn missing(&'a self, key: &'a str) -> At<'a> {
        At { up: Some(self), step: AtStep::Key(key), pos: self.pos }
    }

    /// An item of a list.
    pub fn index(&'a self, index: usize, node: &Node) -> At<'a> {
        At { up: Some(self), step: AtStep::Index(index), pos: if node.pos.is_known() { node.pos } else { self.pos } }
    }

    /// The last keys of the path, innermost first, without indexes.
    pub fn keys(&self) -> impl Iterator<Item = &'a str> {
        std::iter::successors(Some(*self), |at| at.up.copied()).filter_map(|at| match at.step {
            AtStep::Key(key) => Some(key),
            AtStep::Entry(key) => Some(&**key),
            AtStep::Root | AtStep::Index(_) => None,
        })
    }

    pub fn path(&self) -> Path {
        let mut steps = Vec::new();
        let mut at = Some(self);
        while let Some(here) = at {
            match here.step {
                AtStep::Root => {}
                AtStep::Key(key) => steps.push(Step::Key(key.to_owned())),
                AtStep::Entry(key) => steps.push(Step::Key(key.to_string())),
                AtStep::Index(index) => steps.push(Step::Index(index)),
            }
            at = here.up;
        }
        steps.reverse();
        Path::from(steps)
    }
}

/// Further findings of one document are only counted.
const MAX_FINDINGS: usize = 100;

/// The findings of a check.
pub(crate) struct CheckFindings {
    pub findings: Vec<Diagnostic>,
    /// The number of errors, including those not collected.
    pub errors: usize,
    /// Whether to stop at the first error, without collecting anything.
    pub is_quick: bool,
}

impl CheckFindings {
    pub fn new() -> CheckFindings {
        CheckFindings { findings: Vec::new(), errors: 0, is_quick: false }
    }

    /// A report that only determines whether there is an error.
    pub fn quick() -> CheckFindings {
        CheckFindings { is_quick: true, ..CheckFindings::new() }
    }

    /// Whether to stop the check.
    pub fn is_done(&self) -> bool {
        self.errors > 0 && (self.is_quick || self.errors > MAX_FINDINGS)
    }

    /// An error at the value of an item.
    pub fn error(&mut self, id: Id, at: &At<'_>, message: impl FnOnce() -> FindingText) {
        self.add(Severity::Error, id, at, Part::Value, message);
    }

    /// An error at the key of an item.
    pub fn key_error(&mut self, id: Id, at: &At<'_>, message: impl FnOnce() -> FindingText) {
        self.add(Severity::Error, id, at, Part::Key, message);
    }

    /// A warning at the value of an item.
    pub fn warning(&mut self, id: Id, at: &At<'_>, message: impl FnOnce() -> FindingText) {
        if !self.is_quick {
            self.add(Severity::Warning, id, at, Part::Value, message);
        }
    }

    fn add(&mut self, severity: Severity, id: Id, at: &At<'_>, part: Part, message: impl FnOnce() -> FindingText) {
        if severity == Severity::Error {
            self.errors += 1;
        }
        if self.is_quick || self.findings.len() >= MAX_FINDINGS {
            return;
        }
        // Schema and code may report the same.
        let is_told = (id == Id::KUBERNETES_ENUM || id == Id::KUBERNETES_REQUIRED) && {
            let path = at.path();
            self.findings.iter().any(|other| other.id == id && other.path.as_ref() == Some(&path))
        };
        if is_told {
            return;
        }
        let FindingText { message, expected, found, helps, notes } = message();
        let mut diagnostic = Diagnostic::new(severity, id, message).at(at.pos, part).path(at.path()).helps(helps);
        diagnostic.expected = expected;
        diagnostic.found = found;
        diagnostic.notes = notes;
        self.findings.push(diagnostic);
    }
}

/// The text of a finding.
#[derive(Default)]
pub(crate) struct FindingText {
    pub message: Text,
    pub expected: Option<Text>,
    pub found: Option<Text>,
    pub helps: Vec<Help>,
    pub notes: Vec<Text>,
}

impl FindingText {
    pub fn new(message: impl Into<Text>) -> FindingText {
        FindingText { message: message.into(), ..FindingText::default() }
    }

    pub fn help(mut self, help: impl Into<Help>) -> FindingText {
        self.helps.push(help.into());
        self
    }

    /// Appends a value of user data to the message.
    pub fn with_value(mut self, value: impl Into<String>) -> FindingText {
        self.message = self.message.value(value);
        self
    }

    pub fn note(mut self, note: impl Into<Text>) -> FindingText {
        self.notes.push(note.into());
        self
    }

    /// Example: `expected integer, found string "2"`.
    pub fn wrong_type(expected: &str, node: &Node) -> FindingText {
        let value = &node.value;
        let found = match value.type_name() {
            "null" => Text::new("null"),
            name @ ("array" | "object") => Text::new(format!("an {name}")),
            name => Text::new(format!("{name} ")).value(value.shown()),
        };
        let message = Text::new(format!("expected {expected}, found ")).join(found.clone());
        FindingText {
            message,
            expected: Some(Text::new(expected.to_owned())),
            found: Some(found),
            ..FindingText::default()
        }
    }

    /// A message followed by the value.
    pub fn of_value(message: impl Into<Text>, node: &Node) -> FindingText {
        let found = Text::of_value(node.value.shown());
        FindingText {
            message: message.into().then("; found ").join(found.clone()),
            found: Some(found),
            ..FindingText::default()
        }
    }
}
