//! Calls functions with evaluated arguments: this module selects the family of a function, and each
//! family has a file.
//!
//! Read `cost` first: the evaluation charges the cost of a call before it makes the call, so no
//! function has a limit of its own except on the size of what it builds. To add a function, see
//! `ARCHITECTURE.md`.

mod arithmetic;
mod kubernetes;
mod lists;
mod network;
mod strings;

use std::rc::Rc;

use ytterby_regexp::Regexp;

pub use kubernetes::{NamedFormat, SemverValue};
pub(crate) use strings::regex;

use crate::cost;
use crate::eval::{EvalError, Result, fail, is_known};
use crate::functions::Fun;
use crate::value::Val;
use arithmetic::{arithmetic, convert, part_of_time, unary};
use kubernetes::{formats, named_format, quantities, semvers};
use lists::{lists, optionals};
use network::{addresses, urls};
use strings::strings;

/// Longer texts and lists are not built.
const MAX_SIZE: usize = 10_000_000;

/// The cost of a call with these arguments.
pub(crate) fn cost(fun: Fun, args: &[Val]) -> u64 {
    // A comparison visits everything below.
    let size = |at: usize| match (fun, args.get(at)) {
        (Fun::Equal | Fun::NotEqual | Fun::In, Some(value)) => value.deep_size(),
        (_, value) => value.map_or(1, Val::size),
    };
    cost::of_call(fun, size(0), size(1))
}

fn overload<T>(fun: Fun, args: &[Val]) -> Result<T> {
    let types: Vec<&str> = args.iter().map(Val::type_name).collect();
    fail(format!("no such overload: {} of {}", crate::functions::shown(fun), types.join(" and ")))
}

fn overflow<T>() -> Result<T> {
    fail("integer overflow")
}

fn text(value: impl AsRef<str>) -> Val {
    Val::from(value.as_ref())
}

fn int(value: Option<i64>) -> Result<Val> {
    value.map_or_else(overflow, |value| Ok(Val::Int(value)))
}

fn uint(value: Option<u64>) -> Result<Val> {
    value.map_or_else(overflow, |value| Ok(Val::Uint(value)))
}

fn optional(value: Option<Val>) -> Val {
    Val::Optional(value.map(Rc::new))
}

pub(crate) fn call(fun: Fun, args: &[Val]) -> Result<Val> {
    if !is_known(fun) {
        return Err(EvalError::Unknown);
    }
    match fun {
        Fun::Not | Fun::Negate => unary(fun, args),
        Fun::Add | Fun::Subtract | Fun::Multiply | Fun::Divide | Fun::Remainder => arithmetic(fun, args),
        Fun::Equal => Ok(Val::Bool(args[0].equals(&args[1]))),
        Fun::NotEqual => Ok(Val::Bool(!args[0].equals(&args[1]))),
        Fun::Less | Fun::LessEqual | Fun::Greater | Fun::GreaterEqual => {
            let is_nan = |value: &Val| matches!(value, Val::Double(value) if value.is_nan());
            if args.iter().any(is_nan) {
                return Ok(Val::Bool(false));
            }
            let Some(order) = args[0].compare(&args[1]) else { return overload(fun, args) };
            Ok(Val::Bool(match fun {
                Fun::Less => order.is_lt(),
                Fun::LessEqual => order.is_le(),
                Fun::Greater => order.is_gt(),
                _ => order.is_ge(),
            }))
        }
        Fun::In => match &args[1] {
            Val::List(list) => Ok(Val::Bool(list.items.iter().any(|item| item.equals(&args[0])))),
            Val::Map(map) => Ok(Val::Bool(map.get(&args[0]).is_some())),
            _ => overload(fun, args),
        },
        Fun::Size => match &args[0] {
            Val::Str(text) => Ok(Val::Int(text.chars().count() as i64)),
            Val::Bytes(_) | Val::List(_) | Val::Map(_) => Ok(Val::Int(args[0].size() as i64)),
            _ => overload(fun, args),
        },
        Fun::Int | Fun::Uint | Fun::Double | Fun::String | Fun::Bytes | Fun::Bool | Fun::Timestamp | Fun::Duration => {
            convert(fun, args)
        }
        Fun::TypeOf => Ok(Val::Type(args[0].type_name())),
        Fun::Dyn => Ok(args[0].clone()),
        Fun::FullYear
        | Fun::Month
        | Fun::Date
        | Fun::DayOfMonth
        | Fun::DayOfWeek
        | Fun::DayOfYear
        | Fun::Hours
        | Fun::Minutes
        | Fun::Seconds
        | Fun::Milliseconds => part_of_time(fun, args),
        Fun::Contains
        | Fun::StartsWith
        | Fun::EndsWith
        | Fun::CharAt
        | Fun::LowerAscii
        | Fun::UpperAscii
        | Fun::Replace
        | Fun::Split
        | Fun::Substring
        | Fun::Trim
        | Fun::Quote
        | Fun::Format => strings(fun, args),
        Fun::IndexOf | Fun::LastIndexOf if matches!(args[0], Val::Str(_)) => strings(fun, args),
        Fun::Matches | Fun::Find | Fun::FindAll => {
            let Val::Str(pattern) = &args[1] else { return overload(fun, args) };
            let regexp = Regexp::shared(&ytterby_text::Str::from(&**pattern))
                .map_err(|_| EvalError::Failed("not a valid regular expression".to_owned()))?;
            regex(fun, &regexp, args)
        }
        Fun::IndexOf
        | Fun::LastIndexOf
        | Fun::IsSorted
        | Fun::Sum
        | Fun::Min
        | Fun::Max
        | Fun::Slice
        | Fun::Flatten
        | Fun::Sort
        | Fun::Distinct
        | Fun::Reverse
        | Fun::First
        | Fun::Last
        | Fun::Range
        | Fun::Join
        | Fun::SetsContains
        | Fun::SetsEquivalent
        | Fun::SetsIntersects => lists(fun, args),
        Fun::OptionalOf
        | Fun::OptionalOfNonZero
        | Fun::OptionalNone
        | Fun::HasValue
        | Fun::Value
        | Fun::Or
        | Fun::OrValue => optionals(fun, args),
        Fun::Url | Fun::IsUrl | Fun::Scheme | Fun::Host | Fun::Hostname | Fun::Port | Fun::EscapedPath | Fun::Query => {
            urls(fun, args)
        }
        Fun::Quantity
        | Fun::IsQuantity
        | Fun::IsInteger
        | Fun::AsInteger
        | Fun::AsFloat
        | Fun::Sign
        | Fun::QuantityAdd
        | Fun::QuantitySub
        | Fun::IsLessThan
        | Fun::IsGreaterThan
        | Fun::CompareTo => quantities(fun, args),
        Fun::Semver | Fun::IsSemver | Fun::Major | Fun::Minor | Fun::Patch => semvers(fun, args),
        Fun::NamedFormat | Fun::Validate => formats(fun, args),
        _ => match named_format(fun) {
            Some(format) => Ok(Val::Format(format)),
            None => addresses(fun, args),
        },
    }
}
