//! Functions that return or accept numbers: `abs`, `bytes`, `chr`, `ord`, `hash`, `float`, `int`.
//!
//! Texts that are too long for a number are rejected before they are parsed, and large integers are
//! not shown in messages. Which texts are numbers depends on the dialect.

use num_bigint::BigInt;
use num_traits::Signed;
use ytterby_text::quote::quote;
use ytterby_text::{Str, budget};

use super::functions::one;
use crate::args::{FromValue, Iterable};
use crate::error::fail;
use crate::ops::{MAX_INT_BITS, charge_bits, float_of_int, number_to_int};
use crate::value::{Bytes, decode_char};
use crate::{Args, Dialect, Error, Eval, Value};

pub(super) fn abs(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("abs", 1, 1)?;
    match &args.positional[0] {
        Value::Int(value) => Ok(value.checked_abs().map_or_else(|| Value::big(-BigInt::from(*value)), Value::Int)),
        Value::BigInt(value) => {
            charge_bits(value.bits())?;
            Ok(Value::big(value.abs()))
        }
        Value::Float(value) => Ok(Value::Float(value.abs())),
        other => fail!(Type, "abs: got {}, want int or float", other.type_name()),
    }
}

/// `bytes(x)`: the UTF-8 of a string, with U+FFFD for invalid bytes; or the bytes with the given
/// integers.
pub(super) fn bytes(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("bytes", 1, 1)?;
    let value = &args.positional[0];
    if value.downcast::<Bytes>().is_some() {
        return Ok(value.clone());
    }
    if let Value::Str(text) = value {
        eval.charge(text.len())?;
        return Ok(Value::host(Bytes::new(Str::new(String::from_utf8_lossy(text).as_bytes()))));
    }
    let Ok(iterable) = Iterable::from_value(value) else {
        fail!(Type, "bytes: got {}, want string, bytes, or iterable of ints", value.type_name())
    };
    let mut out = Vec::new();
    for (n, item) in iterable.iterate().enumerate() {
        eval.step()?;
        eval.charge(1)?;
        match item {
            Value::Int(byte @ 0..=255) => out.push(byte as u8),
            Value::Int(_) | Value::BigInt(_) => {
                fail!("bytes: at index {n}, {} out of range (want value in unsigned 8-bit range)", item.repr())
            }
            other => fail!(Type, "bytes: at index {n}, got {}, want int", other.type_name()),
        }
    }
    Ok(Value::host(Bytes::new(Str::from(out))))
}

/// Larger integers are not shown in messages.
const SHOWN_BITS: u64 = 256;

pub(super) fn chr(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let value = one("chr", "1", args)?;
    let code = match (i32::from_value(value), value) {
        (Ok(code), _) => code,
        // ytt says `got int, want int`.
        (_, Value::Int(_) | Value::BigInt(_)) if eval.dialect() == Dialect::Current => match value {
            Value::BigInt(int) if int.bits() > SHOWN_BITS => fail!("chr: integer of {} bits out of range", int.bits()),
            _ => fail!("chr: {} out of range", value.repr()),
        },
        _ => fail!(Type, "chr: got {}, want int", value.type_name()),
    };
    if code < 0 {
        fail!("chr: Unicode code point {code} out of range (<0)");
    }
    if code > 0x10_ffff {
        fail!("chr: Unicode code point U+{code:X} out of range (>0x10FFFF)");
    }
    let c = char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER);
    Ok(Value::str(&*c.encode_utf8(&mut [0; 4])))
}

pub(super) fn ord(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let value = one("ord", "1", args)?;
    if let Some(bytes) = value.downcast::<Bytes>() {
        return match bytes.as_bytes() {
            [byte] => Ok(Value::Int(i64::from(*byte))),
            bytes => fail!("ord: bytes has length {}, want 1", bytes.len()),
        };
    }
    let text = match value {
        Value::Str(text) => {
            Eval::pass(text.len())?;
            text.as_bytes()
        }
        other => fail!(Type, "ord: got {}, want string", other.type_name()),
    };
    match decode_char(text) {
        Some((code, len)) if len == text.len() => Ok(Value::Int(i64::from(code))),
        _ => {
            let mut count = 0;
            let mut rest = text;
            while let Some((_, len)) = decode_char(rest) {
                count += 1;
                rest = &rest[len..];
            }
            fail!("ord: string encodes {count} Unicode code points, want 1")
        }
    }
}

