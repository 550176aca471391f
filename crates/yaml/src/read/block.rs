//! Block style: collections that are structured by indentation.
//!
//! A collection ends when a line is indented less than its column. Whether a scalar is a key is
//! known only after it was read: then a `:` follows.

use super::BoxedReadError;
use super::advice::Mistake;
use super::parser::{CollectionKind, KeyCandidate, NodeRole, Parser, ParserStep};
use super::properties::Properties;
use super::quick::QuickLine;
use super::scalars::ScalarText;
use crate::Scalar;
use crate::tree::Style;

impl<'a> Parser<'a> {
    /// Whether the innermost block collection ends here: at the end, a document marker or less
    /// indentation.
    #[inline]
    fn block_ends(&self) -> bool {
        (self.at.column() as i32) < self.indent
            || self.at.at_end()
            || self.at.column() == 0 && (self.at.byte() == b'%' || self.at.at_document_marker())
    }

    /// Continues a map: reads the next key, or ends it.
    pub(super) fn next_block_key(&mut self) -> Result<ParserStep, BoxedReadError> {
        loop {
            self.skip_to_token();
            match self.quick_line()? {
                QuickLine::Item => {}
                QuickLine::Array => return Ok(ParserStep::Next),
                QuickLine::Key => return Ok(ParserStep::Node),
                QuickLine::Nothing => break,
            }
        }
        let in_column = self.at.column() as i32 == self.indent && self.key_allowed;
        if self.top().role == NodeRole::AfterKey {
            if in_column && self.at.byte() == b':' && self.at.is_blank_or_end(self.at.pos + 1) {
                self.at.pos += 1;
                self.value_at = self.at.pos;
                self.top().role = NodeRole::Value;
                return Ok(ParserStep::Node);
            }
            self.value_is_absent()?;
        }
        if self.block_ends() {
            return Ok(self.close());
        }
        if !in_column {
            let error = self.unexpected("did not find expected key");
            let is_known = error.mistake != Mistake::Other;
            return Err(if is_known { error } else { error.about(Mistake::Indentation) });
        }
        let alone = matches!(self.at.byte(), b'-' | b'?' | b':') && self.at.is_blank_or_end(self.at.pos + 1);
        if alone || matches!(self.at.byte(), b']' | b'}' | b',' | b'|' | b'>') {
            if self.at.byte() != b'?' {
                return Err(self.unexpected_item("did not find expected key"));
            }
            self.at.pos += 1;
            self.value_at = self.at.pos;
            self.top().role = NodeRole::ExplicitKey;
            return Ok(ParserStep::Node);
        }
        let candidate = self.candidate();
        let mut properties = Properties::default();
        while self.property(&mut properties)? {
            self.skip_to_token();
            if self.key_allowed {
                return Err(self.missing_colon(candidate, "did not find expected key"));
            }
        }
        match self.at.byte() {
            b'-' | b'?' | b':' if self.at.is_blank_or_end(self.at.pos + 1) => {
                self.bare_properties(candidate, Properties::default(), properties)
            }
            _ => self.content(candidate, Properties::default(), properties),
        }
    }

    /// Handles an anchor or tag without content; if a `:` follows, it is a key.
    pub(super) fn bare_properties(
        &mut self,
        candidate: Option<KeyCandidate>,
        outer: Properties<'a>,
        inner: Properties<'a>,
    ) -> Result<ParserStep, BoxedReadError> {
        let start = self.value_at;
        if inner.is_empty() || !self.take_colon(candidate) {
            if self.flow_level == 0 {
                return Err(self.unexpected("did not find expected key"));
            }
            return self.empty(inner);
        }
        self.buffer.clear();
        let key = match inner.tag {
            None => Scalar::Null,
            Some(_) => self.meaning(ScalarText::Buffer, Style::Plain, inner),
        };
        self.anchor_scalar(inner, &key, start, start, Style::Plain);
        self.simple_key(candidate.expect("only a candidate takes a colon"), outer, key, false)
    }

