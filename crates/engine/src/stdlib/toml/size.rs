//! Estimates the memory that the reader needs for a text.
//!
//! The library first collects all tokens and then builds its own tables, whose nodes have room for
//! eleven keys: a comment of a megabyte takes a few bytes, `{a=1},` takes 1.5 kB. So tokens and
//! tables are counted.

/// A token, in a vector that doubles.
const TOKEN: usize = 50;

/// A value, in the library's array or table and in ours.
const VALUE: usize = 80;

/// An array with its first items.
const ARRAY: usize = 250;

/// A table with its first keys.
const TABLE: usize = 1_200;

/// The approximate number of bytes.
pub(super) fn needed(text: &[u8]) -> usize {
    let mut bytes = 2 * text.len();
    let mut at = 0;
    let mut begins_line = true;
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let (length, values) = match byte {
            b'#' => (memchr::memchr(b'\n', rest).unwrap_or(rest.len()), 0),
            b'"' | b'\'' => (string(rest, byte), 0),
            b' ' | b'\t' => (run(rest, |byte| matches!(byte, b' ' | b'\t')), 0),
            b'{' if rest.get(1) == Some(&b'}') => (1, 0),
            b'[' if begins_line => (1, TABLE),
            b'[' => (1, ARRAY),
            b'{' => (1, TABLE),
            b',' | b'=' => (1, VALUE),
            // Between keys it begins a table, in a number it does not.
            b'.' if rest.get(1).is_some_and(u8::is_ascii_digit) => (1, 0),
            b'.' => (1, TABLE),
            b']' | b'}' | b'\n' | b'\r' => (1, 0),
            _ => (1 + run(&rest[1..], |byte| !b"#\"' \t[]{},=.\n\r".contains(&byte)), 0),
        };
        begins_line =
            matches!(byte, b'\n' | b' ' | b'\t') && (begins_line || byte == b'\n') || byte == b'[' && begins_line;
        bytes = bytes.saturating_add(TOKEN + values);
        at += length;
    }
    bytes
}

fn run(text: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !belongs(byte)).unwrap_or(text.len())
}

/// The length of the string at the beginning.
fn string(text: &[u8], quote: u8) -> usize {
    let is_long = text.starts_with(&[quote; 3]);
    let mut at = if is_long { 3 } else { 1 };
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'\\' if quote == b'"' => at += 1,
            b'\n' if !is_long => break,
            _ if byte != quote => {}
            _ if !is_long => break,
            _ if text[at..].starts_with(&[quote; 2]) => {
                at += 2;
                break;
            }
            _ => {}
        }
    }
    at.min(text.len())
}

#[cfg(test)]
mod tests {
    use super::needed;

    /// Measured with the library: bytes of memory for each byte of text.
    #[test]
    fn dense_texts_need_more() {
        for (begin, part, end, least) in [
            ("", "#", "", 1.1),
            ("", "\n", "", 48.0),
            ("a=[", "1,", "]", 84.0),
            ("a=[", "\"x\",", "]", 44.0),
            ("a=[\n", "#\n", "]", 50.0),
            ("a=[", "{},", "]", 73.0),
            ("a=[", "{b=1},", "]", 246.0),
            ("a=[", "[1],", "]", 125.0),
            ("", "[key]\na=1\n", "", 170.0),
            ("", "key.a=1\n", "", 190.0),
            ("", "some_key=12\n", "", 25.0),
            ("a='", "x", "'", 2.0),
            ("a=\"\"\"", "\"\\\n", "\"\"\"", 2.0),
        ] {
            let text = [begin, &part.repeat(10_000), end].concat();
            let needed = needed(text.as_bytes()) as f64 / text.len() as f64;
            assert!((least..2.0 * least).contains(&needed), "{part}: {needed}");
        }
    }
}
