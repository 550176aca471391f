//! The state of the parser, documents, and the code that block and flow style share.
//!
//! The main loop executes one [`ParserStep`] at a time: read a node, add a complete node to the
//! innermost collection, or continue that collection. The open collections are a stack of
//! [`OpenCollection`]s, so that deep nesting needs no recursion.

use std::cell::OnceCell;

use ytterby_diag::{FileId, Pos, Span};
use ytterby_text::{Str, budget};

use super::build::{Anchors, PendingComments};
use super::cursor::Cursor;
use super::errors::Ahead;
use super::properties::{Properties, TagHandles};
use super::scalars::ScalarText;
use super::valid::TextProperties;
use super::{BoxedReadError, ByteOrderMark, MAX_DEPTH, ReadError, ReadOptions};
use crate::resolve::{is_plain_string, is_surely_string, resolve_strict};
use crate::tree::{ArrayItem, Document, MapItem, Style, TreeNode, TreeValue};
use crate::{NodeId, Scalar, Tree, resolve};

pub(super) struct Parser<'a> {
    pub(super) at: Cursor<'a>,
    /// The same text, if scalars can share its bytes.
    shared: Option<&'a Str>,
    pub(super) file: FileId,
    pub(super) options: ReadOptions,
    /// Whether to use the fast paths for lines of common forms; see [`super::quick`].
    pub(super) quick: bool,
    /// Whether the text does not begin with `---`. The reference then prepends a line `---`, which
    /// shifts its line numbers.
    pub(super) shifted: bool,
    /// Column of the innermost block collection; -1 outside of all.
    pub(super) indent: i32,
    pub(super) flow_level: usize,
    /// Whether a key without `?`, or a `-`, may begin here.
    pub(super) key_allowed: bool,
    pub(super) frames: Vec<OpenCollection<'a>>,
    /// Text of a scalar that is not a slice of the input, and line breaks that may become part of
    /// it.
    pub(super) buffer: Vec<u8>,
    pub(super) breaks: Vec<u8>,
    /// Items of the collections that are still open.
    pub(super) open_map_items: Vec<MapItem>,
    pub(super) open_array_items: Vec<ArrayItem>,
    pub(super) tree: Tree,
    pub(super) pending: PendingComments,
    pub(super) anchors: Anchors<'a>,
    pub(super) tag_handles: TagHandles<'a>,
    /// The first error about the meaning of a scalar. It counts only if the rest of the document is
    /// well-formed.
    pub(super) deferred: Option<BoxedReadError>,
    /// After the last `:`, `-` or `---`: the position of an absent value.
    pub(super) value_at: usize,
    /// After the last scalar, alias or bracket: the end of a block collection.
    pub(super) content_end: usize,
    /// The last quoted scalar of several lines: where it begins and ends.
    pub(super) long_string: Option<(usize, usize)>,
    /// Where lines begin; computed only if collections are keys.
    pub(super) line_starts: OnceCell<Vec<usize>>,
    /// Receives each document, which is then forgotten; `None` keeps them.
    each: Option<&'a mut dyn FnMut(&Tree)>,
    /// A limit was reached.
    pub(super) is_stopped: bool,
}

/// An open collection.
pub(super) struct OpenCollection<'a> {
    pub(super) kind: CollectionKind,
    pub(super) role: NodeRole,
    /// Whether the key was `<<`, so that the items of the value are merged.
    pub(super) merge: bool,
    /// In flow style: `[`, `{` or `,` was read, and an item or the end may follow.
    pub(super) fresh: bool,
    /// [`Parser::indent`] outside of it.
    pub(super) outer_indent: i32,
    /// Index of its first item among the open ones.
    pub(super) base: usize,
    /// Where its text begins.
    pub(super) start: usize,
    pub(super) properties: Properties<'a>,
    /// Set if a flow collection would be a key when a `:` follows.
    pub(super) candidate: Option<KeyCandidate>,
    /// In a flow array: the `[` or `,` before the next item, and its line.
    pub(super) separator: (usize, u32),
    /// Levels of collections inside.
    pub(super) height: u32,
    /// Nodes counted before it began.
    pub(super) counted: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CollectionKind {
    BlockMap,
    BlockArray,
    /// An array whose `-` are in the column of the keys of the enclosing map.
    IndentlessArray,
    FlowMap,
    FlowArray,
    /// `a: 1` as an item of a flow array.
    FlowPair,
}

