//! External schemas: OpenAPI documents of a cluster, JSON Schemas of single kinds.
//!
//! An OpenAPI document (version 2 or 3, the output of `kubectl get --raw /openapi/v2`) names its
//! kinds by `x-kubernetes-group-version-kind`. A JSON Schema does not name its kind; its file name
//! does ([`crate::locations`]). Built-in kinds keep the built-in facts, which are more precise.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::compile::{Compiler, SchemaDialect};
use crate::crd::CustomKind;
use crate::document::{Node, Value};
use crate::facts::Gvk;
use crate::schema::SchemaId;

/// The kind of a document that was added as schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum AddedSchema {
    /// A CustomResourceDefinition.
    Definition,
    /// A ValidatingAdmissionPolicy.
    Policy,
    /// An OpenAPI document with this many kinds.
    OpenApi(usize),
    /// A JSON Schema, which does not name its kind.
    JsonSchema,
    /// Another object of Kubernetes, or something else.
    Other,
}

impl Catalog {
    /// Adds the kinds or policies of a document, depending on what it is.
    pub fn add(&mut self, root: &Arc<Node>) -> AddedSchema {
        if self.add_definition(root) {
            return AddedSchema::Definition;
        }
        if self.add_policy(root) {
            return AddedSchema::Policy;
        }
        if root.text("kind").is_some_and(|kind| kind.ends_with("List")) && root.get("items").is_some() {
            let mut last = AddedSchema::Other;
            for item in root.get("items").map(Node::items).unwrap_or_default() {
                last = match self.add(&Arc::new(item.clone())) {
                    AddedSchema::Other => last,
                    added => added,
                };
            }
            return last;
        }
        if root.get("swagger").is_some() || root.get("openapi").is_some() {
            let definitions = root.get("definitions").or_else(|| root.at(&["components", "schemas"]));
            return AddedSchema::OpenApi(definitions.map_or(0, |definitions| self.add_openapi(definitions)));
        }
        let is_schema = root.get("kind").and_then(Node::as_str).is_none()
            && ["properties", "$schema", "type", "oneOf", "anyOf", "$ref"].iter().any(|key| root.get(key).is_some());
        if is_schema { AddedSchema::JsonSchema } else { AddedSchema::Other }
    }

    /// Adds the kinds of an OpenAPI document; returns their number.
    fn add_openapi(&mut self, definitions: &Node) -> usize {
        let by_name: HashMap<&str, &Node> =
            definitions.entries().iter().map(|entry| (&*entry.key, &entry.node)).collect();
        let mut compiler = Compiler::new(by_name, SchemaDialect::OpenApi);
        let mut kinds: Vec<(Gvk, SchemaId)> = Vec::new();
        for entry in definitions.entries() {
            let names = entry.node.get("x-kubernetes-group-version-kind").map(Node::items).unwrap_or_default();
            // Definitions with several kinds are options and lists of events.
            let [name] = names else { continue };
            let text = |key: &str| name.text(key).unwrap_or_default().to_owned();
            let gvk = Gvk { group: text("group"), version: text("version"), kind: text("kind") };
            let is_known = self.knows(&gvk.api_version(), &gvk.kind);
            if !is_known && !gvk.kind.ends_with("List") {
                let id = compiler.schema(&entry.node);
                kinds.push((gvk, id));
            }
        }
        let count = kinds.len();
        let schemas = Arc::new(compiler.finish());
        for (gvk, root) in kinds {
            let plural = format!("{}s", gvk.kind.to_ascii_lowercase());
            let custom = CustomKind::of(schemas.clone(), root, plural);
            self.custom.insert(gvk, Arc::new(custom));
        }
        count
    }

    /// Adds the JSON Schema of one kind.
    pub fn add_json_schema(&mut self, gvk: Gvk, schema: &Node) {
        let definitions = schema.get("definitions").or_else(|| schema.get("$defs"));
        let by_name: HashMap<&str, &Node> =
            definitions.map(Node::entries).unwrap_or_default().iter().map(|e| (&*e.key, &e.node)).collect();
        let mut compiler = Compiler::new(by_name, SchemaDialect::OpenApi);
        let root = compiler.schema(schema);
        let plural = format!("{}s", gvk.kind.to_ascii_lowercase());
        let schemas = Arc::new(compiler.finish());
        let custom = CustomKind::of(schemas, root, plural);
        self.custom.insert(gvk, Arc::new(custom));
    }
}

/// The types of the objects in a document, including those of lists.
pub fn types_of(root: &Node) -> Vec<Gvk> {
    let mut found = Vec::new();
    collect(root, &mut found, 0);
    found
}

fn collect(root: &Node, found: &mut Vec<Gvk>, depth: usize) {
    if let (Some(api_version), Some(kind)) = (root.text("apiVersion"), root.text("kind")) {
        match root.get("items").map(|items| &items.value) {
            Some(Value::List(items)) if kind.ends_with("List") && depth < 10 => {
                items.iter().for_each(|item| collect(item, found, depth + 1));
            }
            _ => found.push(Gvk::of(api_version, kind)),
        }
    }
}
