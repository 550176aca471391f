//! Fast paths for lines like `name: value`, `name:` and `- value`, which most lines are, and for
//! common content of brackets.
//!
//! Everything else is left to the general code, which returns the same result: `parse_slowly` reads
//! without the fast paths, and the tests compare both. On the `big-file` workload the fast paths
//! save half of the instructions.

use ytterby_diag::Pos;

use super::BoxedReadError;
use super::parser::{CollectionKind, NodeRole, Parser};
use super::properties::Properties;
use crate::resolve::resolve_common;
use crate::tree::Style;
use crate::{MapItem, NodeId, Scalar, scan};

/// Can begin a scalar, is not an indicator, and no following text changes that.
const FIRST: u8 = 1;
/// Can be part of a key between brackets.
const KEY: u8 = 2;
/// Can be part of a value; `:` and `#` depend on their neighbours.
const VALUE: u8 = 4;
/// Can be part of a value between brackets.
const FLOW: u8 = 8;

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

/// The end of a key at `start` that has no blanks and is followed by `:`.
#[inline(always)]
fn key_end(text: &[u8], start: usize) -> Option<usize> {
    if class(text, start) & FIRST == 0 {
        return None;
    }
    let end = scan::find(text, start + 1, |word| word.is_below_or_beyond_ascii(b' ' + 1) | word.is(b':'));
    is_key(text, start, end).then_some(end)
}

/// The same between brackets, for keys of letters, digits and few other characters.
#[inline(always)]
fn flow_key_end(text: &[u8], start: usize) -> Option<usize> {
    if class(text, start) & FIRST == 0 {
        return None;
    }
    let mut end = start + 1;
    while class(text, end) & KEY != 0 {
        end += 1;
    }
    is_key(text, start, end).then_some(end)
}

/// Whether a text is followed by `:` and not too long for a key.
#[inline(always)]
fn is_key(text: &[u8], start: usize, end: usize) -> bool {
    matches!(text.get(end..end + 2), Some(b": " | b":\n")) && end - start <= 1000
}

/// The closing quote of the scalar that begins at `start`, if it has one line and no escapes.
#[inline(always)]
fn quote_end(text: &[u8], start: usize, quote: u8) -> Option<usize> {
    let end = if quote == b'"' {
        scan::find(text, start + 1, |word| word.is_below_or_beyond_ascii(b' ') | word.is(b'"') | word.is(b'\\'))
    } else {
        scan::find(text, start + 1, |word| word.is_below_or_beyond_ascii(b' ') | word.is(b'\''))
    };
    (text.get(end) == Some(&quote)).then_some(end)
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
        LineValue { end, next, content: scan::skip_spaces(text, next) }
    }
}

/// The end of a quoted scalar without escapes that ends with its line.
#[inline(always)]
fn quoted_line(text: &[u8], start: usize, quote: u8) -> Option<LineValue> {
    let end = quote_end(text, start, quote)?;
    (text.get(end + 1) == Some(&b'\n')).then(|| LineValue::ends(text, end + 1, end + 1))
}

/// The result of [`Parser::quick_line`].
pub(super) enum QuickLine {
    /// A key and its value, or the beginning of the map that is its value.
    Item,
    /// A key, and the beginning of the array that is its value.
    Array,
    /// Only a key.
    Key,
    /// Nothing.
    Nothing,
}

