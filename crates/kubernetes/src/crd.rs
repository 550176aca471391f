//! CustomResourceDefinitions: compiles each served version to a kind.

use std::sync::{Arc, OnceLock};

use crate::catalog::Catalog;
use crate::compile::Compiler;
use crate::document::Node;
use crate::facts::Gvk;
use crate::rules;
use crate::schema::{Schema, SchemaId, Schemas, ValueType};

/// A custom kind.
#[derive(Debug)]
pub(crate) struct CustomKind {
    pub namespaced: bool,
    pub plural: String,
    /// Whether the server drops `status` when an object is created.
    pub drops_status: bool,
    /// Its definition, and the number of its version in it; absent where the schema is compiled
    /// from the beginning.
    source: Option<(Arc<Node>, usize)>,
    compiled: OnceLock<CompiledKind>,
}

/// The checks for objects of a custom kind.
#[derive(Debug)]
pub(crate) struct CompiledKind {
    pub schemas: Arc<Schemas>,
    pub root: SchemaId,
    /// Whether there is an embedded resource somewhere.
    pub has_embedded: bool,
}

impl CustomKind {
    /// A kind whose schema is compiled already.
    pub fn of(schemas: Arc<Schemas>, root: SchemaId, plural: String) -> CustomKind {
        let compiled = CompiledKind { schemas, root, has_embedded: false };
        CustomKind { namespaced: true, plural, drops_status: false, source: None, compiled: compiled.into() }
    }

    /// Compiled when the first object needs it: the output of a package has many definitions and
    /// few objects of their kinds.
    pub fn compiled(&self) -> &CompiledKind {
        self.compiled.get_or_init(|| compile(self.schema()))
    }
}

impl CustomKind {
    /// The schema as its definition has it; absent where anything goes.
    pub fn schema(&self) -> Option<&Node> {
        let (root, version) = self.source.as_ref()?;
        let spec = root.given("spec")?;
        let version = spec.given("versions")?.items().get(*version)?;
        // Older definitions have one schema for all versions.
        version.at(&["schema", "openAPIV3Schema"]).or(spec.at(&["validation", "openAPIV3Schema"]))
    }
}

impl Catalog {
    /// Adds the kinds of a CustomResourceDefinition; returns whether this is one.
    pub fn add_definition(&mut self, root: &Arc<Node>) -> bool {
        let group = root.text("apiVersion").and_then(|version| version.split_once('/')).map(|(group, _)| group);
        if root.text("kind") != Some("CustomResourceDefinition") || group != Some("apiextensions.k8s.io") {
            return false;
        }
        let Some(spec) = root.given("spec") else { return true };
        let text = |path: &[&str]| spec.at(path).and_then(Node::as_str).unwrap_or_default().to_owned();
        let (group, kind, plural) = (text(&["group"]), text(&["names", "kind"]), text(&["names", "plural"]));
        let namespaced = text(&["scope"]) != "Cluster";
        for (at, version) in spec.given("versions").map(Node::items).unwrap_or_default().iter().enumerate() {
            if version.get("served").and_then(Node::as_bool) != Some(true) {
                continue;
            }
            let has_status = |of: &Node| of.at(&["subresources"]).is_some_and(|sub| sub.get("status").is_some());
            let drops_status = has_status(version) || has_status(spec);
            let name = version.text("name").unwrap_or_default().to_owned();
            let gvk = Gvk { group: group.clone(), version: name, kind: kind.clone() };
            let source = Some((root.clone(), at));
            let custom =
                CustomKind { namespaced, plural: plural.clone(), drops_status, source, compiled: OnceLock::new() };
            self.custom.insert(gvk, Arc::new(custom));
        }
        true
    }
}

fn compile(schema: Option<&Node>) -> CompiledKind {
    let mut compiler = Compiler::of_crd();
    let root = match schema {
        Some(schema) => compiler.schema(schema),
        None => compiler.schemas.add(Schema { preserve: true, ..Schema::of(ValueType::Any) }),
    };
    let mut schemas = compiler.finish();
    rules::compile_all(&mut schemas, root);
    let has_embedded = (0..schemas.len() as u32).any(|id| schemas.get(SchemaId(id)).embedded);
    CompiledKind { schemas: Arc::new(schemas), root, has_embedded }
}
