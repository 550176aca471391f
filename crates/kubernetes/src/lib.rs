//! Checks Kubernetes manifests as the API server does, offline.
//!
//! A [`Catalog`] contains compiled schemas: those of built-in kinds ([`Version`]), of
//! CustomResourceDefinitions, of OpenAPI documents and JSON Schemas, and policies. It is built once
//! and shared between threads. A [`Manifest`] has the positions of its values; the result of a
//! check is a [`Checked`] with diagnostics that have a range, a typed path and a remedy.
//!
//! The crate is pure: it opens no file, reads no clock and prints nothing. Hosts choose its input
//! and report its findings.
//!
//! ```
//! use ytterby_diag::FileId;
//! use ytterby_kubernetes::{Catalog, CheckOptions, documents};
//!
//! let text = b"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop\ndata:\n  port: 80\n";
//! let tree = ytterby_yaml::parse(text, FileId(0), &ytterby_yaml::ReadOptions::default())?;
//! let catalog = Catalog::new(CheckOptions::default());
//! let checked = catalog.check(&documents(&tree)[0]);
//! let path = checked[0].findings[0].path.as_ref().map(|path| path.to_string());
//! assert_eq!((&*checked[0].name, path.as_deref()), ("shop", Some("data.port")));
//! # Ok::<(), ytterby_yaml::ReadError>(())
//! ```

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
