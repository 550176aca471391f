//! Dicts.

use std::cell::{Ref, RefCell};

use super::deep_drop::{drop_items, is_container};
use super::{Guard, HashTable, Value};
use crate::Error;

/// `{"a": 1}`; keeps the order of insertion.
#[derive(Default)]
pub struct Dict {
    table: RefCell<HashTable<Value>>,
    guard: Guard,
}

impl Dict {
    /// An empty dict.
    pub fn new() -> Dict {
        Dict::default()
    }

    /// The number of keys.
    #[inline]
    pub fn len(&self) -> usize {
        self.table.borrow().len()
    }

    /// Whether it has no keys.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    ///
    /// # Errors
    /// If the key cannot be hashed or compared.
    #[inline]
    pub fn get(&self, key: &Value) -> Result<Option<Value>, Error> {
        Ok(self.table.borrow().get(key)?.cloned())
    }

    /// Whether it has the key.
    ///
    /// # Errors
    /// If the key cannot be hashed or compared.
    pub fn contains(&self, key: &Value) -> Result<bool, Error> {
        Ok(self.table.borrow().get(key)?.is_some())
    }

    /// Adds or replaces a value; returns the old one.
    ///
    /// # Errors
    /// If the dict is frozen or being iterated, or the key cannot be hashed.
    #[inline]
    pub fn insert(&self, key: Value, value: Value) -> Result<Option<Value>, Error> {
        self.guard.check("insert into", "hash table")?;
        self.table.borrow_mut().insert(key, value)
    }

    /// Like [`Dict::insert`], but copies the key only if it is new.
    #[inline]
    pub(crate) fn set(&self, key: &Value, value: Value) -> Result<(), Error> {
        self.guard.check("insert into", "hash table")?;
        let old = self.table.borrow_mut().set(key, value)?;
        drop(old);
        Ok(())
    }

    /// Replaces the value of a string by an integer; returns whether it did. Does so only if
    /// nothing can go wrong and dropping the old value does nothing.
    #[inline]
    pub(crate) fn set_int(&self, key: &Value, value: i64) -> bool {
        self.guard.is_free()
            && self.table.borrow_mut().get_mut_short(key).is_some_and(|old| {
                let replaces = old.owns_nothing();
                if replaces {
                    old.put_int(value);
                }
                replaces
            })
    }

    /// Adds a pair unless the key exists; then returns the key.
    pub(crate) fn add(&self, key: Value, value: Value) -> Result<Option<Value>, Error> {
        self.guard.check("insert into", "hash table")?;
        self.table.borrow_mut().add(key, value)
    }

    /// Removes a key; returns its value.
    ///
    /// # Errors
    /// If the dict is frozen or being iterated, or the key cannot be hashed.
    pub fn remove(&self, key: &Value) -> Result<Option<Value>, Error> {
        self.guard.check("delete from", "hash table")?;
        Ok(self.table.borrow_mut().remove(key)?.map(|(_, value)| value))
    }

    /// Removes all keys.
    ///
    /// # Errors
    /// If the dict is frozen or being iterated.
    pub fn clear(&self) -> Result<(), Error> {
        self.guard.check("clear", "hash table")?;
        self.table.borrow_mut().clear();
        Ok(())
    }

    /// The first pair.
    pub fn first(&self) -> Option<(Value, Value)> {
        self.table.borrow().iter().next().map(|(key, value)| (key.clone(), value.clone()))
    }

    /// All pairs in order.
    pub fn items(&self) -> Vec<(Value, Value)> {
        self.table.borrow().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    #[inline]
    pub(crate) fn table(&self) -> Ref<'_, HashTable<Value>> {
        self.table.borrow()
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn freeze_into(&self, pending: &mut Vec<Value>) {
        if self.guard.freeze() {
            let table = self.table.borrow();
            pending.extend(table.iter().flat_map(|(k, v)| [k, v]).filter(|value| value.can_freeze()).cloned());
        }
    }
}

impl Drop for Dict {
    fn drop(&mut self) {
        let table = self.table.get_mut();
        if table.iter().any(|(key, value)| is_container(value) || is_container(key)) {
            drop_items(table.drain().flat_map(|(key, value)| [key, value]));
        }
    }
}
