//! From pieces to code.

mod code;

pub(crate) use code::*;

use crate::program::Toplevel;
use crate::{Piece, SyntaxError};

pub(crate) fn compile(_pieces: &[Piece<'_>], _predeclared: &[&str]) -> Result<Toplevel, Vec<SyntaxError>> {
    let message = "the compiler is not complete yet".to_owned();
    Err(vec![SyntaxError { message, pos: ytterby_diag::Pos::UNKNOWN, piece: 0 }])
}
