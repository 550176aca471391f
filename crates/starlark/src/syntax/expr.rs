//! Parses expressions, by descent and by precedence.
//!
//! From the top: lists of expressions, one expression (`test`), operators by their precedence
//! (`binary`), an operand with its suffixes, then what has brackets. Every level of nesting goes
//! through `nested`, which has a limit.

use ytterby_diag::Pos;

use super::Parsed;
use super::stmt::{Parser, TrailingComma};
use super::token::{Tok, TokenValue};
use crate::ast::{Arg, Clause, Comprehension, ComprehensionBody, Def, DefBody, DictEntry, ExprId, ExprKind};
use crate::host::{BinaryOp, CompareOp, UnaryOp};
use ytterby_text::Str;

/// Precedences of operators.
mod level {
    pub(super) const OR: u8 = 0;
    pub(super) const AND: u8 = 1;
    pub(super) const NOT: u8 = 2;
    pub(super) const COMPARE: u8 = 3;
}

impl Parser<'_> {
    /// Adds an expression that ends with the last consumed token.
    fn add(&mut self, start: Pos, pos: Pos, kind: ExprKind) -> ExprId {
        let end = self.last_end;
        self.ast.add(start, pos, end, kind)
    }

    /// One or more expressions separated by commas.
    pub(super) fn expr(&mut self, trailing: TrailingComma) -> Parsed<ExprId> {
        let first = self.test()?;
        if self.tok() != Tok::Comma {
            return Ok(first);
        }
        let start = self.ast[first].start;
        let items = self.more_exprs(first, trailing)?;
        Ok(self.add(start, start, ExprKind::Tuple(items)))
    }

    fn more_exprs(&mut self, first: ExprId, trailing: TrailingComma) -> Parsed<Vec<ExprId>> {
        let mut items = vec![first];
        while self.tok() == Tok::Comma {
            let pos = self.advance()?;
            if ends_list(self.tok()) {
                if trailing == TrailingComma::Refuse {
                    return self.error_at(pos, "unparenthesized tuple with trailing comma");
                }
                break;
            }
            items.push(self.test()?);
        }
        Ok(items)
    }

    /// One expression.
    pub(super) fn test(&mut self) -> Parsed<ExprId> {
        self.nested(|parser| {
            if parser.tok() == Tok::Lambda {
                return parser.lambda(Parser::test);
            }
            let then = parser.binary(level::OR)?;
            if parser.tok() != Tok::If {
                return Ok(then);
            }
            let pos = parser.advance()?;
            let condition = parser.binary(level::OR)?;
            if parser.tok() != Tok::Else {
                return parser.error_at(pos, "conditional expression without else clause");
            }
            parser.advance()?;
            let otherwise = parser.test()?;
            let start = parser.ast[then].start;
            Ok(parser.add(start, pos, ExprKind::Cond { condition, then, otherwise }))
        })
    }

    /// One expression that is not a conditional.
    fn test_without_condition(&mut self) -> Parsed<ExprId> {
        self.nested(|parser| {
            if parser.tok() == Tok::Lambda {
                parser.lambda(Parser::test_without_condition)
            } else {
                parser.binary(level::OR)
            }
        })
    }

    fn lambda(&mut self, body: fn(&mut Self) -> Parsed<ExprId>) -> Parsed<ExprId> {
        let pos = self.advance()?;
        let params = self.params()?;
        self.expect(Tok::Colon)?;
        let body = body(self)?;
        let def = Def { name: Str::from("lambda"), pos, end: self.last_end, params, body: DefBody::Lambda(body) };
        Ok(self.add(pos, pos, ExprKind::Lambda(Box::new(def))))
    }

    /// Operands joined by operators with at least precedence `min`.
    fn binary(&mut self, min: u8) -> Parsed<ExprId> {
        let mut left = if self.tok() == Tok::Not && min <= level::NOT {
            let pos = self.advance()?;
            let operand = self.nested(|parser| parser.binary(level::NOT))?;
            self.add(pos, pos, ExprKind::Not(operand))
        } else {
            self.operand()?
        };
        let mut compared = None;
        loop {
            if self.tok() == Tok::Not {
                self.advance()?;
                if self.tok() != Tok::In {
                    return self.unexpected("in", "in");
                }
                self.token.tok = Tok::NotIn;
            }
            let op = self.tok();
            let Some(level) = level_of(op).filter(|&level| level >= min) else { return Ok(left) };
            if level == level::COMPARE {
                if let Some(before) = compared {
                    let message = format!("{} does not associate with {} (use parens)", Tok::text(before), op.text());
                    return self.error(message);
                }
                compared = Some(op);
            }
            let pos = self.advance()?;
            let right = self.nested(|parser| parser.binary(level + 1))?;
            let start = self.ast[left].start;
            left = self.add(start, pos, operation(op, left, right));
        }
    }

    /// An operand with its suffixes: attributes, indices, calls.
    pub(super) fn operand(&mut self) -> Parsed<ExprId> {
        let mut x = self.primary()?;
        loop {
            let start = self.ast[x].start;
            match self.tok() {
                Tok::Dot => {
                    let pos = self.advance()?;
                    let name = self.ident()?;
                    let name = match &self.ast[name].kind {
                        ExprKind::Ident(name) => name.clone(),
                        _ => Str::EMPTY,
                    };
                    x = self.add(start, pos, ExprKind::Dot(x, name));
                }
                Tok::LBrack => x = self.index(x)?,
                Tok::LParen => {
                    let pos = self.advance()?;
                    let args = self.args()?;
                    self.expect(Tok::RParen)?;
                    x = self.add(start, pos, ExprKind::Call(x, args.into()));
                }
                _ => return Ok(x),
            }
        }
    }

    fn index(&mut self, x: ExprId) -> Parsed<ExprId> {
        let pos = self.advance()?;
        let start = self.ast[x].start;
        let (mut from, mut to, mut step) = (None, None, None);
        if self.tok() != Tok::Colon {
            let y = self.expr(TrailingComma::Refuse)?;
            if self.tok() == Tok::RBrack {
                self.advance()?;
                return Ok(self.add(start, pos, ExprKind::Index(x, y)));
            }
            from = Some(y);
        }
        if self.tok() == Tok::Colon {
            self.advance()?;
            if !matches!(self.tok(), Tok::Colon | Tok::RBrack) {
                to = Some(self.test()?);
            }
        }
        if self.tok() == Tok::Colon {
            self.advance()?;
            if self.tok() != Tok::RBrack {
                step = Some(self.test()?);
            }
        }
        self.expect(Tok::RBrack)?;
        Ok(self.add(start, pos, ExprKind::Slice { operand: x, start: from, stop: to, step }))
    }

    fn args(&mut self) -> Parsed<Vec<Arg>> {
        let mut args = Vec::new();
        let mut stars = false;
        while !matches!(self.tok(), Tok::RParen | Tok::Eof) {
            if !args.is_empty() {
                self.expect(Tok::Comma)?;
            }
            match self.tok() {
                Tok::RParen if stars => return self.unexpected("argument", "argument"),
                Tok::RParen => break,
                Tok::Star => {
                    stars = true;
                    let pos = self.advance()?;
                    args.push(Arg::Star(self.test()?, pos));
                }
                Tok::StarStar => {
                    stars = true;
                    let pos = self.advance()?;
                    args.push(Arg::StarStar(self.test()?, pos));
                }
                _ => {
                    let x = self.test()?;
                    if self.tok() != Tok::Eq {
                        args.push(Arg::Positional(x));
                        continue;
                    }
                    let ExprKind::Ident(name) = &self.ast[x].kind else {
                        return self.error("keyword argument must have form name=expr");
                    };
                    let (name, pos) = (name.clone(), self.ast[x].start);
                    self.advance()?;
                    args.push(Arg::Named(name, self.test()?, pos));
                }
            }
        }
        Ok(args)
    }

    fn primary(&mut self) -> Parsed<ExprId> {
        match self.tok() {
            Tok::Ident => self.ident(),
            Tok::Int | Tok::Float | Tok::Str | Tok::Bytes => {
                let token = self.take()?;
                let kind = match token.value {
                    TokenValue::Int(value) => ExprKind::Int(value),
                    TokenValue::BigInt(value) => ExprKind::BigInt(value),
                    TokenValue::Float(value) => ExprKind::Float(value),
                    TokenValue::Str(value) if token.tok == Tok::Bytes => ExprKind::Bytes(value),
                    TokenValue::Str(value) => ExprKind::Str(value),
                    _ => return self.error("not a literal"),
                };
                Ok(self.add(token.start, token.start, kind))
            }
            Tok::LBrack => self.list(),
            Tok::LBrace => self.dict(),
            Tok::LParen => {
                let pos = self.advance()?;
                if self.tok() == Tok::RParen {
                    self.advance()?;
                    return Ok(self.add(pos, pos, ExprKind::Tuple(Vec::new())));
                }
                let inner = self.expr(TrailingComma::Allow)?;
                self.expect(Tok::RParen)?;
                Ok(self.add(pos, pos, ExprKind::Paren(inner)))
            }
            Tok::Minus | Tok::Plus | Tok::Tilde => {
                let token = self.take()?;
                let op = match token.tok {
                    Tok::Minus => UnaryOp::Minus,
                    Tok::Plus => UnaryOp::Plus,
                    _ => UnaryOp::Tilde,
                };
                let x = self.nested(Parser::operand)?;
                Ok(self.add(token.start, token.start, ExprKind::Unary(op, x)))
            }
            _ => self.unexpected("primary expression", "primary expression"),
        }
    }

    fn list(&mut self) -> Parsed<ExprId> {
        let pos = self.advance()?;
        if self.tok() == Tok::RBrack {
            self.advance()?;
            return Ok(self.add(pos, pos, ExprKind::List(Vec::new())));
        }
        let first = self.test()?;
        if self.tok() == Tok::For {
            return self.comprehension(pos, ComprehensionBody::List(first), Tok::RBrack);
        }
        let items = self.more_exprs(first, TrailingComma::Allow)?;
        self.expect(Tok::RBrack)?;
        Ok(self.add(pos, pos, ExprKind::List(items)))
    }

    fn dict(&mut self) -> Parsed<ExprId> {
        let pos = self.advance()?;
        if self.tok() == Tok::RBrace {
            self.advance()?;
            return Ok(self.add(pos, pos, ExprKind::Dict(Vec::new())));
        }
        let first = self.dict_entry()?;
        if self.tok() == Tok::For {
            return self.comprehension(pos, ComprehensionBody::Dict(first), Tok::RBrace);
        }
        let mut entries = vec![first];
        while self.tok() == Tok::Comma {
            self.advance()?;
            if self.tok() == Tok::RBrace {
                break;
            }
            entries.push(self.dict_entry()?);
        }
        self.expect(Tok::RBrace)?;
        Ok(self.add(pos, pos, ExprKind::Dict(entries)))
    }

    fn dict_entry(&mut self) -> Parsed<DictEntry> {
        let key = self.test()?;
        let colon = self.expect(Tok::Colon)?;
        let value = self.test()?;
        Ok(DictEntry { key, value, colon })
    }

    fn comprehension(&mut self, pos: Pos, body: ComprehensionBody, closing: Tok) -> Parsed<ExprId> {
        let mut clauses = Vec::new();
        while self.tok() != closing {
            match self.tok() {
                Tok::For => {
                    let pos = self.advance()?;
                    let vars = self.loop_vars()?;
                    self.expect(Tok::In)?;
                    // Not a conditional, whose `if` would look like a clause.
                    let iterable = self.nested(|parser| parser.binary(level::OR))?;
                    clauses.push(Clause::For { vars, iterable, pos });
                }
                Tok::If => {
                    self.advance()?;
                    clauses.push(Clause::If(self.test_without_condition()?));
                }
                _ => return self.unexpected(closing.text(), &format!("'{}', for, or if", closing.text())),
            }
        }
        self.advance()?;
        Ok(self.add(pos, pos, ExprKind::Comprehension(Box::new(Comprehension { body, clauses }))))
    }

    /// The variables of a loop: operands only, so that `in` remains.
    pub(super) fn loop_vars(&mut self) -> Parsed<ExprId> {
        let first = self.nested(Parser::operand)?;
        if self.tok() != Tok::Comma {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.tok() == Tok::Comma {
            self.advance()?;
            if ends_list(self.tok()) {
                break;
            }
            items.push(self.nested(Parser::operand)?);
        }
        let start = self.ast[first].start;
        Ok(self.add(start, start, ExprKind::Tuple(items)))
    }
}

