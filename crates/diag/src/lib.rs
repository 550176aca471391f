//! Sources, positions, and problems found in them.
//!
//! A [`Source`] is a piece of input with a name; a [`Pos`] is a position in one, small enough to be
//! kept with every node. A [`Diagnostic`] is data: an [`Id`], ranges, a typed path, advice with
//! edits that a tool can apply. A [`Failure`] is the reason why a run ended. Only [`render`]
//! decides how they are shown (ytt's text, rich, JSON lines, SARIF and others); other crates create
//! diagnostics and never format them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use ytterby_diag::render::{Rendering, Report, render};
//! use ytterby_diag::{Diagnostic, Failure, Id, Part, Pos, Source, Sources};
//!
//! let sources = Arc::new(Sources::new());
//! let file = sources.add(Source::new("values.yml", "port: http\n"));
//! let problem = Diagnostic::error(Id::SCHEMA_TYPE, "expected an integer").at(Pos::new(file, 0), Part::Value);
//! let failure = Failure::from(problem.help("give a number"));
//!
//! let json = render(&Report::new("my-tool", Some(&failure), &[], &sources), Rendering::Json);
//! assert!(json.contains("schema/type") && json.contains("values.yml"), "{json}");
//! ```

mod diagnostic;
mod failure;
mod fix;
mod id;
pub mod limits;
mod lines;
mod listing;
mod outline;
mod path;
pub mod render;
mod secrets;
mod shortened;
mod source;
mod text;

pub use diagnostic::{Diagnostic, Edit, Fix, Frame, Help, Label, Role, Safety, Severity};
pub use failure::{
    By, Cause, CodeMessage, CodeProblem, Context, Exhibit, Failure, SchemaBlock, SchemaReport, Violation,
    ViolationBlock, ViolationPath,
};
pub use fix::{apply_fixes, diff_of_fixes};
pub use id::{DiagnosticKind, HELP_BASE, Id};
pub use lines::unified_hunks;
pub use listing::{Listing, ListingStyle};
pub use outline::{Argument, Outline, OutlineItem, Part, Readers, outline_of_pair, word_at};
pub use path::{Path, Step};
pub use secrets::{REDACTED, Secrets};
pub use source::{FileId, Origin, Pos, Source, Sources, Span, ValueForm};
pub use text::{Piece, PlaceNames, Text};
