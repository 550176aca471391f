//! The parser, and statements. Expressions are in `expr`.
//!
//! `parse` reads a whole program and stops at the first problem, whose position and text are the
//! reference's. The helpers in the middle (`expect`, `unexpected`, `nested`) are all that the rest
//! of the parser is made of.

use ytterby_diag::{Label, Part, Pos, Role};
use ytterby_text::Str;

use super::Parsed;
use super::blocks::Blocks;
use super::lexer::Lexer;
use super::token::{Tok, Token, TokenValue};
use crate::ast::{Ast, Def, DefBody, ExprId, ExprKind, Load, Param, Stmt};
use crate::host::BinaryOp;
use crate::{Dialect, Problem, ProgramPiece};

/// Maximum nesting of blocks and expressions.
const MAX_BLOCKS: usize = 500;
const MAX_NESTING: usize = 5_000;

/// Parses a whole program.
pub(crate) fn parse(dialect: Dialect, pieces: &[ProgramPiece<'_>]) -> Parsed<(Ast, Vec<Stmt>)> {
    let mut tokens = Blocks::new(Lexer::new(dialect, pieces));
    let mut token = Token::NONE;
    tokens.next(&mut token)?;
    let last_end = token.start;
    let mut parser = Parser { tokens, token, last_end, ast: Ast::new(dialect), nesting: 0, blocks: 0 };
    let mut stmts = Vec::new();
    while parser.token.tok != Tok::Eof {
        if parser.token.tok == Tok::Newline {
            parser.advance()?;
        } else {
            parser.stmt(&mut stmts)?;
        }
    }
    Ok((parser.ast, stmts))
}

pub(super) struct Parser<'a> {
    tokens: Blocks<'a>,
    /// The next token.
    pub(super) token: Token,
    /// The end of the last consumed token.
    pub(super) last_end: Pos,
    pub(super) ast: Ast,
    nesting: usize,
    blocks: usize,
}

