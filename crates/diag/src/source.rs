//! Inputs, positions in them, and their lines.
//!
//! A [`Pos`] is a byte offset, small enough to be kept with every node. Everything else about a
//! position (its line, the token or value there, whether it is secret) is computed when a
//! diagnostic is rendered: the [`Source`] can parse its own text again ([`Readers`]). A run that
//! succeeds pays nothing for it.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::listing::Listing;
use crate::outline::{Outline, Part, Readers};
use crate::secrets::REDACTED;
use crate::text::PlaceNames;
use ytterby_text::Str;

/// Identifies a [`Source`] in its [`Sources`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FileId(pub u32);

/// A position in a source: a byte offset. Nodes carry it; the line is looked up on demand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pos {
    /// The source; invalid in [`Pos::UNKNOWN`].
    pub file: FileId,
    /// Bytes from its beginning.
    pub offset: u32,
}

impl Pos {
    /// The position of nodes that code created and no source contains.
    pub const UNKNOWN: Pos = Pos { file: FileId(u32::MAX), offset: 0 };

    /// The position `offset` bytes into `file`.
    pub fn new(file: FileId, offset: u32) -> Pos {
        Pos { file, offset }
    }

    /// Whether this is a position in a source.
    pub fn is_known(self) -> bool {
        self != Pos::UNKNOWN
    }
}

/// A range of a source: bytes from `start` up to, but not including, `end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The source.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` up to `end` in `file`.
    pub fn new(file: FileId, start: u32, end: u32) -> Span {
        Span { file, start, end }
    }

    /// Where it begins.
    pub fn pos(self) -> Pos {
        Pos { file: self.file, offset: self.start }
    }
}

/// Where a source comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Origin {
    /// A file.
    #[default]
    File,
    /// Standard input.
    Stdin,
    /// The response of a URL.
    Url,
    /// A data value given by a flag.
    Flag(ValueForm),
    /// A data value given by an environment variable.
    Variable(ValueForm),
    /// A whole argument of the command line.
    Argument,
    /// Text that code created or decoded.
    Code,
}

/// How a flag or variable specifies its value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ValueForm {
    /// The value is a string.
    Text,
    /// The value is YAML.
    Yaml,
    /// The value is the name of a file with the content.
    Content,
}

/// One input: a file, the value of a flag, text from a pipe.
#[derive(Debug)]
pub struct Source {
    name: String,
    /// The path to open it, or the source that contains it, if its name does not tell.
    place: Option<String>,
    origin: Origin,
    text: Str,
    /// Lines before the text: 0 unless it is part of another source.
    lines_before: u32,
    readers: Readers,
    line_starts: OnceLock<Vec<u32>>,
    /// The number of characters before each block of the text.
    blocks: OnceLock<Vec<u32>>,
    outline: OnceLock<Outline>,
    listing: RwLock<Option<Arc<Listing>>>,
    /// Secret ranges, sorted; they do not overlap.
    hidden: RwLock<Vec<Range<u32>>>,
}

/// Bytes of a block, whose characters are counted together.
const BLOCK: usize = 4096;

/// Bytes that an excerpt shows of a long line.
const LONG_LINE: usize = 240;

/// Maximum bytes of an excerpt: a line can be as long as its file.
const MAX_EXCERPT: usize = 4096;

impl Source {
    /// An input with the name that messages show: `config/a.yml`, `(data-value arg)`.
    pub fn new(name: impl Into<String>, text: impl Into<Str>) -> Source {
        Source {
            name: name.into(),
            place: None,
            origin: Origin::File,
            text: text.into(),
            lines_before: 0,
            readers: Readers::default(),
            line_starts: OnceLock::new(),
            blocks: OnceLock::new(),
            outline: OnceLock::new(),
            listing: RwLock::default(),
            hidden: RwLock::default(),
        }
    }

