//! Blocks without indentation.
//!
//! A block begins after a colon at the end of a line and is closed by `end`, or by the `else:` or
//! `elif` of the same `if`. The parser gets the same tokens as for Starlark with indentation.

use std::collections::VecDeque;

use ytterby_diag::Pos;

use super::Parsed;
use super::lexer::Lexer;
use super::token::{Tok, Token, TokenValue};
use crate::Problem;

pub(super) struct Blocks<'a> {
    pub(super) lexer: Lexer<'a>,
    /// Lookahead tokens; the flag is whether an `else` or `elif` has already closed the previous
    /// block.
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

    /// Replaces `token` by the next one.
    pub(super) fn next(&mut self, token: &mut Token) -> Parsed<()> {
        self.find_next(token)?;
        self.before_last = std::mem::replace(&mut self.last, token.tok);
        self.last_start = token.start;
        Ok(())
    }

    fn find_next(&mut self, token: &mut Token) -> Parsed<()> {
        if self.before_last == Tok::Colon && self.last == Tok::Newline {
            self.open.push(self.last_start);
            *token = self.made_up(Tok::Indent);
            return Ok(());
        }
        let closed = match self.ahead.pop_front() {
            Some((next, closed)) => {
                *token = next;
                closed
            }
            None => {
                self.lexer.next(token)?;
                false
            }
        };
        match token.tok {
            Tok::Else if !closed => {
                // Without a colon it is part of `x if y else z`.
                let behind = self.look_ahead()?;
                if behind.tok == Tok::Colon {
                    let place = token.start;
                    self.ahead.push_back((token.clone(), true));
                    self.ahead.push_back((behind, false));
                    return self.close(place, token);
                }
                self.ahead.push_back((behind, false));
            }
            Tok::Elif if !closed => {
                let place = token.start;
                self.ahead.push_back((token.clone(), true));
                return self.close(place, token);
            }
            Tok::Pass => return self.lexer.error("use of reserved keyword 'pass' is not allowed"),
            Tok::Ident if matches!(&token.value, TokenValue::Name(name) if name == "end") => {
                let behind = self.look_ahead()?;
                if behind.tok != Tok::Newline {
                    self.ahead.push_back((behind, false));
                }
                return self.close(token.start, token);
            }
            Tok::Eof => {
                if let Some(&pos) = self.open.last() {
                    let message = "mismatched set of block openings (if/else/elif/for/def) and closing (end)";
                    return self.lexer.problem_at(pos, Problem::MissingEnd, message);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn look_ahead(&mut self) -> Parsed<Token> {
        let mut token = Token::NONE;
        self.lexer.next(&mut token)?;
        Ok(token)
    }

    /// Closes a block at the token at `place`.
    fn close(&mut self, place: Pos, token: &mut Token) -> Parsed<()> {
        match self.open.pop() {
            Some(_) => {
                *token = self.made_up(Tok::Outdent);
                Ok(())
            }
            None => self.lexer.problem(Problem::SurplusEnd, place, "unexpected end"),
        }
    }

    fn made_up(&self, tok: Tok) -> Token {
        Token { tok, start: self.last_start, end: self.last_start, value: TokenValue::None }
    }
}
