//! Finds the range of the token at a position.
//!
//! Instructions only know where they begin: at a name, an operator, the `.` of an attribute, the
//! `(` of a call. To underline one, a diagnostic finds its end by scanning the text again. Code is
//! often part of something else (a YAML comment, a text template), so a token never extends beyond
//! its line.

use std::ops::Range;

use ytterby_diag::word_at;

use crate::syntax::Tok;

/// The range of the token at an offset: a name, a number, a string, an operator, an attribute with
/// its dot, an index with its brackets, a call with its callee and arguments. It is empty if there
/// is no token.
pub fn token_at(text: &[u8], offset: u32) -> Range<u32> {
    let rest = text.get(offset as usize..).unwrap_or_default();
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    let to = |len: usize| offset..offset + len as u32;
    match line {
        [b' ' | b'\t' | b'\r', ..] | [] => to(0),
        [b'"' | b'\'', ..] => to(string_len(line)),
        [b'r', b'"' | b'\'', ..] => to(1 + string_len(&line[1..])),
        [b'0'..=b'9', ..] | [b'.', b'0'..=b'9', ..] => to(number_len(line)),
        [b'.', next, ..] if is_word(*next) => offset..word_at(text, offset + 1).end,
        [b'(', ..] => call_start(text, offset)..offset + bracket_len(line) as u32,
        [b'[', ..] => to(bracket_len(line)),
        [byte, ..] if is_word(*byte) => word_at(text, offset),
        _ => to(operator_len(line)),
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Operators of several characters, the longest first.
const OPERATORS: [&[u8]; 20] = [
    b"<<=", b">>=", b"//=", b"<<", b">>", b"//", b"**", b"<=", b">=", b"==", b"!=", b"+=", b"-=", b"*=", b"/=", b"%=",
    b"&=", b"|=", b"&&", b"||",
];

fn operator_len(line: &[u8]) -> usize {
    OPERATORS.iter().find(|operator| line.starts_with(operator)).map_or(1, |operator| operator.len())
}

/// The length of a string at the start of `line`; the whole line if it is unterminated.
fn string_len(line: &[u8]) -> usize {
    let quote = line[0];
    let quotes = if line.starts_with(&[quote; 3]) { 3 } else { 1 };
    let mut at = quotes;
    while at < line.len() {
        match line[at] {
            b'\\' => at += 2,
            _ if line[at..].starts_with(&[quote; 3][..quotes]) => return at + quotes,
            _ => at += 1,
        }
    }
    line.trim_ascii_end().len()
}

/// The length of a number at the start of `line`: `10`, `0x1f`, `1.5e-3`.
fn number_len(line: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        let is_exponent_sign = matches!(byte, b'+' | b'-')
            && at > 0
            && matches!(line[at - 1], b'e' | b'E')
            && !line.starts_with(b"0x")
            && line.get(at + 1).is_some_and(u8::is_ascii_digit);
        if !(byte.is_ascii_alphanumeric() || byte == b'.' || is_exponent_sign) {
            break;
        }
        at += 1;
    }
    at
}

/// The length of a bracket at the start of `line` with its contents and closing bracket; 1 if it is
/// closed on another line.
fn bracket_len(line: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < line.len() {
        match line[at] {
            b'"' | b'\'' => at += string_len(&line[at..]) - 1,
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    1
}

/// The start of the callee of a call whose `(` is at an offset: a name with the names and dots
/// before it.
fn call_start(text: &[u8], offset: u32) -> u32 {
    let before = &text[..offset as usize];
    let len = before.iter().rev().take_while(|byte| is_word(**byte) || **byte == b'.').count();
    let callee = &before[before.len() - len..];
    let dots = callee.iter().take_while(|byte| **byte == b'.').count();
    let name = &callee[dots..];
    if Tok::keyword(name).is_some() { offset } else { offset - name.len() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the token at the offset marked by `|`.
    #[track_caller]
    fn check(marked: &str, expected: &str) {
        let offset = marked.find('|').expect("a mark");
        let text = marked.replacen('|', "", 1);
        let range = token_at(text.as_bytes(), offset as u32);
        assert_eq!(&text[range.start as usize..range.end as usize], expected, "{marked}");
    }

    #[test]
    fn names_numbers_and_strings_are_tokens() {
        check("x = |größe + 1", "größe");
        check("x = |0x1f+1", "0x1f");
        check("|1.5e-3-2", "1.5e-3");
        check("|\"a\\\"b\" + c", "\"a\\\"b\"");
        check("|r'a\\d' % x", "r'a\\d'");
        check("|'''a'b''' + c", "'''a'b'''");
        check("|'open  \nend", "'open");
        check("|\"", "\"");
    }

    #[test]
    fn operators_are_tokens() {
        check("a |+ b", "+");
        check("a |//= b", "//=");
        check("a |<< b", "<<");
        check("a |in b", "in");
        check("a |— b", "—");
    }

    #[test]
    fn attributes_indices_and_calls_are_tokens() {
        check("#@ data|.values.name", ".values");
        check("xs|[len(xs)] + 1", "[len(xs)]");
        check("xs|[\n1]", "[");
        check("a: #@ overlay.subset|({\"kind\": \")\"}) + 1", "overlay.subset({\"kind\": \")\"})");
        check("x = f(1).g|(2)", "g(2)");
        check("if |(a or b):", "(a or b)");
        check("if|(a or b):", "(a or b)");
        check("f|(\n1)", "f(");
        check("(@= f|(x) @)", "f(x)");
    }

    #[test]
    fn offsets_without_a_token_have_an_empty_range() {
        check("a|", "");
        check("a|\nb", "");
        check("a| b", "");
        assert_eq!(token_at(b"abc", 7), 7..7);
    }
}
