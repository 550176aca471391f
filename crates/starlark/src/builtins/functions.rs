//! Functions that accept any value: `all`, `any`, `bool`, `dir`, `fail`, `getattr`, `len`, `print`,
//! `repr`, `str`, `type`, …
//!
//! Functions about numbers, dicts and sorting have files of their own. A long message of `fail` is
//! truncated, because it would be copied into each report.

use ytterby_text::{Str, budget};

use crate::args::Iterable;
use crate::error::fail;
use crate::ops::{attr_names, find_attr, text_size};
use crate::{Args, Error, Eval, Problem, Value};

/// Longer messages of `fail` are truncated.
const MAX_MESSAGE: usize = 64 << 10;

pub(super) fn all(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("all", 1, 1)?;
    let values: Iterable = args.required("all", 0)?;
    for value in values.iterate() {
        budget::work(1)?;
        if !value.truth() {
            return Ok(Value::Bool(false));
        }
    }
    Ok(Value::Bool(true))
}

pub(super) fn any(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("any", 1, 1)?;
    let values: Iterable = args.required("any", 0)?;
    for value in values.iterate() {
        budget::work(1)?;
        if value.truth() {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

pub(super) fn bool(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("bool", 0, 1)?;
    Ok(Value::Bool(args.positional.first().is_some_and(Value::truth)))
}

pub(super) fn dir(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let value = one("dir", "1", args)?;
    let names = attr_names(eval.dialect(), value);
    eval.charge(names.iter().map(|name| name.len() + 2 * size_of::<Value>()).sum())?;
    Ok(Value::list(names.into_iter().map(Value::Str).collect()))
}

pub(super) fn fail(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let mut text = joined("fail", args)?;
    text.truncate(MAX_MESSAGE);
    Err(Error::of(Problem::Fail, String::from_utf8_lossy(&text)).in_context("fail"))
}

pub(super) fn print(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let text = joined("print", args)?;
    budget::output(text.len() + 1)?;
    eval.print(&text);
    Ok(Value::None)
}

/// The arguments as text, joined by a separator.
fn joined(function: &str, args: Args<'_>) -> Result<Vec<u8>, Error> {
    let [sep] = Args { positional: &[], named: args.named }.unpack(function, ["sep?"])?;
    let sep: Option<Str> = args.param(function, "sep", sep)?;
    let sep = sep.unwrap_or_else(|| Str::from(" "));
    let mut out = Vec::new();
    for (n, value) in args.positional.iter().enumerate() {
        if n > 0 {
            out.extend_from_slice(&sep);
        }
        if let Value::Str(text) = value {
            budget::text(text.len())?;
        }
        value.write_text(&mut out);
        budget::check()?;
        text_size(out.len(), 0)?;
    }
    Ok(out)
}

pub(super) fn getattr(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("getattr", 2, 3)?;
    let name: Str = args.required("getattr", 1)?;
    let default = args.positional.get(2);
    let object = &args.positional[0];
    match (find_attr(eval, object, &name), default) {
        (Ok(Some(value)), _) => Ok(value),
        (Err(error), _) if error.is_fatal() => Err(error),
        (_, Some(default)) => Ok(default.clone()),
        (Err(error), None) => Err(error.in_context("getattr")),
        (Ok(None), None) => {
            let message = format!("getattr: {} has no .{name} field or method", object.type_name());
            let of = object.type_name().to_owned();
            Err(Error::of(Problem::NoAttribute { of, name, similar: None }, message))
        }
    }
}

pub(super) fn hasattr(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("hasattr", 2, 2)?;
    let name: Str = args.required("hasattr", 1)?;
    let object = &args.positional[0];
    Ok(Value::Bool(match find_attr(eval, object, &name) {
        Ok(found) => found.is_some(),
        Err(error) if error.is_fatal() => return Err(error),
        // The attribute may exist, but fail to compute.
        Err(_) => attr_names(eval.dialect(), object).contains(&name),
    }))
}

pub(super) fn len(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("len", 1, 1)?;
    match args.positional[0].len() {
        Some(len) => Ok(Value::from(len)),
        None => fail!(Type, "len: value of type {} has no len", args.positional[0].type_name()),
    }
}

pub(super) fn repr(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    args.count("repr", 1, 1)?;
    let text = args.positional[0].repr();
    budget::check()?;
    text_size(text.as_bytes().len(), 0)?;
    eval.charge(text.as_bytes().len())?;
    Ok(Value::Str(text))
}

pub(super) fn str(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let value = one("str", "exactly 1", args)?;
    match value {
        Value::Int(value) => {
            let text = Str::of_int(*value);
            eval.charge(text.as_bytes().len())?;
            return Ok(Value::Str(text));
        }
        Value::Str(text) => {
            eval.charge(text.as_bytes().len())?;
            return Ok(value.clone());
        }
        _ => {}
    }
    if let Some(bytes) = value.downcast::<crate::Bytes>() {
        eval.charge(bytes.as_bytes().len())?;
        return Ok(bytes.decoded());
    }
    eval.text(|eval, out| {
        value.write_text(out);
        budget::check()?;
        text_size(out.len(), 0)?;
        eval.charge(out.len())
    })
}

pub(super) fn type_of(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::str(one("type", "exactly 1", args)?.type_name()))
}

/// The only argument of a function with its own message for too many.
pub(super) fn one<'a>(function: &str, wanted: &str, args: Args<'a>) -> Result<&'a Value, Error> {
    if !args.named.is_empty() {
        fail!(Call, "{function} does not accept keyword arguments");
    }
    match args.positional {
        [value] => Ok(value),
        others => fail!(Call, "{function}: got {} arguments, want {wanted}", others.len()),
    }
}
