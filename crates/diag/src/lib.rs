//! Where things are and what is wrong with them.
//!
//! A [`Source`] is a piece of input with a name; a [`Pos`] or [`Span`] is a place in one, small enough to be kept with
//! every node. Lines and source text are looked up in [`Sources`] when a message is rendered. A [`Diagnostic`] is data;
//! how it is shown (ytt's text, rich, JSON lines, SARIF) is the business of the renderers here.

mod diagnostic;
pub mod layout;
mod message;
pub mod render;
mod source;

pub use diagnostic::{Diagnostic, Kind, Severity};
pub use message::{Brackets, Message, Note};
pub use source::{FileId, Pos, Source, Sources, Span};