    /// Continues an array: reads the next item, or ends it.
    pub(super) fn next_block_item(&mut self) -> Result<ParserStep, BoxedReadError> {
        loop {
            self.skip_to_token();
            if self.block_ends() {
                return Ok(self.close());
            }
            let entry = self.at.byte() == b'-' && self.at.is_blank_or_end(self.at.pos + 1);
            if !(entry && self.at.column() as i32 == self.indent && self.key_allowed) {
                break;
            }
            self.begin_array_item(self.at.pos, self.at.line);
            self.at.pos += 1;
            self.value_at = self.at.pos;
            if self.quick_item_map()? {
                return Ok(ParserStep::Next);
            }
            if !self.quick_item() {
                return Ok(ParserStep::Node);
            }
        }
        if self.top().kind == CollectionKind::IndentlessArray {
            return Ok(self.close());
        }
        Err(self.unexpected_item("did not find expected '-' indicator"))
    }

    /// Reads a node: the value of a key, an item of an array, a document's content.
    pub(super) fn block_node(&mut self) -> Result<ParserStep, BoxedReadError> {
        let mut properties = Properties::default();
        // Properties on a separate line belong to the node; those on a key's line to the key.
        let mut outer = Properties::default();
        let mut candidate: Option<KeyCandidate> = None;
        loop {
            self.skip_to_token();
            if self.key_allowed {
                candidate = self.candidate();
                outer = self.merge_properties(outer, properties)?;
                properties = Properties::default();
            }
            if let Some(step) = self.absent_block_node(outer, properties)? {
                return Ok(step);
            }
            if !self.property(&mut properties)? {
                break;
            }
        }
        match self.at.byte() {
            b'-' | b'?' | b':' if self.at.is_blank_or_end(self.at.pos + 1) => {
                if !self.key_allowed || self.at.byte() == b':' {
                    return self.bare_properties(candidate, outer, properties);
                }
                let properties = self.merge_properties(outer, properties)?;
                let column = self.at.column() as i32;
                if self.at.byte() == b'-' {
                    self.push(CollectionKind::BlockArray, NodeRole::Item, self.at.pos, properties)?;
                } else {
                    self.push(CollectionKind::BlockMap, NodeRole::Key, self.at.pos, properties)?;
                }
                self.indent = column;
                Ok(ParserStep::Next)
            }
            b'|' | b'>' => {
                let properties = self.merge_properties(outer, properties)?;
                let start = self.at.pos;
                let style = if self.at.byte() == b'|' { Style::Literal } else { Style::Folded };
                let end = self.block_scalar()?;
                self.key_allowed = true;
                let value = self.meaning(ScalarText::Buffer, style, properties);
                self.scalar(value, start, end, style, properties)
            }
            _ => self.content(candidate, outer, properties),
        }
    }

    /// The empty node, or the array without indentation, at a position where no other node is
    /// possible.
    #[inline]
    fn absent_block_node(
        &mut self,
        outer: Properties<'a>,
        inner: Properties<'a>,
    ) -> Result<Option<ParserStep>, BoxedReadError> {
        let column = self.at.column() as i32;
        if column > self.indent && column > 0 && !self.at.at_end() {
            return Ok(None);
        }
        if !self.block_ends() {
            if column > self.indent {
                return Ok(None);
            }
            // In the column of the enclosing collection: its next item, or an array without
            // indentation.
            let entry = self.at.byte() == b'-' && self.at.is_blank_or_end(self.at.pos + 1);
            match self.frames.last().map(|frame| frame.kind) {
                // A block scalar cannot be a key, so it is the value even here.
                _ if matches!(self.at.byte(), b'|' | b'>') => return Ok(None),
                Some(CollectionKind::BlockMap) if entry => {
                    let properties = self.merge_properties(outer, inner)?;
                    self.push(CollectionKind::IndentlessArray, NodeRole::Item, self.at.pos, properties)?;
                    return Ok(Some(ParserStep::Next));
                }
                Some(CollectionKind::BlockArray) if !entry && outer.is_empty() && inner.is_empty() => {
                    return Err(self.unexpected_item("did not find expected node content"));
                }
                _ if matches!(self.at.byte(), b']' | b'}' | b',') => {
                    return Err(self.unexpected("did not find expected node content"));
                }
                _ => {}
            }
        }
        let properties = self.merge_properties(outer, inner)?;
        self.empty(properties).map(Some)
    }

