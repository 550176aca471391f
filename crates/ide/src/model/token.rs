//! A tokenizer of code that never fails.
//!
//! An unclosed string ends with its line; every unknown byte is an operator.

use crate::TextRange;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenKind {
    /// An identifier.
    Name,
    /// A keyword, including `end`.
    Keyword,
    /// A number.
    Number,
    /// A string with its quotes.
    Str,
    /// An operator or a bracket.
    Op,
    /// A comment in code.
    Comment,
}

/// A token of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// The kind of token.
    pub kind: TokenKind,
    /// Its range in the file.
    pub range: TextRange,
    /// Whether it is the first one on its line of code.
    pub begins_line: bool,
}

/// Reserved words. `None`, `True` and `False` are constants.
pub const KEYWORDS: [&str; 21] = [
    "and", "break", "continue", "def", "elif", "else", "end", "for", "if", "in", "lambda", "load", "not", "or", "pass",
    "return", "while", "None", "True", "False", "not in",
];

/// Whether a word is a keyword.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Whether a text is an identifier.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
        && !is_keyword(text)
}

const OPERATORS: [&str; 21] = [
    "<<=", ">>=", "//=", "**=", "<<", ">>", "//", "**", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "->",
];

/// Adds the tokens of a range of code to `tokens`. Line breaks within the range are allowed.
pub(super) fn tokens(text: &str, range: TextRange, tokens: &mut Vec<Token>) {
    let bytes = text.as_bytes();
    let (mut at, end) = (range.start, range.end.min(text.len()));
    let mut begins_line = true;
    while at < end {
        let byte = bytes[at];
        let start = at;
        let kind = match byte {
            b'\n' | b'\r' => {
                begins_line = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\\' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = line_end(bytes, at, end);
                TokenKind::Comment
            }
            b'"' | b'\'' => {
                at = string_end(bytes, at, end);
                TokenKind::Str
            }
            b'r' | b'b' if matches!(bytes.get(at + 1), Some(b'"' | b'\'')) && at + 1 < end => {
                at = string_end(bytes, at + 1, end);
                TokenKind::Str
            }
            b'0'..=b'9' => {
                at = number_end(bytes, at, end);
                TokenKind::Number
            }
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
                && at + 1 < end
                && !ends_operand(text, tokens.last(), start) =>
            {
                at = number_end(bytes, at, end);
                TokenKind::Number
            }
            _ if is_word(byte) => {
                while at < end && is_word(bytes[at]) {
                    at += 1;
                }
                if is_keyword(&text[start..at]) { TokenKind::Keyword } else { TokenKind::Name }
            }
            _ => {
                let rest = &bytes[at..end];
                at += OPERATORS.iter().find(|op| rest.starts_with(op.as_bytes())).map_or(1, |op| op.len());
                TokenKind::Op
            }
        };
        tokens.push(Token { kind, range: TextRange::new(start, at), begins_line });
        begins_line = false;
    }
}

/// Whether an operand precedes a dot, so that an attribute follows.
fn ends_operand(text: &str, last: Option<&Token>, at: usize) -> bool {
    last.is_some_and(|last| {
        last.range.end == at && (last.kind == TokenKind::Name || matches!(last.range.of(text), ")" | "]" | "}"))
    })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn line_end(bytes: &[u8], at: usize, end: usize) -> usize {
    bytes[at..end].iter().position(|byte| matches!(byte, b'\n' | b'\r')).map_or(end, |len| at + len)
}

fn number_end(bytes: &[u8], mut at: usize, end: usize) -> usize {
    while at < end && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.') {
        let is_exponent = matches!(bytes[at], b'e' | b'E') && matches!(bytes.get(at + 1), Some(b'+' | b'-'));
        at += 1 + usize::from(is_exponent && at + 1 < end);
    }
    at
}

/// The end of the string at an offset. Triple-quoted strings can span several lines.
fn string_end(bytes: &[u8], at: usize, end: usize) -> usize {
    let quote = bytes[at];
    let is_triple = bytes[at..end].starts_with(&[quote; 3]);
    let mut next = at + if is_triple { 3 } else { 1 };
    while next < end {
        match bytes[next] {
            b'\\' => next += 2,
            b'\n' | b'\r' if !is_triple => return next,
            byte if byte == quote && !is_triple => return next + 1,
            byte if byte == quote && bytes[next..end].starts_with(&[quote; 3]) => return next + 3,
            _ => next += 1,
        }
    }
    // An unclosed triple-quoted string ends with its line: users still want to see the rest as
    // code.
    if is_triple { line_end(bytes, at, end) } else { end.min(next.max(at + 1)) }
}

/// The content of a string token, with escapes unchanged.
pub fn string_content(token: &str) -> &str {
    let body = token.trim_start_matches(['r', 'b']);
    let Some(quote) = body.chars().next().filter(|c| matches!(c, '"' | '\'')) else { return body };
    for marks in [3, 1] {
        let mark: String = std::iter::repeat_n(quote, marks).collect();
        if let Some(inner) = body.strip_prefix(&mark) {
            return inner.strip_suffix(&mark).unwrap_or(inner);
        }
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, expect: &[&str]) {
        let mut all = Vec::new();
        tokens(code, TextRange::new(0, code.len()), &mut all);
        let texts: Vec<&str> = all.iter().map(|token| token.range.of(code)).collect();
        assert_eq!(texts, expect, "{code}");
    }

    #[test]
    fn reads_whole_and_broken_code() {
        check("a.b(1, x=\"q\")", &["a", ".", "b", "(", "1", ",", "x", "=", "\"q\"", ")"]);
        check("\"abc + data.\nx", &["\"abc + data.", "x"]);
        check("'''a\nb''' + 1.5e-3", &["'''a\nb'''", "+", "1.5e-3"]);
        check("\"\"\"open\nx", &["\"\"\"open", "x"]);
        check("größe == .5", &["größe", "==", ".5"]);
        check("\"\\", &["\"\\"]);
        check("a.1", &["a", ".", "1"]);
    }

    #[test]
    fn strings_have_content() {
        assert_eq!(string_content("\"a\""), "a");
        assert_eq!(string_content("'''a'''"), "a");
        assert_eq!(string_content("r\"a"), "a");
        assert_eq!(string_content("\"\""), "");
    }
}
