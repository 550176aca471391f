//! Operators on numbers, conversions between types, parts of times.
//!
//! Integers do not wrap: a result outside of 64 bits is an error, as in the specification of CEL.
//! Types were checked before, so an operand of another type means that only the evaluation could
//! tell, and is reported as `no such overload`.

use std::rc::Rc;

use super::strings::shown;
use super::{MAX_SIZE, int, overflow, overload, text, uint};
use crate::eval::{EvalError, Result, fail};
use crate::functions::Fun;
use crate::time::{self, Date};
use crate::value::Val;

pub(super) fn unary(fun: Fun, args: &[Val]) -> Result<Val> {
    match (fun, &args[0]) {
        (Fun::Not, Val::Bool(value)) => Ok(Val::Bool(!value)),
        (Fun::Negate, Val::Int(value)) => int(value.checked_neg()),
        (Fun::Negate, Val::Double(value)) => Ok(Val::Double(-value)),
        _ => overload(fun, args),
    }
}

pub(super) fn arithmetic(fun: Fun, args: &[Val]) -> Result<Val> {
    match (&args[0], &args[1]) {
        (Val::Int(a), Val::Int(b)) => match fun {
            Fun::Add => int(a.checked_add(*b)),
            Fun::Subtract => int(a.checked_sub(*b)),
            Fun::Multiply => int(a.checked_mul(*b)),
            Fun::Divide if *b == 0 => fail("division by zero"),
            Fun::Divide => int(a.checked_div(*b)),
            _ if *b == 0 => fail("modulus by zero"),
            _ => int(a.checked_rem(*b)),
        },
        (Val::Uint(a), Val::Uint(b)) => match fun {
            Fun::Add => uint(a.checked_add(*b)),
            Fun::Subtract => uint(a.checked_sub(*b)),
            Fun::Multiply => uint(a.checked_mul(*b)),
            Fun::Divide if *b == 0 => fail("division by zero"),
            Fun::Divide => uint(a.checked_div(*b)),
            _ if *b == 0 => fail("modulus by zero"),
            _ => uint(a.checked_rem(*b)),
        },
        (Val::Double(a), Val::Double(b)) => Ok(Val::Double(match fun {
            Fun::Add => a + b,
            Fun::Subtract => a - b,
            Fun::Multiply => a * b,
            Fun::Divide => a / b,
            _ => return overload(fun, args),
        })),
        (Val::Str(a), Val::Str(b)) if fun == Fun::Add => {
            if a.len() + b.len() > MAX_SIZE {
                return Err(EvalError::Cost);
            }
            Ok(text(format!("{a}{b}")))
        }
        (Val::Bytes(a), Val::Bytes(b)) if fun == Fun::Add => Ok(Val::Bytes([&a[..], &b[..]].concat().into())),
        (Val::List(a), Val::List(b)) if fun == Fun::Add => {
            if a.items.len() + b.items.len() > MAX_SIZE {
                return Err(EvalError::Cost);
            }
            Ok(Val::List(Rc::new(a.joined(b))))
        }
        (Val::Timestamp(s, n), Val::Duration(d)) | (Val::Duration(d), Val::Timestamp(s, n))
            if matches!(fun, Fun::Add | Fun::Subtract) =>
        {
            let delta = if fun == Fun::Add { i128::from(*d) } else { -i128::from(*d) };
            let total = i128::from(*s) * 1_000_000_000 + i128::from(*n) + delta;
            let seconds = i64::try_from(total.div_euclid(1_000_000_000));
            match seconds {
                Ok(seconds) => Ok(Val::Timestamp(seconds, total.rem_euclid(1_000_000_000) as u32)),
                Err(_) => overflow(),
            }
        }
        (Val::Timestamp(a, b), Val::Timestamp(c, d)) if fun == Fun::Subtract => {
            let nanos = |s: i64, n: u32| i128::from(s) * 1_000_000_000 + i128::from(n);
            i64::try_from(nanos(*a, *b) - nanos(*c, *d)).map_or_else(|_| overflow(), |value| Ok(Val::Duration(value)))
        }
        (Val::Duration(a), Val::Duration(b)) => match fun {
            Fun::Add => a.checked_add(*b).map_or_else(overflow, |value| Ok(Val::Duration(value))),
            Fun::Subtract => a.checked_sub(*b).map_or_else(overflow, |value| Ok(Val::Duration(value))),
            _ => overload(fun, args),
        },
        _ => overload(fun, args),
    }
}

