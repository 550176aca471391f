//! Lists, and the guard that keeps collections from changing during an iteration.
//!
//! Each change asks the `Guard` first, which dicts and sets use as well: a collection is free,
//! being iterated (by so many loops), or frozen for good. `List::push_moved` and its helpers avoid
//! copies in loops that build lists.

use std::cell::{Cell, Ref, RefCell};

use ytterby_text::{Str, Tiny};

use super::Value;
use super::deep_drop::{drop_items, is_container};
use crate::Error;
use crate::error::fail;

/// `[1, 2, 3]`.
#[derive(Default)]
pub struct List {
    items: RefCell<Vec<Value>>,
    guard: Guard,
}

impl List {
    /// A list of these values.
    pub fn new(items: Vec<Value>) -> List {
        List { items: RefCell::new(items), guard: Guard::default() }
    }

    /// The number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.borrow().len()
    }

    /// Whether it has no values.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.borrow().is_empty()
    }

    /// The value at an index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Value> {
        self.items.borrow().get(index).cloned()
    }

    /// The values, for reading. The list must not be changed meanwhile.
    #[inline]
    pub fn items(&self) -> Ref<'_, Vec<Value>> {
        self.items.borrow()
    }

    /// A copy of the values.
    pub fn to_vec(&self) -> Vec<Value> {
        self.items.borrow().clone()
    }

    /// Appends a value.
    ///
    /// # Errors
    /// If the list is frozen or being iterated.
    #[inline(always)]
    pub fn push(&self, value: Value) -> Result<(), Error> {
        self.guard.check("append to", "list")?;
        self.items.borrow_mut().push(value);
        Ok(())
    }

    /// Appends a value and may leave another in its place. See [`Value::put_moved`].
    ///
    /// # Errors
    /// If the list is frozen or being iterated.
    #[inline(always)]
    pub(crate) fn push_moved(&self, value: &mut Value) -> Result<(), Error> {
        self.guard.check("append to", "list")?;
        let mut items = self.items.borrow_mut();
        match value {
            Value::Int(value) => new_slot(&mut items).put_int(*value),
            value => match value.as_tiny() {
                Some(text) => push_tiny(&mut items, text),
                None => items.push(value.take()),
            },
        }
        Ok(())
    }

    /// Whether it is neither frozen nor being iterated.
    #[inline]
    pub(crate) fn can_change(&self) -> bool {
        self.guard.is_free()
    }

    /// Replaces the value at a valid index.
    ///
    /// # Errors
    /// If the list is frozen or being iterated.
    #[inline]
    pub fn set(&self, index: usize, value: Value) -> Result<(), Error> {
        self.change("assign to element of", |items| items[index] = value)
    }

    /// Changes the values; `verb` describes the change in the message: `append to`.
    ///
    /// # Errors
    /// If the list is frozen or being iterated.
    #[inline]
    pub fn change<T>(&self, verb: &str, change: impl FnOnce(&mut Vec<Value>) -> T) -> Result<T, Error> {
        self.guard.check(verb, "list")?;
        Ok(change(&mut self.items.borrow_mut()))
    }

    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    pub(crate) fn freeze_into(&self, pending: &mut Vec<Value>) {
        if self.guard.freeze() {
            pending.extend(self.items.borrow().iter().filter(|item| item.can_freeze()).cloned());
        }
    }
}

/// Appends a value to be replaced. A constant is copied to its place at once; another value would
/// be written to the stack first, and see [`Value::put_moved`].
#[inline(always)]
fn new_slot(items: &mut Vec<Value>) -> &mut Value {
    let at = items.len();
    items.push(Value::Str(Str::EMPTY));
    &mut items[at]
}

/// Appends a string, which is written to its place.
#[inline(always)]
pub(crate) fn push_tiny(items: &mut Vec<Value>, text: Tiny) {
    new_slot(items).put_tiny(text);
}

impl Drop for List {
    fn drop(&mut self) {
        let items = self.items.get_mut();
        if items.iter().all(Value::owns_nothing) {
            // Saves the call for each that finds nothing to drop.
            items.drain(..).for_each(std::mem::forget);
        } else if items.iter().any(is_container) {
            drop_items(items.drain(..));
        }
    }
}

/// Keeps a collection from changing: forever once it is frozen, or during an iteration.
#[derive(Default)]
pub struct Guard(Cell<u32>);

impl Guard {
    const FROZEN: u32 = u32::MAX;

    #[inline]
    pub(crate) fn check(&self, verb: &str, noun: &str) -> Result<(), Error> {
        match self.0.get() {
            0 => Ok(()),
            state => Guard::refuse(state, verb, noun),
        }
    }

    /// Whether the collection can be changed.
    #[inline(always)]
    pub(crate) fn is_free(&self) -> bool {
        self.0.get() == 0
    }

    #[cold]
    fn refuse(state: u32, verb: &str, noun: &str) -> Result<(), Error> {
        if state == Guard::FROZEN {
            fail!("cannot {verb} frozen {noun}");
        }
        fail!("cannot {verb} {noun} during iteration")
    }

    /// Freezes; returns whether it was not frozen before.
    pub(crate) fn freeze(&self) -> bool {
        self.0.replace(Guard::FROZEN) != Guard::FROZEN
    }

    pub(crate) fn enter(&self) {
        if self.0.get() < Guard::FROZEN - 1 {
            self.0.set(self.0.get() + 1);
        }
    }

    pub(crate) fn leave(&self) {
        if self.0.get() != Guard::FROZEN {
            self.0.set(self.0.get().saturating_sub(1));
        }
    }
}
