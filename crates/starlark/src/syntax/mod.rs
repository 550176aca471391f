//! Reading text: pieces to tokens (`lexer`), blocks closed by `end` (`blocks`), tokens to a tree (`parser`).

mod blocks;
mod expr;
mod lexer;
mod literal;
mod stmt;
mod token;

pub(crate) use lexer::piece_of;
pub(crate) use stmt::parse;

use crate::SyntaxError;

/// Reading stops at the first problem.
pub(crate) type Parsed<T> = Result<T, Box<SyntaxError>>;
