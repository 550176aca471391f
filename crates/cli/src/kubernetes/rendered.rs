//! Checks rendered output: `--kubernetes` together with `-f`.
//!
//! The engine does not know Kubernetes. It calls an `OutputCheck`, and `KubernetesCheck` converts
//! each document to the manifest that the checks expect. Nodes keep their positions, so findings
//! point into templates.

use std::sync::Arc;

use ytterby::{OutputCheck, OutputContent, OutputDocuments, OutputRef};
use ytterby_diag::{Diagnostic, Failure, Path, Pos, Sources, Step};
use ytterby_kubernetes::{
    CheckOptions, Fault, FaultKind, MAX_DEPTH, Manifest, MapEntry, Node, SharedStr, UnknownKinds, Value, key_text,
    types_of,
};
use ytterby_yaml::Scalar;

use super::schemas::{self, Schemas};
use crate::commands::flag;
use crate::flags::Invocation;

/// The check that the flags request, if any.
pub fn output_check(flags: &Invocation, sources: &Arc<Sources>) -> Result<Option<Arc<dyn OutputCheck>>, Failure> {
    let version = flags.text(&flag::KUBERNETES_VERSION);
    if version.is_empty() || version == "off" {
        return Ok(None);
    }
    check_of(flags, version, flags.list(&flag::KUBERNETES_SCHEMA), sources).map(Some)
}

/// A check against a version with additional schemas. The flags only decide about unknown kinds.
pub fn check_of(
    flags: &Invocation,
    version: &str,
    schemas: &[String],
    sources: &Arc<Sources>,
) -> Result<Arc<dyn OutputCheck>, Failure> {
    let options = super::options(flags, version)?;
    let schemas = schemas::load(schemas, options, sources)?;
    Ok(Arc::new(KubernetesCheck { schemas }))
}

/// A check without flags: unknown kinds are warnings.
///
/// # Errors
/// If the version is unknown or schemas cannot be read.
pub fn plain_check(
    version: &str,
    locations: &[String],
    sources: &Arc<Sources>,
) -> Result<Arc<dyn OutputCheck>, Failure> {
    let options = CheckOptions { version: super::version(version)?, unknown: UnknownKinds::Warn, skip: Vec::new() };
    Ok(Arc::new(KubernetesCheck { schemas: schemas::load(locations, options, sources)? }))
}

/// Checks all documents of a render as manifests.
#[derive(Debug)]
struct KubernetesCheck {
    schemas: Schemas,
}

impl OutputCheck for KubernetesCheck {
    fn title(&self) -> String {
        format!("Checking output against Kubernetes {}", self.schemas.catalog.options().version)
    }

    fn check(&self, documents: &OutputDocuments<'_>) -> Vec<Diagnostic> {
        let mut reader = NodeConverter::default();
        let documents: Vec<Manifest> = documents.iter().filter_map(|node| reader.document(node)).collect();
        let mut schemas = self.schemas.clone();
        for document in &documents {
            // Custom resource definitions in the output describe other documents of it.
            schemas.catalog.add_definition(&document.root);
        }
        if schemas.has_templates() {
            schemas.look_up(documents.iter().flat_map(|document| types_of(&document.root)));
        }
        let catalog = &schemas.catalog;
        documents.iter().flat_map(|document| catalog.check(document)).flat_map(|checked| checked.findings).collect()
    }
}

/// Converts documents for the check.
#[derive(Default)]
struct NodeConverter {
    faults: Vec<Fault>,
    depth: usize,
}

impl NodeConverter {
    /// A document; empty ones are none.
    fn document(&mut self, node: OutputRef<'_>) -> Option<Manifest> {
        let mut root = self.node(node);
        if root.is_null() && self.faults.is_empty() {
            return None;
        }
        // The place of a document is that of its first item, unless code made it.
        if let Some(first) = root.entries().first().filter(|first| first.node.pos.is_known()) {
            root.pos = first.node.pos;
        }
        Some(Manifest { root: Arc::new(root), faults: std::mem::take(&mut self.faults) })
    }

    fn node(&mut self, node: OutputRef<'_>) -> Node {
        let pos = node.pos;
        if self.depth >= MAX_DEPTH {
            self.fault(FaultKind::Depth, pos);
            return Node { value: Value::Null, pos };
        }
        let value = match node.content() {
            OutputContent::Scalar(Scalar::Float(value)) if !value.is_finite() => {
                self.fault(FaultKind::NotFinite, pos);
                Value::Null
            }
            OutputContent::Scalar(scalar) => scalar_value(scalar),
            OutputContent::Array(items) => {
                let mut list = Vec::with_capacity(items.size_hint().0);
                for (index, item) in items.enumerate() {
                    list.push(self.below(item, || Step::Index(index)));
                }
                Value::List(list)
            }
            OutputContent::Map(items) => {
                let mut entries = Vec::with_capacity(items.size_hint().0);
                for (key, item) in items {
                    let Some(key) = key_text(key) else {
                        self.fault(FaultKind::Key, item.pos);
                        continue;
                    };
                    let node = self.below(item, || Step::Key(key.to_string()));
                    entries.push(MapEntry { key, node });
                }
                Value::Map(entries)
            }
        };
        Node { value, pos }
    }

    /// A node below this one; `step` leads to it. Paths are made on the way back, where there is a
    /// fault.
    fn below(&mut self, node: OutputRef<'_>, step: impl FnOnce() -> Step) -> Node {
        let faults = self.faults.len();
        self.depth += 1;
        let node = self.node(node);
        self.depth -= 1;
        if self.faults.len() > faults {
            let step = step();
            for fault in &mut self.faults[faults..] {
                fault.path.prepend(step.clone());
            }
        }
        node
    }

    fn fault(&mut self, kind: FaultKind, pos: Pos) {
        if self.faults.len() < 100 {
            self.faults.push(Fault { kind, path: Path::document(), pos });
        }
    }
}

fn scalar_value(scalar: &Scalar) -> Value {
    match scalar {
        // Complex scalars occur only as keys.
        Scalar::Null | Scalar::Complex(_) => Value::Null,
        Scalar::Bool(value) => Value::Bool(*value),
        Scalar::Int(value) => Value::Int(*value),
        Scalar::UInt(value) => Value::UInt(*value),
        Scalar::Float(value) => Value::Float(*value),
        Scalar::Str(text) => Value::Str(SharedStr::of(text)),
    }
}
