//! What is known about files without rendering them, for tools that check and edit projects.
//!
//! A schema is told as plain data ([`DeclaredValue`]), so that a tool can follow code along its types; rules are judged
//! by what they ask for, defaults by the rules on them. Files are compiled one by one ([`compile_files`]), so that a
//! mistake in one does not hide those in others, as it does in a run.

mod compile;
mod satisfiable;
mod schema;

pub use crate::overlay_record::OverlayRecord;
pub use compile::{Compiled, compile_files, marked_files, source_of};
pub use schema::{DeclaredShape, DeclaredValue, Literal, RuleFact, RuleVerdict, SchemaFacts, schema_facts};
