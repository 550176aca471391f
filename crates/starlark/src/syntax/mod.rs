//! Parses text: pieces to tokens (`lexer`), blocks closed by `end` (`blocks`), tokens to a tree
//! (`stmt`, `expr`).

mod advice;
mod blocks;
mod error;
mod expr;
mod lexer;
mod literal;
mod stmt;
mod token;

pub use error::{OpenBracket, SyntaxError};
pub(crate) use stmt::parse;
pub(crate) use token::Tok;

/// Parsing stops at the first problem.
pub(crate) type Parsed<T> = Result<T, Box<SyntaxError>>;
