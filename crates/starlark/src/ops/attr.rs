//! Attributes: `x.name`.

use std::rc::Rc;

use ytterby_text::Str;
use ytterby_text::spelling::nearest;

use crate::advice::mistyped;
use crate::error::fail;
use crate::value::Builtin;
use crate::{Dialect, Error, Eval, Problem, Value};

/// `x.name`.
///
/// # Errors
/// If there is no such attribute or computing it fails.
pub fn attr(eval: &mut Eval, x: &Value, name: &Str) -> Result<Value, Error> {
    match find(eval, x, name)? {
        Some(value) => Ok(value),
        None => Err(missing(eval.dialect(), x, name)),
    }
}

/// `x.name`, or `None` if it does not exist.
pub(crate) fn find(eval: &mut Eval, x: &Value, name: &Str) -> Result<Option<Value>, Error> {
    if let Value::Host(host) = x {
        return host.attr(eval, name);
    }
    let method = crate::builtins::method(eval.dialect(), x, name);
    Ok(method.map(|method| Value::Builtin(Rc::new(Builtin::method(name.clone(), method, x.clone())))))
}

/// `x.name = value`.
///
/// # Errors
/// If the attribute cannot be assigned.
pub fn set_attr(x: &Value, name: &Str, value: Value) -> Result<(), Error> {
    match x {
        Value::Host(host) => host.set_attr(name, value),
        _ => fail!(Type, "can't assign to .{name} field of {}", x.type_name()),
    }
}

/// The names that `dir(x)` lists, sorted.
pub(crate) fn attr_names(dialect: Dialect, x: &Value) -> Vec<Str> {
    let mut names = match x {
        Value::Host(host) => host.attr_names(),
        other => crate::builtins::method_names(dialect, other),
    };
    names.sort();
    names
}

/// The error for an unknown attribute, with a similar one if there is any.
#[cold]
#[inline(never)]
fn missing(dialect: Dialect, x: &Value, name: &Str) -> Error {
    let names = attr_names(dialect, x);
    let names: Vec<_> = names.iter().map(|name| name.to_str()).collect();
    let mut message = format!("{} has no .{name} field or method", x.type_name());
    let mut similar = nearest(&name.to_str(), names.iter().map(|name| &**name)).map(Str::from);
    match &similar {
        Some(similar) => message.push_str(&format!(" (did you mean .{similar}?)")),
        None => {
            let near = match x {
                Value::Host(host) => host.near_attr(name).map(Str::from),
                _ => None,
            };
            similar = near.or_else(|| mistyped(&name.to_str(), names.iter().map(|name| &**name)));
        }
    }
    Error::of(Problem::NoAttribute { of: x.type_name().to_owned(), name: name.clone(), similar }, message)
}
