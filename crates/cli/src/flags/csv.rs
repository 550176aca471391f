//! The first record of a CSV text, which is how the reference splits flags at commas.

/// Splits `text` at commas; fields may be quoted. Text after the first line is ignored, as in the
/// reference.
pub(super) fn fields(text: &str) -> Result<Vec<String>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    // Windows line ends count, too, and so does a trailing CR.
    let text = text.replace("\r\n", "\n");
    let text = text.strip_suffix('\r').unwrap_or(&text);
    let record = text.trim_start_matches('\n');
    if record.is_empty() {
        return Err("EOF".into());
    }
    let first_line = 1 + text[..text.len() - record.len()].matches('\n').count();
    let mut reader = CsvReader { rest: record, line: first_line, column: 1, first_line };
    let mut fields = Vec::new();
    loop {
        let field = if reader.rest.starts_with('"') { reader.quoted()? } else { reader.bare()? };
        fields.push(field);
        if !reader.eat(',') {
            return Ok(fields);
        }
    }
}

struct CsvReader<'a> {
    rest: &'a str,
    line: usize,
    /// In bytes, from 1.
    column: usize,
    first_line: usize,
}

impl CsvReader<'_> {
    fn bare(&mut self) -> Result<String, String> {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let field = &self.rest[..end];
        if let Some(quote) = field.find('"') {
            return Err(self.error(self.column + quote, "bare \" in non-quoted-field"));
        }
        let field = field.to_owned();
        self.advance(end);
        Ok(field)
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut field = String::new();
        self.advance(1);
        loop {
            let Some(quote) = self.rest.find('"') else {
                self.advance(self.rest.len());
                return Err(self.error(self.column, "extraneous or missing \" in quoted-field"));
            };
            field.push_str(&self.rest[..quote]);
            self.advance(quote);
            let behind = &self.rest[1..];
            if behind.starts_with('"') {
                field.push('"');
                self.advance(2);
            } else if behind.is_empty() || behind.starts_with([',', '\n']) {
                self.advance(1);
                return Ok(field);
            } else {
                return Err(self.error(self.column, "extraneous or missing \" in quoted-field"));
            }
        }
    }

    fn eat(&mut self, c: char) -> bool {
        let found = self.rest.starts_with(c);
        if found {
            self.advance(c.len_utf8());
        }
        found
    }

    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.rest = rest;
        match passed.rsplit_once('\n') {
            Some((_, last)) => {
                self.line += passed.matches('\n').count();
                self.column = last.len() + 1;
            }
            None => self.column += bytes,
        }
    }

    fn error(&self, column: usize, what: &str) -> String {
        let start =
            if self.line == self.first_line { String::new() } else { format!("record on line {}; ", self.first_line) };
        format!("{start}parse error on line {}, column {column}: {what}", self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_commas() {
        let check = |text, want: &[&str]| assert_eq!(fields(text).unwrap(), want, "{text}");
        check("", &[]);
        check("json", &["json"]);
        check("json,yaml", &["json", "yaml"]);
        check("json,", &["json", ""]);
        check("\n\njson", &["json"]);
        check("json\nfoo", &["json"]);
        check(r#""js""on",x"#, &["js\"on", "x"]);
        check("\"a,b\",c", &["a,b", "c"]);
        check("\"a\nb\"", &["a\nb"]);
        check("json\r", &["json"]);
        check("\rjson", &["\rjson"]);
        check("\r\njson\r\nyaml", &["json"]);
        check("\"json\"\r", &["json"]);
        check("\"a\r\nb\"", &["a\nb"]);
    }

    #[test]
    fn wrong_quotes_are_located() {
        let check = |text, want| assert_eq!(fields(text).unwrap_err(), want, "{text}");
        check("a\"b", "parse error on line 1, column 2: bare \" in non-quoted-field");
        check("\"json", "parse error on line 1, column 6: extraneous or missing \" in quoted-field");
        check("\"a\"b", "parse error on line 1, column 3: extraneous or missing \" in quoted-field");
        check("\"a\nb", "record on line 1; parse error on line 2, column 2: extraneous or missing \" in quoted-field");
        check("\n", "EOF");
        check("\r", "EOF");
    }
}
