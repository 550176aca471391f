//! YAML as ytt writes it: block style, two spaces, arrays in the column of their key, lines never
//! folded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ytterby_text::gofloat::format_g;
use ytterby_text::{Str, budget, push_int};

use super::Sink;
use super::layout::{double, literal, single, spaces};
use super::style::{Quoting, is_surely_plain, push, push_window, quoting, write_plain};
use crate::{ComplexKey, Scalar};

/// Longest key, in bytes, that is written on one line before its `:`.
const LONGEST_SIMPLE_KEY: usize = 128;
/// `!!binary` is broken into lines of this length.
const BINARY_LINE: usize = 70;

/// Writes documents, joined by `---`.
///
/// ```
/// use ytterby_yaml::{Scalar, Sink, write::YamlWriter};
/// let mut yaml = YamlWriter::new();
/// yaml.document();
/// yaml.begin_map(1);
/// yaml.key(&Scalar::from("on"));
/// yaml.scalar(&Scalar::Bool(true));
/// yaml.end_map();
/// assert_eq!(yaml.finish(), b"\"on\": true\n");
/// ```
#[derive(Debug, Default)]
pub struct YamlWriter {
    out: Vec<u8>,
    levels: Vec<Level>,
    /// The content of the current line.
    line: LineContent,
    written: bool,
}

/// Where a writer is. Values that are written at equal points have equal texts, whatever comes
/// before them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WritePoint {
    level: Option<Level>,
    line: LineContent,
    /// Whether a document that begins here has one before it.
    follows: bool,
}

/// An earlier end of the text of a writer.
#[derive(Clone, Copy, Debug)]
pub struct WriterMark {
    len: usize,
    line: LineContent,
    written: bool,
}

/// The text of a value, or of whole documents, that was written at some point, to be written again
/// at equal ones.
#[derive(Clone, Debug)]
pub struct WrittenValue {
    text: Box<[u8]>,
    line: LineContent,
    written: bool,
}

/// The text of items and collections that began at some point and have not ended, to be written
/// again at equal ones.
#[derive(Clone, Debug)]
pub struct WrittenStart {
    text: Box<[u8]>,
    line: LineContent,
    written: bool,
    levels: Box<[Level]>,
}

impl WrittenStart {
    /// How long the text is, in bytes.
    pub fn size(&self) -> usize {
        self.text.len()
    }
}

impl WriterMark {
    /// The mark in a text that begins `start` bytes later.
    #[must_use]
    pub fn since(self, start: usize) -> WriterMark {
        WriterMark { len: self.len - start, ..self }
    }

    /// The mark in a text that begins `start` bytes earlier.
    #[inline]
    #[must_use]
    pub fn after(self, start: usize) -> WriterMark {
        WriterMark { len: self.len + start, ..self }
    }
}

impl WrittenValue {
    /// How long the text is, in bytes.
    pub fn size(&self) -> usize {
        self.text.len()
    }
}

/// An open collection.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Level {
    indent: usize,
    array: bool,
}

/// The content of the current line, which decides what to write before a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum LineContent {
    /// Nothing.
    #[default]
    Empty,
    /// A key and its `:`.
    Key,
    /// A `-`, `?` or `:` and a space; an item of a collection may follow on the same line.
    Indicator,
    /// A value: the line is complete.
    Full,
}

impl YamlWriter {
    /// An empty writer.
    pub fn new() -> YamlWriter {
        YamlWriter::default()
    }

    /// Like [`YamlWriter::new`], with a capacity of `bytes`.
    pub fn with_capacity(bytes: usize) -> YamlWriter {
        // Some pieces are written longer than they are and then cut off.
        YamlWriter { out: Vec::with_capacity(bytes + 32), ..YamlWriter::default() }
    }

