//! Data values: from schemas, documents, files, flags and the environment to the one document that templates see.
//!
//! Every input becomes a document in an [`Envelope`] that says which library it is for. The documents of a library
//! are merged one by one over the defaults of its schema ([`merge`]); each is checked right after, along its own paths
//! only, so that one more input costs what it holds and not what is there already.

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
pub(crate) use flags::from_flags;
pub(crate) use merge::{Outcome, try_merge};
pub(crate) use stage::{Declared, FinalValues, inputs_of, schema_of, validate, values_of, wrong};
pub(crate) use trial::Trial;
