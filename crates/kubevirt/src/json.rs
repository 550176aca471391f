//! Reads JSON and knows where every value stands.
//!
//! Annotations are written by hand, so the errors matter more than the speed: each carries its offset, the phrase that
//! Go's reader uses (compatibility mode repeats it to the letter) and, for the usual slips, what to do about it.

use crate::value::Value;

/// Nesting beyond this is refused, so that no input exhausts the stack.
pub const MAX_DEPTH: usize = 256;

/// A value and the bytes that it was read from.
#[derive(Clone, Debug)]
pub struct Node {
    /// First byte.
    pub start: usize,
    /// Byte behind the last one.
    pub end: usize,
    /// What stands there.
    pub kind: Kind,
}

/// The kinds of JSON values.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number, as it is written.
    Number(Box<str>),
    /// A string, unescaped.
    String(Box<str>),
    /// A list.
    Array(Vec<Node>),
    /// Keys (always strings) and values, in order, doubles included.
    Object(Vec<(Node, Node)>),
}

impl Node {
    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The name that Go's errors have for this kind of value.
    pub fn go_kind(&self) -> &'static str {
        match self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "bool",
            Kind::Number(_) => "number",
            Kind::String(_) => "string",
            Kind::Array(_) => "array",
            Kind::Object(_) => "object",
        }
    }

    /// The value without its positions.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(text) => match text.parse() {
                Ok(int) => Value::Int(int),
                Err(_) => Value::Float(text.parse().unwrap_or(f64::INFINITY)),
            },
            Kind::String(text) => Value::String(text.clone()),
            Kind::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Kind::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.as_str().unwrap_or_default().into(), value.to_value()))
                    .collect(),
            ),
        }
    }
}

/// Why a text is no JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonError {
    /// Where the reader stopped, in bytes.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
    /// The typographic quote that is to blame, and where it stands: often it was swallowed by the string before.
    pub quote: Option<(usize, char)>,
}

/// The ways in which a text fails to be JSON.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// A character that cannot stand there; with Go's phrase for the place.
    Unexpected(char, &'static str),
    /// The text ends too early.
    End,
    /// More than [`MAX_DEPTH`] arrays and objects in one another.
    Depth,
}

impl JsonError {
    /// The text of the error in Go's `encoding/json`, which looks at single bytes.
    pub fn go_text(&self, text: &str) -> String {
        match &self.problem {
            Problem::End => "unexpected end of JSON input".to_owned(),
            Problem::Depth => "exceeded max depth".to_owned(),
            Problem::Unexpected(_, place) => {
                let byte = char::from(text.as_bytes()[self.offset]);
                let shown = match byte {
                    '\'' => "\\'".to_owned(),
                    '"' => "\"".to_owned(),
                    '\\' => "\\\\".to_owned(),
                    '\n' => "\\n".to_owned(),
                    '\r' => "\\r".to_owned(),
                    '\t' => "\\t".to_owned(),
                    '\u{7}' => "\\a".to_owned(),
                    '\u{8}' => "\\b".to_owned(),
                    '\u{c}' => "\\f".to_owned(),
                    '\u{b}' => "\\v".to_owned(),
                    c if c < ' ' || c == '\u{7f}' => format!("\\x{:02x}", c as u32),
                    c if ('\u{80}'..='\u{a0}').contains(&c) || c == '\u{ad}' => format!("\\u{:04x}", c as u32),
                    c => c.to_string(),
                };
                format!("invalid character '{shown}' {place}")
            }
        }
    }

    /// Where the cause is, in bytes.
    pub fn cause(&self) -> usize {
        self.quote.map_or(self.offset, |(at, _)| at)
    }

    /// What is wrong, in our words.
    pub fn message(&self) -> String {
        if let Some((_, c)) = self.quote {
            let name = quote_name(c).unwrap_or_default();
            return format!("typographic quote {c} (U+{:04X} {name}) where JSON needs the straight quote \"", c as u32);
        }
        match &self.problem {
            Problem::End => "the JSON ends too early: a bracket, a brace or a quote is not closed".to_owned(),
            Problem::Depth => format!("arrays and objects are nested deeper than {MAX_DEPTH}"),
            Problem::Unexpected('\u{feff}', _) => "a byte order mark (U+FEFF) stands before the JSON".to_owned(),
            Problem::Unexpected(
                ']' | '}',
                "looking for beginning of value" | "looking for beginning of object key string",
            ) => "a comma stands before the closing bracket".to_owned(),
            Problem::Unexpected('"', "after object key:value pair" | "after array element") => {
                "a comma is missing before this string".to_owned()
            }
            Problem::Unexpected('{', "after array element") => "a comma is missing between two rules".to_owned(),
            Problem::Unexpected('/' | '#', _) => "JSON has no comments".to_owned(),
            Problem::Unexpected(c, "in string literal") => {
                format!("control character U+{:04X} in a string; write it as an escape", *c as u32)
            }
            Problem::Unexpected(c, place) => format!("unexpected {} {place}", shown(*c)),
        }
    }

