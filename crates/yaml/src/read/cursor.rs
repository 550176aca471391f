//! A position in the text, with its line.

use super::valid::TextProperties;

/// Walks over the text. Reading past the end returns 0, which no valid text contains.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a [u8],
    pub(super) pos: usize,
    /// Counted from 1, by all line breaks of YAML 1.1.
    pub(super) line: u32,
    pub(super) line_start: usize,
    pub(super) line_feeds_only: bool,
}

impl<'a> Cursor<'a> {
    /// Begins at `pos`, after bytes that are not part of the content.
    pub(super) fn new(text: &'a [u8], pos: usize, shape: TextProperties) -> Cursor<'a> {
        Cursor { text, pos, line: 1, line_start: pos, line_feeds_only: shape.line_feeds_only }
    }

    #[inline]
    pub(super) fn byte(&self) -> u8 {
        self.at(self.pos)
    }

    #[inline]
    pub(super) fn at(&self, pos: usize) -> u8 {
        self.text.get(pos).copied().unwrap_or(0)
    }

    /// Columns count bytes: only ASCII precedes anything whose column matters.
    #[inline]
    pub(super) fn column(&self) -> usize {
        self.pos - self.line_start
    }

    #[inline]
    pub(super) fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// Where the lines of the whole text begin.
    #[cold]
    pub(super) fn line_starts(&self) -> Vec<usize> {
        let mut starts = vec![0];
        let mut pos = 0;
        while pos < self.text.len() {
            let len = self.break_len(pos);
            pos += len.max(1);
            if len > 0 {
                starts.push(pos);
            }
        }
        starts
    }

    /// Length of the line break at an offset, 0 if there is none.
    #[inline]
    pub(super) fn break_len(&self, pos: usize) -> usize {
        match self.at(pos) {
            b'\n' => 1,
            b'\r' => 1 + usize::from(self.at(pos + 1) == b'\n'),
            0xC2 if self.at(pos + 1) == 0x85 => 2,
            0xE2 if self.at(pos + 1) == 0x80 && matches!(self.at(pos + 2), 0xA8 | 0xA9) => 3,
            _ => 0,
        }
    }

    #[inline]
    pub(super) fn is_blank(&self, pos: usize) -> bool {
        matches!(self.at(pos), b' ' | b'\t')
    }

    /// Whether there is a blank, a line break or the end at an offset.
    #[inline]
    pub(super) fn is_blank_or_end(&self, pos: usize) -> bool {
        match self.at(pos) {
            b' ' | b'\n' | b'\t' | b'\r' | 0 => true,
            0xC2 | 0xE2 => self.break_len(pos) > 0,
            _ => false,
        }
    }

    /// Skips the line break here; returns false if there is none.
    #[inline]
    pub(super) fn skip_break(&mut self) -> bool {
        let len = self.break_len(self.pos);
        if len == 0 {
            return false;
        }
        self.pos += len;
        self.line += 1;
        self.line_start = self.pos;
        true
    }

    /// Skips the line break here and appends its meaning: a line feed, or itself if it is LS or PS.
    pub(super) fn read_break(&mut self, out: &mut Vec<u8>) {
        let from = self.pos;
        if self.skip_break() {
            if self.text[from] == 0xE2 {
                out.extend_from_slice(&self.text[from..self.pos]);
            } else {
                out.push(b'\n');
            }
        }
    }

    /// The end of the line that contains `from`, before its break.
    #[inline]
    pub(super) fn line_end(&self, from: usize) -> usize {
        if self.line_feeds_only {
            return memchr::memchr(b'\n', &self.text[from..]).map_or(self.text.len(), |len| from + len);
        }
        (from..self.text.len()).find(|&at| self.break_len(at) > 0).unwrap_or(self.text.len())
    }

    /// Whether a `---` or `...` is here, alone at the beginning of a line.
    #[inline]
    pub(super) fn at_document_marker(&self) -> bool {
        self.pos == self.line_start
            && matches!(self.byte(), b'-' | b'.')
            && (self.text[self.pos..].starts_with(b"---") || self.text[self.pos..].starts_with(b"..."))
            && self.is_blank_or_end(self.pos + 3)
    }
}

/// Joins lines as in plain, quoted and folded scalars: one break becomes a space, and the first of
/// several is dropped. `breaks` contains the text of all of them; the first can be dropped only if
/// it is a line feed.
pub(super) fn fold(breaks: &[u8], out: &mut Vec<u8>) {
    match breaks {
        b"\n" => out.push(b' '),
        [b'\n', rest @ ..] => out.extend_from_slice(rest),
        _ => out.extend_from_slice(breaks),
    }
}
