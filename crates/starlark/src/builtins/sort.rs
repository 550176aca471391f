//! `sorted`, `min` and `max`.

use std::cmp::Ordering;

use super::collections::collect;
use crate::args::{Callable, Iterable};
use crate::error::fail;
use crate::host::CompareOp;
use crate::ops::compare;
use crate::value::Tuple;
use crate::vm::Iter;
use crate::{Args, Error, Eval, Value};
use std::rc::Rc;

pub(super) fn min(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    extreme(eval, "min", CompareOp::Lt, args)
}

pub(super) fn max(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    extreme(eval, "max", CompareOp::Gt, args)
}

fn extreme(eval: &mut Eval, function: &str, op: CompareOp, args: Args<'_>) -> Result<Value, Error> {
    if args.positional.is_empty() {
        fail!("{function} requires at least one positional argument");
    }
    let [key] = Args { positional: &[], named: args.named }.unpack(function, ["key?"])?;
    let key: Option<Callable> = args.param(function, "key", key)?;
    let many;
    let source = match args.positional {
        [value] => value,
        values => {
            many = Value::Tuple(Rc::new(Tuple::new(values.to_vec())));
            &many
        }
    };
    let Some(mut values) = Iter::of(source) else {
        fail!("{function}: {} value is not iterable", source.type_name());
    };
    let key_of = |eval: &mut Eval, value: &Value| match &key {
        Some(Callable(key)) => eval.call(key, std::slice::from_ref(value), &[]),
        None => Ok(value.clone()),
    };
    let Some(mut best) = values.next() else { fail!("{function}: argument is an empty sequence") };
    let mut best_key = key_of(eval, &best)?;
    for value in values {
        eval.step()?;
        let key = key_of(eval, &value)?;
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
    let values = match iterable {
        Some(iterable) => collect(eval, &iterable)?,
        None => Vec::new(),
    };
    let mut pairs = Vec::with_capacity(values.len());
    for value in values {
        let key = match &key {
            Some(Callable(key)) => eval.call(key, std::slice::from_ref(&value), &[])?,
            None => value.clone(),
        };
        pairs.push((key, value));
    }
    sort(eval, &mut pairs, reverse)?;
    Ok(Value::list(pairs.into_iter().map(|(_, value)| value).collect()))
}

/// Sorts by the first of each pair; equal ones keep their order.
fn sort(eval: &mut Eval, pairs: &mut [(Value, Value)], reverse: bool) -> Result<(), Error> {
    let all_ints = pairs.iter().all(|(key, _)| matches!(key, Value::Int(_)));
    let all_texts = pairs.iter().all(|(key, _)| matches!(key, Value::Str(_)));
    if all_ints || all_texts {
        // These have a total order, on which the standard library insists.
        pairs.sort_by(|(a, _), (b, _)| {
            let order = match (a, b) {
                (Value::Int(a), Value::Int(b)) => a.cmp(b),
                (Value::Str(a), Value::Str(b)) => a.cmp(b),
                _ => Ordering::Equal,
            };
            if reverse { order.reverse() } else { order }
        });
        return Ok(());
    }
    let mut problem = None;
    let mut less = |a: &(Value, Value), b: &(Value, Value)| {
        let (a, b) = if reverse { (b, a) } else { (a, b) };
        match compare(CompareOp::Lt, &a.0, &b.0) {
            Ok(less) => less,
            // As in the reference the last problem is reported.
            Err(error) => {
                problem = Some(error);
                false
            }
        }
    };
    /// Runs of this length are sorted by insertion.
    const RUN: usize = 20;
    for run in pairs.chunks_mut(RUN) {
        for end in 1..run.len() {
            let mut at = end;
            while at > 0 && less(&run[at], &run[at - 1]) {
                run.swap(at, at - 1);
                at -= 1;
            }
        }
    }
    let mut width = RUN;
    let mut merged: Vec<(Value, Value)> = Vec::new();
    while width < pairs.len() {
        for chunk in pairs.chunks_mut(2 * width) {
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
            chunk.iter_mut().zip(merged.drain(..)).for_each(|(slot, pair)| *slot = pair);
        }
        width *= 2;
    }
    match problem {
        Some(error) => Err(error),
        None => Ok(()),
    }
}
