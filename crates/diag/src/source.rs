//! Sources, positions in them, and their lines.

use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// Names a [`Source`] in its [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u32);

/// A place in a source: a byte offset. Nodes carry it; the line is looked up when somebody asks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pos {
    /// The source, or [`Pos::UNKNOWN`]'s.
    pub file: FileId,
    /// Bytes from its beginning.
    pub offset: u32,
}

impl Pos {
    /// The position of what was made by code and stands in no source.
    pub const UNKNOWN: Pos = Pos { file: FileId(u32::MAX), offset: 0 };

    /// The place `offset` bytes into `file`.
    pub fn new(file: FileId, offset: u32) -> Pos {
        Pos { file, offset }
    }

    /// Whether this is a place in a source.
    pub fn is_known(self) -> bool {
        self != Pos::UNKNOWN
    }
}

/// A stretch of a source: bytes from `start` up to `end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The source.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// Byte behind the last one.
    pub end: u32,
}

impl Span {
    /// The stretch from `start` up to `end` in `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// Where it begins.
    pub fn pos(self) -> Pos {
        Pos { file: self.file, offset: self.start }
    }
}

/// One input: a file, a flag's value, text from a pipe.
#[derive(Debug)]
pub struct Source {
    name: String,
    /// Where it can be opened, or what it is part of, where its name does not say that.
    place: Option<String>,
    text: Rc<[u8]>,
    /// Lines in front of the text: 0 unless it is part of another source.
    lines_before: u32,
    line_starts: OnceCell<Vec<u32>>,
}

/// Excerpts show so many bytes of a line.
const LONG_LINE: usize = 240;

impl Source {
    /// The name as messages show it: `config/a.yml`, `(data-value arg)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name, or that of what it is part of: `(data-value-yaml arg)` for the YAML behind that flag, which ytt's own
    /// messages leave without a name.
    pub fn full_name(&self) -> &str {
        if self.name.is_empty() { self.place() } else { &self.name }
    }

    /// Where it can be opened: the path from the working directory. The full name, where that is all there is.
    pub fn place(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.name)
    }

    /// The bytes as they were read.
    pub fn text(&self) -> &Rc<[u8]> {
        &self.text
    }

    /// The line of a byte offset, counted from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.lines_before + self.line_starts().partition_point(|&start| start <= offset) as u32
    }

    /// Line and column (in bytes) of an offset, both counted from 1.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line = self.line(offset);
        (line, offset - self.line_start(line).unwrap_or_default() + 1)
    }

    /// Where a line (counted from 1) begins, in bytes.
    pub fn line_start(&self, line: u32) -> Option<u32> {
        let line = line.checked_sub(self.lines_before)?.checked_sub(1)?;
        self.line_starts().get(line as usize).copied()
    }

    /// The text of a line (counted from 1) without its line feed; what is not UTF-8 is replaced.
    pub fn line_text(&self, line: u32) -> Option<String> {
        let start = self.line_start(line)? as usize;
        let end = self.line_start(line + 1).map_or(self.text.len(), |next| next as usize - 1);
        Some(String::from_utf8_lossy(&self.text[start..end]).into_owned())
    }

    /// What an excerpt shows of the line of an offset, in bytes of the text: all of it, or of a long line the part
    /// around the offset.
    pub fn window(&self, offset: u32) -> Option<Range<usize>> {
        let line = self.line(offset);
        let start = self.line_start(line)? as usize;
        let end = self.line_start(line + 1).map_or(self.text.len(), |next| next as usize - 1);
        if end - start <= LONG_LINE {
            return Some(start..end);
        }
        let is_inside = |at: &usize| self.text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let boundary = |at: usize| (at..end).find(|at| !is_inside(at)).unwrap_or(end);
        let around = offset as usize;
        let from = around.saturating_sub(LONG_LINE / 2).clamp(start, end - LONG_LINE);
        Some(if from == start { start } else { boundary(from) }..boundary(from + LONG_LINE))
    }

    /// A text that stands for a window, with a mark where the line goes on.
    pub fn marked(&self, window: &Range<usize>, text: &str) -> String {
        let starts_line = window.start == 0 || self.text.get(window.start - 1) == Some(&b'\n');
        let ends_line = self.text.get(window.end).is_none_or(|byte| *byte == b'\n');
        let mark = |is_end: bool| if is_end { "" } else { "…" };
        format!("{}{text}{}", mark(starts_line), mark(ends_line))
    }

    /// The line of an offset as excerpts show it.
    pub fn excerpt(&self, offset: u32) -> Option<String> {
        let window = self.window(offset)?;
        Some(self.marked(&window, &String::from_utf8_lossy(&self.text[window.clone()])))
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let feeds = self.text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
            std::iter::once(0).chain(feeds.map(|(at, _)| at as u32 + 1)).collect()
        })
    }
}

