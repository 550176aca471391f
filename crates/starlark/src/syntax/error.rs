//! What is wrong with the text of a program.
//!
//! The reference reports the place after the token that it could not use, which is often on another line. An error
//! keeps that place for the reference's text, and has a label of its own where the mistake really is.

use ytterby_diag::{CodeMessage, CodeProblem, Frame, Help, Label, Part, Pos, Role, Text};

use super::lexer::piece_of;
use crate::{Piece, Problem, advice};

/// What is wrong with the text of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct SyntaxError {
    /// What sort of problem it is.
    pub problem: Problem,
    /// The reference's text.
    pub message: String,
    /// The reference's place; unknown in an operation of the host that has no place.
    pub pos: Pos,
    /// The piece that the reference's place is in, counted from 0.
    pub piece: usize,
    /// Where the token that does not fit begins.
    pub token: Pos,
    /// The bracket that is open there.
    pub open: Option<OpenBracket>,
    /// Where the mistake is.
    pub label: Label,
    /// What to do about it.
    pub helps: Vec<Help>,
    /// Where the last token before it ends.
    pub(super) after: Pos,
}

/// A bracket that is open where something does not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenBracket {
    /// Where it is.
    pub pos: Pos,
    /// `(`, `[` or `{`.
    pub bracket: char,
    /// Whether nothing could have closed it: the code around it is over.
    pub is_unclosed: bool,
}

impl OpenBracket {
    /// The bracket that closes it.
    pub fn closing(&self) -> char {
        match self.bracket {
            '[' => ']',
            '{' => '}',
            _ => ')',
        }
    }
}

impl SyntaxError {
    /// A problem with what is at a place.
    pub(crate) fn at(pos: Pos, problem: Problem, message: String, pieces: &[Piece<'_>]) -> SyntaxError {
        SyntaxError {
            helps: advice::helps(&problem, pos),
            problem,
            message,
            pos,
            piece: piece_of(pieces, pos),
            token: pos,
            open: None,
            label: Label::new(Role::Problem, pos, Part::Token),
            after: pos,
        }
    }

    /// The error as a problem of code. `is_foreign` tells places whose lines the reference does not show.
    pub fn into_code_problem(self, is_foreign: &dyn Fn(Pos) -> bool) -> CodeProblem {
        let place = self.label.pos;
        let frame = Frame { name: None, pos: self.pos, place, is_foreign: is_foreign(self.pos) };
        CodeProblem {
            id: self.problem.id(),
            hint: self.problem.hint(),
            message: CodeMessage::Text(Text::new(self.message)),
            related: Vec::new(),
            label: place.is_known().then_some(self.label),
            frames: vec![frame],
            omitted: (0, 0),
            helps: self.helps,
        }
    }
}
