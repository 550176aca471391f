//! Recursion along user data, which may be nested deeply.

use ytterby_text::budget;

/// Runs what recurses once per level of nesting, with more stack where the current one gets short.
///
/// Each call is charged to the budget of the run: a value that holds another one twice, which holds a third one twice,
/// and so on, is small, but a walk over it has no end. Where the budget ends, the walk is unwound.
pub(crate) fn deep<T>(run: impl FnOnce() -> T) -> T {
    budget::or_unwind(budget::work(1));
    stacker::maybe_grow(128 << 10, 2 << 20, run)
}

/// Runs what may drop or compare nested data, on a stack that is large enough for the deepest that is allowed: whatever
/// the library does for others goes through this, so that any thread will do. Pages are committed as they are used.
pub(crate) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 << 20, 256 << 20, run)
}