/// The role of the next node in its collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NodeRole {
    /// A key followed by `:`; in a flow map also without.
    Key,
    /// A key after `?`.
    ExplicitKey,
    /// None yet: a `:` may follow the key after `?`.
    AfterKey,
    Value,
    Item,
}

/// The beginning of something that is a key if a `:` follows.
#[derive(Clone, Copy)]
pub(super) struct KeyCandidate {
    pub(super) pos: usize,
    pub(super) line: u32,
    pub(super) column: usize,
}

/// The next step of the parser.
pub(super) enum ParserStep {
    /// Read a node for the innermost collection.
    Node,
    /// A node is complete: add it to the innermost collection.
    Done(NodeId, u32),
    /// Continue the innermost collection.
    Next,
}

/// A key with more characters needs a `?`.
const LONGEST_KEY: usize = 1024;

/// Whether to use the fast paths.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quick {
    Yes,
    No,
}

pub(super) fn read<'a>(
    text: &'a [u8],
    shared: Option<&'a Str>,
    file: FileId,
    options: &ReadOptions,
    shape: TextProperties,
    quick: Quick,
    each: Option<&'a mut dyn FnMut(&Tree)>,
) -> Result<Tree, BoxedReadError> {
    if text.len() > LONG && budget::text(4 * text.len()).is_err() {
        return Err(Box::new(ReadError::new(STOPPED.to_owned(), Span::new(file, 0, 0))));
    }
    let tree = Tree {
        file,
        documents: Vec::new(),
        nodes: Vec::with_capacity(text.len() / 16),
        map_items: Vec::with_capacity(text.len() / 20),
        array_items: Vec::new(),
        comments: Vec::new(),
    };
    let has_mark = options.mark == ByteOrderMark::Mark && text.starts_with(b"\xEF\xBB\xBF");
    let content = if has_mark { 3 } else { 0 };
    let mut parser = Parser {
        at: Cursor::new(text, content, shape),
        shared,
        file,
        options: *options,
        quick: quick == Quick::Yes && !options.strict,
        shifted: !begins_with_marker(&text[content..]),
        indent: -1,
        flow_level: 0,
        key_allowed: true,
        frames: Vec::new(),
        buffer: Vec::new(),
        breaks: Vec::new(),
        open_map_items: Vec::new(),
        open_array_items: Vec::new(),
        tree,
        pending: PendingComments::default(),
        anchors: Anchors::default(),
        tag_handles: TagHandles::default(),
        deferred: None,
        value_at: 0,
        content_end: 0,
        long_string: None,
        line_starts: OnceCell::new(),
        each,
        is_stopped: false,
    };
    match parser.documents() {
        Ok(()) => Ok(parser.tree),
        Err(error) => Err(parser.advised(error)),
    }
}

/// The caller that opened the budget knows which limit it was.
pub(super) const STOPPED: &str = "a limit was reached";

/// Scalars of at least this length share the bytes of the text.
const SHARED: usize = 256;

/// Texts longer than this are charged before they are built.
const LONG: usize = 64 << 10;

fn begins_with_marker(text: &[u8]) -> bool {
    let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0C);
    let blanks = text.iter().take_while(|byte| space(byte)).count();
    text[blanks..].starts_with(b"---") && text.get(blanks + 3).is_some_and(space)
}

impl<'a> Parser<'a> {
    fn documents(&mut self) -> Result<(), BoxedReadError> {
        if self.shifted {
            // A first document without `---`. It owns no comments: those above its first node
            // belong to that node.
            self.document(Pos::new(self.file, self.at.pos as u32), 0)?;
        } else {
            self.skip_to_token();
            if !self.at.at_document_marker() || self.at.byte() != b'-' {
                self.document(Pos::new(self.file, self.at.pos as u32), self.at.line)?;
            }
        }
        loop {
            self.skip_to_token();
            while self.at.at_document_marker() && self.at.byte() == b'.' {
                self.at.pos += 3;
                self.key_allowed = false;
                let kept = self.pending.len();
                self.skip_to_token();
                if self.at.at_end() {
                    // Comments after the last `...` are lost.
                    self.pending.truncate(kept);
                }
            }
            if self.at.at_end() {
                break;
            }
            let (start, line) = (self.at.pos, self.at.line);
            self.directives()?;
            if !self.at.at_document_marker() || self.at.byte() != b'-' {
                return Err(self.unexpected("did not find expected <document start>"));
            }
            self.at.pos += 3;
            self.value_at = self.at.pos;
            self.key_allowed = false;
            self.document(Pos::new(self.file, start as u32), line)?;
        }
        self.leftover_document();
        Ok(())
    }