/// Java's string hash, but of whole code points.
pub(super) fn hash(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("hash", 1, 1)?;
    if let Some(bytes) = args.positional[0].downcast::<Bytes>() {
        return Ok(Value::Int(i64::from(bytes.fnv())));
    }
    let text: Str = args.required("hash", 0)?;
    Eval::pass(text.len())?;
    let mut sum = 0i32;
    let mut rest = text.as_bytes();
    while let Some((code, len)) = decode_char(rest) {
        sum = sum.wrapping_mul(31).wrapping_add(code as i32);
        rest = &rest[len..];
    }
    Ok(Value::Int(i64::from(sum)))
}

pub(super) fn float(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    if !args.named.is_empty() {
        fail!(Call, "float does not accept keyword arguments");
    }
    Ok(Value::Float(match args.positional {
        [] => 0.0,
        [Value::Bool(b)] => f64::from(u8::from(*b)),
        [value @ (Value::Int(_) | Value::BigInt(_))] => float_of_int(value),
        [Value::Float(f)] => *f,
        [Value::Str(text)] if text.len() > MAX_FLOAT_TEXT => {
            fail!("float: text too long ({} bytes)", text.len())
        }
        [Value::Str(text)] => match parse_float(text, eval.dialect()) {
            Ok(f) => f,
            Err(problem) => fail!("float: strconv.ParseFloat: parsing {}: {problem}", quote(text)),
        },
        [other] => fail!(Type, "float got {}, want number or string", other.type_name()),
        others => fail!(Call, "float got {} arguments, wants 1", others.len()),
    }))
}

/// Longer texts are rejected as numbers.
const MAX_FLOAT_TEXT: usize = 1 << 20;

fn parse_float(text: &Str, dialect: Dialect) -> Result<f64, &'static str> {
    let invalid = "invalid syntax";
    let text = text.as_str().ok_or(invalid)?;
    let signed_nan = text.starts_with(['+', '-']) && text[1..].eq_ignore_ascii_case("nan");
    let value: f64 = text.parse().map_err(|_| invalid)?;
    if signed_nan && dialect == Dialect::Ytt {
        return Err(invalid);
    }
    let named = text.bytes().any(|byte| matches!(byte, b'i' | b'I' | b'n' | b'N'));
    if value.is_infinite() && !named { Err("value out of range") } else { Ok(value) }
}

pub(super) fn int(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [x, base] = args.unpack("int", ["x", "base?"])?;
    let x = x.unwrap_or(&Value::Int(0));
    match (x, base) {
        (Value::Str(text), _) => parse_int(text, base, eval.dialect()),
        (_, Some(_)) => fail!("int: can't convert non-string with explicit base"),
        (Value::Bool(b), None) => Ok(Value::Int(i64::from(*b))),
        (_, None) => match number_to_int(x) {
            Ok(value) => Ok(value),
            Err(problem) => fail!("int: {problem}"),
        },
    }
}

fn parse_int(text: &Str, base: Option<&Value>, dialect: Dialect) -> Result<Value, Error> {
    let mut base = match base.map(i32::from_value) {
        None => 10,
        Some(Ok(base @ (0 | 2..=36))) => base as u32,
        Some(_) => fail!("int: base must be an integer >= 2 && <= 36"),
    };
    let (negative, mut digits) = match text.as_bytes() {
        [b'+', rest @ ..] => (false, rest),
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let prefix = match digits {
        [b'0', b'o' | b'O', _, ..] => Some(8),
        [b'0', b'x' | b'X', _, ..] => Some(16),
        [b'0', b'b' | b'B', _, ..] => Some(2),
        _ => None,
    };
    // In the current dialect a prefix must match the base; `0b0` has three digits in base 16.
    let counts = |prefix: &u32| dialect == Dialect::Ytt || base == 0 || base == *prefix;
    let mut valid = true;
    if let Some(prefix) = prefix.filter(counts) {
        digits = &digits[2..];
        if base == 0 {
            base = prefix;
        }
        valid = base == prefix;
    } else if base == 0 {
        // Without a prefix, only zero may have leading zeros.
        if digits.len() > 1 && digits[0] == b'0' && digits.iter().any(|&digit| digit != b'0') {
            fail!("int: invalid literal with base 0: {text}");
        }
        base = 10;
    }
    // Underscores and signs do not count as digits.
    valid &= !digits.is_empty() && digits.iter().all(|digit| (*digit as char).is_digit(base));
    let bits = digits.len() as u64 * u64::from(base.ilog2() + 1);
    if valid && bits > 2 * MAX_INT_BITS {
        fail!("int: integer too large ({} digits)", digits.len());
    }
    // Parsing is quadratic: the longest number takes as long as a hundred thousand steps.
    budget::work(digits.len())?;
    charge_bits(bits)?;
    if valid && let Some(value) = BigInt::parse_bytes(digits, base) {
        return Ok(Value::big(if negative { -value } else { value }));
    }
    fail!("int: invalid literal with base {base}: {text}")
}