    /// Like [`YamlWriter::new`], with addresses for `bytes`, so that the text is not moved while it
    /// grows. The system provides memory when it is written to, so this costs nothing if the text
    /// is shorter.
    pub fn with_room(bytes: usize) -> YamlWriter {
        let mut out = Vec::new();
        // Where addresses are scarce, too, the text grows as usual.
        let _ = out.try_reserve_exact(bytes);
        YamlWriter { out, ..YamlWriter::default() }
    }

    /// The number of bytes written so far.
    pub fn written(&self) -> usize {
        self.out.len()
    }

    /// The output.
    pub fn finish(mut self) -> Vec<u8> {
        self.end_line();
        self.out
    }

    /// Where the writer is.
    pub fn point(&self) -> WritePoint {
        let level = self.levels.last().copied();
        WritePoint { level, line: self.line, follows: level.is_none() && self.written }
    }

    /// The output after the first `start` bytes: one value, or whole documents.
    pub fn written_since(&self, start: usize) -> WrittenValue {
        WrittenValue { text: self.out[start..].into(), line: self.line, written: self.written }
    }

    /// Writes what was written at a point equal to this one.
    ///
    /// ```
    /// use ytterby_yaml::{Scalar, Sink, write::YamlWriter};
    /// let mut yaml = YamlWriter::new();
    /// yaml.document();
    /// yaml.begin_array(3);
    /// yaml.scalar(&Scalar::from("a"));
    /// let (point, start) = (yaml.point(), yaml.written());
    /// yaml.scalar(&Scalar::from("on"));
    /// let value = yaml.written_since(start);
    /// assert_eq!(yaml.point(), point);
    /// yaml.repeat(&value);
    /// yaml.end_array();
    /// assert_eq!(yaml.finish(), b"- a\n- \"on\"\n- \"on\"\n");
    /// ```
    pub fn repeat(&mut self, value: &WrittenValue) {
        self.out.extend_from_slice(&value.text);
        self.line = value.line;
        self.written |= value.written;
    }

    /// The number of open collections with items.
    #[inline]
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// The output after the first `start` bytes: items and collections that began when `depth`
    /// collections were open.
    pub fn started_since(&self, start: usize, depth: usize) -> WrittenStart {
        let (text, levels) = (self.out[start..].into(), self.levels[depth..].into());
        WrittenStart { text, line: self.line, written: self.written, levels }
    }

    /// Writes what began at a point equal to this one.
    ///
    /// ```
    /// use ytterby_yaml::{Scalar, Sink, write::YamlWriter};
    /// let mut yaml = YamlWriter::new();
    /// yaml.document();
    /// yaml.begin_array(2);
    /// let (point, start, depth) = (yaml.point(), yaml.written(), yaml.depth());
    /// yaml.begin_map(1);
    /// yaml.key(&Scalar::from("a"));
    /// let started = yaml.started_since(start, depth);
    /// yaml.scalar(&Scalar::Int(1));
    /// yaml.end_map();
    /// assert_ne!(yaml.point(), point);
    /// let (point, start, depth) = (yaml.point(), yaml.written(), yaml.depth());
    /// yaml.begin_map(1);
    /// yaml.key(&Scalar::from("a"));
    /// let started = yaml.started_since(start, depth);
    /// yaml.scalar(&Scalar::Int(2));
    /// yaml.end_map();
    /// assert_eq!(yaml.point(), point);
    /// yaml.repeat_start(&started);
    /// yaml.scalar(&Scalar::Int(3));
    /// yaml.end_map();
    /// yaml.end_array();
    /// assert_eq!(yaml.finish(), b"- a: 1\n- a: 2\n- a: 3\n");
    /// ```
    #[inline]
    pub fn repeat_start(&mut self, started: &WrittenStart) {
        self.out.extend_from_slice(&started.text);
        self.levels.extend_from_slice(&started.levels);
        self.line = started.line;
        self.written |= started.written;
    }

