//! `@ytt:sha256`: the SHA-256 checksum of a string.

use sha2::{Digest, Sha256};
use ytterby_starlark::{Args, Error, Eval, Value};
use ytterby_text::budget;

use super::Module;
use crate::args::one_string;

/// The module.
pub(super) fn module() -> Module {
    Module::new("sha256").with("sum", sum)
}

fn sum(_: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    Ok(Value::from(hex(&digest::<Sha256>(one_string(&args)?)?)))
}

/// Bytes between two charges.
const CHUNK: usize = 64 << 10;

/// The digest of some bytes.
pub(super) fn digest<D: Digest>(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut digest = D::new();
    for chunk in bytes.chunks(CHUNK) {
        budget::scan(4 * chunk.len())?;
        digest.update(chunk);
    }
    Ok(digest.finalize().to_vec())
}

/// Bytes as lower-case hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
