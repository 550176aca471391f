//! Fast paths for lines like `name: value`, `name:` and `- value`, which most lines are, and for
//! common content of brackets.
//!
//! Everything else is left to the general code, which returns the same result: `parse_slowly` reads
//! without the fast paths, and the tests compare both. On the `big-file` workload the fast paths
//! save half of the instructions.

use super::Failure;
use super::parser::{CollectionKind, NodeRole, Parser};
use super::properties::Properties;
use crate::tree::{Style, Value};
use crate::{NodeId, Scalar};

/// Can begin a scalar, is not an indicator, and no following text changes that.
const FIRST: u8 = 1;
/// Can be part of a key.
const KEY: u8 = 2;
/// Can be part of a value; `:` and `#` depend on their neighbours.
const VALUE: u8 = 4;
/// Can be inside of quotes; each kind of quote ends at its own.
const QUOTED: u8 = 8;
/// Can be part of a value between brackets.
const FLOW: u8 = 16;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut at = 0x20;
    while at < 0x7F {
        let byte = at as u8;
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'.' | b'$' | b'(' | b'+' | b'^' | b'~') {
            classes[at] |= FIRST;
        }
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/' | b'.' | b'-' | b'$') {
            classes[at] |= KEY;
        }
        if !matches!(byte, b':' | b'#') {
            classes[at] |= VALUE;
        }
        if !matches!(byte, b'"' | b'\'' | b'\\') {
            classes[at] |= QUOTED;
        }
        if !matches!(byte, b':' | b'#' | b',' | b'?' | b'[' | b']' | b'{' | b'}') {
            classes[at] |= FLOW;
        }
        at += 1;
    }
    classes
};

#[inline(always)]
fn class(text: &[u8], at: usize) -> u8 {
    text.get(at).map_or(0, |&byte| CLASSES[byte as usize])
}

/// The end of a key at `start` that consists of letters, digits and few other characters and is
/// followed by `:`.
#[inline(always)]
fn key_end(text: &[u8], start: usize) -> Option<usize> {
    if class(text, start) & FIRST == 0 {
        return None;
    }
    let mut end = start + 1;
    while class(text, end) & KEY != 0 {
        end += 1;
    }
    let is_key = matches!(text.get(end..end + 2), Some(b": " | b":\n")) && end - start <= 1000;
    is_key.then_some(end)
}

/// The closing quote of the scalar that begins at `start`, if it has one line and no escapes.
#[inline(always)]
fn quote_end(text: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut end = start + 1;
    loop {
        while class(text, end) & QUOTED != 0 {
            end += 1;
        }
        match text.get(end) {
            Some(&byte) if byte == quote => return Some(end),
            Some(b'"' | b'\'') => end += 1,
            Some(b'\\') if quote == b'\'' => end += 1,
            _ => return None,
        }
    }
}

/// A value that ends with its line.
struct LineValue {
    /// The end of the value.
    end: usize,
    /// Where the next line begins, and its first character that is not a space.
    next: usize,
    content: usize,
}

impl LineValue {
    /// The line whose text ends at `end`, at a line feed.
    #[inline(always)]
    fn ends(text: &[u8], end: usize, feed: usize) -> LineValue {
        let next = feed + 1;
        let mut content = next;
        while text.get(content) == Some(&b' ') {
            content += 1;
        }
        LineValue { end, next, content }
    }
}