    /// What to try, if there is something short to say.
    pub fn hint(&self) -> Option<String> {
        if self.quote.is_some() {
            return Some("replace it by \" (U+0022); `lint --fix` straightens all of them".to_owned());
        }
        match &self.problem {
            Problem::Unexpected('\'', _) => Some("JSON strings stand in double quotes".to_owned()),
            Problem::Unexpected('\u{feff}' | ']' | '}' | '/' | '#', _) => Some("remove it".to_owned()),
            _ => None,
        }
    }
}

fn shown(c: char) -> String {
    if c.is_control() { format!("character U+{:04X}", c as u32) } else { format!("`{c}`") }
}

/// The name of a typographic double or single quote.
pub fn quote_name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{201c}' => "left double quotation mark",
        '\u{201d}' => "right double quotation mark",
        '\u{201e}' => "double low-9 quotation mark",
        '\u{201f}' => "double high-reversed-9 quotation mark",
        '\u{2018}' => "left single quotation mark",
        '\u{2019}' => "right single quotation mark",
        '\u{201a}' => "single low-9 quotation mark",
        '\u{ab}' => "left-pointing double angle quotation mark",
        '\u{bb}' => "right-pointing double angle quotation mark",
        '\u{ff02}' => "fullwidth quotation mark",
        _ => return None,
    })
}

/// Reads one JSON value with nothing but space around it.
pub fn parse(text: &str) -> Result<Node, JsonError> {
    let mut reader = Reader { text, at: 0, last_string: (0, 0) };
    let node = reader.value(0)?;
    reader.space();
    match reader.peek() {
        None => Ok(node),
        Some(_) => Err(reader.unexpected("after top-level value")),
    }
}

const VALUE: &str = "looking for beginning of value";
const KEY: &str = "looking for beginning of object key string";

