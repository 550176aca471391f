//! One line of text as a terminal shows it.
//!
//! Bytes, characters and columns differ: tabs and secrets are replaced by text of another width,
//! East Asian characters are two columns wide, control characters would move the cursor. A
//! [`ShownLine`] maps ranges of bytes to columns, even if only a part of a long line is shown.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::{REDACTED, Source};

const TAB: &str = "    ";
const CUT: &str = "…";

/// Maximum bytes of a character, hence of a column.
const MAX_BYTES: usize = 4;

/// A line as a terminal shows it.
pub(super) struct ShownLine {
    pub(super) text: String,
    cells: Vec<Cell>,
    /// Columns of the text without the mark at the end of a cut line.
    end: usize,
    is_cut: bool,
}

/// A piece that is shown as a unit, and the bytes that it represents.
struct Cell {
    bytes: Range<usize>,
    columns: Range<usize>,
}

impl ShownLine {
    /// A line (counted from 1) of a source, in at most `columns` columns. A long line is cut to the
    /// part around the bytes of `focus`.
    pub(super) fn of_source(source: &Source, line: u32, focus: &Range<usize>, columns: usize) -> Option<ShownLine> {
        let mut line = source.line_range(line)?;
        let text = source.text();
        if text[line.clone()].ends_with(b"\r") {
            line.end -= 1;
        }
        // Skips bytes that do not fit anyway: a line can have megabytes.
        let is_inside = |at: &usize| *at > line.start && text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let boundary = |at: usize| (at..line.end).take(MAX_BYTES).find(|at| !is_inside(at)).unwrap_or(at);
        let far = columns * MAX_BYTES;
        let window = boundary(focus.start.saturating_sub(far).clamp(line.start, line.end))
            ..boundary(focus.start.saturating_add(far).clamp(line.start, line.end));

        let mut part = LinePart { starts_line: window.start == line.start, ..LinePart::default() };
        let mut next = window.start;
        for hidden in source.hidden_in(window.clone()) {
            part.push(&source.shown(next..hidden.start), next..hidden.start);
            part.glyphs.push(Glyph { bytes: hidden.clone(), text: REDACTED.to_owned(), width: REDACTED.len() });
            next = hidden.end;
        }
        part.push(&source.shown(next..window.end), next..window.end);
        part.ends_line = window.end == line.end;
        Some(part.fit(focus, columns))
    }

    /// A line of text that does not belong to a source.
    pub(super) fn of_text(text: &str, focus: &Range<usize>, columns: usize) -> ShownLine {
        let mut part = LinePart { starts_line: true, ends_line: true, ..LinePart::default() };
        part.push(text, 0..text.len());
        part.fit(focus, columns)
    }

    fn new(glyphs: &[Glyph], start_mark: &str, end_mark: &str) -> ShownLine {
        let mut text = start_mark.to_owned();
        let mut column = start_mark.chars().count();
        let mut cells = Vec::with_capacity(glyphs.len());
        for glyph in glyphs {
            text.push_str(&glyph.text);
            cells.push(Cell { bytes: glyph.bytes.clone(), columns: column..column + glyph.width });
            column += glyph.width;
        }
        text.push_str(end_mark);
        let is_cut = !(start_mark.is_empty() && end_mark.is_empty());
        ShownLine { text, cells, end: column, is_cut }
    }

    /// The visible columns of a range of bytes; at least one.
    pub(super) fn columns(&self, bytes: &Range<usize>) -> Range<usize> {
        let start =
            self.cells.iter().find(|cell| cell.bytes.end > bytes.start && cell.columns.start < cell.columns.end);
        let start = start.map_or(self.end, |cell| cell.columns.start);
        let end = self.cells.iter().rev().find(|cell| cell.bytes.start < bytes.end);
        let end = end.map_or(0, |cell| cell.columns.end);
        start..end.max(start + 1)
    }

    /// Whether the beginning of a range of bytes is visible.
    pub(super) fn shows(&self, bytes: &Range<usize>) -> bool {
        let is_it = |cell: &Cell| cell.bytes.start <= bytes.start && bytes.start < cell.bytes.end;
        !self.is_cut || self.cells.iter().any(is_it)
    }
}

/// A part of a line, before it is cut to the available columns.
#[derive(Default)]
struct LinePart {
    glyphs: Vec<Glyph>,
    starts_line: bool,
    ends_line: bool,
}

/// A cell that has no column yet.
struct Glyph {
    bytes: Range<usize>,
    text: String,
    width: usize,
}

impl LinePart {
    /// Adds the glyphs of a text that represents some bytes.
    fn push(&mut self, text: &str, bytes: Range<usize>) {
        // Invalid UTF-8 is shown as U+FFFD, usually one for each byte.
        let is_lossy = text.len() != bytes.len();
        let mut at = bytes.start;
        for c in text.chars() {
            let len = if is_lossy && c == char::REPLACEMENT_CHARACTER { 1 } else { c.len_utf8() };
            let (text, width) = match c {
                '\t' => (TAB.to_owned(), TAB.len()),
                c => (visible(c).to_string(), visible(c).width().unwrap_or(0)),
            };
            self.glyphs.push(Glyph { bytes: at..at + len, text, width });
            at += len;
        }
    }

    /// The glyphs that fit, around the bytes of `focus`.
    fn fit(&self, focus: &Range<usize>, columns: usize) -> ShownLine {
        let glyphs = &self.glyphs;
        if self.starts_line && self.ends_line && width(glyphs) <= columns {
            return ShownLine::new(glyphs, "", "");
        }
        let room = columns.saturating_sub(2 * CUT.chars().count());
        let first_column = self.first_column(focus, room);
        let first = count_until(glyphs, |column, _| column >= first_column);
        let last = first + count_until(&glyphs[first..], |column, width| column + width > room);
        let start_mark = if first == 0 && self.starts_line { "" } else { CUT };
        let end_mark = if last == glyphs.len() && self.ends_line { "" } else { CUT };
        ShownLine::new(&glyphs[first..last], start_mark, end_mark)
    }

    /// The first visible column if not all of them fit.
    fn first_column(&self, focus: &Range<usize>, room: usize) -> usize {
        let start = self.glyphs.partition_point(|glyph| glyph.bytes.end <= focus.start);
        let end = self.glyphs.partition_point(|glyph| glyph.bytes.start < focus.end).max(start);
        let (before, of_focus) = (width(&self.glyphs[..start]), width(&self.glyphs[start..end]));
        if self.starts_line && before + of_focus <= room {
            return 0;
        }
        // The focus is in the middle; if it is too long for that, it begins near the left.
        let lead = room.saturating_sub(of_focus).max(room / 4) / 2;
        let latest = if self.ends_line { width(&self.glyphs).saturating_sub(room) } else { usize::MAX };
        before.saturating_sub(lead).min(latest)
    }
}

fn width(glyphs: &[Glyph]) -> usize {
    glyphs.iter().map(|glyph| glyph.width).sum()
}

/// The number of glyphs before the first one for whose column and width `is_end` is true.
fn count_until(glyphs: &[Glyph], is_end: impl Fn(usize, usize) -> bool) -> usize {
    let mut column = 0;
    for (number, glyph) in glyphs.iter().enumerate() {
        if is_end(column, glyph.width) {
            return number;
        }
        column += glyph.width;
    }
    glyphs.len()
}

/// A text without characters that move the cursor or change colours. Line feeds are kept.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { visible(c) }).collect()
}

/// A character; control characters become visible symbols.
fn visible(c: char) -> char {
    match c {
        '\t' => ' ',
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        // C1 controls, and characters that change the direction of the text after them.
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    }
}
