//! Reads the arguments of functions in modules, with the reference's error messages.
//!
//! The messages contain no function name: the wrapper of a function (`stdlib::function`) adds it.
//! If the reference names a Go type, so do we, because users search for the texts that they know.

use num_traits::ToPrimitive;
use ytterby_starlark::{Args, Error, Value};
use ytterby_text::Str;

/// Returns an error with a formatted message.
macro_rules! fail {
    ($problem:ident, $($arg:tt)*) => {
        return Err(::ytterby_starlark::Error::of(::ytterby_starlark::Problem::$problem, format!($($arg)*)))
    };
    ($($arg:tt)*) => {
        return Err(::ytterby_starlark::Error::new(format!($($arg)*)))
    };
}
pub(crate) use fail;

/// The only positional argument. Keyword arguments are not checked; most functions of the reference
/// ignore unknown ones.
pub(crate) fn one<'a>(args: &Args<'a>) -> Result<&'a Value, Error> {
    match args.positional {
        [value] => Ok(value),
        _ => fail!(Call, "expected exactly one argument"),
    }
}

/// The two positional arguments.
pub(crate) fn two<'a>(args: &Args<'a>) -> Result<(&'a Value, &'a Value), Error> {
    match args.positional {
        [first, second] => Ok((first, second)),
        _ => fail!(Call, "expected exactly two arguments"),
    }
}

/// Checks that there is no positional argument.
pub(crate) fn none(args: &Args<'_>) -> Result<(), Error> {
    match args.positional {
        [] => Ok(()),
        _ => fail!(Call, "expected no argument"),
    }
}

/// The only positional argument, which must be a string.
pub(crate) fn one_string<'a>(args: &Args<'a>) -> Result<&'a Str, Error> {
    string(one(args)?)
}

/// The value as a string.
pub(crate) fn string(value: &Value) -> Result<&Str, Error> {
    match value {
        Value::Str(text) => Ok(text),
        other => fail!(Type, "expected a string, but was {}", other.type_name()),
    }
}

/// The value as a boolean.
pub(crate) fn boolean(value: &Value) -> Result<bool, Error> {
    match value {
        Value::Bool(value) => Ok(*value),
        other => fail!(Type, "expected starlark.Bool, but was {}", go_type(other)),
    }
}

/// The value as an integer of 64 bits.
pub(crate) fn int(value: &Value) -> Result<i64, Error> {
    match value {
        Value::Int(value) => Ok(*value),
        Value::BigInt(_) => fail!("expected int64 value"),
        _ => fail!(Type, "expected starlark.Int"),
    }
}

/// The value, an integer or a float, as a float.
pub(crate) fn float(value: &Value) -> Result<f64, Error> {
    match value {
        Value::Int(value) => Ok(*value as f64),
        Value::BigInt(value) => Ok(value.to_f64().unwrap_or(f64::INFINITY)),
        Value::Float(value) => Ok(*value),
        other => fail!(Type, "expected float value, but was {}", go_type(other)),
    }
}

/// The keyword argument with this name; the first of several.
pub(crate) fn keyword<'a>(args: &Args<'a>, name: &str) -> Option<&'a Value> {
    args.named.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// A boolean keyword argument.
pub(crate) fn bool_keyword(args: &Args<'_>, name: &str, default: bool) -> Result<bool, Error> {
    keyword(args, name).map_or(Ok(default), boolean)
}

/// An integer keyword argument; the default is 0.
pub(crate) fn int_keyword(args: &Args<'_>, name: &str) -> Result<i64, Error> {
    keyword(args, name).map_or(Ok(0), int)
}

/// Checks that there are no other keyword arguments.
pub(crate) fn known_keywords(args: &Args<'_>, known: &[&str]) -> Result<(), Error> {
    match args.named.iter().find(|(name, _)| !known.iter().any(|known| name == known)) {
        Some((name, _)) => fail!(Call, "invalid argument name: {}", name.to_str()),
        None => Ok(()),
    }
}

/// The `indent` of the encoding functions: from 0 to 8 spaces.
pub(crate) fn indent(args: &Args<'_>) -> Result<usize, Error> {
    match int_keyword(args, "indent")? {
        indent @ 0..=8 => Ok(indent as usize),
        _ => fail!("indent value must be between 0 and 8"),
    }
}

/// The Go type of a Starlark value in the reference.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::None => "starlark.NoneType",
        Value::Bool(_) => "starlark.Bool",
        Value::Int(_) | Value::BigInt(_) => "starlark.Int",
        Value::Float(_) => "starlark.Float",
        Value::Str(_) => "starlark.String",
        Value::List(_) => "*starlark.List",
        Value::Tuple(_) => "starlark.Tuple",
        Value::Dict(_) => "*starlark.Dict",
        Value::Set(_) => "*starlark.Set",
        Value::Range(_) => "starlark.rangeValue",
        Value::Function(_) => "*starlark.Function",
        Value::Builtin(_) => "*starlark.Builtin",
        Value::Host(host) => host.go_type(),
        _ => "starlark.Value",
    }
}
