//! Builds the tree: adds the items, comments and anchors that the parser found.
//!
//! Items of open collections are collected in vectors of the parser and moved to the tree when the
//! collection ends. Comments wait until their owner is known. Anchors are kept for the aliases of
//! their document.

use std::collections::HashMap;

use ytterby_diag::{Edit, Help, Part, Pos, Safety, Span};
use ytterby_text::spelling::nearest;

use super::errors::Ahead;
use super::parser::{KeyCandidate, NodeRole, OpenCollection, Parser, ParserStep};
use super::properties::{Properties, Tag};
use super::scalars::ScalarText;
use super::{BoxedReadError, MAX_ALIAS_NODES, MAX_DEPTH, ReadError};
use crate::tree::{ArrayItem, Comment, Document, MapItem, NO_OFFSET, Style, TreeValue};
use crate::{NodeId, Scalar};

/// Comments that have no owner yet, and the state that decides about it.
///
/// A comment belongs to the last node on its line, otherwise to the first node below it. Since
/// nodes are read in the order of the text, the owner is either the last node read or the next one.
#[derive(Default)]
pub(super) struct PendingComments {
    comments: Vec<PendingComment>,
    /// Offset and line of the last node read in this document.
    last: Option<(u32, u32)>,
    /// A `[` or `,` was read: the next node gets its line, although it comes after the comment.
    pub(super) awaiting_item: bool,
}

struct PendingComment {
    comment: Comment,
    line: u32,
    /// The node on its line, in case the next node is on another.
    fallback: Option<u32>,
}

impl PendingComments {
    pub(super) fn len(&self) -> usize {
        self.comments.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.comments.truncate(len);
    }
}

/// The anchors of a document, and how large it is with all aliases expanded.
#[derive(Default)]
pub(super) struct Anchors<'a> {
    named: HashMap<&'a [u8], Anchor>,
    /// How much more than the number of nodes so far is counted: long scalars and aliases.
    pub(super) extra: u64,
    /// Number of nodes that aliases add.
    expanded: u64,
}

struct Anchor {
    /// `None` while the node is still being read.
    node: Option<NodeId>,
    height: u32,
    nodes: u64,
}

impl Anchors<'_> {
    pub(super) fn clear(&mut self) {
        self.named.clear();
    }
}

