//! From text to a tree whose names are all known.

use std::rc::Rc;

use ytterby_regexp::Regexp;
use ytterby_text::cel::is_reserved;

use super::value::Val;

/// Longer expressions are refused, as Kubernetes does.
const MAX_LENGTH: usize = 64 << 10;

/// Deeper ones too; it bounds every recursion over the tree.
const MAX_DEPTH: usize = 200;

/// A compiled expression.
#[derive(Debug)]
pub(super) enum Expr {
    Literal(Val<'static>),
    /// `self` is 0, variables of comprehensions follow from outside in.
    Var(usize),
    Select(Box<Expr>, Rc<str>),
    Has(Box<Expr>, Rc<str>),
    Index(Box<Expr>, Box<Expr>),
    List(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    /// Left to right: `a + b - c`.
    Chain(Box<Expr>, Vec<(Op, Expr)>),
    If(Box<[Expr; 3]>),
    Call(Function, Vec<Expr>),
    /// `matches` with a literal pattern, compiled once.
    Matches(Box<Expr>, Rc<Regexp>),
    Comprehension(Box<Comprehension>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Int,
    UInt,
    Double,
    String,
    Bytes,
    Bool,
    Type,
    Dyn,
}

#[derive(Debug)]
pub(super) struct Comprehension {
    pub kind: Macro,
    pub range: Expr,
    /// The condition; always true for `map` with two arguments.
    pub condition: Option<Expr>,
    /// What `map` collects.
    pub transform: Option<Expr>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Macro {
    All,
    Exists,
    ExistsOne,
    Filter,
    Map,
}

/// (name, function, called as `f(x)`, called as `x.f()`; numbers of arguments without the receiver)
const FUNCTIONS: [(&str, Function, Option<usize>, Option<usize>); 13] = [
    ("size", Function::Size, Some(1), Some(0)),
    ("contains", Function::Contains, None, Some(1)),
    ("startsWith", Function::StartsWith, None, Some(1)),
    ("endsWith", Function::EndsWith, None, Some(1)),
    ("matches", Function::Matches, Some(2), Some(1)),
    ("int", Function::Int, Some(1), None),
    ("uint", Function::UInt, Some(1), None),
    ("double", Function::Double, Some(1), None),
    ("string", Function::String, Some(1), None),
    ("bytes", Function::Bytes, Some(1), None),
    ("bool", Function::Bool, Some(1), None),
    ("type", Function::Type, Some(1), None),
    ("dyn", Function::Dyn, Some(1), None),
];

/// Names of types that can be compared with `type(x)`.
const TYPES: [&str; 9] = ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "uint"];

/// Reads an expression.
pub(super) fn parse(source: &str) -> Result<Expr, String> {
    if source.len() > MAX_LENGTH {
        return Err(format!("expression is longer than {MAX_LENGTH} bytes"));
    }
    let tokens = tokens(source)?;
    let mut parser = Parser { tokens, at: 0, vars: vec!["self".to_owned()], depth: 0 };
    let expr = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(expr),
        other => Err(format!("unexpected {}", other.shown())),
    }
}

#[derive(Clone, PartialEq, Debug)]
enum Token {
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

impl Token {
    fn shown(&self) -> String {
        match self {
            Token::Ident(name) => format!("\"{name}\""),
            Token::Sign(sign) => format!("\"{sign}\""),
            Token::End => "end of expression".to_owned(),
            _ => "literal".to_owned(),
        }
    }
}

const SIGNS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?", ":", ".", ",", "(", ")", "[", "]",
    "{", "}",
];

fn tokens(source: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = source;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c']);
        if let Some(comment) = rest.strip_prefix("//") {
            rest = &comment[comment.find('\n').unwrap_or(comment.len())..];
            continue;
        }
        let Some(first) = rest.chars().next() else { break };
        if let Some((token, tail)) = string_literal(rest)? {
            tokens.push(token);
            rest = tail;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            tokens.push(Token::Ident(rest[..end].to_owned()));
            rest = &rest[end..];
        } else if first == '`' {
            let (name, tail) = rest[1..].split_once('`').ok_or("missing closing `")?;
            tokens.push(Token::Quoted(name.to_owned()));
            rest = tail;
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())) {
            let (token, tail) = number_literal(rest)?;
            tokens.push(token);
            rest = tail;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        } else {
            return Err(format!("unexpected character '{first}'"));
        }
    }
    tokens.push(Token::End);
    Ok(tokens)
}

