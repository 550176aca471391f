//! Answers questions about a project with unsaved files.
//!
//! Everything here uses paths and byte offsets; the protocol of editors is in `ytterby-lsp`. A
//! [`Workspace`] has the files and gives out immutable [`ProjectSnapshot`]s. Queries about
//! positions ([`complete`], [`hover`], …) use models that recover from incomplete files
//! ([`model`]); [`analysis`] runs the engine for everything that only a run can find.

pub mod actions;
pub mod analysis;
pub mod complete;
pub mod config;
pub mod context;
pub mod describe;
mod dictionaries;
pub mod file;
pub mod findings;
pub mod folding;
pub mod format;
pub mod hover;
pub mod infer;
pub mod inlay;
pub mod links;
pub mod model;
pub mod navigate;
pub mod on_type;
mod preview;
pub mod project;
pub mod reference;
pub mod schema;
pub mod selection;
pub mod signature;
pub mod statics;
pub mod symbols;
pub mod text;
pub mod tokens;
pub mod values;
pub mod workspace;

pub use file::{DirectoryEntry, File, FileSystem, Language};
pub use findings::{Finding, QuickFix, RelatedPlace, Severity, TextEdit};
pub use project::{FileRange, FileRole, Meaning, ProjectSnapshot, SnapshotFile};
pub use schema::Schema;
pub use text::{LineColumn, Lines, TextRange};
pub use workspace::Workspace;
