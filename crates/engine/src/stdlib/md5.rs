//! `@ytt:md5`: the MD5 checksum of a string.

use md5::Md5;
use ytterby_starlark::{Args, Error, Eval, Value};

use super::Module;
use super::sha256::{digest, hex};
use crate::args::one_string;

/// The module.
pub(super) fn module() -> Module {
    Module::new("md5").with("sum", sum)
}

fn sum(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::from(hex(&digest::<Md5>(one_string(&args)?)?)))
}
