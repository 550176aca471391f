//! `@ytt:sha256`: the SHA-256 checksum of a string.

use sha2::{Digest, Sha256};
use ytterby_starlark::{Args, Error, Eval, Value};

use super::Module;
use crate::args::one_string;

/// The module.
pub(super) fn module() -> Module {
    Module::new("sha256").with("sum", sum)
}

fn sum(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::from(hex(&Sha256::digest(one_string(&args)?))))
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
