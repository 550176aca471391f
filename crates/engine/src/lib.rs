//! Templates, patches and validates YAML.
//!
//! Files become a [`Project`]: parsed and compiled once, shared among threads, rendered with data
//! values as often as needed. The crate itself does no input or output.
//!
//! ```
//! use ytterby::{Project, Values};
//!
//! let project = Project::new([("config.yml", "#@ name = 'shop'\n---\nname: #@ name\n")])?;
//! assert_eq!(project.render(&Values::new())?.yaml()?, "name: shop\n");
//! # Ok::<(), ytterby::ProjectError>(())
//! ```
//!
//! # From here
//!
//! | to | see |
//! |---|---|
//! | pass data values: structs, YAML, single paths | [`Values`] |
//! | get documents: structs, trees with positions, YAML, JSON | [`Output`] |
//! | render many times on one thread | [`Renderer`] |
//! | change one file and reuse the compiled others | [`Project::with_file`] |
//! | read a schema: fields, types, defaults, rules, descriptions | [`Project::schema`] |
//! | report errors: ytt's text, JSON lines, SARIF … | [`ProjectError::report`] |
//! | limit time, memory and output, cancel a render | [`ProjectBuilder::limits`], [`Project::with_cancellation`] |
//! | check output documents | [`OutputCheck`] |
//! | import schemas of other languages, compare schemas | [`import_schema`], [`diff_schemas`] |
//! | do everything that the command does | [`Options`], [`Renderer::run`] |
//!
//! The directory `examples` has programs: render files, serve requests over HTTP, render a matrix
//! on threads, list the fields of a schema.

mod annotation;
mod api;
mod args;
mod causes;
mod contexts;
mod coverage;
mod deep;
#[cfg(test)]
mod documented;
mod early;
mod export;
pub mod facts;
mod generate;
mod host_check;
pub mod input;
mod level;
mod library;
mod limits;
mod node;
mod output;
mod output_documents;
mod output_source;
mod output_types;
mod overlay;
mod overlay_record;
mod path;
mod project;
mod provenance;
mod record;
mod render;
mod reuse;
mod run;
mod schema;
mod secrets;
mod slips;
mod stdlib;
mod template;
mod validate;
mod values;

pub use api::{
    Compat, Host, Inspect, MAX_STEPS, Options, OutputFile, OutputForm, PlacedValue, Rendered, Silent, SourceLine,
    ValueFlags, ValueFromFile, ValuesFile, YTT_VERSION,
};
pub use coverage::Coverage;
use deep::{deep, on_large_stack};
pub use export::{Change, Changes, Impact, ImportFrom, ImportOptions, Imported, import_schema};
pub use generate::{GenerateOptions, Generated, ValuesDocument, generate};
pub use input::{Content, FileKind, InputFile};
pub use output_documents::{
    OutputCheck, OutputContent, OutputDocuments, OutputEntries, OutputItems, OutputNode, OutputRef, OutputValue,
};
pub use output_types::{Format, OutputTypes, SchemaFormat};
pub use project::{
    Field, FieldRule, Output, OutputDocument, Presence, Project, ProjectBuilder, ProjectError, Renderer, SchemaInfo,
    Values,
};
pub use provenance::{ChainLink, ExplainedFrame, ExplainedPlace, Explanation, Question, RuleVerdict, explain};
pub use render::{diff_schemas, render};
/// Diagnostics, positions and their renderings.
pub use ytterby_diag as diag;
pub use ytterby_diag::Failure;
/// The limits of a run.
pub use ytterby_text::budget::{self, Cancellation, Limits, Meter};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Embedding;
