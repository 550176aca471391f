//! The characters of a TOML text, and what is wrong with them.

use ytterby_text::quote::quote;

use super::Result;

/// What is wrong, and in which line.
pub(super) struct Problem {
    pub line: usize,
    pub text: String,
}

/// Reads a text from the front.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(text: &'a [u8]) -> Scanner<'a> {
        Scanner { text, at: 0, line: 1 }
    }

    pub fn line(&self) -> usize {
        self.line
    }

    /// The place of the next character.
    pub fn mark(&self) -> usize {
        self.at
    }

    /// What was read since a place.
    pub fn since(&self, start: usize) -> &'a str {
        // Only whole characters are read.
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()
    }

    /// The next character; none at the end.
    pub fn peek(&self) -> Result<Option<char>> {
        let rest = &self.text[self.at..];
        let c = match rest.first() {
            None => return Ok(None),
            Some(byte) if byte.is_ascii() => char::from(*byte),
            Some(byte) => match rest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next()) {
                Some(c) if c != char::REPLACEMENT_CHARACTER => c,
                _ => return Err(self.problem(&format!("invalid UTF-8 byte: 0x{byte:02x}"))),
            },
        };
        let is_control = match c {
            '\t' | '\n' => false,
            '\r' => rest.get(1) != Some(&b'\n'),
            _ => c.is_ascii_control(),
        };
        if is_control {
            let text = format!("TOML files cannot contain control characters: '0x{:02x}'", u32::from(c));
            return Err(self.problem(&text));
        }
        Ok(Some(c))
    }

    /// Takes the next character.
    pub fn next(&mut self) -> Result<Option<char>> {
        let c = self.peek()?;
        if let Some(c) = c {
            self.at += c.len_utf8();
            self.line += usize::from(c == '\n');
        }
        Ok(c)
    }

    /// Takes the next character, which was looked at.
    pub fn skip(&mut self) {
        let _ = self.next();
    }

    /// Gives back the last character.
    pub fn back(&mut self, c: Option<char>) {
        self.at -= c.map_or(0, char::len_utf8);
        self.line -= usize::from(c == Some('\n'));
    }

    /// Takes the next character where it is this one.
    pub fn accept(&mut self, wanted: char) -> Result<bool> {
        let is_there = self.peek()? == Some(wanted);
        if is_there {
            self.skip();
        }
        Ok(is_there)
    }

    /// Takes characters as long as they are of a kind.
    pub fn while_is(&mut self, is: impl Fn(char) -> bool) -> Result<()> {
        while self.peek()?.is_some_and(&is) {
            self.skip();
        }
        Ok(())
    }

    /// Skips blanks and tabs.
    pub fn blanks(&mut self) -> Result<()> {
        self.while_is(|c| matches!(c, ' ' | '\t'))
    }

    /// Skips the rest of a line.
    pub fn comment(&mut self) -> Result<()> {
        self.while_is(|c| !matches!(c, '\n' | '\r'))
    }

    /// Takes a piece of a key that has no quotes.
    pub fn bare_name(&mut self) -> Result<String> {
        let start = self.at;
        self.while_is(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))?;
        Ok(self.since(start).to_owned())
    }

    /// Something is wrong here.
    pub fn problem(&self, text: &str) -> Problem {
        Problem { line: self.line, text: text.to_owned() }
    }

    /// Something is wrong at the end of the line, or of the text, that was taken last. The reference counts a text as a
    /// line too few.
    pub fn problem_before(&self, text: &str) -> Problem {
        Problem { line: self.line - 1, text: text.to_owned() }
    }

    /// A character that was taken, or the end, does not belong there.
    pub fn unexpected(&self, found: Option<char>, text: impl FnOnce(String) -> String) -> Problem {
        match found {
            Some(c) => self.problem(&text(quoted(c))),
            None => self.problem_before(&text("'\\x00'".to_owned())),
        }
    }

    /// The same for messages that show the character as it is and have a name for the end.
    pub fn unexpected_or_end(&self, found: Option<char>, text: impl FnOnce(String) -> String) -> Problem {
        match found {
            Some(c) => self.problem(&text(format!("'{c}'"))),
            None => self.problem_before(&text("end of file".to_owned())),
        }
    }
}

/// A character in single quotes, as Go writes it.
fn quoted(c: char) -> String {
    match c {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        c => {
            let text = quote(c.to_string().as_bytes());
            let text = text.to_str();
            format!("'{}'", &text[1..text.len() - 1])
        }
    }
}