impl<'a> Parser<'a> {
    pub(super) fn top(&mut self) -> &mut OpenCollection<'a> {
        self.frames.last_mut().expect("inside a collection")
    }

    pub(super) fn role(&self) -> Option<NodeRole> {
        self.frames.last().map(|frame| frame.role)
    }

    pub(super) fn begin_map_item(&mut self, key: Scalar, pos: usize, line: u32, merge: bool) {
        self.top().merge = merge;
        if merge {
            return;
        }
        let comments = self.own_comments(pos as u32, line);
        let pos = Pos::new(self.file, pos as u32);
        self.open_map_items.push(MapItem { key, pos, value: NodeId(0), comments });
    }

    #[inline(always)]
    pub(super) fn begin_array_item(&mut self, pos: usize, line: u32) {
        let comments = self.own_comments(pos as u32, line);
        let pos = Pos::new(self.file, pos as u32);
        self.open_array_items.push(ArrayItem { pos, value: NodeId(0), comments });
    }

    /// The last key begun turned out to be `<<`.
    pub(super) fn merge_instead(&mut self) {
        self.open_map_items.pop();
        self.top().merge = true;
    }

    /// A scalar that is not a simple key: a value, an item, or a key after `?`.
    pub(super) fn scalar(
        &mut self,
        value: Scalar,
        start: usize,
        end: usize,
        style: Style,
        properties: Properties<'a>,
    ) -> Result<ParserStep, BoxedReadError> {
        self.content_end = end;
        let role = self.role();
        if let Some(NodeRole::Key | NodeRole::ExplicitKey) = role {
            self.anchor_scalar(properties, &value, start, end, style);
            let line =
                self.at.line - self.at.text[start..self.at.pos].iter().filter(|&&byte| byte == b'\n').count() as u32;
            self.begin_map_item(value, start, line, false);
            if role == Some(NodeRole::Key) {
                self.value_is_absent()?;
            } else {
                self.top().role = NodeRole::AfterKey;
            }
            return Ok(ParserStep::Next);
        }
        let counted = self.counted();
        let id = self.leaf(value, start, end, style);
        self.close_anchor(properties, id, 0, counted);
        Ok(ParserStep::Done(id, 0))
    }

    /// The key read last has no value.
    pub(super) fn value_is_absent(&mut self) -> Result<(), BoxedReadError> {
        let id = self.leaf(Scalar::Null, self.value_at, self.value_at, Style::Plain);
        self.take(id, 0)
    }

    /// Adds a node to the innermost collection.
    #[inline(always)]
    pub(super) fn take(&mut self, id: NodeId, height: u32) -> Result<(), BoxedReadError> {
        let frame = self.frames.last_mut().expect("inside a collection");
        frame.height = frame.height.max(height);
        match frame.role {
            NodeRole::Item => self.open_array_items.last_mut().expect("the item was begun").value = id,
            _ => {
                frame.role = NodeRole::Key;
                if !std::mem::take(&mut frame.merge) {
                    self.open_map_items.last_mut().expect("the item was begun").value = id;
                } else {
                    self.merge(id);
                }
            }
        }
        Ok(())
    }

    /// Adds the items of a node to the innermost map.
    #[cold]
    fn merge(&mut self, id: NodeId) {
        if let TreeValue::Map(from, to) = self.tree.nodes[id.0 as usize].value {
            self.open_map_items.extend_from_slice(&self.tree.map_items[from as usize..to as usize]);
        } else if !self.is_empty_array(id) {
            // The reference takes an empty list, but no list of maps, in spite of its message.
            self.defer("map merge requires map or sequence of maps as the value".to_owned());
        }
    }

    fn is_empty_array(&self, id: NodeId) -> bool {
        matches!(self.tree.nodes[id.0 as usize].value, TreeValue::Array(from, to) if from == to)
    }

    /// Records the height of something in the innermost collection.
    pub(super) fn note_height(&mut self, height: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.height = frame.height.max(height);
        }
    }

    /// Whether a key is the merge key `<<`.
    pub(super) fn is_merge(&self, text: ScalarText, style: Style, properties: Properties<'_>) -> bool {
        let bytes = match text {
            ScalarText::Input(start, end) => &self.at.text[start..end],
            ScalarText::Buffer => &self.buffer,
        };
        bytes == b"<<"
            && match properties.tag {
                None => style == Style::Plain,
                Some(tag) => matches!(tag, Tag::Bang | Tag::Merge),
            }
    }

    /// Adds the comment that begins here and ends at `end`.
    pub(super) fn comment(&mut self, end: usize) {
        if !self.options.comments {
            return;
        }
        let text = self.part(self.at.pos + 1, end);
        let mut comment = Comment { pos: Pos::new(self.file, self.at.pos as u32), text, inline: false, owner: 0 };
        let line = self.at.line;
        let fallback = self.pending.last.filter(|(_, last)| *last == line).map(|(owner, _)| owner);
        match fallback {
            Some(owner) if !self.pending.awaiting_item && self.pending.comments.is_empty() => {
                comment.owner = owner;
                comment.inline = true;
                self.tree.comments.push(comment);
            }
            _ => self.pending.comments.push(PendingComment { comment, line, fallback }),
        }
    }

    /// Assigns the pending comments to a node that was read; returns the index of its first
    /// comment.
    #[inline(always)]
    pub(super) fn own_comments(&mut self, owner: u32, line: u32) -> u32 {
        self.pending.last = (line > 0).then_some((owner, line));
        self.pending.awaiting_item = false;
        if self.pending.comments.is_empty() {
            return self.tree.comments.len() as u32;
        }
        self.own_pending_comments(owner, line)
    }

    #[inline(never)]
    fn own_pending_comments(&mut self, owner: u32, line: u32) -> u32 {
        let ours = self.pending.comments.iter().take_while(|pending| pending.line <= line).count();
        let mut start = None;
        for PendingComment { mut comment, line: comment_line, fallback } in self.pending.comments.drain(..ours) {
            comment.inline = comment_line == line || fallback.is_some();
            comment.owner = match fallback {
                Some(fallback) if comment_line < line => fallback,
                _ => {
                    start.get_or_insert(self.tree.comments.len() as u32);
                    owner
                }
            };
            self.tree.comments.push(comment);
        }
        start.unwrap_or(self.tree.comments.len() as u32)
    }

    /// The comments that are left at the end get a separate document.
    pub(super) fn leftover_document(&mut self) {
        let start = self.tree.comments.len();
        let mut left = 0;
        for PendingComment { mut comment, fallback, .. } in std::mem::take(&mut self.pending.comments) {
            comment.inline = fallback.is_some();
            comment.owner = fallback.unwrap_or(NO_OFFSET);
            left += usize::from(fallback.is_none());
            self.tree.comments.push(comment);
        }
        if left > 0 {
            let end = self.at.text.len();
            let value = self.leaf(Scalar::Null, end, end, Style::Plain);
            let comments = (self.tree.comments.len() - left).max(start) as u32;
            self.tree.documents.push(Document { pos: Pos::UNKNOWN, value, injected: true, comments });
        }
    }

    /// Registers the anchor of a collection before its content is read.
    pub(super) fn open_anchor(&mut self, properties: Properties<'a>) {
        if let Some(name) = properties.anchor {
            self.anchors.named.insert(name, Anchor { node: None, height: 0, nodes: 0 });
        }
    }

    pub(super) fn close_anchor(&mut self, properties: Properties<'a>, id: NodeId, height: u32, counted: u64) {
        if let Some(name) = properties.anchor {
            let nodes = self.counted() - counted;
            self.anchors.named.insert(name, Anchor { node: Some(id), height, nodes });
        }
    }

    /// A key can have an anchor too; an alias to it then refers to a scalar.
    pub(super) fn anchor_scalar(
        &mut self,
        properties: Properties<'a>,
        value: &Scalar,
        start: usize,
        end: usize,
        style: Style,
    ) {
        if properties.anchor.is_some() {
            let counted = self.counted();
            let id = self.leaf(value.clone(), start, end, style);
            self.close_anchor(properties, id, 0, counted);
        }
    }

    /// Reads the alias here; it is a key if a `:` follows.
    pub(super) fn alias(&mut self, candidate: Option<KeyCandidate>) -> Result<ParserStep, BoxedReadError> {
        let start = self.at.pos;
        let name = self.anchor_name()?;
        self.content_end = self.at.pos;
        self.key_allowed = false;
        let colon = self.take_colon(candidate);
        if !colon && self.has_to_be_key(candidate) {
            let error = self.missing_colon(candidate, "did not find expected key");
            let by_scanner = self.at.pos != start;
            if by_scanner || self.anchors.named.contains_key(name) {
                return Err(error);
            }
        }
        let shown = String::from_utf8_lossy(name);
        let Some(anchor) = self.anchors.named.get(name) else {
            if candidate.is_some() && !colon {
                self.skip_to_token();
                if let Some(error) = self.scan_problem(Ahead::No) {
                    return Err(error);
                }
            }
            return Err(self.unknown_anchor(start, &shown));
        };
        let (height, nodes) = (anchor.height, anchor.nodes);
        let id = match anchor.node {
            Some(id) => id,
            None => {
                self.defer(format!("anchor '{shown}' value contains itself"));
                self.leaf(Scalar::Null, start, self.at.pos, Style::Plain)
            }
        };
        self.anchors.extra = self.anchors.extra.saturating_add(nodes);
        self.anchors.expanded = self.anchors.expanded.saturating_add(nodes);
        if self.anchors.expanded > MAX_ALIAS_NODES {
            return Err(self.scan_error(&format!("aliases expand to more than {MAX_ALIAS_NODES} nodes")));
        }
        if self.frames.len() + height as usize > MAX_DEPTH {
            return Err(self.too_deep());
        }
        if colon || matches!(self.role(), Some(NodeRole::Key | NodeRole::ExplicitKey)) {
            let key = self.key_of(id, height)?;
            let step = match candidate {
                Some(candidate) if colon => self.simple_key(candidate, Properties::default(), key, false),
                _ => self.scalar(key, start, self.at.pos, Style::Plain, Properties::default()),
            };
            self.note_height(height);
            return step;
        }
        Ok(ParserStep::Done(id, height))
    }

    /// The error for an alias whose anchor does not exist.
    #[cold]
    fn unknown_anchor(&self, start: usize, name: &str) -> BoxedReadError {
        let end = start + 1 + name.len();
        let span = Span::new(self.file, start as u32, end as u32);
        let mut error = ReadError::new(format!("unknown anchor '{name}' referenced"), span);
        let mut names: Vec<_> = self.anchors.named.keys().map(|name| String::from_utf8_lossy(name)).collect();
        names.sort();
        error.helps.push(match nearest(name, names.iter().map(|name| &**name)) {
            Some(similar) => {
                let edit = Edit::replace(span.pos(), Part::Bytes(span.end - span.start), format!("*{similar}"));
                let title = format!("Change *{name} to *{similar}");
                Help::new(format!("did you mean *{similar}?")).fixed_by(title, vec![edit], Safety::Likely)
            }
            None => Help::new("an anchor has to be set before it is used; text that begins with * needs quotes"),
        });
        Box::new(error)
    }
}
