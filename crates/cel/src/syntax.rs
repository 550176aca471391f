//! Parses text to a syntax tree: tokens, operators by precedence, macros.
//!
//! Names and functions are not resolved here but in [`crate::check`]. Macros are recognised by name
//! and number of arguments, as the language defines them, and become [`ExprKind::Comprehension`].

use ytterby_text::cel::is_reserved;

use crate::CompileError;

/// Longer expressions are rejected, as in Kubernetes.
const MAX_LENGTH: usize = 64 << 10;

/// Maximum nesting; it limits every recursion over the tree.
const MAX_DEPTH: usize = 200;

/// A node of the syntax tree, with its byte offset.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub kind: ExprKind,
    pub at: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Str(String),
    Bytes(Vec<u8>),
    Ident(String),
    /// `of.field`, `of.?field`.
    Select(Box<Expr>, String, Optional),
    /// `has(of.field)`.
    Has(Box<Expr>, String),
    /// `of[index]`, `of[?index]`.
    Index(Box<Expr>, Box<Expr>, Optional),
    /// A function or an operator: `_+_`.
    Call(String, Option<Box<Expr>>, Vec<Expr>),
    /// Operators of one precedence from left to right, each with its offset: long sums are not
    /// nested.
    Chain(Box<Expr>, Vec<(&'static str, usize, Expr)>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    If(Box<[Expr; 3]>),
    List(Vec<(Expr, Optional)>),
    Map(Vec<(Expr, Expr, Optional)>),
    Comprehension(Box<Comprehension>),
}

/// Whether a value may be absent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Optional {
    No,
    Yes,
}

