//! Attributes: `x.name`.

use std::rc::Rc;

use ytterby_text::Str;
use ytterby_text::spelling::nearest;

use crate::error::fail;
use crate::value::Builtin;
use crate::{Error, ErrorKind, Eval, Value};

/// `x.name`.
///
/// # Errors
/// Where there is no such attribute or computing it fails.
pub fn attr(eval: &mut Eval, x: &Value, name: &Str) -> Result<Value, Error> {
    let missing = match find(eval, x, name) {
        Ok(Some(value)) => return Ok(value),
        Ok(None) => Error::new(format!("{} has no .{name} field or method", x.type_name())),
        Err(error) if error.kind() == ErrorKind::NoSuchAttr => error,
        Err(error) => return Err(error),
    };
    Err(with_hint(missing, x, name))
}

/// `x.name` where there may be none.
pub(crate) fn find(eval: &mut Eval, x: &Value, name: &Str) -> Result<Option<Value>, Error> {
    if let Value::Host(host) = x {
        return host.attr(eval, name);
    }
    let method = crate::builtins::method(x, name);
    Ok(method.map(|method| Value::Builtin(Rc::new(Builtin::method(name.clone(), method, x.clone())))))
}

/// `x.name = value`.
///
/// # Errors
/// Where the attribute cannot be assigned.
pub fn set_attr(x: &Value, name: &Str, value: Value) -> Result<(), Error> {
    match x {
        Value::Host(host) => host.set_attr(name, value).map_err(|error| match error.kind() {
            ErrorKind::NoSuchAttr => with_hint(error, x, name),
            _ => error,
        }),
        _ => fail!("can't assign to .{name} field of {}", x.type_name()),
    }
}

/// The names that `dir(x)` lists, sorted.
pub(crate) fn attr_names(x: &Value) -> Vec<Str> {
    let mut names = match x {
        Value::Host(host) => host.attr_names(),
        other => crate::builtins::method_names(other),
    };
    names.sort();
    names
}

fn with_hint(mut error: Error, x: &Value, name: &Str) -> Error {
    let names = match x {
        Value::Host(host) => host.attr_names(),
        other => crate::builtins::method_names(other),
    };
    let names: Vec<_> = names.iter().map(|name| name.to_str()).collect();
    if let Some(meant) = nearest(&name.to_str(), names.iter().map(|name| &**name)) {
        error.set_message(format!("{} (did you mean .{meant}?)", error.message()));
        return error;
    }
    match x {
        Value::Host(host) => match host.near_attr(name) {
            Some(meant) => error.with_hint(format!("did you mean .{meant}?")),
            None => error,
        },
        _ => error,
    }
}
