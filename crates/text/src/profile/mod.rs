//! What a run spends time, steps and memory on, recorded where somebody asks for it.
//!
//! A profile belongs to a thread, like the [`budget`](crate::budget): [`begin`] opens it, [`Recording::finish`] closes it.
//! In between, phases, files, functions, overlays and rules open spans inside each other, and code notes which line runs.
//! Each of these events charges what was used since the event before it to the innermost span and to its line. So the
//! costs of all spans add up to the whole, and nothing is sampled.
//!
//! Without a profile, a span costs one look at a flag of the thread. Functions and lines cost nothing at all, because
//! programs contain instructions for them only where they were compiled during a profile.

mod record;
mod summary;

pub use record::{Recording, Span, begin, enter, is_on, leave, line, phase, span, span_at, unwind};
pub use summary::{Cost, Event, Place, Profile, SpanCost, Total};

/// What a span is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// A stage of the run.
    Phase,
    /// Reading the syntax of a file.
    Parse,
    /// Making a program of a file.
    Compile,
    /// Running the program of a file.
    Evaluate,
    /// A call of a function of a program.
    Function,
    /// One document of an overlay.
    Overlay,
    /// One rule on one value.
    Rule,
}

impl SpanKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Phase => "phase",
            SpanKind::Parse => "parse",
            SpanKind::Compile => "compile",
            SpanKind::Evaluate => "evaluate",
            SpanKind::Function => "function",
            SpanKind::Overlay => "overlay",
            SpanKind::Rule => "rule",
        }
    }
}

#[cfg(test)]
mod tests;
