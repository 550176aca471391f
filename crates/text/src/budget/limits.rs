//! The limits of a run, and the errors for reaching them.
//!
//! Time and memory have defaults that grow with the input. They need a [`Meter`] of the host; a
//! [`Cancellation`] stops a run from another thread.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::parse::{shown_size, shown_time};

/// Limits of one run. `None` means the default of the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Processor time. The default is [`Limits::TIME`] plus one second for each MB of input.
    pub time: Option<Duration>,
    /// Bytes of memory. The default is [`Limits::MEMORY`] plus 64 times the input. Without a
    /// [`Meter`] that measures the memory of the process there is no default, and a given limit
    /// counts all bytes ever allocated.
    pub memory: Option<u64>,
    /// Iterations of loops and calls of functions. There is no default.
    pub steps: Option<u64>,
    /// Bytes of output, `print()` included. The default is [`Limits::OUTPUT`].
    pub output: Option<u64>,
    /// Depth of nested calls. The default is that of the language.
    pub depth: Option<usize>,
}

impl Limits {
    /// The default time limit.
    pub const TIME: Duration = Duration::from_secs(10);
    /// The default memory limit.
    pub const MEMORY: u64 = 1 << 30;
    /// The default output limit.
    pub const OUTPUT: u64 = 1 << 30;
    /// No limits. The depth keeps its default, since the stack is finite.
    pub const NONE: Limits = Limits {
        time: Some(Duration::MAX),
        memory: Some(u64::MAX),
        steps: Some(u64::MAX),
        output: Some(u64::MAX),
        depth: None,
    };

    /// These limits, and those of `others` where these have the default.
    #[must_use]
    pub fn or(self, others: Limits) -> Limits {
        Limits {
            time: self.time.or(others.time),
            memory: self.memory.or(others.memory),
            steps: self.steps.or(others.steps),
            output: self.output.or(others.output),
            depth: self.depth.or(others.depth),
        }
    }

    /// The time limit of a run that read `input` bytes.
    pub(super) fn time_with(&self, input: u64) -> Duration {
        self.time.unwrap_or_else(|| Limits::TIME + Duration::from_micros(input))
    }

    /// The memory limit of a run that read `input` bytes.
    pub(super) fn memory_with(&self, input: u64) -> u64 {
        self.memory.unwrap_or_else(|| Limits::MEMORY.saturating_add(input.saturating_mul(64)))
    }
}

/// A token that another thread can use to stop a run. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// A token that is not cancelled.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// Stops the runs that have this token, at their next check.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Measurements by the host. The engine itself has no clock.
pub trait Meter: fmt::Debug + Send + Sync {
    /// Processor time of this thread, from an arbitrary fixed point on. Wall-clock time works if
    /// there is nothing better.
    fn time(&self) -> Option<Duration>;

    /// Bytes of memory that the run uses now. The memory of the process works if other threads
    /// share it.
    fn memory(&self) -> Option<u64>;
}

/// One of the limits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// Nested calls.
    Depth,
    /// Memory.
    Memory,
    /// Output.
    Output,
    /// Steps.
    Steps,
    /// Time.
    Time,
}

impl Limit {
    /// The flag that sets it, without dashes.
    pub fn flag(self) -> &'static str {
        match self {
            Limit::Depth => "limit-depth",
            Limit::Memory => "limit-memory",
            Limit::Output => "limit-output",
            Limit::Steps => "limit-steps",
            Limit::Time => "limit-time",
        }
    }
}

/// A limit that was reached, or a request to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Exceeded {
    /// The time limit was reached.
    Time(Duration),
    /// The memory limit was reached.
    Memory(u64),
    /// The step limit was reached.
    Steps(u64),
    /// The output limit was reached.
    Output(u64),
    /// The token was cancelled.
    Cancelled,
}

impl Exceeded {
    /// The limit; `None` if the run was cancelled.
    pub fn limit(self) -> Option<Limit> {
        Some(match self {
            Exceeded::Time(_) => Limit::Time,
            Exceeded::Memory(_) => Limit::Memory,
            Exceeded::Steps(_) => Limit::Steps,
            Exceeded::Output(_) => Limit::Output,
            Exceeded::Cancelled => return None,
        })
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exceeded::Time(limit) => write!(f, "time limit exceeded (--limit-time {})", shown_time(*limit)),
            Exceeded::Memory(limit) => write!(f, "memory limit exceeded (--limit-memory {})", shown_size(*limit)),
            Exceeded::Steps(limit) => write!(f, "step limit exceeded (--limit-steps {limit})"),
            Exceeded::Output(limit) => write!(f, "output limit exceeded (--limit-output {})", shown_size(*limit)),
            Exceeded::Cancelled => f.write_str("evaluation was cancelled"),
        }
    }
}

impl std::error::Error for Exceeded {}
