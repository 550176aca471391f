//! Converts pieces to tokens.
//!
//! A host operation is read as if it were a call on its own line: `op(7)`, `op(7, (EXPR))` or
//! `op(7, "name", args(ARGUMENTS))`. The tokens around the user's text are synthetic, so that an
//! error in that text is reported as if the line really existed: an open bracket swallows the end
//! of the line, a comment swallows the closing parentheses.

use ytterby_diag::Pos;
use ytterby_text::Str;

use super::Parsed;
use super::literal::Escapes;
use super::token::{Tok, Token, TokenValue};
use crate::program::OpArgs;
use crate::{Dialect, OpenBracket, Problem, ProgramPiece, SyntaxError};

pub(crate) struct Lexer<'a> {
    dialect: Dialect,
    pieces: &'a [ProgramPiece<'a>],
    piece: usize,
    part: PiecePart,
    /// The text of the current part, its position, and the number of bytes read.
    pub(super) text: &'a [u8],
    pub(super) at: Pos,
    pub(super) offset: usize,
    /// Open brackets: those of the text, and `None` for synthetic ones.
    open: Vec<Option<OpenBracket>>,
    /// A bracket of the text that is still open at the end of its piece.
    unclosed: Option<OpenBracket>,
    /// Whether only white space was read since the line began.
    fresh_line: bool,
}

