//! Numbers in Go's syntax: prefixes `0x`, `0o`, `0b`, a leading `0` for octal, and `_` between
//! digits.

use std::borrow::Cow;

use crate::Scalar;

/// The integer of a text that consists of a few digits and does not begin with 0.
#[inline]
pub(super) fn decimal(text: &[u8]) -> Option<i64> {
    if text.len() > 18 || text[0] == b'0' && text.len() > 1 {
        return None;
    }
    text.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
}

/// The number in a text that begins with a digit or a sign, if it is one.
pub(super) fn number(text: &[u8]) -> Option<Scalar> {
    let plain: Cow<'_, [u8]> = if text.contains(&b'_') {
        text.iter().copied().filter(|&byte| byte != b'_').collect::<Vec<u8>>().into()
    } else {
        text.into()
    };
    integer(&plain).or_else(|| float(&plain)).or_else(|| signed_binary(&plain))
}

fn integer(text: &[u8]) -> Option<Scalar> {
    let (negative, digits) = match text.first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (base, digits) = match digits {
        [b'0', b'x' | b'X', rest @ ..] if !rest.is_empty() => (16, rest),
        [b'0', b'o' | b'O', rest @ ..] if !rest.is_empty() => (8, rest),
        [b'0', b'b' | b'B', rest @ ..] if !rest.is_empty() => (2, rest),
        [b'0', rest @ ..] => (8, if rest.is_empty() { digits } else { rest }),
        _ => (10, digits),
    };
    let value = magnitude(digits, base)?;
    // An unsigned integer beyond i64 must not have a sign.
    sign(value, negative).or_else(|| text[0].is_ascii_digit().then_some(Scalar::UInt(value)))
}

/// `0b-1` and `0b+1`: for this base only, the sign may follow the prefix.
fn signed_binary(text: &[u8]) -> Option<Scalar> {
    let digits = text.strip_prefix(b"0b")?;
    let (negative, digits) = match digits.first()? {
        b'-' => (true, &digits[1..]),
        b'+' => (false, &digits[1..]),
        _ => return None,
    };
    sign(magnitude(digits, 2)?, negative)
}

fn sign(value: u64, negative: bool) -> Option<Scalar> {
    if negative {
        0i64.checked_sub_unsigned(value).map(Scalar::Int)
    } else {
        i64::try_from(value).ok().map(Scalar::Int)
    }
}

fn magnitude(digits: &[u8], base: u32) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, &byte| {
        let digit = char::from(byte).to_digit(base)?;
        sum.checked_mul(u64::from(base))?.checked_add(u64::from(digit))
    })
}

/// `[-+]? ( . digits | digits [. digits?] ) [exponent]`, and not too large for a float.
fn float(text: &[u8]) -> Option<Scalar> {
    let unsigned = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    if let [b'.', fraction @ ..] = rest {
        let len = digits(fraction);
        if whole == 0 && len == 0 {
            return None;
        }
        rest = &fraction[len..];
    } else if whole == 0 {
        return None;
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        if exponent.is_empty() || digits(exponent) != exponent.len() {
            return None;
        }
    } else if !rest.is_empty() {
        return None;
    }
    finite(text).map(Scalar::Float)
}

/// A float that begins with its point: there `_` is allowed only between two digits.
pub(super) fn pointed_float(text: &[u8]) -> Option<f64> {
    if !text.contains(&b'_') {
        return match float(text)? {
            Scalar::Float(value) => Some(value),
            _ => None,
        };
    }
    let separates =
        |at: usize| at > 0 && text[at - 1].is_ascii_digit() && text.get(at + 1).is_some_and(u8::is_ascii_digit);
    if !text.iter().enumerate().all(|(at, &byte)| byte != b'_' || separates(at)) {
        return None;
    }
    let plain: Vec<u8> = text.iter().copied().filter(|&byte| byte != b'_').collect();
    match float(&plain)? {
        Scalar::Float(value) => Some(value),
        _ => None,
    }
}

fn finite(text: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The two forms of numbers that strict mode accepts.
pub(super) enum StrictForm {
    Int,
    Float,
}

/// The form of `-?(0|[1-9][0-9]*)` and of that with a fraction or an exponent.
pub(super) fn strict_form(text: &[u8]) -> Option<StrictForm> {
    let unsigned = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(unsigned);
    if whole == 0 || (whole > 1 && unsigned[0] == b'0') {
        return None;
    }
    let mut rest = &unsigned[whole..];
    if rest.is_empty() {
        return Some(StrictForm::Int);
    }
    if let [b'.', fraction @ ..] = rest {
        let len = digits(fraction);
        if len == 0 {
            return None;
        }
        rest = &fraction[len..];
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        rest = if exponent.is_empty() { exponent } else { &exponent[digits(exponent)..] };
        if exponent.is_empty() || !rest.is_empty() {
            return None;
        }
    }
    rest.is_empty().then_some(StrictForm::Float)
}
