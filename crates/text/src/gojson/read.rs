//! Reads one value, with Go's rules and Go's error texts.
//!
//! Nesting is kept on an explicit stack, and the caller limits it. Whether a value suits its
//! purpose (numbers that are too large, duplicate keys) is the caller's business: Go, too, checks
//! the syntax of the whole text first.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::{budget, quote};

/// Maximum nesting of arrays and objects that Go reads.
pub const MAX_DEPTH: usize = 10_000;

/// Builds the values of a text. Spans are in bytes.
pub trait Build {
    /// The type of a value.
    type Value;
    /// The type of a member's key.
    type Key;

    /// A scalar.
    fn scalar(&mut self, scalar: JsonScalar<'_>, span: Range<usize>) -> Self::Value;

    /// A key; invalid UTF-8 is replaced.
    fn key(&mut self, text: Cow<'_, str>, span: Range<usize>) -> Self::Key;

    /// An array.
    fn array(&mut self, items: Vec<Self::Value>, span: Range<usize>) -> Self::Value;

    /// An object: all its members in order, including those with duplicate keys.
    fn object(&mut self, members: Vec<(Self::Key, Self::Value)>, span: Range<usize>) -> Self::Value;
}

/// A scalar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JsonScalar<'a> {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number, as it is written in the text.
    Number(&'a str),
    /// A string with its escapes decoded; invalid UTF-8 is replaced.
    String(Cow<'a, str>),
}

/// Why a text is not JSON. `Display` writes Go's message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonReadError {
    /// Where the reader stopped, in bytes.
    pub offset: usize,
    /// What is wrong there.
    pub problem: JsonProblem,
    /// The last string before the problem, from its first quote to where the reader got in it.
    pub last_string: Range<usize>,
}

/// The ways in which a text fails to be JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonProblem {
    /// A byte that is not allowed at this place.
    Unexpected(u8, JsonContext),
    /// The text ends at this place.
    End(JsonContext),
    /// The arrays and objects are nested deeper than the limit; this byte opens one more.
    Depth(u8),
    /// The run reached its memory or time limit; see [`crate::budget`].
    Exceeded,
}

/// Where a reader can stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonContext {
    /// Before a value.
    Value,
    /// After the only value of the text.
    AfterTopLevel,
    /// Before a key.
    Key,
    /// Between a key and its colon.
    AfterKey,
    /// After a member of an object.
    AfterMember,
    /// After an item of an array.
    AfterItem,
    /// Within this word, before the byte with this index.
    Word(&'static str, usize),
    /// Before the first digit of a number.
    Digits,
    /// After a decimal point.
    Fraction,
    /// Before the first digit of an exponent.
    Exponent,
    /// Within a string.
    String,
    /// After a backslash.
    Escape,
    /// Within the four digits after `\u`.
    Hex,
}

impl JsonContext {
    /// Whether Go accepts a space here. Go feeds a space to its reader when a text ends too early,
    /// and complains about that space in all other places.
    fn takes_space(self) -> bool {
        use JsonContext::*;
        match self {
            Value | AfterTopLevel | Key | AfterKey | AfterMember | AfterItem | String => true,
            Word(..) | Digits | Fraction | Exponent | Escape | Hex => false,
        }
    }
}

impl fmt::Display for JsonContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JsonContext::Value => "looking for beginning of value",
            JsonContext::AfterTopLevel => "after top-level value",
            JsonContext::Key => "looking for beginning of object key string",
            JsonContext::AfterKey => "after object key",
            JsonContext::AfterMember => "after object key:value pair",
            JsonContext::AfterItem => "after array element",
            JsonContext::Word(word, at) => {
                return write!(f, "in literal {word} (expecting '{}')", &word[*at..=*at]);
            }
            JsonContext::Digits => "in numeric literal",
            JsonContext::Fraction => "after decimal point in numeric literal",
            JsonContext::Exponent => "in exponent of numeric literal",
            JsonContext::String => "in string literal",
            JsonContext::Escape => "in string escape code",
            JsonContext::Hex => "in \\u hexadecimal character escape",
        })
    }
}

impl fmt::Display for JsonReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            JsonProblem::Unexpected(byte, place) => write!(f, "invalid character '{}' {place}", QuotedByte(byte)),
            JsonProblem::End(place) if place.takes_space() => f.write_str("unexpected end of JSON input"),
            JsonProblem::End(place) => write!(f, "invalid character ' ' {place}"),
            JsonProblem::Depth(byte) => write!(f, "invalid character '{}' exceeded max depth", QuotedByte(byte)),
            JsonProblem::Exceeded => f.write_str("a limit was reached"),
        }
    }
}

impl std::error::Error for JsonReadError {}

