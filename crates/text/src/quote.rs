//! Quoted strings: as Go's `strconv.Quote` writes them, and as literals of most modern languages.

use crate::{Str, budget};

/// Characters that take long, escaped or beyond ASCII, between two charges.
const SLOW_CHARACTERS: usize = 1024;

/// Appends `bytes` to `out` in double quotes. Characters that are not printable are escaped (`\n`,
/// `\x00`, `\u00ad`); invalid UTF-8 becomes `\xff`.
///
/// If the budget of the run ends, the text is cut; the next charge that can fail reports the limit.
pub fn quote_into(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    let mut slow = 0;
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        let mut plain_from = 0;
        for (at, c) in text.char_indices() {
            if matches!(c, ' '..='~') && is_plain(c) {
                continue;
            }
            slow += 1;
            if slow % SLOW_CHARACTERS == 0 && !budget::may_take(8 * SLOW_CHARACTERS, SLOW_CHARACTERS) {
                return;
            }
            if is_plain(c) {
                continue;
            }
            out.extend_from_slice(&text.as_bytes()[plain_from..at]);
            plain_from = at + c.len_utf8();
            escape_into(out, c);
        }
        out.extend_from_slice(&text.as_bytes()[plain_from..]);
        for byte in chunk.invalid() {
            out.extend_from_slice(format!("\\x{byte:02x}").as_bytes());
        }
    }
    out.push(b'"');
}

/// `bytes` in double quotes; see [`quote_into`].
pub fn quote(bytes: &[u8]) -> Str {
    let mut out = Vec::with_capacity(bytes.len() + 2);
    quote_into(&mut out, bytes);
    Str::from(out)
}

/// A text between two `mark`s. Marks, backslashes, line feeds, carriage returns and tabs get a
/// backslash in front. `escape` decides about all other characters.
pub fn literal(mark: char, text: &str, escape: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(mark);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == mark || c == '\\' => out.extend(['\\', c]),
            c => match escape(c) {
                Some(escaped) => out.push_str(&escaped),
                None => out.push(c),
            },
        }
    }
    out.push(mark);
    out
}

/// `\u001f`, for [`literal`].
pub fn unicode_escape(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

fn is_plain(c: char) -> bool {
    match c {
        '"' | '\\' => false,
        ' '..='~' => true,
        '\0'..='\x7f' => false,
        _ => is_print(c),
    }
}

fn escape_into(out: &mut Vec<u8>, c: char) {
    let short = match c {
        '"' => b'"',
        '\\' => b'\\',
        '\x07' => b'a',
        '\x08' => b'b',
        '\x0c' => b'f',
        '\n' => b'n',
        '\r' => b'r',
        '\t' => b't',
        '\x0b' => b'v',
        _ => {
            let code = c as u32;
            let text = match code {
                0..=0x7f => format!("\\x{code:02x}"),
                0x80..=0xffff => format!("\\u{code:04x}"),
                _ => format!("\\U{code:08x}"),
            };
            out.extend_from_slice(text.as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Whether Go's `unicode.IsPrint` is true: letters, marks, numbers, punctuation, symbols and the
/// ASCII space.
pub fn is_print(c: char) -> bool {
    // The standard library exposes which characters are printable only through its debug escapes.
    // After another character it does not escape combining marks, which matches Go.
    let mut buf = [b'a', 0, 0, 0, 0];
    let len = 1 + c.encode_utf8(&mut buf[1..]).len();
    match c {
        ' '..='~' => true,
        _ => std::str::from_utf8(&buf[..len]).is_ok_and(|text| text.escape_debug().nth(1) == Some(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(quote(bytes).to_str(), expected);
    }

    #[test]
    fn quotes_as_go_does() {
        check(b"", r#""""#);
        check("h\u{e9}llo \u{4e16}".as_bytes(), "\"h\u{e9}llo \u{4e16}\"");
        check(b"a\"b\\c", r#""a\"b\\c""#);
        check(b"\x07\x08\x0c\n\r\t\x0b\x00\x1f\x7f", r#""\a\b\f\n\r\t\v\x00\x1f\x7f""#);
        check(b"\xff\xc3", r#""\xff\xc3""#);
        check("\u{ad}\u{a0}\u{2028}\u{feff}".as_bytes(), r#""\u00ad\u00a0\u2028\ufeff""#);
        check("e\u{301}".as_bytes(), "\"e\u{301}\"");
        check("\u{301}".as_bytes(), "\"\u{301}\"");
        check("\u{10ffff}".as_bytes(), r#""\U0010ffff""#);
        check("'\u{1f600}".as_bytes(), "\"'\u{1f600}\"");
    }
}
