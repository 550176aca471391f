//! A way out of walks over user data that cannot fail.
//!
//! Most functions that walk over values return what they find, and not whether they were allowed to look for it. Where
//! the budget ends in the middle of one, the thread unwinds to [`catch`], as it does in a panic, but without a message:
//! nobody sees what was half done, because all of it belongs to the run. Where a target cannot unwind, the walk goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Exceeded;

thread_local! {
    /// How many calls of [`catch`] there are around.
    static CATCHES: Cell<u32> = const { Cell::new(0) };
}

/// Runs something that may be unwound because the budget ends.
///
/// # Errors
/// Where it was.
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Exceeded> {
    CATCHES.set(CATCHES.get() + 1);
    let result = catch_unwind(AssertUnwindSafe(run));
    CATCHES.set(CATCHES.get() - 1);
    result.or_else(|payload| match payload.downcast::<Exceeded>() {
        Ok(exceeded) => Err(*exceeded),
        Err(panic) => resume_unwind(panic),
    })
}

/// Goes on where a charge was accepted, and unwinds to [`catch`] where it was not. Without a `catch` it goes on.
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
