//! Facts about files without rendering them, for tools that check and edit projects.
//!
//! A schema becomes plain data ([`DeclaredValue`]), so that a tool can follow code along its types;
//! rules are analysed by their requirements, defaults by their rules. Files are compiled one by one
//! ([`compile_files`]), so that a mistake in one does not hide those in others, as it does in a
//! run.

mod compile;
mod satisfiable;
mod schema;

use crate::annotation::{Ann, Level};
pub use crate::overlay_record::OverlayRecord;
pub use compile::{CompileResults, compile_files, marked_files, source_of};
pub use schema::{DeclaredShape, DeclaredValue, PlainData, RuleFact, SchemaFacts, StaticVerdict, schema_facts};

/// Whether the arguments of an annotation (its name without `@`) are texts for people or examples,
/// and not code that decides something.
pub fn is_prose(annotation: &str) -> bool {
    let ann = Ann::from_name(annotation.as_bytes(), Level::Ytterby);
    ann.is_some_and(|ann| ann.takes_text() || matches!(ann, Ann::SchemaExample | Ann::SchemaExamples))
}