    /// Sets where it comes from.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Source {
        Source { origin, ..self }
    }

    /// Sets the path to open it, which may differ from the name in messages.
    #[must_use]
    pub fn with_place(self, place: Option<impl Into<String>>) -> Source {
        Source { place: place.map(Into::into), ..self }
    }

    /// Sets the functions that find values and tokens in its text.
    #[must_use]
    pub fn with_readers(self, readers: Readers) -> Source {
        Source { readers, ..self }
    }

    /// A text that is part of this source, such as a string in a YAML file. Its first line has the
    /// number `first_line`.
    pub fn embedded(&self, text: impl Into<Str>, first_line: u32) -> Source {
        Source {
            place: self.place.clone(),
            lines_before: first_line.saturating_sub(1),
            readers: self.readers,
            origin: Origin::Code,
            ..Source::new(self.name.clone(), text)
        }
    }

    /// The name as messages show it; empty for the YAML in a flag, for which ytt has no name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name, or that of the source that contains it.
    pub fn full_name(&self) -> &str {
        if self.name.is_empty() { self.place() } else { &self.name }
    }

    /// The path from the working directory to open it, or the full name.
    pub fn place(&self) -> &str {
        self.place.as_deref().unwrap_or(&self.name)
    }

    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether it is part of a flag or variable and has no name itself.
    pub fn is_nameless(&self) -> bool {
        self.name.is_empty()
    }

    /// The bytes as they were read.
    pub fn text(&self) -> &Str {
        &self.text
    }

    /// The line of a byte offset, counted from 1.
    pub fn line(&self, offset: u32) -> u32 {
        self.lines_before + self.line_starts().partition_point(|&start| start <= offset) as u32
    }

    /// Line and column of an offset, both counted from 1; columns are characters.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.line_start(line).unwrap_or_default() as usize;
        let end = (offset as usize).clamp(start, self.text.len().max(start));
        (line, self.characters(start..end) + 1)
    }

    /// The number of characters in a range. Many errors can be on one long line, so longer texts
    /// are counted only once.
    fn characters(&self, range: Range<usize>) -> u32 {
        if range.len() <= BLOCK {
            return characters(&self.text[range]);
        }
        let blocks = self.blocks.get_or_init(|| {
            let mut sums = vec![0];
            for block in self.text.chunks(BLOCK) {
                sums.push(sums[sums.len() - 1] + characters(block));
            }
            sums
        });
        let until = |end: usize| blocks[end / BLOCK] + characters(&self.text[end / BLOCK * BLOCK..end]);
        until(range.end) - until(range.start)
    }

    /// Where a line (counted from 1) begins, in bytes.
    pub fn line_start(&self, line: u32) -> Option<u32> {
        let line = line.checked_sub(self.lines_before)?.checked_sub(1)?;
        self.line_starts().get(line as usize).copied()
    }

    /// The bytes of a line (counted from 1), without its line feed.
    pub fn line_range(&self, line: u32) -> Option<Range<usize>> {
        let start = self.line_start(line)? as usize;
        let end = self.line_start(line + 1).map_or(self.text.len(), |next| next as usize - 1);
        Some(start..end)
    }

    /// The bytes of the line of an offset, without its line feed. Reads nothing else, so that a
    /// warning about a large file does not cost an index of its lines.
    fn line_around(&self, offset: u32) -> Range<usize> {
        let at = self.text.len().min(offset as usize);
        let start = self.text[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
        let end = self.text[at..].iter().position(|byte| *byte == b'\n').map_or(self.text.len(), |feed| at + feed);
        start..end
    }

    /// The text of a line (counted from 1) without its line feed; invalid UTF-8 is replaced. It may
    /// contain secrets: messages show [`Source::shown_line`].
    pub fn line_text(&self, line: u32) -> Option<String> {
        Some(String::from_utf8_lossy(&self.text[self.line_range(line)?]).into_owned())
    }

    /// A line (counted from 1) for messages: secrets are replaced.
    pub fn shown_line(&self, line: u32) -> Option<String> {
        Some(self.shown(self.line_range(line)?))
    }

    /// The whole text for messages: secrets are replaced.
    pub fn shown_text(&self) -> String {
        self.shown_whole(0..self.text.len())
    }

    /// The bytes that an excerpt shows of the line of an offset: all of it, or the part around the
    /// offset if the line is long.
    pub fn window(&self, offset: u32) -> Option<Range<usize>> {
        let Range { start, end } = self.line_range(self.line(offset))?;
        if end - start <= LONG_LINE {
            return Some(start..end);
        }
        let is_inside = |at: &usize| self.text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let boundary = |at: usize| (at..end).find(|at| !is_inside(at)).unwrap_or(end);
        let around = offset as usize;
        let from = around.saturating_sub(LONG_LINE / 2).clamp(start, end - LONG_LINE);
        Some(if from == start { start } else { boundary(from) }..boundary(from + LONG_LINE))
    }

    /// A part of the text with secrets replaced; a very long one is cut.
    pub fn shown(&self, range: Range<usize>) -> String {
        // In a text template with invalid UTF-8, positions count the replaced characters and can be
        // past the end.
        let range = range.start.min(self.text.len())..range.end.min(self.text.len());
        if range.len() <= MAX_EXCERPT {
            return self.shown_whole(range);
        }
        let is_inside = |at: &usize| self.text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
        let cut = (range.start..=range.start + MAX_EXCERPT).rev().find(|at| !is_inside(at)).unwrap_or(range.start);
        format!("{}… ({} bytes more)", self.shown_whole(range.start..cut), range.end - cut)
    }

    fn shown_whole(&self, range: Range<usize>) -> String {
        let mut out = String::new();
        let mut copied = range.start;
        for hidden in self.hidden_in(range.clone()) {
            out.push_str(&String::from_utf8_lossy(&self.text[copied..hidden.start]));
            out.push_str(REDACTED);
            copied = hidden.end;
        }
        out.push_str(&String::from_utf8_lossy(&self.text[copied..range.end]));
        out
    }

    /// The secret ranges within a range, cut to it.
    pub fn hidden_in(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let hidden = self.hidden.read().unwrap_or_else(PoisonError::into_inner);
        let first = hidden.partition_point(|hidden| hidden.end as usize <= range.start);
        let inside = hidden[first..].iter().take_while(|hidden| (hidden.start as usize) < range.end);
        inside.map(|hidden| (hidden.start as usize).max(range.start)..(hidden.end as usize).min(range.end)).collect()
    }

    /// A copy of the source, for a layer to change.
    fn copy(&self) -> Source {
        Source {
            place: self.place.clone(),
            origin: self.origin,
            lines_before: self.lines_before,
            readers: self.readers,
            listing: RwLock::new(self.listing()),
            hidden: RwLock::new(self.hidden.read().unwrap_or_else(PoisonError::into_inner).clone()),
            ..Source::new(self.name.clone(), self.text.clone())
        }
    }

    /// Hides ranges from now on.
    pub(crate) fn hide(&self, ranges: impl IntoIterator<Item = Range<u32>>) {
        let end = self.text.len() as u32;
        let ranges = ranges.into_iter().map(|range| range.start.min(end)..range.end.min(end));
        let mut hidden = self.hidden.write().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Range<u32>> = std::mem::take(&mut *hidden).into_iter().chain(ranges).collect();
        all.retain(|range| range.start < range.end);
        all.sort_by_key(|range| range.start);
        for range in all {
            match hidden.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => hidden.push(range),
            }
        }
    }

    /// The range of a part at an offset: a value, a key, a token. `None` if a part that must exist
    /// does not.
    pub fn part(&self, offset: u32, part: &Part) -> Option<Range<u32>> {
        crate::outline::range_of(self, offset, part)
    }

    /// The keys and values of its text.
    pub fn outline(&self) -> &Outline {
        self.outline.get_or_init(|| (self.readers.outline)(&self.text))
    }

    /// The token at an offset.
    pub(crate) fn token(&self, offset: u32) -> Range<u32> {
        (self.readers.token)(&self.text, offset)
    }

    pub(crate) fn listing(&self) -> Option<Arc<Listing>> {
        self.listing.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn line_starts(&self) -> &[u32] {
        self.line_starts.get_or_init(|| {
            let mut starts = vec![0];
            for (chunk, bytes) in self.text.chunks(CHUNK).enumerate() {
                if has_line_feed(bytes) {
                    let feeds = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
                    starts.extend(feeds.map(|(at, _)| (chunk * CHUNK + at) as u32 + 1));
                }
            }
            starts
        })
    }
}

