//! Records where a run spends time, steps and memory.
//!
//! A profile belongs to a thread, like the [`budget`](crate::budget): [`begin`] starts it,
//! [`Recording::finish`] ends it. In between, phases, files, functions, overlays and rules open
//! nested spans, and code records which line runs. Each of these events charges what was used since
//! the previous event to the innermost span and to its line. So the costs of all spans add up to
//! the total, and nothing is sampled.
//!
//! Without a profile, a span costs one check of a thread-local flag. Functions and lines cost
//! nothing at all, because programs contain instructions for them only if they were compiled during
//! a profile.

mod record;
mod summary;

pub use record::{Recording, SpanGuard, begin, enter, is_on, leave, line, phase, span, span_at, unwind};
pub use summary::{Cost, Event, Profile, SourcePosition, SpanCost, Total};

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// A stage of the run.
    Phase,
    /// Parsing a file.
    Parse,
    /// Compiling a file.
    Compile,
    /// Running the program of a file.
    Evaluate,
    /// A function call of a program.
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
