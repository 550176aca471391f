//! The left side of an overlay: documents, the items of an array, the items of a map.
//!
//! The three differ in how their items are identified and where new ones are inserted; `merge`
//! treats everything else alike.

use super::index::Index;
use super::matcher::ItemKey;
use super::sequence::{InsertSide, Sequence};
use ytterby_diag::{Failure, Id};

use crate::node::{Annotated, ArrayItem, Document, Map, MapItem, Node, Scalar, key_text};

/// The kind of items of a left side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ItemKind {
    Document,
    MapItem,
    ArrayItem,
}

/// Where to add a new item that is not inserted next to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// After the last item; for documents, after the last one of the first file.
    First,
    /// After the last item; for documents, after the last one of the last file.
    Last,
}

/// Items that an overlay changes. A slot identifies an item as long as it exists.
pub(super) trait Left {
    type Item: Annotated + Clone;
    const KIND: ItemKind;

    fn first(&self) -> Option<usize>;
    fn after(&self, slot: usize) -> Option<usize>;
    fn get(&self, slot: usize) -> &Self::Item;
    /// The item, mutable except for a map item's key.
    fn get_mut(&mut self, slot: usize) -> &mut Self::Item;
    fn is_live(&self, slot: usize) -> bool;
    /// The slot of the item with an index.
    fn nth(&self, number: usize) -> Option<usize>;
    /// Sorts slots into the order of their items.
    fn sort(&self, slots: &mut Vec<usize>);
    /// The item's place for functions, given its index.
    fn place(&self, slot: usize, number: usize) -> ItemKey<'_>;
    /// The slot of the item with the same key, if items have keys.
    fn same_key(&self, _item: &Self::Item) -> Option<usize> {
        None
    }
    /// The key of an item of this kind, if items have keys.
    fn key_of<'i>(&self, _item: &'i Self::Item) -> Option<&'i Scalar> {
        None
    }
    fn replace(&mut self, slot: usize, item: Self::Item);
    fn remove(&mut self, slot: usize);
    fn push(&mut self, item: Self::Item, end: End);
    fn insert(&mut self, slot: usize, side: InsertSide, item: Self::Item);
    fn index(&mut self) -> &mut Index;

    /// Whether items can be added without a neighbour.
    fn has_room(&self) -> bool {
        true
    }

    /// Records changes inside an item.
    fn changed(&mut self, slot: usize);

    /// The existing slots and values, in order.
    fn values(&self) -> impl Iterator<Item = (usize, &Node)> {
        std::iter::successors(self.first(), |&slot| self.after(slot)).map(|slot| (slot, self.get(slot).value()))
    }
}

/// The items of an array.
pub(super) struct Items {
    sequence: Sequence<ArrayItem>,
    index: Index,
}

impl Items {
    pub fn new(items: Vec<ArrayItem>) -> Items {
        Items { sequence: Sequence::new(items), index: Index::default() }
    }

    pub fn into_vec(self) -> Vec<ArrayItem> {
        self.sequence.into_vec()
    }
}

/// Documents of some files.
pub(super) struct LeftDocuments {
    sequence: Sequence<Document>,
    /// The index of the file of each document, by slot.
    files: Vec<u32>,
    file_count: usize,
    index: Index,
}

impl LeftDocuments {
    /// The documents of each file.
    pub fn new(files: impl IntoIterator<Item = Vec<Document>>) -> LeftDocuments {
        let (mut items, mut numbers) = (Vec::new(), Vec::new());
        let mut file_count = 0;
        for docs in files {
            numbers.resize(numbers.len() + docs.len(), file_count as u32);
            items.extend(docs);
            file_count += 1;
        }
        LeftDocuments { sequence: Sequence::new(items), files: numbers, file_count, index: Index::default() }
    }

    /// The documents and their slots, in the order of files.
    pub fn snapshot(&self) -> Vec<(usize, Document)> {
        let slots = std::iter::successors(self.sequence.first(), |&slot| self.sequence.after(slot));
        let mut docs: Vec<(usize, Document)> = slots.map(|slot| (slot, self.sequence.get(slot).clone())).collect();
        docs.sort_by_key(|(slot, _)| self.files[*slot]);
        docs
    }

    /// The documents of each file again.
    pub fn into_files(self) -> Vec<Vec<Document>> {
        let mut files = vec![Vec::new(); self.file_count];
        for (slot, doc) in self.sequence.into_items() {
            files[self.files[slot] as usize].push(doc);
        }
        files
    }

    fn settle(&mut self, slot: usize, file: u32) {
        debug_assert_eq!(slot, self.files.len());
        self.files.push(file);
        self.changed(slot);
    }
}

macro_rules! sequence_methods {
    () => {
        fn first(&self) -> Option<usize> {
            self.sequence.first()
        }
        fn after(&self, slot: usize) -> Option<usize> {
            self.sequence.after(slot)
        }
        fn get(&self, slot: usize) -> &Self::Item {
            self.sequence.get(slot)
        }
        fn get_mut(&mut self, slot: usize) -> &mut Self::Item {
            self.sequence.get_mut(slot)
        }
        fn is_live(&self, slot: usize) -> bool {
            self.sequence.is_live(slot)
        }
        fn nth(&self, number: usize) -> Option<usize> {
            self.sequence.nth(number)
        }
        fn sort(&self, slots: &mut Vec<usize>) {
            self.sequence.sort(slots);
        }
        fn place(&self, _slot: usize, number: usize) -> ItemKey<'_> {
            ItemKey::Number(number)
        }
        fn replace(&mut self, slot: usize, item: Self::Item) {
            *self.sequence.get_mut(slot) = item;
            self.changed(slot);
        }
        fn remove(&mut self, slot: usize) {
            self.sequence.remove(slot);
            self.index.remove(slot);
        }
        fn index(&mut self) -> &mut Index {
            &mut self.index
        }
        fn changed(&mut self, slot: usize) {
            self.index.update(slot, &self.sequence.get(slot).value);
        }
    };
}

