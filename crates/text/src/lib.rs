//! Small pieces of text handling that Ytterby's languages share.
//!
//! Nothing here knows about YAML or Starlark: byte strings that are cheap to clone ([`Str`]), Go's way of
//! writing floats, JSON and quoted strings, Go's URLs, CEL's names and texts, spelling distance, Kubernetes quantities;
//! and the [`budget`] of a run, which all of its work is charged to.

pub mod budget;
mod bytestr;
pub mod cel;
pub mod gofloat;
pub mod gojson;
pub mod path;
mod quantity;
pub mod quote;
pub mod spelling;
pub mod url;
pub mod xml;

pub use bytestr::{Str, push_int};
pub use quantity::{Decimal, quantity};
