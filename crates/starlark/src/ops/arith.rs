//! Arithmetic and other binary operators: `x + y`.
//!
//! `binary` tries the most common operations, then all those of built-in types, and at last what
//! values of the host define. What can become large is measured and charged before it is made
//! (`MAX_BYTES`, `MAX_INT_BITS`).

use std::rc::Rc;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{FromPrimitive, Signed, ToPrimitive, Zero};
use ytterby_text::{Str, budget};

use super::{equal, interpolate::interpolate};
use crate::args::FromValue;
use crate::error::fail;
use crate::host::{BinaryOp, Side, UnaryOp};
use crate::value::{Dict, Set};
use crate::{Dialect, Error, Eval, Problem, Value};

/// The largest string or list that one operation may make, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 30;
/// The largest integer, in bits, that can be parsed and printed in reasonable time.
pub(crate) const MAX_INT_BITS: u64 = 1 << 20;

/// `x + y` and so on.
///
/// # Errors
/// If the operator is not defined for the values, or fails.
pub fn binary(eval: &mut Eval, op: BinaryOp, x: &Value, y: &Value) -> Result<Value, Error> {
    // A fast path for the most common operations besides integers.
    match (op, x, y) {
        (BinaryOp::Add, Value::Str(a), Value::Str(b)) => {
            eval.charge(sum(a.as_bytes().len(), b.as_bytes().len(), 1)?)?;
            return Ok(Value::Str(Str::concat(a, b)));
        }
        (BinaryOp::In, key, Value::Dict(dict)) => return Ok(Value::Bool(has_key(dict, key))),
        _ => {}
    }
    if let Some(result) = builtin_binary(eval, op, x, y)? {
        return Ok(result);
    }
    if let Value::Host(host) = x
        && let Some(result) = host.binary(op, y, Side::Left)?
    {
        return Ok(result);
    }
    if let Value::Host(host) = y
        && let Some(result) = host.binary(op, x, Side::Right)?
    {
        return Ok(result);
    }
    Err(unknown_operands(op, x, y))
}

#[cold]
#[inline(never)]
fn unknown_operands(op: BinaryOp, x: &Value, y: &Value) -> Error {
    let (left, right) = (x.type_name().to_owned(), y.type_name().to_owned());
    let message = format!("unknown binary op: {left} {} {right}", op.symbol());
    Error::of(Problem::BinaryOp { op, left, right }, message)
}

fn builtin_binary(eval: &mut Eval, op: BinaryOp, x: &Value, y: &Value) -> Result<Option<Value>, Error> {
    use Value::{BigInt, Float, Int};
    Ok(Some(match (x, y) {
        (Int(a), Int(b)) => return small_ints(op, *a, *b),
        (Int(_) | BigInt(_), Int(_) | BigInt(_)) => return big_ints(op, x, y),
        (Int(_) | BigInt(_), _) if matches!(op, BinaryOp::Shl | BinaryOp::Shr) => match i32::from_value(y) {
            Ok(_) => return Ok(None),
            Err(problem) => return Err(Error::new(problem)),
        },
        (Float(a), Float(b)) => return floats(op, *a, *b),
        (Float(a), Int(_) | BigInt(_)) => return floats(op, *a, float_of_int(y)),
        (Int(_) | BigInt(_), Float(b)) => return floats(op, float_of_int(x), *b),
        (_, _) if op == BinaryOp::In => return contains(x, y),
        (Value::Str(format), _) if op == BinaryOp::Mod => interpolate(eval, format, y)?,
        (Value::List(a), Value::List(b)) if op == BinaryOp::Add => {
            let (a, b) = (a.items(), b.items());
            eval.charge(sum(a.len(), b.len(), size_of::<Value>())?)?;
            Value::list(a.iter().chain(b.iter()).cloned().collect())
        }
        (Value::Tuple(a), Value::Tuple(b)) if op == BinaryOp::Add => {
            eval.charge(sum(a.len(), b.len(), size_of::<Value>())?)?;
            Value::tuple(a.iter().chain(b.iter()).cloned().collect())
        }
        (_, Int(_) | BigInt(_)) if op == BinaryOp::Mul => return repeat(eval, x, y),
        (Int(_) | BigInt(_), _) if op == BinaryOp::Mul => return repeat(eval, y, x),
        (Value::Set(a), Value::Set(b)) => return sets(eval, op, a, b),
        (Value::Dict(a), Value::Dict(b)) if op == BinaryOp::Or && eval.dialect() == Dialect::Current => {
            eval.charge(sum(a.len(), b.len(), 2 * size_of::<Value>())?)?;
            let merged = Dict::new();
            for (key, value) in a.items().into_iter().chain(b.items()) {
                merged.insert(key, value)?;
            }
            Value::Dict(Rc::new(merged))
        }
        _ => return Ok(None),
    }))
}

