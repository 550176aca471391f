//! Ranges and lines of a text.
//!
//! Everything in this crate counts bytes. Editors count lines and UTF-16 units: [`LineIndex`]
//! converts between the two, so that only the server knows the protocol's positions.

/// Bytes from `start` up to, but not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct TextRange {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl TextRange {
    /// The range from `start` to `end`.
    pub fn new(start: usize, end: usize) -> TextRange {
        TextRange { start, end: end.max(start) }
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether an offset is in it or at its end, so that a cursor touches it.
    pub fn touches(self, offset: usize) -> bool {
        self.start <= offset && offset <= self.end
    }

    /// Whether an offset is in it.
    pub fn contains(self, offset: usize) -> bool {
        self.start <= offset && offset < self.end
    }

    /// The text in the range; empty if the range is invalid.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// A line and a column in UTF-16 units, both counted from 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct LineColumn {
    /// The line.
    pub line: u32,
    /// UTF-16 units before it on the line.
    pub column: u32,
}

/// The offsets of the lines of a text.
#[derive(Clone, Debug, Default)]
pub struct LineIndex {
    starts: Vec<usize>,
    len: usize,
}

impl LineIndex {
    /// The lines of a text. `\n`, `\r\n` and a single `\r` end a line, as in the protocol.
    pub fn new(text: &str) -> LineIndex {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at + 1);
            }
        }
        LineIndex { starts, len: text.len() }
    }

    /// The number of lines, including the one after the last line feed.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The line of an offset.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The offset of a line; the end of the text for lines beyond it.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.len)
    }

    /// A line without its line break.
    pub fn range(&self, text: &str, line: usize) -> TextRange {
        let (start, next) = (self.start(line), self.start(line + 1));
        let end = if line + 1 < self.starts.len() {
            let body = text.get(start..next).unwrap_or_default();
            start + body.trim_end_matches(['\n', '\r']).len()
        } else {
            self.len
        };
        TextRange::new(start, end)
    }

    /// Line and column of an offset. An offset inside a character counts as its start.
    pub fn position(&self, text: &str, offset: usize) -> LineColumn {
        let mut offset = offset.min(self.len);
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.line_of(offset);
        let before = text.get(self.start(line)..offset).unwrap_or_default();
        let column = if before.is_ascii() { before.len() } else { before.encode_utf16().count() };
        LineColumn { line: line as u32, column: column as u32 }
    }

    /// The offset of a position. A column beyond its line means the end of the line, one inside a
    /// character its start, a line beyond the text the end of the text.
    pub fn offset(&self, text: &str, position: LineColumn) -> usize {
        let line = position.line as usize;
        if line >= self.starts.len() {
            return self.len;
        }
        let range = self.range(text, line);
        let mut units = position.column as usize;
        let body = range.of(text);
        if body.is_ascii() {
            return range.start + units.min(body.len());
        }
        for (at, c) in body.char_indices() {
            if units < c.len_utf16() {
                return range.start + at;
            }
            units -= c.len_utf16();
        }
        range.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_utf16_units() {
        let text = "a\n\"é😀\" b\r\nc";
        let lines = LineIndex::new(text);
        let at = |what: &str| lines.position(text, text.find(what).unwrap());
        assert_eq!(at("😀"), LineColumn { line: 1, column: 2 });
        assert_eq!(at("\" b"), LineColumn { line: 1, column: 4 });
        assert_eq!(at("c"), LineColumn { line: 2, column: 0 });
        for (offset, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
            assert_eq!(lines.offset(text, lines.position(text, offset)), offset);
        }
    }

    #[test]
    fn positions_outside_the_text_are_clamped() {
        let text = "é\nab";
        let lines = LineIndex::new(text);
        assert_eq!(lines.offset(text, LineColumn { line: 0, column: 9 }), 2);
        assert_eq!(lines.offset(text, LineColumn { line: 7, column: 0 }), 5);
        assert_eq!(lines.position(text, 1), LineColumn { line: 0, column: 0 });
        assert_eq!(lines.position(text, 99), LineColumn { line: 1, column: 2 });
        let emoji = "😀";
        assert_eq!(LineIndex::new(emoji).offset(emoji, LineColumn { line: 0, column: 1 }), 0);
    }

    #[test]
    fn all_kinds_of_line_breaks_end_lines() {
        let text = "a\r\nb\rc\n";
        let lines = LineIndex::new(text);
        let all: Vec<&str> = (0..lines.count()).map(|line| lines.range(text, line).of(text)).collect();
        assert_eq!(all, ["a", "b", "c", ""]);
    }
}
