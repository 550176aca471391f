//! Limits from flags, and measurement of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ytterby::{Failure, Limits, Meter};
use ytterby_diag::{Diagnostic, Id, Pos, Sources};
use ytterby_text::budget::{self, parse_count, parse_size, parse_time};

use crate::commands::flag;
use crate::flags::{Invocation, TextFlag};
use crate::host;

/// The limits that the flags set.
pub fn of_flags(flags: &Invocation) -> Result<Limits, Failure> {
    let size = "a size such as 400MiB, 2GiB or none";
    Ok(Limits {
        time: read(flags, &flag::LIMIT_TIME, parse_time, "a time such as 500ms, 10s, 2m or none")?,
        memory: read(flags, &flag::LIMIT_MEMORY, parse_size, size)?,
        steps: read(flags, &flag::LIMIT_STEPS, parse_count, "a number such as 1000000, or none")?,
        output: read(flags, &flag::LIMIT_OUTPUT, parse_size, size)?,
        depth: read(flags, &flag::LIMIT_DEPTH, parse_count, "a number such as 1000")?.map(|depth| depth as usize),
    })
}

fn read<T>(
    flags: &Invocation,
    flag: &TextFlag,
    parse: fn(&str) -> Option<T>,
    expected: &str,
) -> Result<Option<T>, Failure> {
    let Some(text) = flags.given(flag) else { return Ok(None) };
    parse(text).map(Some).ok_or_else(|| {
        let what = format!("Unknown value '{text}' of --{} (expected {expected})", flag.name);
        Diagnostic::error(Id::FLAG_VALUE, what).into()
    })
}

/// Runs a command that does not render within the limits that the flags set.
pub fn within<T>(
    flags: &Invocation,
    sources: &Sources,
    run: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let _running = budget::begin(of_flags(flags)?, None, Some(Arc::new(Process::default())));
    ytterby_diag::limits::within(sources, run)
}

/// Writes the result of a command that does not render, within its limits.
pub fn write_output(bytes: &[u8]) -> Result<(), Failure> {
    budget::check()?;
    budget::output(bytes.len())?;
    host::write_output(bytes)
}

/// Writes the result of a command whose runs have budgets of their own, unless it exceeds the
/// output limit. That is reported at `pos`.
pub fn write_result(bytes: &[u8], limit: Option<u64>, pos: Pos, sources: &Sources) -> Result<(), Failure> {
    charge_result(bytes.len(), limit, pos, sources)?;
    host::write_output(bytes)
}

/// As [`write_result`], without writing.
pub fn charge_result(bytes: usize, limit: Option<u64>, pos: Pos, sources: &Sources) -> Result<(), Failure> {
    let _running = budget::begin(Limits { output: limit, ..Limits::NONE }, None, None);
    let _working = ytterby_diag::limits::working_at(pos);
    ytterby_diag::limits::within(sources, || Ok(budget::output(bytes)?))
}

/// Measures what this process uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Process {}

impl Meter for Process {
    #[cfg(unix)]
    fn time(&self) -> Option<Duration> {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
    }

    #[cfg(not(unix))]
    fn time(&self) -> Option<Duration> {
        use std::sync::OnceLock;
        use std::time::Instant;

        static START: OnceLock<Instant> = OnceLock::new();
        Some(START.get_or_init(Instant::now).elapsed())
    }

    /// Resident memory. No other number includes what libraries and the allocator use.
    fn memory(&self) -> Option<u64> {
        resident()
    }
}

/// As [`Process`], for one of several runs that share a time limit: the time of the others counts,
/// because the clock of each run starts when the first one started.
#[derive(Debug)]
pub struct SharedClock {
    started: Duration,
    /// Whether the run asked for the time of its start.
    is_running: AtomicBool,
}

impl SharedClock {
    /// The clock of a run whose time counts from `started`, a time of [`Process`].
    pub fn since(started: Duration) -> SharedClock {
        SharedClock { started, is_running: AtomicBool::new(false) }
    }
}

impl Meter for SharedClock {
    fn time(&self) -> Option<Duration> {
        if self.is_running.swap(true, Ordering::Relaxed) { Process::default().time() } else { Some(self.started) }
    }

    fn memory(&self) -> Option<u64> {
        resident()
    }
}

#[cfg(target_os = "linux")]
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

#[cfg(not(target_os = "linux"))]
fn resident() -> Option<u64> {
    memory_stats::memory_stats().map(|usage| usage.physical_mem as u64)
}
