//! JSON as in Go's `encoding/json`: which texts it accepts, its error messages, and what it writes.
//!
//! This module builds no trees. A reader implements [`Build`] to turn values into its own types;
//! the writers cover only strings and numbers.

mod read;
mod write;

pub use read::{Build, JsonContext, JsonProblem, JsonReadError, JsonScalar, MAX_DEPTH, read};
pub use write::{Html, float_into, string_into};
