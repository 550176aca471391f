//! Recursion along user data, which may be nested deeply.

/// Runs what recurses once per level of nesting, with more stack where the current one gets short.
pub(crate) fn deep<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, run)
}