fn small_ints(op: BinaryOp, a: i64, b: i64) -> Result<Option<Value>, Error> {
    let exact = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => return floats(op, a as f64, b as f64),
        BinaryOp::FloorDiv | BinaryOp::Mod if b == 0 => return Err(division_by_zero(op)),
        // Only one division overflows; big integers handle it.
        BinaryOp::FloorDiv => (b != -1).then(|| Integer::div_floor(&a, &b)).or_else(|| a.checked_neg()),
        BinaryOp::Mod => Some(if b == -1 { 0 } else { Integer::mod_floor(&a, &b) }),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::Shr if (0..64).contains(&b) => Some(a >> b),
        BinaryOp::Shl if (0..63).contains(&b) && (a << b) >> b == a => Some(a << b),
        BinaryOp::Shl | BinaryOp::Shr => None,
        BinaryOp::In => return Ok(None),
    };
    match exact {
        Some(value) => Ok(Some(Value::Int(value))),
        None => big_ints(op, &Value::Int(a), &Value::Int(b)),
    }
}

#[cold]
fn division_by_zero(op: BinaryOp) -> Error {
    Error::new(match op {
        BinaryOp::Div => "real division by zero",
        BinaryOp::FloorDiv => "floored division by zero",
        _ => "integer modulo by zero",
    })
}

fn big_ints(op: BinaryOp, x: &Value, y: &Value) -> Result<Option<Value>, Error> {
    if op == BinaryOp::Div {
        return floats(op, float_of_int(x), float_of_int(y));
    }
    if let BinaryOp::Shl | BinaryOp::Shr = op {
        return shift(op, x, y).map(Some);
    }
    let (a, b) = (big(x), big(y));
    budget::work((a.bits() + b.bits()) as usize / 64)?;
    if op == BinaryOp::Mul && a.bits() + b.bits() > MAX_INT_BITS {
        fail!("integer too large ({} bits)", a.bits() + b.bits());
    }
    charge_bits(a.bits() + b.bits())?;
    Ok(Some(Value::big(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::FloorDiv | BinaryOp::Mod if b.is_zero() => return Err(division_by_zero(op)),
        BinaryOp::FloorDiv => a.div_floor(&b),
        BinaryOp::Mod => a.mod_floor(&b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Div | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::In => return Ok(None),
    })))
}

fn shift(op: BinaryOp, x: &Value, y: &Value) -> Result<Value, Error> {
    let count = match i32::from_value(y) {
        Ok(count) if count < 0 => fail!("negative shift count: {count}"),
        Ok(count) if op == BinaryOp::Shl && count >= 512 => fail!("shift count too large: {count}"),
        Ok(count) => count,
        Err(problem) => return Err(Error::new(problem)),
    };
    let x = big(x);
    charge_bits(x.bits() + if op == BinaryOp::Shl { count as u64 } else { 0 })?;
    Ok(Value::big(if op == BinaryOp::Shl { x << count } else { x >> count }))
}

/// Charges a big integer before it is created.
pub(crate) fn charge_bits(bits: u64) -> Result<(), Error> {
    Ok(budget::memory(usize::try_from(bits / 8).unwrap_or(usize::MAX).saturating_add(size_of::<BigInt>()))?)
}

fn floats(op: BinaryOp, a: f64, b: f64) -> Result<Option<Value>, Error> {
    Ok(Some(Value::Float(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Mod if b == 0.0 => fail!("float modulo by zero"),
        BinaryOp::Div | BinaryOp::FloorDiv if b == 0.0 => return Err(division_by_zero(op)),
        BinaryOp::Div => a / b,
        BinaryOp::FloorDiv => (a / b).floor(),
        // The result has the sign of the left operand, unlike for integers.
        BinaryOp::Mod => a % b,
        _ => return Ok(None),
    })))
}