/// A byte as Go quotes it: as if it were a character.
struct QuotedByte(u8);

impl fmt::Display for QuotedByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\'' => f.write_str("\\'"),
            b'"' => f.write_str("\""),
            byte => {
                let quoted = quote::quote(char::from(byte).encode_utf8(&mut [0; 2]).as_bytes());
                f.write_str(quoted.to_str().trim_matches('"'))
            }
        }
    }
}

/// Reads a text that consists of one value, optionally surrounded by white space, with arrays and
/// objects nested at most `max_depth` deep.
///
/// # Errors
/// If the text is not JSON, or nested more deeply.
pub fn read<B: Build>(text: &[u8], max_depth: usize, build: &mut B) -> Result<B::Value, JsonReadError> {
    JsonReader { text, at: 0, last_string: 0..0, max_depth, open: Vec::new(), build }.document()
}

struct JsonReader<'a, 'b, B: Build> {
    text: &'a [u8],
    at: usize,
    last_string: Range<usize>,
    max_depth: usize,
    open: Vec<OpenContainer<B>>,
    build: &'b mut B,
}

/// A collection that is not closed yet, and where it begins.
enum OpenContainer<B: Build> {
    Array(usize, Vec<B::Value>),
    /// The members so far, and the key whose value comes next.
    Object(usize, Vec<(B::Key, B::Value)>, B::Key),
}

impl<'a, B: Build> JsonReader<'a, '_, B> {
    fn document(mut self) -> Result<B::Value, JsonReadError> {
        loop {
            let mut complete = self.begin_value()?;
            // The value may also complete the collections around it.
            while let Some(value) = complete {
                self.skip_space();
                complete = match self.open.pop() {
                    Some(open) => self.append(open, value)?,
                    None if self.at == self.text.len() => return Ok(value),
                    None => return Err(self.problem(JsonContext::AfterTopLevel)),
                };
            }
        }
    }

    /// A scalar or an empty collection; `None` if a collection was opened and its first value comes
    /// next.
    fn begin_value(&mut self) -> Result<Option<B::Value>, JsonReadError> {
        self.skip_space();
        let start = self.at;
        let scalar = match self.peek() {
            Some(byte @ (b'[' | b'{')) if self.open.len() >= self.max_depth => {
                return Err(self.error(JsonProblem::Depth(byte)));
            }
            Some(b'[') => {
                self.at += 1;
                self.skip_space();
                if self.take(b']') {
                    return Ok(Some(self.build.array(Vec::new(), start..self.at)));
                }
                self.open.push(OpenContainer::Array(start, Vec::new()));
                return Ok(None);
            }
            Some(b'{') => {
                self.at += 1;
                self.skip_space();
                if self.take(b'}') {
                    return Ok(Some(self.build.object(Vec::new(), start..self.at)));
                }
                let key = self.key()?;
                self.open.push(OpenContainer::Object(start, Vec::new(), key));
                return Ok(None);
            }
            Some(b'"') => JsonScalar::String(self.string()?),
            Some(b't') => self.word("true", JsonScalar::Bool(true))?,
            Some(b'f') => self.word("false", JsonScalar::Bool(false))?,
            Some(b'n') => self.word("null", JsonScalar::Null)?,
            Some(b'-' | b'0'..=b'9') => JsonScalar::Number(self.number()?),
            _ => return Err(self.problem(JsonContext::Value)),
        };
        Ok(Some(self.build.scalar(scalar, start..self.at)))
    }

    /// Adds a value to the enclosing collection. Returns the collection if this was its last value.
    fn append(&mut self, open: OpenContainer<B>, value: B::Value) -> Result<Option<B::Value>, JsonReadError> {
        // The content of strings and numbers is about as long as in the text, which was charged
        // before.
        if !budget::may_go_on(size_of::<B::Value>()) {
            return Err(self.error(JsonProblem::Exceeded));
        }
        match open {
            OpenContainer::Array(start, mut items) => {
                items.push(value);
                if self.take(b']') {
                    return Ok(Some(self.build.array(items, start..self.at)));
                }
                self.expect(b',', JsonContext::AfterItem)?;
                self.open.push(OpenContainer::Array(start, items));
            }
            OpenContainer::Object(start, mut members, key) => {
                members.push((key, value));
                if self.take(b'}') {
                    return Ok(Some(self.build.object(members, start..self.at)));
                }
                self.expect(b',', JsonContext::AfterMember)?;
                let key = self.key()?;
                self.open.push(OpenContainer::Object(start, members, key));
            }
        }
        Ok(None)
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<B::Key, JsonReadError> {
        self.skip_space();
        if self.peek() != Some(b'"') {
            return Err(self.problem(JsonContext::Key));
        }
        let start = self.at;
        let text = self.string()?;
        let key = self.build.key(text, start..self.at);
        self.skip_space();
        self.expect(b':', JsonContext::AfterKey)?;
        Ok(key)
    }

    fn word(&mut self, word: &'static str, meaning: JsonScalar<'a>) -> Result<JsonScalar<'a>, JsonReadError> {
        for (at, byte) in word.bytes().enumerate() {
            self.expect(byte, JsonContext::Word(word, at))?;
        }
        Ok(meaning)
    }

    fn number(&mut self) -> Result<&'a str, JsonReadError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits(JsonContext::Digits)?;
        }
        if self.take(b'.') {
            self.digits(JsonContext::Fraction)?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _signed = self.take(b'+') || self.take(b'-');
            self.digits(JsonContext::Exponent)?;
        }
        Ok(std::str::from_utf8(&self.text[start..self.at]).expect("signs, digits, points and letters are ASCII"))
    }

    fn digits(&mut self, place: JsonContext) -> Result<(), JsonReadError> {
        let count = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count == 0 {
            return Err(self.problem(place));
        }
        self.at += count;
        Ok(())
    }

    /// A string; the reader is at its first quote.
    fn string(&mut self) -> Result<Cow<'a, str>, JsonReadError> {
        self.last_string = self.at..self.at;
        self.at += 1;
        let head = self.plain();
        if self.take(b'"') {
            return Ok(replaced(head));
        }
        let mut out = head.to_vec();
        while !self.take(b'"') {
            self.expect(b'\\', JsonContext::String)?;
            self.escape(&mut out)?;
            out.extend_from_slice(self.plain());
        }
        Ok(Cow::Owned(replaced(&out).into_owned()))
    }

    /// The bytes up to the next special one in a string.
    fn plain(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let count = rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).count();
        self.at += count;
        self.last_string.end = self.at;
        &rest[..count]
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), JsonReadError> {
        let byte = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                let c = self.code_point()?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => return Err(self.problem(JsonContext::Escape)),
        };
        self.at += 1;
        out.push(byte);
        Ok(())
    }

    /// The character of a `\u` escape; the first half of a surrogate pair is combined with the `\u`
    /// escape that follows. A lone half is replaced.
    fn code_point(&mut self) -> Result<char, JsonReadError> {
        let first = self.hex()?;
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        let behind = self.at;
        if first < 0xdc00 && self.text[behind..].starts_with(b"\\u") {
            self.at += 2;
            let second = self.hex()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = behind;
        }
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self) -> Result<u32, JsonReadError> {
        let mut code = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            code = code << 4 | digit.ok_or_else(|| self.problem(JsonContext::Hex))?;
            self.at += 1;
        }
        Ok(code)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, place: JsonContext) -> Result<(), JsonReadError> {
        if self.take(byte) { Ok(()) } else { Err(self.problem(place)) }
    }

    /// The error for a byte that is not allowed at this place, or for the end of the text.
    fn problem(&self, place: JsonContext) -> JsonReadError {
        self.error(self.peek().map_or(JsonProblem::End(place), |byte| JsonProblem::Unexpected(byte, place)))
    }

    fn error(&self, problem: JsonProblem) -> JsonReadError {
        JsonReadError { offset: self.at, problem, last_string: self.last_string.clone() }
    }
}

