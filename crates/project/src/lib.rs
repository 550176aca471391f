//! Reads `ytterby.yml` and test files into typed data.
//!
//! Reading is pure: bytes in, a [`ProjectFile`] or a [`TestFile`] and diagnostics out. All data
//! keeps its position ([`Placed`]), so that a later problem (a path that does not exist, a data
//! value of the wrong type) can be shown in the file that caused it. All problems of a file are
//! found in one pass, and the valid parts of a file with problems are still returned: the language
//! server uses them.
//!
//! One table ([`keys`]) lists the keys; reading, suggestions, the JSON Schema and editors use the
//! same rows.
//!
//! ```
//! use ytterby_diag::Sources;
//!
//! let sources = Sources::new();
//! let text = "files: [config]\nvalues: [values.yml]\n";
//! let (project, problems) = ytterby_project::read("ytterby.yml", text.into(), "", &sources);
//! assert!(problems.is_empty(), "{problems:?}");
//! assert_eq!((&*project.base.files[0].value, sources.locate(project.base.values[0].pos)), ("config", "ytterby.yml:2".to_owned()));
//! ```

pub mod keys;
mod limits;
mod matrix;
mod outputs;
mod path;
mod project;
mod reader;
mod schema;
mod select;
mod test_file;
mod value;

pub use limits::Limits;
pub use matrix::MAX_TARGETS;
pub use path::{clean, is_below, join};
pub use project::{FILE_NAME, ProjectFile, SetValue, Target, read};
pub use schema::json_schema;
pub use select::{Shard, select};
pub use test_file::{Expectation, Expected, ExpectedFailure, Test, TestFile, read_tests};
pub use value::{Data, DataScalar, Placed, PlacedData};