struct Reader<'a> {
    text: &'a str,
    at: usize,
    last_string: (usize, usize),
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn unexpected(&self, place: &'static str) -> JsonError {
        let found = self.text.get(self.at..).and_then(|rest| rest.chars().next());
        let problem = found.map_or(Problem::End, |c| Problem::Unexpected(c, place));
        let here = found.filter(|&c| quote_name(c).is_some()).map(|c| (self.at, c));
        let (start, end) = self.last_string;
        let before = || {
            let quotes = self.text[start..end].char_indices().filter(|&(_, c)| quote_name(c).is_some());
            quotes.map(|(at, c)| (start + at, c)).next()
        };
        let swallowed = place.starts_with("after object") || place == "in string literal" || found.is_none();
        // An end is shown behind the last thing that is written, not on a line of its own.
        let offset = if found.is_none() { self.text.trim_end().len() } else { self.at };
        JsonError { offset, problem, quote: here.or_else(|| if swallowed { before() } else { None }) }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.space();
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => {
                return Err(JsonError { offset: start, problem: Problem::Depth, quote: None });
            }
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal(
                "true",
                [
                    "in literal true (expecting 'r')",
                    "in literal true (expecting 'u')",
                    "in literal true (expecting 'e')",
                    "",
                ],
                Kind::Bool(true),
            )?,
            Some(b'f') => self.literal(
                "false",
                [
                    "in literal false (expecting 'a')",
                    "in literal false (expecting 'l')",
                    "in literal false (expecting 's')",
                    "in literal false (expecting 'e')",
                ],
                Kind::Bool(false),
            )?,
            Some(b'n') => self.literal(
                "null",
                [
                    "in literal null (expecting 'u')",
                    "in literal null (expecting 'l')",
                    "in literal null (expecting 'l')",
                    "",
                ],
                Kind::Null,
            )?,
            _ => return Err(self.unexpected(VALUE)),
        };
        Ok(Node { start, end: self.at, kind })
    }

    fn literal(&mut self, word: &str, places: [&'static str; 4], kind: Kind) -> Result<Kind, JsonError> {
        self.at += 1;
        for (byte, place) in word.bytes().skip(1).zip(places) {
            if self.peek() != Some(byte) {
                return Err(self.unexpected(place));
            }
            self.at += 1;
        }
        Ok(kind)
    }

    fn array(&mut self, depth: usize) -> Result<Kind, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Array(items));
                }
                _ => return Err(self.unexpected("after array element")),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Kind, JsonError> {
        self.at += 1;
        let mut entries = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(entries));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.unexpected(KEY));
            }
            let start = self.at;
            let key = Kind::String(self.string()?);
            let key = Node { start, end: self.at, kind: key };
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.unexpected("after object key"));
            }
            self.at += 1;
            entries.push((key, self.value(depth + 1)?));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Object(entries));
                }
                _ => return Err(self.unexpected("after object key:value pair")),
            }
        }
    }

    fn number(&mut self) -> Result<Kind, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits(),
            _ => return Err(self.unexpected("in numeric literal")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.unexpected("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err(self.unexpected("in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(Kind::Number(self.text[start..self.at].into()))
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<Box<str>, JsonError> {
        self.last_string = (self.at, self.at);
        self.at += 1;
        let mut out = String::new();
        loop {
            let run = self.text[self.at..].bytes().take_while(|&b| b != b'"' && b != b'\\' && b >= b' ').count();
            out.push_str(&self.text[self.at..self.at + run]);
            self.at += run;
            self.last_string.1 = self.at;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out.into());
                }
                Some(b'\\') => {
                    self.at += 1;
                    out.push(self.escape()?);
                }
                _ => return Err(self.unexpected("in string literal")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let c = match self.peek() {
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(c),
            Some(b'u') => {
                self.at += 1;
                return self.unicode();
            }
            _ => return Err(self.unexpected("in string escape code")),
        };
        self.at += 1;
        Ok(c)
    }

    /// The four digits behind `\u`, and a second such escape if the first is half of a pair. A lone half is replaced.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let high = self.hex4()?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let before = self.at;
        if high < 0xdc00 && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                let code = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("in \\u hexadecimal character escape"));
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = match parse(text) {
            Ok(node) => node.to_value().to_string(),
            Err(error) => format!("{}: {}", error.offset, error.go_text(text)),
        };
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn reads_json() {
        check(
            " [1, -2.5e3, \"a\\u00e9\\ud83d\\ude00\\n\", true, null, {\"k\": {}}] ",
            "[1,-2500,\"aé😀\\n\",true,null,{\"k\":{}}]",
        );
        check("\"\\ud800x\"", "\"\u{fffd}x\"");
        check("123456789012345678901234567890", "123456789012345678901234567890");
    }

    #[test]
    fn errors_are_those_of_go() {
        check("", "0: unexpected end of JSON input");
        check("[{", "2: unexpected end of JSON input");
        check("[1,]", "3: invalid character ']' looking for beginning of value");
        check("{\"a\":1,}", "7: invalid character '}' looking for beginning of object key string");
        check("[] x", "3: invalid character 'x' after top-level value");
        check("[{\u{201c}rule\u{201d}}]", "2: invalid character 'â' looking for beginning of object key string");
        check("\u{feff}[]", "0: invalid character 'ï' looking for beginning of value");
        check("tru3", "3: invalid character '3' in literal true (expecting 'e')");
        check("\"a\nb\"", "2: invalid character '\\n' in string literal");
        check("01", "1: invalid character '1' after top-level value");
        check("'a'", "0: invalid character '\\'' looking for beginning of value");
    }

    #[test]
    fn depth_is_bounded() {
        check(&"[".repeat(100_000), "256: exceeded max depth");
        let ok = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(parse(&ok).is_ok());
    }

    #[test]
    fn usual_slips_are_named() {
        for (text, part) in [
            ("[{\"a\u{201d}: \"b\"}]", "U+201D right double quotation mark"),
            ("[{\u{201c}a\": 1}]", "U+201C left double quotation mark"),
            ("[1,]", "comma stands before the closing bracket"),
            ("[{\"a\":1 \"b\":2}]", "comma is missing"),
            ("[1 // no\n]", "no comments"),
        ] {
            assert!(
                parse(text).unwrap_err().message().contains(part),
                "{text}: {}",
                parse(text).unwrap_err().message()
            );
        }
    }
}
