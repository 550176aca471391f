//! Exported and imported schemas are valid in their languages and equivalent to ours.

mod crd;
mod diff;
mod imports;
mod json_schema;
mod page;
mod server;
mod shape;
mod support;
