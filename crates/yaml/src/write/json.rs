//! JSON as Go writes it: sorted keys, escaped HTML characters, Go's format of floats.
//!
//! Since keys are sorted, a document is buffered until it is complete.

use ytterby_text::gojson::{Html, float_into, string_into};
use ytterby_text::{Str, budget};

use super::Sink;
use super::layout::spaces;
use crate::Scalar;

/// The layout of JSON.
#[derive(Clone, Copy, Debug)]
pub struct JsonOptions {
    /// Spaces per level; 0 writes everything on one line.
    pub indent: usize,
    /// Whether `<`, `>` and `&` are escaped.
    pub html: Html,
}

impl Default for JsonOptions {
    fn default() -> JsonOptions {
        JsonOptions { indent: 0, html: Html::Escape }
    }
}

/// Writes documents, one after the other without a separator, as `ytt -o json` does.
#[derive(Debug, Default)]
pub struct JsonWriter {
    options: JsonOptions,
    out: Vec<u8>,
    /// Text of the leaves of the current document.
    leaves: Vec<u8>,
    nodes: Vec<BufferedNode>,
    /// Items of closed collections.
    items: Vec<ObjectMember>,
    /// Items of open collections, and where those of each begin.
    open_items: Vec<ObjectMember>,
    open: Vec<usize>,
    problem: Option<String>,
}

#[derive(Debug)]
enum BufferedNode {
    Leaf(usize, usize),
    Map(usize, usize),
    Array(usize, usize),
}

#[derive(Debug, Clone)]
struct ObjectMember {
    key: Str,
    node: usize,
}

impl JsonWriter {
    /// An empty writer.
    pub fn new(options: JsonOptions) -> JsonWriter {
        JsonWriter { options, ..JsonWriter::default() }
    }

    /// The output.
    ///
    /// # Errors
    /// If JSON cannot express a value; the text describes the first one.
    pub fn finish(self) -> Result<Vec<u8>, String> {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(self.out),
        }
    }

    fn fail(&mut self, problem: impl Into<String>) {
        self.problem.get_or_insert(problem.into());
    }

    /// Charges a collection that begins: its items, and their indentation.
    fn charge(&self, len: usize) {
        let line = self.options.indent.saturating_mul(self.open.len() + 1) + 8;
        let item = size_of::<BufferedNode>() + size_of::<ObjectMember>();
        budget::or_unwind(budget::text(len.saturating_mul(item + line)));
    }

    fn leaf(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.leaves.len();
        write(&mut self.leaves);
        self.complete(BufferedNode::Leaf(start, self.leaves.len()));
    }

    /// A node is complete. The outermost one is written.
    fn complete(&mut self, node: BufferedNode) {
        let id = self.nodes.len();
        self.nodes.push(node);
        let Some(&base) = self.open.last() else {
            self.emit(id);
            self.nodes.clear();
            self.items.clear();
            self.leaves.clear();
            return;
        };
        // In a map, the last key waits for its node.
        match self.open_items[base..].last_mut() {
            Some(item) if item.node == usize::MAX => item.node = id,
            _ => self.open_items.push(ObjectMember { key: Str::EMPTY, node: id }),
        }
    }

    fn close(&mut self) -> (usize, usize) {
        let base = self.open.pop().expect("a collection that ends was begun");
        let start = self.items.len();
        self.items.extend(self.open_items.drain(base..));
        (start, self.items.len())
    }

    fn emit(&mut self, root: usize) {
        let out = &mut self.out;
        let mut open: Vec<(bool, std::ops::Range<usize>, bool)> = Vec::new();
        let mut next = Some(root);
        loop {
            if let Some(id) = next.take() {
                match self.nodes[id] {
                    BufferedNode::Leaf(start, end) => out.extend_from_slice(&self.leaves[start..end]),
                    BufferedNode::Map(start, end) => {
                        out.push(b'{');
                        open.push((true, start..end, true));
                    }
                    BufferedNode::Array(start, end) => {
                        out.push(b'[');
                        open.push((false, start..end, true));
                    }
                }
            }
            let depth = open.len();
            let Some((map, items, first)) = open.last_mut() else { return };
            let Some(item) = items.next() else {
                let (map, first) = (*map, *first);
                open.pop();
                if !first {
                    line(self.options.indent, depth - 1, out);
                }
                out.push(if map { b'}' } else { b']' });
                continue;
            };
            if !std::mem::replace(first, false) {
                out.push(b',');
            }
            line(self.options.indent, depth, out);
            if *map {
                string_into(out, &self.items[item].key, self.options.html);
                out.extend_from_slice(if self.options.indent > 0 { b": " } else { b":" });
            }
            next = Some(self.items[item].node);
        }
    }
}

