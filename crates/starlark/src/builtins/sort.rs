//! `sorted`, `min` and `max`.

use std::cmp::Ordering;

use ytterby_text::budget;

use super::collections::collect;
use crate::args::{Callable, Iterable};
use crate::error::fail;
use crate::host::CompareOp;
use crate::ops::compare;
use crate::vm::Iter;
use crate::{Args, Error, Eval, Value};

pub(super) fn min(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    extreme(eval, "min", CompareOp::Lt, args)
}

pub(super) fn max(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    extreme(eval, "max", CompareOp::Gt, args)
}

fn extreme(eval: &mut Eval, function: &str, op: CompareOp, args: Args<'_>) -> Result<Value, Error> {
    if args.positional.is_empty() {
        fail!(Call, "{function} requires at least one positional argument");
    }
    let [key] = Args { positional: &[], named: args.named }.unpack(function, ["key?"])?;
    let key: Option<Callable> = args.param(function, "key", key)?;
    if let [source] = args.positional {
        let Some(values) = Iter::of(source) else {
            fail!(Type, "{function}: {} value is not iterable", source.type_name());
        };
        return extreme_of(eval, function, op, key, values);
    }
    extreme_of(eval, function, op, key, args.positional.iter().cloned())
}

fn extreme_of(
    eval: &mut Eval,
    function: &str,
    op: CompareOp,
    key: Option<Callable>,
    mut values: impl Iterator<Item = Value>,
) -> Result<Value, Error> {
    let Some(mut best) = values.next() else { fail!("{function}: argument is an empty sequence") };
    let Some(Callable(key)) = key else {
        for value in values {
            eval.step()?;
            if compare(op, &value, &best).map_err(|error| error.in_context(function))? {
                best = value;
            }
        }
        return Ok(best);
    };
    let mut best_key = eval.call(&key, std::slice::from_ref(&best), &[])?;
    for value in values {
        eval.step()?;
        let key = eval.call(&key, std::slice::from_ref(&value), &[])?;
        if compare(op, &key, &best_key).map_err(|error| error.in_context(function))? {
            (best, best_key) = (value, key);
        }
    }
    Ok(best)
}

pub(super) fn sorted(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [iterable, key, reverse] = args.unpack("sorted", ["iterable", "key?", "reverse?"])?;
    let iterable: Option<Iterable> = args.param("sorted", "iterable", iterable)?;
    let key: Option<Callable> = args.param("sorted", "key", key)?;
    let reverse: bool = args.param("sorted", "reverse", reverse)?.unwrap_or(false);
    let mut values = match iterable {
        Some(iterable) => collect(eval, &iterable)?,
        None => Vec::new(),
    };
    let Some(Callable(key)) = key else {
        budget::work(values.len() / 8)?;
        if !sort_ints(&mut values, reverse) {
            sort(eval, &mut values, reverse, itself)?;
        }
        return Ok(Value::list(values));
    };
    eval.charge(2 * values.len() * size_of::<Value>())?;
    let mut pairs = Vec::with_capacity(values.len());
    for value in values {
        pairs.push((eval.call(&key, std::slice::from_ref(&value), &[])?, value));
    }
    sort(eval, &mut pairs, reverse, first)?;
    Ok(Value::list(pairs.into_iter().map(|(_, value)| value).collect()))
}

/// Sorts values if all are integers; returns whether they are. Equal integers are indistinguishable, so the bare numbers
/// are sorted: this takes a third of the instructions of sorting the values.
fn sort_ints(values: &mut [Value], reverse: bool) -> bool {
    let mut ints = Vec::with_capacity(values.len());
    for value in values.iter() {
        match value {
            Value::Int(value) => ints.push(*value),
            _ => return false,
        }
    }
    ints.sort_unstable();
    let put = |(value, int): (&mut Value, &i64)| value.put_int(*int);
    if reverse {
        values.iter_mut().zip(ints.iter().rev()).for_each(put);
    } else {
        values.iter_mut().zip(&ints).for_each(put);
    }
    true
}

fn itself(value: &Value) -> &Value {
    value
}

fn first(pair: &(Value, Value)) -> &Value {
    &pair.0
}

/// Stable sort by a key of each item.
fn sort<T: Clone>(eval: &mut Eval, items: &mut [T], reverse: bool, key: impl Fn(&T) -> &Value) -> Result<(), Error> {
    // Integers and strings have a total order, which the standard library requires.
    budget::work(items.len() / 4)?;
    if items.iter().all(|item| matches!(key(item), Value::Int(_))) {
        sort_all(items, reverse, |a, b| match (key(a), key(b)) {
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            _ => Ordering::Equal,
        });
        return Ok(());
    }
    if items.iter().all(|item| matches!(key(item), Value::Str(_))) {
        sort_all(items, reverse, |a, b| match (key(a), key(b)) {
            (Value::Str(a), Value::Str(b)) => a.cmp(b),
            _ => Ordering::Equal,
        });
        return Ok(());
    }
    let mut problem = None;
    let mut less = |a: &T, b: &T| {
        let (a, b) = if reverse { (b, a) } else { (a, b) };
        let compared = budget::work(1).map_err(Error::from).and_then(|()| compare(CompareOp::Lt, key(a), key(b)));
        match compared {
            Ok(less) => less,
            // Like the reference, report the last problem, unless a limit was reached.
            Err(error) => {
                if !problem.as_ref().is_some_and(Error::is_fatal) {
                    problem = Some(error);
                }
                false
            }
        }
    };
    /// Runs of this length are sorted by insertion.
    const RUN: usize = 20;
    for run in items.chunks_mut(RUN) {
        for end in 1..run.len() {
            let mut at = end;
            while at > 0 && less(&run[at], &run[at - 1]) {
                run.swap(at, at - 1);
                at -= 1;
            }
        }
    }
    let mut width = RUN;
    let mut merged: Vec<T> = Vec::new();
    while width < items.len() {
        for chunk in items.chunks_mut(2 * width) {
            if chunk.len() <= width {
                continue;
            }
            eval.step()?;
            merged.clear();
            let (left, right) = chunk.split_at(width);
            let (mut l, mut r) = (left.iter().peekable(), right.iter().peekable());
            while let (Some(a), Some(b)) = (l.peek(), r.peek()) {
                let next = if less(b, a) { r.next() } else { l.next() };
                merged.extend(next.cloned());
            }
            merged.extend(l.chain(r).cloned());
            chunk.iter_mut().zip(merged.drain(..)).for_each(|(slot, item)| *slot = item);
        }
        width *= 2;
    }
    match problem {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn sort_all<T>(items: &mut [T], reverse: bool, order: impl Fn(&T, &T) -> Ordering) {
    if reverse {
        items.sort_by(|a, b| order(b, a));
    } else {
        items.sort_by(|a, b| order(a, b));
    }
}
