//! Violations, and how they are told.

use ytterby_diag::{Diagnostic, Kind, Message, Note, Pos, Severity};

use crate::api::Failure;
use crate::run::Run;

/// All violations of one check, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub blocks: Vec<Block>,
}

/// The violations of one value.
#[derive(Debug)]
pub(crate) struct Block {
    /// The path as it is shown: `db.port`, `(document)`.
    pub path: String,
    /// What follows the path in its line: ` (document 0 at config.yml:1)`.
    pub suffix: String,
    /// Where the value stands.
    pub from: Pos,
    /// How rich messages show the line there.
    pub line: Line,
    /// Data values that the line there reads, and where each came from.
    pub reads: Vec<(String, Pos)>,
    pub violations: Vec<Violation>,
}

/// How the source line of a value may be shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    AsItIs,
    /// With this text, in which secrets are replaced.
    Redacted(String),
    Hidden,
}

impl Line {
    /// What rich messages show of the line at `pos`.
    pub fn note(&self, pos: Pos) -> Option<Note> {
        match self {
            Line::AsItIs => pos.is_known().then_some(Note::Excerpt(pos)),
            Line::Redacted(text) => Some(Note::Redacted(pos, text.clone())),
            Line::Hidden => None,
        }
    }
}

/// One broken rule.
#[derive(Debug)]
pub(crate) struct Violation {
    pub kind: Kind,
    /// The description of a valid value.
    pub must_be: String,
    /// What was found instead; empty where there is nothing to say.
    pub found: String,
    /// A text of the rule's own instead of `must be:` and `found:`.
    pub message: Option<String>,
    /// Where the rule stands.
    pub by: Pos,
    /// How rich messages show the line there.
    pub by_line: Line,
    /// Why it is so, in lines of their own.
    pub reasons: Vec<String>,
    /// What rich messages and machine formats say besides.
    pub hints: Vec<String>,
}

impl Report {
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The blocks as one text, and each violation as a diagnostic.
    pub fn into_failure(self, run: &Run) -> Failure {
        let mut message = Message::default();
        let mut diagnostics = Vec::new();
        for block in &self.blocks {
            block.write(&mut message, run);
            diagnostics.extend(block.violations.iter().map(|violation| block.diagnostic(violation, run)));
        }
        Failure { message, diagnostics }
    }
}

impl Block {
    fn write(&self, message: &mut Message, run: &Run) {
        let rich = run.options.rich;
        let excerpt = |message: &mut Message, pos: Pos, line: &Line| {
            if let (true, Some(note)) = (rich, line.note(pos)) {
                message.note(note);
            }
        };
        message.push_str(&format!("  {}{}\n    from: {}\n", self.path, self.suffix, run.locate(self.from)));
        excerpt(message, self.from, &self.line);
        if rich {
            for (path, pos) in &self.reads {
                message.note(Note::Text(format!("    = reads: data value {path} ({})", run.locate(*pos))));
            }
        }
        for violation in &self.violations {
            let by = run.locate(violation.by);
            match &violation.message {
                Some(text) => message.push_str(&format!("    - {text} (by: {by})\n")),
                None => message.push_str(&format!("    - must be: {} (by: {by})\n", violation.must_be)),
            }
            // `assert.validate()` has the value and its rules in one place.
            if violation.by != self.from {
                excerpt(message, violation.by, &violation.by_line);
            }
            if violation.message.is_none() && !violation.found.is_empty() {
                message.push_str(&format!("      found: {}\n", violation.found));
            }
            for reason in &violation.reasons {
                message.push_str(&format!("        {reason}\n"));
            }
            for hint in violation.hints.iter().filter(|_| rich) {
                message.note(Note::Text(format!("      = hint: {hint}")));
            }
        }
        message.push_str("\n");
    }

    fn diagnostic(&self, violation: &Violation, run: &Run) -> Diagnostic {
        let known = |pos: Pos| pos.is_known().then_some(pos);
        let found = (!violation.found.is_empty()).then(|| violation.found.clone());
        let text = match (&violation.message, &found) {
            (Some(message), _) => message.clone(),
            (None, Some(found)) => format!("must be: {}; found: {found}", violation.must_be),
            (None, None) => format!("must be: {}", violation.must_be),
        };
        let reads = self.reads.iter();
        let reads = reads.map(|(path, pos)| format!("reads data value {path} ({})", run.locate(*pos)));
        let message = format!("{}{}: {text}", self.path, self.suffix).replace('\n', " ");
        Diagnostic {
            path: Some(self.path.clone()),
            must_be: Some(violation.must_be.clone()),
            found,
            from: known(self.from),
            by: known(violation.by),
            hints: violation.reasons.iter().chain(&violation.hints).cloned().chain(reads).collect(),
            ..Diagnostic::new(Severity::Error, violation.kind, message)
        }
    }
}
