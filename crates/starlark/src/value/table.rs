//! The hash table for dicts and sets: keeps insertion order; hashing keys can fail.
//!
//! Entries are in a vector in order; an index of positions (open addressing) is added once there
//! are more than a few. A removed entry leaves a hole until half of the vector are holes, so that
//! removal is amortized constant time, also from the front.

use std::cell::Cell;

use ytterby_text::Str;

use super::Value;
use crate::Error;
use crate::ops::{equal, hash, hash_short};

/// Up to this many entries, scanning the hashes is faster than an index.
const LINEAR: usize = 8;
const EMPTY: u32 = 0;
const GONE: u32 = u32::MAX;

pub(crate) struct HashTable<V> {
    entries: Vec<TableEntry<V>>,
    live: usize,
    /// Position of the first entry that may be live.
    head: usize,
    /// Positions of entries plus 1; its length is a power of two, or 0 if there is no index.
    index: Vec<u32>,
    /// Position of the entry that was found last: `d[k] = d.get(k, 0) + 1` needs one search.
    last: Cell<usize>,
}

/// The result of a search: the position of the entry, or the hash of a missing key.
type SearchResult = Result<usize, u32>;

/// The result of a search for a short string, with a number. Both are returned in processor
/// registers; a nested enum would be written and read again in other sizes, which takes a dozen
/// cycles longer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShortKeySearch {
    /// The number is the position of the entry.
    Found,
    /// The number is the hash.
    Missing,
    /// The string is not short.
    Long,
}

pub(crate) struct TableEntry<V> {
    hash: u32,
    pair: Option<(Value, V)>,
}

impl<V> Default for HashTable<V> {
    fn default() -> HashTable<V> {
        HashTable { entries: Vec::new(), live: 0, head: 0, index: Vec::new(), last: Cell::new(0) }
    }
}

