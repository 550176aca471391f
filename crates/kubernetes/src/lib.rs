//! Checks Kubernetes manifests as the API server does, offline.
//!
//! A [`Catalog`] contains compiled schemas: those of built-in kinds ([`Version`]), of
//! CustomResourceDefinitions, of OpenAPI documents and JSON Schemas, and policies. It is built once
//! and shared between threads. A [`Manifest`] has the positions of its values; the result of a
//! check is a [`Checked`] with diagnostics that have a range, a typed path and a remedy.
//!
//! The crate is pure: it opens no file, reads no clock and prints nothing. Hosts choose its input and report its findings.

mod builtin;
mod catalog;
mod compile;
mod crd;
mod document;
mod facts;
mod fields;
mod locations;
mod meta;
mod names;
mod native;
mod openapi;
mod policy;
mod report;
mod rules;
mod scalars;
mod schema;
mod structural;

pub use catalog::{Catalog, CheckOptions, CheckState, Checked, UnknownKinds};
pub use document::{Fault, FaultKind, MAX_DEPTH, Manifest, MapEntry, Node, SharedStr, Value, documents, key_text};
pub use facts::{Gvk, Version};
pub use fields::KindField;
pub use locations::{expand, is_template, layouts};
pub use openapi::{AddedSchema, types_of};
