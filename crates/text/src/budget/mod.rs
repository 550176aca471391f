//! The budget of a run: what it may use, and what it has used.
//!
//! A run has one budget for all of its work: code, built-in functions, overlays, schemas, rules,
//! exports. It belongs to the thread of the run, so that every function that allocates or loops can
//! charge it without a parameter. [`begin`] opens the budget, and the guard that it returns closes
//! it. Without a budget, no charge is refused.
//!
//! Charges come before the work. They count down two numbers of the thread; only when one is used
//! up do we check the clock, the memory of the process and the cancellation token. A budget that
//! was exceeded stays exceeded: functions that cannot fail stop early ([`may_go_on`]), and the next
//! one that can fail reports it. Long walks that have no way to stop are unwound ([`or_unwind`]).
//!
//! The host measures time and memory ([`Meter`]). Without a meter, only steps, output and
//! cancellation are limited, and memory if a limit is given: then every charge counts, and freed
//! memory is not subtracted.

mod account;
mod limits;
mod parse;
mod position;
mod unwind;

pub use account::{BudgetGuard, begin, exceeded_at, hottest};
pub use limits::{Cancellation, Exceeded, Limit, Limits, Meter};
pub use parse::{parse_count, parse_size, parse_time, shown_size, shown_time};
pub use position::{WorkPosition, WorkingAt, working_at};
pub use unwind::{catch, or_unwind};

use account::UNSPENT;

/// Bytes of copying, comparing or scanning that count as one unit of work.
const BYTES_PER_UNIT: usize = 32;

/// Charges memory and work. After a limit was reached, there is no fuel for any work, and no room
/// for any memory.
#[inline]
fn take(bytes: u64, units: u64) -> Result<(), Exceeded> {
    let is_within = UNSPENT.with(|unspent| {
        let (room, fuel) = (unspent.room.get(), unspent.fuel.get());
        let is_within = bytes <= room && (units < fuel || units == 0);
        if is_within {
            unspent.room.set(room - bytes);
            unspent.fuel.set(fuel - units);
        }
        is_within
    });
    if is_within { Ok(()) } else { account::take(bytes, units) }
}

/// The units of a pass over `bytes` bytes.
#[inline]
fn units_of(bytes: usize) -> u64 {
    (1 + bytes / BYTES_PER_UNIT) as u64
}

/// Charges memory that is about to be allocated.
///
/// # Errors
/// If it exceeds the memory limit.
#[inline]
pub fn memory(bytes: usize) -> Result<(), Exceeded> {
    take(bytes as u64, 0)
}

/// Charges memory for `count` values of `size` bytes; the product may overflow.
///
/// # Errors
/// As [`memory`].
#[inline]
pub fn memory_of(count: usize, size: usize) -> Result<(), Exceeded> {
    memory(count.saturating_mul(size))
}

/// Charges work of built-in functions. One unit takes about as long as one iteration of a short
/// loop.
///
/// # Errors
/// If the time limit is reached, or the run was cancelled.
#[inline]
pub fn work(units: usize) -> Result<(), Exceeded> {
    take(0, units as u64)
}

/// Charges a pass over `bytes` bytes.
///
/// # Errors
/// As [`work`].
#[inline]
pub fn scan(bytes: usize) -> Result<(), Exceeded> {
    take(0, units_of(bytes))
}

/// Charges a text that is about to be built: its memory, and the pass that writes it.
///
/// # Errors
/// As [`memory`] and [`work`].
#[inline]
pub fn text(bytes: usize) -> Result<(), Exceeded> {
    take(bytes as u64, units_of(bytes))
}

/// Charges a step of a walk that cannot fail. If it returns false, the walk should stop; its result
/// is incomplete and will be dropped, because the next charge fails.
#[inline]
#[must_use]
pub fn may_go_on(bytes: usize) -> bool {
    take(bytes as u64, 1).is_ok()
}

/// As [`may_go_on`] for many steps of a walk: bytes that are about to be allocated, and units of
/// work.
#[inline]
#[must_use]
pub fn may_take(bytes: usize, units: usize) -> bool {
    take(bytes as u64, units as u64).is_ok()
}

/// Whether a limit was reached, so that the results of functions that cannot fail are incomplete.
#[inline]
pub fn is_exceeded() -> bool {
    UNSPENT.with(|unspent| unspent.fuel.get() == 0)
}

/// Reports a limit that was reached in functions that cannot fail.
///
/// # Errors
/// If a limit was reached.
#[inline]
pub fn check() -> Result<(), Exceeded> {
    if is_exceeded() { account::take(0, 0) } else { Ok(()) }
}

/// Charges steps of code.
///
/// # Errors
/// As [`work`], and if the step limit is reached.
pub fn steps(count: u64) -> Result<(), Exceeded> {
    account::steps(count)
}

/// Notes the position of the running code. The time since the last noted position counts for this
/// one.
pub fn at(file: u32, offset: u32) {
    account::at((file, offset));
}

/// Notes that code begins to run: the time before counts for none of its lines.
pub fn code_begins() {
    account::code_begins();
}

/// Remaining steps.
pub fn steps_left() -> u64 {
    account::steps_left()
}

/// The steps and bytes that were charged so far.
pub fn used() -> (u64, u64) {
    account::used()
}

/// Charges bytes that are about to be written.
///
/// # Errors
/// If the output limit is reached.
pub fn output(bytes: usize) -> Result<(), Exceeded> {
    account::output(bytes as u64)
}

/// Checks, while the output is still being put together, whether it exceeds the output limit:
/// `bytes` of it are ready, and [`output`] charges them later. So a report can name the part that
/// was too much.
///
/// # Errors
/// If the output limit is reached.
pub fn may_output(bytes: usize) -> Result<(), Exceeded> {
    account::may_output(bytes as u64)
}

/// Notes bytes of input, which raise the default limits.
pub fn input(bytes: usize) {
    account::input(bytes as u64);
}

/// The maximum depth of nested calls, if it was set.
pub fn depth() -> Option<usize> {
    account::depth()
}

#[cfg(test)]
mod tests;
