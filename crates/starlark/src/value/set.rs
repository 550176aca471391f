//! Sets. Their elements are hashable and therefore never nested deeply through mutable values.

use std::cell::{Ref, RefCell};

use super::{Guard, HashTable, Value};
use crate::Error;

/// `set([1, 2])`; keeps the order of insertion.
#[derive(Default)]
pub struct Set {
    table: RefCell<HashTable<()>>,
    guard: Guard,
}

impl Set {
    /// An empty set.
    pub fn new() -> Set {
        Set::default()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.table.borrow().len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it contains the element.
    ///
    /// # Errors
    /// If the value cannot be hashed or compared.
    pub fn contains(&self, value: &Value) -> Result<bool, Error> {
        Ok(self.table.borrow().get(value)?.is_some())
    }

    /// Adds an element.
    ///
    /// # Errors
    /// If the set is frozen or being iterated, or the value cannot be hashed.
    pub fn insert(&self, value: Value) -> Result<(), Error> {
        self.guard.check("insert into", "hash table")?;
        self.table.borrow_mut().insert(value, ())?;
        Ok(())
    }

    /// Removes an element; returns whether it existed.
    ///
    /// # Errors
    /// If the set is frozen or being iterated, or the value cannot be hashed.
    pub fn remove(&self, value: &Value) -> Result<bool, Error> {
        self.guard.check("delete from", "hash table")?;
        Ok(self.table.borrow_mut().remove(value)?.is_some())
    }

    /// Removes all elements.
    ///
    /// # Errors
    /// If the set is frozen or being iterated.
    pub fn clear(&self) -> Result<(), Error> {
        self.guard.check("clear", "hash table")?;
        self.table.borrow_mut().clear();
        Ok(())
    }

    /// The first element.
    pub fn first(&self) -> Option<Value> {
        self.table.borrow().iter().next().map(|(value, ())| value.clone())
    }

    /// Whether it is a subset of the other set.
    ///
    /// # Errors
    /// If values cannot be compared.
    pub fn is_within(&self, other: &Set) -> Result<bool, Error> {
        for (value, ()) in self.table.borrow().iter() {
            if !other.contains(value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The elements in order.
    pub fn to_vec(&self) -> Vec<Value> {
        self.table.borrow().iter().map(|(value, ())| value.clone()).collect()
    }

    pub(crate) fn table(&self) -> Ref<'_, HashTable<()>> {
        self.table.borrow()
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn freeze(&self) {
        self.guard.freeze();
    }
}
