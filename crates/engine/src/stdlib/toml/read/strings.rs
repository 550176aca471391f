//! Strings: short and long ones, with escapes and as they are.

use ytterby_text::quote::quote;

use super::Result;
use super::scan::Scanner;

impl Scanner<'_> {
    /// A string as a value, behind its first quote.
    pub fn string(&mut self, mark: char) -> Result<String> {
        if !self.accept(mark)? {
            return self.short_string(mark);
        }
        if !self.accept(mark)? {
            return Ok(String::new());
        }
        let start = self.mark();
        let len = self.long_string(mark, start)?;
        let content = &self.since(start)[..len];
        if mark == '\'' {
            return Ok(without_first_newline(content).to_owned());
        }
        // Lines end in the same way whoever wrote the file.
        let content = content.replace("\r\n", "\n");
        decode(without_first_newline(&content)).map_err(|text| self.problem(&text))
    }

    /// A string on one line, behind its quote.
    pub fn short_string(&mut self, mark: char) -> Result<String> {
        let start = self.mark();
        loop {
            match self.next()? {
                None if mark == '"' => return Err(self.problem_before("unexpected EOF; expected '\"'")),
                None => return Err(self.problem_before("unexpected EOF; expected \"'\"")),
                Some('\n' | '\r') => return Err(self.problem_before("strings cannot contain newlines")),
                Some('\\') if mark == '"' => self.escape(start)?,
                Some(c) if c == mark => break,
                Some(_) => {}
            }
        }
        let content = self.since(start);
        let content = &content[..content.len() - 1];
        match mark {
            '"' => decode(content).map_err(|text| self.problem(&text)),
            _ => Ok(content.to_owned()),
        }
    }

    /// Reads up to the quotes that end a long string; gives how long its content is.
    fn long_string(&mut self, mark: char, start: usize) -> Result<usize> {
        let mut quotes = 0;
        loop {
            let c = self.peek()?;
            if c == Some(mark) && quotes < 5 {
                quotes += 1;
                self.skip();
                continue;
            }
            match (quotes, c) {
                (5, Some(c)) if c == mark && mark == '"' => return Err(self.problem("unexpected '\"\"\"\"\"\"'")),
                (5, Some(c)) if c == mark => return Err(self.problem("unexpected \"''''''\"")),
                (3.., _) => return Ok(self.since(start).len() - 3),
                (_, None) if mark == '"' => return Err(self.problem_before("unexpected EOF; expected '\"\"\"'")),
                (_, None) => return Err(self.problem_before("unexpected EOF; expected \"'''\"")),
                (_, Some(c)) => {
                    quotes = 0;
                    self.skip();
                    if c == '\\' && mark == '"' {
                        match self.peek()? {
                            Some('\n' | '\r') => self.skip(),
                            _ => self.escape(start)?,
                        }
                    }
                }
            }
        }
    }

    /// What follows a backslash in a string that begins at `start`.
    fn escape(&mut self, start: usize) -> Result<()> {
        let (digits, words) = match self.next()? {
            // A blank is right only before the end of a line, which is looked at later.
            Some('b' | 't' | 'n' | 'f' | 'r' | '"' | '\\' | ' ' | '\t') => return Ok(()),
            Some('u') => (4, "four hexadecimal digits after '\\u'"),
            Some('U') => (8, "eight hexadecimal digits after '\\U'"),
            Some(c) => return Err(self.problem(&format!("invalid escape in string '\\{c}'"))),
            None => return Err(self.problem_before("invalid escape in string '\\\0'")),
        };
        for _ in 0..digits {
            let c = self.next()?;
            if !c.is_some_and(|c| c.is_ascii_hexdigit()) {
                let text = format!("expected {words}, but got {} instead", quote(self.since(start).as_bytes()));
                return Err(if c.is_none() { self.problem_before(&text) } else { self.problem(&text) });
            }
        }
        Ok(())
    }
}

fn without_first_newline(text: &str) -> &str {
    text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n")).unwrap_or(text)
}

/// The text that a string with escapes stands for.
fn decode(content: &str) -> Result<String, String> {
    let mut text = String::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(c) = rest.chars().next() else { break };
        if matches!(c, ' ' | '\t' | '\n') {
            // A backslash at the end of a line joins it with the next one that is not blank.
            let line = rest.trim_start_matches([' ', '\t']);
            if !line.starts_with('\n') {
                return Err(format!("invalid escape: '\\{c}'"));
            }
            rest = line.trim_start_matches([' ', '\t', '\n']);
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let digits = match c {
            'u' => 4,
            'U' => 8,
            _ => {
                text.push(match c {
                    'b' => '\u{8}',
                    't' => '\t',
                    'n' => '\n',
                    'f' => '\u{c}',
                    'r' => '\r',
                    c => c,
                });
                continue;
            }
        };
        let (code, behind) = rest.split_at_checked(digits).unwrap_or((rest, ""));
        let c = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
        text.push(c.ok_or_else(|| format!("Escaped character '\\u{code}' is not valid UTF-8."))?);
        rest = behind;
    }
    text.push_str(rest);
    Ok(text)
}