    /// Adds the documents that another writer wrote.
    ///
    /// ```
    /// use ytterby_yaml::{Scalar, Sink, write::YamlWriter};
    /// let mut yaml = YamlWriter::new();
    /// yaml.document();
    /// yaml.scalar(&Scalar::from("a"));
    /// yaml.add_documents(b"b\n---\nc\n");
    /// assert_eq!(yaml.finish(), b"a\n---\nb\n---\nc\n");
    /// ```
    pub fn add_documents(&mut self, text: &[u8]) {
        if !text.is_empty() {
            self.document();
            self.out.extend_from_slice(text);
        }
    }

    /// The current end of the text, for [`YamlWriter::return_to`].
    pub fn mark(&self) -> WriterMark {
        WriterMark { len: self.out.len(), line: self.line, written: self.written }
    }

    /// Removes what was written since a mark, if all collections that began since then have ended.
    ///
    /// ```
    /// use ytterby_yaml::{Scalar, Sink, write::YamlWriter};
    /// let mut yaml = YamlWriter::new();
    /// yaml.document();
    /// yaml.begin_map(1);
    /// yaml.key(&Scalar::from("a"));
    /// let mark = yaml.mark();
    /// yaml.scalar(&Scalar::Int(1));
    /// yaml.return_to(mark);
    /// yaml.scalar(&Scalar::Int(2));
    /// yaml.end_map();
    /// assert_eq!(yaml.finish(), b"a: 2\n");
    /// ```
    pub fn return_to(&mut self, mark: WriterMark) {
        self.out.truncate(mark.len);
        self.line = mark.line;
        self.written = mark.written;
    }

    /// Writes a key like [`Sink::key`], if [`is_plain`] says that it needs no quotes.
    #[inline]
    pub fn plain_key(&mut self, key: &Str) {
        self.begin_item();
        push(&mut self.out, key);
        self.out.push(b':');
        self.line = LineContent::Key;
    }

    /// Writes a string like [`Sink::scalar`], if [`is_plain`] says that it needs no quotes.
    #[inline]
    pub fn plain_scalar(&mut self, text: &Str) {
        self.begin_value();
        push(&mut self.out, text);
        self.line = LineContent::Full;
    }

    #[inline]
    fn end_line(&mut self) {
        if self.line != LineContent::Empty {
            self.out.push(b'\n');
            self.line = LineContent::Empty;
        }
    }

    fn indent(&self) -> usize {
        self.levels.last().map_or(0, |level| level.indent)
    }

    /// Goes to the start of an item of the innermost collection: after an indicator, or on a new
    /// line.
    #[inline]
    fn begin_item(&mut self) {
        /// A line break and indentation, written in one piece.
        const BREAK: [u8; 32] = *b"\n                               ";
        let indent = self.indent();
        match self.line {
            LineContent::Indicator => return,
            LineContent::Key | LineContent::Full if indent < BREAK.len() => {
                push_window(&mut self.out, &BREAK, 1 + indent)
            }
            _ => {
                self.end_line();
                spaces(indent, &mut self.out);
            }
        }
        self.line = LineContent::Empty;
    }

    /// Writes the separator between a value and the text before it.
    #[inline]
    fn begin_value(&mut self) {
        match self.levels.last() {
            Some(level) if level.array => {
                self.begin_item();
                self.out.extend_from_slice(b"- ");
                self.line = LineContent::Indicator;
            }
            _ if self.line == LineContent::Key => self.out.push(b' '),
            _ => {}
        }
    }

    fn begin(&mut self, len: usize, array: bool) {
        if len == 0 {
            self.begin_value();
            self.out.extend_from_slice(if array { b"[]" } else { b"{}" });
            self.line = LineContent::Full;
            self.levels.push(Level { indent: 0, array });
            return;
        }
        if self.levels.last().is_some_and(|level| level.array) {
            self.begin_value();
        }
        let indent = match self.levels.last() {
            None => 0,
            // An array is in the column of its key, unless it begins on the line of a lone `:`.
            Some(level) if array && self.line == LineContent::Key => level.indent,
            Some(level) => level.indent + 2,
        };
        // Indentation can be most of the output: maps of 10,000 levels in 50 kB make 100 MB.
        budget::or_unwind(budget::text(len.saturating_mul(indent + 8)));
        self.levels.push(Level { indent, array });
    }

