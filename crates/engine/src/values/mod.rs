//! Data values: combines schemas, documents, files, flags and the environment into the one document
//! that templates see.
//!
//! Every input becomes a document in an [`Envelope`], which contains the library it is for. The
//! documents of a library are merged one by one over the defaults of its schema ([`merge`]). Each
//! is checked right after, along its own paths only, so that the cost of an input depends on its
//! own size and not on the existing values.

mod around;
pub(crate) mod check;
mod dotted;
mod envelope;
mod flags;
mod merge;
mod prepare;
mod settle;
mod stage;
mod trial;
mod undo;

pub(crate) use envelope::{Envelope, Input, LibraryRef};
pub(crate) use flags::{from_flags, node_of};
pub(crate) use merge::{MergeResult, try_merge};
pub(crate) use stage::{DeclaredSchema, FinalValues, inputs_of, schema_of, validate, values_of, wrong};
pub(crate) use trial::Trial;
