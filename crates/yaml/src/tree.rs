//! The tree that the reader builds: documents, items and scalars, with positions and comments.
//!
//! All nodes are in vectors of the tree and refer to each other by index, so a tree of any depth is
//! dropped without recursion and needs few allocations. An alias is the index of its node: the same
//! [`NodeId`] can occur several times, and consumers treat each as a copy. Duplicate keys are all
//! kept; see [`last_wins`].

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use ytterby_diag::{FileId, Pos, Span};
use ytterby_text::Str;

use crate::Scalar;

/// The content of one file.
#[derive(Debug)]
pub struct Tree {
    pub(crate) file: FileId,
    pub(crate) documents: Vec<Document>,
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) map_items: Vec<MapItem>,
    pub(crate) array_items: Vec<ArrayItem>,
    pub(crate) comments: Vec<Comment>,
}

/// Identifies a node of a [`Tree`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct NodeId(pub(crate) u32);

/// The content of a node.
#[derive(Clone, Copy, Debug)]
pub enum View<'a> {
    /// A leaf.
    Scalar(&'a Scalar),
    /// A map: its items in order, including duplicate keys.
    Map(&'a [MapItem]),
    /// An array: its items in order.
    Array(&'a [ArrayItem]),
}

/// A document: the text between two `---`.
#[derive(Clone, Debug)]
pub struct Document {
    /// The position of `---`; the beginning of the file for a first document without one.
    pub pos: Pos,
    /// Its content; null if there is none.
    pub value: NodeId,
    /// Whether it is not in the text, but was added at the end of the file for comments without a
    /// node. Its `pos` is unknown.
    pub injected: bool,
    pub(crate) comments: u32,
}

/// One `key: value` of a map.
#[derive(Clone, Debug)]
pub struct MapItem {
    /// The key.
    pub key: Scalar,
    /// Where the key begins.
    pub pos: Pos,
    /// The value; null if there is none.
    pub value: NodeId,
    pub(crate) comments: u32,
}

/// One `- value` of an array.
#[derive(Clone, Debug)]
pub struct ArrayItem {
    /// The `-`; in flow style the `[` or `,` before the item.
    pub pos: Pos,
    /// The value; null if there is none.
    pub value: NodeId,
    pub(crate) comments: u32,
}

/// A comment: from the `#` to the end of the line.
#[derive(Clone, Debug)]
pub struct Comment {
    /// The position of the `#`.
    pub pos: Pos,
    /// The text after the `#`.
    pub text: Str,
    /// Whether it is on the line of its node; otherwise it is above.
    pub inline: bool,
    /// Offset of the node that owns it. The comments of one node are consecutive.
    pub(crate) owner: u32,
}

/// How a node is written in the source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// A scalar without quotes, or an empty text.
    Plain,
    /// A scalar in `'…'`.
    SingleQuoted,
    /// A scalar in `"…"`.
    DoubleQuoted,
    /// A block scalar after `|`.
    Literal,
    /// A block scalar after `>`.
    Folded,
    /// A map or array that is structured by indentation.
    Block,
    /// A map or array in `{…}` or `[…]`.
    Flow,
}

const STYLES: [Style; 7] =
    [Style::Plain, Style::SingleQuoted, Style::DoubleQuoted, Style::Literal, Style::Folded, Style::Block, Style::Flow];

/// 32 bytes: the value, where its text begins (after anchor and tag), and its length and style in
/// one number.
#[derive(Debug)]
pub(crate) struct TreeNode {
    pub(crate) value: TreeValue,
    start: u32,
    extent: u32,
}

/// A scalar, or a range of the tree's items.
#[derive(Debug)]
pub(crate) enum TreeValue {
    Scalar(Scalar),
    Map(u32, u32),
    Array(u32, u32),
}

impl TreeNode {
    /// Where its text begins.
    pub(crate) fn start(&self) -> u32 {
        self.start
    }

    #[inline(always)]
    pub(crate) fn new(value: TreeValue, start: u32, end: u32, style: Style) -> TreeNode {
        // Three bits store the style. The length of a text saturates at half a gigabyte.
        let len = end.saturating_sub(start).min(u32::MAX >> 3);
        TreeNode { value, start, extent: len << 3 | style as u32 }
    }
}

impl Tree {
    /// The documents in order. As in ytt, the first one is empty if a comment precedes the first
    /// `---`.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Forgets everything but the file. Nodes of later documents use the same memory.
    pub(crate) fn clear(&mut self) {
        self.documents.clear();
        self.nodes.clear();
        self.map_items.clear();
        self.array_items.clear();
        self.comments.clear();
    }

    /// The content of a node.
    #[inline]
    pub fn value(&self, id: NodeId) -> View<'_> {
        match &self.nodes[id.0 as usize].value {
            TreeValue::Scalar(scalar) => View::Scalar(scalar),
            TreeValue::Map(start, end) => View::Map(&self.map_items[*start as usize..*end as usize]),
            TreeValue::Array(start, end) => View::Array(&self.array_items[*start as usize..*end as usize]),
        }
    }

    /// The text of a node in the source, without anchor and tag, including quotes and brackets;
    /// empty for an absent value.
    pub fn span(&self, id: NodeId) -> Span {
        let node = &self.nodes[id.0 as usize];
        Span::new(self.file, node.start, node.start + (node.extent >> 3))
    }

    /// How a node is written in the source.
    pub fn style(&self, id: NodeId) -> Style {
        STYLES[(self.nodes[id.0 as usize].extent & 7) as usize]
    }

    /// The file that was read.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// The comments of a document, map item or array item, in order.
    pub fn comments(&self, owner: &impl Commented) -> &[Comment] {
        let (start, owner) = owner.place();
        let rest = self.comments.get(start as usize..).unwrap_or_default();
        let len = rest.iter().position(|comment| comment.owner != owner).unwrap_or(rest.len());
        &rest[..len]
    }

    /// Every comment of the file that belongs to a node, in order.
    pub fn all_comments(&self) -> &[Comment] {
        &self.comments
    }
}