#[derive(Clone, Debug)]
pub(crate) struct Comprehension {
    pub kind: Macro,
    pub range: Expr,
    pub vars: Vec<String>,
    pub condition: Option<Expr>,
    pub transform: Option<Expr>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Macro {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
    TransformList,
    TransformMap,
    TransformMapEntry,
    OptMap,
    OptFlatMap,
    SortBy,
}

impl Macro {
    fn named(name: &str) -> Option<Macro> {
        Some(match name {
            "all" => Macro::All,
            "exists" => Macro::Exists,
            "exists_one" | "existsOne" => Macro::ExistsOne,
            "filter" => Macro::Filter,
            "map" => Macro::Map,
            "transformList" => Macro::TransformList,
            "transformMap" => Macro::TransformMap,
            "transformMapEntry" => Macro::TransformMapEntry,
            "optMap" => Macro::OptMap,
            "optFlatMap" => Macro::OptFlatMap,
            "sortBy" => Macro::SortBy,
            _ => return None,
        })
    }
}

/// Parses an expression.
pub(crate) fn parse(source: &str) -> Result<Expr, CompileError> {
    if source.len() > MAX_LENGTH {
        return Err(CompileError::new(0, format!("the expression is longer than {MAX_LENGTH} bytes")));
    }
    let tokens = tokens(source)?;
    let mut parser = ExpressionParser { tokens, at: 0, depth: 0 };
    let expr = parser.expression()?;
    match parser.peek() {
        CelToken::End => Ok(expr),
        other => Err(parser.error(format!("unexpected {}", other.shown()))),
    }
}

#[derive(Clone, PartialEq, Debug)]
enum CelToken {
    Ident(String),
    /// A field name in backticks.
    Quoted(String),
    Int(u64),
    UInt(u64),
    Double(f64),
    Str(String),
    Bytes(Vec<u8>),
    Sign(&'static str),
    End,
}

impl CelToken {
    fn shown(&self) -> String {
        match self {
            CelToken::Ident(name) => format!("\"{name}\""),
            CelToken::Sign(sign) => format!("\"{sign}\""),
            CelToken::End => "end of the expression".to_owned(),
            _ => "literal".to_owned(),
        }
    }
}

const SIGNS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")", "[", "]",
    "{", "}",
];

fn tokens(source: &str) -> Result<Vec<(CelToken, usize)>, CompileError> {
    let mut tokens = Vec::new();
    let mut rest = source;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']);
        if let Some(comment) = rest.strip_prefix("//") {
            rest = &comment[comment.find('\n').unwrap_or(comment.len())..];
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        let at = source.len() - rest.len();
        let fail = |message: String| CompileError::new(at, message);
        if let Some((token, tail)) = string_literal(rest).map_err(fail)? {
            tokens.push((token, at));
            rest = tail;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push((CelToken::Ident(rest[..end].to_owned()), at));
            rest = &rest[end..];
        } else if first == '`' {
            let (name, tail) = rest[1..].split_once('`').ok_or_else(|| fail("missing closing `".to_owned()))?;
            tokens.push((CelToken::Quoted(name.to_owned()), at));
            rest = tail;
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let (token, tail) = number_literal(rest).map_err(fail)?;
            tokens.push((token, at));
            rest = tail;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push((CelToken::Sign(sign), at));
            rest = &rest[sign.len()..];
        } else {
            return Err(fail(format!("unexpected character '{first}'")));
        }
    }
    tokens.push((CelToken::End, source.len()));
    Ok(tokens)
}

fn number_literal(text: &str) -> Result<(CelToken, &str), String> {
    let whole = |digits: &str, radix: u32, rest| -> Result<(CelToken, &str), String> {
        let value = u64::from_str_radix(digits, radix).map_err(|_| format!("invalid number {digits}"))?;
        Ok(match <str as AsRef<str>>::as_ref(rest).strip_prefix(['u', 'U']) {
            Some(tail) => (CelToken::UInt(value), tail),
            None => (CelToken::Int(value), rest),
        })
    };
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(hex.len());
        return whole(&hex[..end], 16, &hex[end..]);
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(text);
    let mut is_double = false;
    if text[end..].starts_with('.') && digits(&text[end + 1..]) > 0 {
        is_double = true;
        end += 1 + digits(&text[end + 1..]);
    }
    if let Some(exponent) = text[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let count = digits(&exponent[sign..]);
        if count == 0 {
            return Err("invalid exponent".to_owned());
        }
        is_double = true;
        end += 1 + sign + count;
    }
    let (number, rest) = text.split_at(end);
    if is_double {
        let value = number.parse().map_err(|_| format!("invalid number {number}"))?;
        return Ok((CelToken::Double(value), rest));
    }
    whole(number, 10, rest)
}

/// A string or bytes literal at the start: `"a"`, `r'a'`, `b"a"`, `"""a"""`.
fn string_literal(text: &str) -> Result<Option<(CelToken, &str)>, String> {
    let prefix = text.bytes().take(2).take_while(|byte| b"rRbB".contains(byte)).count();
    let (prefix, body) = text.split_at(prefix);
    let lower = prefix.to_ascii_lowercase();
    if !body.starts_with(['"', '\'']) || lower == "rr" || lower == "bb" {
        return Ok(None);
    }
    let raw = lower.contains('r');
    let is_bytes = lower.contains('b');
    let quote = &body[..1];
    let triple = quote.repeat(3);
    let delimiter = if body.starts_with(&triple) { &triple[..] } else { quote };
    let mut rest = &body[delimiter.len()..];
    let mut out: Vec<u8> = Vec::new();
    loop {
        if let Some(tail) = rest.strip_prefix(delimiter) {
            let token = if is_bytes {
                CelToken::Bytes(out)
            } else {
                CelToken::Str(String::from_utf8(out).map_err(|_| "string is not UTF-8")?)
            };
            return Ok(Some((token, tail)));
        }
        let mut chars = rest.chars();
        match chars.next() {
            None => return Err("missing closing quote".to_owned()),
            Some('\n') if delimiter.len() == 1 => return Err("line break in string".to_owned()),
            Some('\\') if !raw => rest = escape(chars.as_str(), is_bytes, &mut out)?,
            Some(c) => {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = chars.as_str();
            }
        }
    }
}

/// Reads the escape after a backslash; returns the rest of the text.
fn escape<'s>(text: &'s str, is_bytes: bool, out: &mut Vec<u8>) -> Result<&'s str, String> {
    let bad = || "invalid escape in string".to_owned();
    let first = text.chars().next().ok_or_else(bad)?;
    let simple = match first {
        'a' => Some(7),
        'b' => Some(8),
        'f' => Some(12),
        'n' => Some(b'\n'),
        'r' => Some(b'\r'),
        't' => Some(b'\t'),
        'v' => Some(11),
        '\\' | '\'' | '"' | '`' | '?' => Some(first as u8),
        _ => None,
    };
    if let Some(byte) = simple {
        out.push(byte);
        return Ok(&text[1..]);
    }
    let (start, count, radix) = match first {
        'x' | 'X' => (1, 2, 16),
        'u' if !is_bytes => (1, 4, 16),
        'U' if !is_bytes => (1, 8, 16),
        '0'..='3' => (0, 3, 8),
        _ => return Err(bad()),
    };
    let digits = text.get(start..start + count).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
    let code = u32::from_str_radix(digits.ok_or_else(bad)?, radix).map_err(|_| bad())?;
    if is_bytes {
        out.push(u8::try_from(code).map_err(|_| bad())?);
    } else {
        let c = char::from_u32(code).ok_or_else(bad)?;
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(&text[start + count..])
}