/// `x in y` for built-in types.
fn contains(x: &Value, y: &Value) -> Result<Option<Value>, Error> {
    Ok(Some(Value::Bool(match y {
        Value::List(list) => holds(&list.items(), x)?,
        Value::Tuple(tuple) => holds(tuple, x)?,
        Value::Dict(dict) => has_key(dict, x),
        Value::Set(set) => set.contains(x)?,
        Value::Str(text) => match x {
            Value::Str(part) => {
                Eval::pass(text.as_bytes().len())?;
                super::search::first(text, part).is_some()
            }
            other => fail!(Type, "'in <string>' requires string as left operand, not {}", other.type_name()),
        },
        Value::Range(range) => match number_to_int(x) {
            Ok(Value::Int(i)) => i32::try_from(i).is_ok() && range.contains(i),
            Ok(_) => false,
            Err(_) => fail!(Type, "'in <range>' requires integer as left operand, not {}", x.type_name()),
        },
        Value::Host(host) => match host.mapping() {
            // A key that cannot be hashed does not exist.
            Some(mapping) => matches!(mapping.get(x), Ok(Some(_))),
            None => return Ok(None),
        },
        _ => return Ok(None),
    })))
}

/// A value that cannot be a key is not contained.
fn has_key(dict: &Dict, key: &Value) -> bool {
    matches!(dict.contains(key), Ok(true))
}

