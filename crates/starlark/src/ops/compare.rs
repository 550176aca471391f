//! Equality and order.
//!
//! Like in the reference, comparing values nested deeper than ten levels is an error; this also
//! ends comparisons of values that contain themselves.

use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, Signed};
use ytterby_text::{Str, budget};

use crate::error::fail;
use crate::host::CompareOp;
use crate::value::{Dict, Set};
use crate::{Error, Eval, Value};

const MAX_DEPTH: usize = 10;

/// `x == y`.
///
/// # Errors
/// If the values are nested too deeply.
#[inline]
pub fn equal(x: &Value, y: &Value) -> Result<bool, Error> {
    match (x, y) {
        (Value::Str(x), Value::Str(y)) => {
            pass(x, y)?;
            Ok(x == y)
        }
        (Value::Int(x), Value::Int(y)) => Ok(x == y),
        (Value::Str(_), _) => Ok(false),
        _ => compare_depth(CompareOp::Eq, x, y, MAX_DEPTH),
    }
}

/// `x < y` and so on.
///
/// # Errors
/// If the values have no order or are nested too deeply.
#[inline]
pub fn compare(op: CompareOp, x: &Value, y: &Value) -> Result<bool, Error> {
    match (x, y) {
        (Value::Int(x), Value::Int(y)) => Ok(op.accepts(x.cmp(y))),
        (Value::Str(x), Value::Str(y)) => {
            pass(x, y)?;
            Ok(match op {
                CompareOp::Eq => x == y,
                CompareOp::Ne => x != y,
                _ => op.accepts(x.cmp(y)),
            })
        }
        _ => compare_depth(op, x, y, MAX_DEPTH),
    }
}

/// Like [`compare`], for parts of values: `depth` is the number of levels that may follow.
///
/// # Errors
/// If the values have no order or `depth` is 0.
pub fn compare_depth(op: CompareOp, x: &Value, y: &Value, depth: usize) -> Result<bool, Error> {
    if depth < 1 {
        fail!("comparison exceeded maximum recursion depth");
    }
    match (x, y) {
        (Value::None, Value::None) => Ok(op.accepts(Ordering::Equal)),
        (Value::Bool(x), Value::Bool(y)) => Ok(op.accepts(x.cmp(y))),
        (Value::Int(x), Value::Int(y)) => Ok(op.accepts(x.cmp(y))),
        (Value::BigInt(x), Value::BigInt(y)) => Ok(op.accepts(x.cmp(y))),
        (Value::Int(_), Value::BigInt(y)) => {
            Ok(op.accepts(if y.is_negative() { Ordering::Greater } else { Ordering::Less }))
        }
        (Value::BigInt(x), Value::Int(_)) => {
            Ok(op.accepts(if x.is_negative() { Ordering::Less } else { Ordering::Greater }))
        }
        (Value::Float(x), Value::Float(y)) => Ok(match x.partial_cmp(y) {
            Some(order) => op.accepts(order),
            None => op == CompareOp::Ne,
        }),
        (Value::Int(_) | Value::BigInt(_), Value::Float(f)) => Ok(match number_order(x, *f) {
            Some(order) => op.accepts(order),
            // Like in the reference, every operator returns false, even `!=`.
            None => false,
        }),
        (Value::Float(f), Value::Int(_) | Value::BigInt(_)) => Ok(match number_order(y, *f) {
            // Like the reference, order a positive infinity on the left before integers, and a
            // negative one after them.
            Some(order) if f.is_infinite() => op.accepts(order),
            Some(order) => op.accepts(order.reverse()),
            None => false,
        }),
        (Value::Str(x), Value::Str(y)) => {
            pass(x, y)?;
            Ok(op.accepts(x.cmp(y)))
        }
        (Value::List(x), Value::List(y)) => compare_slices(op, &x.items(), &y.items(), depth),
        (Value::Tuple(x), Value::Tuple(y)) => compare_slices(op, x, y, depth),
        (Value::Dict(a), Value::Dict(b)) => equality(op, x, y, || dicts_equal(a, b, depth)),
        (Value::Set(a), Value::Set(b)) => match op {
            CompareOp::Le => a.is_within(b),
            CompareOp::Ge => b.is_within(a),
            CompareOp::Lt => Ok(a.len() < b.len() && a.is_within(b)?),
            CompareOp::Gt => Ok(b.len() < a.len() && b.is_within(a)?),
            _ => equality(op, x, y, || sets_equal(a, b)),
        },
        (Value::Range(a), Value::Range(b)) => equality(op, x, y, || Ok(a.equals(b))),
        (Value::Function(a), Value::Function(b)) => equality(op, x, y, || Ok(Rc::ptr_eq(a, b))),
        (Value::Builtin(a), Value::Builtin(b)) => equality(op, x, y, || Ok(Rc::ptr_eq(a, b))),
        (Value::Host(host), _) if host.type_name() == y.type_name() => {
            match stacker::maybe_grow(64 << 10, 1 << 20, || host.compare(op, y, depth))? {
                Some(answer) => Ok(answer),
                None => equality(op, x, y, || Ok(x.is_same(y))),
            }
        }
        _ => equality(op, x, y, || Ok(false)),
    }
}

