//! Writes a string in each of its forms: single-quoted, double-quoted, literal.

use ytterby_text::budget;

use super::style::{char_width, is_break, is_printable};

/// Indentation below which lines are not charged to the budget of the run: it is about as long as
/// they are.
const SHORT_INDENT: usize = 64;

/// `'…'`. A line break inside (only LS and PS are possible) is followed by the indentation.
pub(super) fn single(text: &[u8], indent: usize, out: &mut Vec<u8>) {
    out.push(b'\'');
    if text.is_ascii() {
        // In ASCII only a quote must be escaped: line feeds do not occur here.
        for (at, part) in text.split(|&byte| byte == b'\'').enumerate() {
            if at > 0 {
                out.extend_from_slice(b"''");
            }
            out.extend_from_slice(part);
        }
        out.push(b'\'');
        return;
    }
    let mut after_break = false;
    let mut at = 0;
    while at < text.len() {
        let width = char_width(text[at]);
        let is_break = is_break(&text[at..]);
        if after_break && !is_break && text[at] != b' ' {
            spaces(indent, out);
        }
        if text[at] == b'\'' {
            out.push(b'\'');
        }
        out.extend_from_slice(&text[at..at + width]);
        after_break = is_break || after_break && text[at] == b' ';
        at += width;
    }
    out.push(b'\'');
}

/// `"…"` with escapes.
pub(super) fn double(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    if text.iter().all(|&byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\') {
        out.extend_from_slice(text);
        out.push(b'"');
        return;
    }
    // If the first character is a byte order mark, the reference treats every character as one.
    let all = text.starts_with(b"\xEF\xBB\xBF");
    let text = String::from_utf8_lossy(text);
    for (at, char) in text.char_indices() {
        let rest = &text.as_bytes()[at..];
        if all || !is_printable(rest) || is_break(rest) || matches!(char, '"' | '\\') {
            escape(char, out);
        } else {
            out.extend_from_slice(&rest[..char.len_utf8()]);
        }
    }
    out.push(b'"');
}

fn escape(char: char, out: &mut Vec<u8>) {
    let short = match char {
        '\0' => b'0',
        '\x07' => b'a',
        '\x08' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\x0B' => b'v',
        '\x0C' => b'f',
        '\r' => b'r',
        '\x1B' => b'e',
        '"' => b'"',
        '\\' => b'\\',
        '\u{85}' => b'N',
        '\u{A0}' => b'_',
        '\u{2028}' => b'L',
        '\u{2029}' => b'P',
        _ => {
            let code = u32::from(char);
            let text = match code {
                0..=0xFF => format!("\\x{code:02X}"),
                0x100..=0xFFFF => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
            out.extend_from_slice(text.as_bytes());
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// `|` with its hints, and the lines below it. Returns whether the text ends with a line break.
pub(super) fn literal(text: &[u8], indent: usize, out: &mut Vec<u8>) -> bool {
    if indent > SHORT_INDENT {
        let lines = 1 + memchr::memchr_iter(b'\n', text).count();
        budget::or_unwind(budget::text(lines.saturating_mul(indent)));
    }
    out.push(b'|');
    if text[0] == b' ' || is_break(text) {
        out.push(b'2');
    }
    let last = last_break(text);
    if last == 0 {
        out.push(b'-');
    } else if last == text.len() || last_break(&text[..text.len() - last]) > 0 {
        out.push(b'+');
    }
    out.push(b'\n');
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_at(next_line(rest));
        if !is_break(line) {
            spaces(indent, out);
        }
        out.extend_from_slice(line);
        rest = after;
    }
    last > 0
}

/// Length of a text's first line with its break. LS and PS begin a new line too, and are kept.
fn next_line(text: &[u8]) -> usize {
    let mut from = 0;
    while let Some(len) = memchr::memchr2(b'\n', 0xE2, &text[from..]) {
        let at = from + len;
        if text[at] == b'\n' {
            return at + 1;
        }
        if is_break(&text[at..]) {
            return at + 3;
        }
        from = at + 1;
    }
    text.len()
}

/// Length of the line break at the end of a text.
fn last_break(text: &[u8]) -> usize {
    match text {
        [.., b'\n'] => 1,
        [.., 0xE2, 0x80, 0xA8 | 0xA9] => 3,
        _ => 0,
    }
}

pub(super) fn spaces(count: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + count, b' ');
}