/// The bytes that are searched for a line feed at once.
const CHUNK: usize = 8;

/// Whether one of at most eight bytes is a line feed, without looking at each: the line of one
/// position in 500 kB of YAML takes 1 M instructions instead of 8.
fn has_line_feed(bytes: &[u8]) -> bool {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let Ok(bytes) = <[u8; CHUNK]>::try_from(bytes) else { return true };
    // A byte that is a line feed becomes 0, and only a byte that is 0 borrows into its highest bit.
    let word = u64::from_le_bytes(bytes) ^ (LOW * u64::from(b'\n'));
    word.wrapping_sub(LOW) & !word & (LOW << 7) != 0
}

/// The number of characters in a text: counts the bytes that begin one.
fn characters(text: &[u8]) -> u32 {
    text.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u32
}

/// All inputs of a run. Inputs can be added during the run: text that a template decodes, values of
/// flags.
///
/// Runs that share files share their sources: each has a separate layer over them
/// ([`Sources::over`]), which ends with the run.
#[derive(Default, Debug)]
pub struct Sources {
    /// The shared sources, if this is a layer.
    base: Option<Arc<Sources>>,
    own: RwLock<Vec<Arc<Source>>>,
    /// Sources of the base in which this layer hides more ranges.
    changed: RwLock<HashMap<FileId, Arc<Source>>>,
}

