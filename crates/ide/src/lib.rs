//! Answers questions about a project with unsaved files.
//!
//! Everything here uses paths and byte offsets; the protocol of editors is in `ytterby-lsp`. A
//! [`Workspace`] has the files and gives out immutable [`ProjectSnapshot`]s. Queries about
//! positions ([`complete`], [`hover`], …) use models that recover from incomplete files
//! ([`model`]); [`analysis`] runs the engine for everything that only a run can find.
//!
//! ```
//! use std::sync::Arc;
//!
//! use ytterby_ide::complete::complete;
//! use ytterby_ide::context::{Cursor, Knowledge};
//! use ytterby_ide::workspace::Workspace;
//! use ytterby_ide::{DirectoryEntry, EditorLanguage, FileSystem};
//!
//! struct NoFiles;
//!
//! impl FileSystem for NoFiles {
//!     fn list(&self, _directory: &str) -> Vec<DirectoryEntry> {
//!         Vec::new()
//!     }
//!
//!     fn read(&self, _path: &str) -> Option<Vec<u8>> {
//!         None
//!     }
//!
//!     fn stamp(&self, _path: &str) -> Option<u64> {
//!         None
//!     }
//! }
//!
//! let mut workspace = Workspace::new(Arc::new(NoFiles));
//! let text = "#@ load(\"@ytt:data\", \"data\")\n---\nname: #@ data.va";
//! workspace.open("/shop/config.yml", EditorLanguage::Ytt, 1, text.to_owned());
//! let project = workspace.project("/shop/config.yml");
//! let file = workspace.open_file("/shop/config.yml").expect("it is open").clone();
//! let found = complete(Cursor::new(&project, &file, text.len()), Knowledge { values: None });
//! assert!(found.iter().any(|completion| completion.label == "values"));
//! ```

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

pub use file::{DirectoryEntry, EditorLanguage, File, FileSystem};
pub use findings::{Finding, QuickFix, RelatedPlace, Severity, TextEdit};
pub use project::{FileRange, FileRole, Meaning, ProjectSnapshot, SnapshotFile};
pub use schema::LibrarySchema;
pub use text::{LineColumn, LineIndex, TextRange};
pub use workspace::Workspace;