/// All inputs of a run. Inputs can be added while it goes on (text that a template decodes, values from flags).
#[derive(Default, Debug)]
pub struct Sources(RefCell<Vec<Rc<Source>>>);

impl Sources {
    /// No sources yet.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Takes in a source and names it.
    pub fn add(&self, name: impl Into<String>, text: impl Into<Rc<[u8]>>) -> FileId {
        self.push(name.into(), None, text.into(), 0)
    }

    /// Takes in a file that can be opened at `place`, whatever messages call it.
    pub fn add_file(&self, name: impl Into<String>, place: Option<&str>, text: impl Into<Rc<[u8]>>) -> FileId {
        self.push(name.into(), place.map(str::to_owned), text.into(), 0)
    }

    /// Takes in a text that is part of another source, such as a string in a YAML file: its first line has this number.
    pub fn add_embedded(&self, outer: FileId, text: impl Into<Rc<[u8]>>, first_line: u32) -> FileId {
        let (name, place) = self.get(outer).map(|outer| (outer.name.clone(), outer.place.clone())).unwrap_or_default();
        self.push(name, place, text.into(), first_line.saturating_sub(1))
    }

    /// Takes in a text without a name that is part of something that has one.
    pub fn add_part(&self, part_of: impl Into<String>, text: impl Into<Rc<[u8]>>) -> FileId {
        self.push(String::new(), Some(part_of.into()), text.into(), 0)
    }

    fn push(&self, name: String, place: Option<String>, text: Rc<[u8]>, lines_before: u32) -> FileId {
        let mut sources = self.0.borrow_mut();
        sources.push(Rc::new(Source { name, place, text, lines_before, line_starts: OnceCell::new() }));
        FileId(sources.len() as u32 - 1)
    }

    /// The source of that name, if it is one of these.
    pub fn get(&self, file: FileId) -> Option<Rc<Source>> {
        self.0.borrow().get(file.0 as usize).cloned()
    }

    /// `file:line` as messages show it; `?` where the position is unknown. Text without a name has only a line.
    pub fn locate(&self, pos: Pos) -> String {
        match self.get(pos.file) {
            Some(source) if source.name().is_empty() => source.line(pos.offset).to_string(),
            Some(source) => format!("{}:{}", source.name(), source.line(pos.offset)),
            None => "?".to_owned(),
        }
    }

    /// The line of a position, counted from 1; 0 where it is unknown.
    pub fn line(&self, pos: Pos) -> u32 {
        self.get(pos.file).map_or(0, |source| source.line(pos.offset))
    }

    /// The text of the line that a position is on.
    pub fn line_text(&self, pos: Pos) -> Option<String> {
        let source = self.get(pos.file)?;
        source.line_text(source.line(pos.offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_of_long_lines_are_cut() {
        let sources = Sources::new();
        let file = sources.add("a.yml", format!("short\n{}x{}\nend", "é".repeat(400), "-".repeat(300)).into_bytes());
        let source = sources.get(file).unwrap();
        assert_eq!(source.excerpt(2).as_deref(), Some("short"));
        assert_eq!(source.excerpt(6), Some(format!("{}…", "é".repeat(LONG_LINE / 2))));
        let half = LONG_LINE / 2;
        assert_eq!(source.excerpt(806), Some(format!("…{}x{}…", "é".repeat(half / 2), "-".repeat(half - 1))));
        assert_eq!(source.excerpt(1106), Some(format!("…{}", "-".repeat(LONG_LINE))));
        assert_eq!(source.excerpt(1108).as_deref(), Some("end"));
    }

    #[test]
    fn finds_lines_and_columns() {
        let sources = Sources::new();
        let file = sources.add("a.yml", *b"ab\ncd\n");
        let source = sources.get(file).unwrap();
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(4), (2, 2));
        assert_eq!(source.line_text(2).as_deref(), Some("cd"));
        assert_eq!(source.line_text(3).as_deref(), Some(""));
        assert_eq!(source.line_text(4), None);
        assert_eq!(sources.locate(Pos::new(file, 3)), "a.yml:2");
        assert_eq!(sources.locate(Pos::UNKNOWN), "?");
    }

    #[test]
    fn embedded_texts_count_on() {
        let sources = Sources::new();
        let outer = sources.add_file("a.yml", Some("config/a.yml"), *b"");
        let file = sources.add_embedded(outer, *b"ab\ncd", 7);
        let source = sources.get(file).unwrap();
        assert_eq!((source.name(), source.place()), ("a.yml", "config/a.yml"));
        assert_eq!(source.line_column(4), (8, 2));
        assert_eq!(source.line_text(8).as_deref(), Some("cd"));
        assert_eq!(source.line_text(1), None);
    }
}
