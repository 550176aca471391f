//! Templates, patches and validates YAML.
//!
//! The engine is a function from files and options to documents: [`render`]. It reads and writes nothing itself.
//!
//! ```
//! use std::rc::Rc;
//! use std::sync::Arc;
//!
//! use ytterby::diag::Sources;
//! use ytterby::{Content, InputFile, Options, Silent, render};
//!
//! let file = InputFile::new("config.yml", Content::new(*b"#@ name = 'shop'\n---\nname: #@ name\n"));
//! let rendered = render(vec![file], &Options::default(), &Arc::new(Sources::new()), Rc::new(Silent))?;
//! assert_eq!(rendered.documents, b"name: shop\n");
//! # Ok::<(), ytterby::Failure>(())
//! ```

mod annotation;
mod api;
mod args;
mod contexts;
mod deep;
#[cfg(test)]
mod documented;
mod export;
pub mod facts;
pub mod input;
mod level;
mod library;
mod limits;
mod node;
mod output;
mod output_check;
mod overlay;
mod overlay_record;
mod path;
mod project;
mod render;
mod run;
mod schema;
mod secrets;
mod slips;
mod stdlib;
mod template;
mod validate;
mod values;

pub use api::{
    Compat, Format, Host, Inspect, KnownSchemaFormats, MAX_STEPS, Options, OutputFile, OutputTypes, PlacedValue,
    Rendered, SchemaFormat, Silent, Target, ValueFlags, ValueFromFile, ValuesFile, YTT_VERSION,
};
use deep::{deep, on_large_stack};
pub use export::{Change, Changes, Impact, ImportFrom, ImportOptions, Imported, import_schema};
pub use input::{Content, FileKind, InputFile};
pub use output_check::{OutputCheck, OutputNode, OutputValue};
pub use project::{
    Field, FieldRule, Output, OutputDocument, Presence, Project, ProjectBuilder, ProjectError, Renderer, SchemaInfo,
    Values,
};
pub use render::{diff_schemas, render};
/// Diagnostics, positions and their renderings.
pub use ytterby_diag as diag;
pub use ytterby_diag::Failure;
/// What a run may use.
pub use ytterby_text::budget::{self, Cancellation, Limits, Meter};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Embedding;