    /// Writes a collection that is a key, or part of one. The reference keeps array items in a
    /// structure there, which its output shows: see tests/cases/own/yaml-keys.
    #[cold]
    fn complex(&mut self, key: &ComplexKey) {
        match key {
            ComplexKey::Map(items) => {
                self.begin_map(items.len());
                for (key, value) in items {
                    self.key(key);
                    self.part_of_key(value);
                }
                self.end_map();
            }
            ComplexKey::Array(items) => {
                self.begin_array(items.len());
                for (value, line) in items {
                    self.begin_map(2);
                    self.key(&Scalar::from("value"));
                    self.part_of_key(value);
                    self.key(&Scalar::from("line"));
                    self.scalar(&Scalar::Int(i64::from(*line)));
                    self.end_map();
                }
                self.end_array();
            }
        }
    }

    fn part_of_key(&mut self, value: &Scalar) {
        match value {
            Scalar::Complex(collection) => self.complex(collection),
            leaf => self.scalar(leaf),
        }
    }

    /// Writes a key or a leaf.
    #[inline]
    fn text(&mut self, value: &Scalar) {
        // The lines of a scalar are indented deeper than the enclosing collection.
        let indent = self.indent() + 2;
        let ended = match value {
            Scalar::Str(text) => !write_plain(text, &mut self.out) && quoted(text, indent, &mut self.out),
            value => scalar(value, indent, &mut self.out),
        };
        self.line = if ended { LineContent::Empty } else { LineContent::Full };
    }
}

impl Sink for YamlWriter {
    fn document(&mut self) {
        self.end_line();
        if std::mem::replace(&mut self.written, true) {
            self.out.extend_from_slice(b"---\n");
        }
    }

    fn begin_map(&mut self, len: usize) {
        self.begin(len, false);
    }

    #[inline]
    fn key(&mut self, key: &Scalar) {
        self.begin_item();
        if let Scalar::Str(text) = key {
            if text.len() > LONGEST_SIMPLE_KEY {
                budget::or_unwind(budget::text(text.len()));
            } else if write_plain(text, &mut self.out) {
                self.out.push(b':');
                self.line = LineContent::Key;
                return;
            }
        }
        if is_simple_key(key) {
            self.text(key);
            self.out.push(b':');
            self.line = LineContent::Key;
            return;
        }
        self.out.extend_from_slice(b"? ");
        match key {
            Scalar::Complex(key) => {
                self.line = LineContent::Indicator;
                self.complex(key);
            }
            key => self.text(key),
        }
        self.end_line();
        let indent = self.indent();
        spaces(indent, &mut self.out);
        self.out.extend_from_slice(b": ");
        self.line = LineContent::Indicator;
    }

    fn end_map(&mut self) {
        self.levels.pop();
    }

    fn begin_array(&mut self, len: usize) {
        self.begin(len, true);
    }

    fn end_array(&mut self) {
        self.levels.pop();
    }

    #[inline]
    fn scalar(&mut self, value: &Scalar) {
        self.begin_value();
        self.text(value);
    }
}

/// Whether a string can be written by [`YamlWriter::plain_key`] and [`YamlWriter::plain_scalar`],
/// so that it need not be looked at each time that it is written.
///
/// ```
/// use ytterby_yaml::write::is_plain;
/// assert!(is_plain(&"name".into()));
/// assert!(!is_plain(&"on".into()));
/// ```
pub fn is_plain(text: &Str) -> bool {
    text.len() <= LONGEST_SIMPLE_KEY && is_surely_plain(text)
}

