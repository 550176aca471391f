//! Reading text: pieces to tokens (`lexer`), blocks closed by `end` (`blocks`), tokens to a tree (`parser`).

mod blocks;
mod expr;
mod lexer;
mod literal;
mod stmt;
mod token;

pub(crate) use stmt::parse;

use ytterby_diag::Pos;

use crate::{Piece, SyntaxError};

impl SyntaxError {
    /// A problem with what stands at a place.
    pub(crate) fn at(pos: Pos, message: String, pieces: &[Piece<'_>]) -> SyntaxError {
        SyntaxError { message, pos, piece: lexer::piece_of(pieces, pos), token: pos, open: None }
    }
}

/// Reading stops at the first problem.
pub(crate) type Parsed<T> = Result<T, Box<SyntaxError>>;