/// A bit that is set in the ids of sources of a layer.
const LAYER: u32 = 1 << 31;

impl Sources {
    /// No sources yet.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Their number, without those of the base.
    pub fn len(&self) -> usize {
        self.own.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A layer over shared sources. Adding or hiding here does not affect them.
    pub fn over(base: &Arc<Sources>) -> Sources {
        Sources { base: Some(base.clone()), ..Sources::default() }
    }

    /// The id of the source that will be added next.
    pub fn next_id(&self) -> FileId {
        let number = self.len() as u32;
        FileId(if self.base.is_some() { LAYER | number } else { number })
    }

    /// Adds a source and returns its id.
    pub fn add(&self, source: Source) -> FileId {
        let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
        own.push(Arc::new(source));
        let number = own.len() as u32 - 1;
        FileId(if self.base.is_some() { LAYER | number } else { number })
    }

    /// Adds a source that belongs to a shared file, to the base.
    pub fn add_shared(&self, source: Source) -> FileId {
        match &self.base {
            Some(base) => base.add_shared(source),
            None => self.add(source),
        }
    }

    /// The source with this id, if there is one.
    pub fn get(&self, file: FileId) -> Option<Arc<Source>> {
        let own = || self.own.read().unwrap_or_else(PoisonError::into_inner);
        match &self.base {
            None => own().get(file.0 as usize).cloned(),
            Some(_) if file.0 & LAYER != 0 => own().get((file.0 & !LAYER) as usize).cloned(),
            Some(base) => {
                let changed = self.changed.read().unwrap_or_else(PoisonError::into_inner);
                changed.get(&file).cloned().or_else(|| base.get(file))
            }
        }
    }

    /// Adds the sources of a layer over these, including what it hides. Returns a function that
    /// maps positions in the layer to the new ones.
    pub fn absorb(&self, layer: &Sources) -> impl Fn(Pos) -> Pos + use<> {
        let mut names: HashMap<FileId, FileId> = HashMap::new();
        let mut adopt = |old: FileId, source: &Arc<Source>| {
            let mut own = self.own.write().unwrap_or_else(PoisonError::into_inner);
            own.push(source.clone());
            let number = own.len() as u32 - 1;
            names.insert(old, FileId(if self.base.is_some() { LAYER | number } else { number }));
        };
        for (number, source) in layer.own.read().unwrap_or_else(PoisonError::into_inner).iter().enumerate() {
            adopt(FileId(LAYER | number as u32), source);
        }
        for (old, source) in layer.changed.read().unwrap_or_else(PoisonError::into_inner).iter() {
            adopt(*old, source);
        }
        move |pos| names.get(&pos.file).map_or(pos, |file| Pos::new(*file, pos.offset))
    }

    /// Hides ranges of a source from now on.
    pub fn hide(&self, file: FileId, ranges: impl IntoIterator<Item = Range<u32>>) {
        let Some(source) = self.get(file) else { return };
        if self.base.is_none() || file.0 & LAYER != 0 {
            return source.hide(ranges);
        }
        let mut changed = self.changed.write().unwrap_or_else(PoisonError::into_inner);
        changed.entry(file).or_insert_with(|| Arc::new(source.copy())).hide(ranges);
    }

    /// Sets how ytt's messages list the lines of a source.
    pub fn set_listing(&self, file: FileId, listing: Listing) {
        if let Some(source) = self.get(file) {
            *source.listing.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(listing));
        }
    }

