//! JSON as Go's `encoding/json` has it: what it accepts, what it says when it does not, and what it writes.
//!
//! Trees are not made here. Who reads says through [`Build`] what becomes of a value; who writes has writers for the
//! leaves.

mod read;
mod write;

pub use read::{Build, MAX_DEPTH, Place, Problem, ReadError, Scalar, read};
pub use write::{Html, float_into, string_into};
