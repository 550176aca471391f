//! A map that keeps the order of its items, and finds keys by hash if it is large.
//!
//! Most maps of manifests have a few keys: up to `LINEAR` items a scan is faster than hashing. Keys
//! cannot be changed through an item, so the index stays correct; `Map::edit` changes anything and
//! drops the index.

use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use ytterby_diag::Pos;
use ytterby_text::Str;

use super::{MapItem, Node, Origin, Scalar};

/// Up to this many items, a lookup scans them all.
const LINEAR: usize = 8;

/// Items in order; [`Map::find`] takes constant time. For duplicate keys, `find` returns the first.
#[derive(Clone, Default, Debug)]
pub(crate) struct Map {
    items: Vec<MapItem>,
    index: OnceCell<Box<HashTable<u32>>>,
    pub origin: Origin,
    /// Whether an overlay was merged into it, so that its items may have positions elsewhere.
    pub is_merged: bool,
}

impl Map {
    pub fn new() -> Map {
        Map::default()
    }

    pub fn with_capacity(capacity: usize) -> Map {
        Map { items: Vec::with_capacity(capacity), ..Map::default() }
    }

    pub fn from_items(items: Vec<MapItem>) -> Map {
        Map { items, ..Map::default() }
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub fn items(&self) -> &[MapItem] {
        &self.items
    }

    pub fn into_items(self) -> Vec<MapItem> {
        self.items
    }

    pub fn iter(&self) -> std::slice::Iter<'_, MapItem> {
        self.items.iter()
    }

    /// The index of the item with this key.
    pub fn find(&self, key: &Scalar) -> Option<usize> {
        if self.items.len() <= LINEAR {
            return match key {
                Scalar::Str(text) => self.find_text(text),
                key => self.items.iter().position(|item| item.key == *key),
            };
        }
        let index = self.index.get_or_init(|| Box::new(build_index(&self.items)));
        index.find(hash(key), |&at| self.items[at as usize].key == *key).map(|&at| at as usize)
    }

    /// The index of the item with this string as key.
    pub fn find_text(&self, key: &Str) -> Option<usize> {
        if self.items.len() <= LINEAR {
            return self.items.iter().position(|item| matches!(&item.key, Scalar::Str(text) if text == key));
        }
        self.find(&Scalar::Str(key.clone()))
    }

    pub fn get(&self, key: &Scalar) -> Option<&MapItem> {
        self.find(key).map(|at| &self.items[at])
    }

    /// The item with this string as key.
    pub fn get_str(&self, key: &str) -> Option<&MapItem> {
        self.get(&Scalar::from(key))
    }

    /// The item at an index, mutable except for its key (use [`Map::edit`] for that).
    pub fn item_mut(&mut self, at: usize) -> &mut MapItem {
        &mut self.items[at]
    }

    /// The items, mutable except for their keys.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, MapItem> {
        self.items.iter_mut()
    }

    /// Adds an item at the end.
    #[inline]
    pub fn push(&mut self, item: MapItem) {
        if self.index.get().is_some() {
            self.note_key(&item.key);
        }
        self.items.push(item);
    }

    /// Adds the key of the next item to the index.
    fn note_key(&mut self, key: &Scalar) {
        let (items, key_hash, at) = (&self.items, hash(key), self.items.len() as u32);
        // For duplicate keys, the first is found.
        if let Some(index) = self.index.get_mut()
            && index.find(key_hash, |&at| items[at as usize].key == *key).is_none()
        {
            index.insert_unique(key_hash, at, |&at| hash(&items[at as usize].key));
        }
    }

    /// Adds `key: value` at the end, with no position.
    pub fn push_new(&mut self, key: impl Into<Scalar>, value: impl Into<Node>) {
        self.push(MapItem::new(key.into(), value.into(), Pos::UNKNOWN));
    }

    /// The last item, mutable except for its key.
    pub fn last_mut(&mut self) -> Option<&mut MapItem> {
        self.items.last_mut()
    }

    /// Frees unused capacity if it is more than a third.
    pub fn shrink_if_wasteful(&mut self) {
        if self.items.len() * 3 / 2 < self.items.capacity() {
            self.items.shrink_to_fit();
        }
    }

    /// Removes the last item.
    pub fn pop(&mut self) -> Option<MapItem> {
        let item = self.items.pop()?;
        let at = self.items.len() as u32;
        if let Some(index) = self.index.get_mut()
            && let Ok(entry) = index.find_entry(hash(&item.key), |&found| found == at)
        {
            entry.remove();
        }
        Some(item)
    }

    /// Removes an item; linear in the number of items after it.
    pub fn remove(&mut self, at: usize) -> MapItem {
        self.index.take();
        self.items.remove(at)
    }

    /// Changes the items freely; the index is rebuilt lazily.
    pub fn edit<R>(&mut self, change: impl FnOnce(&mut Vec<MapItem>) -> R) -> R {
        self.index.take();
        change(&mut self.items)
    }
}

fn build_index(items: &[MapItem]) -> HashTable<u32> {
    let mut index = HashTable::with_capacity(items.len());
    for (at, item) in items.iter().enumerate() {
        let key_hash = hash(&item.key);
        if index.find(key_hash, |&at: &u32| items[at as usize].key == item.key).is_none() {
            index.insert_unique(key_hash, at as u32, |&at| hash(&items[at as usize].key));
        }
    }
    index
}

/// A hash that is equal for equal scalars.
pub(crate) fn hash(key: &Scalar) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

impl FromIterator<MapItem> for Map {
    fn from_iter<I: IntoIterator<Item = MapItem>>(items: I) -> Map {
        Map::from_items(items.into_iter().collect())
    }
}