    /// The source position for a position in a program.
    pub fn source_place(&self, pos: Pos) -> Pos {
        let listing = self.get(pos.file).and_then(|source| source.listing());
        listing.map_or(pos, |listing| listing.source_place(pos))
    }

    /// `file:line` as ytt's messages show it; `?` if the position is unknown. Text without a name
    /// has only a line.
    pub fn locate(&self, pos: Pos) -> String {
        self.locate_as(pos, PlaceNames::Reference)
    }

    /// `file:line`, with the given naming.
    pub fn locate_as(&self, pos: Pos, names: PlaceNames) -> String {
        let Some(source) = self.get(pos.file) else { return "?".to_owned() };
        let line = source.line(pos.offset);
        let name = match names {
            PlaceNames::Reference => source.name(),
            PlaceNames::Full => source.place(),
        };
        if name.is_empty() { line.to_string() } else { format!("{name}:{line}") }
    }

    /// The line of a position, counted from 1; 0 if it is unknown.
    pub fn line(&self, pos: Pos) -> u32 {
        self.get(pos.file).map_or(0, |source| source.line(pos.offset))
    }

    /// The text of the line that a position is on. It may contain secrets.
    pub fn line_text(&self, pos: Pos) -> Option<String> {
        let source = self.get(pos.file)?;
        Some(String::from_utf8_lossy(&source.text[source.line_around(pos.offset)]).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_past_the_end_shows_what_there_is() {
        let source = Source::new("a.txt", *b"ab");
        assert_eq!((source.shown(1..9), source.shown(5..9)), ("b".to_owned(), String::new()));
    }

    #[test]
    fn lines_begin_after_line_feeds() {
        for text in [
            "",
            "\n",
            "a",
            "a\nb",
            "1234567\n",
            "12345678\n9\n\n",
            "\u{b}\t\u{1}\n\u{8a}\r\n\n\n\n\n\n\n\n\nx\n0123456789",
        ] {
            let source = Source::new("", text.as_bytes());
            let expected: Vec<u32> =
                std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at as u32 + 1)).collect();
            assert_eq!(source.line_starts(), expected, "{text:?}");
            let sources = Sources::new();
            let file = sources.add(Source::new("", text.as_bytes()));
            for offset in 0..=text.len() as u32 {
                let line = source.line_text(source.line(offset));
                assert_eq!(sources.line_text(Pos::new(file, offset)), line, "{text:?} at {offset}");
            }
        }
    }

    fn add(sources: &Sources, name: &str, text: impl Into<Vec<u8>>) -> Arc<Source> {
        let file = sources.add(Source::new(name, text.into()));
        sources.get(file).unwrap()
    }

