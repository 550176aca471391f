//! Methods of sets. ytt has only `union`; the others belong to
//! [`Dialect::Current`](crate::Dialect::Current).
//!
//! `METHODS` is the table by name. Arguments can be any iterable; their values are collected first,
//! so that an argument can be the set itself.

use std::rc::Rc;

use ytterby_text::budget;

use super::collections::collect;
use crate::args::{FromValue, Iterable};
use crate::error::fail;
use crate::value::{Method, Set};
use crate::{Args, Error, Eval, Value};

pub(super) const METHODS: &[(&str, Method)] = &[
    ("add", |eval, set, args| {
        args.count("add", 1, 1)?;
        eval.charge(64)?;
        this("add", set)?.insert(args.positional[0].clone()).map_err(|error| error.in_context("add"))?;
        Ok(Value::None)
    }),
    ("clear", |_, set, args| {
        args.count("clear", 0, 0)?;
        this("clear", set)?.clear().map_err(|error| error.in_context("clear"))?;
        Ok(Value::None)
    }),
    ("difference", |eval, set, args| {
        let result = copy(this("difference", set)?)?;
        for value in all_values(eval, "difference", args)? {
            result.remove(&value).map_err(|error| error.in_context("difference"))?;
        }
        Ok(Value::Set(Rc::new(result)))
    }),
    ("discard", |_, set, args| {
        args.count("discard", 1, 1)?;
        this("discard", set)?.remove(&args.positional[0]).map_err(|error| error.in_context("discard"))?;
        Ok(Value::None)
    }),
    ("intersection", |eval, set, args| {
        let mut result = copy(this("intersection", set)?)?;
        for values in each(eval, "intersection", args)? {
            let other = of_values("intersection", values)?;
            let common = Set::new();
            for value in result.to_vec() {
                if other.contains(&value)? {
                    common.insert(value)?;
                }
            }
            result = common;
        }
        Ok(Value::Set(Rc::new(result)))
    }),
    ("issubset", |eval, set, args| {
        let other = of_values("issubset", one(eval, "issubset", args)?)?;
        this("issubset", set)?.is_within(&other).map(Value::Bool)
    }),
    ("issuperset", |eval, set, args| {
        let set = this("issuperset", set)?;
        for value in one(eval, "issuperset", args)? {
            if !set.contains(&value)? {
                return Ok(Value::Bool(false));
            }
        }
        Ok(Value::Bool(true))
    }),
    ("pop", |_, set, args| {
        args.count("pop", 0, 0)?;
        let set = this("pop", set)?;
        let first = set.first();
        match first {
            Some(value) => {
                set.remove(&value).map_err(|error| error.in_context("pop"))?;
                Ok(value)
            }
            None => fail!("pop: empty set"),
        }
    }),
    ("remove", |_, set, args| {
        args.count("remove", 1, 1)?;
        match this("remove", set)?.remove(&args.positional[0]).map_err(|error| error.in_context("remove"))? {
            true => Ok(Value::None),
            false => fail!("remove: missing key"),
        }
    }),
    ("symmetric_difference", |eval, set, args| {
        let other = of_values("symmetric_difference", one(eval, "symmetric_difference", args)?)?;
        let (set, result) = (this("symmetric_difference", set)?, Set::new());
        budget::text(64 * set.len())?;
        for (from, without) in [(&**set, &other), (&other, &**set)] {
            for value in from.to_vec() {
                if !without.contains(&value)? {
                    result.insert(value)?;
                }
            }
        }
        Ok(Value::Set(Rc::new(result)))
    }),
    ("union", super::collections::union),
    ("update", |eval, set, args| {
        let set = this("update", set)?;
        for value in all_values(eval, "update", args)? {
            eval.charge(64)?;
            set.insert(value).map_err(|error| error.in_context("update"))?;
        }
        Ok(Value::None)
    }),
];

fn this<'a>(method: &str, receiver: &'a Value) -> Result<&'a Rc<Set>, Error> {
    match receiver {
        Value::Set(set) => Ok(set),
        other => fail!(Type, "{method}: got {}, want set", other.type_name()),
    }
}

fn copy(set: &Set) -> Result<Set, Error> {
    budget::text(64 * set.len())?;
    of_values("set", set.to_vec())
}

fn of_values(method: &str, values: Vec<Value>) -> Result<Set, Error> {
    budget::text(64 * values.len())?;
    let set = Set::new();
    for value in values {
        set.insert(value).map_err(|error| error.in_context(method))?;
    }
    Ok(set)
}

/// The values of the only argument.
fn one(eval: &mut Eval, method: &str, args: Args<'_>) -> Result<Vec<Value>, Error> {
    args.count(method, 1, 1)?;
    let iterable: Iterable = args.required(method, 0)?;
    collect(eval, &iterable)
}

/// The values of each argument.
fn each(eval: &mut Eval, method: &str, args: Args<'_>) -> Result<Vec<Vec<Value>>, Error> {
    if !args.named.is_empty() {
        fail!(Call, "{method} does not accept keyword arguments");
    }
    let mut all = Vec::with_capacity(args.positional.len());
    for (n, value) in args.positional.iter().enumerate() {
        match Iterable::from_value(value) {
            Ok(iterable) => all.push(collect(eval, &iterable)?),
            Err(_) => fail!(Type, "{method}: argument #{} is not iterable: {}", n + 1, value.type_name()),
        }
    }
    Ok(all)
}

/// The values of all arguments.
fn all_values(eval: &mut Eval, method: &str, args: Args<'_>) -> Result<Vec<Value>, Error> {
    Ok(each(eval, method, args)?.concat())
}
