//! Maps and arrays as keys: `? [a, b]`, and also `{{ x }}` of other template languages.
//!
//! A collection is read like any other. If it ends where a key is required, or if a `:` follows, it
//! is removed from the tree and becomes a [`Scalar::Complex`].

use std::sync::Arc;

use super::parser::{NodeRole, Parser, ParserStep};
use super::{BoxedReadError, MAX_KEY_DEPTH};
use crate::tree::TreeValue;
use crate::{ComplexKey, NodeId, Scalar};

impl Parser<'_> {
    /// Handles a collection that ended where a key is required.
    #[cold]
    pub(super) fn collection_as_key(&mut self, id: NodeId, height: u32) -> Result<ParserStep, BoxedReadError> {
        let key = self.key_of(id, height)?;
        let start = self.tree.nodes[id.0 as usize].start() as usize;
        let line = self.line_of(start);
        let role = self.role();
        self.note_height(height);
        self.begin_map_item(key, start, line, false);
        if role == Some(NodeRole::Key) {
            self.value_is_absent()?;
        } else {
            self.top().role = NodeRole::AfterKey;
        }
        Ok(ParserStep::Next)
    }

    /// A node as a key.
    pub(super) fn key_of(&self, id: NodeId, height: u32) -> Result<Scalar, BoxedReadError> {
        if height > MAX_KEY_DEPTH {
            let text = format!("map keys are nested more than {MAX_KEY_DEPTH} levels deep");
            return Err(self.scan_error(&text));
        }
        Ok(self.key_node(id))
    }

    /// Recursive; the height of nodes, including keys, is limited.
    fn key_node(&self, id: NodeId) -> Scalar {
        let key = match &self.tree.nodes[id.0 as usize].value {
            TreeValue::Scalar(scalar) => return scalar.clone(),
            TreeValue::Map(from, to) => {
                let items = &self.tree.map_items[*from as usize..*to as usize];
                let mut pairs: Vec<(Scalar, Scalar)> = Vec::with_capacity(items.len());
                for item in items {
                    pairs.push((item.key.clone(), self.key_node(item.value)));
                }
                ComplexKey::Map(pairs)
            }
            TreeValue::Array(from, to) => {
                let items = &self.tree.array_items[*from as usize..*to as usize];
                // The reference counts lines from 0, after a `---` that it adds if there is none.
                let shift = u32::from(!self.shifted);
                let item = |item: &crate::ArrayItem| {
                    (self.key_node(item.value), self.line_of(item.pos.offset as usize) - shift)
                };
                ComplexKey::Array(items.iter().map(item).collect())
            }
        };
        Scalar::Complex(Arc::new(key))
    }

    /// The line of an offset that was read already.
    fn line_of(&self, at: usize) -> u32 {
        let starts = self.line_starts.get_or_init(|| self.at.line_starts());
        starts.partition_point(|start| *start <= at) as u32
    }
}
