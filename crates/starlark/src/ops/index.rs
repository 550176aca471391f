//! `x[i]`, `x[i] = y` and `x[i:j:k]`.
//!
//! Lists, tuples, strings and ranges count from the end if the index is negative; dicts and values
//! of the host look up a key. An error about a missing key names a similar one, if there is one.

use std::rc::Rc;

use ytterby_text::Str;
use ytterby_text::spelling::nearest;

use crate::advice::mistyped;
use crate::args::FromValue;
use crate::error::fail;
use crate::value::{Bytes, Range, Tuple};
use crate::{Error, Eval, Problem, Value};

/// `x[y]`.
///
/// # Errors
/// If `x` has no elements or not this one.
#[inline]
pub fn index(x: &Value, y: &Value) -> Result<Value, Error> {
    match (x, y) {
        (Value::Dict(dict), _) => match dict.table().get(y)? {
            Some(value) => Ok(value.clone()),
            None => Err(missing(x, y)),
        },
        (Value::List(list), Value::Int(at @ 0..=0x7fff_ffff)) => match list.items().get(*at as usize) {
            Some(item) => Ok(item.clone()),
            None => index_any(x, y),
        },
        _ => index_any(x, y),
    }
}

fn index_any(x: &Value, y: &Value) -> Result<Value, Error> {
    match x {
        Value::List(list) => {
            let items = list.items();
            Ok(items[element_index(x, y, items.len())?].clone())
        }
        Value::Tuple(tuple) => Ok(tuple[element_index(x, y, tuple.len())?].clone()),
        Value::Str(s) => {
            let at = element_index(x, y, s.as_bytes().len())?;
            Ok(Value::Str(Str::new(&s.as_bytes()[at..=at])))
        }
        Value::Range(range) => Ok(Value::Int(range.get(element_index(x, y, range.len())?))),
        Value::Host(host) => {
            if let Some(mapping) = host.mapping() {
                mapping.get(y)?.ok_or_else(|| missing(x, y))
            } else if let Some(sequence) = host.sequence() {
                Ok(sequence.index(element_index(x, y, sequence.count())?))
            } else {
                unindexable(x, y)
            }
        }
        _ => unindexable(x, y),
    }
}

#[cold]
#[inline(never)]
fn missing(x: &Value, key: &Value) -> Error {
    let message = format!("key {} not in {}", key.repr(), x.type_name());
    let key = match key {
        Value::Str(key) => Some(key.clone()),
        _ => None,
    };
    let similar = key.as_ref().and_then(|key| similar_key(x, key));
    Error::of(Problem::MissingKey { of: x.type_name().to_string(), key, similar }, message)
}

/// A similar key of a mapping.
fn similar_key(x: &Value, key: &Str) -> Option<Str> {
    let items = match x {
        Value::Dict(dict) => dict.items(),
        Value::Host(host) => host.mapping()?.items()?,
        _ => return None,
    };
    let names = items.iter().take(COMPARED_KEYS).filter_map(|(key, _)| match key {
        Value::Str(key) => std::str::from_utf8(key).ok(),
        _ => None,
    });
    let shown = key.to_str();
    nearest(&shown, names.clone()).map(Str::from).or_else(|| mistyped(&shown, names))
}

/// Maximum keys that are compared with a missing one.
const COMPARED_KEYS: usize = 1000;

#[cold]
#[inline(never)]
fn unindexable(x: &Value, y: &Value) -> Result<Value, Error> {
    let (of, by) = (x.type_name().to_owned(), y.type_name().to_owned());
    let message = format!("unhandled index operation {of}[{by}]");
    Err(Error::of(Problem::NoIndex { of, by }, message))
}

/// The index `y` as an offset from the front.
#[inline]
pub(crate) fn element_index(x: &Value, y: &Value, len: usize) -> Result<usize, Error> {
    let given = match i32::from_value(y) {
        Ok(given) => i64::from(given),
        Err(problem) => fail!(Type, "{} index: {problem}", x.type_name()),
    };
    in_range(given, len, x)
}

pub(crate) fn in_range(given: i64, len: usize, x: &Value) -> Result<usize, Error> {
    let at = if given < 0 { given + len as i64 } else { given };
    if (0..len as i64).contains(&at) {
        return Ok(at as usize);
    }
    if len == 0 {
        fail!(Index, "index {given} out of range: empty {}", x.type_name());
    }
    fail!(Index, "{} index {given} out of range [{}:{}]", x.type_name(), -(len as i64), len - 1)
}

