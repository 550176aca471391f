//! Text handling that Ytterby's languages share.
//!
//! Nothing here knows about YAML or Starlark. There are byte strings that are cheap to clone
//! ([`Str`]), floats, JSON, quoted strings and URLs as in Go, names and strings of CEL, spelling
//! distance, Kubernetes quantities, the [`calendar`], the [`budget`] of a run, to which all its
//! work is charged, and its [`profile`].
//!
//! ```
//! use ytterby_text::{Str, quantity, spelling};
//!
//! let name = Str::from("replcias");
//! let copy = name.clone();
//! assert_eq!(spelling::closest(&copy.to_str(), ["name", "replicas"], spelling::tolerance("replcias")), Some("replicas"));
//! assert!(quantity("1.5Gi").is_some() && quantity("1.5 GiB").is_none());
//! ```

pub mod budget;
mod bytestr;
pub mod calendar;
pub mod cel;
pub mod duration;
pub mod gofloat;
pub mod gojson;
pub mod path;
pub mod profile;
mod quantity;
pub mod quote;
pub mod spelling;
mod tiny;
pub mod url;
pub mod xml;

pub use bytestr::{ShortText, Str, push_int};
pub use quantity::{Decimal, quantity};
pub use tiny::Tiny;
