//! Which Starlark a program is written in.
//!
//! ytt has the language of 2020. What was added since then changes no program that works, so it is on wherever
//! nothing asks for exactly ytt; what changed in other ways (the text of floats, unknown escapes in strings) never is.

/// A state of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// What ytt has.
    #[default]
    Ytt,
    /// With what was added since: `dict | dict`, methods and operators of sets, `removeprefix`, `bytes`, `abs`.
    Current,
}