/// Types that can have comments: [`Document`], [`MapItem`], [`ArrayItem`].
pub trait Commented {
    #[doc(hidden)]
    fn place(&self) -> (u32, u32);
}

/// The owner of the comments of a document without a position.
pub(crate) const NO_OFFSET: u32 = u32::MAX;

impl Commented for Document {
    fn place(&self) -> (u32, u32) {
        (self.comments, if self.injected { NO_OFFSET } else { self.pos.offset })
    }
}

impl Commented for MapItem {
    fn place(&self) -> (u32, u32) {
        (self.comments, self.pos.offset)
    }
}

impl Commented for ArrayItem {
    fn place(&self) -> (u32, u32) {
        (self.comments, self.pos.offset)
    }
}

/// Up to this many items, keys are compared with each other; beyond it they are hashed.
const COMPARED: usize = 8;

/// Whether there are duplicate keys.
pub fn has_duplicate_keys(items: &[MapItem]) -> bool {
    if items.len() <= COMPARED {
        let is_equal = |(at, item): (usize, &MapItem)| items[..at].iter().any(|other| other.key == item.key);
        return may_have_duplicate_keys(items) && items.iter().enumerate().any(is_equal);
    }
    let mut seen = HashSet::with_capacity(items.len());
    !items.iter().all(|item| seen.insert(HashedKey(&item.key)))
}

/// Whether the keys of a few items may not all be different. Keys are mostly short strings, and
/// their digests differ: two instructions for each pair instead of twenty.
#[inline]
fn may_have_duplicate_keys(items: &[MapItem]) -> bool {
    let mut digests = [0; COMPARED];
    for (at, item) in items.iter().enumerate() {
        let Scalar::Str(key) = &item.key else { return true };
        let Some([first, second, third]) = key.short() else { return true };
        let digest = first ^ second.rotate_left(21) ^ third.rotate_left(42);
        if digests[..at].contains(&digest) {
            return true;
        }
        digests[at] = digest;
    }
    false
}

/// The items without duplicate keys: the last value wins, at the place of the first. This is the
/// rule for plain YAML. Each item comes with the position of the first one with its key.
pub fn last_wins(items: &[MapItem]) -> Vec<(&MapItem, Pos)> {
    let mut kept: Vec<(&MapItem, Pos)> = Vec::with_capacity(items.len());
    if items.len() <= COMPARED {
        for item in items {
            match kept.iter_mut().find(|(seen, _)| seen.key == item.key) {
                Some((seen, _)) => *seen = item,
                None => kept.push((item, item.pos)),
            }
        }
        return kept;
    }
    let mut places: HashMap<HashedKey<'_>, usize> = HashMap::with_capacity(items.len());
    for item in items {
        match places.entry(HashedKey(&item.key)) {
            Entry::Occupied(place) => kept[*place.get()].0 = item,
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push((item, item.pos));
            }
        }
    }
    kept
}

struct HashedKey<'a>(&'a Scalar);

impl PartialEq for HashedKey<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

// A NaN is not equal to itself, so each is a separate key, as in the reference.
impl Eq for HashedKey<'_> {}

impl std::hash::Hash for HashedKey<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::hash::Hash::hash(self.0, state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_items_are_small() {
        assert_eq!(size_of::<TreeNode>(), 32);
        assert_eq!(size_of::<MapItem>(), 40);
        assert_eq!(size_of::<ArrayItem>(), 16);
    }
}
