//! The interface for finding the data values that cause a problem in the output. Checks use it
//! without depending on the implementation in `provenance`.

use ytterby_diag::{Path, Pos, Step};
use ytterby_text::budget;

use crate::node::{Document, Node, key_text};

/// Finds the data values that determine nodes of the output.
pub(crate) trait FindCauses {
    /// For each node, the data values that determine it, and where each was given.
    fn of(&self, wrong: &[(Document, Path)]) -> Vec<Vec<(Path, Pos)>>;
}

/// Adds the entries that are not present yet.
pub(crate) fn add(reads: &mut Vec<(Path, Pos)>, more: Vec<(Path, Pos)>) {
    for (path, pos) in more {
        if !reads.iter().any(|(known, _)| *known == path) {
            reads.push((path, pos));
        }
    }
}

/// Documents by the position where they begin.
pub(crate) struct DocumentsByPosition {
    docs: Vec<Document>,
    /// Their numbers, sorted by position.
    order: Vec<usize>,
}

impl DocumentsByPosition {
    pub fn new(docs: Vec<Document>) -> DocumentsByPosition {
        let mut order: Vec<usize> = (0..docs.len()).collect();
        order.sort_by_key(|at| key(docs[*at].pos));
        DocumentsByPosition { docs, order }
    }

    /// The document with a node at this path and position; otherwise one that contains the item
    /// around it. Most nodes are in a document that begins before them, with no other in between.
    pub fn document_with(&self, path: &Path, pos: Pos) -> Option<&Document> {
        let steps = path.steps();
        let around = &steps[..steps.len().saturating_sub(1)];
        let is_at = |doc: &&Document, steps: &[Step]| {
            budget::or_unwind(budget::work(1));
            place_of(doc, steps) == Some(pos)
        };
        let before = &self.order[..self.order.partition_point(|at| key(self.docs[*at].pos) <= key(pos))];
        let nearest = before.last().map(|at| key(self.docs[*at].pos));
        let first = before.partition_point(|at| Some(key(self.docs[*at].pos)) < nearest);
        let near = || before[first..].iter().map(|at| &self.docs[*at]);
        near()
            .find(|doc| is_at(doc, steps))
            .or_else(|| near().find(|doc| is_at(doc, around)))
            .or_else(|| self.docs.iter().find(|doc| is_at(doc, steps)))
            .or_else(|| self.docs.iter().find(|doc| is_at(doc, around)))
    }
}

fn key(pos: Pos) -> (u32, u32) {
    (pos.file.0, pos.offset)
}

/// The position of the item at a path, or of the nearest enclosing one with a position.
fn place_of(doc: &Document, steps: &[Step]) -> Option<Pos> {
    let (mut node, mut place) = (&doc.value, doc.pos);
    for step in steps {
        let (value, pos) = match (step, node) {
            (Step::Key(key), Node::Map(map)) => {
                let item = map.iter().find(|item| key_text(&item.key) == *key)?;
                (&item.value, item.pos)
            }
            (Step::Index(index), Node::Array(array)) => {
                let item = array.items.get(*index)?;
                (&item.value, item.pos)
            }
            _ => return None,
        };
        node = value;
        place = if pos.is_known() { pos } else { place };
    }
    Some(place)
}
