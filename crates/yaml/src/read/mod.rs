//! The reader: bytes to [`Tree`] in one pass, without recursion.
//!
//! There is no stream of tokens. The parser ([`parser`]) stands at a place in the text, knows the collections it is in, and
//! reads one scalar or opens or closes one collection at a time; a scalar becomes a key when a `:` is found behind it.
//! Errors have the reference's texts, also where the reference tells them apart by the stage that noticed: what its
//! scanner notices has the right line, what its parser notices has the line before.

mod advice;
mod block;
mod build;
mod cursor;
mod error;
mod errors;
mod flow;
mod keys;
mod parser;
mod properties;
mod quick;
mod scalars;
mod valid;

pub use error::ReadError;
use parser::Quick;
use ytterby_diag::FileId;

use crate::Tree;

/// Collections can be nested this deep.
pub const MAX_DEPTH: usize = 10_000;

/// Collections that are keys can be nested this deep.
pub const MAX_KEY_DEPTH: u32 = 100;

/// Aliases can add this many nodes to those in the text; a long scalar counts as several.
pub const MAX_ALIAS_NODES: u64 = 1_000_000;

/// How to read.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Refuse plain scalars whose type could surprise (`--strict`).
    pub strict: bool,
    /// Keep comments.
    pub comments: bool,
    /// What a byte order mark at the beginning is.
    pub mark: ByteOrderMark,
}

/// What a byte order mark at the beginning of a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByteOrderMark {
    /// No part of the content.
    #[default]
    Mark,
    /// Part of the first scalar, as ytt has it.
    Content,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { strict: false, comments: true, mark: ByteOrderMark::Mark }
    }
}

/// A [`ReadError`] on its way out, small so that results are.
type Failure = Box<ReadError>;

/// Reads a file.
///
/// ```
/// use ytterby_diag::FileId;
/// use ytterby_yaml::{ReadOptions, View, parse};
/// let tree = parse(b"a: 1 # one\n", FileId(0), &ReadOptions::default()).unwrap();
/// let View::Map(items) = tree.value(tree.documents()[0].value) else { panic!("not a map") };
/// assert_eq!(tree.comments(&items[0])[0].text, " one");
/// ```
pub fn parse(text: &[u8], file: FileId, options: &ReadOptions) -> Result<Tree, ReadError> {
    let shape = valid::check(text, file)?;
    parser::read(text, file, options, shape, Quick::Yes).map_err(|failure| *failure)
}

/// Reads a file without any of the short ways: what tests compare [`parse`] with.
#[doc(hidden)]
pub fn parse_slowly(text: &[u8], file: FileId, options: &ReadOptions) -> Result<Tree, ReadError> {
    let shape = valid::check(text, file)?;
    parser::read(text, file, options, shape, Quick::No).map_err(|failure| *failure)
}
