//! Tuples. Most are short: up to three values are stored without a second allocation.

use std::ops::Deref;

use super::Value;
use super::deep_drop::{drop_items, is_container};

/// `(1, 2)`; dereferences to its values.
pub struct Tuple(Items);

enum Items {
    Empty,
    One([Value; 1]),
    Two([Value; 2]),
    Three([Value; 3]),
    Many(Box<[Value]>),
}

impl Tuple {
    /// A tuple of these values.
    pub fn new(items: Vec<Value>) -> Tuple {
        Tuple(match items.len() {
            0 => Items::Empty,
            1 => Items::One(items.try_into().expect("the length was checked")),
            2 => Items::Two(items.try_into().expect("the length was checked")),
            3 => Items::Three(items.try_into().expect("the length was checked")),
            _ => Items::Many(items.into_boxed_slice()),
        })
    }

    /// A tuple of two values.
    #[inline]
    pub fn pair(first: Value, second: Value) -> Tuple {
        Tuple(Items::Two([first, second]))
    }

    /// The values of a pair, mutable while nobody else can see it.
    #[inline]
    pub(crate) fn as_pair_mut(&mut self) -> Option<&mut [Value; 2]> {
        match &mut self.0 {
            Items::Two(pair) => Some(pair),
            _ => None,
        }
    }

    /// A tuple of the values that an iterator of known length yields.
    pub(crate) fn take(mut items: impl ExactSizeIterator<Item = Value>) -> Tuple {
        let len = items.len();
        let mut next = || items.next().unwrap_or(Value::None);
        Tuple(match len {
            0 => Items::Empty,
            1 => Items::One([next()]),
            2 => Items::Two([next(), next()]),
            3 => Items::Three([next(), next(), next()]),
            _ => Items::Many(items.collect()),
        })
    }
}

impl Deref for Tuple {
    type Target = [Value];
    #[inline]
    fn deref(&self) -> &[Value] {
        match &self.0 {
            Items::Empty => &[],
            Items::One(items) => items,
            Items::Two(items) => items,
            Items::Three(items) => items,
            Items::Many(items) => items,
        }
    }
}

impl Drop for Tuple {
    fn drop(&mut self) {
        if self.iter().any(is_container) {
            let items: &mut [Value] = match &mut self.0 {
                Items::Empty => &mut [],
                Items::One(items) => items,
                Items::Two(items) => items,
                Items::Three(items) => items,
                Items::Many(items) => items,
            };
            drop_items(items.iter_mut().map(|item| std::mem::replace(item, Value::None)));
        }
    }
}
