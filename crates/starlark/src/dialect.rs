//! Versions of Starlark.
//!
//! ytt has the language of 2020. Later additions change no working program, so they are available
//! unless exact compatibility with ytt is requested; other changes (the text of floats, unknown
//! escapes in strings) never are.

/// A version of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Dialect {
    /// The language of ytt.
    #[default]
    Ytt,
    /// With later additions: `dict | dict`, methods and operators of sets, `removeprefix`, `bytes`,
    /// `abs`.
    Current,
}
