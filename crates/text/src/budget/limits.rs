//! The limits of a run, and what reaching one is.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::parse::{shown_size, shown_time};

/// What one run may use. `None` is the default of the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Processor time. The default is [`Limits::TIME`] and a second for each MB of input.
    pub time: Option<Duration>,
    /// Bytes of memory. The default is [`Limits::MEMORY`] and 64 times the input. Without a [`Meter`] that knows the
    /// memory of the process there is no default, and a limit counts all that was ever allocated.
    pub memory: Option<u64>,
    /// Turns of loops and calls of functions. There is no default.
    pub steps: Option<u64>,
    /// Bytes of output, `print()` included. The default is [`Limits::OUTPUT`].
    pub output: Option<u64>,
    /// Calls inside each other. The default is that of the language.
    pub depth: Option<usize>,
}

impl Limits {
    /// The default limit of time.
    pub const TIME: Duration = Duration::from_secs(10);
    /// The default limit of memory.
    pub const MEMORY: u64 = 1 << 30;
    /// The default limit of output.
    pub const OUTPUT: u64 = 1 << 30;
    /// No limits; the depth keeps its default, since the stack has an end.
    pub const NONE: Limits = Limits {
        time: Some(Duration::MAX),
        memory: Some(u64::MAX),
        steps: Some(u64::MAX),
        output: Some(u64::MAX),
        depth: None,
    };

    /// The time that a run may take that read so many bytes.
    pub(super) fn time_with(&self, input: u64) -> Duration {
        self.time.unwrap_or_else(|| Limits::TIME + Duration::from_micros(input))
    }

    /// The memory that a run may have that read so many bytes.
    pub(super) fn memory_with(&self, input: u64) -> u64 {
        self.memory.unwrap_or_else(|| Limits::MEMORY.saturating_add(input.saturating_mul(64)))
    }
}

/// A token that another thread can use to stop a run. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// A token that nobody has used yet.
    pub fn new() -> Cancellation {
        Cancellation::default()
    }

    /// Stops the runs that have this token, soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was used.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a host can measure; the engine has no clock of its own.
pub trait Meter: fmt::Debug + Send + Sync {
    /// Processor time of this thread, from any fixed point on. A clock on the wall will do where there is no other.
    fn time(&self) -> Option<Duration>;

    /// Bytes of memory that the run has now. Where others share the process, the memory of the process will do.
    fn memory(&self) -> Option<u64>;
}

/// One of the limits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// Of nested calls.
    Depth,
    /// Of memory.
    Memory,
    /// Of output.
    Output,
    /// Of steps.
    Steps,
    /// Of time.
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
    /// The time is up.
    Time(Duration),
    /// There is no memory left.
    Memory(u64),
    /// There are no steps left.
    Steps(u64),
    /// There is too much output.
    Output(u64),
    /// Somebody used the token.
    Cancelled,
}

impl Exceeded {
    /// The limit; none where the run was cancelled.
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
