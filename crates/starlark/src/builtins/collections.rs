//! Functions that make collections, and the methods of sets.

use std::rc::Rc;

use crate::args::Iterable;
use crate::error::fail;
use crate::value::{Range, Set, Tuple};
use crate::vm::Iter;
use crate::{Args, Dialect, Error, Eval, Value};

/// The values of an optional argument, counted against the memory limit.
fn values(eval: &mut Eval, function: &str, args: Args<'_>, min: usize) -> Result<Vec<Value>, Error> {
    args.count(function, min, 1)?;
    match args.at::<Iterable>(function, 0)? {
        Some(iterable) => collect(eval, &iterable),
        None => Ok(Vec::new()),
    }
}

pub(super) fn collect(eval: &mut Eval, iterable: &Iterable) -> Result<Vec<Value>, Error> {
    if let Value::List(list) = &iterable.0 {
        eval.charge(list.len() * size_of::<Value>())?;
        return Ok(list.to_vec());
    }
    let mut out = Vec::with_capacity(iterable.0.len().unwrap_or(0).min(1 << 20));
    for value in iterable.iterate() {
        eval.charge(size_of::<Value>())?;
        eval.step()?;
        out.push(value);
    }
    Ok(out)
}

pub(super) fn list(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::list(values(eval, "list", args, 0)?))
}

pub(super) fn tuple(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::tuple(values(eval, "tuple", args, 0)?))
}

pub(super) fn reversed(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let mut values = values(eval, "reversed", args, 1)?;
    values.reverse();
    Ok(Value::list(values))
}

pub(super) fn set(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let set = Set::new();
    for value in values(eval, "set", args, 0)? {
        eval.charge(64)?;
        set.insert(value).map_err(|error| error.in_context("set"))?;
    }
    Ok(Value::Set(Rc::new(set)))
}

pub(super) fn union(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    let Value::Set(receiver) = receiver else { fail!(Type, "union: got {}, want set", receiver.type_name()) };
    let set = Set::new();
    eval.charge(64 * receiver.len())?;
    for value in receiver.to_vec() {
        set.insert(value)?;
    }
    if eval.dialect() == Dialect::Current && args.positional.len() > 1 {
        for value in args.positional {
            let one = Args { positional: std::slice::from_ref(value), ..args };
            for value in values(eval, "union", one, 1)? {
                set.insert(value).map_err(|error| error.in_context("union"))?;
            }
        }
        return Ok(Value::Set(Rc::new(set)));
    }
    for value in values(eval, "union", args, 0)? {
        set.insert(value).map_err(|error| error.in_context("union"))?;
    }
    Ok(Value::Set(Rc::new(set)))
}

pub(super) fn range(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("range", 1, 3)?;
    let first: i32 = args.required("range", 0)?;
    let stop: Option<i32> = args.at("range", 1)?;
    let step = args.at::<i32>("range", 2)?.unwrap_or(1);
    if step == 0 {
        fail!("range: step argument must not be zero");
    }
    let (start, stop) = match stop {
        Some(stop) => (first, stop),
        None => (0, first),
    };
    Ok(Value::Range(Rc::new(Range::new(i64::from(start), i64::from(stop), i64::from(step)))))
}

pub(super) fn enumerate(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("enumerate", 1, 2)?;
    let iterable: Iterable = args.required("enumerate", 0)?;
    let start = i64::from(args.at::<i32>("enumerate", 1)?.unwrap_or(0));
    let mut pairs = Vec::with_capacity(iterable.0.len().unwrap_or(0).min(1 << 20));
    for (n, value) in iterable.iterate().enumerate() {
        eval.charge(4 * size_of::<Value>())?;
        eval.step()?;
        pairs.push(Value::Tuple(Rc::new(Tuple::pair(Value::Int(start + n as i64), value))));
    }
    Ok(Value::list(pairs))
}

pub(super) fn zip(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    if !args.named.is_empty() {
        fail!(Call, "zip does not accept keyword arguments");
    }
    let mut iters = Vec::with_capacity(args.positional.len());
    for (n, value) in args.positional.iter().enumerate() {
        match Iter::of(value) {
            Some(iter) => iters.push(iter),
            None => fail!(Type, "zip: argument #{} is not iterable: {}", n + 1, value.type_name()),
        }
    }
    let mut rows = Vec::new();
    if iters.is_empty() {
        return Ok(Value::list(rows));
    }
    loop {
        eval.charge((iters.len() + 2) * size_of::<Value>())?;
        eval.step()?;
        let row: Option<Vec<Value>> = iters.iter_mut().map(Iterator::next).collect();
        match row {
            Some(row) => rows.push(Value::tuple(row)),
            None => return Ok(Value::list(rows)),
        }
    }
}
