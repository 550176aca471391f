//! A sequence whose slots stay valid while items are inserted or removed.
//!
//! Items are stored in slots. As long as nothing is inserted or removed, slots are in order and
//! nothing else is needed; the first insertion or removal adds links between the slots. So each
//! change takes constant time, however long the sequence is, and an index over the slots stays
//! valid.

use ytterby_text::budget;

/// Items in slots.
pub(super) struct Sequence<T> {
    slots: Vec<T>,
    links: Option<Links>,
}

/// The order of the slots, if it differs from that of their numbers.
struct Links {
    next: Vec<u32>,
    previous: Vec<u32>,
    first: u32,
    last: u32,
    /// Whether slots may be out of order; removals alone keep the order.
    shuffled: bool,
}

/// No slot: the end of the sequence.
const END: u32 = u32::MAX;
/// Instead of the next slot, for a slot whose item was removed.
const REMOVED: u32 = u32::MAX - 1;

/// On which side of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InsertSide {
    Before,
    After,
}

impl<T> Sequence<T> {
    pub fn new(items: Vec<T>) -> Sequence<T> {
        Sequence { slots: items, links: None }
    }

    pub fn get(&self, slot: usize) -> &T {
        &self.slots[slot]
    }

    pub fn get_mut(&mut self, slot: usize) -> &mut T {
        &mut self.slots[slot]
    }

    /// Whether the item of a slot still exists.
    pub fn is_live(&self, slot: usize) -> bool {
        slot < self.slots.len() && self.links.as_ref().is_none_or(|links| links.next[slot] != REMOVED)
    }

    /// The slot of the first item.
    pub fn first(&self) -> Option<usize> {
        match &self.links {
            Some(links) => known(links.first),
            None => (!self.slots.is_empty()).then_some(0),
        }
    }

    /// The slot after this one, whose item must exist.
    pub fn after(&self, slot: usize) -> Option<usize> {
        match &self.links {
            Some(links) => known(links.next[slot]),
            None => (slot + 1 < self.slots.len()).then_some(slot + 1),
        }
    }

    /// The slot of the item with this index.
    pub fn nth(&self, number: usize) -> Option<usize> {
        match &self.links {
            Some(_) => std::iter::successors(self.first(), |&slot| self.after(slot)).nth(number),
            None => (number < self.slots.len()).then_some(number),
        }
    }

    /// Sorts slots into the order of their items.
    pub fn sort(&self, slots: &mut Vec<usize>) {
        slots.sort_unstable();
        if slots.len() > 1 && self.links.as_ref().is_some_and(|links| links.shuffled) {
            let in_order = std::iter::successors(self.first(), |&slot| self.after(slot));
            *slots = in_order.filter(|slot| slots.binary_search(slot).is_ok()).collect();
        }
    }

    /// Adds an item at the end and returns its slot.
    pub fn push(&mut self, item: T) -> usize {
        let slot = self.slots.len();
        self.slots.push(item);
        if let Some(links) = &mut self.links {
            let last = links.last;
            links.next.push(END);
            links.previous.push(last);
            links.join(last, slot as u32);
            links.last = slot as u32;
        }
        slot
    }

    /// Inserts an item next to that of a slot and returns its slot.
    pub fn insert(&mut self, anchor: usize, side: InsertSide, item: T) -> usize {
        let slot = self.slots.len();
        self.slots.push(item);
        let links = self.links.get_or_insert_with(|| Links::in_order(slot));
        let (before, after) = match side {
            InsertSide::Before => (links.previous[anchor], anchor as u32),
            InsertSide::After => (anchor as u32, links.next[anchor]),
        };
        links.next.push(after);
        links.previous.push(before);
        links.join(before, slot as u32);
        links.join_back(slot as u32, after);
        links.shuffled = true;
        slot
    }

