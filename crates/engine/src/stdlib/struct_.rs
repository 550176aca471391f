//! `@ytt:struct`: creates structs, binds functions to values, converts between structs and plain
//! values.

use std::collections::HashMap;

use ytterby_starlark::{Args, Builtin, Error, Eval, Value};
use ytterby_text::{Str, budget};

use super::{Module, function};
use crate::args::{fail, one};
use crate::deep;
use crate::node::{self, Array, FragmentData, Map, Node, Scalar, Struct};

/// Maximum nesting for `struct.encode` and `struct.decode`.
const MAX_DEPTH: usize = 10_000;

/// The module.
pub(super) fn module() -> Module {
    Module::new("struct")
        .with("make", make)
        .with("make_and_bind", make_and_bind)
        .with("bind", bind)
        .with("encode", encode)
        .with("decode", decode)
}

fn make(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    if !args.positional.is_empty() {
        fail!("unexpected positional arguments (structs are made from keyword arguments only)");
    }
    budget::memory_of(args.named.len() + 2, 64)?;
    Ok(from_keywords(args.named.iter().cloned()))
}

fn make_and_bind(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let [receiver] = args.positional else { fail!("expected at exactly one argument") };
    Ok(from_keywords(args.named.iter().map(|(name, value)| match value.is_callable() {
        true => (name.clone(), bound(value.clone(), vec![receiver.clone()])),
        false => (name.clone(), value.clone()),
    })))
}

/// A struct of keyword arguments. `**` can repeat a name: the last value wins, at the first place.
fn from_keywords(keywords: impl Iterator<Item = (Str, Value)>) -> Value {
    let mut fields: Vec<(Str, Value)> = Vec::with_capacity(keywords.size_hint().0);
    let mut places: HashMap<Str, usize> = HashMap::new();
    for (name, value) in keywords {
        match places.get(&name) {
            Some(&at) => fields[at].1 = value,
            None => {
                places.insert(name.clone(), fields.len());
                fields.push((name, value));
            }
        }
    }
    Value::host(Struct::new(fields))
}

fn bind(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    match args.positional {
        [callee, first, rest @ ..] => Ok(bound(callee.clone(), std::iter::once(first).chain(rest).cloned().collect())),
        _ => fail!("expected at least two arguments"),
    }
}

/// A function that calls `callee` with `first` before its own arguments.
fn bound(callee: Value, first: Vec<Value>) -> Value {
    const NAME: &str = "struct.bind_result";
    Value::from(Builtin::new(NAME, move |eval, args| {
        let mut positional = first.clone();
        positional.extend_from_slice(args.positional);
        eval.call(&callee, &positional, args.named).map_err(|error| error.in_context(NAME))
    }))
}

fn encode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    structs_of(&plain_node(one(&args)?)?, 0)
}

fn decode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(node::to_plain_value(&plain_node(one(&args)?)?))
}

fn plain_node(value: &Value) -> Result<Node, Error> {
    match node::from_value(value).map_err(Error::new)? {
        FragmentData::Node(node) => Ok(node),
        FragmentData::Documents(_) => fail!("a document set cannot be converted (hint: take one of its documents)"),
    }
}

/// A node as Starlark values, with maps as structs.
fn structs_of(node: &Node, depth: usize) -> Result<Value, Error> {
    if depth > MAX_DEPTH {
        fail!("value is nested deeper than {MAX_DEPTH} levels");
    }
    match node {
        Node::Scalar(scalar) => Ok(node::scalar_to_value(scalar)),
        Node::Array(array) => list_of(array, depth),
        Node::Map(map) => struct_of(map, depth),
    }
}

fn list_of(array: &Array, depth: usize) -> Result<Value, Error> {
    budget::memory_of(array.items.len() + 4, 16)?;
    let items = array.items.iter().map(|item| deep(|| structs_of(&item.value, depth + 1)));
    Ok(Value::list(items.collect::<Result<_, Error>>()?))
}

fn struct_of(map: &Map, depth: usize) -> Result<Value, Error> {
    budget::memory_of(map.len() + 2, 64)?;
    let fields = map.iter().map(|item| match &item.key {
        Scalar::Str(name) => Ok((name.clone(), deep(|| structs_of(&item.value, depth + 1))?)),
        other => fail!("expected struct key {} to be string", node::key_text(other)),
    });
    Ok(Value::host(Struct::new(fields.collect::<Result<Vec<_>, Error>>()?)))
}

/// Adds a function to an object's fields: its errors begin with `name`.
pub(crate) fn method(
    field: &str,
    name: &'static str,
    body: impl Fn(&mut Eval, Args<'_>) -> Result<Value, Error> + 'static,
) -> (Str, Value) {
    (Str::from(field), function(name, body))
}