fn number_literal(text: &str) -> Result<(Token, &str), String> {
    let whole = |digits: &str, radix: u32, rest| -> Result<(Token, &str), String> {
        let value = u64::from_str_radix(digits, radix).map_err(|_| format!("invalid number {digits}"))?;
        Ok(match <str as AsRef<str>>::as_ref(rest).strip_prefix(['u', 'U']) {
            Some(tail) => (Token::UInt(value), tail),
            None => (Token::Int(value), rest),
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
        return Ok((Token::Double(value), rest));
    }
    whole(number, 10, rest)
}

/// A string or bytes literal at the front: `"a"`, `r'a'`, `b"a"`, `"""a"""`.
fn string_literal(text: &str) -> Result<Option<(Token, &str)>, String> {
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
                Token::Bytes(out)
            } else {
                Token::Str(String::from_utf8(out).map_err(|_| "string is not UTF-8")?)
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

/// What follows a backslash; the text behind it is left.
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

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    /// Names in scope, `self` first.
    vars: Vec<String>,
    depth: usize,
}

type Parsed = Result<Expr, String>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(other) if *other == sign);
        if found {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.take(sign) { Ok(()) } else { Err(format!("expected \"{sign}\", found {}", self.peek().shown())) }
    }

    /// Runs what nests, up to the limit.
    fn nested(&mut self, parse: impl FnOnce(&mut Parser) -> Parsed) -> Parsed {
        if self.depth >= MAX_DEPTH {
            return Err("expression is nested too deeply".to_owned());
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn expression(&mut self) -> Parsed {
        self.nested(|parser| {
            let condition = parser.or()?;
            if !parser.take("?") {
                return Ok(condition);
            }
            let yes = parser.or()?;
            parser.expect(":")?;
            let no = parser.expression()?;
            Ok(Expr::If(Box::new([condition, yes, no])))
        })
    }

    fn or(&mut self) -> Parsed {
        let mut operands = vec![self.and()?];
        while self.take("||") {
            operands.push(self.and()?);
        }
        Ok(if operands.len() == 1 { operands.remove(0) } else { Expr::Or(operands) })
    }

    fn and(&mut self) -> Parsed {
        let mut operands = vec![self.chain(0)?];
        while self.take("&&") {
            operands.push(self.chain(0)?);
        }
        Ok(if operands.len() == 1 { operands.remove(0) } else { Expr::And(operands) })
    }

    /// Binary operators by precedence: comparisons, sums, products.
    fn chain(&mut self, level: usize) -> Parsed {
        const LEVELS: [&[(&str, Op)]; 3] = [
            &[
                ("==", Op::Equal),
                ("!=", Op::NotEqual),
                ("<=", Op::LessEqual),
                (">=", Op::GreaterEqual),
                ("<", Op::Less),
                (">", Op::Greater),
                ("in", Op::In),
            ],
            &[("+", Op::Add), ("-", Op::Subtract)],
            &[("*", Op::Multiply), ("/", Op::Divide), ("%", Op::Remainder)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let first = self.chain(level + 1)?;
        let mut rest = Vec::new();
        loop {
            let found = match self.peek() {
                Token::Sign(sign) => operators.iter().find(|(symbol, _)| symbol == sign),
                Token::Ident(name) => operators.iter().find(|(symbol, _)| symbol == name),
                _ => None,
            };
            let Some((_, op)) = found else { break };
            self.next();
            rest.push((*op, self.chain(level + 1)?));
        }
        Ok(if rest.is_empty() { first } else { Expr::Chain(Box::new(first), rest) })
    }

    fn unary(&mut self) -> Parsed {
        if self.take("!") {
            return self.nested(|parser| Ok(Expr::Not(Box::new(parser.unary()?))));
        }
        if self.take("-") {
            // The smallest integer exists only with its sign.
            if *self.peek() == Token::Int(1 << 63) {
                self.next();
                return self.members(Expr::Literal(Val::Int(i64::MIN)));
            }
            return self.nested(|parser| Ok(Expr::Negate(Box::new(parser.unary()?))));
        }
        let primary = self.primary()?;
        self.members(primary)
    }

    /// `.field`, `.function(…)`, `[index]` behind an expression.
    fn members(&mut self, mut expr: Expr) -> Parsed {
        let mut length = 0;
        loop {
            if self.take(".") {
                expr = match self.next() {
                    Token::Quoted(field) => Expr::Select(Box::new(expr), field.into()),
                    Token::Ident(name) if self.take("(") => self.method(expr, &name)?,
                    Token::Ident(name) if name != "in" => Expr::Select(Box::new(expr), name.into()),
                    other => return Err(format!("expected a name, found {}", other.shown())),
                };
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                expr = Expr::Index(Box::new(expr), Box::new(index));
            } else {
                return Ok(expr);
            }
            length += 1;
            if length > MAX_DEPTH {
                return Err("expression is nested too deeply".to_owned());
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        Ok(match self.next() {
            Token::Int(value) => Expr::Literal(Val::Int(i64::try_from(value).map_err(|_| "integer is too large")?)),
            Token::UInt(value) => Expr::Literal(Val::UInt(value)),
            Token::Double(value) => Expr::Literal(Val::Double(value)),
            Token::Str(text) => Expr::Literal(Val::Str(text.into())),
            Token::Bytes(bytes) => Expr::Literal(Val::Bytes(bytes.into())),
            Token::Ident(name) => return self.name(name),
            Token::Sign("(") => {
                let expr = self.expression()?;
                self.expect(")")?;
                expr
            }
            Token::Sign("[") => Expr::List(self.list("]")?),
            Token::Sign("{") => Expr::Map(self.entries()?),
            other => return Err(format!("unexpected {}", other.shown())),
        })
    }

    /// Expressions up to the closing sign; a comma may stand before it.
    fn list(&mut self, close: &str) -> Result<Vec<Expr>, String> {
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.expression()?);
            if !self.take(",") {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    fn entries(&mut self) -> Result<Vec<(Expr, Expr)>, String> {
        let mut entries = Vec::new();
        while !self.take("}") {
            let key = self.expression()?;
            self.expect(":")?;
            entries.push((key, self.expression()?));
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        Ok(entries)
    }

    fn name(&mut self, name: String) -> Parsed {
        match &name[..] {
            "true" => return Ok(Expr::Literal(Val::Bool(true))),
            "false" => return Ok(Expr::Literal(Val::Bool(false))),
            "null" => return Ok(Expr::Literal(Val::Null)),
            reserved if is_reserved(reserved) => return Err(format!("\"{name}\" is a reserved word")),
            _ => {}
        }
        if self.take("(") {
            if name == "has" {
                return self.has();
            }
            let args = self.list(")")?;
            return match FUNCTIONS.iter().find(|entry| entry.0 == name) {
                Some((_, function, Some(count), _)) if *count == args.len() => call(*function, args),
                Some(_) => Err(format!("wrong arguments of {name}()")),
                None => Err(format!("unknown function {name}()")),
            };
        }
        if let Some(at) = self.vars.iter().rposition(|var| *var == name) {
            return Ok(Expr::Var(at));
        }
        match TYPES.iter().find(|known| **known == name) {
            Some(known) => Ok(Expr::Literal(Val::Type(known))),
            None => Err(format!("unknown name \"{name}\"")),
        }
    }

    fn has(&mut self) -> Parsed {
        let arg = self.expression()?;
        self.expect(")")?;
        match arg {
            Expr::Select(of, field) => Ok(Expr::Has(of, field)),
            _ => Err("has() needs a field: has(self.a)".to_owned()),
        }
    }

    /// `receiver.name(…)`: a macro or a function.
    fn method(&mut self, receiver: Expr, name: &str) -> Parsed {
        let kind = match name {
            "all" => Some(Macro::All),
            "exists" => Some(Macro::Exists),
            "exists_one" | "existsOne" => Some(Macro::ExistsOne),
            "filter" => Some(Macro::Filter),
            "map" => Some(Macro::Map),
            _ => None,
        };
        if let Some(kind) = kind {
            return self.comprehension(receiver, kind, name);
        }
        let mut args = self.list(")")?;
        match FUNCTIONS.iter().find(|entry| entry.0 == name) {
            Some((_, function, _, Some(count))) if *count == args.len() => {
                args.insert(0, receiver);
                call(*function, args)
            }
            Some(_) => Err(format!("wrong arguments of {name}()")),
            None => Err(format!("unknown function {name}()")),
        }
    }

    fn comprehension(&mut self, range: Expr, kind: Macro, name: &str) -> Parsed {
        let var = match self.next() {
            Token::Ident(var) if !is_reserved(&var) => var,
            other => return Err(format!("{name}() needs a variable, found {}", other.shown())),
        };
        self.expect(",")?;
        self.vars.push(var);
        let bodies = self.list(")");
        self.vars.pop();
        let mut bodies = bodies?.into_iter();
        let (condition, transform) = match (kind, bodies.next(), bodies.next(), bodies.next()) {
            (Macro::Map, Some(transform), None, None) => (None, Some(transform)),
            (Macro::Map, Some(condition), Some(transform), None) => (Some(condition), Some(transform)),
            (Macro::Map, ..) => return Err("wrong arguments of map()".to_owned()),
            (_, Some(condition), None, None) => (Some(condition), None),
            _ => return Err(format!("wrong arguments of {name}()")),
        };
        Ok(Expr::Comprehension(Box::new(Comprehension { kind, range, condition, transform })))
    }
}

fn call(function: Function, mut args: Vec<Expr>) -> Parsed {
    if function == Function::Matches
        && let [_, Expr::Literal(Val::Str(pattern))] = &args[..]
    {
        let regexp = Regexp::shared(&ytterby_text::Str::from(&**pattern))?;
        return Ok(Expr::Matches(Box::new(args.swap_remove(0)), regexp));
    }
    Ok(Expr::Call(function, args))
}
