//! `ytt fmt`: writes YAML in one normal form and keeps its comments.
//!
//! Two spaces per level, also for arrays below a key. Comments are above their node at its
//! indentation, with an empty line before and after, or one comment at the end of the node's line.
//! Items with duplicate keys are all kept, because a template may produce them conditionally.

use ytterby_text::quote::quote;

use crate::write::scalar_text;
use crate::{ArrayItem, Comment, MapItem, NodeId, Scalar, Tree, View};

/// The text of a file in one form.
///
/// ```
/// use ytterby_diag::FileId;
/// use ytterby_yaml::{ReadOptions, format, parse};
/// let tree = parse(b"a:   [1,  2] #! two\n", FileId(0), &ReadOptions::default()).unwrap();
/// assert_eq!(format(&tree), b"a:\n  - 1\n  - 2 #! two\n");
/// ```
pub fn format(tree: &Tree) -> Vec<u8> {
    format_with(tree, Fidelity::Ytt)
}

/// Like [`format()`], but nothing changes its meaning: `1.0` is not written as `1`, which a schema
/// would take for an integer, and a document that is an empty map does not become null.
///
/// ```
/// use ytterby_diag::FileId;
/// use ytterby_yaml::{ReadOptions, format_in_place, parse};
/// let tree = parse(b"a:   1.0\n", FileId(0), &ReadOptions::default()).unwrap();
/// assert_eq!(format_in_place(&tree), b"a: 1.0\n");
/// let tree = parse(b"a: -0.0\n--- #! none\n{ }\n---\n[ ]\n", FileId(0), &ReadOptions::default()).unwrap();
/// assert_eq!(format_in_place(&tree), b"a: -0.0\n--- #! none\n{}\n---\n[]\n");
/// ```
pub fn format_in_place(tree: &Tree) -> Vec<u8> {
    format_with(tree, Fidelity::Exact)
}

fn format_with(tree: &Tree, fidelity: Fidelity) -> Vec<u8> {
    let mut formatter = Formatter { tree, fidelity, out: Vec::new(), last: Last::Line };
    for (at, document) in tree.documents().iter().enumerate() {
        let found = formatter.comments(tree.comments(document), 0, at == 0);
        if at > 0 || found.suffix.is_some() {
            formatter.line(0, &behind(b"---".to_vec(), found.suffix));
        }
        if !matches!(tree.value(document.value), View::Scalar(Scalar::Null)) {
            formatter.value(document.value);
        }
        formatter.space_after(&found);
    }
    formatter.out
}

/// How to write values whose type ytt's form loses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fidelity {
    /// Like ytt: `1.0` is written as `1`, and an empty collection as a whole document not at all.
    Ytt,
    /// They keep their type. A file does not begin with a blank line.
    Exact,
}

struct Formatter<'a> {
    tree: &'a Tree,
    fidelity: Fidelity,
    out: Vec<u8>,
    last: Last,
}

/// The kind of output written last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Line,
    /// `-` or `key:`; a value may follow on the same line.
    Opening,
    /// An empty line is due if anything follows.
    Space,
}

/// The comments of a node.
struct NodeComments<'a> {
    suffix: Option<&'a Comment>,
    above: bool,
}

/// A collection whose items are being written.
enum FormattedItems<'a> {
    Map(std::iter::Enumerate<std::slice::Iter<'a, MapItem>>),
    Array(std::iter::Enumerate<std::slice::Iter<'a, ArrayItem>>),
}

/// A value and the text before it.
struct Next<'a> {
    head: Vec<u8>,
    array: bool,
    value: NodeId,
    found: NodeComments<'a>,
}

impl<'a> Formatter<'a> {
    fn value(&mut self, id: NodeId) {
        // Each open collection, with the comments of the item that contains it, because space
        // follows them.
        let mut open: Vec<(FormattedItems<'a>, Option<NodeComments<'a>>)> = Vec::new();
        match self.tree.value(id) {
            View::Scalar(value) => return self.content(0, &self.scalar(value), true),
            View::Map([]) if self.fidelity == Fidelity::Exact => return self.content(0, b"{}", true),
            View::Array([]) if self.fidelity == Fidelity::Exact => return self.content(0, b"[]", true),
            View::Map(items) => open.push((FormattedItems::Map(items.iter().enumerate()), None)),
            View::Array(items) => open.push((FormattedItems::Array(items.iter().enumerate()), None)),
        }
        while let Some((items, _)) = open.last_mut() {
            let next = match items {
                FormattedItems::Map(items) => {
                    items.next().map(|(at, item)| (at, item.value, Some(&item.key), self.tree.comments(item)))
                }
                FormattedItems::Array(items) => {
                    items.next().map(|(at, item)| (at, item.value, None, self.tree.comments(item)))
                }
            };
            let level = open.len() - 1;
            let Some((at, value, key, comments)) = next else {
                if let Some((_, Some(found))) = open.pop() {
                    self.space_after(&found);
                }
                continue;
            };
            let found = self.comments(comments, level, at == 0);
            let head = match key {
                Some(key) => [self.key(key), b":".to_vec()].concat(),
                None => b"-".to_vec(),
            };
            let next = Next { head, array: key.is_none(), value, found };
            if let Some(inner) = self.item(next, level) {
                open.push(inner);
            }
        }
    }