fn ends_list(tok: Tok) -> bool {
    matches!(tok, Tok::Eof | Tok::Newline | Tok::Eq | Tok::RBrace | Tok::RBrack | Tok::RParen | Tok::Semi)
}

fn level_of(tok: Tok) -> Option<u8> {
    Some(match tok {
        Tok::Or => level::OR,
        Tok::And => level::AND,
        Tok::EqEq | Tok::Ne | Tok::Lt | Tok::Gt | Tok::Le | Tok::Ge | Tok::In | Tok::NotIn => level::COMPARE,
        Tok::Pipe => 4,
        Tok::Circumflex => 5,
        Tok::Amp => 6,
        Tok::LtLt | Tok::GtGt => 7,
        Tok::Minus | Tok::Plus => 8,
        Tok::Star | Tok::Percent | Tok::Slash | Tok::SlashSlash => 9,
        _ => return None,
    })
}

fn operation(op: Tok, left: ExprId, right: ExprId) -> ExprKind {
    let binary = |op| ExprKind::Binary(op, left, right);
    let compare = |op| ExprKind::Compare(op, left, right);
    match op {
        Tok::Or => ExprKind::Or(left, right),
        Tok::And => ExprKind::And(left, right),
        Tok::EqEq => compare(CompareOp::Eq),
        Tok::Ne => compare(CompareOp::Ne),
        Tok::Lt => compare(CompareOp::Lt),
        Tok::Gt => compare(CompareOp::Gt),
        Tok::Le => compare(CompareOp::Le),
        Tok::Ge => compare(CompareOp::Ge),
        Tok::NotIn => ExprKind::NotIn(left, right),
        Tok::In => binary(BinaryOp::In),
        Tok::Pipe => binary(BinaryOp::Or),
        Tok::Circumflex => binary(BinaryOp::Xor),
        Tok::Amp => binary(BinaryOp::And),
        Tok::LtLt => binary(BinaryOp::Shl),
        Tok::GtGt => binary(BinaryOp::Shr),
        Tok::Minus => binary(BinaryOp::Sub),
        Tok::Star => binary(BinaryOp::Mul),
        Tok::Percent => binary(BinaryOp::Mod),
        Tok::Slash => binary(BinaryOp::Div),
        Tok::SlashSlash => binary(BinaryOp::FloorDiv),
        _ => binary(BinaryOp::Add),
    }
}
