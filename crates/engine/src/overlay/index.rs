//! Finds the items with a given scalar at a given path, without scanning every item.
//!
//! A path that is queried once is not worth a table: the caller scans the items. From the second
//! query on there is a table. It may contain items that have changed since, so the caller checks
//! each result again; it never misses an item that matches.

use rustc_hash::FxHashMap;

use crate::node::{Node, Scalar, hash};

/// Beyond this number of paths, items are scanned.
const MAX_PATHS: usize = 16;

/// Tables of one sequence of items, created when they pay off.
#[derive(Default)]
pub(super) struct Index {
    fields: Vec<IndexedPath>,
}

struct IndexedPath {
    path: Vec<Scalar>,
    table: Option<PathIndex>,
}

#[derive(Default)]
struct PathIndex {
    slots: FxHashMap<u64, Vec<u32>>,
    content: Vec<ItemContent>,
    /// The number of items without anything at the path.
    lacking: usize,
}

/// The content of an item at the path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ItemContent {
    Scalar(u64),
    Collection,
    Nothing,
    Removed,
}

/// A scalar that is required at the end of a path of map keys.
#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub path: Vec<Scalar>,
    pub scalar: Scalar,
}

impl Index {
    /// The slots that may have this leaf, unordered, and the number of items without anything at
    /// its path; `None` if every item must be scanned. `items` returns the existing slots.
    pub fn candidates<'n>(
        &mut self,
        leaf: &Leaf,
        items: impl Iterator<Item = (usize, &'n Node)>,
    ) -> Option<(&[u32], usize)> {
        let at = self.fields.iter().position(|field| field.path == leaf.path);
        let Some(at) = at else {
            if self.fields.len() < MAX_PATHS {
                self.fields.push(IndexedPath { path: leaf.path.clone(), table: None });
            }
            return None;
        };
        let field = &mut self.fields[at];
        let table = field.table.get_or_insert_with(|| {
            let mut table = PathIndex::default();
            items.for_each(|(slot, node)| table.put(slot, content(node, &field.path)));
            table
        });
        Some((table.slots.get(&hash(&leaf.scalar)).map_or(&[], Vec::as_slice), table.lacking))
    }

    /// Records a new or changed item.
    pub fn update(&mut self, slot: usize, node: &Node) {
        for IndexedPath { path, table } in &mut self.fields {
            if let Some(table) = table {
                table.put(slot, content(node, path));
            }
        }
    }

    /// Records that an item was removed.
    pub fn remove(&mut self, slot: usize) {
        for table in self.fields.iter_mut().filter_map(|field| field.table.as_mut()) {
            table.put(slot, ItemContent::Removed);
        }
    }
}

impl PathIndex {
    fn put(&mut self, slot: usize, content: ItemContent) {
        if slot >= self.content.len() {
            self.content.resize(slot + 1, ItemContent::Removed);
        }
        let before = std::mem::replace(&mut self.content[slot], content);
        if before == content {
            return;
        }
        self.lacking -= usize::from(before == ItemContent::Nothing);
        self.lacking += usize::from(content == ItemContent::Nothing);
        if let ItemContent::Scalar(hash) = content {
            self.slots.entry(hash).or_default().push(slot as u32);
        }
    }
}

fn content(node: &Node, path: &[Scalar]) -> ItemContent {
    match at_path(node, path) {
        Some(Node::Scalar(scalar)) => ItemContent::Scalar(hash(scalar)),
        Some(_) => ItemContent::Collection,
        None => ItemContent::Nothing,
    }
}

/// The node at a path of map keys.
pub(super) fn at_path<'n>(node: &'n Node, path: &[Scalar]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, key| Some(&node.as_map()?.get(key)?.value))
}

/// Up to `limit` of the leaves in a map, outermost first.
pub(super) fn leaves(expected: &Node, limit: usize) -> Vec<Leaf> {
    let mut found = Vec::new();
    let mut pending = std::collections::VecDeque::from([(Vec::new(), expected)]);
    while let Some((path, node)) = pending.pop_front() {
        match node {
            _ if found.len() == limit => break,
            _ if path.len() > MAX_PATHS => {}
            Node::Scalar(scalar) => found.push(Leaf { path, scalar: scalar.clone() }),
            Node::Map(map) => pending.extend(map.iter().take(limit).map(|item| {
                let mut path = path.clone();
                path.push(item.key.clone());
                (path, &item.value)
            })),
            Node::Array(_) => {}
        }
    }
    found
}
