//! Flow style: collections in brackets.
//!
//! Each function reads one item, separator or bracket and returns the next step; the stack of open
//! collections is in the parser.

use super::BoxedReadError;
use super::parser::{CollectionKind, KeyCandidate, NodeRole, Parser, ParserStep};
use super::properties::Properties;

impl<'a> Parser<'a> {
    /// Opens the collection whose bracket is here.
    pub(super) fn open_flow(
        &mut self,
        candidate: Option<KeyCandidate>,
        properties: Properties<'a>,
    ) -> Result<ParserStep, BoxedReadError> {
        if self.has_to_be_key(candidate) {
            let place = (self.at.pos, self.at.line, self.at.line_start, self.key_allowed);
            if let Some(error) = self.colon_problem(candidate) {
                return Err(error);
            }
            (self.at.pos, self.at.line, self.at.line_start, self.key_allowed) = place;
        }
        let (kind, role) = if self.at.byte() == b'[' {
            (CollectionKind::FlowArray, NodeRole::Item)
        } else {
            (CollectionKind::FlowMap, NodeRole::Key)
        };
        self.push(kind, role, self.at.pos, properties)?;
        self.top().candidate = candidate;
        self.pending.awaiting_item = kind == CollectionKind::FlowArray;
        self.flow_level += 1;
        self.at.pos += 1;
        self.key_allowed = true;
        Ok(ParserStep::Next)
    }

    fn close_flow(&mut self) -> Result<ParserStep, BoxedReadError> {
        self.at.pos += 1;
        self.value_at = self.at.pos;
        self.flow_level -= 1;
        self.key_allowed = false;
        self.pending.awaiting_item = false;
        let candidate = self.top().candidate;
        if self.take_colon(candidate) {
            let ParserStep::Done(id, height) = self.close() else { unreachable!("what closes is done") };
            let key = self.key_of(id, height)?;
            let candidate = candidate.expect("only a candidate takes a colon");
            let step = self.simple_key(candidate, Properties::default(), key, false);
            self.note_height(height);
            return step;
        }
        if self.has_to_be_key(candidate) {
            return Err(self.missing_colon(candidate, "did not find expected key"));
        }
        Ok(self.close())
    }

    /// Goes to the next item of a collection that ends with `closing`; returns a step if it ends
    /// instead.
    fn separator(&mut self, closing: u8, problem: &str) -> Result<Option<ParserStep>, BoxedReadError> {
        self.skip_to_token();
        if self.at.byte() == closing {
            return self.close_flow().map(Some);
        }
        if !self.top().fresh {
            if self.at.byte() != b',' {
                return Err(self.unexpected(problem));
            }
            let separator = (self.at.pos, self.at.line);
            self.top().separator = separator;
            self.pending.awaiting_item = closing == b']';
            self.at.pos += 1;
            self.value_at = self.at.pos;
            self.key_allowed = true;
            self.skip_to_token();
            if self.at.byte() == closing {
                return self.close_flow().map(Some);
            }
        }
        self.top().fresh = false;
        Ok(None)
    }

    pub(super) fn next_flow_item(&mut self) -> Result<ParserStep, BoxedReadError> {
        loop {
            if let Some(step) = self.separator(b']', "did not find expected ',' or ']'")? {
                return Ok(step);
            }
            let (pos, line) = self.top().separator;
            self.begin_array_item(pos, line);
            match self.quick_flow_scalar(b']') {
                Some(id) => self.open_array_items.last_mut().expect("the item was begun").value = id,
                None => break,
            }
        }
        if self.at.byte() == b'?' && !self.at.at_end() {
            self.push(CollectionKind::FlowPair, NodeRole::ExplicitKey, self.at.pos, Properties::default())?;
            return self.explicit_flow_key();
        }
        Ok(ParserStep::Node)
    }

    pub(super) fn next_flow_key(&mut self) -> Result<ParserStep, BoxedReadError> {
        if self.top().role == NodeRole::AfterKey {
            self.skip_to_token();
            if self.at.byte() == b':' {
                return self.after_flow_colon();
            }
            self.value_is_absent()?;
        }
        loop {
            if let Some(step) = self.separator(b'}', "did not find expected ',' or '}'")? {
                return Ok(step);
            }
            if self.at.byte() == b'?' {
                return self.explicit_flow_key();
            }
            self.top().role = NodeRole::Key;
            if !self.quick_flow_key() {
                return Ok(ParserStep::Node);
            }
            self.at.pos += 1;
            let Some(id) = self.quick_flow_scalar(b'}') else { return self.flow_value() };
            self.open_map_items.last_mut().expect("the item was begun").value = id;
            self.top().role = NodeRole::Key;
        }
    }

    /// Reads the key after the `?` here.
    fn explicit_flow_key(&mut self) -> Result<ParserStep, BoxedReadError> {
        self.at.pos += 1;
        self.value_at = self.at.pos;
        self.key_allowed = false;
        self.top().role = NodeRole::ExplicitKey;
        self.skip_to_token();
        if matches!(self.at.byte(), b':' | b',' | b']' | b'}') {
            return self.empty(Properties::default());
        }
        Ok(ParserStep::Node)
    }

    pub(super) fn after_pair_key(&mut self) -> Result<ParserStep, BoxedReadError> {
        self.skip_to_token();
        if self.at.byte() == b':' {
            return self.after_flow_colon();
        }
        self.value_is_absent()?;
        Ok(self.close())
    }

    fn after_flow_colon(&mut self) -> Result<ParserStep, BoxedReadError> {
        self.at.pos += 1;
        self.value_at = self.at.pos;
        self.key_allowed = false;
        self.top().role = NodeRole::Value;
        self.flow_value()
    }

    /// The value after a `:`, which may be absent.
    pub(super) fn flow_value(&mut self) -> Result<ParserStep, BoxedReadError> {
        self.skip_to_token();
        let closing = if self.top().kind == CollectionKind::FlowMap { b'}' } else { b']' };
        if self.at.byte() == b',' || self.at.byte() == closing {
            return self.empty(Properties::default());
        }
        Ok(ParserStep::Node)
    }

    /// Reads a node inside of brackets.
    pub(super) fn flow_node(&mut self) -> Result<ParserStep, BoxedReadError> {
        self.skip_to_token();
        let candidate = self.candidate();
        let mut properties = Properties::default();
        while self.property(&mut properties)? {
            self.skip_to_token();
        }
        let alone = self.at.is_blank_or_end(self.at.pos + 1);
        let no_content = self.at.at_end()
            || self.at.at_document_marker()
            || match self.at.byte() {
                b'?' | b':' | b',' | b']' | b'}' => true,
                b'-' => alone,
                _ => false,
            };
        if no_content {
            if properties.is_empty() {
                return Err(self.unexpected("did not find expected node content"));
            }
            return self.bare_properties(candidate, Properties::default(), properties);
        }
        if matches!(self.at.byte(), b'|' | b'>') {
            return Err(self.cannot_start());
        }
        self.content(candidate, Properties::default(), properties)
    }
}
