//! A way out of walks over user data that cannot fail.
//!
//! Most functions that walk over values return plain results, without an error for an exceeded
//! budget. If the budget ends in the middle of one, the thread unwinds to [`catch`], as in a panic,
//! but without a message. That is safe, because all half-finished data belongs to the run and is
//! dropped. On targets that cannot unwind, the walk goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Exceeded;

thread_local! {
    /// Number of enclosing calls of [`catch`].
    static CATCHES: Cell<u32> = const { Cell::new(0) };
}

/// Runs `run`, which may be unwound if the budget ends.
///
/// # Errors
/// If it was unwound.
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Exceeded> {
    CATCHES.set(CATCHES.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(run));
    CATCHES.set(CATCHES.get() - 1);
    result.or_else(|payload| match payload.downcast::<Exceeded>() {
        Ok(exceeded) => Err(*exceeded),
        Err(panic) => resume_unwind(panic),
    })
}

/// Returns if the charge was accepted, and unwinds to [`catch`] if not. Without a `catch` it
/// returns.
#[inline]
pub fn or_unwind(charge: Result<(), Exceeded>) {
    if let Err(exceeded) = charge {
        unwind(exceeded);
    }
}

#[cold]
#[inline(never)]
fn unwind(exceeded: Exceeded) {
    if cfg!(panic = "unwind") && CATCHES.get() > 0 && !std::thread::panicking() {
        resume_unwind(Box::new(exceeded));
    }
}