    /// Writes an item, or only its beginning if it contains items itself.
    fn item(&mut self, next: Next<'a>, level: usize) -> Option<(FormattedItems<'a>, Option<NodeComments<'a>>)> {
        let Next { head, array, value, found } = next;
        let open = match self.tree.value(value) {
            View::Scalar(value) => {
                self.leaf(head, value, found.suffix, level);
                self.space_after(&found);
                return None;
            }
            View::Map([]) | View::Array([]) => {
                let empty: &[u8] = if matches!(self.tree.value(value), View::Map(_)) { b" {}" } else { b" []" };
                self.content(level, &behind([&head, empty].concat(), found.suffix), true);
                self.space_after(&found);
                return None;
            }
            View::Map(items) => FormattedItems::Map(items.iter().enumerate()),
            View::Array(items) => FormattedItems::Array(items.iter().enumerate()),
        };
        if array && found.suffix.is_none() {
            self.opening(level, &head);
        } else {
            self.content(level, &behind(head, found.suffix), true);
        }
        Some((open, Some(found)))
    }

    fn leaf(&mut self, head: Vec<u8>, value: &Scalar, suffix: Option<&Comment>, level: usize) {
        let text = self.scalar(value);
        if text.contains(&b'\n') {
            if suffix.is_some() {
                self.content(level, &behind(head, suffix), true);
            } else {
                self.opening(level, &head);
            }
            return self.content(level + 1, &text, true);
        }
        if suffix.is_some() && value.is_null() {
            return self.content(level, &behind(head, suffix), true);
        }
        self.content(level, &behind([&head, &b" "[..], &text].concat(), suffix), true);
    }

    /// Writes the comments above a node and returns the one at the end of its line.
    fn comments(&mut self, comments: &'a [Comment], level: usize, first: bool) -> NodeComments<'a> {
        let mut found = NodeComments { suffix: None, above: false };
        for comment in comments {
            if comment.inline {
                found.suffix = Some(comment);
                continue;
            }
            if !found.above && !first {
                self.last = Last::Space;
            }
            found.above = true;
            let text = [b"#", comment.text.as_bytes()].concat();
            self.content(level, &text, false);
        }
        found
    }

    fn space_after(&mut self, found: &NodeComments<'_>) {
        if found.above {
            self.last = Last::Space;
        }
    }

    fn line(&mut self, level: usize, text: &[u8]) {
        self.content(level, text, false);
    }

    fn opening(&mut self, level: usize, head: &[u8]) {
        self.content(level, head, true);
        self.out.pop();
        self.last = Last::Opening;
    }

    /// Writes a line; it continues the line of an opening if possible.
    fn content(&mut self, level: usize, text: &[u8], joins: bool) {
        match self.last {
            Last::Opening if joins => self.out.push(b' '),
            last => {
                // ytt's form begins most templates with a blank line.
                if last != Last::Line && !(self.out.is_empty() && self.fidelity == Fidelity::Exact) {
                    self.out.push(b'\n');
                }
                self.indent(level);
            }
        }
        for (at, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if at > 0 {
                // The text of a block scalar has one level of indentation already.
                self.out.push(b'\n');
                self.indent(level.saturating_sub(1));
            }
            self.out.extend_from_slice(line);
        }
        self.out.push(b'\n');
        self.last = Last::Line;
    }

    fn indent(&mut self, level: usize) {
        self.out.resize(self.out.len() + 2 * level, b' ');
    }

    fn scalar(&self, value: &Scalar) -> Vec<u8> {
        let mut text = scalar_text(value);
        let is_like_int = || text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
        if self.fidelity == Fidelity::Exact && matches!(value, Scalar::Float(_)) && is_like_int() {
            text.extend_from_slice(b".0");
        }
        text
    }

    /// The text of a key, on one line.
    fn key(&self, key: &Scalar) -> Vec<u8> {
        match key {
            Scalar::Str(text) if text.contains(&b'\n') => quote(text).to_vec(),
            _ => self.scalar(key),
        }
    }
}

/// A line with its trailing comment.
fn behind(mut line: Vec<u8>, suffix: Option<&Comment>) -> Vec<u8> {
    if let Some(comment) = suffix {
        line.extend_from_slice(b" #");
        line.extend_from_slice(&comment.text);
    }
    line
}
