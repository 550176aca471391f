//! The interface for finding the data values that cause a problem in the output. Checks use it
//! without depending on the implementation in `provenance`.

use ytterby_diag::{Path, Pos, Step};

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

/// The document with a node at this path and position; otherwise one that contains the item around
/// it.
pub(crate) fn document_with<'d>(docs: &'d [Document], path: &Path, pos: Pos) -> Option<&'d Document> {
    let steps = path.steps();
    let around = &steps[..steps.len().saturating_sub(1)];
    let is_at = |doc: &&Document, steps: &[Step]| place_of(doc, steps) == Some(pos);
    docs.iter().find(|doc| is_at(doc, steps)).or_else(|| docs.iter().find(|doc| is_at(doc, around)))
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
