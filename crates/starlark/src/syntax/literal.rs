//! String and number literals.
//!
//! Most strings have one line and no escapes (`plain_string`); only the others are unescaped.
//! Numbers of more than `MAX_DIGITS` digits are refused, because reading them would take too long.

use num_bigint::BigInt;
use ytterby_text::Str;

use super::Parsed;
use super::lexer::Lexer;
use super::token::{Tok, TokenValue};

/// The meaning of a backslash in a literal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Nothing: `r"…"`.
    Raw,
    /// Unknown escapes are kept as they are: `"…"`, as in ytt.
    Kept,
    /// Unknown escapes are errors, and there are escapes for code points: `b"…"`.
    Bytes,
}

impl Lexer<'_> {
    /// Reads a string literal; the next byte is its quote.
    pub(super) fn string(&mut self, escapes: Escapes) -> Parsed<Str> {
        let quote = self.text[self.offset];
        let start = self.place(self.offset - usize::from(escapes != Escapes::Kept));
        let triple = self.text[self.offset..].starts_with(&[quote; 3]);
        self.offset += if triple { 3 } else { 1 };
        if !triple && let Some(text) = self.plain_string(quote) {
            return Ok(text);
        }
        let mut body = Vec::new();
        let mut quotes = 0;
        loop {
            let byte = match self.string_byte(triple) {
                Ok(byte) => byte,
                Err(problem) => return self.error_at(start, problem),
            };
            if byte == quote {
                quotes += 1;
                if !triple {
                    break;
                }
                body.push(byte);
                if quotes == 3 {
                    body.truncate(body.len() - 3);
                    break;
                }
                continue;
            }
            quotes = 0;
            if byte == b'\n' && !triple {
                return self.error_at(start, "unexpected newline in string");
            }
            body.push(byte);
            if byte == b'\\' {
                match self.string_byte(triple) {
                    Ok(byte) => body.push(byte),
                    Err(problem) => return self.error_at(start, problem),
                }
            }
        }
        match unescape(&body, escapes) {
            Ok(text) => Ok(Str::from(text)),
            Err(problem) => self.error_at(start, problem),
        }
    }

    /// The common case: one line, no escapes.
    fn plain_string(&mut self, quote: u8) -> Option<Str> {
        let rest = &self.text[self.offset..];
        let len = rest.iter().position(|&byte| byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'))?;
        if rest[len] != quote {
            return None;
        }
        let text = Str::new(&rest[..len]);
        self.offset += len + 1;
        Some(text)
    }

    /// The next byte of a string; any kind of line end becomes a line feed.
    fn string_byte(&mut self, triple: bool) -> Result<u8, &'static str> {
        match self.peek() {
            Some(b'\n' | b'\r') => {
                self.read_newline();
                Ok(b'\n')
            }
            Some(byte) => {
                self.offset += 1;
                Ok(byte)
            }
            None => match self.code_follows() {
                Some(true) => {
                    self.enter_next_code();
                    Ok(b'\n')
                }
                // The line of a host operation ends after the string.
                Some(false) if !triple => Err("unexpected newline in string"),
                _ => Err("unexpected EOF in string"),
            },
        }
    }

    /// Reads a number, or a name that begins with a digit.
    pub(super) fn number(&mut self) -> Parsed<(Tok, TokenValue)> {
        let start = self.here();
        let from = self.offset;
        let mut fraction = false;
        if self.peek() == Some(b'0') && self.text.get(from + 1) != Some(&b'.') {
            self.offset += 1;
            let (base, name, is_digit): (u32, _, fn(u8) -> bool) = match self.peek() {
                Some(b'x' | b'X') => (16, "hex", |b| b.is_ascii_hexdigit()),
                Some(b'o' | b'O') => (8, "octal", |b| matches!(b, b'0'..=b'7')),
                Some(b'b' | b'B') => (2, "binary", |b| matches!(b, b'0' | b'1')),
                _ => (10, "decimal", |b| b.is_ascii_digit()),
            };
            if base != 10 {
                self.offset += 1;
                if !self.peek().is_some_and(is_digit) {
                    let message = format!("invalid {name} literal");
                    return if base == 16 { self.error_at(start, message) } else { self.error(message) };
                }
                self.skip(is_digit);
                let digits = &self.text[from + 2..self.offset];
                return match integer(digits, base) {
                    // Only decimal and hex literals may be longer than 64 bits.
                    Some(TokenValue::BigInt(_)) if base != 16 => self.error_at(start, "invalid int literal"),
                    Some(value) => Ok((Tok::Int, value)),
                    None => self.error_at(start, "invalid int literal"),
                };
            }
            self.skip(is_digit);
            let digits = &self.text[from..self.offset];
            if !matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
                let octal = digits.iter().all(|byte| matches!(byte, b'0'..=b'7'));
                if octal && digits.iter().any(|&byte| byte != b'0') {
                    let digits = String::from_utf8_lossy(&digits[1..]).into_owned();
                    return self.error(format!("obsolete form of octal literal; use 0o{digits}"));
                }
                if !octal {
                    return self.error_at(start, "invalid int literal");
                }
                return Ok((Tok::Int, TokenValue::Int(0)));
            }
        } else {
            self.skip(|byte| byte.is_ascii_digit());
        }
        if self.peek() == Some(b'.') {
            fraction = true;
            self.offset += 1;
            self.skip(|byte| byte.is_ascii_digit());
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            fraction = true;
            self.offset += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.offset += 1;
                if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    return self.error("invalid float literal");
                }
            }
            self.skip(|byte| byte.is_ascii_digit());
        }
        let text = &self.text[from..self.offset];
        if !fraction {
            return match integer(text, 10) {
                Some(value) => Ok((Tok::Int, value)),
                None => self.error_at(start, "invalid int literal"),
            };
        }
        match std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) {
            Some(value) if value.is_finite() => Ok((Tok::Float, TokenValue::Float(value))),
            _ => self.error("invalid float literal"),
        }
    }

    fn skip(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.offset += 1;
        }
    }
}