    #[test]
    fn windows_of_long_lines_are_cut() {
        let text = format!("short\n{}x{}\nend", "é".repeat(400), "-".repeat(300));
        let source = add(&Sources::new(), "a.yml", text);
        let excerpt = |offset| source.shown(source.window(offset).unwrap());
        assert_eq!(excerpt(2), "short");
        assert_eq!(excerpt(6), "é".repeat(LONG_LINE / 2));
        let half = LONG_LINE / 2;
        assert_eq!(excerpt(806), format!("{}x{}", "é".repeat(half / 2), "-".repeat(half - 1)));
        assert_eq!(excerpt(1106), "-".repeat(LONG_LINE));
        assert_eq!(excerpt(1108), "end");
    }

    #[test]
    fn finds_lines_and_columns() {
        let sources = Sources::new();
        let file = sources.add(Source::new("a.yml", *b"\xc3\xa9b\ncd\n"));
        let source = sources.get(file).unwrap();
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(2), (1, 2));
        assert_eq!(source.line_column(5), (2, 2));
        assert_eq!(source.line_text(2).as_deref(), Some("cd"));
        assert_eq!(source.line_text(3).as_deref(), Some(""));
        assert_eq!(source.line_text(4), None);
        assert_eq!(sources.locate(Pos::new(file, 4)), "a.yml:2");
        assert_eq!(sources.locate(Pos::UNKNOWN), "?");
    }

    #[test]
    fn finds_columns_in_long_lines() {
        let text = format!("a\n{}", "é-".repeat(10_000));
        let source = Source::new("a.yml", text.as_bytes());
        for pairs in [0, 1, 2000, 9999, 10_000] {
            assert_eq!(source.line_column(2 + 3 * pairs), (2, 1 + 2 * pairs));
        }
    }

    #[test]
    fn embedded_texts_continue_line_numbers() {
        let outer = Source::new("a.yml", *b"").with_place(Some("config/a.yml"));
        let source = outer.embedded(*b"ab\ncd", 7);
        assert_eq!((source.name(), source.place()), ("a.yml", "config/a.yml"));
        assert_eq!(source.line_column(4), (8, 2));
        assert_eq!(source.line_text(8).as_deref(), Some("cd"));
        assert_eq!(source.line_text(1), None);
    }

    #[test]
    fn layers_do_not_change_their_base() {
        let base = Arc::new(Sources::new());
        let file = base.add(Source::new("a.yml", *b"key: hush\n"));
        let (one, other) = (Sources::over(&base), Sources::over(&base));
        one.hide(file, std::iter::once(5..9));
        let own = one.add(Source::new("flag", *b"x"));
        let late = one.add_shared(Source::new("b.yml", *b"b"));
        let line = |sources: &Sources, file| sources.get(file).and_then(|source| source.shown_line(1));
        assert_eq!(line(&one, file).as_deref(), Some("key: <redacted>"));
        assert_eq!(line(&other, file).as_deref(), Some("key: hush"));
        assert_eq!((line(&one, own).as_deref(), line(&other, own)), (Some("x"), None));
        assert_eq!(line(&other, late).as_deref(), Some("b"));
        one.hide(own, std::iter::once(0..1));
        assert_eq!(line(&one, own).as_deref(), Some("<redacted>"));
        assert_eq!(line(&one, Pos::UNKNOWN.file), None);
    }

    #[test]
    fn hidden_ranges_are_replaced() {
        let source = Source::new("a.yml", *b"user: me\nkey: hush\nblock: |\n  one\n  two\nend: 1\n");
        source.hide([14..18, 26..39, 0..0]);
        assert_eq!(source.shown_line(1).as_deref(), Some("user: me"));
        assert_eq!(source.shown_line(2).as_deref(), Some("key: <redacted>"));
        assert_eq!(source.shown_line(3).as_deref(), Some("block: <redacted>"));
        assert_eq!(source.shown_line(4).as_deref(), Some("<redacted>"));
        assert_eq!(source.shown_line(6).as_deref(), Some("end: 1"));
        source.hide(std::iter::once(10..16));
        assert_eq!(source.shown_line(2).as_deref(), Some("k<redacted>"));
    }
}