impl<V> HashTable<V> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.live
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Value, &V)> {
        self.entries[self.head..].iter().filter_map(|entry| entry.pair.as_ref().map(|(key, value)| (key, value)))
    }

    /// The first live pair at or after a position, and the next position.
    #[inline]
    pub(crate) fn next_at(&self, mut position: usize) -> Option<(usize, &Value, &V)> {
        while let Some(entry) = self.entries.get(position) {
            position += 1;
            if let Some((key, value)) = &entry.pair {
                return Some((position, key, value));
            }
        }
        None
    }

    #[inline]
    pub(crate) fn get(&self, key: &Value) -> Result<Option<&V>, Error> {
        Ok(match self.find(key)? {
            Ok(at) => self.entries[at].pair.as_ref().map(|(_, value)| value),
            Err(_) => None,
        })
    }

    /// The value of a key that is a short string.
    #[inline]
    pub(crate) fn get_mut_short(&mut self, key: &Value) -> Option<&mut V> {
        let Value::Str(key) = key else { return None };
        match self.find_short(key) {
            (ShortKeySearch::Found, at) => self.entries[at].pair.as_mut().map(|(_, value)| value),
            _ => None,
        }
    }

    /// Adds or replaces a value; returns the old one. An existing key is kept.
    #[inline]
    pub(crate) fn insert(&mut self, key: Value, value: V) -> Result<Option<V>, Error> {
        match self.find(&key)? {
            Ok(at) => Ok(self.replace(at, value)),
            Err(hash) => {
                self.append(hash, key, value);
                Ok(None)
            }
        }
    }

    /// Adds or replaces a value; returns the old one. Copies the key only if it is new.
    #[inline]
    pub(crate) fn set(&mut self, key: &Value, value: V) -> Result<Option<V>, Error> {
        match self.find(key)? {
            Ok(at) => Ok(self.replace(at, value)),
            Err(hash) => {
                self.append(hash, key.clone(), value);
                Ok(None)
            }
        }
    }

    /// Replaces the value of an entry; returns the old one.
    #[inline]
    fn replace(&mut self, at: usize, value: V) -> Option<V> {
        self.entries[at].pair.as_mut().map(|(_, old)| std::mem::replace(old, value))
    }

    /// Adds a pair unless the key exists; then returns the key.
    pub(crate) fn add(&mut self, key: Value, value: V) -> Result<Option<Value>, Error> {
        match self.find(&key)? {
            Ok(_) => Ok(Some(key)),
            Err(hash) => {
                self.append(hash, key, value);
                Ok(None)
            }
        }
    }

    fn append(&mut self, hash: u32, key: Value, value: V) {
        self.entries.push(TableEntry { hash, pair: Some((key, value)) });
        self.live += 1;
        if self.index.is_empty() && self.entries.len() <= LINEAR {
            return;
        }
        // A quarter of the index stays empty.
        if self.entries.len() * 4 > self.index.len() * 3 {
            self.rebuild();
        } else {
            self.link(hash, self.entries.len());
        }
    }

    pub(crate) fn remove(&mut self, key: &Value) -> Result<Option<(Value, V)>, Error> {
        let Ok(at) = self.find(key)? else { return Ok(None) };
        let hash = self.entries[at].hash;
        if !self.index.is_empty() {
            let mask = self.index.len() - 1;
            let mut cell = hash as usize & mask;
            while self.index[cell] != at as u32 + 1 {
                cell = (cell + 1) & mask;
            }
            self.index[cell] = GONE;
        }
        let pair = self.entries[at].pair.take();
        self.live -= 1;
        while self.entries.get(self.head).is_some_and(|entry| entry.pair.is_none()) {
            self.head += 1;
        }
        if self.entries.len() > 2 * self.live + LINEAR {
            self.rebuild();
        }
        Ok(pair)
    }

    pub(crate) fn clear(&mut self) {
        *self = HashTable::default();
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (Value, V)> + use<'_, V> {
        self.index.clear();
        self.live = 0;
        self.head = 0;
        self.entries.drain(..).filter_map(|entry| entry.pair)
    }

    /// The position of the entry of a key. Most keys are strings or integers, whose comparisons are
    /// short and cannot fail.
    #[inline(always)]
    fn find(&self, key: &Value) -> Result<SearchResult, Error> {
        if let Value::Str(key) = key {
            match self.find_short(key) {
                (ShortKeySearch::Found, at) => return Ok(Ok(at)),
                (ShortKeySearch::Missing, hash) => return Ok(Err(hash as u32)),
                (ShortKeySearch::Long, _) => {}
            }
        }
        self.find_by_hash(key)
    }

    #[inline(never)]
    fn find_by_hash(&self, key: &Value) -> Result<SearchResult, Error> {
        let hash = hash(key)?;
        let found = match key {
            Value::Str(key) => self.search(hash, |other| matches!(other, Value::Str(other) if other == key)),
            Value::Int(int) => self.search(hash, |other| match other {
                Value::Int(other) => other == int,
                Value::Float(_) => matches!(equal(key, other), Ok(true)),
                _ => false,
            }),
            _ => self.find_any(hash, key)?,
        };
        Ok(found.ok_or(hash))
    }

    /// The same for a short string. Cannot fail, and looks first at the entry that was found last.
    #[inline(never)]
    fn find_short(&self, key: &Str) -> (ShortKeySearch, usize) {
        let last = self.last.get();
        if key.is_short()
            && let Some(TableEntry { pair: Some((Value::Str(other), _)), .. }) = self.entries.get(last)
            && other == key
        {
            return (ShortKeySearch::Found, last);
        }
        let Some(hash) = hash_short(key) else { return (ShortKeySearch::Long, 0) };
        match self.search(hash, |other| matches!(other, Value::Str(other) if other == key)) {
            Some(at) => {
                self.last.set(at);
                (ShortKeySearch::Found, at)
            }
            None => (ShortKeySearch::Missing, hash as usize),
        }
    }

    fn find_any(&self, hash: u32, key: &Value) -> Result<Option<usize>, Error> {
        let mut problem = None;
        let found = self.search(hash, |other| {
            equal(key, other).unwrap_or_else(|error| {
                problem = Some(error);
                true
            })
        });
        match problem {
            Some(error) => Err(error),
            None => Ok(found),
        }
    }

    #[inline(always)]
    fn search(&self, hash: u32, mut is_key: impl FnMut(&Value) -> bool) -> Option<usize> {
        let mut is_found = |entry: &TableEntry<V>| match &entry.pair {
            Some((key, _)) => entry.hash == hash && is_key(key),
            None => false,
        };
        if self.index.is_empty() {
            return self.entries.iter().position(is_found);
        }
        let mask = self.index.len() - 1;
        let mut cell = hash as usize & mask;
        loop {
            match self.index[cell] {
                EMPTY => return None,
                GONE => {}
                position => {
                    let at = position as usize - 1;
                    if is_found(&self.entries[at]) {
                        return Some(at);
                    }
                }
            }
            cell = (cell + 1) & mask;
        }
    }

    fn rebuild(&mut self) {
        if self.live < self.entries.len() {
            self.entries.retain(|entry| entry.pair.is_some());
        }
        self.head = 0;
        self.index.clear();
        if self.entries.len() > LINEAR {
            self.index.resize((self.entries.len() * 2).next_power_of_two().max(32), EMPTY);
            for at in 0..self.entries.len() {
                self.link(self.entries[at].hash, at + 1);
            }
        }
    }

    fn link(&mut self, hash: u32, position: usize) {
        let mask = self.index.len() - 1;
        let mut cell = hash as usize & mask;
        while self.index[cell] != EMPTY {
            cell = (cell + 1) & mask;
        }
        self.index[cell] = position as u32;
    }
}
