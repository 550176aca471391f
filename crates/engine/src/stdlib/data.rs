//! `@ytt:data`: data values, and files as data.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ytterby_starlark::{Args, Error, Eval, List, Value};
use ytterby_text::Str;

use super::args::{self, fail};
use super::{Module, Struct, function};
use crate::library::Place;
use crate::node::{COMPLEX_KEY_HELP, Node, Scalar, key_text, scalar_to_value};
use crate::run::Run;

/// The module for a file at `place`.
pub(crate) fn module(run: &Rc<Run>, values: Value, place: &Place) -> Module {
    let (here, there, run) = (place.clone(), place.clone(), run.clone());
    let list = move |_: &mut Eval, args: Args<'_>| list(&here, &args);
    let read = move |_: &mut Eval, args: Args<'_>| read(&run, &there, &args);
    // What is asked for most comes first.
    Module::new("data")
        .with_value("values", values)
        .with_value("list", function("data.list", list))
        .with_value("read", function("data.read", read))
}

/// Checks that all keys are strings, as those of structs must be.
pub(crate) fn check_keys(node: &Node) -> Result<(), Error> {
    match node {
        Node::Scalar(_) => Ok(()),
        Node::Map(map) => map.iter().try_for_each(|item| match item.key.as_str() {
            Some(_) => crate::deep(|| check_keys(&item.value)),
            None => {
                let error = Error::new(format!("expected struct key {} to be string", key_text(&item.key)));
                Err(match item.key {
                    Scalar::Complex(_) => error.with_help(COMPLEX_KEY_HELP),
                    _ => error,
                })
            }
        }),
        Node::Array(array) => array.items.iter().try_for_each(|item| crate::deep(|| check_keys(&item.value))),
    }
}

/// Data values as programs see them: maps, whose keys must be strings, are structs. Fields of structs are made as
/// they are asked for.
pub(crate) fn values_of(node: &Node) -> Value {
    watched_values_of(node, None)
}

/// The same; the lists are told to `lists`, because programs may change them.
pub(crate) fn watched_values_of(node: &Node, lists: Option<&Rc<SharedLists>>) -> Value {
    match node {
        Node::Scalar(scalar) => scalar_to_value(scalar),
        Node::Map(map) => Value::host(Struct::of_map(map.clone(), lists.cloned())),
        Node::Array(array) => {
            let items = array.items.iter().map(|item| crate::deep(|| watched_values_of(&item.value, lists)));
            let value = Value::list(items.collect());
            if let (Some(lists), Value::List(list)) = (lists, &value) {
                lists.add(list);
            }
            value
        }
    }
}

/// The lists of data values that several files share. Files may change them, and what a module evaluates to may then be
/// something else: the reference evaluates modules at every `load()`, we do so where this notices a change.
#[derive(Default)]
pub(crate) struct SharedLists {
    /// Each list, and what was in it when it was last looked at.
    lists: RefCell<Vec<(Rc<List>, Vec<Value>)>>,
    changes: Cell<u64>,
}

impl SharedLists {
    fn add(&self, list: &Rc<List>) {
        self.lists.borrow_mut().push((list.clone(), list.to_vec()));
    }

    /// How many times there was a change so far.
    pub fn changes(&self) -> u64 {
        let mut has_changed = false;
        for (list, seen) in self.lists.borrow_mut().iter_mut() {
            let is_same = list.len() == seen.len() && list.items().iter().zip(&*seen).all(|(a, b)| is_same(a, b));
            if !is_same {
                *seen = list.to_vec();
                has_changed = true;
            }
        }
        self.changes.set(self.changes.get() + u64::from(has_changed));
        self.changes.get()
    }
}

/// Whether two values are one and the same, where one may be changed. What code makes is taken for another one.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::None, Value::None) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Str(a), Value::Str(b)) => a == b,
        (Value::List(a), Value::List(b)) => Rc::ptr_eq(a, b),
        (Value::Host(a), Value::Host(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

fn list(place: &Place, args: &Args<'_>) -> Result<Value, Error> {
    let path = match args.positional {
        [] => Str::EMPTY,
        [path] => args::string(path)?.clone(),
        _ => fail!("expected exactly zero or one argument"),
    };
    let path = path.to_str();
    let (start, root, path) = match path.strip_prefix('/') {
        Some(path) => (&place.root, "/", path),
        None => (&place.current, "", &*path),
    };
    let library = if path.is_empty() { start.clone() } else { start.find(path).map_err(Error::new)? };
    let files = library.accessible_files();
    Ok(Value::list(files.iter().map(|file| Value::str(format!("{root}{}", file.path))).collect()))
}

fn read(run: &Run, place: &Place, args: &Args<'_>) -> Result<Value, Error> {
    let path = args::one_string(args)?.to_str();
    let found = match path.strip_prefix('/') {
        Some(path) => place.root.find_file(path),
        None => place.current.find_file(&path),
    };
    let found = found?;
    let (_, bytes) = found.file.source(run)?;
    Ok(Value::str(Str::new(&bytes)))
}
