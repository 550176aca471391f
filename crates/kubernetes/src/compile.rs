//! Compiles schemas (of a CRD, of OpenAPI, of JSON Schema).
//!
//! The three dialects differ little: CRDs have no `$ref` and drop undeclared fields; OpenAPI
//! documents and JSON Schemas refer to definitions, each of which is compiled once.

use std::collections::HashMap;
use std::sync::Arc;

use ytterby_regexp::Regexp;

use crate::document::{Node, Value};
use crate::rules::CelRule;
use crate::schema::{Additional, Constraints, ListType, NumberBound, Property, Schema, SchemaId, Schemas, ValueType};

/// Compiles the schemas of a document.
pub(crate) struct Compiler<'d> {
    pub schemas: Schemas,
    /// Definitions by name.
    definitions: HashMap<&'d str, &'d Node>,
    compiled: HashMap<&'d str, SchemaId>,
    dialect: SchemaDialect,
    /// Schemas to be compiled: a queue instead of recursion through references.
    queue: Vec<(&'d str, SchemaId)>,
}

/// The meaning of an object without `additionalProperties`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaDialect {
    /// Undeclared fields are unknown.
    Crd,
    /// The same, but an object without declared fields allows anything.
    OpenApi,
}

impl<'d> Compiler<'d> {
    /// For the schema of a CRD.
    pub fn of_crd() -> Compiler<'d> {
        Compiler::new(HashMap::new(), SchemaDialect::Crd)
    }

    /// For an OpenAPI document or a JSON Schema with these definitions.
    pub fn new(definitions: HashMap<&'d str, &'d Node>, dialect: SchemaDialect) -> Compiler<'d> {
        Compiler { schemas: Schemas::new(), definitions, compiled: HashMap::new(), dialect, queue: Vec::new() }
    }

    /// Compiles a schema and all schemas that it refers to.
    pub fn schema(&mut self, node: &'d Node) -> SchemaId {
        let id = self.node(node);
        while let Some((name, target)) = self.queue.pop() {
            let definition = self.definitions[name];
            let schema = self.content(definition);
            *self.schemas.get_mut(target) = schema;
        }
        id
    }

    /// All schemas.
    pub fn finish(mut self) -> Schemas {
        mark(&mut self.schemas);
        self.schemas
    }

    fn node(&mut self, node: &'d Node) -> SchemaId {
        if let Some(reference) = node.text("$ref") {
            return self.reference(reference);
        }
        // `allOf: [{$ref: …}]` is OpenAPI v3's form of a reference with a default or description.
        if let Some([only]) = node.get("allOf").map(Node::items)
            && only.text("$ref").is_some()
            && node.get("type").is_none()
        {
            return self.node(only);
        }
        let schema = self.content(node);
        self.schemas.add(schema)
    }

    fn reference(&mut self, reference: &'d str) -> SchemaId {
        let mut name = definition_name(reference);
        // Follow definitions that only refer to others; a cycle of those allows anything.
        for _ in 0..100 {
            match self.definitions.get(name).and_then(|node| node.text("$ref")) {
                Some(next) => name = definition_name(next),
                None => break,
            }
        }
        if let Some(id) = self.compiled.get(name) {
            return *id;
        }
        if let Some(kind) = well_known(name) {
            return Schemas::primitive(kind);
        }
        let id = self.schemas.add(Schema { nullable: true, ..Schema::of(ValueType::Any) });
        let Some((name, node)) = self.definitions.get_key_value(name) else { return id };
        self.compiled.insert(name, id);
        if node.text("$ref").is_none() {
            self.queue.push((name, id));
        }
        id
    }

    fn content(&mut self, node: &'d Node) -> Schema {
        let is_true = |key: &str| node.get(key).and_then(Node::as_bool) == Some(true);
        let (kind, nullable) = kind_of(node);
        let mut schema = Schema::of(kind);
        schema.nullable = nullable || is_true("nullable");
        schema.preserve = is_true("x-kubernetes-preserve-unknown-fields");
        schema.embedded = is_true("x-kubernetes-embedded-resource");
        if is_true("x-kubernetes-int-or-string") {
            schema.kind = ValueType::IntOrString;
        }
        for entry in node.get("properties").map(Node::entries).unwrap_or_default() {
            let id = self.node(&entry.node);
            schema.fields.push(Property { name: (*entry.key).into(), schema: id });
        }
        schema.fields.sort_by(|a, b| a.name.cmp(&b.name));
        schema.additional = match node.get("additionalProperties") {
            Some(value) => match value.as_bool() {
                Some(true) => Additional::Any,
                Some(false) => Additional::No,
                None => Additional::Of(self.node(value)),
            },
            // In OpenAPI, an object without properties allows any keys.
            None if schema.preserve || schema.kind == ValueType::Any => Additional::Any,
            None if self.dialect == SchemaDialect::Crd || !schema.fields.is_empty() => Additional::No,
            None => Additional::Any,
        };
        if schema.preserve && schema.additional == Additional::Any && !schema.fields.is_empty() {
            schema.additional = Additional::No;
        }
        if let Some(items) = node.get("items") {
            schema.items = Some(match items.items().first() {
                Some(first) => self.node(first),
                None => self.node(items),
            });
        }
        let strings = |key: &str| -> Vec<Arc<str>> {
            node.get(key)
                .map(Node::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|v| v.as_str().map(Arc::from))
                .collect()
        };
        schema.required = strings("required");
        schema.list = match node.text("x-kubernetes-list-type") {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(strings("x-kubernetes-list-map-keys")),
            _ => ListType::Atomic,
        };
        schema.enumeration = node.get("enum").map(Node::items).unwrap_or_default().iter().map(plain).collect();
        schema.default = node.given("default").map(plain);
        schema.rules =
            node.get("x-kubernetes-validations").map(Node::items).unwrap_or_default().iter().map(CelRule::of).collect();
        let limits = self.limits(node);
        schema.limits = limits.map(Box::new);
        schema
    }

    fn limits(&mut self, node: &'d Node) -> Option<Constraints> {
        let number = |key: &str| match node.get(key).map(|node| &node.value) {
            Some(Value::Int(value)) => Some(*value as f64),
            Some(Value::UInt(value)) => Some(*value as f64),
            Some(Value::Float(value)) => Some(*value),
            _ => None,
        };
        let size = |key: &str| node.get(key).and_then(Node::as_int).and_then(|value| u64::try_from(value).ok());
        let flag = |key: &str| node.get(key).and_then(Node::as_bool) == Some(true);
        // Draft 4 and OpenAPI have a flag beside the bound, later drafts a separate bound.
        let bound = |key: &str, exclusive: &str| match (number(key), number(exclusive)) {
            (_, Some(value)) => Some(NumberBound { value, exclusive: true }),
            (Some(value), None) => Some(NumberBound { value, exclusive: flag(exclusive) }),
            (None, None) => None,
        };
        let pattern = node.text("pattern").filter(|pattern| !pattern.is_empty()).and_then(|pattern| {
            let regexp = Regexp::new(pattern.as_bytes()).ok()?;
            Some((pattern.to_owned(), regexp))
        });
        let mut parts = |key: &str| -> Vec<SchemaId> {
            node.get(key).map(Node::items).unwrap_or_default().iter().map(|part| self.node(part)).collect()
        };
        let (all_of, any_of, one_of) = (parts("allOf"), parts("anyOf"), parts("oneOf"));
        let not = node.given("not").map(|not| self.node(not));
        let limits = Constraints {
            minimum: bound("minimum", "exclusiveMinimum"),
            maximum: bound("maximum", "exclusiveMaximum"),
            multiple_of: number("multipleOf").filter(|value| *value != 0.0),
            min_length: size("minLength"),
            max_length: size("maxLength"),
            min_items: size("minItems"),
            max_items: size("maxItems"),
            min_properties: size("minProperties"),
            max_properties: size("maxProperties"),
            unique_items: flag("uniqueItems"),
            pattern,
            format: node.text("format").map(str::to_owned),
            all_of,
            any_of,
            one_of,
            not,
        };
        let is_empty = limits.minimum.is_none()
            && limits.maximum.is_none()
            && limits.multiple_of.is_none()
            && limits.min_length.is_none()
            && limits.max_length.is_none()
            && limits.min_items.is_none()
            && limits.max_items.is_none()
            && limits.min_properties.is_none()
            && limits.max_properties.is_none()
            && !limits.unique_items
            && limits.pattern.is_none()
            && limits.format.is_none()
            && limits.all_of.is_empty()
            && limits.any_of.is_empty()
            && limits.one_of.is_empty()
            && limits.not.is_none();
        (!is_empty).then_some(limits)
    }
}

