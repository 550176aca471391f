//! Checks rendered output: `--kubernetes` together with `-f`.

use std::sync::Arc;

use ytterby::{OutputCheck, OutputNode, OutputValue};
use ytterby_diag::{Diagnostic, Failure, Sources};
use ytterby_kubernetes::{Document, Entry, MAX_DEPTH, Node, Options, Unknown, Value, key_text, types_of};
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
    let options = Options { version: super::version(version)?, unknown: Unknown::Warn, skip: Vec::new() };
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

    fn check(&self, documents: Vec<OutputNode>) -> Vec<Diagnostic> {
        let documents: Vec<Document> = documents.into_iter().filter_map(document).collect();
        let mut schemas = self.schemas.clone();
        for document in &documents {
            // Custom resource definitions in the output describe other documents of it.
            schemas.catalog.add_definition(&document.root);
        }
        schemas.look_up(documents.iter().flat_map(|document| types_of(&document.root)));
        let catalog = &schemas.catalog;
        documents.iter().flat_map(|document| catalog.check(document)).flat_map(|checked| checked.findings).collect()
    }
}

/// Converts a document for the check; `None` if it is empty.
fn document(node: OutputNode) -> Option<Document> {
    if matches!(node.value, OutputValue::Scalar(Scalar::Null)) {
        return None;
    }
    // The position of a document is that of its first item.
    let pos = match &node.value {
        OutputValue::Map(items) => items.first().map_or(node.pos, |(_, first)| first.pos),
        _ => node.pos,
    };
    let mut reader = NodeConverter::default();
    let root = Node { pos, ..reader.node(node) };
    Some(Document { root, faults: reader.faults })
}

#[derive(Default)]
struct NodeConverter {
    faults: Vec<ytterby_kubernetes::Fault>,
    path: Vec<ytterby_diag::Step>,
}

impl NodeConverter {
    fn node(&mut self, node: OutputNode) -> Node {
        use ytterby_diag::Step;
        use ytterby_kubernetes::FaultKind;
        let pos = node.pos;
        if self.path.len() >= MAX_DEPTH {
            self.fault(FaultKind::Depth, pos);
            return Node { value: Value::Null, pos };
        }
        let value = match node.value {
            OutputValue::Scalar(Scalar::Float(value)) if !value.is_finite() => {
                self.fault(FaultKind::NotFinite, pos);
                Value::Null
            }
            OutputValue::Scalar(scalar) => scalar_value(&scalar),
            OutputValue::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    self.path.push(Step::Index(index));
                    list.push(self.node(item));
                    self.path.pop();
                }
                Value::List(list)
            }
            OutputValue::Map(items) => {
                let mut entries = Vec::with_capacity(items.len());
                for (key, item) in items {
                    let Some(key) = key_text(&key) else {
                        self.fault(FaultKind::Key, item.pos);
                        continue;
                    };
                    self.path.push(Step::Key(key.to_string()));
                    let node = self.node(item);
                    self.path.pop();
                    entries.push(Entry { key, node });
                }
                Value::Map(entries)
            }
        };
        Node { value, pos }
    }

    fn fault(&mut self, kind: ytterby_kubernetes::FaultKind, pos: ytterby_diag::Pos) {
        if self.faults.len() < 100 {
            self.faults.push(ytterby_kubernetes::Fault { kind, path: self.path.iter().cloned().collect(), pos });
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
        Scalar::Str(text) => Value::Str(Arc::from(&*text.to_str())),
    }
}
