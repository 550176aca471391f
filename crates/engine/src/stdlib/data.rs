//! `@ytt:data`: data values, and files as data.

use std::rc::Rc;

use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::Str;

use super::{Module, function};
use crate::args::{self, fail};
use crate::library::BaseDirectories;
use crate::node::{COMPLEX_KEY_CAUSE, COMPLEX_KEY_HELP, Node, Scalar, key_text};
use crate::run::Run;

/// The module for a file with the directories `base`.
pub(crate) fn module(run: &Rc<Run>, values: Value, base: &BaseDirectories) -> Module {
    let (here, there, run) = (base.clone(), base.clone(), run.clone());
    let list = move |_: &mut Eval, args: Args<'_>| list(&here, &args);
    let read = move |_: &mut Eval, args: Args<'_>| read(&run, &there, &args);
    // The most frequently used members come first.
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
                let text = format!("expected struct key {} to be string", key_text(&item.key));
                Err(match item.key {
                    Scalar::Complex(_) => {
                        Error::new(format!("{text} ({COMPLEX_KEY_CAUSE})")).with_help(COMPLEX_KEY_HELP)
                    }
                    _ => Error::new(text),
                })
            }
        }),
        Node::Array(array) => array.items.iter().try_for_each(|item| crate::deep(|| check_keys(&item.value))),
    }
}

fn list(base: &BaseDirectories, args: &Args<'_>) -> Result<Value, Error> {
    let path = match args.positional {
        [] => Str::EMPTY,
        [path] => args::string(path)?.clone(),
        _ => fail!("expected exactly zero or one argument"),
    };
    let path = path.to_str();
    let (start, root, path) = match path.strip_prefix('/') {
        Some(path) => (&base.root, "/", path),
        None => (&base.current, "", &*path),
    };
    let library = if path.is_empty() { start.clone() } else { start.find(path).map_err(Error::new)? };
    let files = library.accessible_files();
    Ok(Value::list(files.iter().map(|file| Value::str(format!("{root}{}", file.path))).collect()))
}

fn read(run: &Run, base: &BaseDirectories, args: &Args<'_>) -> Result<Value, Error> {
    let path = args::one_string(args)?.to_str();
    let found = match path.strip_prefix('/') {
        Some(path) => base.root.find_file(path),
        None => base.current.find_file(&path),
    };
    let found = found?;
    let (_, bytes) = found.file.source(run)?;
    Ok(Value::str(Str::new(&bytes)))
}