fn holds(items: &[Value], x: &Value) -> Result<bool, Error> {
    for item in items {
        budget::work(1)?;
        if equal(item, x)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The size of two sequences together, with `size` bytes per element.
pub(crate) fn sum(a: usize, b: usize, size: usize) -> Result<usize, Error> {
    let total = a.saturating_add(b);
    match total.checked_mul(size).filter(|bytes| *bytes < MAX_BYTES) {
        Some(bytes) => Ok(bytes),
        None => fail!("excessive sum ({total} elements)"),
    }
}

/// Checks the size of a text under construction before `added` bytes are appended.
pub(crate) fn text_size(so_far: usize, added: usize) -> Result<(), Error> {
    match so_far.saturating_add(added) {
        bytes if bytes < MAX_BYTES => Ok(()),
        bytes => fail!("excessive text ({bytes} bytes)"),
    }
}

fn repeat(eval: &mut Eval, x: &Value, count: &Value) -> Result<Option<Value>, Error> {
    let (len, size) = match x {
        Value::Str(s) => (s.as_bytes().len(), 1),
        Value::List(list) => (list.len(), size_of::<Value>()),
        Value::Tuple(tuple) => (tuple.len(), size_of::<Value>()),
        _ => return Ok(None),
    };
    let times = if len == 0 {
        0
    } else {
        match i32::from_value(count) {
            Ok(times) => times.max(0) as usize,
            Err(_) => fail!("repeat count {} too large", count.repr()),
        }
    };
    let total = len.saturating_mul(times);
    if total.saturating_mul(size) >= MAX_BYTES {
        fail!("excessive repeat ({total} elements)");
    }
    eval.charge(total * size)?;
    Ok(Some(match x {
        Value::Str(s) => Value::Str(Str::from(s.as_bytes().repeat(times))),
        Value::List(list) => Value::list(repeated(&list.items(), times)),
        Value::Tuple(tuple) => Value::tuple(repeated(tuple, times)),
        _ => return Ok(None),
    }))
}

fn repeated(items: &[Value], times: usize) -> Vec<Value> {
    std::iter::repeat_n(items, times).flatten().cloned().collect()
}

/// `x |= y`, which changes a dict in place.
///
/// # Errors
/// If the dict is frozen or being iterated, or `x | y` fails.
pub(crate) fn or_assign(eval: &mut Eval, x: &Value, y: &Value) -> Result<Value, Error> {
    if let (Value::Dict(a), Value::Dict(b), Dialect::Current) = (x, y, eval.dialect()) {
        a.guard().check("apply |= to", "hash table")?;
        eval.charge(2 * size_of::<Value>() * b.len())?;
        for (key, value) in b.items() {
            a.insert(key, value)?;
        }
        return Ok(x.clone());
    }
    binary(eval, BinaryOp::Or, x, y)
}

fn sets(eval: &mut Eval, op: BinaryOp, x: &Set, y: &Set) -> Result<Option<Value>, Error> {
    eval.charge(64 * (x.len() + y.len()))?;
    let result = Set::new();
    match op {
        BinaryOp::Sub if eval.dialect() == Dialect::Current => {
            for value in x.to_vec() {
                if !y.contains(&value)? {
                    result.insert(value)?;
                }
            }
        }
        BinaryOp::Or => {
            for value in x.to_vec().into_iter().chain(y.to_vec()) {
                result.insert(value)?;
            }
        }
        BinaryOp::And => {
            // Like the reference, keep the order of the smaller set.
            let (x, y) = if x.len() > y.len() { (y, x) } else { (x, y) };
            for value in x.to_vec() {
                if y.contains(&value)? {
                    result.insert(value)?;
                }
            }
        }
        BinaryOp::Xor => {
            for (from, other) in [(x, y), (y, x)] {
                for value in from.to_vec() {
                    if !other.contains(&value)? {
                        result.insert(value)?;
                    }
                }
            }
        }
        _ => return Ok(None),
    }
    Ok(Some(Value::Set(Rc::new(result))))
}

/// `-x` and so on.
///
/// # Errors
/// If the operator is not defined for the value.
pub fn unary(op: UnaryOp, x: &Value) -> Result<Value, Error> {
    if let Value::BigInt(i) = x {
        charge_bits(i.bits())?;
    }
    let result = match (op, x) {
        (UnaryOp::Plus, Value::Int(_) | Value::BigInt(_) | Value::Float(_)) => Some(x.clone()),
        (UnaryOp::Minus, Value::Int(i)) => Some(i.checked_neg().map_or_else(|| Value::big(-big(x)), Value::Int)),
        (UnaryOp::Minus, Value::BigInt(i)) => Some(Value::big(-&**i)),
        (UnaryOp::Minus, Value::Float(f)) => Some(Value::Float(-f)),
        (UnaryOp::Tilde, Value::Int(i)) => Some(Value::Int(!i)),
        (UnaryOp::Tilde, Value::BigInt(i)) => Some(Value::big(!&**i)),
        (op, Value::Host(host)) => host.unary(op)?,
        _ => None,
    };
    match result {
        Some(value) => Ok(value),
        None => fail!(Type, "unknown unary op: {} {}", op.symbol(), x.type_name()),
    }
}

/// An integer as a big one; 0 for other values.
pub(crate) fn big(value: &Value) -> BigInt {
    match value {
        Value::Int(i) => BigInt::from(*i),
        Value::BigInt(i) => (**i).clone(),
        _ => BigInt::ZERO,
    }
}

/// The float nearest to an integer; 0 for other values.
pub(crate) fn float_of_int(value: &Value) -> f64 {
    match value {
        Value::Int(i) => *i as f64,
        Value::BigInt(i) => i.to_f64().unwrap_or(if i.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY }),
        _ => 0.0,
    }
}

/// Converts a number to an integer: floats are truncated. The error is only the problem: `cannot
/// convert NoneType to int`.
pub(crate) fn number_to_int(value: &Value) -> Result<Value, String> {
    match value {
        Value::Int(_) | Value::BigInt(_) => Ok(value.clone()),
        Value::Float(f) if f.is_infinite() => Err("cannot convert float infinity to integer".to_owned()),
        Value::Float(f) if f.is_nan() => Err("cannot convert float NaN to integer".to_owned()),
        Value::Float(f) => Ok(BigInt::from_f64(f.trunc()).map_or(Value::Int(0), Value::big)),
        other => Err(format!("cannot convert {} to int", other.type_name())),
    }
}

/// The digits of an integer in a base, as `%x` and `%o` print it: with a minus sign and without a
/// prefix.
pub(crate) fn digits(value: &Value, base: u32) -> String {
    let value = big(value);
    let text = value.abs().to_str_radix(base);
    if value.sign() == Sign::Minus { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_a_limit() {
        assert_eq!(sum(3, 4, 8).unwrap(), 56);
        assert_eq!(sum(MAX_BYTES - 2, 1, 1).unwrap(), MAX_BYTES - 1);
        for (a, b, size) in [(MAX_BYTES / 2, MAX_BYTES / 2, 1), (usize::MAX, 1, 1), (1 << 29, 0, 16)] {
            assert!(sum(a, b, size).unwrap_err().to_string().starts_with("excessive sum ("));
        }
    }
}
