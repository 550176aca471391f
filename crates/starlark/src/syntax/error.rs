//! Syntax errors.
//!
//! The reference reports the position after the unexpected token, which is often on another line.
//! An error keeps that position for the reference's text, and has a label at the actual mistake.

use ytterby_diag::{CodeMessage, CodeProblem, Frame, Help, Label, Part, Pos, Role, Text};

use super::lexer::piece_of;
use crate::{Problem, ProgramPiece, advice};

/// A problem of a program's text.
#[derive(Clone, PartialEq, Debug)]
pub struct SyntaxError {
    /// The kind of problem.
    pub problem: Problem,
    /// The reference's text.
    pub message: String,
    /// The reference's position; unknown in a host operation without a position.
    pub pos: Pos,
    /// The piece that contains this position, from 0.
    pub piece: usize,
    /// The start of the unexpected token.
    pub token: Pos,
    /// The bracket that is open there.
    pub open: Option<OpenBracket>,
    /// The actual mistake.
    pub label: Label,
    /// How to fix it.
    pub helps: Vec<Help>,
    /// The end of the token before it.
    pub(super) after: Pos,
}

/// A bracket that is open at an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenBracket {
    /// Its position.
    pub pos: Pos,
    /// `(`, `[` or `{`.
    pub bracket: char,
    /// Whether it cannot be closed any more, because the code around it ends.
    pub is_unclosed: bool,
}

impl OpenBracket {
    /// The matching closing bracket.
    pub fn closing(&self) -> char {
        match self.bracket {
            '[' => ']',
            '{' => '}',
            _ => ')',
        }
    }
}

impl SyntaxError {
    /// A problem at a position.
    pub(crate) fn at(pos: Pos, problem: Problem, message: String, pieces: &[ProgramPiece<'_>]) -> SyntaxError {
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

    /// Converts the error to a problem of code. `is_foreign` recognises positions whose lines the
    /// reference does not show.
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
