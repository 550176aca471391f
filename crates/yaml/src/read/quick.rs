//! The short way for lines like `name: value`, which most lines are.
//!
//! Whatever is not plainly of this form is left to the long way, which gives the same result. On the `big-file` workload
//! this saves a third of the instructions.

use super::parser::{Parser, Role};
use crate::resolve;
use crate::tree::{Style, Value};

/// Can begin a scalar without being an indicator, and nothing can follow it that changes that.
const FIRST: u8 = 1;
/// Can stand in a key.
const KEY: u8 = 2;
/// Can stand in a value; `:` and `#` depend on their neighbours.
const VALUE: u8 = 4;

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
        at += 1;
    }
    classes
};

impl Parser<'_> {
    /// Takes a key made of letters, digits and few other characters, in the column of its map and with `:` behind it.
    #[inline]
    pub(super) fn quick_key(&mut self) -> bool {
        let start = self.at.pos;
        let text = self.at.text;
        let class = |at: usize| text.get(at).map_or(0, |&byte| CLASSES[byte as usize]);
        if class(start) & FIRST == 0
            || self.at.column() as i32 != self.indent
            || !self.key_allowed
            || self.options.strict
            || self.top().role != Role::Key
        {
            return false;
        }
        let mut end = start + 1;
        while class(end) & KEY != 0 {
            end += 1;
        }
        if self.at.at(end) != b':' || !matches!(self.at.at(end + 1), b' ' | b'\n') || end - start > 1000 {
            return false;
        }
        if text[start] == b'.' && self.at.at_document_marker() {
            return false;
        }
        self.begin_map_item(resolve(&text[start..end]), start, self.at.line, false);
        self.top().role = Role::Value;
        self.at.pos = end + 1;
        self.value_at = end + 1;
        self.key_allowed = false;
        true
    }

    /// Takes a plain value that ends with its line.
    #[inline]
    pub(super) fn quick_value(&mut self) -> bool {
        let text = self.at.text;
        let start = self.at.pos + 1;
        let class = |at: usize| text.get(at).map_or(0, |&byte| CLASSES[byte as usize]);
        if text.get(self.at.pos) != Some(&b' ') || class(start) & FIRST == 0 {
            return false;
        }
        let mut end = start + 1;
        loop {
            while class(end) & VALUE != 0 {
                end += 1;
            }
            match text.get(end) {
                Some(b'\n') => break,
                Some(b':') if class(end + 1) & VALUE != 0 && text[end + 1] != b' ' => end += 1,
                Some(b'#') if text[end - 1] != b' ' => end += 1,
                _ => return false,
            }
        }
        // The value ends here if the next line is indented no deeper than the key.
        let next = end + 1;
        let mut content = next;
        while text.get(content) == Some(&b' ') {
            content += 1;
        }
        let deeper = (content - next) as i32 > self.indent;
        if deeper || matches!(text.get(content), Some(b'\n' | b'\r' | b'\t' | 0x80..)) {
            return false;
        }
        while text[end - 1] == b' ' {
            end -= 1;
        }
        let id = self.node(Value::Scalar(resolve(&text[start..end])), start, end, Style::Plain);
        self.open_map_items.last_mut().expect("the item was begun").value = id;
        self.content_end = end;
        self.top().role = Role::Key;
        self.at.line += 1;
        self.at.line_start = next;
        self.at.pos = content;
        self.key_allowed = true;
        true
    }
}