impl Left for Items {
    type Item = ArrayItem;
    const KIND: ItemKind = ItemKind::ArrayItem;

    sequence_methods!();

    fn push(&mut self, item: ArrayItem, _end: End) {
        let slot = self.sequence.push(item);
        self.changed(slot);
    }

    fn insert(&mut self, slot: usize, side: InsertSide, item: ArrayItem) {
        let slot = self.sequence.insert(slot, side, item);
        self.changed(slot);
    }
}

impl Left for LeftDocuments {
    type Item = Document;
    const KIND: ItemKind = ItemKind::Document;

    sequence_methods!();

    fn has_room(&self) -> bool {
        self.file_count > 0
    }

    fn push(&mut self, item: Document, end: End) {
        let last_file = self.file_count.saturating_sub(1) as u32;
        let slot = self.sequence.push(item);
        self.settle(slot, if end == End::First { 0 } else { last_file });
    }

    fn insert(&mut self, slot: usize, side: InsertSide, item: Document) {
        let file = self.files[slot];
        let slot = self.sequence.insert(slot, side, item);
        self.settle(slot, file);
    }
}

/// The items of a map. Removed items are taken out all at once, when the overlay of the map is done
/// or the same key is added again.
pub(super) struct Entries<'a> {
    map: &'a mut Map,
    removed: Vec<bool>,
    /// Whether an item was added whose key may exist already.
    may_repeat: bool,
    index: Index,
}

impl<'a> Entries<'a> {
    pub fn new(map: &'a mut Map) -> Entries<'a> {
        Entries { map, removed: Vec::new(), may_repeat: false, index: Index::default() }
    }

    /// Takes out the removed items. A duplicate key is then an error: such a map cannot be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.take_out_removed();
        if self.may_repeat {
            let first_of_key = |slot: usize| self.map.find(&self.map.items()[slot].key) == Some(slot);
            if let Some(slot) = (0..self.map.len()).find(|&slot| !first_of_key(slot)) {
                let key = key_text(&self.map.items()[slot].key);
                return Err(Failure::new(Id::OVERLAY_CONFLICT, format!("Unexpected duplicate key: {key}")));
            }
        }
        Ok(())
    }

    fn take_out_removed(&mut self) {
        if !self.removed.is_empty() {
            let mut removed = std::mem::take(&mut self.removed).into_iter();
            self.map.edit(|items| items.retain(|_| !removed.next().unwrap_or(false)));
            self.index = Index::default();
        }
    }

    fn next_live(&self, from: usize) -> Option<usize> {
        (from..self.map.len()).find(|&slot| self.is_live(slot))
    }
}

impl Left for Entries<'_> {
    type Item = MapItem;
    const KIND: ItemKind = ItemKind::MapItem;

    fn first(&self) -> Option<usize> {
        self.next_live(0)
    }

    fn after(&self, slot: usize) -> Option<usize> {
        self.next_live(slot + 1)
    }

    fn get(&self, slot: usize) -> &MapItem {
        &self.map.items()[slot]
    }

    fn get_mut(&mut self, slot: usize) -> &mut MapItem {
        self.map.item_mut(slot)
    }

    fn is_live(&self, slot: usize) -> bool {
        slot < self.map.len() && !self.removed.get(slot).is_some_and(|removed| *removed)
    }

    fn nth(&self, number: usize) -> Option<usize> {
        std::iter::successors(self.first(), |&slot| self.after(slot)).nth(number)
    }

    fn sort(&self, slots: &mut Vec<usize>) {
        slots.sort_unstable();
    }

    fn place(&self, slot: usize, _number: usize) -> ItemKey<'_> {
        ItemKey::Key(&self.get(slot).key)
    }

    fn same_key(&self, item: &MapItem) -> Option<usize> {
        self.map.find(&item.key).filter(|&slot| self.is_live(slot))
    }

    fn key_of<'i>(&self, item: &'i MapItem) -> Option<&'i Scalar> {
        Some(&item.key)
    }

    fn replace(&mut self, slot: usize, item: MapItem) {
        if self.get(slot).key == item.key {
            *self.map.item_mut(slot) = item;
        } else {
            self.map.edit(|items| items[slot] = item);
            self.may_repeat = true;
        }
        self.changed(slot);
    }

    fn remove(&mut self, slot: usize) {
        self.removed.resize(self.map.len(), false);
        self.removed[slot] = true;
        self.index.remove(slot);
    }

    fn push(&mut self, item: MapItem, _end: End) {
        match self.map.find(&item.key) {
            Some(slot) if self.is_live(slot) => self.may_repeat = true,
            Some(_) => self.take_out_removed(),
            None => {}
        }
        let slot = self.map.len();
        self.map.push(item);
        self.changed(slot);
    }

    fn insert(&mut self, _slot: usize, _side: InsertSide, item: MapItem) {
        // Overlays cannot specify the position of a map item; see `merge`.
        self.push(item, End::Last);
    }

    fn index(&mut self) -> &mut Index {
        &mut self.index
    }

    fn changed(&mut self, slot: usize) {
        self.index.update(slot, &self.map.items()[slot].value);
    }
}