/// Whether a key can be written before its `:`: it is short and has one line.
#[inline]
fn is_simple_key(key: &Scalar) -> bool {
    let text = match key {
        Scalar::Str(text) => text,
        Scalar::Complex(key) => return key.is_empty(),
        _ => return true,
    };
    if text.is_ascii() {
        return text.len() <= LONGEST_SIMPLE_KEY && !text.contains(&b'\n') && !text.contains(&b'\r');
    }
    match std::str::from_utf8(text) {
        Ok(text) => text.len() <= LONGEST_SIMPLE_KEY && !text.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']),
        // On one line it is shorter than the limit, including the tag.
        Err(_) => !binary(text).contains(&b'\n'),
    }
}

/// A scalar as YAML on one line: as ytt shows it in positions, and for other listings.
pub fn scalar_text(value: &Scalar) -> Vec<u8> {
    let mut out = Vec::new();
    if scalar(value, 2, &mut out) {
        out.pop();
    }
    out
}

/// Writes a scalar; returns whether it ended its line.
fn scalar(value: &Scalar, indent: usize, out: &mut Vec<u8>) -> bool {
    match value {
        Scalar::Null => out.extend_from_slice(b"null"),
        Scalar::Bool(true) => out.extend_from_slice(b"true"),
        Scalar::Bool(false) => out.extend_from_slice(b"false"),
        Scalar::Int(int) => push_int(out, *int),
        Scalar::UInt(int) => out.extend_from_slice(int.to_string().as_bytes()),
        Scalar::Float(float) if float.is_nan() => out.extend_from_slice(b".nan"),
        Scalar::Float(f64::INFINITY) => out.extend_from_slice(b".inf"),
        Scalar::Float(f64::NEG_INFINITY) => out.extend_from_slice(b"-.inf"),
        Scalar::Float(float) => out.extend_from_slice(format_g(*float).as_bytes()),
        Scalar::Str(text) => return !write_plain(text, out) && quoted(text, indent, out),
        Scalar::Complex(key) => in_brackets(key, out),
    }
    false
}

/// A collection that is a key, on one line.
#[cold]
fn in_brackets(key: &ComplexKey, out: &mut Vec<u8>) {
    let separate = |at: usize, out: &mut Vec<u8>| {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
    };
    let part = |value: &Scalar, out: &mut Vec<u8>| match value {
        Scalar::Str(text) if !text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(byte)) => {
            double(text, out);
        }
        value => {
            scalar(value, 0, out);
        }
    };
    match key {
        ComplexKey::Map(items) => {
            out.push(b'{');
            for (at, (key, value)) in items.iter().enumerate() {
                separate(at, out);
                part(key, out);
                out.extend_from_slice(b": ");
                part(value, out);
            }
            out.push(b'}');
        }
        ComplexKey::Array(items) => {
            out.push(b'[');
            for (at, (value, _)) in items.iter().enumerate() {
                separate(at, out);
                part(value, out);
            }
            out.push(b']');
        }
    }
}

/// Writes a string that is probably not plain; returns whether it ended its line.
fn quoted(text: &Str, indent: usize, out: &mut Vec<u8>) -> bool {
    if !text.is_ascii() && std::str::from_utf8(text).is_err() {
        out.extend_from_slice(b"!!binary ");
        let packed = binary(text);
        if packed.contains(&b'\n') {
            return literal(&packed, indent, out);
        }
        out.extend_from_slice(&packed);
        return false;
    }
    match quoting(text) {
        Quoting::Plain => out.extend_from_slice(text),
        Quoting::Single => single(text, indent, out),
        Quoting::Double => double(text, out),
        Quoting::Literal => return literal(text, indent, out),
    }
    false
}

/// Base64, split into lines if it does not fit on one.
fn binary(bytes: &[u8]) -> Vec<u8> {
    let packed = STANDARD.encode(bytes).into_bytes();
    if packed.len() < BINARY_LINE {
        return packed;
    }
    let mut lines = Vec::with_capacity(packed.len() + packed.len() / BINARY_LINE + 1);
    for line in packed.chunks(BINARY_LINE) {
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }
    lines
}