/// The text with `U+FFFD` for each byte that is not valid UTF-8.
fn replaced(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        out.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds values as text, with spans after scalars and collections.
    struct Text;

    impl Build for Text {
        type Value = String;
        type Key = String;

        fn scalar(&mut self, scalar: JsonScalar<'_>, span: Range<usize>) -> String {
            let text = match scalar {
                JsonScalar::Null => "null".to_owned(),
                JsonScalar::Bool(value) => value.to_string(),
                JsonScalar::Number(text) => text.to_owned(),
                JsonScalar::String(text) => format!("{text:?}"),
            };
            format!("{text}@{span:?}")
        }

        fn key(&mut self, text: Cow<'_, str>, span: Range<usize>) -> String {
            format!("{text}@{span:?}")
        }

        fn array(&mut self, items: Vec<String>, span: Range<usize>) -> String {
            format!("[{}]@{span:?}", items.join(" "))
        }

        fn object(&mut self, members: Vec<(String, String)>, span: Range<usize>) -> String {
            let members: Vec<String> = members.into_iter().map(|(key, value)| format!("{key}: {value}")).collect();
            format!("{{{}}}@{span:?}", members.join(" "))
        }
    }

    #[track_caller]
    fn check(text: impl AsRef<[u8]>, expected: &str) {
        let text = text.as_ref();
        let found = match read(text, 100, &mut Text) {
            Ok(value) => value,
            Err(error) => format!("{}: {error}", error.offset),
        };
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(text));
    }

    #[test]
    fn reads_values_and_their_places() {
        check(" null ", "null@1..5");
        check("[true,false ,[]]", "[true@1..5 false@6..11 []@13..15]@0..16");
        check(
            r#"{"b" :{},"a":1 , "b":[{}]}"#,
            "{b@1..4: {}@6..8 a@9..12: 1@13..14 b@17..20: [{}@22..24]@21..25}@0..26",
        );
        check("[0,-0,-1.50e+3,2E-9,10e0]", "[0@1..2 -0@3..5 -1.50e+3@6..14 2E-9@15..19 10e0@20..24]@0..25");
        check("123456789012345678901234567890", "123456789012345678901234567890@0..30");
    }

    #[test]
    fn string_escapes_are_decoded() {
        check(r#""x\u00e9\ud83d\uDE00z""#, "\"xé😀z\"@0..22");
        check(r#""\/\"\\\b\f\n\r\t""#, r#""/\"\\\u{8}\u{c}\n\r\t"@0..18"#);
        check(r#""\ud800\u0041\ude00\ud800""#, "\"\u{fffd}A\u{fffd}\u{fffd}\"@0..26");
        check(b"\"\xff\xc3\"", "\"\u{fffd}\u{fffd}\"@0..4");
        check(b"\"\\n\xe2\x82\"", "\"\\n\u{fffd}\u{fffd}\"@0..6");
    }

    #[test]
    fn reports_the_messages_of_go() {
        let end = "unexpected end of JSON input";
        for (text, offset, expected) in [
            ("", 0, end),
            ("[{", 2, end),
            ("[1", 2, end),
            ("{\"a\"", 4, end),
            ("{\"a\":", 5, end),
            ("\"abc", 4, end),
            ("\"abc\\", 5, "invalid character ' ' in string escape code"),
            ("\"\\u12", 5, "invalid character ' ' in \\u hexadecimal character escape"),
            ("nul", 3, "invalid character ' ' in literal null (expecting 'l')"),
            ("-", 1, "invalid character ' ' in numeric literal"),
            ("1.", 2, "invalid character ' ' after decimal point in numeric literal"),
            ("1e", 2, "invalid character ' ' in exponent of numeric literal"),
            ("x", 0, "invalid character 'x' looking for beginning of value"),
            ("'", 0, "invalid character '\\'' looking for beginning of value"),
            ("é", 0, "invalid character 'Ã' looking for beginning of value"),
            ("\u{feff}[]", 0, "invalid character 'ï' looking for beginning of value"),
            ("[1,]", 3, "invalid character ']' looking for beginning of value"),
            ("{\"a\":1,}", 7, "invalid character '}' looking for beginning of object key string"),
            ("{x", 1, "invalid character 'x' looking for beginning of object key string"),
            ("{\"a\" 1", 5, "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", 7, "invalid character '\"' after object key:value pair"),
            ("[1 2", 3, "invalid character '2' after array element"),
            ("[] x", 3, "invalid character 'x' after top-level value"),
            ("01", 1, "invalid character '1' after top-level value"),
            ("trux", 3, "invalid character 'x' in literal true (expecting 'e')"),
            ("fx", 1, "invalid character 'x' in literal false (expecting 'a')"),
            ("-x", 1, "invalid character 'x' in numeric literal"),
            ("1.x", 2, "invalid character 'x' after decimal point in numeric literal"),
            ("1e+x", 3, "invalid character 'x' in exponent of numeric literal"),
            ("\"a\nb\"", 2, "invalid character '\\n' in string literal"),
            ("\"a\tb\"", 2, "invalid character '\\t' in string literal"),
            ("\"\\x\"", 2, "invalid character 'x' in string escape code"),
            ("\"\\u12\"", 5, "invalid character '\"' in \\u hexadecimal character escape"),
            ("\u{7f}", 0, "invalid character '\\x7f' looking for beginning of value"),
        ] {
            check(text, &format!("{offset}: {expected}"));
        }
    }

    #[test]
    fn depth_is_limited() {
        check("[".repeat(100) + "{}", "100: invalid character '{' exceeded max depth");
        check("[".repeat(100_000), "100: invalid character '[' exceeded max depth");
        assert!(read(("[".repeat(100) + &"]".repeat(100)).as_bytes(), 100, &mut Text).is_ok());
    }

    #[test]
    fn an_error_contains_the_last_string() {
        let last = |text: &str| read(text.as_bytes(), 100, &mut Text).expect_err("no JSON").last_string;
        assert_eq!(last("[1"), 0..0);
        assert_eq!(last("{\"a\" 1"), 1..3);
        assert_eq!(last("[\"a\", \"bc"), 6..9);
    }
}
