//! The built-in functions and methods.
//!
//! One table per type; to add a function, add it to its file and a line to its table. Messages are
//! those of the reference, which begin with the function's name.

mod collections;
mod dicts;
mod format;
mod functions;
mod lists;
mod numbers;
mod sets;
mod sort;
mod strings;
mod unicode;

use std::rc::Rc;

use ytterby_text::Str;

use crate::compile::{Name, Shortcut};
use crate::value::{Builtin, Method};
use crate::{Args, Dialect, Error, Eval, Value};

/// The code of a built-in function.
type BuiltinCode = fn(&mut Eval, Args<'_>) -> Result<Value, Error>;

/// Sorted by name.
const FUNCTIONS: &[(&str, BuiltinCode)] = &[
    ("abs", numbers::abs),
    ("all", functions::all),
    ("any", functions::any),
    ("bool", functions::bool),
    ("bytes", numbers::bytes),
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

/// Names that [`Dialect::Current`] has and ytt lacks.
const ADDED: [&str; 4] = ["abs", "bytes", "removeprefix", "removesuffix"];

/// Whether a dialect has a function or a string method of this name.
fn has(dialect: Dialect, name: &[u8]) -> bool {
    dialect == Dialect::Current || !ADDED.iter().any(|added| added.as_bytes() == name)
}

thread_local! {
    /// The functions as values, in the order of [`FUNCTIONS`]. Reused, so that identity comparisons
    /// work.
    static VALUES: Vec<Value> =
        FUNCTIONS.iter().map(|(name, code)| Value::Builtin(Rc::new(Builtin::plain(*name, *code)))).collect();
}

/// The value of a built-in name of a dialect: `None`, `len` and so on.
pub fn universe(dialect: Dialect, name: &[u8]) -> Option<Value> {
    if has(dialect, name) { universal(name) } else { None }
}

/// Like [`universe`], in the dialect that has all names.
pub(crate) fn universal(name: &[u8]) -> Option<Value> {
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
pub(crate) fn names(dialect: Dialect) -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name).filter(move |name| has(dialect, name.as_bytes()))
}

/// Methods, sorted by name.
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
        Value::Set(_) => sets::METHODS,
        _ => &[],
    }
}

/// Whether values of a type have a method in a dialect.
fn has_method(dialect: Dialect, receiver: &Value, name: &[u8]) -> bool {
    match receiver {
        Value::Set(_) => dialect == Dialect::Current || name == b"union",
        _ => has(dialect, name),
    }
}

/// The method of a value of a built-in type.
pub(crate) fn method(dialect: Dialect, receiver: &Value, name: &Str) -> Option<Method> {
    find(methods_of(receiver), name).filter(|_| has_method(dialect, receiver, name))
}

/// The names of all methods of a value of a built-in type.
pub(crate) fn method_names(dialect: Dialect, receiver: &Value) -> Vec<Str> {
    let names = methods_of(receiver).iter().map(|(name, _)| *name);
    names.filter(|name| has_method(dialect, receiver, name.as_bytes())).map(Str::from).collect()
}

/// The methods of built-in types that have this name.
pub(crate) fn methods(dialect: Dialect, name: &Str) -> Name {
    Name {
        name: name.clone(),
        string: find(strings::METHODS, name).filter(|_| has(dialect, name)),
        list: find(lists::METHODS, name),
        dict: find(dicts::METHODS, name),
        set: find(sets::METHODS, name).filter(|_| dialect == Dialect::Current || *name == "union"),
        shortcut: Shortcut::of(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(FUNCTIONS.is_sorted_by_key(|(name, _)| *name));
        for table in [strings::METHODS, lists::METHODS, dicts::METHODS, sets::METHODS] {
            assert!(table.is_sorted_by_key(|(name, _)| *name));
        }
    }

    /// The reference for editors and the manual has an entry for each function, and no other except
    /// `load`.
    #[test]
    fn functions_are_documented() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ide/src/reference/builtins.txt");
        let text = std::fs::read_to_string(path).expect("the reference is there");
        let entries = format!("\n{text}");
        let entries = entries.split("\n## ").skip(1).map(|entry| {
            let name = entry.split('(').next().unwrap_or_default().to_owned();
            (name, entry.lines().any(|line| line == "only: ytterby"))
        });
        let documented: Vec<(String, bool)> = entries.filter(|(name, _)| name != "load").collect();
        let known = FUNCTIONS.iter().map(|(name, _)| ((*name).to_owned(), ADDED.contains(name)));
        assert_eq!(documented, known.collect::<Vec<_>>());
    }
}