    /// Reads the content of a document; `line` is 0 if it cannot own comments.
    fn document(&mut self, pos: Pos, line: u32) -> Result<(), BoxedReadError> {
        let mut comments = self.own_comments(pos.offset, line);
        if line == 0 {
            // The first item may have the same offset; its comments are not the document's.
            comments = u32::MAX;
        }
        self.anchors.clear();
        self.indent = -1;
        let mut step = ParserStep::Node;
        let value = loop {
            step = match step {
                ParserStep::Node if self.flow_level > 0 => self.flow_node()?,
                ParserStep::Node => self.block_node()?,
                ParserStep::Next => self.next()?,
                ParserStep::Done(id, height) => match self.frames.last() {
                    None => break id,
                    // Scalars and aliases are recognised as keys earlier, so this is a collection.
                    Some(OpenCollection { role: NodeRole::Key | NodeRole::ExplicitKey, .. }) => {
                        self.collection_as_key(id, height)?
                    }
                    Some(frame) => {
                        let kind = frame.kind;
                        self.take(id, height)?;
                        if kind == CollectionKind::FlowPair { self.close() } else { ParserStep::Next }
                    }
                },
            };
        };
        self.tag_handles.clear();
        self.skip_to_token();
        if let Some(error) = self.deferred.take() {
            return Err(self.scan_problem(Ahead::Yes).unwrap_or(error));
        }
        self.tree.documents.push(Document { pos, value, injected: false, comments });
        if let Some(each) = &mut self.each {
            each(&self.tree);
            self.tree.clear();
        }
        Ok(())
    }

    fn next(&mut self) -> Result<ParserStep, BoxedReadError> {
        if self.is_stopped {
            return Err(self.scan_error(STOPPED));
        }
        match self.frames.last().expect("a step inside a collection has a frame").kind {
            CollectionKind::BlockMap => self.next_block_key(),
            CollectionKind::BlockArray | CollectionKind::IndentlessArray => self.next_block_item(),
            CollectionKind::FlowMap => self.next_flow_key(),
            CollectionKind::FlowArray => self.next_flow_item(),
            CollectionKind::FlowPair => self.after_pair_key(),
        }
    }

    /// Skips white space, comments and line ends.
    #[inline(always)]
    pub(super) fn skip_to_token(&mut self) {
        // After a value that was read on the fast path there is nothing to skip, and after a comma
        // one space.
        if self.at.byte() == b' ' && matches!(self.at.at(self.at.pos + 1), b'!' | b'"' | b'$'..=0x7F) {
            self.at.pos += 1;
        } else if matches!(self.at.byte(), b' ' | b'\t' | b'#' | b'\n' | b'\r' | 0xC2 | 0xE2) {
            self.skip_blank_space();
        }
    }

    fn skip_blank_space(&mut self) {
        loop {
            loop {
                match self.at.byte() {
                    b' ' => self.at.pos += 1,
                    b'\t' if self.flow_level > 0 || !self.key_allowed => self.at.pos += 1,
                    b'#' => {
                        let end = self.at.line_end(self.at.pos);
                        self.comment(end);
                        self.at.pos = end;
                    }
                    _ => break,
                }
            }
            if !self.at.skip_break() {
                return;
            }
            if self.flow_level == 0 {
                self.key_allowed = true;
            }
        }
    }

    /// The candidate for a key that begins here, if one may.
    pub(super) fn candidate(&self) -> Option<KeyCandidate> {
        self.key_allowed.then(|| KeyCandidate { pos: self.at.pos, line: self.at.line, column: self.at.column() })
    }

