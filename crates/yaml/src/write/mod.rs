//! Writers: they receive documents as a series of calls and produce text.
//!
//! The owner of a tree walks it and calls a [`Sink`], so no writer depends on a particular tree.
//! The calls of one document are `document`, then one value. A value is `scalar`, or `begin_map`,
//! pairs of `key` and a value, `end_map`, or `begin_array`, values, `end_array`.

mod json;
mod layout;
mod pos;
mod style;
mod tree;
mod yaml;

pub use json::{JsonOptions, JsonWriter};
pub use pos::PosWriter;
pub use tree::write_tree;
pub use yaml::{WritePoint, WriterMark, WrittenStart, WrittenValue, YamlWriter, is_plain, scalar_text};

use crate::Scalar;

/// Receives documents in pieces.
pub trait Sink {
    /// A document begins; its value follows.
    fn document(&mut self);
    /// A map of `len` items begins.
    fn begin_map(&mut self, len: usize);
    /// A key of the innermost map; its value follows.
    fn key(&mut self, key: &Scalar);
    /// The innermost map ends.
    fn end_map(&mut self);
    /// An array of `len` items begins.
    fn begin_array(&mut self, len: usize);
    /// The innermost array ends.
    fn end_array(&mut self);
    /// A leaf.
    fn scalar(&mut self, value: &Scalar);
}
