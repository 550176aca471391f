//! Schemas in other languages, and their documentation.
//!
//! [`schema`] writes the three dialects of JSON Schema (OpenAPI, JSON Schema, CRD) from the type
//! tree; each rule defines its own keywords in them. The documentation formats render one list of
//! fields ([`model`]).

mod cel;
mod costs;
mod defaults;
mod diff;
mod html;
mod import;
mod keywords;
mod markdown;
pub(crate) mod model;
mod rules;
mod schema;
mod values_file;
mod ytt_rules;
mod ytt_schema;

pub(crate) use diff::diff;
pub use diff::{Change, Changes, Impact};
pub(crate) use html::html;
pub use import::{ImportFrom, ImportOptions, Imported, import_schema};
pub(crate) use markdown::{json_text, markdown};
pub(crate) use schema::{crd, json_schema, openapi};
pub(crate) use values_file::values_file;
pub(crate) use ytt_schema::ytt_schema;
