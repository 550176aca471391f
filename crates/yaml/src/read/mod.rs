//! The reader: bytes to [`Tree`] in one pass, without recursion.
//!
//! There is no stream of tokens. The parser ([`parser`]) has a position in the text and a stack of
//! open collections. Each step reads one scalar, or opens or closes one collection; a scalar
//! becomes a key when a `:` follows it. Errors have the reference's texts, including its line
//! numbers: errors of its scanner have the right line, errors of its parser the line before.

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
use ytterby_text::Str;

use crate::write::write_tree;
use crate::{Sink, Tree};

/// Maximum nesting of collections.
pub const MAX_DEPTH: usize = 10_000;

/// Maximum nesting of collections that are keys.
pub const MAX_KEY_DEPTH: u32 = 100;

/// Maximum number of nodes that aliases can add to those in the text; a long scalar counts as
/// several.
pub const MAX_ALIAS_NODES: u64 = 1_000_000;

/// Options of the reader.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions {
    /// Refuse plain scalars whose type could surprise (`--strict`).
    pub strict: bool,
    /// Keep comments.
    pub comments: bool,
    /// How to treat a byte order mark at the beginning.
    pub mark: ByteOrderMark,
}

/// How to treat a byte order mark at the beginning of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ByteOrderMark {
    /// It is not part of the content.
    #[default]
    Mark,
    /// It is part of the first scalar, as in ytt.
    Content,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { strict: false, comments: true, mark: ByteOrderMark::Mark }
    }
}

/// A [`ReadError`], boxed to keep results small.
type BoxedReadError = Box<ReadError>;

/// Reads a file.
///
/// ```
/// use ytterby_diag::FileId;
/// use ytterby_yaml::{ReadOptions, View, parse};
/// let tree = parse(b"a: 1 # one\n", FileId(0), &ReadOptions::default()).unwrap();
/// let View::Map(items) = tree.value(tree.documents()[0].value) else { panic!("not a map") };
/// assert_eq!(tree.comments(&items[0])[0].text, " one");
/// ```
///
/// # Errors
/// If the text is not valid YAML, or nested too deeply.
pub fn parse(text: &[u8], file: FileId, options: &ReadOptions) -> Result<Tree, ReadError> {
    let shape = valid::check(text, file)?;
    parser::read(text, None, file, options, shape, Quick::Yes, None).map_err(|failure| *failure)
}

/// Like [`parse`]; long scalars share the bytes of the text instead of copying them.
///
/// # Errors
/// As [`parse`].
pub fn parse_shared(text: &Str, file: FileId, options: &ReadOptions) -> Result<Tree, ReadError> {
    let shape = valid::check(text, file)?;
    parser::read(text, Some(text), file, options, shape, Quick::Yes, None).map_err(|failure| *failure)
}

/// Reads a file without the fast paths; tests compare [`parse`] with it.
#[doc(hidden)]
pub fn parse_slowly(text: &[u8], file: FileId, options: &ReadOptions) -> Result<Tree, ReadError> {
    let shape = valid::check(text, file)?;
    parser::read(text, None, file, options, shape, Quick::No, None).map_err(|failure| *failure)
}

/// Reads a file and writes its documents as [`write_tree`] does, with one document in memory at a
/// time. Documents before an error are written.
///
/// ```
/// use ytterby_diag::FileId;
/// use ytterby_yaml::{ReadOptions, rewrite, write::YamlWriter};
/// let mut yaml = YamlWriter::new();
/// rewrite(&"{a: 1}\n--- # empty\n--- [2]".into(), FileId(0), &ReadOptions::default(), &mut yaml).unwrap();
/// assert_eq!(yaml.finish(), b"a: 1\n---\n- 2\n");
/// ```
///
/// # Errors
/// As [`parse`].
pub fn rewrite(text: &Str, file: FileId, options: &ReadOptions, sink: &mut impl Sink) -> Result<(), ReadError> {
    let shape = valid::check(text, file)?;
    let options = ReadOptions { comments: false, ..*options };
    let mut write = |tree: &Tree| write_tree(tree, sink);
    let read = parser::read(text, Some(text), file, &options, shape, Quick::Yes, Some(&mut write));
    read.map(drop).map_err(|failure| *failure)
}
