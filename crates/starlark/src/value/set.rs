//! Sets. Their elements are hashable and therefore never nested deeply through mutable values.

use std::cell::{Ref, RefCell};

use super::{Guard, Table, Value};
use crate::Error;

/// `set([1, 2])`; keeps the order of insertion.
#[derive(Default)]
pub struct Set {
    table: RefCell<Table<()>>,
    guard: Guard,
}

impl Set {
    /// An empty set.
    pub fn new() -> Set {
        Set::default()
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.table.borrow().len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has the element.
    ///
    /// # Errors
    /// Where the value cannot be hashed or compared.
    pub fn contains(&self, value: &Value) -> Result<bool, Error> {
        Ok(self.table.borrow().get(value)?.is_some())
    }

    /// Adds an element.
    ///
    /// # Errors
    /// Where the set is frozen, somebody runs over it, or the value cannot be hashed.
    pub fn insert(&self, value: Value) -> Result<(), Error> {
        self.guard.check("insert into", "hash table")?;
        self.table.borrow_mut().insert(value, ())?;
        Ok(())
    }

    /// The elements in order.
    pub fn to_vec(&self) -> Vec<Value> {
        self.table.borrow().iter().map(|(value, ())| value.clone()).collect()
    }

    pub(crate) fn table(&self) -> Ref<'_, Table<()>> {
        self.table.borrow()
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn freeze(&self) {
        self.guard.freeze();
    }
}