struct ExpressionParser {
    tokens: Vec<(CelToken, usize)>,
    at: usize,
    depth: usize,
}

type ParsedExpression = Result<Expr, CompileError>;

impl ExpressionParser {
    fn peek(&self) -> &CelToken {
        &self.tokens[self.at].0
    }

    /// The offset of the next token.
    fn place(&self) -> usize {
        self.tokens[self.at].1
    }

    fn error(&self, message: impl Into<String>) -> CompileError {
        CompileError::new(self.place(), message)
    }

    fn next(&mut self) -> CelToken {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), CelToken::Sign(other) if *other == sign);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), CompileError> {
        if self.take(sign) {
            return Ok(());
        }
        Err(self.error(format!("expected \"{sign}\", found {}", self.peek().shown())))
    }

    /// Parses something nested, up to the limit.
    fn nested(&mut self, parse: impl FnOnce(&mut ExpressionParser) -> ParsedExpression) -> ParsedExpression {
        if self.depth >= MAX_DEPTH {
            return Err(self.error("the expression is nested too deeply"));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn expression(&mut self) -> ParsedExpression {
        self.nested(|parser| {
            let condition = parser.or()?;
            let at = parser.place();
            if !parser.take("?") {
                return Ok(condition);
            }
            let yes = parser.or()?;
            parser.expect(":")?;
            let no = parser.expression()?;
            Ok(Expr { kind: ExprKind::If(Box::new([condition, yes, no])), at })
        })
    }

    fn or(&mut self) -> ParsedExpression {
        let first = self.and()?;
        let at = self.place();
        let mut operands = vec![first];
        while self.take("||") {
            operands.push(self.and()?);
        }
        Ok(if operands.len() == 1 { operands.remove(0) } else { Expr { kind: ExprKind::Or(operands), at } })
    }

    fn and(&mut self) -> ParsedExpression {
        let first = self.chain(0)?;
        let at = self.place();
        let mut operands = vec![first];
        while self.take("&&") {
            operands.push(self.chain(0)?);
        }
        Ok(if operands.len() == 1 { operands.remove(0) } else { Expr { kind: ExprKind::And(operands), at } })
    }

    /// Binary operators by precedence: comparisons, sums, products.
    fn chain(&mut self, level: usize) -> ParsedExpression {
        const LEVELS: [&[(&str, &str)]; 3] = [
            &[
                ("==", "_==_"),
                ("!=", "_!=_"),
                ("<=", "_<=_"),
                (">=", "_>=_"),
                ("<", "_<_"),
                (">", "_>_"),
                ("in", "@in"),
            ],
            &[("+", "_+_"), ("-", "_-_")],
            &[("*", "_*_"), ("/", "_/_"), ("%", "_%_")],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let first = self.chain(level + 1)?;
        let mut rest = Vec::new();
        loop {
            let found = match self.peek() {
                CelToken::Sign(sign) => operators.iter().find(|(symbol, _)| symbol == sign),
                CelToken::Ident(name) => operators.iter().find(|(symbol, _)| symbol == name),
                _ => None,
            };
            let Some((_, name)) = found else { break };
            let at = self.place();
            self.next();
            rest.push((*name, at, self.chain(level + 1)?));
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let at = rest[0].1;
        Ok(Expr { kind: ExprKind::Chain(Box::new(first), rest), at })
    }

    fn unary(&mut self) -> ParsedExpression {
        let at = self.place();
        for (sign, name) in [("!", "!_"), ("-", "-_")] {
            if !self.take(sign) {
                continue;
            }
            // A negative number is one literal: otherwise the smallest integer could not be
            // written.
            if sign == "-" {
                match *self.peek() {
                    CelToken::Int(value) if value <= 1 << 63 => {
                        self.next();
                        return self.members(Expr { kind: ExprKind::Int((value as i64).wrapping_neg()), at });
                    }
                    CelToken::Double(value) => {
                        self.next();
                        return self.members(Expr { kind: ExprKind::Double(-value), at });
                    }
                    _ => {}
                }
            }
            return self.nested(|parser| {
                let operand = parser.unary()?;
                Ok(Expr { kind: ExprKind::Call(name.to_owned(), None, vec![operand]), at })
            });
        }
        let primary = self.primary()?;
        self.members(primary)
    }

    /// `.field`, `.function(…)`, `[index]` after an expression.
    fn members(&mut self, mut expr: Expr) -> ParsedExpression {
        let mut length = 0;
        loop {
            let at = self.place();
            if self.take(".") {
                let optional = if self.take("?") { Optional::Yes } else { Optional::No };
                let name_at = self.place();
                expr = match self.next() {
                    CelToken::Quoted(field) => Expr { kind: ExprKind::Select(Box::new(expr), field, optional), at },
                    CelToken::Ident(name) if optional == Optional::No && self.take("(") => {
                        self.method(expr, &name, at)?
                    }
                    CelToken::Ident(name) if name != "in" => {
                        Expr { kind: ExprKind::Select(Box::new(expr), name, optional), at }
                    }
                    other => {
                        return Err(CompileError::new(name_at, format!("expected a name, found {}", other.shown())));
                    }
                };
            } else if self.take("[") {
                let optional = if self.take("?") { Optional::Yes } else { Optional::No };
                let index = self.expression()?;
                self.expect("]")?;
                expr = Expr { kind: ExprKind::Index(Box::new(expr), Box::new(index), optional), at };
            } else {
                return Ok(expr);
            }
            length += 1;
            if length > MAX_DEPTH {
                return Err(self.error("the expression is nested too deeply"));
            }
        }
    }

    fn primary(&mut self) -> ParsedExpression {
        let at = self.place();
        let kind = match self.next() {
            CelToken::Int(value) => {
                ExprKind::Int(i64::try_from(value).map_err(|_| CompileError::new(at, "the integer is too large"))?)
            }
            CelToken::UInt(value) => ExprKind::Uint(value),
            CelToken::Double(value) => ExprKind::Double(value),
            CelToken::Str(text) => ExprKind::Str(text),
            CelToken::Bytes(bytes) => ExprKind::Bytes(bytes),
            CelToken::Ident(name) => return self.name(name, at),
            CelToken::Sign(".") => match self.next() {
                CelToken::Ident(name) => return self.name(name, at),
                other => return Err(CompileError::new(at, format!("unexpected {}", other.shown()))),
            },
            CelToken::Sign("(") => {
                let expr = self.expression()?;
                self.expect(")")?;
                return Ok(expr);
            }
            CelToken::Sign("[") => self.list()?,
            CelToken::Sign("{") => self.entries()?,
            other => return Err(CompileError::new(at, format!("unexpected {}", other.shown()))),
        };
        Ok(Expr { kind, at })
    }

    /// Expressions up to the closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Expr>, CompileError> {
        let mut items = Vec::new();
        while !self.take(")") {
            items.push(self.expression()?);
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(items)
    }

    /// The items of a list; a trailing comma is allowed.
    fn list(&mut self) -> Result<ExprKind, CompileError> {
        let mut items = Vec::new();
        while !self.take("]") {
            let optional = if self.take("?") { Optional::Yes } else { Optional::No };
            items.push((self.expression()?, optional));
            if !self.take(",") {
                self.expect("]")?;
                break;
            }
        }
        Ok(ExprKind::List(items))
    }

    fn entries(&mut self) -> Result<ExprKind, CompileError> {
        let mut entries = Vec::new();
        while !self.take("}") {
            let optional = if self.take("?") { Optional::Yes } else { Optional::No };
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?, optional));
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(ExprKind::Map(entries))
    }

    fn name(&mut self, name: String, at: usize) -> ParsedExpression {
        let kind = match &name[..] {
            "true" => ExprKind::Bool(true),
            "false" => ExprKind::Bool(false),
            "null" => ExprKind::Null,
            reserved if is_reserved(reserved) => {
                return Err(CompileError::new(at, format!("\"{name}\" is a reserved word")));
            }
            _ => {
                let call_at = self.place();
                if !self.take("(") {
                    return Ok(Expr { kind: ExprKind::Ident(name), at });
                }
                let mut args = self.arguments()?;
                if name == "has" && args.len() == 1 {
                    match args.remove(0).kind {
                        ExprKind::Select(of, field, Optional::No) => ExprKind::Has(of, field),
                        _ => return Err(CompileError::new(call_at, "has() needs a field: has(self.a)")),
                    }
                } else {
                    return Ok(Expr { kind: ExprKind::Call(name, None, args), at: call_at });
                }
            }
        };
        Ok(Expr { kind, at })
    }

    /// `receiver.name(…)`: a macro or a function.
    fn method(&mut self, receiver: Expr, name: &str, at: usize) -> ParsedExpression {
        let args = self.arguments()?;
        let kind = Macro::named(name);
        // Macros with two variables have two or three more arguments; everything else is a
        // function, or an error later.
        let two_vars = match kind {
            Some(Macro::All | Macro::Exists | Macro::ExistsOne) => args.len() == 3,
            Some(Macro::TransformList | Macro::TransformMap) => args.len() == 3 || args.len() == 4,
            Some(Macro::TransformMapEntry) => args.len() == 3 || args.len() == 4,
            _ => false,
        };
        let one_var = match kind {
            Some(Macro::All | Macro::Exists | Macro::ExistsOne | Macro::Filter) => args.len() == 2,
            Some(Macro::Map) => args.len() == 2 || args.len() == 3,
            Some(Macro::OptMap | Macro::OptFlatMap | Macro::SortBy) => args.len() == 2,
            _ => false,
        };
        let (Some(kind), true) = (kind, one_var || two_vars) else {
            return Ok(Expr { kind: ExprKind::Call(name.to_owned(), Some(Box::new(receiver)), args), at });
        };
        let mut args = args.into_iter();
        let mut vars = Vec::new();
        for arg in args.by_ref().take(if two_vars { 2 } else { 1 }) {
            match arg.kind {
                ExprKind::Ident(var) => vars.push(var),
                _ => return Err(CompileError::new(arg.at, format!("{name}() needs the name of a variable"))),
            }
        }
        if vars.len() == 2 && vars[0] == vars[1] {
            return Err(CompileError::new(at, format!("{name}() needs two different variables")));
        }
        let mut bodies: Vec<Expr> = args.collect();
        let last = bodies.pop();
        let (condition, transform) = match kind {
            Macro::All | Macro::Exists | Macro::ExistsOne | Macro::Filter => (last, None),
            _ => (bodies.pop(), last),
        };
        let comprehension = Comprehension { kind, range: receiver, vars, condition, transform };
        Ok(Expr { kind: ExprKind::Comprehension(Box::new(comprehension)), at })
    }
}
