//! Maps offsets in a decoded YAML scalar back to the file.
//!
//! A block scalar loses its indentation, a quoted one its escapes, a folded one its line breaks.
//! The map is built once per scalar, by comparing the source text with the decoded text, and uses
//! binary search.

use ytterby_yaml::Style;

/// A map from offsets in a decoded text to the source.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    /// Pairs of offsets, decoded and source; between two pairs both advance equally.
    points: Vec<(usize, usize)>,
}

impl Positions {
    /// Aligns `decoded` with the source text of the scalar, which begins at `start` of its file.
    pub fn new(source: &[u8], start: usize, style: Style, decoded: &str) -> Positions {
        let points = match style {
            Style::Literal => literal(source, decoded),
            _ => aligned(source, style, decoded.as_bytes()),
        };
        Positions { points: points.into_iter().map(|(to, from)| (to, start + from)).collect() }
    }

    /// The offset in the file for an offset in the decoded text.
    pub fn source(&self, decoded: usize) -> Option<usize> {
        let index = self.points.partition_point(|&(to, _)| to <= decoded).checked_sub(1)?;
        let (to, from) = self.points[index];
        Some(from + (decoded - to))
    }
}

/// Each line of a literal block is a line of the source with less indentation.
fn literal(source: &[u8], decoded: &str) -> Vec<(usize, usize)> {
    let mut points = Vec::new();
    let header = source.iter().position(|&byte| byte == b'\n').map_or(source.len(), |at| at + 1);
    let (mut from, mut to) = (header, 0);
    for line in decoded.split_inclusive('\n') {
        let rest = &source[from.min(source.len())..];
        let len = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let text_len = rest[..len].strip_suffix(b"\r").map_or(len, <[u8]>::len);
        let wanted = line.strip_suffix('\n').unwrap_or(line).len();
        points.push((to, from + text_len.saturating_sub(wanted)));
        from += len + 1;
        to += line.len();
    }
    points
}

/// Aligns both texts: an escape corresponds to its character, folded space to the remaining space.
fn aligned(source: &[u8], style: Style, decoded: &[u8]) -> Vec<(usize, usize)> {
    let space = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let mut from = match style {
        Style::DoubleQuoted | Style::SingleQuoted => 1,
        Style::Folded => source.iter().position(|&byte| byte == b'\n').map_or(source.len(), |at| at + 1),
        _ => 0,
    };
    let mut to = 0;
    let mut points: Vec<(usize, usize)> = Vec::new();
    while let (Some(&wanted), Some(&given)) = (decoded.get(to), source.get(from)) {
        let in_step = points.last().is_some_and(|&(point, at)| from - at == to - point);
        if given == b'\\' && style == Style::DoubleQuoted {
            let (len, makes) = match source.get(from + 1) {
                Some(b'x') => (4, char_len(decoded, to)),
                Some(b'u') => (6, char_len(decoded, to)),
                Some(b'U') => (10, char_len(decoded, to)),
                Some(b'\n') => (2, 0),
                Some(_) => (2, char_len(decoded, to)),
                None => break,
            };
            if makes > 0 && !in_step {
                points.push((to, from));
            }
            from += len;
            to += makes;
        } else if given == wanted {
            if !in_step {
                points.push((to, from));
            }
            from += 1;
            to += 1;
            if given == b'\'' && style == Style::SingleQuoted && source.get(from) == Some(&b'\'') {
                from += 1;
            }
        } else if space(given) {
            if space(wanted) {
                points.push((to, from));
                to += 1;
            }
            from += 1;
        } else if space(wanted) {
            to += 1;
        } else {
            break;
        }
    }
    points
}

fn char_len(text: &[u8], at: usize) -> usize {
    match text[at] {
        0..0x80 => 1,
        0x80..0xe0 => 2,
        0xe0..0xf0 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each needle in the decoded text maps to the same text in the source.
    fn check(source: &str, style: Style, decoded: &str, needles: &[&str]) {
        let map = Positions::new(source.as_bytes(), 100, style, decoded);
        for needle in needles {
            let at = map.source(decoded.find(needle).unwrap()).unwrap() - 100;
            assert!(source[at..].starts_with(needle), "{needle} is not at {at} of {source:?}");
        }
    }

    #[test]
    fn offsets_map_back_to_the_source() {
        check(
            "|\n    [\n      {\"a\": 1}\n\n    ]\n",
            Style::Literal,
            "[\n  {\"a\": 1}\n\n]\n",
            &["[", "{", "\"a", "]"],
        );
        check("|-\r\n  ab\r\n  cd", Style::Literal, "ab\ncd", &["ab", "b", "cd"]);
        check("\"[{\\\"a\\\": 1}]\"", Style::DoubleQuoted, "[{\"a\": 1}]", &["[", "a", "1", "]"]);
        check("\"x\\u00e9yz\"", Style::DoubleQuoted, "xéyz", &["x", "yz"]);
        check("'it''s [1]'", Style::SingleQuoted, "it's [1]", &["it", "s", "[1]"]);
        check(">\n  one\n  two\n\n  three\n", Style::Folded, "one two\nthree\n", &["one", "two", "three"]);
        check("[{a:\n   b}]", Style::Plain, "[{a: b}]", &["a", "b"]);
    }

    #[test]
    fn mismatched_texts_do_not_panic() {
        let map = Positions::new(b"|", 0, Style::Literal, "a\nb\n");
        assert!(map.source(3).is_some());
        assert_eq!(Positions::new(b"xyz", 0, Style::Plain, "abc").source(1), None);
    }
}
