//! Functions of lists, sets and optional values.
//!
//! Sets are lists: `sets.contains` and the like compare items by equality. Functions that take a
//! condition (`all`, `map`, …) are not here: they are macros, and loops in the compiled program.

use std::cmp::Ordering;

use super::arithmetic::arithmetic;
use super::{MAX_SIZE, optional, overload, text};
use crate::eval::{EvalError, Result, fail};
use crate::functions::Fun;
use crate::value::Val;

pub(super) fn lists(fun: Fun, args: &[Val]) -> Result<Val> {
    if fun == Fun::Range {
        return match &args[0] {
            Val::Int(count) if *count <= MAX_SIZE as i64 => Ok(Val::list((0..*count).map(Val::Int).collect())),
            Val::Int(_) => Err(EvalError::Cost),
            _ => overload(fun, args),
        };
    }
    let Val::List(list) = &args[0] else { return overload(fun, args) };
    let items = &list.items;
    let number = |at: usize| match args.get(at) {
        Some(Val::Int(value)) => Some(*value),
        _ => None,
    };
    match fun {
        Fun::IndexOf => Ok(Val::Int(items.iter().position(|item| item.equals(&args[1])).map_or(-1, |at| at as i64))),
        Fun::LastIndexOf => {
            Ok(Val::Int(items.iter().rposition(|item| item.equals(&args[1])).map_or(-1, |at| at as i64)))
        }
        Fun::IsSorted => {
            for pair in items.windows(2) {
                match pair[0].compare(&pair[1]) {
                    None => return overload(fun, pair),
                    Some(Ordering::Greater) => return Ok(Val::Bool(false)),
                    Some(_) => {}
                }
            }
            Ok(Val::Bool(true))
        }
        Fun::Sum => match items.split_first() {
            None => Ok(Val::Int(0)),
            Some((first, rest)) => {
                rest.iter().try_fold(first.clone(), |sum, item| arithmetic(Fun::Add, &[sum, item.clone()]))
            }
        },
        Fun::Min | Fun::Max => {
            let Some((first, rest)) = items.split_first() else { return fail("min and max of an empty list") };
            let mut best = first;
            for item in rest {
                let Some(order) = item.compare(best) else { return overload(fun, &[item.clone(), best.clone()]) };
                if order == (if fun == Fun::Min { Ordering::Less } else { Ordering::Greater }) {
                    best = item;
                }
            }
            Ok(best.clone())
        }
        Fun::Join => {
            let separator = match args.get(1) {
                None => "",
                Some(Val::Str(separator)) => separator,
                Some(_) => return overload(fun, args),
            };
            let mut out = String::new();
            for (at, item) in items.iter().enumerate() {
                let Val::Str(item) = item else { return overload(fun, args) };
                if at > 0 {
                    out.push_str(separator);
                }
                out.push_str(item);
                if out.len() > MAX_SIZE {
                    return Err(EvalError::Cost);
                }
            }
            Ok(text(out))
        }
        Fun::Slice => match (number(1), number(2)) {
            (Some(start), Some(end)) if start >= 0 && start <= end && end as usize <= items.len() => {
                Ok(Val::list(items[start as usize..end as usize].to_vec()))
            }
            _ => fail("index out of range"),
        },
        Fun::Flatten => {
            let depth = number(1).unwrap_or(1);
            if depth < 0 {
                return fail("level must be non-negative");
            }
            let mut out = Vec::new();
            flatten(items, depth.min(50), &mut out);
            Ok(Val::list(out))
        }
        Fun::Sort => {
            let mut sorted = items.clone();
            let mut is_comparable = true;
            sorted.sort_by(|a, b| {
                a.compare(b).unwrap_or_else(|| {
                    is_comparable = false;
                    Ordering::Equal
                })
            });
            if is_comparable { Ok(Val::list(sorted)) } else { fail("values that cannot be compared cannot be sorted") }
        }
        Fun::Distinct => {
            let mut out: Vec<Val> = Vec::new();
            for item in items {
                if !out.iter().any(|known| known.equals(item)) {
                    out.push(item.clone());
                }
            }
            Ok(Val::list(out))
        }
        Fun::Reverse => Ok(Val::list(items.iter().rev().cloned().collect())),
        Fun::First => Ok(optional(items.first().cloned())),
        Fun::Last => Ok(optional(items.last().cloned())),
        Fun::SetsContains | Fun::SetsEquivalent | Fun::SetsIntersects => {
            let Val::List(other) = &args[1] else { return overload(fun, args) };
            let has = |list: &[Val], item: &Val| list.iter().any(|known| known.equals(item));
            let contains = |a: &[Val], b: &[Val]| b.iter().all(|item| has(a, item));
            Ok(Val::Bool(match fun {
                Fun::SetsContains => contains(items, &other.items),
                Fun::SetsEquivalent => contains(items, &other.items) && contains(&other.items, items),
                _ => items.iter().any(|item| has(&other.items, item)),
            }))
        }
        _ => overload(fun, args),
    }
}

fn flatten(items: &[Val], depth: i64, out: &mut Vec<Val>) {
    for item in items {
        match item {
            Val::List(list) if depth > 0 => flatten(&list.items, depth - 1, out),
            other => out.push(other.clone()),
        }
    }
}

pub(super) fn optionals(fun: Fun, args: &[Val]) -> Result<Val> {
    match (fun, args) {
        (Fun::OptionalNone, _) => Ok(Val::Optional(None)),
        (Fun::OptionalOf, [value]) => Ok(optional(Some(value.clone()))),
        (Fun::OptionalOfNonZero, [value]) => Ok(optional(Some(value.clone()).filter(|value| !is_zero(value)))),
        (Fun::HasValue, [Val::Optional(inner)]) => Ok(Val::Bool(inner.is_some())),
        (Fun::Value, [Val::Optional(inner)]) => match inner {
            Some(inner) => Ok((**inner).clone()),
            None => fail("optional.none() dereference"),
        },
        (Fun::Or, [Val::Optional(inner), other]) => {
            if inner.is_some() {
                Ok(args[0].clone())
            } else {
                Ok(other.clone())
            }
        }
        (Fun::OrValue, [Val::Optional(inner), other]) => {
            Ok(inner.as_ref().map_or_else(|| other.clone(), |inner| (**inner).clone()))
        }
        _ => overload(fun, args),
    }
}

fn is_zero(value: &Val) -> bool {
    match value {
        Val::Null => true,
        Val::Bool(value) => !value,
        Val::Int(value) => *value == 0,
        Val::Uint(value) => *value == 0,
        Val::Double(value) => *value == 0.0,
        Val::Duration(value) => *value == 0,
        Val::Str(_) | Val::Bytes(_) | Val::List(_) | Val::Map(_) => value.size() == 0,
        Val::Optional(inner) => inner.is_none(),
        _ => false,
    }
}