impl Parser<'_> {
    pub(super) fn tok(&self) -> Tok {
        self.token.tok
    }

    /// Consumes the next token and returns its position.
    pub(super) fn advance(&mut self) -> Parsed<Pos> {
        let (start, end) = (self.token.start, self.token.end);
        self.tokens.next(&mut self.token)?;
        self.last_end = end;
        Ok(start)
    }

    /// Consumes the next token and returns it.
    pub(super) fn take(&mut self) -> Parsed<Token> {
        let token = std::mem::replace(&mut self.token, Token::NONE);
        self.tokens.next(&mut self.token)?;
        self.last_end = token.end;
        Ok(token)
    }

    /// Consumes the next token, which must be this one, and returns its position.
    pub(super) fn expect(&mut self, wanted: Tok) -> Parsed<Pos> {
        if self.tok() != wanted {
            return self.unexpected(wanted.text(), &wanted.shown());
        }
        self.advance()
    }

    /// A problem with the next token. Like in the reference, its position is after the token.
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Parsed<T> {
        self.problem(Problem::Syntax, message)
    }

    /// The next token does not fit the grammar; `shown` is the expected one in messages.
    #[cold]
    pub(super) fn unexpected<T>(&self, want: &'static str, shown: &str) -> Parsed<T> {
        let got = self.tok();
        let message = format!("got {}, want {shown}", got.shown());
        let is_doubled = self.tokens.lexer.byte_before(self.token.start) == got.text().bytes().next();
        self.problem(
            match got {
                Tok::Amp if is_doubled => Problem::ForeignOperator("&&"),
                Tok::Pipe if is_doubled => Problem::ForeignOperator("||"),
                _ => Problem::Unexpected { got: got.text(), want },
            },
            message,
        )
    }

    #[cold]
    fn problem<T>(&self, problem: Problem, message: impl Into<String>) -> Parsed<T> {
        self.tokens.lexer.problem(problem, self.token.start, message).map_err(|mut error| {
            error.after = self.last_end;
            // A token without text: the mistake is at the end of the existing text.
            let is_made_up = self.token.start == self.token.end || self.tok() == Tok::Newline;
            if is_made_up && self.last_end.is_known() {
                error.label = Label::new(Role::Problem, self.last_end, Part::Bytes(0));
            }
            error
        })
    }

    pub(super) fn error_at<T>(&self, pos: Pos, message: impl Into<String>) -> Parsed<T> {
        self.tokens.lexer.error_at(pos, message)
    }

    /// Parses something one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_NESTING {
            return self.error(format!("expression nested too deeply (limit is {MAX_NESTING} levels)"));
        }
        self.nesting += 1;
        let result = stacker::maybe_grow(128 << 10, 2 << 20, || parse(self));
        self.nesting -= 1;
        result
    }

    fn stmt(&mut self, stmts: &mut Vec<Stmt>) -> Parsed<()> {
        match self.tok() {
            Tok::Def => stmts.push(self.def()?),
            Tok::If => stmts.push(self.if_stmt()?),
            Tok::For => stmts.push(self.for_stmt()?),
            Tok::While => {
                self.advance()?;
                let condition = self.test()?;
                self.expect(Tok::Colon)?;
                let body = self.suite()?;
                stmts.push(Stmt::While { condition, body });
            }
            _ => self.simple_stmt(stmts)?,
        }
        Ok(())
    }

    fn def(&mut self) -> Parsed<Stmt> {
        let pos = self.advance()?;
        let ident = self.ident()?;
        let ExprKind::Ident(name) = &self.ast[ident].kind else { return self.error("not an identifier") };
        let name = name.clone();
        self.expect(Tok::LParen)?;
        let params = self.params()?;
        self.expect(Tok::RParen)?;
        self.expect(Tok::Colon)?;
        let body = self.suite()?;
        let def = Def { name, pos, end: self.last_end, params, body: DefBody::Block(body) };
        Ok(Stmt::Def(ident, Box::new(def)))
    }

    fn if_stmt(&mut self) -> Parsed<Stmt> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            self.advance()?;
            let condition = self.test()?;
            self.expect(Tok::Colon)?;
            branches.push((condition, self.suite()?));
            if self.tok() != Tok::Elif {
                break;
            }
        }
        if self.tok() == Tok::Else {
            self.advance()?;
            self.expect(Tok::Colon)?;
            otherwise = self.suite()?;
        }
        Ok(Stmt::If { branches, otherwise })
    }

    fn for_stmt(&mut self) -> Parsed<Stmt> {
        let pos = self.advance()?;
        let vars = self.loop_vars()?;
        self.expect(Tok::In)?;
        let iterable = self.expr(TrailingComma::Refuse)?;
        self.expect(Tok::Colon)?;
        let body = self.suite()?;
        Ok(Stmt::For { vars, iterable, body, pos })
    }

    /// A block, or statements on the same line.
    fn suite(&mut self) -> Parsed<Vec<Stmt>> {
        if self.blocks >= MAX_BLOCKS {
            return self.error(format!("blocks nested too deeply (limit is {MAX_BLOCKS} levels)"));
        }
        let mut stmts = Vec::new();
        if self.tok() != Tok::Newline {
            self.simple_stmt(&mut stmts)?;
            return Ok(stmts);
        }
        self.advance()?;
        self.expect(Tok::Indent)?;
        self.blocks += 1;
        while !matches!(self.tok(), Tok::Outdent | Tok::Eof) {
            stacker::maybe_grow(128 << 10, 2 << 20, || self.stmt(&mut stmts))?;
        }
        self.blocks -= 1;
        self.expect(Tok::Outdent)?;
        Ok(stmts)
    }

    fn simple_stmt(&mut self, stmts: &mut Vec<Stmt>) -> Parsed<()> {
        loop {
            let stmt = self.small_stmt()?;
            stmts.push(stmt);
            if self.tok() != Tok::Semi {
                break;
            }
            self.advance()?;
            if matches!(self.tok(), Tok::Newline | Tok::Eof) {
                break;
            }
        }
        if self.tok() != Tok::Eof {
            self.expect(Tok::Newline)?;
        }
        Ok(())
    }

    fn small_stmt(&mut self) -> Parsed<Stmt> {
        match self.tok() {
            Tok::Return => {
                let pos = self.advance()?;
                if matches!(self.tok(), Tok::Eof | Tok::Newline | Tok::Semi) {
                    return Ok(Stmt::Return(None, pos));
                }
                return Ok(Stmt::Return(Some(self.expr(TrailingComma::Refuse)?), pos));
            }
            Tok::Break => return Ok(Stmt::Break(self.advance()?)),
            Tok::Continue => return Ok(Stmt::Continue(self.advance()?)),
            Tok::Load => return self.load(),
            Tok::Ident => {
                if let TokenValue::HostOp(piece) = self.token.value
                    && self.tokens.lexer.is_without_args(piece)
                {
                    // Its name and parentheses with their contents are synthetic.
                    let pos = self.token.start;
                    for tok in [Tok::Ident, Tok::LParen, Tok::Int, Tok::RParen] {
                        self.expect(tok)?;
                    }
                    return Ok(Stmt::HostOp(piece, pos));
                }
            }
            _ => {}
        }
        let target = self.expr(TrailingComma::Refuse)?;
        let op = match self.tok() {
            Tok::Eq => None,
            Tok::PlusEq => Some(BinaryOp::Add),
            Tok::MinusEq => Some(BinaryOp::Sub),
            Tok::StarEq => Some(BinaryOp::Mul),
            Tok::SlashEq => Some(BinaryOp::Div),
            Tok::SlashSlashEq => Some(BinaryOp::FloorDiv),
            Tok::PercentEq => Some(BinaryOp::Mod),
            Tok::AmpEq => Some(BinaryOp::And),
            Tok::PipeEq => Some(BinaryOp::Or),
            Tok::CircumflexEq => Some(BinaryOp::Xor),
            Tok::LtLtEq => Some(BinaryOp::Shl),
            Tok::GtGtEq => Some(BinaryOp::Shr),
            _ => return Ok(Stmt::Expr(target)),
        };
        let pos = self.advance()?;
        let value = self.expr(TrailingComma::Refuse)?;
        Ok(match op {
            None => Stmt::Assign { target, value, pos },
            Some(op) => Stmt::Augmented { target, op, value, pos },
        })
    }

    fn load(&mut self) -> Parsed<Stmt> {
        let pos = self.advance()?;
        let paren = self.expect(Tok::LParen)?;
        if self.tok() != Tok::Str {
            return self.error("first operand of load statement must be a string literal");
        }
        let (module, _) = self.string()?;
        let mut names = Vec::new();
        while !matches!(self.tok(), Tok::RParen | Tok::Eof) {
            self.expect(Tok::Comma)?;
            match self.tok() {
                Tok::RParen => break,
                Tok::Str => {
                    let (name, place) = self.string()?;
                    let ident = self.ast.add(place, place, self.last_end, ExprKind::Ident(name.clone()));
                    names.push((name, place, ident));
                }
                Tok::Ident => {
                    let ident = self.ident()?;
                    let ExprKind::Ident(local) = &self.ast[ident].kind else {
                        return self.error("not an identifier");
                    };
                    if self.tok() != Tok::Eq {
                        return self.error(format!(
                            r#"load operand must be "{local}" or {local}="originalname" (want '=' after {local})"#
                        ));
                    }
                    let message = format!(r#"original name of loaded symbol must be quoted: {local}="originalname""#);
                    self.expect(Tok::Eq)?;
                    if self.tok() != Tok::Str {
                        return self.error(message);
                    }
                    let (name, place) = self.string()?;
                    names.push((name, place, ident));
                }
                other => {
                    return self
                        .error(format!(r#"load operand must be "name" or localname="name" (got {})"#, other.shown()));
                }
            }
        }
        self.expect(Tok::RParen)?;
        if names.is_empty() {
            return self.error_at(paren, "load statement must import at least 1 symbol");
        }
        Ok(Stmt::Load(Box::new(Load { module, pos, names })))
    }

    /// Consumes a string literal.
    fn string(&mut self) -> Parsed<(Str, Pos)> {
        let token = self.take()?;
        match token.value {
            TokenValue::Str(text) => Ok((text, token.start)),
            _ => self.error("not a string literal"),
        }
    }

    /// Consumes a name.
    pub(super) fn ident(&mut self) -> Parsed<ExprId> {
        if self.tok() != Tok::Ident {
            if self.tok().is_reserved()
                && let TokenValue::Name(name) = &self.token.value
            {
                return self.error(format!("use of reserved keyword '{name}' is not allowed (expected identifier)"));
            }
            return self.error("not an identifier");
        }
        let token = self.take()?;
        let kind = match token.value {
            TokenValue::Name(name) => ExprKind::Ident(name),
            TokenValue::HostOp(piece) => ExprKind::HostOp(piece),
            _ => ExprKind::HostArgs,
        };
        Ok(self.ast.add(token.start, token.start, token.end, kind))
    }

    pub(super) fn params(&mut self) -> Parsed<Vec<Param>> {
        let mut params = Vec::new();
        let mut stars = false;
        while !matches!(self.tok(), Tok::RParen | Tok::Colon | Tok::Eof) {
            if !params.is_empty() {
                self.expect(Tok::Comma)?;
            }
            match self.tok() {
                Tok::RParen if stars => return self.unexpected("parameter", "parameter"),
                Tok::RParen => break,
                Tok::Star => {
                    stars = true;
                    let pos = self.advance()?;
                    let name = if self.tok() == Tok::Ident { Some(self.ident()?) } else { None };
                    params.push(Param::Star(name, pos));
                }
                Tok::StarStar => {
                    stars = true;
                    let pos = self.advance()?;
                    params.push(Param::StarStar(self.ident()?, pos));
                }
                _ => {
                    let ident = self.ident()?;
                    if self.tok() == Tok::Eq {
                        let pos = self.advance()?;
                        params.push(Param::Default(ident, self.test()?, pos));
                    } else {
                        params.push(Param::Plain(ident));
                    }
                }
            }
        }
        Ok(params)
    }
}

/// Whether a comma may follow the last value of a tuple.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TrailingComma {
    Allow,
    Refuse,
}
