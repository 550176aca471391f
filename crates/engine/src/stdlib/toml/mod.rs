//! `@ytt:toml`: encodes and decodes TOML.

mod read;
mod size;
mod write;

use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::Str;

use super::Module;
use crate::args::{indent, known_keywords, one, one_string};
use crate::node;

/// The module.
pub(super) fn module() -> Module {
    Module::new("toml").with("encode", encode).with("decode", decode)
}

fn encode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let value = one(&args)?;
    known_keywords(&args, &["indent"])?;
    let node = node::node_from_value(value).map_err(Error::new)?;
    let indent = match indent(&args)? {
        0 => 2,
        spaces => spaces,
    };
    Ok(Value::from(Str::from(write::write(&node, indent).map_err(Error::new)?)))
}

fn decode(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    read::read(one_string(&args)?).map_err(Error::new)
}