/// The value without its positions, which belong to another document.
pub(crate) fn plain(node: &Node) -> Value {
    match &node.value {
        Value::List(items) => Value::List(items.iter().map(|item| Node::new(plain(item))).collect()),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|entry| crate::document::MapEntry { key: entry.key.clone(), node: Node::new(plain(&entry.node)) })
                .collect(),
        ),
        other => other.clone(),
    }
}

/// The type of a schema, and whether null is allowed.
fn kind_of(node: &Node) -> (ValueType, bool) {
    let Some(kind) = node.get("type") else { return (ValueType::Any, false) };
    if let Some(name) = kind.as_str() {
        return (kind_named(name), false);
    }
    let names: Vec<&str> = kind.items().iter().filter_map(Node::as_str).collect();
    let nullable = names.contains(&"null");
    let others: Vec<&str> = names.into_iter().filter(|name| *name != "null").collect();
    match others[..] {
        [only] => (kind_named(only), nullable),
        ["string", "integer"] | ["integer", "string"] => (ValueType::IntOrString, nullable),
        _ => (ValueType::Any, true),
    }
}

fn kind_named(name: &str) -> ValueType {
    match name {
        "object" => ValueType::Object,
        "array" => ValueType::Array,
        "string" => ValueType::String,
        "integer" => ValueType::Integer,
        "number" => ValueType::Number,
        "boolean" => ValueType::Boolean,
        _ => ValueType::Any,
    }
}

