//! `dict(…)` and the methods of dicts.
//!
//! `METHODS` is the table by name. Methods that return keys or values return lists, not views, as
//! the language demands; those that change a dict fail if it is frozen or being iterated.

use std::rc::Rc;

use crate::args::quoted;
use crate::error::fail;
use crate::value::{Dict, Method, Tuple};
use crate::vm::Iter;
use crate::{Args, Error, Eval, Value};

pub(super) const METHODS: &[(&str, Method)] = &[
    ("clear", clear),
    ("get", get),
    ("items", items),
    ("keys", keys),
    ("pop", pop),
    ("popitem", popitem),
    ("setdefault", setdefault),
    ("update", update),
    ("values", values),
];

fn receiver_dict(receiver: &Value) -> Result<&Dict, Error> {
    match receiver {
        Value::Dict(dict) => Ok(dict),
        other => fail!(Type, "got {}, want dict", other.type_name()),
    }
}

pub(super) fn dict(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    if args.positional.len() > 1 {
        fail!(Call, "dict: got {} arguments, want at most 1", args.positional.len());
    }
    let dict = Dict::new();
    add_all(eval, &dict, args).map_err(|error| error.in_context("dict"))?;
    Ok(Value::Dict(Rc::new(dict)))
}

fn update(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    if args.positional.len() > 1 {
        fail!(Call, "update: got {} arguments, want at most 1", args.positional.len());
    }
    add_all(eval, receiver_dict(receiver)?, args).map_err(|error| error.in_context("update"))?;
    Ok(Value::None)
}

/// Adds the pairs of a mapping or of a sequence of pairs, then those given by name.
fn add_all(eval: &mut Eval, dict: &Dict, args: Args<'_>) -> Result<(), Error> {
    if let Some(source) = args.positional.first() {
        let items = match source {
            Value::Dict(other) => Some(other.items()),
            Value::Host(host) => host.mapping().and_then(|mapping| mapping.items()),
            _ => None,
        };
        match items {
            Some(items) => {
                for (key, value) in items {
                    eval.charge(64)?;
                    dict.insert(key, value)?;
                }
            }
            None => add_pairs(eval, dict, source)?,
        }
    }
    for (n, (name, value)) in args.named.iter().enumerate() {
        let known = dict.insert(Value::Str(name.clone()), value.clone())?.is_some();
        if known && args.named[..n].iter().any(|(other, _)| other == name) {
            fail!(Call, "duplicate keyword arg: {}", quoted(name));
        }
    }
    Ok(())
}

fn add_pairs(eval: &mut Eval, dict: &Dict, source: &Value) -> Result<(), Error> {
    let Some(pairs) = Iter::of(source) else { fail!(Type, "got {}, want iterable", source.type_name()) };
    for (n, pair) in pairs.enumerate() {
        eval.charge(64)?;
        let kind = pair.type_name();
        let Some(mut parts) = Iter::of(&pair) else {
            fail!(Type, "dictionary update sequence element #{n} is not iterable ({kind})");
        };
        match pair.len() {
            Some(2) => {}
            Some(len) => fail!("dictionary update sequence element #{n} has length {len}, want 2"),
            None => fail!("dictionary update sequence element #{n} has unknown length ({kind})"),
        }
        if let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            dict.insert(key, value)?;
        }
    }
    Ok(())
}

fn clear(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("clear", 0, 0)?;
    receiver_dict(receiver)?.clear()?;
    Ok(Value::None)
}

fn get(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("get", 1, 2)?;
    match receiver_dict(receiver)?.table().get(&args.positional[0]) {
        Ok(Some(value)) => Ok(value.clone()),
        Ok(None) => Ok(args.positional.get(1).cloned().unwrap_or(Value::None)),
        Err(error) => Err(error.in_context("get")),
    }
}

fn items(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("items", 0, 0)?;
    let table = receiver_dict(receiver)?.table();
    eval.charge(table.len() * 4 * size_of::<Value>())?;
    let pair = |(key, value): (&Value, &Value)| Value::Tuple(Rc::new(Tuple::pair(key.clone(), value.clone())));
    Ok(Value::list(table.iter().map(pair).collect()))
}

fn keys(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("keys", 0, 0)?;
    let table = receiver_dict(receiver)?.table();
    eval.charge(table.len() * size_of::<Value>())?;
    Ok(Value::list(table.iter().map(|(key, _)| key.clone()).collect()))
}

fn values(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("values", 0, 0)?;
    let table = receiver_dict(receiver)?.table();
    eval.charge(table.len() * size_of::<Value>())?;
    Ok(Value::list(table.iter().map(|(_, value)| value.clone()).collect()))
}

fn pop(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("pop", 1, 2)?;
    let found = receiver_dict(receiver)?.remove(&args.positional[0]).map_err(|error| error.in_context("pop"))?;
    match found.or_else(|| args.positional.get(1).cloned()) {
        Some(value) => Ok(value),
        None => fail!(Index, "pop: missing key"),
    }
}

fn popitem(_: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("popitem", 0, 0)?;
    let dict = receiver_dict(receiver)?;
    let Some((key, value)) = dict.first() else { fail!("popitem: empty dict") };
    dict.remove(&key).map_err(|error| error.in_context("popitem"))?;
    Ok(Value::Tuple(Rc::new(Tuple::pair(key, value))))
}

fn setdefault(eval: &mut Eval, receiver: &Value, args: Args<'_>) -> Result<Value, Error> {
    args.count("setdefault", 1, 2)?;
    let dict = receiver_dict(receiver)?;
    let named = |error: Error| error.in_context("setdefault");
    if let Some(value) = dict.get(&args.positional[0]).map_err(named)? {
        return Ok(value);
    }
    eval.charge(64)?;
    let default = args.positional.get(1).cloned().unwrap_or(Value::None);
    dict.insert(args.positional[0].clone(), default.clone()).map_err(named)?;
    Ok(default)
}
