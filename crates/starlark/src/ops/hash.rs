//! Hashes of values: equal values have equal hashes, including integers and floats.

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};
use ytterby_text::{Str, budget};

use crate::error::fail;
use crate::{Error, Eval, Value};

/// Tuples nested deeper than this cannot be keys.
const MAX_DEPTH: usize = 500;

/// Tuples with more items than this cannot be keys. Repeated nesting of `(x, x)` reaches it
/// quickly.
const MAX_ITEMS: u32 = 10_000_000;

#[inline]
pub(crate) fn hash(value: &Value) -> Result<u32, Error> {
    match value {
        Value::Str(s) => {
            Eval::pass(s.as_bytes().len())?;
            Ok(fold(hash_str(s)))
        }
        Value::Int(i) => Ok(fold(mix(*i as u64))),
        other => {
            let mut items_left = MAX_ITEMS;
            hash_depth(other, MAX_DEPTH, &mut items_left).map(fold)
        }
    }
}

fn hash_depth(value: &Value, depth: usize, items_left: &mut u32) -> Result<u64, Error> {
    Ok(match value {
        Value::None => mix(0x1234_5678),
        Value::Bool(b) => mix(0x2345_6789 + u64::from(*b)),
        Value::Int(i) => mix(*i as u64),
        Value::BigInt(i) => hash_big(i),
        Value::Float(f) => hash_float(*f),
        Value::Str(s) => {
            Eval::pass(s.as_bytes().len())?;
            hash_str(s)
        }
        Value::Tuple(items) => {
            if depth == 0 {
                fail!("hash exceeded maximum recursion depth");
            }
            let mut sum = 0x0034_5678;
            for item in items.iter() {
                let Some(left) = items_left.checked_sub(1) else {
                    fail!("hash exceeded maximum number of items");
                };
                *items_left = left;
                budget::work(1)?;
                sum = mix(sum ^ hash_depth(item, depth - 1, items_left)?);
            }
            sum
        }
        Value::Function(function) => hash_str(function.name()),
        Value::Builtin(builtin) => hash_str(builtin.name()),
        Value::Host(host) => host.hash()?,
        Value::Range(_) => fail!(Type, "unhashable: range"),
        Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Unset(_) | Value::Internal(_) => {
            fail!(Type, "unhashable type: {}", value.type_name())
        }
    })
}

fn hash_float(f: f64) -> u64 {
    // Must equal the hash of an equal integer.
    if f.fract() == 0.0 {
        if f.abs() < 9e18 {
            return mix(f as i64 as u64);
        }
        if let Some(big) = BigInt::from_f64(f) {
            return big.to_i64().map_or_else(|| hash_big(&big), |small| mix(small as u64));
        }
    }
    mix(f.to_bits())
}

fn hash_big(value: &BigInt) -> u64 {
    value.iter_u64_digits().fold(0, |sum, digit| mix(sum ^ digit))
}

#[inline]
fn hash_str(text: &Str) -> u64 {
    match text.short() {
        Some(words) => hash_words(words),
        None => hash_bytes(text),
    }
}

/// The hash of a short string. Most keys are short; these take three words regardless of their
/// length.
#[inline(always)]
pub(crate) fn hash_short(text: &Str) -> Option<u32> {
    text.short().map(|words| fold(hash_words(words)))
}

#[inline(always)]
fn hash_words([a, b, c]: [u64; 3]) -> u64 {
    mix(folded_product(a ^ 0xa076_1d64_78bd_642f, b ^ 0x8ebc_6af0_9c88_c6e3) ^ c)
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut sum = bytes.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let (chunks, rest) = bytes.as_chunks::<8>();
    for chunk in chunks {
        sum = mix(sum ^ u64::from_le_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(sum ^ u64::from_le_bytes(last))
}

/// Mixes the bits: the two halves of a wide product, folded.
#[inline]
fn mix(value: u64) -> u64 {
    folded_product(value ^ 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db)
}

#[inline]
fn folded_product(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    (product >> 64) as u64 ^ product as u64
}

#[inline]
fn fold(value: u64) -> u32 {
    (value ^ value >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn hashing_of_repeatedly_shared_tuples_ends() {
        let pair = |value: Value| Value::tuple(vec![value.clone(), value]);
        let few = (0..10).fold(Value::None, |value, _| pair(value));
        assert_eq!(hash(&few).unwrap(), hash(&few.clone()).unwrap());
        let many = (0..40).fold(Value::None, |value, _| pair(value));
        assert_eq!(hash(&many).unwrap_err().to_string(), "hash exceeded maximum number of items");
    }
}