/// `x[y] = value`.
///
/// # Errors
/// If `x` cannot be changed or has no such element.
pub fn set_index(x: &Value, y: Value, value: Value) -> Result<(), Error> {
    let assigned = |len: usize| match i32::from_value(&y) {
        Ok(given) => in_range(i64::from(given), len, x),
        Err(problem) => Err(Error::new(problem)),
    };
    match x {
        Value::Dict(dict) => dict.insert(y, value).map(drop),
        Value::List(list) => list.set(assigned(list.len())?, value),
        Value::Host(host) => {
            if let Some(mapping) = host.mapping() {
                mapping.set_key(y, value)
            } else if let Some(sequence) = host.sequence() {
                sequence.set_index(assigned(sequence.count())?, value)
            } else {
                fail!(Type, "{} value does not support item assignment", x.type_name())
            }
        }
        _ => fail!(Type, "{} value does not support item assignment", x.type_name()),
    }
}

/// `x[start:stop:step]`, with `None` for omitted parts.
///
/// # Errors
/// If `x` cannot be sliced or the indices are no integers.
pub fn slice(eval: &mut Eval, x: &Value, start: &Value, stop: &Value, step: &Value) -> Result<Value, Error> {
    let len = match x {
        Value::Str(_) | Value::List(_) | Value::Tuple(_) | Value::Range(_) => x.len(),
        Value::Host(host) => host.sequence().map(|sequence| sequence.count()),
        _ => None,
    };
    let Some(len) = len else { fail!(Type, "invalid slice operand {}", x.type_name()) };
    let step = match step {
        Value::None => 1,
        value => match i32::from_value(value) {
            Ok(0) => fail!("zero is not a valid slice step"),
            Ok(step) => i64::from(step),
            Err(_) => fail!(Type, "got {} for slice step, want int", value.type_name()),
        },
    };
    let (start, stop) = if step > 0 {
        let (start, stop) = slice_bounds(Some(start), Some(stop), len)?;
        (start as i64, stop.max(start) as i64)
    } else {
        let len = len as i64;
        let start = bound(Some(start), len, "start")?.unwrap_or(len - 1).min(len - 1);
        let stop = bound(Some(stop), len, "end")?.unwrap_or(-1).max(-1);
        (start.max(stop), stop)
    };
    if let Value::Range(range) = x {
        return Ok(Value::Range(Rc::new(range.slice(start, stop, step))));
    }
    // The same numbers as those of a range; all indices are valid.
    let steps = Range::new(start, stop, step);
    let is_text = matches!(x, Value::Str(_)) || x.downcast::<Bytes>().is_some();
    eval.charge(steps.len() * if is_text { 1 } else { size_of::<Value>() })?;
    let mut indices = (0..steps.len()).map(|n| steps.get(n) as usize);
    let (from, to) = (start as usize, stop as usize);
    Ok(match x {
        Value::Str(s) if step == 1 => Value::Str(Str::new(&s.as_bytes()[from..to])),
        Value::Str(s) => Value::Str(Str::from(indices.map(|at| s.as_bytes()[at]).collect::<Vec<u8>>())),
        Value::List(list) if step == 1 => Value::list(list.items()[from..to].to_vec()),
        Value::List(list) => {
            let items = list.items();
            Value::list(indices.map(|at| items[at].clone()).collect())
        }
        Value::Tuple(tuple) => Value::Tuple(Rc::new(Tuple::take(indices.map(|at| tuple[at].clone())))),
        Value::Host(host) => match host.sequence().and_then(|sequence| sequence.slice(&mut indices)) {
            Some(value) => value,
            None => fail!(Type, "invalid slice operand {}", x.type_name()),
        },
        _ => fail!(Type, "invalid slice operand {}", x.type_name()),
    })
}

/// Start and end of a slice of `len` elements, both within it. The start may exceed the end.
pub(crate) fn slice_bounds(start: Option<&Value>, end: Option<&Value>, len: usize) -> Result<(usize, usize), Error> {
    let len = len as i64;
    let start = bound(start, len, "start")?.unwrap_or(0).clamp(0, len);
    let end = bound(end, len, "end")?.unwrap_or(len).clamp(0, len);
    Ok((start as usize, end as usize))
}

fn bound(value: Option<&Value>, len: i64, which: &str) -> Result<Option<i64>, Error> {
    match value {
        None | Some(Value::None) => Ok(None),
        Some(value) => match i32::from_value(value) {
            Ok(given) if given < 0 => Ok(Some(i64::from(given) + len)),
            Ok(given) => Ok(Some(i64::from(given))),
            Err(_) => fail!(Type, "invalid {which} index: got {}, want int", value.type_name()),
        },
    }
}
