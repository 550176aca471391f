//! Exported and imported schemas: they are valid in their languages, and they mean what ours mean.

mod crd;
mod diff;
mod imports;
mod json_schema;
mod page;
mod server;
mod shape;
mod support;