/// Definitions of Kubernetes for which the server is stricter than their types.
fn well_known(name: &str) -> Option<ValueType> {
    let short = name.strip_prefix("io.k8s.apimachinery.pkg.")?;
    Some(match short {
        "api.resource.Quantity" => ValueType::Quantity,
        "util.intstr.IntOrString" => ValueType::IntOrString,
        "runtime.RawExtension" => ValueType::Any,
        _ => return None,
    })
}

/// The last part of `#/definitions/x`, `#/components/schemas/x` or
/// `_definitions.json#/definitions/x`.
fn definition_name(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or(reference)
}

/// Marks schemas that have defaults below, so that searches for them can stop early.
fn mark(schemas: &mut Schemas) {
    // References can form cycles, so marks are propagated until nothing changes; schemas of CRDs
    // are trees whose children come first and need one round.
    loop {
        let mut changed = false;
        for at in 0..schemas.len() as u32 {
            let id = SchemaId(at);
            let schema = schemas.get(id);
            let is_below = |id: &SchemaId| schemas.get(*id).default.is_some() || schemas.get(*id).has_defaults;
            let children =
                schema.fields.iter().map(|field| field.schema).chain(schema.items).chain(match schema.additional {
                    Additional::Of(id) => Some(id),
                    _ => None,
                });
            let has_defaults = schema.has_defaults || children.collect::<Vec<_>>().iter().any(is_below);
            if has_defaults != schema.has_defaults {
                schemas.get_mut(id).has_defaults = true;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}
