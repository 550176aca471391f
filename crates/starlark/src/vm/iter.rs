//! Running iterations. A list, dict or set cannot be changed until the iteration over it is
//! dropped.

use std::rc::Rc;

use crate::Value;
use crate::host::ValueIter;
use crate::value::{Dict, List, Range, Set, Tuple};

/// A running iteration.
#[derive(Default)]
pub(crate) enum Iter {
    #[default]
    Done,
    List(Rc<List>, usize),
    Tuple(Rc<Tuple>, usize),
    Dict(Rc<Dict>, usize),
    Set(Rc<Set>, usize),
    Range(Range, usize),
    /// The result of a dict's `items()`, without the tuples.
    Pairs(std::vec::IntoIter<(Value, Value)>),
    /// The result of `enumerate` of a list, without the tuples: its values, and the next index.
    Enumerate(std::vec::IntoIter<Value>, i64),
    Host(ValueIter),
}

impl Iter {
    /// The iteration of `for` over a value; `None` if it is not iterable.
    pub(crate) fn of(value: &Value) -> Option<Iter> {
        Some(match value {
            Value::List(list) => {
                list.guard().enter();
                Iter::List(list.clone(), 0)
            }
            Value::Tuple(tuple) => Iter::Tuple(tuple.clone(), 0),
            Value::Dict(dict) => {
                dict.guard().enter();
                Iter::Dict(dict.clone(), 0)
            }
            Value::Set(set) => {
                set.guard().enter();
                Iter::Set(set.clone(), 0)
            }
            Value::Range(range) => Iter::Range(**range, 0),
            Value::Host(host) => Iter::Host(host.iterate()?),
            _ => return None,
        })
    }
}

impl Iterator for Iter {
    type Item = Value;

    #[inline]
    fn next(&mut self) -> Option<Value> {
        match self {
            Iter::Done => None,
            Iter::Range(range, at) => range.next(at).map(Value::Int),
            Iter::List(list, at) => {
                *at += 1;
                list.get(*at - 1)
            }
            Iter::Tuple(tuple, at) => {
                *at += 1;
                tuple.get(*at - 1).cloned()
            }
            Iter::Dict(dict, at) => {
                let table = dict.table();
                let (next, key, _) = table.next_at(*at)?;
                *at = next;
                Some(key.clone())
            }
            Iter::Set(set, at) => {
                let table = set.table();
                let (next, key, ()) = table.next_at(*at)?;
                *at = next;
                Some(key.clone())
            }
            Iter::Pairs(pairs) => pairs.next().map(|(key, value)| Value::Tuple(Rc::new(Tuple::pair(key, value)))),
            Iter::Enumerate(values, index) => values.next().map(|value| {
                *index += 1;
                Value::Tuple(Rc::new(Tuple::pair(Value::Int(*index - 1), value)))
            }),
            Iter::Host(values) => values.next(),
        }
    }
}

impl Drop for Iter {
    fn drop(&mut self) {
        match self {
            Iter::List(list, _) => list.guard().leave(),
            Iter::Dict(dict, _) => dict.guard().leave(),
            Iter::Set(set, _) => set.guard().leave(),
            _ => {}
        }
    }
}