impl Parser<'_> {
    /// Reads a key of letters, digits and few other characters, in the column of its map and
    /// followed by `:`.
    #[inline]
    pub(super) fn quick_key(&mut self) -> bool {
        let start = self.at.pos;
        let text = self.at.text;
        if class(text, start) & FIRST == 0
            || self.at.column() as i32 != self.indent
            || !self.key_allowed
            || !self.quick
            || self.top().role != NodeRole::Key
        {
            return false;
        }
        let Some(end) = key_end(text, start) else { return false };
        if text[start] == b'.' && self.at.at_document_marker() {
            return false;
        }
        self.begin_map_item(self.resolved(start, end), start, self.at.line, false);
        self.top().role = NodeRole::Value;
        self.at.pos = end + 1;
        self.value_at = end + 1;
        self.key_allowed = false;
        true
    }

    /// Reads a value that ends with its line: a plain one, or one in quotes without escapes.
    #[inline]
    pub(super) fn quick_value(&mut self) -> bool {
        let text = self.at.text;
        let start = self.at.pos + 1;
        if text.get(self.at.pos) != Some(&b' ') {
            return false;
        }
        let (line, value, style) = match text.get(start) {
            Some(&quote @ (b'"' | b'\'')) => {
                let Some(line) = self.quoted_line(start, quote) else { return false };
                let style = if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
                let value = Scalar::Str(self.part(start + 1, line.end - 1));
                (line, value, style)
            }
            _ => {
                let Some(line) = self.plain_line_end(start) else { return false };
                let value = self.resolved(start, line.end);
                (line, value, Style::Plain)
            }
        };
        let id = self.node(Value::Scalar(value), start, line.end, style);
        self.open_map_items.last_mut().expect("the item was begun").value = id;
        self.top().role = NodeRole::Key;
        self.go_to(line);
        true
    }

    /// Opens the map that begins on the line below a key, if its first line has a simple form.
    #[inline]
    pub(super) fn quick_map(&mut self) -> Result<bool, Failure> {
        let text = self.at.text;
        if text.get(self.at.pos) != Some(&b'\n') {
            return Ok(false);
        }
        let line = LineValue::ends(text, self.content_end, self.at.pos);
        let column = (line.content - line.next) as i32;
        if column <= self.indent || key_end(text, line.content).is_none() {
            return Ok(false);
        }
        self.go_to(line);
        self.push(CollectionKind::BlockMap, NodeRole::Key, self.at.pos, Properties::default())?;
        self.indent = column;
        Ok(true)
    }

    /// Reads a plain value after `-` that ends with its line.
    #[inline]
    pub(super) fn quick_item(&mut self) -> bool {
        let start = self.at.pos + 1;
        if !self.quick || self.at.byte() != b' ' {
            return false;
        }
        let Some(line) = self.plain_line_end(start) else { return false };
        let value = self.resolved(start, line.end);
        let id = self.node(Value::Scalar(value), start, line.end, Style::Plain);
        self.open_array_items.last_mut().expect("the item was begun").value = id;
        self.go_to(line);
        true
    }

    /// Opens the map that begins after `-`, if its first line has a simple form.
    #[inline]
    pub(super) fn quick_item_map(&mut self) -> Result<bool, Failure> {
        let start = self.at.pos + 1;
        if !self.quick || self.at.byte() != b' ' || key_end(self.at.text, start).is_none() {
            return Ok(false);
        }
        self.at.pos = start;
        self.push(CollectionKind::BlockMap, NodeRole::Key, start, Properties::default())?;
        self.indent = self.at.column() as i32;
        Ok(true)
    }

    /// The end of a plain scalar that ends with its line and does not continue on the next.
    #[inline(always)]
    fn plain_line_end(&self, start: usize) -> Option<LineValue> {
        let text = self.at.text;
        if class(text, start) & FIRST == 0 {
            return None;
        }
        let mut feed = start + 1;
        loop {
            while class(text, feed) & VALUE != 0 {
                feed += 1;
            }
            match text.get(feed) {
                Some(b'\n') => break,
                Some(b':') if class(text, feed + 1) & VALUE != 0 && text[feed + 1] != b' ' => feed += 1,
                Some(b'#') if text[feed - 1] != b' ' => feed += 1,
                _ => return None,
            }
        }
        let mut end = feed;
        while text[end - 1] == b' ' {
            end -= 1;
        }
        let line = LineValue::ends(text, end, feed);
        // It continues if the next line is indented deeper than the collection.
        let deeper = (line.content - line.next) as i32 > self.indent;
        if deeper || matches!(text.get(line.content), Some(b'\n' | b'\r' | b'\t' | 0x80..)) {
            return None;
        }
        Some(line)
    }

    /// The end of a quoted scalar without escapes that ends with its line.
    #[inline(always)]
    fn quoted_line(&self, start: usize, quote: u8) -> Option<LineValue> {
        let text = self.at.text;
        let end = quote_end(text, start, quote)?;
        (text.get(end + 1) == Some(&b'\n')).then(|| LineValue::ends(text, end + 1, end + 1))
    }

    /// Reads a scalar between brackets that is followed by a comma or by the closing bracket.
    #[inline]
    pub(super) fn quick_flow_scalar(&mut self, closing: u8) -> Option<NodeId> {
        let (text, start) = (self.at.text, self.at.pos);
        // At the beginning of a line it could be a document marker.
        if !self.quick || start == self.at.line_start {
            return None;
        }
        let (end, stop, style) = match *text.get(start)? {
            quote @ (b'"' | b'\'') => {
                let end = quote_end(text, start, quote)? + 1;
                (end, end, if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted })
            }
            byte if CLASSES[byte as usize] & FIRST != 0 => {
                let mut stop = start + 1;
                while class(text, stop) & FLOW != 0 {
                    stop += 1;
                }
                let mut end = stop;
                while text[end - 1] == b' ' {
                    end -= 1;
                }
                (end, stop, Style::Plain)
            }
            _ => return None,
        };
        let next = *text.get(stop)?;
        if next != b',' && next != closing {
            return None;
        }
        let value = match style {
            Style::Plain => self.resolved(start, end),
            _ => Scalar::Str(self.part(start + 1, end - 1)),
        };
        self.content_end = end;
        self.at.pos = stop;
        self.key_allowed = false;
        Some(self.node(Value::Scalar(value), start, end, style))
    }

    /// Reads a key between brackets that is followed by `: `; the cursor is then after the colon.
    #[inline]
    pub(super) fn quick_flow_key(&mut self) -> bool {
        let (text, start) = (self.at.text, self.at.pos);
        if !self.quick || start == self.at.line_start || !self.key_allowed {
            return false;
        }
        let Some(end) = key_end(text, start).filter(|&end| text[end + 1] == b' ') else { return false };
        self.begin_map_item(self.resolved(start, end), start, self.at.line, false);
        self.top().role = NodeRole::Value;
        self.at.pos = end + 1;
        self.value_at = end + 1;
        self.key_allowed = false;
        true
    }

    /// Continues after a value, at the first character of the next line.
    #[inline(always)]
    fn go_to(&mut self, line: LineValue) {
        self.content_end = line.end;
        self.at.line += 1;
        self.at.line_start = line.next;
        self.at.pos = line.content;
        self.key_allowed = true;
    }
}
