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
//! | check data values without rendering | [`Renderer::values`] |
//! | get documents: structs, trees with positions, YAML, JSON | [`Output`] |
//! | render many times on one thread | [`Renderer`] |
//! | change one file and reuse the compiled others | [`Project::with_file`] |
//! | report the problems of all files before the first render | [`Project::compile`] |
//! | read a schema: fields, types, defaults, rules, descriptions | [`Project::schema`] |
//! | export a schema, compare it with an older one, generate values for it | [`Project::export_schema`], [`Project::diff_schema`], [`Project::generate`] |
//! | ask where a value comes from and what it affects | [`Renderer::explain`] |
//! | report errors: ytt's text, JSON lines, SARIF … | [`ProjectError::report`] |
//! | limit time, memory and output, cancel a render | [`ProjectBuilder::limits`], [`Project::with_cancellation`] |
//! | check output documents | [`OutputCheck`] |
//! | import schemas of other languages | [`import_schema`] |
//! | do everything that the command does | [`Options`], [`Renderer::run`] |
//!
//! The [`guide`] explains each of these with examples. The directory `examples` has programs:
//! render files, serve requests over HTTP, render a matrix on threads, list the fields of a schema.

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
#[doc(hidden)]
pub mod facts;
mod generate;
mod host_check;
#[doc(hidden)]
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
pub use overlay_record::OverlayRecord;
pub use project::{
    Field, FieldRule, FieldType, Output, OutputDocument, Presence, Project, ProjectBuilder, ProjectError, Renderer,
    SchemaInfo, Values,
};
pub use provenance::{ChainLink, ExplainedFrame, ExplainedPlace, Explanation, Question, RuleVerdict, explain};
pub use render::{diff_schemas, render};
/// Diagnostics, positions and their renderings.
pub use ytterby_diag as diag;
pub use ytterby_diag::Failure;
pub use ytterby_text::Str;
pub use ytterby_text::budget::{Cancellation, Limit, Limits, Meter};
pub use ytterby_yaml::Scalar;

#[doc = include_str!("../guide.md")]
pub mod guide {}