impl Parser<'_> {
    /// Reads a key without blanks that is in the column of its map and followed by `:`, and its
    /// value if it has a common form.
    #[inline(always)]
    pub(super) fn quick_line(&mut self) -> Result<QuickLine, BoxedReadError> {
        let start = self.at.pos;
        let text = self.at.text;
        if class(text, start) & FIRST == 0
            || self.at.column() as i32 != self.indent
            || !self.key_allowed
            || !self.quick
            || self.top().role != NodeRole::Key
        {
            return Ok(QuickLine::Nothing);
        }
        let Some(end) = key_end(text, start) else { return Ok(QuickLine::Nothing) };
        if text[start] == b'.' && self.at.at_document_marker() {
            return Ok(QuickLine::Nothing);
        }
        self.begin_quick_item(start, end);
        self.value_at = end + 1;
        if let Some(value) = self.quick_value(end + 1) {
            self.open_map_items.last_mut().expect("the item was begun").value = value;
            return Ok(QuickLine::Item);
        }
        let top = self.top();
        top.role = NodeRole::Value;
        top.merge = false;
        self.at.pos = end + 1;
        self.key_allowed = false;
        self.quick_collection()
    }

    /// Begins the item of a plain key.
    #[inline(always)]
    fn begin_quick_item(&mut self, start: usize, end: usize) {
        let comments = self.own_comments(start as u32, self.at.line);
        let pos = Pos::new(self.file, start as u32);
        match self.short_string(start, end) {
            Some(key) => self.open_map_items.push(MapItem { key, pos, value: NodeId(0), comments }),
            None => {
                let key = self.resolved_by_text(start, end);
                self.open_map_items.push(MapItem { key, pos, value: NodeId(0), comments });
            }
        }
    }

    /// Reads the value after a `:` if it ends with its line: a plain one, or one in quotes without
    /// escapes.
    #[inline(always)]
    fn quick_value(&mut self, colon_end: usize) -> Option<NodeId> {
        let text = self.at.text;
        let start = colon_end + 1;
        if text.get(colon_end) != Some(&b' ') {
            return None;
        }
        let (line, id) = match text.get(start) {
            Some(&quote @ (b'"' | b'\'')) => {
                let line = quoted_line(text, start, quote)?;
                let style = if quote == b'"' { Style::DoubleQuoted } else { Style::SingleQuoted };
                let id = self.quick_quoted_leaf(start, line.end, style);
                (line, id)
            }
            _ => {
                let line = self.plain_line_end(start)?;
                let id = self.quick_leaf(start, line.end);
                (line, id)
            }
        };
        self.go_to(line);
        Some(id)
    }

    /// Adds a plain scalar to the tree.
    #[inline(always)]
    fn quick_leaf(&mut self, start: usize, end: usize) -> NodeId {
        if let Some(value) = self.short_string(start, end) {
            return self.leaf(value, start, end, Style::Plain);
        }
        if let Some(value) = resolve_common(&self.at.text[start..end]) {
            return self.leaf(value, start, end, Style::Plain);
        }
        let value = self.resolved_by_text(start, end);
        self.leaf(value, start, end, Style::Plain)
    }

    /// Adds a quoted scalar without escapes to the tree.
    #[inline(always)]
    fn quick_quoted_leaf(&mut self, start: usize, end: usize, style: Style) -> NodeId {
        if let Some(text) = self.short_part(start + 1, end - 1) {
            return self.leaf(Scalar::Str(text), start, end, style);
        }
        let text = self.long_part(start + 1, end - 1);
        self.leaf(Scalar::Str(text), start, end, style)
    }

    /// Opens the collection that begins on the line below a key, if its first line has a simple
    /// form.
    #[inline(always)]
    fn quick_collection(&mut self) -> Result<QuickLine, BoxedReadError> {
        let text = self.at.text;
        if text.get(self.at.pos) != Some(&b'\n') {
            return Ok(QuickLine::Key);
        }
        let line = LineValue::ends(text, self.content_end, self.at.pos);
        let column = (line.content - line.next) as i32;
        if column >= self.indent && matches!(text.get(line.content..line.content + 2), Some(b"- ")) {
            self.go_to(line);
            let kind = if column == self.indent { CollectionKind::IndentlessArray } else { CollectionKind::BlockArray };
            self.push(kind, NodeRole::Item, self.at.pos, Properties::default())?;
            self.indent = column;
            return Ok(QuickLine::Array);
        }
        if column <= self.indent || key_end(text, line.content).is_none() {
            return Ok(QuickLine::Key);
        }
        self.go_to(line);
        self.push(CollectionKind::BlockMap, NodeRole::Key, self.at.pos, Properties::default())?;
        self.indent = column;
        Ok(QuickLine::Item)
    }

    /// Reads a plain value after `-` that ends with its line.
    #[inline]
    pub(super) fn quick_item(&mut self) -> bool {
        let start = self.at.pos + 1;
        if !self.quick || self.at.byte() != b' ' {
            return false;
        }
        let Some(line) = self.plain_line_end(start) else { return false };
        let id = self.quick_leaf(start, line.end);
        self.open_array_items.last_mut().expect("the item was begun").value = id;
        self.go_to(line);
        true
    }

    /// Opens the map that begins after `-`, if its first line has a simple form.
    #[inline]
    pub(super) fn quick_item_map(&mut self) -> Result<bool, BoxedReadError> {
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
            let stops = |word: scan::Word| word.is_below_or_beyond_ascii(b' ') | word.is(b':') | word.is(b'#');
            feed = scan::find(text, feed, stops);
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
        self.content_end = end;
        self.at.pos = stop;
        self.key_allowed = false;
        Some(match style {
            Style::Plain => self.quick_leaf(start, end),
            _ => self.quick_quoted_leaf(start, end, style),
        })
    }

    /// Reads a key between brackets that is followed by `: `; the cursor is then after the colon.
    #[inline]
    pub(super) fn quick_flow_key(&mut self) -> bool {
        let (text, start) = (self.at.text, self.at.pos);
        if !self.quick || start == self.at.line_start || !self.key_allowed {
            return false;
        }
        let Some(end) = flow_key_end(text, start).filter(|&end| text[end + 1] == b' ') else { return false };
        self.begin_quick_item(start, end);
        let top = self.top();
        top.role = NodeRole::Value;
        top.merge = false;
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