    /// Whether the candidate is a key: a `:` follows on its line and not too far away. Skips the
    /// `:`.
    #[inline]
    pub(super) fn take_colon(&mut self, candidate: Option<KeyCandidate>) -> bool {
        let Some(candidate) = candidate else { return false };
        if candidate.line != self.at.line {
            return false;
        }
        let mut pos = self.at.pos;
        while self.at.is_blank(pos) {
            pos += 1;
        }
        if self.at.at(pos) != b':' || self.flow_level == 0 && !self.at.is_blank_or_end(pos + 1) {
            return false;
        }
        if self.is_too_far(candidate.pos, pos) {
            return false;
        }
        self.at.pos = pos + 1;
        self.value_at = self.at.pos;
        self.key_allowed = false;
        true
    }

    /// Whether the distance of two offsets exceeds the maximum length of a key.
    #[inline]
    pub(super) fn is_too_far(&self, from: usize, to: usize) -> bool {
        to - from > LONGEST_KEY && {
            let continuation = |byte: &&u8| **byte & 0xC0 == 0x80;
            let text = &self.at.text[from..to];
            text.len() - text.iter().filter(continuation).count() > LONGEST_KEY
        }
    }

    pub(super) fn push(
        &mut self,
        kind: CollectionKind,
        role: NodeRole,
        start: usize,
        properties: Properties<'a>,
    ) -> Result<(), BoxedReadError> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        let base = match kind {
            CollectionKind::BlockMap | CollectionKind::FlowMap | CollectionKind::FlowPair => self.open_map_items.len(),
            CollectionKind::BlockArray | CollectionKind::IndentlessArray | CollectionKind::FlowArray => {
                self.open_array_items.len()
            }
        };
        if properties.anchor.is_some() {
            self.open_anchor(properties);
        }
        self.frames.push(OpenCollection {
            kind,
            role,
            merge: false,
            fresh: true,
            outer_indent: self.indent,
            base,
            start,
            properties,
            candidate: None,
            separator: (start, self.at.line),
            height: 0,
            counted: self.counted(),
        });
        Ok(())
    }

    #[cold]
    pub(super) fn too_deep(&self) -> BoxedReadError {
        self.scan_error(&format!("collections are nested more than {MAX_DEPTH} levels deep"))
    }

    /// Closes the innermost collection after the last content read.
    pub(super) fn close(&mut self) -> ParserStep {
        let end = self.content_end.max(self.value_at);
        let frame = self.frames.pop().expect("a collection that ends was open");
        self.indent = frame.outer_indent;
        let (value, style) = match frame.kind {
            CollectionKind::BlockMap | CollectionKind::FlowMap | CollectionKind::FlowPair => {
                let from = self.tree.map_items.len() as u32;
                self.tree.map_items.extend(self.open_map_items.drain(frame.base..));
                let style = if frame.kind == CollectionKind::BlockMap { Style::Block } else { Style::Flow };
                (TreeValue::Map(from, self.tree.map_items.len() as u32), style)
            }
            CollectionKind::BlockArray | CollectionKind::IndentlessArray | CollectionKind::FlowArray => {
                let from = self.tree.array_items.len() as u32;
                self.tree.array_items.extend(self.open_array_items.drain(frame.base..));
                let style = if frame.kind == CollectionKind::FlowArray { Style::Flow } else { Style::Block };
                (TreeValue::Array(from, self.tree.array_items.len() as u32), style)
            }
        };
        let id = self.add(TreeNode::new(value, frame.start as u32, end as u32, style));
        let height = frame.height + 1;
        if frame.properties.anchor.is_some() {
            self.close_anchor(frame.properties, id, height, frame.counted);
        }
        ParserStep::Done(id, height)
    }

    /// Number of nodes so far, with aliases expanded.
    #[inline]
    pub(super) fn counted(&self) -> u64 {
        (self.tree.nodes.len() as u64).saturating_add(self.anchors.extra)
    }

    /// Adds a scalar to the tree.
    #[inline(always)]
    pub(super) fn leaf(&mut self, value: Scalar, start: usize, end: usize, style: Style) -> NodeId {
        self.anchors.extra += (end.saturating_sub(start) / 64) as u64;
        self.add(TreeNode::new(TreeValue::Scalar(value), start as u32, end as u32, style))
    }

    #[inline(always)]
    fn add(&mut self, node: TreeNode) -> NodeId {
        if self.tree.nodes.len() == self.tree.nodes.capacity() {
            self.charge_growth();
        }
        self.tree.nodes.push(node);
        NodeId(self.tree.nodes.len() as u32 - 1)
    }

    /// Charges as many further nodes as there are now, since vectors double. If a limit is reached,
    /// the next step fails.
    #[cold]
    #[inline(never)]
    fn charge_growth(&mut self) {
        let _reached = budget::working_at(self.file.0, self.at.pos as u32);
        let count = self.tree.nodes.len();
        // Items are collected aside and then copied to where they stay.
        let charged = budget::memory_of(count, size_of::<TreeNode>() + 3 * size_of::<MapItem>());
        self.is_stopped = charged.and_then(|()| budget::work(count / 8)).is_err();
    }

    /// A part of the text, if it is short. Three words are copied whatever the length is: that
    /// saves the branches on it.
    #[inline(always)]
    pub(super) fn short_part(&self, start: usize, end: usize) -> Option<Str> {
        let window = self.at.text.get(start..).and_then(|rest| rest.first_chunk())?;
        Str::from_window(window, end - start)
    }

    /// The value of a plain, untagged part of the text, if it is a short string; most are. Callers
    /// add it to the tree in a branch of its own: where a value can also come from a call, it is
    /// written to the stack in pieces and copied in others, which the processor has to wait for.
    /// That took a third of the time of reading on `plain-yaml`.
    #[inline(always)]
    pub(super) fn short_string(&self, start: usize, end: usize) -> Option<Scalar> {
        if !is_surely_string(&self.at.text[start..end]) {
            return None;
        }
        self.short_part(start, end).map(Scalar::Str)
    }

    /// A part of the text.
    #[inline]
    pub(super) fn part(&self, start: usize, end: usize) -> Str {
        match self.short_part(start, end) {
            Some(text) => text,
            None => self.long_part(start, end),
        }
    }

    #[inline(never)]
    pub(super) fn long_part(&self, start: usize, end: usize) -> Str {
        match self.shared {
            Some(text) if end - start >= SHARED => text.part(start..end),
            _ => Str::new(&self.at.text[start..end]),
        }
    }

    /// The value of a plain, untagged part of the text.
    #[inline(never)]
    pub(super) fn resolved_by_text(&self, start: usize, end: usize) -> Scalar {
        let text = &self.at.text[start..end];
        match self.shared {
            Some(shared) if text.len() >= SHARED && is_plain_string(text) => Scalar::Str(shared.part(start..end)),
            _ => resolve(text),
        }
    }

    /// The text in the buffer. A very long one takes the buffer itself: copying it would double
    /// its pages.
    fn take_buffer(&mut self) -> Str {
        if self.buffer.len() < LONG {
            return Str::new(&self.buffer);
        }
        let mut text = std::mem::take(&mut self.buffer);
        text.shrink_to_fit();
        Str::from(text)
    }

    /// The value of a scalar by its text, style and tag.
    pub(super) fn meaning(&mut self, text: ScalarText, style: Style, properties: Properties<'_>) -> Scalar {
        let bytes = match text {
            ScalarText::Input(start, end) => &self.at.text[start..end],
            ScalarText::Buffer => &self.buffer,
        };
        let meaning = match properties.tag {
            None if style != Style::Plain => {
                return Scalar::Str(match text {
                    ScalarText::Input(start, end) => self.part(start, end),
                    ScalarText::Buffer => self.take_buffer(),
                });
            }
            None if self.options.strict => resolve_strict(bytes),
            None => match text {
                ScalarText::Input(start, end) => return self.resolved_by_text(start, end),
                ScalarText::Buffer => return resolve(bytes),
            },
            Some(tag) => tag.meaning(bytes),
        };
        meaning.unwrap_or_else(|problem| {
            match text {
                ScalarText::Input(start, end) => self.defer_at(problem, start, end),
                ScalarText::Buffer => self.defer(problem),
            }
            Scalar::Null
        })
    }

    /// Stores an error about the meaning of the text; see [`Parser::deferred`].
    pub(super) fn defer(&mut self, problem: String) {
        self.defer_at(problem, self.value_at, self.at.pos);
    }

    /// The same for an error about a part of the text.
    fn defer_at(&mut self, problem: String, start: usize, end: usize) {
        if self.deferred.is_none() {
            let span = Span::new(self.file, start as u32, end.max(start) as u32);
            self.deferred = Some(Box::new(ReadError::new(problem, span)));
        }
    }
}