/// Parsing a longer integer would take too long.
const MAX_DIGITS: usize = 300_000;

fn integer(digits: &[u8], base: u32) -> Option<TokenValue> {
    if digits.len() > MAX_DIGITS {
        return None;
    }
    let text = std::str::from_utf8(digits).ok()?;
    match i64::from_str_radix(text, base) {
        Ok(value) => Some(TokenValue::Int(value)),
        Err(_) => BigInt::parse_bytes(digits, base).map(|value| TokenValue::BigInt(value.into())),
    }
}

/// The value of the body of a string literal.
fn unescape(body: &[u8], escapes: Escapes) -> Result<Vec<u8>, String> {
    if escapes == Escapes::Raw || !body.contains(&b'\\') {
        return Ok(body.to_vec());
    }
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let [byte, tail @ ..] = rest else { return Err("truncated escape sequence \\".to_owned()) };
        rest = tail;
        match byte {
            b'\n' => {}
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'\\' | b'\'' | b'"' => out.push(*byte),
            b'0'..=b'7' => {
                let mut code = u32::from(byte - b'0');
                for _ in 0..2 {
                    let [digit @ b'0'..=b'7', tail @ ..] = rest else { break };
                    code = code * 8 + u32::from(digit - b'0');
                    rest = tail;
                }
                out.push(u8::try_from(code).map_err(|_| format!("invalid escape sequence \\{code:03o}"))?);
            }
            b'x' => {
                let [high, low, tail @ ..] = rest else {
                    return Err(format!("truncated escape sequence \\x{}", String::from_utf8_lossy(rest)));
                };
                let code = [*high, *low];
                let text = String::from_utf8_lossy(&code);
                let valid = text.bytes().all(|byte| byte.is_ascii_hexdigit());
                match u8::from_str_radix(&text, 16) {
                    Ok(code) if valid => out.push(code),
                    _ => return Err(format!("invalid escape sequence \\x{text}")),
                }
                rest = tail;
            }
            b'u' | b'U' if escapes == Escapes::Bytes => {
                let len = if *byte == b'u' { 4 } else { 8 };
                let digits = rest.get(..len).and_then(|digits| std::str::from_utf8(digits).ok());
                let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                let code = digits.filter(is_hex).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                let Some(c) = code.and_then(char::from_u32) else {
                    return Err(format!("invalid escape sequence \\{}", char::from(*byte)));
                };
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[len..];
            }
            other if escapes == Escapes::Bytes => {
                return Err(format!("invalid escape sequence \\{}", char::from(*other)));
            }
            // Unknown escapes are kept as they are.
            other => out.extend_from_slice(&[b'\\', *other]),
        }
    }
    out.extend_from_slice(rest);
    Ok(out)
}