/// Longer texts are charged before they are written.
const LONG: usize = 64 << 10;

/// Charges a text that is kept as a leaf and then copied. Characters that are escaped take six
/// bytes.
fn charge_long(text: &[u8]) {
    let is_escaped = |byte: &&u8| **byte < b' ' || matches!(byte, b'"' | b'\\' | b'<' | b'>' | b'&');
    let escaped = text.iter().filter(is_escaped).count();
    budget::or_unwind(budget::text(2 * text.len() + 10 * escaped));
}

fn line(indent: usize, depth: usize, out: &mut Vec<u8>) {
    if indent > 0 {
        out.push(b'\n');
        spaces(indent * depth, out);
    }
}

impl Sink for JsonWriter {
    fn document(&mut self) {}

    fn begin_map(&mut self, len: usize) {
        self.charge(len);
        self.open.push(self.open_items.len());
    }

    fn key(&mut self, key: &Scalar) {
        let key = match key {
            Scalar::Str(text) => text.clone(),
            _ => {
                self.fail("Expected key to be string");
                Str::EMPTY
            }
        };
        self.open_items.push(ObjectMember { key, node: usize::MAX });
    }

    fn end_map(&mut self) {
        let base = *self.open.last().expect("a map that ends was begun");
        let items = &mut self.open_items[base..];
        if !items.is_sorted_by(|a, b| a.key < b.key) {
            // The sort is stable, so the last of equal keys is the one given last, which wins.
            items.sort_by(|a, b| a.key.cmp(&b.key));
            let mut kept = base;
            for at in base..self.open_items.len() {
                if at + 1 < self.open_items.len() && self.open_items[at].key == self.open_items[at + 1].key {
                    continue;
                }
                self.open_items.swap(kept, at);
                kept += 1;
            }
            self.open_items.truncate(kept);
        }
        let (start, end) = self.close();
        self.complete(BufferedNode::Map(start, end));
    }

    fn begin_array(&mut self, len: usize) {
        self.charge(len);
        self.open.push(self.open_items.len());
    }

    fn end_array(&mut self) {
        let (start, end) = self.close();
        self.complete(BufferedNode::Array(start, end));
    }

    fn scalar(&mut self, value: &Scalar) {
        let html = self.options.html;
        match value {
            Scalar::Null => self.leaf(|out| out.extend_from_slice(b"null")),
            Scalar::Bool(value) => self.leaf(|out| out.extend_from_slice(if *value { b"true" } else { b"false" })),
            Scalar::Int(value) => self.leaf(|out| out.extend_from_slice(value.to_string().as_bytes())),
            Scalar::UInt(value) => self.leaf(|out| out.extend_from_slice(value.to_string().as_bytes())),
            Scalar::Float(value) if value.is_finite() => self.leaf(|out| {
                float_into(out, *value);
            }),
            Scalar::Float(value) => {
                let shown = if value.is_nan() {
                    "NaN"
                } else if *value > 0.0 {
                    "+Inf"
                } else {
                    "-Inf"
                };
                self.fail(format!("json: unsupported value: {shown}"));
                self.leaf(|out| out.extend_from_slice(b"null"));
            }
            Scalar::Str(text) => {
                if text.len() > LONG {
                    charge_long(text);
                }
                self.leaf(|out| string_into(out, text, html));
            }
            Scalar::Complex(key) => {
                self.fail(format!("json: unsupported value: {} of a key", key.kind()));
                self.leaf(|out| out.extend_from_slice(b"null"));
            }
        }
    }
}