    /// A node without any text.
    pub(super) fn empty(&mut self, properties: Properties<'a>) -> Result<ParserStep, BoxedReadError> {
        self.buffer.clear();
        let value = match properties.tag {
            None => Scalar::Null,
            Some(_) => self.meaning(ScalarText::Buffer, Style::Plain, properties),
        };
        self.scalar(value, self.value_at, self.value_at, Style::Plain, properties)
    }

    /// Reads a scalar, an alias or the beginning of a flow collection. A scalar is a key if a `:`
    /// follows; in the column of a map's keys it must be one.
    pub(super) fn content(
        &mut self,
        candidate: Option<KeyCandidate>,
        outer: Properties<'a>,
        inner: Properties<'a>,
    ) -> Result<ParserStep, BoxedReadError> {
        let start = self.at.pos;
        let (text, end, style) = match self.at.byte() {
            b'"' => (self.quoted()?, self.at.pos, Style::DoubleQuoted),
            b'\'' => (self.quoted()?, self.at.pos, Style::SingleQuoted),
            b'[' | b'{' => {
                let properties = self.merge_properties(outer, inner)?;
                return self.open_flow(candidate, properties);
            }
            b'*' if outer.is_empty() && inner.is_empty() => return self.alias(candidate),
            byte @ (b'*' | b'&' | b'!' | b']' | b'}' | b',' | b'|' | b'>') => {
                let property = matches!(byte, b'*' | b'&' | b'!');
                let problem = if property { self.instead_of_end() } else { "did not find expected node content" };
                let key = self.has_to_be_key(candidate);
                return Err(if key { self.missing_colon(candidate, problem) } else { self.unexpected(problem) });
            }
            b'%' | b'@' | b'`' | b'\t' => return Err(self.cannot_start()),
            _ => {
                let (text, end) = self.plain()?;
                (text, end, Style::Plain)
            }
        };
        if style != Style::Plain {
            self.key_allowed = false;
        }
        if self.take_colon(candidate) {
            let merge = self.is_merge(text, style, inner);
            let key = if merge { Scalar::Null } else { self.meaning(text, style, inner) };
            self.anchor_scalar(inner, &key, start, end, style);
            return self.simple_key(candidate.expect("only a candidate takes a colon"), outer, key, merge);
        }
        if self.has_to_be_key(candidate) {
            return Err(self.missing_colon(candidate, "did not find expected key"));
        }
        let properties = self.merge_properties(outer, inner)?;
        let merge = matches!(self.role(), Some(NodeRole::Key | NodeRole::ExplicitKey))
            && self.is_merge(text, style, properties);
        let value = if merge { Scalar::Null } else { self.meaning(text, style, properties) };
        let step = self.scalar(value, start, end, style, properties)?;
        if merge {
            self.merge_instead();
        }
        Ok(step)
    }

    /// Whether the candidate begins in the column of a map's keys.
    #[inline]
    pub(super) fn has_to_be_key(&self, candidate: Option<KeyCandidate>) -> bool {
        self.flow_level == 0 && candidate.is_some_and(|candidate| candidate.column as i32 == self.indent)
    }

    /// Adds a key that was followed by a `:`; its value is read next.
    pub(super) fn simple_key(
        &mut self,
        candidate: KeyCandidate,
        outer: Properties<'a>,
        key: Scalar,
        merge: bool,
    ) -> Result<ParserStep, BoxedReadError> {
        if self.flow_level > 0 {
            if self.top().kind == CollectionKind::FlowArray {
                self.push(CollectionKind::FlowPair, NodeRole::Key, candidate.pos, Properties::default())?;
            }
        } else if candidate.column as i32 > self.indent {
            self.push(CollectionKind::BlockMap, NodeRole::Key, candidate.pos, outer)?;
            self.indent = candidate.column as i32;
        }
        self.begin_map_item(key, candidate.pos, candidate.line, merge);
        self.top().role = NodeRole::Value;
        if self.flow_level > 0 { self.flow_value() } else { Ok(ParserStep::Node) }
    }
}
