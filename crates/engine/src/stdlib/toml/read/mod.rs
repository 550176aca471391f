//! TOML 1.0 to Starlark values, with the messages of the Go library that the reference uses.
//!
//! Keys are sorted, as in the reference; dates become strings, which the reference cannot do. [`scan`] reads the characters,
//! [`tables`] keeps what was read; this is the grammar between them.

mod numbers;
mod scan;
mod strings;
mod tables;

use ytterby_starlark::Value;
use ytterby_text::quote::quote;

use self::scan::{Problem, Scanner};
use self::tables::{Entry, Place, Tables};

/// Deepest nesting of arrays and inline tables.
const MAX_DEPTH: usize = 1_000;

/// The table of a text as a dict. The error is a message.
pub(super) fn read(text: &[u8]) -> Result<Value, String> {
    let text = text.strip_prefix(b"\xff\xfe").or_else(|| text.strip_prefix(b"\xfe\xff")).unwrap_or(text);
    if text.iter().take(6).any(|byte| *byte == 0) {
        let why = "files cannot contain NULL bytes; probably using UTF-16; TOML files must be UTF-8";
        return Err(format!("toml: line 1: {why}"));
    }
    let mut reader =
        Reader { scanner: Scanner::new(text), tables: Tables::default(), key: String::new(), key_line: 1, depth: 0 };
    match reader.document() {
        Ok(()) => Ok(reader.tables.into_value()),
        Err(problem) => Err(reader.message(&problem)),
    }
}

type Result<T, E = Problem> = std::result::Result<T, E>;

struct Reader<'a> {
    scanner: Scanner<'a>,
    tables: Tables,
    /// The last piece of the key whose value is being read.
    key: String,
    /// Where the last key began, for problems of tables.
    key_line: usize,
    depth: usize,
}