    /// Removes an item; its slot stays empty.
    pub fn remove(&mut self, slot: usize) {
        let count = self.slots.len();
        let links = self.links.get_or_insert_with(|| Links::in_order(count));
        let (before, after) = (links.previous[slot], links.next[slot]);
        if after == REMOVED {
            return;
        }
        links.join(before, after);
        links.join_back(before, after);
        links.next[slot] = REMOVED;
    }

    /// The slots and their items in order. Sorting needs copies of all slots, which are charged.
    pub fn into_items(self) -> Vec<(usize, T)> {
        let Some(links) = &self.links else { return self.slots.into_iter().enumerate().collect() };
        let bytes = 2 * size_of::<(usize, T)>() + size_of::<usize>();
        budget::or_unwind(budget::memory_of(self.slots.len(), bytes));
        let mut order = Vec::with_capacity(self.slots.len());
        let mut slot = links.first;
        while let Some(at) = known(slot) {
            order.push(at);
            slot = links.next[at];
        }
        let mut slots: Vec<Option<T>> = self.slots.into_iter().map(Some).collect();
        order.into_iter().filter_map(|slot| Some((slot, slots[slot].take()?))).collect()
    }

    /// The items in order.
    pub fn into_vec(self) -> Vec<T> {
        match self.links {
            None => self.slots,
            Some(_) => self.into_items().into_iter().map(|(_, item)| item).collect(),
        }
    }
}

impl Links {
    fn in_order(count: usize) -> Links {
        let count = count as u32;
        let next = (1..=count).map(|next| if next == count { END } else { next }).collect();
        let previous = (0..count).map(|slot| slot.checked_sub(1).unwrap_or(END)).collect();
        let (first, last) = if count == 0 { (END, END) } else { (0, count - 1) };
        Links { next, previous, first, last, shuffled: false }
    }

    /// Makes `after` the successor of `before`.
    fn join(&mut self, before: u32, after: u32) {
        match known(before) {
            Some(before) => self.next[before] = after,
            None => self.first = after,
        }
    }

    /// Makes `before` the predecessor of `after`.
    fn join_back(&mut self, before: u32, after: u32) {
        match known(after) {
            Some(after) => self.previous[after] = before,
            None => self.last = before,
        }
    }
}

fn known(slot: u32) -> Option<usize> {
    (slot < REMOVED).then_some(slot as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Change {
        Push,
        Insert(usize, bool),
        Remove(usize),
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let change = prop_oneof![
            Just(Change::Push),
            (0..20usize, any::<bool>()).prop_map(|(at, before)| Change::Insert(at, before)),
            (0..20usize).prop_map(Change::Remove),
        ];
        prop::collection::vec(change, 0..30)
    }

    proptest! {
        #[test]
        fn behaves_like_a_vector(start in 0..6u32, changes in changes()) {
            let mut model: Vec<u32> = (0..start).collect();
            let mut sequence = Sequence::new(model.clone());
            for (number, change) in changes.into_iter().enumerate() {
                let item = 100 + number as u32;
                match change {
                    Change::Push => {
                        sequence.push(item);
                        model.push(item);
                    }
                    Change::Insert(at, before) if !model.is_empty() => {
                        let at = at % model.len();
                        let anchor = sequence.nth(at).unwrap();
                        sequence.insert(anchor, if before { InsertSide::Before } else { InsertSide::After }, item);
                        model.insert(at + usize::from(!before), item);
                    }
                    Change::Remove(at) if !model.is_empty() => {
                        let at = at % model.len();
                        let slot = sequence.nth(at).unwrap();
                        sequence.remove(slot);
                        prop_assert!(!sequence.is_live(slot));
                        model.remove(at);
                    }
                    _ => {}
                }
            }
            let slots: Vec<usize> = std::iter::successors(sequence.first(), |&slot| sequence.after(slot)).collect();
            let mut sorted = slots.clone();
            sorted.reverse();
            sequence.sort(&mut sorted);
            prop_assert_eq!(sorted, slots);
            prop_assert_eq!(sequence.into_vec(), model);
        }
    }
}