/// Charges the comparison of two long texts.
#[inline]
fn pass(x: &Str, y: &Str) -> Result<(), Error> {
    Eval::pass(x.as_bytes().len().min(y.as_bytes().len()))
}

/// `==` and `!=`, given an equality; other operators are not implemented.
fn equality(op: CompareOp, x: &Value, y: &Value, equal: impl FnOnce() -> Result<bool, Error>) -> Result<bool, Error> {
    match op {
        CompareOp::Eq => equal(),
        CompareOp::Ne => Ok(!equal()?),
        _ => fail!(Type, "{} {} {} not implemented", x.type_name(), op.symbol(), y.type_name()),
    }
}

/// Compares an integer with a float; `None` for NaN.
fn number_order(int: &Value, f: f64) -> Option<Ordering> {
    if f.is_nan() {
        return None;
    }
    if f.is_infinite() {
        return Some(if f > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = BigInt::from_f64(f.trunc())?;
    let order = match int {
        Value::Int(i) => BigInt::from(*i).cmp(&whole),
        Value::BigInt(i) => (**i).cmp(&whole),
        _ => return None,
    };
    // The integral parts are equal, so the fraction decides.
    Some(order.then_with(|| 0.0f64.total_cmp(&(f.fract() + 0.0))))
}

fn compare_slices(op: CompareOp, x: &[Value], y: &[Value], depth: usize) -> Result<bool, Error> {
    if x.len() != y.len() && matches!(op, CompareOp::Eq | CompareOp::Ne) {
        return Ok(op == CompareOp::Ne);
    }
    for (a, b) in x.iter().zip(y) {
        budget::work(1)?;
        if compare_depth(CompareOp::Eq, a, b, depth - 1)? {
            continue;
        }
        return match op {
            CompareOp::Eq => Ok(false),
            CompareOp::Ne => Ok(true),
            _ => compare_depth(op, a, b, depth - 1),
        };
    }
    Ok(op.accepts(x.len().cmp(&y.len())))
}

fn dicts_equal(x: &Dict, y: &Dict, depth: usize) -> Result<bool, Error> {
    if x.len() != y.len() {
        return Ok(false);
    }
    let (x, y) = (x.table(), y.table());
    for (key, value) in x.iter() {
        budget::work(1)?;
        let Ok(Some(other)) = y.get(key) else { return Ok(false) };
        if !compare_depth(CompareOp::Eq, value, other, depth - 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn sets_equal(x: &Set, y: &Set) -> Result<bool, Error> {
    if x.len() != y.len() {
        return Ok(false);
    }
    budget::work(x.len())?;
    let (x, y) = (x.table(), y.table());
    Ok(x.iter().all(|(value, ())| matches!(y.get(value), Ok(Some(())))))
}
