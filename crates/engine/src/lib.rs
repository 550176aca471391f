//! Templates, patches and validates YAML.
//!
//! Files become a [`Project`]: parsed and compiled once, shared among threads, rendered with data values as often as
//! needed. The crate reads and writes nothing itself.
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
//! | give data values: structs, YAML, single paths | [`Values`] |
//! | take documents: structs, trees with places, YAML, JSON | [`Output`] |
//! | render many times on one thread | [`Renderer`] |
//! | change one file and keep what was made of the others | [`Project::with_file`] |
//! | read a schema: fields, types, defaults, rules, descriptions | [`Project::schema`] |
//! | show what is wrong: text as ytt writes it, JSON lines, SARIF … | [`ProjectError::report`] |
//! | bound time, memory and output, stop a render from outside | [`ProjectBuilder::limits`], [`Project::with_cancellation`] |
//! | check output documents | [`OutputCheck`] |
//! | make schemas of schemas in other languages, compare schemas | [`import_schema`], [`diff_schemas`] |
//! | do all that the command does | [`Options`], [`Renderer::run`] |
//!
//! The directory `examples` has programs: render files, serve requests over HTTP, render a matrix on threads, list the
//! fields of a schema.

mod annotation;
mod api;
mod args;
mod causes;
mod contexts;
mod coverage;
mod deep;
#[cfg(test)]
mod documented;
mod export;
pub mod facts;
mod generate;
pub mod input;
mod level;
mod library;
mod limits;
mod node;
mod output;
mod output_check;
mod output_source;
mod overlay;
mod overlay_record;
mod path;
mod project;
mod provenance;
mod record;
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
    Rendered, SchemaFormat, Silent, SourceLine, Target, ValueFlags, ValueFromFile, ValuesFile, YTT_VERSION,
};
pub use coverage::Coverage;
use deep::{deep, on_large_stack};
pub use export::{Change, Changes, Impact, ImportFrom, ImportOptions, Imported, import_schema};
pub use generate::{GenerateOptions, Generated, ValuesDocument, generate};
pub use input::{Content, FileKind, InputFile};
pub use output_check::{OutputCheck, OutputNode, OutputValue};
pub use project::{
    Field, FieldRule, Output, OutputDocument, Presence, Project, ProjectBuilder, ProjectError, Renderer, SchemaInfo,
    Values,
};
pub use provenance::{ChainLink, ExplainedFrame, ExplainedPlace, Explanation, Question, RuleVerdict, explain};
pub use render::{diff_schemas, render};
/// Diagnostics, positions and their renderings.
pub use ytterby_diag as diag;
pub use ytterby_diag::Failure;
/// What a run may use.
pub use ytterby_text::budget::{self, Cancellation, Limits, Meter};

#[cfg(doctest)]
#[doc = include_str!("../../../docs/embedding.md")]
struct Embedding;
