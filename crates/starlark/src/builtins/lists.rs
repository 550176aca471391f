//! Methods of lists.

use ytterby_text::budget;

use super::collections::collect;
use crate::args::Iterable;
use crate::error::fail;
use crate::ops::{equal, in_range, slice_bounds};
use crate::value::{List, Method};
use crate::{Args, Error, Eval, Value};

/// Larger lists are charged before they grow.
const GROWTH: usize = 1 << 20;

pub(super) const METHODS: &[(&str, Method)] = &[
    ("append", append),
    ("clear", clear),
    ("extend", extend),
    ("index", index),
    ("insert", insert),
    ("pop", pop),
    ("remove", remove),
];

fn list(receiver: &Value) -> Result<&List, Error> {
    match receiver {
        Value::List(list) => Ok(list),
        other => fail!(Type, "got {}, want list", other.type_name()),
    }
}

fn append(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("append", 1, 1)?;
    eval.charge(size_of::<Value>())?;
    list(receiver)?.push(args.positional[0].clone()).map_err(|error| error.in_context("append"))?;
    Ok(Value::None)
}

fn clear(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("clear", 0, 0)?;
    let old = list(receiver)?.change("clear", std::mem::take).map_err(|error| error.in_context("clear"))?;
    drop(old);
    Ok(Value::None)
}

fn extend(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("extend", 1, 1)?;
    let iterable: Iterable = args.required("extend", 0)?;
    let list = list(receiver)?;
    list.change("extend", |_| ()).map_err(|error| error.in_context("extend"))?;
    let values = collect(eval, &iterable)?;
    let spare = values.len().max(list.len()).saturating_mul(size_of::<Value>());
    if spare > GROWTH {
        // The capacity may double.
        budget::memory(spare)?;
    }
    list.change("extend", |items| items.extend(values)).map_err(|error| error.in_context("extend"))?;
    Ok(Value::None)
}

fn index(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("index", 1, 3)?;
    let items = list(receiver)?.items();
    let bounds = slice_bounds(args.positional.get(1), args.positional.get(2), items.len());
    let (start, end) = bounds.map_err(|error| error.in_context("index"))?;
    for (at, item) in items.iter().enumerate().take(end).skip(start) {
        budget::work(1)?;
        if equal(item, &args.positional[0]).map_err(|error| error.in_context("index"))? {
            return Ok(Value::from(at));
        }
    }
    fail!("index: value not in list")
}

fn insert(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("insert", 2, 2)?;
    let at: i32 = args.required("insert", 0)?;
    let value = args.positional[1].clone();
    eval.charge(size_of::<Value>())?;
    Eval::pass(list(receiver)?.len() * size_of::<Value>())?;
    let insert = |items: &mut Vec<Value>| {
        let len = items.len() as i64;
        let at = i64::from(at);
        let at = if at < 0 { at + len } else { at };
        items.insert(at.clamp(0, len) as usize, value);
    };
    list(receiver)?.change("insert into", insert).map_err(|error| error.in_context("insert"))?;
    Ok(Value::None)
}

fn pop(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("pop", 0, 1)?;
    let list = list(receiver)?;
    let at = args.at::<i32>("pop", 0)?.map_or(list.len() as i64 - 1, i64::from);
    let at = in_range(at, list.len(), receiver).map_err(|error| error.in_context("pop"))?;
    Eval::pass((list.len() - at) * size_of::<Value>())?;
    list.change("pop from", |items| items.remove(at)).map_err(|error| error.in_context("pop"))
}

fn remove(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("remove", 1, 1)?;
    let list = list(receiver)?;
    let named = |error: Error| error.in_context("remove");
    list.change("remove from", |_| ()).map_err(named)?;
    let mut found = None;
    for (at, item) in list.items().iter().enumerate() {
        budget::work(1)?;
        if equal(item, &args.positional[0]).map_err(named)? {
            found = Some(at);
            break;
        }
    }
    match found {
        Some(at) => {
            let old = list.change("remove from", |items| items.remove(at)).map_err(named)?;
            drop(old);
            Ok(Value::None)
        }
        None => fail!("remove: element not found"),
    }
}
