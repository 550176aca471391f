//! Which Starlark a program is written in.
//!
//! ytt has the language of 2020. What was added since then changes no program that works, so it is on wherever
//! nothing asks for exactly ytt; what changed in other ways (the text of floats, unknown escapes in strings) never is.

use std::cell::Cell;

/// A state of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// What ytt has.
    #[default]
    Ytt,
    /// With what was added since: `dict | dict`, methods and operators of sets, `removeprefix`, `bytes`, `abs`.
    Current,
}

thread_local! {
    /// The dialect of the program that is being compiled. Reader, resolver and compiler ask for names and literals in
    /// many places; none of them outlives the call of [`Dialect::compiling`].
    static COMPILING: Cell<Dialect> = const { Cell::new(Dialect::Ytt) };
}

impl Dialect {
    /// Compiles something in this dialect.
    pub(crate) fn compiling<T>(self, compile: impl FnOnce() -> T) -> T {
        let outer = COMPILING.replace(self);
        let result = compile();
        COMPILING.set(outer);
        result
    }

    /// The dialect of the program that is being compiled.
    pub(crate) fn of_compiler() -> Dialect {
        COMPILING.get()
    }
}
