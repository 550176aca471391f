//! Writers: documents go in as a series of calls, text comes out.
//!
//! Whoever holds a tree walks it and calls a [`Sink`]; no writer asks for a particular tree. The calls of one document:
//! `document`, then one value, where a value is `scalar`, or `begin_map`, pairs of `key` and a value, `end_map`, or
//! `begin_array`, values, `end_array`.

mod json;
mod layout;
mod pos;
mod style;
mod tree;
mod yaml;

pub use json::{JsonOptions, JsonWriter};
pub use pos::PosWriter;
pub use tree::write_tree;
pub use yaml::{YamlWriter, scalar_text};

use crate::Scalar;

/// Takes documents in pieces.
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
