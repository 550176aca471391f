//! JSON to Starlark values, with the messages of Go's `encoding/json`.
//!
//! Numbers become floats and keys are sorted, as in the reference. Nesting is kept on a stack of our own and bounded as
//! in Go.

use ytterby_starlark::Value;
use ytterby_text::{Str, quote};

/// Deepest nesting.
const MAX_DEPTH: usize = 10_000;

/// The value of a text. The error is the reference's message.
pub(super) fn read(text: &[u8]) -> Result<Value, String> {
    let mut reader = Reader { text, at: 0, out_of_range: None };
    let value = reader.document()?;
    match reader.out_of_range {
        // Go checks the whole text before it looks at single values.
        Some(number) => Err(format!("json: cannot unmarshal number {number} into Go value of type float64")),
        None => Ok(value),
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// The first number that does not fit into a float.
    out_of_range: Option<String>,
}

/// A collection whose end was not seen yet.
enum Open {
    Array(Vec<Value>),
    /// The pairs so far, and the key whose value comes next.
    Object(Vec<(Str, Value)>, Str),
}

const VALUE: &str = "looking for beginning of value";
const KEY: &str = "looking for beginning of object key string";

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, String> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            let mut value = match self.begin_value(&mut open)? {
                Some(value) => value,
                None => continue,
            };
            // The value may be the last of the collections around it.
            loop {
                self.skip_space();
                match open.last_mut() {
                    None => {
                        return if self.at < self.text.len() { self.fail("after top-level value") } else { Ok(value) };
                    }
                    Some(Open::Array(items)) => {
                        items.push(value);
                        match self.peek()? {
                            b',' => {
                                self.at += 1;
                                break;
                            }
                            b']' => value = Value::list(std::mem::take(items)),
                            _ => return self.fail("after array element"),
                        }
                    }
                    Some(Open::Object(pairs, key)) => {
                        pairs.push((std::mem::take(key), value));
                        match self.peek()? {
                            b',' => {
                                self.at += 1;
                                *key = self.key()?;
                                break;
                            }
                            b'}' => value = object(std::mem::take(pairs)),
                            _ => return self.fail("after object key:value pair"),
                        }
                    }
                }
                self.at += 1;
                open.pop();
            }
        }
    }

    /// A scalar or an empty collection; `None` where a collection was opened whose first value comes next.
    fn begin_value(&mut self, open: &mut Vec<Open>) -> Result<Option<Value>, String> {
        self.skip_space();
        let first = self.peek()?;
        match first {
            b'[' | b'{' => {
                if open.len() >= MAX_DEPTH {
                    return Err("exceeded max depth".to_owned());
                }
                self.at += 1;
                self.skip_space();
                match (first, self.peek()?) {
                    (b'[', b']') | (b'{', b'}') => {
                        self.at += 1;
                        Ok(Some(if first == b'[' { Value::list(Vec::new()) } else { object(Vec::new()) }))
                    }
                    (b'[', _) => {
                        open.push(Open::Array(Vec::new()));
                        Ok(None)
                    }
                    _ => {
                        let key = self.key()?;
                        open.push(Open::Object(Vec::new(), key));
                        Ok(None)
                    }
                }
            }
            b'"' => Ok(Some(Value::Str(self.string()?))),
            b't' => self.literal("true", Value::Bool(true)).map(Some),
            b'f' => self.literal("false", Value::Bool(false)).map(Some),
            b'n' => self.literal("null", Value::None).map(Some),
            b'-' | b'0'..=b'9' => self.number().map(Some),
            _ => self.fail(VALUE),
        }
    }

    /// A key and its colon.
    fn key(&mut self) -> Result<Str, String> {
        self.skip_space();
        if self.peek()? != b'"' {
            return self.fail(KEY);
        }
        let key = self.string()?;
        self.skip_space();
        if self.peek()? != b':' {
            return self.fail("after object key");
        }
        self.at += 1;
        Ok(key)
    }

    fn literal(&mut self, name: &str, value: Value) -> Result<Value, String> {
        for &expected in name.as_bytes() {
            if self.text.get(self.at) != Some(&expected) {
                return self.fail(&format!("in literal {name} (expecting '{}')", expected as char));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, String> {
        let start = self.at;
        self.at += usize::from(self.text[start] == b'-');
        match self.text.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return self.fail("in numeric literal"),
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.text.get(self.at), Some(b'+' | b'-')));
            self.digits("in exponent of numeric literal")?;
        }
        let digits = String::from_utf8_lossy(&self.text[start..self.at]);
        let number: f64 = digits.parse().expect("JSON numbers are numbers of Rust");
        if number.is_infinite() && self.out_of_range.is_none() {
            self.out_of_range = Some(digits.into_owned());
        }
        Ok(Value::Float(number))
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        match self.text.get(self.at) {
            Some(b'0'..=b'9') => self.skip_digits(),
            _ => return self.fail(context),
        }
        Ok(())
    }

    fn skip_digits(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    }

    /// A string; the reader stands at its first quote.
    fn string(&mut self) -> Result<Str, String> {
        self.at += 1;
        let start = self.at;
        let plain = |byte: &&u8| !matches!(**byte, b'"' | b'\\' | 0..=0x1f);
        self.at += self.text[start..].iter().take_while(plain).count();
        let head = &self.text[start..self.at];
        if self.text.get(self.at) == Some(&b'"') && std::str::from_utf8(head).is_ok() {
            self.at += 1;
            return Ok(Str::new(head));
        }
        let mut out = head.to_vec();
        loop {
            match self.text.get(self.at) {
                None => return Err(END.to_owned()),
                Some(b'"') => break,
                Some(b'\\') => {
                    self.at += 1;
                    self.escape(&mut out)?;
                }
                Some(0..=0x1f) => return self.fail("in string literal"),
                Some(&byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        Ok(clean(out))
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), String> {
        let byte = match self.text.get(self.at) {
            Some(byte @ (b'"' | b'\\' | b'/')) => *byte,
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
            _ => return self.fail("in string escape code"),
        };
        self.at += 1;
        out.push(byte);
        Ok(())
    }

    /// What `\u` stands for, together with a second half in `\u` where it is the first half of a pair.
    fn code_point(&mut self) -> Result<char, String> {
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

    fn hex(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            match self.text.get(self.at).and_then(|&byte| char::from(byte).to_digit(16)) {
                Some(digit) => code = code << 4 | digit,
                None => return self.fail("in \\u hexadecimal character escape"),
            }
            self.at += 1;
        }
        Ok(code)
    }

    fn skip_space(&mut self) {
        let is_space = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.text[self.at..].iter().take_while(is_space).count();
    }

    fn peek(&self) -> Result<u8, String> {
        self.text.get(self.at).copied().ok_or_else(|| END.to_owned())
    }

    /// Complains about the byte at hand. Where the text ends inside a word or number, Go complains about a space.
    fn fail<T>(&self, context: &str) -> Result<T, String> {
        let byte = self.text.get(self.at).copied().unwrap_or(b' ');
        let shown = match byte {
            b'\'' => "\\'".to_owned(),
            b'"' => "\"".to_owned(),
            _ => {
                let quoted = quote::quote(char::from(byte).to_string().as_bytes());
                quoted.to_str().trim_matches('"').to_owned()
            }
        };
        Err(format!("invalid character '{shown}' {context}"))
    }
}

const END: &str = "unexpected end of JSON input";

/// A dict of sorted keys; of a key that stands twice the last value counts.
fn object(mut pairs: Vec<(Str, Value)>) -> Value {
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    Value::dict(pairs.into_iter().map(|(key, value)| (Value::Str(key), value))).expect("strings can be hashed")
}

/// The bytes with `U+FFFD` for each that is not UTF-8.
fn clean(bytes: Vec<u8>) -> Str {
    match String::from_utf8(bytes) {
        Ok(text) => Str::from(text),
        Err(error) => {
            let mut out = Vec::with_capacity(error.as_bytes().len());
            for chunk in error.as_bytes().utf8_chunks() {
                out.extend_from_slice(chunk.valid().as_bytes());
                chunk.invalid().iter().for_each(|_| out.extend_from_slice("\u{fffd}".as_bytes()));
            }
            Str::from(out)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match read(text.as_bytes()) {
            Ok(value) => value.repr().to_str().into_owned(),
            Err(message) => message,
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn reads_values() {
        check(" [1, -0, 1.5e3, null, true, false] ", "[1, -0, 1500, None, True, False]");
        check(r#"{"b": {}, "a": [], "b": [{}]}"#, r#"{"a": [], "b": [{}]}"#);
        check(r#""x\u00e9\ud83d\ude00\/\"\\\b""#, r#""xé😀/\"\\\b""#);
        check(r#""\ud800\u0041\ude00""#, "\"\u{fffd}A\u{fffd}\"");
        assert_eq!(read(b"\"\xff\xc3\"").expect("replaced").repr().to_str(), "\"\u{fffd}\u{fffd}\"");
    }

    #[test]
    fn says_what_go_says() {
        for (text, expected) in [
            ("", END),
            ("{\"a\"", END),
            ("[1", END),
            ("\"abc", END),
            ("\"abc\\", "invalid character ' ' in string escape code"),
            ("nul", "invalid character ' ' in literal null (expecting 'l')"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("1 2", "invalid character '2' after top-level value"),
            ("01", "invalid character '1' after top-level value"),
            ("-", "invalid character ' ' in numeric literal"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("1e+x", "invalid character 'x' in exponent of numeric literal"),
            ("é", "invalid character 'Ã' looking for beginning of value"),
            ("'", "invalid character '\\'' looking for beginning of value"),
            ("\"\\u12\"", "invalid character '\"' in \\u hexadecimal character escape"),
            ("\"a\tb\"", "invalid character '\\t' in string literal"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("[1e999]", "json: cannot unmarshal number 1e999 into Go value of type float64"),
            ("[1e999", END),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn depth_is_bounded() {
        check(&"[".repeat(20_000), "exceeded max depth");
        let deep = format!("{}1{}", "[".repeat(9_999), "]".repeat(9_999));
        assert!(read(deep.as_bytes()).is_ok());
    }
}
