//! The functions and methods that every program knows.
//!
//! One table per kind; adding a function means adding it to its file and a line to its table. Messages are those of the
//! reference, which names the function first.

mod collections;
mod dicts;
mod format;
mod functions;
mod lists;
mod numbers;
mod sort;
mod strings;
mod unicode;

use std::rc::Rc;

use ytterby_text::Str;

use crate::compile::Name;
use crate::value::{Builtin, Method};
use crate::{Args, Error, Eval, Value};

/// The code of a function of the language.
type BuiltinCode = fn(&mut Eval, Args<'_>) -> Result<Value, Error>;

/// Sorted by name.
const FUNCTIONS: &[(&str, BuiltinCode)] = &[
    ("all", functions::all),
    ("any", functions::any),
    ("bool", functions::bool),
    ("chr", numbers::chr),
    ("dict", dicts::dict),
    ("dir", functions::dir),
    ("enumerate", collections::enumerate),
    ("fail", functions::fail),
    ("float", numbers::float),
    ("getattr", functions::getattr),
    ("hasattr", functions::hasattr),
    ("hash", numbers::hash),
    ("int", numbers::int),
    ("len", functions::len),
    ("list", collections::list),
    ("max", sort::max),
    ("min", sort::min),
    ("ord", numbers::ord),
    ("print", functions::print),
    ("range", collections::range),
    ("repr", functions::repr),
    ("reversed", collections::reversed),
    ("set", collections::set),
    ("sorted", sort::sorted),
    ("str", functions::str),
    ("tuple", collections::tuple),
    ("type", functions::type_of),
    ("zip", collections::zip),
];

thread_local! {
    /// The functions as values, in the order of [`FUNCTIONS`]; the same object each time.
    static VALUES: Vec<Value> =
        FUNCTIONS.iter().map(|(name, code)| Value::Builtin(Rc::new(Builtin::plain(*name, *code)))).collect();
}

/// The value of a name that every program knows: `None`, `len` and so on.
pub fn universe(name: &[u8]) -> Option<Value> {
    match name {
        b"None" => return Some(Value::None),
        b"True" => return Some(Value::Bool(true)),
        b"False" => return Some(Value::Bool(false)),
        _ => {}
    }
    let at = FUNCTIONS.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).ok()?;
    VALUES.with(|values| values.get(at).cloned())
}

/// The names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// Methods by name, sorted.
type Methods = &'static [(&'static str, Method)];

fn find(methods: Methods, name: &[u8]) -> Option<Method> {
    let at = methods.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).ok()?;
    Some(methods[at].1)
}

fn methods_of(receiver: &Value) -> Methods {
    match receiver {
        Value::Str(_) => strings::METHODS,
        Value::List(_) => lists::METHODS,
        Value::Dict(_) => dicts::METHODS,
        Value::Set(_) => collections::SET_METHODS,
        _ => &[],
    }
}

/// The method of a value of a built-in type.
pub(crate) fn method(receiver: &Value, name: &Str) -> Option<Method> {
    find(methods_of(receiver), name)
}

/// The names of all methods of a value of a built-in type.
pub(crate) fn method_names(receiver: &Value) -> Vec<Str> {
    methods_of(receiver).iter().map(|(name, _)| Str::from(*name)).collect()
}

/// The methods of built-in types that have this name.
pub(crate) fn methods(name: &Str) -> Name {
    Name {
        name: name.clone(),
        string: find(strings::METHODS, name),
        list: find(lists::METHODS, name),
        dict: find(dicts::METHODS, name),
        set: find(collections::SET_METHODS, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|(name, _)| *name));
        for table in [strings::METHODS, lists::METHODS, dicts::METHODS, collections::SET_METHODS] {
            assert!(table.is_sorted_by_key(|(name, _)| *name));
        }
    }
}
