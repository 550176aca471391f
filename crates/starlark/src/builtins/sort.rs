//! `sorted`, `min` and `max`.
//!
//! Integers and strings have a total order and are sorted by the standard library. Comparisons of
//! other values can fail or be inconsistent, which it does not allow: those go through a stable
//! merge sort, which reports the problem at the end.

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
    if let ([Value::List(list)], None) = (args.positional, &key) {
        return extreme_item(eval, function, op, &list.items());
    }
    if let [source] = args.positional {
        let Some(values) = Iter::of(source) else {
            fail!(Type, "{function}: {} value is not iterable", source.type_name());
        };
        return extreme_of(eval, function, op, key, values);
    }
    extreme_of(eval, function, op, key, args.positional.iter().cloned())
}

/// The same for the values of a list, which are not copied.
fn extreme_item(eval: &mut Eval, function: &str, op: CompareOp, items: &[Value]) -> Result<Value, Error> {
    let Some((mut best, rest)) = items.split_first() else { fail!("{function}: argument is an empty sequence") };
    for item in rest {
        eval.step()?;
        let is_better = match (item, best) {
            (Value::Int(item), Value::Int(best)) => op.accepts(item.cmp(best)),
            _ => compare(op, item, best).map_err(|error| error.in_context(function))?,
        };
        if is_better {
            best = item;
        }
    }
    Ok(best.clone())
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

/// Sorts values if all are integers; returns whether they are. Equal integers are
/// indistinguishable, so the bare numbers are sorted: this takes a third of the instructions of
/// sorting the values. If they are close together, they are counted instead.
fn sort_ints(values: &mut [Value], reverse: bool) -> bool {
    let mut ints = Vec::with_capacity(values.len());
    let (mut least, mut greatest) = (i64::MAX, i64::MIN);
    for value in values.iter() {
        let Value::Int(value) = value else { return false };
        ints.push(*value);
        least = least.min(*value);
        greatest = greatest.max(*value);
    }
    match usize::try_from(greatest.wrapping_sub(least)) {
        Ok(range) if least <= greatest && range < ints.len() => sort_by_counting(&mut ints, least, range),
        _ => ints.sort_unstable(),
    }
    let put = |(value, int): (&mut Value, &i64)| value.put_int(*int);
    if reverse {
        values.iter_mut().zip(ints.iter().rev()).for_each(put);
    } else {
        values.iter_mut().zip(&ints).for_each(put);
    }
    true
}

/// Sorts integers from `least` to `least + range` by counting each: linear if the range is not
/// larger than their number.
fn sort_by_counting(ints: &mut [i64], least: i64, range: usize) {
    let mut counts = vec![0u32; range + 1];
    for int in ints.iter() {
        counts[int.wrapping_sub(least) as usize] += 1;
    }
    let mut slots = ints.iter_mut();
    for (offset, count) in counts.into_iter().enumerate() {
        let int = least.wrapping_add(offset as i64);
        slots.by_ref().take(count as usize).for_each(|slot| *slot = int);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_sorts() {
        let mut state = 1u64;
        let mut next = |range: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % range
        };
        for len in [0, 1, 2, 3, 10, 300] {
            for range in [1, 2, 7, 299, 100_000] {
                for base in [0, -5, i64::MIN, i64::MAX - 100_000] {
                    let ints: Vec<i64> = (0..len).map(|_| base + next(range) as i64).collect();
                    let mut expected = ints.clone();
                    expected.sort_unstable();
                    for reverse in [false, true] {
                        let mut values: Vec<Value> = ints.iter().map(|int| Value::Int(*int)).collect();
                        assert!(sort_ints(&mut values, reverse));
                        if reverse {
                            values.reverse();
                        }
                        let sorted: Vec<i64> = values
                            .iter()
                            .filter_map(|value| if let Value::Int(int) = value { Some(*int) } else { None })
                            .collect();
                        assert_eq!(sorted, expected);
                    }
                }
            }
        }
        assert!(!sort_ints(&mut [Value::Int(1), Value::None], false));
        let mut extremes = [Value::Int(i64::MAX), Value::Int(i64::MIN), Value::Int(0)];
        assert!(sort_ints(&mut extremes, false));
        assert!(matches!(extremes, [Value::Int(i64::MIN), Value::Int(0), Value::Int(i64::MAX)]));
    }
}
