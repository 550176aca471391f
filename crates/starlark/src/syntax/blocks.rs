//! Blocks without indentation.
//!
//! A block begins after a colon at the end of a line and is closed by `end`, or by the `else:` or `elif` of the same `if`.
//! The parser gets the same tokens as for Starlark with indentation.

use std::collections::VecDeque;

use ytterby_diag::Pos;

use super::Parsed;
use super::lexer::Lexer;
use super::token::{Tok, Token, TokenValue};
use crate::Problem;

pub(super) struct Blocks<'a> {
    pub(super) lexer: Lexer<'a>,
    /// Lookahead tokens; the flag is whether an `else` or `elif` has already closed the previous block.
    ahead: VecDeque<(Token, bool)>,
    /// The last two returned tokens, with the position of the last.
    before_last: Tok,
    last: Tok,
    last_start: Pos,
    /// The positions of the open blocks.
    open: Vec<Pos>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(lexer: Lexer<'a>) -> Blocks<'a> {
        Blocks {
            lexer,
            ahead: VecDeque::new(),
            before_last: Tok::Newline,
            last: Tok::Newline,
            last_start: Pos::UNKNOWN,
            open: Vec::new(),
        }
    }

    pub(super) fn next(&mut self) -> Parsed<Token> {
        let token = self.find_next()?;
        self.before_last = std::mem::replace(&mut self.last, token.tok);
        self.last_start = token.start;
        Ok(token)
    }

    fn find_next(&mut self) -> Parsed<Token> {
        if self.before_last == Tok::Colon && self.last == Tok::Newline {
            self.open.push(self.last_start);
            return Ok(self.made_up(Tok::Indent));
        }
        let (token, closed) = match self.ahead.pop_front() {
            Some(ahead) => ahead,
            None => (self.lexer.next()?, false),
        };
        match token.tok {
            Tok::Else if !closed => {
                // Without a colon it is part of `x if y else z`.
                let behind = self.lexer.next()?;
                if behind.tok == Tok::Colon {
                    let place = token.start;
                    self.ahead.push_back((token, true));
                    self.ahead.push_back((behind, false));
                    return self.close(place);
                }
                self.ahead.push_back((behind, false));
            }
            Tok::Elif if !closed => {
                let place = token.start;
                self.ahead.push_back((token, true));
                return self.close(place);
            }
            Tok::Pass => return self.lexer.error("use of reserved keyword 'pass' is not allowed"),
            Tok::Ident if matches!(&token.value, TokenValue::Name(name) if name == "end") => {
                let behind = self.lexer.next()?;
                if behind.tok != Tok::Newline {
                    self.ahead.push_back((behind, false));
                }
                return self.close(token.start);
            }
            Tok::Eof => {
                if let Some(&pos) = self.open.last() {
                    let message = "mismatched set of block openings (if/else/elif/for/def) and closing (end)";
                    return self.lexer.problem_at(pos, Problem::MissingEnd, message);
                }
            }
            _ => {}
        }
        Ok(token)
    }

    /// Closes a block at the token at `place`.
    fn close(&mut self, place: Pos) -> Parsed<Token> {
        match self.open.pop() {
            Some(_) => Ok(self.made_up(Tok::Outdent)),
            None => self.lexer.problem(Problem::SurplusEnd, place, "unexpected end"),
        }
    }

    fn made_up(&self, tok: Tok) -> Token {
        Token { tok, start: self.last_start, end: self.last_start, value: TokenValue::None }
    }
}
