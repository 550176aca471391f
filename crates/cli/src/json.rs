//! As much of reading JSON as `--bulk-in` needs, with Go's rules and Go's error texts.

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool,
    /// A number; nobody asked for its value yet.
    Number,
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json>),
    /// An object: all its members, in order.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What Go calls it when it is not what was expected.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool => "bool",
            Json::Number => "number",
            Json::Text(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }
}

/// Go reads ten times as deep; nothing in bulk files is deeper than three.
const MAX_DEPTH: usize = 1_000;

/// Reads one JSON value.
pub fn parse(text: &str) -> Result<Json, String> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    match reader.next_token() {
        None => Ok(value),
        Some(c) => Err(invalid(c, "after top-level value")),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

fn invalid(c: char, place: &str) -> String {
    let shown = match c {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        _ => {
            let quoted = ytterby_text::quote::quote(c.encode_utf8(&mut [0; 4]).as_bytes()).to_string();
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    };
    format!("invalid character {shown} {place}")
}

fn ended() -> String {
    "unexpected end of JSON input".to_owned()
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// The next character that is no blank, not yet taken.
    fn next_token(&mut self) -> Option<char> {
        while let Some(' ' | '\t' | '\r' | '\n') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn value(&mut self) -> Result<Json, String> {
        match self.next_token().ok_or_else(ended)? {
            '{' => self.nested(Reader::object),
            '[' => self.nested(Reader::array),
            '"' => self.string().map(Json::Text),
            't' => self.word("true", Json::Bool),
            'f' => self.word("false", Json::Bool),
            'n' => self.word("null", Json::Null),
            '-' | '0'..='9' => self.number(),
            c => Err(invalid(c, "looking for beginning of value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, String>) -> Result<Json, String> {
        if self.depth == MAX_DEPTH {
            return Err("exceeded max depth".into());
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut members = Vec::new();
        if self.next_token() == Some('}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            match self.next_token().ok_or_else(ended)? {
                '"' => {}
                c => return Err(invalid(c, "looking for beginning of object key string")),
            }
            let key = self.string()?;
            match self.next_token().ok_or_else(ended)? {
                ':' => self.at += 1,
                c => return Err(invalid(c, "after object key")),
            }
            let value = self.value()?;
            members.push((key, value));
            match self.next_token().ok_or_else(ended)? {
                ',' => self.at += 1,
                '}' => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                c => return Err(invalid(c, "after object key:value pair")),
            }
        }
    }

    fn array(&mut self) -> Result<Json, String> {
        let mut items = Vec::new();
        if self.next_token() == Some(']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            match self.next_token().ok_or_else(ended)? {
                ',' => self.at += 1,
                ']' => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                c => return Err(invalid(c, "after array element")),
            }
        }
    }

    fn word(&mut self, word: &'static str, value: Json) -> Result<Json, String> {
        for expected in word.chars() {
            match self.next().ok_or_else(ended)? {
                c if c == expected => {}
                c => return Err(invalid(c, &format!("in literal {word} (expecting '{expected}')"))),
            }
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Json, String> {
        if self.peek() == Some('-') {
            self.at += 1;
        }
        match self.peek().ok_or_else(ended)? {
            '0' => self.at += 1,
            '1'..='9' => self.digits(),
            c => return Err(invalid(c, "in numeric literal")),
        }
        if self.peek() == Some('.') {
            self.at += 1;
            self.some_digits("after decimal point in numeric literal")?;
        }
        if let Some('e' | 'E') = self.peek() {
            self.at += 1;
            if let Some('+' | '-') = self.peek() {
                self.at += 1;
            }
            self.some_digits("in exponent of numeric literal")?;
        }
        Ok(Json::Number)
    }

    fn some_digits(&mut self, place: &str) -> Result<(), String> {
        match self.peek().ok_or_else(ended)? {
            '0'..='9' => self.digits(),
            c => return Err(invalid(c, place)),
        }
        Ok(())
    }

    fn digits(&mut self) {
        while let Some('0'..='9') = self.peek() {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            match self.next().ok_or_else(ended)? {
                '"' => return Ok(out),
                '\\' => match self.next().ok_or_else(ended)? {
                    'b' => out.push('\x08'),
                    'f' => out.push('\x0c'),
                    'n' => out.push('\n'),
                    'r' => out.push('\r'),
                    't' => out.push('\t'),
                    c @ ('"' | '\\' | '/') => out.push(c),
                    'u' => out.push(self.escaped()?),
                    c => return Err(invalid(c, "in string escape code")),
                },
                c @ '\0'..='\x1f' => return Err(invalid(c, "in string literal")),
                c => out.push(c),
            }
        }
    }

    /// The character of `\uXXXX`, or of two of them that are a surrogate pair; a lone half is replaced.
    fn escaped(&mut self) -> Result<char, String> {
        let first = self.hex4()?;
        let behind = self.at;
        if (0xd800..0xdc00).contains(&first) && self.text[behind..].starts_with("\\u") {
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = behind;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, String> {
        let mut code = 0;
        for _ in 0..4 {
            let c = self.next().ok_or_else(ended)?;
            let digit = c.to_digit(16).ok_or_else(|| invalid(c, "in \\u hexadecimal character escape"))?;
            code = code * 16 + digit;
        }
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_values() {
        let check = |text, want| assert_eq!(parse(text).unwrap(), want, "{text}");
        check(" null ", Json::Null);
        check("[1, -0.5e+3, true]", Json::Array(vec![Json::Number, Json::Number, Json::Bool]));
        check(
            r#"{"a":"x\n\u00e9\ud83d\ude00\ud800"}"#,
            Json::Object(vec![("a".into(), Json::Text("x\né😀\u{fffd}".into()))]),
        );
        check("{}", Json::Object(vec![]));
    }

    #[test]
    fn errors_are_those_of_go() {
        let check = |text: &str, want| assert_eq!(parse(text).unwrap_err(), want, "{text}");
        check("x", "invalid character 'x' looking for beginning of value");
        check("", "unexpected end of JSON input");
        check("{\"files\":", "unexpected end of JSON input");
        check("{} x", "invalid character 'x' after top-level value");
        check("{x", "invalid character 'x' looking for beginning of object key string");
        check("{\"a\" 1", "invalid character '1' after object key");
        check("{\"a\":1 2", "invalid character '2' after object key:value pair");
        check("[1 2", "invalid character '2' after array element");
        check("trux", "invalid character 'x' in literal true (expecting 'e')");
        check("-x", "invalid character 'x' in numeric literal");
        check("\"a\nb\"", "invalid character '\\n' in string literal");
        check(r#""\x""#, "invalid character 'x' in string escape code");
        check(&"[".repeat(1_001), "exceeded max depth");
    }
}