impl Reader<'_> {
    fn message(&self, problem: &Problem) -> String {
        let Problem { line, text } = problem;
        let context = self.tables.context_text();
        let last = match (context.as_str(), self.key.as_str()) {
            ("", key) => key.to_owned(),
            (_, "") => context,
            (context, key) => format!("{context}.{key}"),
        };
        match last.as_str() {
            "" => format!("toml: line {line}: {text}"),
            last => format!("toml: line {line} (last key {}): {text}", quote(last.as_bytes())),
        }
    }

    fn document(&mut self) -> Result<()> {
        loop {
            match self.scanner.peek()? {
                None => return Ok(()),
                Some(' ' | '\t' | '\n' | '\r') => self.scanner.skip(),
                Some('#') => self.scanner.comment()?,
                Some('[') => {
                    self.scanner.skip();
                    self.header()?;
                    self.end_of_line()?;
                }
                Some(_) => {
                    self.key_value()?;
                    self.key.clear();
                    self.end_of_line()?;
                }
            }
        }
    }

    fn end_of_line(&mut self) -> Result<()> {
        self.scanner.blanks()?;
        match self.scanner.next()? {
            None | Some('\n' | '\r') => Ok(()),
            Some('#') => self.scanner.comment(),
            found => Err(self.scanner.unexpected(found, |found| {
                format!("expected a top-level item to end with a newline, comment, or EOF, but got {found} instead")
            })),
        }
    }

    /// `[name]` or `[[name]]`, behind the first bracket.
    fn header(&mut self) -> Result<()> {
        let place = match self.scanner.peek()? {
            Some('[') => Place::NewItem,
            _ => Place::Table,
        };
        if place == Place::NewItem {
            self.scanner.skip();
        }
        self.key_line = self.scanner.line();
        let mut names = Vec::new();
        loop {
            self.scanner.blanks()?;
            names.push(match self.scanner.peek()? {
                None | Some(']') => {
                    return Err(self.scanner.problem("unexpected end of table name (table names cannot be empty)"));
                }
                Some('.') => {
                    return Err(self.scanner.problem("unexpected table separator (table names cannot be empty)"));
                }
                _ => self.name()?,
            });
            self.scanner.blanks()?;
            match self.scanner.next()? {
                Some('.') => {}
                Some(']') => break,
                found => {
                    return Err(self.scanner.unexpected(found, |found| {
                        format!("expected '.' or ']' to end table name, but got {found} instead")
                    }));
                }
            }
        }
        if place == Place::NewItem {
            match self.scanner.next()? {
                Some(']') => {}
                found => {
                    return Err(self.scanner.unexpected(found, |found| {
                        format!("expected end of table array name delimiter ']', but got {found} instead")
                    }));
                }
            }
        }
        self.in_tables(|tables| tables.enter(&names, place))
    }

    /// `key = value`.
    fn key_value(&mut self) -> Result<()> {
        self.scanner.blanks()?;
        match self.scanner.peek()? {
            None | Some('=') => return Err(self.scanner.problem("unexpected '=': key name appears blank")),
            Some('.') => return Err(self.scanner.problem("unexpected '.': keys cannot start with a '.'")),
            _ => {}
        }
        self.key_line = self.scanner.line();
        let mut names = Vec::new();
        loop {
            self.scanner.blanks()?;
            names.push(match self.scanner.peek()? {
                None | Some('=') => return Err(self.scanner.problem("unexpected '='")),
                Some('.') => return Err(self.scanner.problem("unexpected '.'")),
                _ => self.name()?,
            });
            self.scanner.blanks()?;
            match self.scanner.next()? {
                Some('.') => {}
                Some('=') => break,
                None => return Err(self.scanner.problem_before("unexpected EOF; expected key separator '='")),
                found => {
                    return Err(self
                        .scanner
                        .unexpected(found, |found| format!("expected '.' or '=', but got {found} instead")));
                }
            }
        }
        let around = self.tables.context().to_vec();
        self.key = names.pop().unwrap_or_default();
        for name in names {
            self.in_tables(|tables| tables.enter_implicit(&[name]))?;
        }
        let value = self.value(Place::Table)?;
        let key = self.key.clone();
        self.in_tables(|tables| tables.set(key, value))?;
        self.tables.set_context(around);
        Ok(())
    }

    /// A piece of a key. A bare one may be empty: what stands there then cannot follow it.
    fn name(&mut self) -> Result<String> {
        match self.scanner.peek()? {
            Some(quote @ ('"' | '\'')) => {
                self.scanner.skip();
                self.scanner.short_string(quote)
            }
            _ => self.scanner.bare_name(),
        }
    }

    /// A value; `place` tells whether it stands in an array.
    fn value(&mut self, place: Place) -> Result<Entry> {
        self.scanner.blanks()?;
        let start = self.scanner.mark();
        match self.scanner.next()? {
            None => Err(self.scanner.problem_before("unexpected EOF; expected value")),
            Some('[') => self.nested(Self::array),
            Some('{') => self.nested(|reader| reader.inline_table(place)),
            Some(quote @ ('"' | '\'')) => self.scanner.string(quote).map(Entry::Str),
            Some('.') => Err(self.scanner.problem("floats must start with a digit, not '.'")),
            Some(first @ ('+' | '-' | '0'..='9')) => self.scanner.number(first, start),
            Some(first) if first.is_alphabetic() => self.scanner.word(first, start),
            found => Err(self.scanner.unexpected(found, |found| format!("expected value but found {found} instead"))),
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.scanner.problem(&format!("values nested more than {MAX_DEPTH} levels deep")));
        }
        self.depth += 1;
        let result = crate::deep(|| read(self));
        self.depth -= 1;
        result
    }

    /// `[value, …]`, behind the bracket.
    fn array(&mut self) -> Result<Entry> {
        self.tables.note_array(&self.key);
        let mut items = Vec::new();
        loop {
            // Before a value.
            match self.scanner.peek()? {
                Some(' ' | '\t' | '\n' | '\r') => {
                    self.scanner.skip();
                    continue;
                }
                Some('#') => {
                    self.scanner.comment()?;
                    continue;
                }
                Some(',') => {
                    self.scanner.skip();
                    return Err(self.scanner.problem("unexpected comma"));
                }
                Some(']') => {
                    self.scanner.skip();
                    return Ok(Entry::Array(items));
                }
                _ => items.push(self.value(Place::NewItem)?),
            }
            loop {
                // Behind a value.
                match self.scanner.next()? {
                    Some(' ' | '\t' | '\n' | '\r') => {}
                    Some('#') => self.scanner.comment()?,
                    Some(',') => break,
                    Some(']') => return Ok(Entry::Array(items)),
                    found => {
                        let got = "expected a comma (',') or array terminator (']'), but got";
                        return Err(self.scanner.unexpected_or_end(found, |found| format!("{got} {found}")));
                    }
                }
            }
        }
    }

    /// `{key = value, …}`, behind the brace. Its keys go to the tables at once, so that none comes twice.
    fn inline_table(&mut self, place: Place) -> Result<Entry> {
        let around = self.tables.context().to_vec();
        let outer = std::mem::take(&mut self.key);
        let key = outer.clone();
        self.in_tables(|tables| tables.enter_inline(key, place))?;
        'pairs: loop {
            match self.scanner.next()? {
                Some(' ' | '\t') => continue,
                Some('#') => {
                    self.scanner.comment()?;
                    continue;
                }
                Some('\n' | '\r') => return Err(self.scanner.problem_before(NEWLINE)),
                Some(',') => return Err(self.scanner.problem("unexpected comma")),
                Some('}') => break,
                found => self.scanner.back(found),
            }
            self.key_value()?;
            loop {
                match self.scanner.next()? {
                    Some(' ' | '\t') => {}
                    Some('#') => self.scanner.comment()?,
                    Some('\n' | '\r') => return Err(self.scanner.problem_before(NEWLINE)),
                    Some(',') => {
                        self.scanner.blanks()?;
                        if self.scanner.peek()? == Some('}') {
                            return Err(self.scanner.problem("trailing comma not allowed in inline tables"));
                        }
                        break;
                    }
                    Some('}') => break 'pairs,
                    found => {
                        let got = "expected a comma or an inline table terminator '}', but got";
                        return Err(self.scanner.unexpected_or_end(found, |found| format!("{got} {found} instead")));
                    }
                }
            }
        }
        let table = self.tables.leave_inline(place);
        self.tables.set_context(around);
        self.key = outer;
        Ok(table)
    }

    /// Does something with the tables; its problems are at the last key.
    fn in_tables<T>(&mut self, change: impl FnOnce(&mut Tables) -> Result<T, String>) -> Result<T> {
        change(&mut self.tables).map_err(|text| Problem { line: self.key_line, text })
    }
}

const NEWLINE: &str = "newlines not allowed within inline tables";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in r#"[a-c.=\[\]{},"'\\\n\r\t #0-9eExo_+:TZ-]{0,60}"#) {
            if let Err(message) = read(text.as_bytes()) {
                prop_assert!(message.starts_with("toml: line "), "{message}");
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = read(&bytes);
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        for open in ["[", "{a="] {
            let message = read(format!("a = {}", open.repeat(1_000_000)).as_bytes()).unwrap_err();
            assert!(message.contains("values nested more than 1000 levels deep"), "{message}");
        }
        assert!(read(format!("a = {}{}", "[".repeat(1_000), "]".repeat(1_000)).as_bytes()).is_ok());
    }

    #[test]
    fn files_in_other_encodings_are_refused() {
        assert_eq!(
            read(b"\xff\xfea\0=\0").unwrap_err().split(';').next(),
            Some("toml: line 1: files cannot contain NULL bytes")
        );
        assert_eq!(read(b"a = \"\xe9\"").unwrap_err(), "toml: line 1 (last key \"a\"): invalid UTF-8 byte: 0xe9");
    }
}
