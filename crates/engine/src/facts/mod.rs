//! Facts about files without rendering them, for tools that check and edit projects.
//!
//! A schema becomes plain data ([`DeclaredValue`]), so that a tool can follow code along its types; rules are analysed by
//! their requirements, defaults by their rules. Files are compiled one by one ([`compile_files`]), so that a mistake in one
//! does not hide those in others, as it does in a run.

mod compile;
mod satisfiable;
mod schema;

pub use crate::overlay_record::OverlayRecord;
pub use compile::{Compiled, compile_files, marked_files, source_of};
pub use schema::{DeclaredShape, DeclaredValue, Literal, RuleFact, RuleVerdict, SchemaFacts, schema_facts};