pub(super) fn convert(fun: Fun, args: &[Val]) -> Result<Val> {
    let value = &args[0];
    let bad = |what: &str| fail(format!("not {what}"));
    match (fun, value) {
        (Fun::Int, Val::Int(_))
        | (Fun::Uint, Val::Uint(_))
        | (Fun::Double, Val::Double(_))
        | (Fun::String, Val::Str(_))
        | (Fun::Bytes, Val::Bytes(_))
        | (Fun::Bool, Val::Bool(_))
        | (Fun::Timestamp, Val::Timestamp(..))
        | (Fun::Duration, Val::Duration(_)) => Ok(value.clone()),
        (Fun::Int, Val::Uint(value)) => int(i64::try_from(*value).ok()),
        (Fun::Int, Val::Double(value)) if *value > -9.3e18 && *value < 9.2e18 => Ok(Val::Int(*value as i64)),
        (Fun::Int, Val::Double(_)) => overflow(),
        (Fun::Int, Val::Str(text)) => match text.parse() {
            Ok(value) => Ok(Val::Int(value)),
            Err(_) => bad("an int"),
        },
        (Fun::Int, Val::Timestamp(seconds, _)) => Ok(Val::Int(*seconds)),
        (Fun::Uint, Val::Int(value)) => uint(u64::try_from(*value).ok()),
        (Fun::Uint, Val::Double(value)) if *value >= 0.0 && *value < 1.8e19 => Ok(Val::Uint(*value as u64)),
        (Fun::Uint, Val::Double(_)) => overflow(),
        (Fun::Uint, Val::Str(text)) => match text.parse() {
            Ok(value) => Ok(Val::Uint(value)),
            Err(_) => bad("a uint"),
        },
        (Fun::Double, Val::Int(value)) => Ok(Val::Double(*value as f64)),
        (Fun::Double, Val::Uint(value)) => Ok(Val::Double(*value as f64)),
        (Fun::Double, Val::Str(text)) => match text.parse() {
            Ok(value) => Ok(Val::Double(value)),
            Err(_) => bad("a double"),
        },
        (Fun::String, value) => match shown(value) {
            Some(shown) => Ok(text(shown)),
            None => overload(fun, args),
        },
        (Fun::Bytes, Val::Str(text)) => Ok(Val::Bytes(text.as_bytes().into())),
        (Fun::Bool, Val::Str(text)) => match &**text {
            "true" | "True" | "TRUE" | "t" | "T" | "1" => Ok(Val::Bool(true)),
            "false" | "False" | "FALSE" | "f" | "F" | "0" => Ok(Val::Bool(false)),
            _ => bad("a bool"),
        },
        (Fun::Timestamp, Val::Str(text)) => match time::timestamp(text) {
            Some((seconds, nanos)) => Ok(Val::Timestamp(seconds, nanos)),
            None => bad("a timestamp"),
        },
        (Fun::Timestamp, Val::Int(seconds)) => Ok(Val::Timestamp(*seconds, 0)),
        (Fun::Duration, Val::Str(text)) => match ytterby_text::duration::parse(text) {
            Some(value) => Ok(Val::Duration(value)),
            None => bad("a duration"),
        },
        (Fun::Duration, Val::Int(nanos)) => Ok(Val::Duration(*nanos)),
        _ => overload(fun, args),
    }
}

pub(super) fn part_of_time(fun: Fun, args: &[Val]) -> Result<Val> {
    if let Val::Duration(nanos) = &args[0] {
        return Ok(Val::Int(match fun {
            Fun::Hours => nanos / 3_600_000_000_000,
            Fun::Minutes => nanos / 60_000_000_000,
            Fun::Seconds => nanos / 1_000_000_000,
            Fun::Milliseconds => nanos / 1_000_000 % 1000,
            _ => return overload(fun, args),
        }));
    }
    let Val::Timestamp(seconds, nanos) = &args[0] else { return overload(fun, args) };
    let offset = match args.get(1) {
        None => 0,
        // Named zones would need a time zone database.
        Some(Val::Str(zone)) => time::zone_offset(zone).ok_or(EvalError::Unknown)?,
        Some(_) => return overload(fun, args),
    };
    let date = Date::of(seconds + offset);
    Ok(Val::Int(match fun {
        Fun::FullYear => date.year,
        Fun::Month => date.month - 1,
        Fun::Date => date.day,
        Fun::DayOfMonth => date.day - 1,
        Fun::DayOfWeek => date.day_of_week,
        Fun::DayOfYear => date.day_of_year,
        Fun::Hours => date.hour,
        Fun::Minutes => date.minute,
        Fun::Seconds => date.second,
        _ => i64::from(*nanos / 1_000_000),
    }))
}
