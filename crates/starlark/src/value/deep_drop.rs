//! Drops deeply nested values without deep recursion.
//!
//! Dropping a list nested a million levels deep would overflow the native stack. Each container
//! passes its contents to [`drop_items`], which allows native recursion up to a small depth and
//! queues deeper values for the outermost drop.

use std::cell::{Cell, RefCell};

use super::Value;

const NATIVE_DEPTH: u32 = 64;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static QUEUE: RefCell<Vec<Value>> = const { RefCell::new(Vec::new()) };
}

/// Whether dropping the value can drop other values.
#[inline]
pub(super) fn is_container(value: &Value) -> bool {
    matches!(
        value,
        Value::List(_)
            | Value::Tuple(_)
            | Value::Dict(_)
            | Value::Set(_)
            | Value::Function(_)
            | Value::Builtin(_)
            | Value::Host(_)
            | Value::Internal(_)
    )
}

/// Drops the values of a container.
pub(super) fn drop_items(items: impl Iterator<Item = Value>) {
    // While a thread ends, the queue may already be gone; then values are dropped natively.
    let depth = DEPTH.try_with(Cell::get).unwrap_or(0);
    if depth >= NATIVE_DEPTH {
        let _ = QUEUE.try_with(|queue| match queue.try_borrow_mut() {
            Ok(mut queue) => queue.extend(items),
            Err(_) => items.for_each(drop),
        });
        return;
    }
    let _ = DEPTH.try_with(|d| d.set(depth + 1));
    items.for_each(drop);
    if depth == 0 {
        while let Some(value) = QUEUE.try_with(|queue| queue.borrow_mut().pop()).ok().flatten() {
            drop(value);
        }
    }
    let _ = DEPTH.try_with(|d| d.set(depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeply_nested_values_can_be_dropped() {
        let mut list = Value::list(vec![]);
        let mut tuple = Value::tuple(vec![]);
        let mut dict = Value::None;
        for _ in 0..200_000 {
            list = Value::list(vec![list]);
            tuple = Value::tuple(vec![tuple]);
            dict = Value::dict([(Value::Int(1), dict)]).unwrap();
        }
        drop((list, tuple, dict));
    }
}