/// The part of a piece that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PiecePart {
    Code,
    /// The synthetic tokens before the user's text; how many were returned.
    OpHead(usize),
    OpText,
    /// The synthetic tokens after it.
    OpTail(usize),
    End,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(dialect: Dialect, pieces: &'a [ProgramPiece<'a>]) -> Lexer<'a> {
        let mut lexer = Lexer {
            dialect,
            pieces,
            piece: 0,
            part: PiecePart::End,
            text: &[],
            at: Pos::UNKNOWN,
            offset: 0,
            open: Vec::new(),
            unclosed: None,
            fresh_line: true,
        };
        lexer.begin_piece(Trim::Yes);
        lexer
    }

    /// The current position: after what was read.
    pub(crate) fn here(&self) -> Pos {
        self.place(self.offset)
    }

    pub(super) fn place(&self, offset: usize) -> Pos {
        if self.at.is_known() { Pos::new(self.at.file, self.at.offset + offset as u32) } else { self.at }
    }

    /// A problem at the current position.
    #[cold]
    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.problem(Problem::Syntax, self.here(), message)
    }

    /// A problem with a token, reported at the current position.
    #[cold]
    pub(crate) fn problem<T>(&self, problem: Problem, token: Pos, message: impl Into<String>) -> Parsed<T> {
        let piece = self.piece.min(self.pieces.len().saturating_sub(1));
        let innermost = self.open.last().copied().flatten();
        let is_over = self.part == PiecePart::End;
        let open = innermost.map(|open| OpenBracket { is_unclosed: is_over, ..open });
        let at_token = SyntaxError::at(token, problem, message.into(), self.pieces);
        Err(Box::new(SyntaxError { pos: self.here(), piece, open: self.unclosed.or(open), ..at_token }))
    }

    /// A problem at an earlier position.
    #[cold]
    pub(crate) fn error_at<T>(&self, pos: Pos, message: impl Into<String>) -> Parsed<T> {
        self.problem_at(pos, Problem::Syntax, message)
    }

    /// The same, with a given kind.
    #[cold]
    pub(crate) fn problem_at<T>(&self, pos: Pos, problem: Problem, message: impl Into<String>) -> Parsed<T> {
        Err(Box::new(SyntaxError::at(pos, problem, message.into(), self.pieces)))
    }

    fn begin_piece(&mut self, trim: Trim) {
        (self.offset, self.text) = (0, &[]);
        match self.pieces.get(self.piece) {
            None => self.part = PiecePart::End,
            Some(ProgramPiece::Code { text, at }) => {
                (self.part, self.text, self.at) = (PiecePart::Code, text, *at);
                if trim == Trim::Yes {
                    self.trim_line();
                }
            }
            Some(ProgramPiece::Op { at, .. }) => (self.part, self.at) = (PiecePart::OpHead(0), *at),
        }
    }

    /// Skips leading white space of a line.
    fn trim_line(&mut self) {
        while let Some(&byte) = self.text.get(self.offset) {
            match byte {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.offset += 1,
                0..0x80 => break,
                _ => match self.peek_char() {
                    Some(c) if c.is_whitespace() => self.offset += c.len_utf8(),
                    _ => break,
                },
            }
        }
    }

    /// Replaces `token` by the next one. It is written to its place: a result in memory would be
    /// copied from function to function.
    pub(crate) fn next(&mut self, token: &mut Token) -> Parsed<()> {
        loop {
            let is_found = match self.part {
                PiecePart::Code | PiecePart::OpText => self.text_token(token)?,
                PiecePart::OpHead(n) => self.head_token(n, token),
                PiecePart::OpTail(n) => self.tail_token(n, token)?,
                PiecePart::End => self.made_up(token, Tok::Eof, TokenValue::None),
            };
            if is_found {
                return Ok(());
            }
        }
    }

    /// Whether the piece with this index is a host operation without arguments.
    pub(super) fn is_without_args(&self, piece: u32) -> bool {
        matches!(self.pieces.get(piece as usize), Some(ProgramPiece::Op { args: OpArgs::None, .. }))
    }

    /// Makes `token` a synthetic one at the current position.
    fn made_up(&self, token: &mut Token, tok: Tok, value: TokenValue) -> bool {
        let here = self.here();
        *token = Token { tok, start: here, end: here, value };
        true
    }

    fn head_token(&mut self, n: usize, token: &mut Token) -> bool {
        let Some(ProgramPiece::Op { args, .. }) = self.pieces.get(self.piece) else {
            self.part = PiecePart::End;
            return false;
        };
        if n == 0 {
            self.notice_unclosed();
        }
        self.fresh_line = false;
        self.part = PiecePart::OpHead(n + 1);
        let (tok, value) = match (n, args) {
            (0, _) => (Tok::Ident, TokenValue::HostOp(self.piece as u32)),
            (1, _) => (Tok::LParen, TokenValue::None),
            (2, _) => (Tok::Int, TokenValue::Int(0)),
            (_, OpArgs::None) => {
                self.part = PiecePart::OpTail(1);
                return false;
            }
            (3, _) => (Tok::Comma, TokenValue::None),
            (4, OpArgs::Expr { .. }) => (Tok::LParen, TokenValue::None),
            (4, OpArgs::Call { .. }) => (Tok::Str, TokenValue::Str(Str::EMPTY)),
            (5, OpArgs::Call { .. }) => (Tok::Comma, TokenValue::None),
            (6, OpArgs::Call { .. }) => (Tok::Ident, TokenValue::HostArgs),
            (7, OpArgs::Call { .. }) => (Tok::LParen, TokenValue::None),
            (_, OpArgs::Expr { text, at } | OpArgs::Call { text, at }) => {
                (self.part, self.text, self.at, self.offset) = (PiecePart::OpText, text, *at, 0);
                return false;
            }
        };
        if tok == Tok::LParen {
            self.open.push(None);
        }
        self.made_up(token, tok, value)
    }

    fn tail_token(&mut self, n: usize, token: &mut Token) -> Parsed<bool> {
        if n >= 2 {
            return Ok(self.end_of_line(token));
        }
        self.part = PiecePart::OpTail(n + 1);
        self.fresh_line = false;
        self.notice_unclosed();
        // The text in between may have closed what the head opened.
        if self.open.pop().is_none() {
            return self.error("unexpected ')'");
        }
        Ok(self.made_up(token, Tok::RParen, TokenValue::None))
    }

    /// Remembers the bracket that the text left open, if any: the next tokens are synthetic.
    fn notice_unclosed(&mut self) {
        if let (None, Some(Some(open))) = (&self.unclosed, self.open.last()) {
            self.unclosed = Some(OpenBracket { is_unclosed: true, ..*open });
        }
    }

    /// The end of a piece, which is the end of a line unless nothing follows.
    fn end_of_line(&mut self, token: &mut Token) -> bool {
        if self.piece + 1 >= self.pieces.len() {
            self.part = PiecePart::End;
            return false;
        }
        let visible = !self.fresh_line && self.open.is_empty();
        if visible {
            self.made_up(token, Tok::Newline, TokenValue::None);
        }
        self.next_piece(self.trim_after());
        self.fresh_line = true;
        visible
    }

    pub(super) fn trim_after(&self) -> Trim {
        if self.part == PiecePart::Code && self.text.ends_with(b"\\") { Trim::No } else { Trim::Yes }
    }

    fn next_piece(&mut self, trim: Trim) {
        self.piece += 1;
        self.begin_piece(trim);
    }

    /// The byte right before a position in the current text.
    pub(super) fn byte_before(&self, pos: Pos) -> Option<u8> {
        let offset = pos.offset.checked_sub(self.at.offset)?.checked_sub(1)?;
        self.text.get(offset as usize).copied().filter(|_| pos.file == self.at.file)
    }

    /// Whether a piece of code follows, for strings that continue there.
    pub(super) fn code_follows(&self) -> Option<bool> {
        self.pieces
            .get(self.piece + 1)
            .map(|piece| self.part == PiecePart::Code && matches!(piece, ProgramPiece::Code { .. }))
    }

    pub(super) fn enter_next_code(&mut self) {
        let trim = self.trim_after();
        self.next_piece(trim);
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.offset).copied()
    }

    fn peek_char(&self) -> Option<char> {
        let rest = &self.text[self.offset..];
        let chunk = rest[..rest.len().min(4)].utf8_chunks().next()?;
        Some(chunk.valid().chars().next().unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Reads a line feed, carriage return or both, and the white space after it.
    pub(super) fn read_newline(&mut self) {
        let trim = self.offset == 0 || self.text[self.offset - 1] != b'\\';
        if self.text[self.offset..].starts_with(b"\r\n") {
            self.offset += 2;
        } else {
            self.offset += 1;
        }
        // Only code has lines; a lone carriage return does not begin one.
        if trim && self.part == PiecePart::Code && self.text[self.offset - 1] == b'\n' {
            self.trim_line();
        }
    }

    fn text_token(&mut self, token: &mut Token) -> Parsed<bool> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.offset += 1,
                Some(b'#') => {
                    let rest = &self.text[self.offset..];
                    match memchr::memchr2(b'\n', b'\r', rest) {
                        Some(len) => self.offset += len,
                        None => {
                            self.offset = self.text.len();
                            return Ok(self.end_of_line(token));
                        }
                    }
                }
                Some(b'\n' | b'\r') => {
                    let start = self.here();
                    let visible = !self.fresh_line && self.open.is_empty();
                    self.read_newline();
                    self.fresh_line = true;
                    if visible {
                        let end = self.here();
                        *token = Token { tok: Tok::Newline, start, end, value: TokenValue::None };
                        return Ok(true);
                    }
                }
                Some(b'\\') => self.continue_line()?,
                // A zero byte ends the text, as in the reference.
                Some(0) => {
                    self.part = PiecePart::End;
                    return Ok(false);
                }
                Some(byte) => {
                    self.fresh_line = false;
                    self.visible_token(byte, token)?;
                    return Ok(true);
                }
                None if self.part == PiecePart::OpText => {
                    let Some(ProgramPiece::Op { at, .. }) = self.pieces.get(self.piece) else { return Ok(false) };
                    (self.part, self.text, self.at, self.offset) = (PiecePart::OpTail(0), &[], *at, 0);
                    return Ok(false);
                }
                None => return Ok(self.end_of_line(token)),
            }
        }
    }

    fn continue_line(&mut self) -> Parsed<()> {
        self.offset += 1;
        self.fresh_line = false;
        match self.peek() {
            Some(b'\n' | b'\r') => self.read_newline(),
            None if self.part == PiecePart::Code && self.piece + 1 < self.pieces.len() => self.next_piece(Trim::No),
            _ => return self.error("stray backslash in program"),
        }
        Ok(())
    }

    fn visible_token(&mut self, byte: u8, token: &mut Token) -> Parsed<()> {
        token.start = self.here();
        let from = self.offset;
        let (tok, value) = match byte {
            b'"' | b'\'' => (Tok::Str, TokenValue::Str(self.string(Escapes::Kept)?)),
            b'r' if matches!(self.text.get(from + 1), Some(b'"' | b'\'')) => {
                self.offset += 1;
                (Tok::Str, TokenValue::Str(self.string(Escapes::Raw)?))
            }
            b'b' if self.begins_bytes(from + 1) => {
                self.offset += 1;
                (Tok::Bytes, TokenValue::Str(self.string(Escapes::Bytes)?))
            }
            b'r' if self.text.get(from + 1) == Some(&b'b') && self.begins_bytes(from + 2) => {
                self.offset += 2;
                (Tok::Bytes, TokenValue::Str(self.string(Escapes::Raw)?))
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => return self.name(token),
            b'0'..=b'9' => self.number()?,
            b'.' if matches!(self.text.get(from + 1), Some(b'0'..=b'9')) => self.number()?,
            _ => (self.punctuation(byte)?, TokenValue::None),
        };
        (token.tok, token.end, token.value) = (tok, self.here(), value);
        Ok(())
    }

    /// Whether a byte string begins with the quote at an offset; ytt has none.
    fn begins_bytes(&self, quote: usize) -> bool {
        self.dialect == Dialect::Current && matches!(self.text.get(quote), Some(b'"' | b'\''))
    }

    fn name(&mut self, token: &mut Token) -> Parsed<()> {
        let from = self.offset;
        while let Some(byte) = self.peek() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => self.offset += 1,
                0x80.. => match self.peek_char() {
                    Some(c) if c.is_alphabetic() => self.offset += c.len_utf8(),
                    _ => break,
                },
                _ => break,
            }
        }
        if self.offset == from {
            let c = self.peek_char().unwrap_or(char::REPLACEMENT_CHARACTER);
            return self.error(format!("unexpected input character {}", quoted_char(c)));
        }
        let name = &self.text[from..self.offset];
        token.tok = Tok::keyword(name).unwrap_or(Tok::Ident);
        token.end = self.here();
        token.value = TokenValue::Name(Str::new(name));
        Ok(())
    }

    fn punctuation(&mut self, byte: u8) -> Parsed<Tok> {
        let rest = &self.text[self.offset..];
        let (tok, len) = match (byte, rest.get(1), rest.get(2)) {
            (b'<', Some(b'<'), Some(b'=')) => (Tok::LtLtEq, 3),
            (b'>', Some(b'>'), Some(b'=')) => (Tok::GtGtEq, 3),
            (b'/', Some(b'/'), Some(b'=')) => (Tok::SlashSlashEq, 3),
            (b'<', Some(b'<'), _) => (Tok::LtLt, 2),
            (b'>', Some(b'>'), _) => (Tok::GtGt, 2),
            (b'/', Some(b'/'), _) => (Tok::SlashSlash, 2),
            (b'*', Some(b'*'), _) => (Tok::StarStar, 2),
            (b'<', Some(b'='), _) => (Tok::Le, 2),
            (b'>', Some(b'='), _) => (Tok::Ge, 2),
            (b'=', Some(b'='), _) => (Tok::EqEq, 2),
            (b'!', Some(b'='), _) => (Tok::Ne, 2),
            (b'+', Some(b'='), _) => (Tok::PlusEq, 2),
            (b'-', Some(b'='), _) => (Tok::MinusEq, 2),
            (b'*', Some(b'='), _) => (Tok::StarEq, 2),
            (b'/', Some(b'='), _) => (Tok::SlashEq, 2),
            (b'%', Some(b'='), _) => (Tok::PercentEq, 2),
            (b'&', Some(b'='), _) => (Tok::AmpEq, 2),
            (b'|', Some(b'='), _) => (Tok::PipeEq, 2),
            (b'^', Some(b'='), _) => (Tok::CircumflexEq, 2),
            (b'<', ..) => (Tok::Lt, 1),
            (b'>', ..) => (Tok::Gt, 1),
            (b'=', ..) => (Tok::Eq, 1),
            (b'+', ..) => (Tok::Plus, 1),
            (b'-', ..) => (Tok::Minus, 1),
            (b'*', ..) => (Tok::Star, 1),
            (b'/', ..) => (Tok::Slash, 1),
            (b'%', ..) => (Tok::Percent, 1),
            (b'&', ..) => (Tok::Amp, 1),
            (b'|', ..) => (Tok::Pipe, 1),
            (b'^', ..) => (Tok::Circumflex, 1),
            (b'~', ..) => (Tok::Tilde, 1),
            (b'.', ..) => (Tok::Dot, 1),
            (b',', ..) => (Tok::Comma, 1),
            (b';', ..) => (Tok::Semi, 1),
            (b':', ..) => (Tok::Colon, 1),
            (b'(', ..) => (Tok::LParen, 1),
            (b')', ..) => (Tok::RParen, 1),
            (b'[', ..) => (Tok::LBrack, 1),
            (b']', ..) => (Tok::RBrack, 1),
            (b'{', ..) => (Tok::LBrace, 1),
            (b'}', ..) => (Tok::RBrace, 1),
            _ => {
                let problem = match byte {
                    b'!' => Problem::ForeignOperator("!"),
                    b'?' => Problem::ForeignOperator("?"),
                    _ => Problem::Syntax,
                };
                let message = format!("unexpected input character {}", quoted_char(byte as char));
                return self.problem(problem, self.here(), message);
            }
        };
        if matches!(tok, Tok::LParen | Tok::LBrack | Tok::LBrace) {
            self.open.push(Some(OpenBracket { pos: self.here(), bracket: byte as char, is_unclosed: false }));
        } else if matches!(tok, Tok::RParen | Tok::RBrack | Tok::RBrace) && self.open.pop().is_none() {
            return self.error(format!("unexpected {}", quoted_char(byte as char)));
        }
        self.offset += len;
        Ok(tok)
    }
}

