//! Recursion over user data, which may be deeply nested.

use ytterby_text::budget;

/// Runs one level of a recursive function, and grows the stack if it gets short.
///
/// Each call is charged to the budget of the run: a value that contains another one twice, which
/// contains a third one twice, and so on, is small, but a walk over it takes exponential time. If
/// the budget ends, the walk is unwound.
pub(crate) fn deep<T>(run: impl FnOnce() -> T) -> T {
    budget::or_unwind(budget::work(1));
    deep_walk(run)
}

/// Like [`deep`] for walks outside of a run, which no budget limits.
pub(crate) fn deep_walk<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, run)
}

/// Runs a function that may drop or compare nested data, on a stack that suffices for the deepest
/// nesting allowed. All entry points of the library go through this, so that callers can use any
/// thread. Pages are committed as they are used.
pub(crate) fn on_large_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 << 20, 256 << 20, run)
}