/// Whether leading white space of a line is skipped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trim {
    Yes,
    No,
}

/// The text of a piece and its position.
pub(super) fn text_of<'a>(piece: &ProgramPiece<'a>) -> Option<(&'a [u8], Pos)> {
    match piece {
        ProgramPiece::Code { text, at } => Some((text, *at)),
        ProgramPiece::Op { args: OpArgs::Expr { text, at } | OpArgs::Call { text, at }, .. } => Some((text, *at)),
        ProgramPiece::Op { args: OpArgs::None, .. } => None,
    }
}

/// The piece that contains a position.
pub(crate) fn piece_of(pieces: &[ProgramPiece<'_>], pos: Pos) -> usize {
    let within =
        |text: &[u8], at: Pos| at.file == pos.file && (at.offset..=at.offset + text.len() as u32).contains(&pos.offset);
    let found = pieces.iter().position(|piece| {
        let is_place = matches!(piece, ProgramPiece::Op { at, .. } if *at == pos);
        is_place || text_of(piece).is_some_and(|(text, at)| within(text, at))
    });
    found.unwrap_or(0)
}

/// A character in single quotes, escaped if it is not printable.
fn quoted_char(c: char) -> String {
    if c == '\'' {
        return "'\\''".to_owned();
    }
    if c == '"' {
        return "'\"'".to_owned();
    }
    let mut buf = [0; 4];
    let text = ytterby_text::quote::quote(c.encode_utf8(&mut buf).as_bytes());
    format!("'{}'", text.to_str().trim_matches('"'))
}
