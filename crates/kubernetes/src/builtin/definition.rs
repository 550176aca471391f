//! CustomResourceDefinitions: names, versions, structural schemas, compilation and cost of rules.
//!
//! Read from the top: `check` covers the definition itself, `Structure` decides whether a schema is
//! structural, and `RuleCosts` estimates rules as the server does, which refuses a schema whose
//! rules could take too long.

use std::collections::HashSet;

use ytterby_diag::Id;
use ytterby_regexp::Regexp;

use super::{Cx, each, with};
use crate::compile::Compiler;
use crate::document::{Node, Value};
use crate::names;
use crate::report::{At, FindingText};
use crate::rules::{self, Declarations};
use crate::schema::{Additional, SchemaId, Schemas};
use crate::structural;

/// Maximum estimated cost of all rules of a schema together.
const MAX_TOTAL_COST: u64 = 100_000_000;

/// Maximum estimated cost of one rule.
const MAX_RULE_COST: u64 = 10_000_000;

pub(super) fn check(cx: &mut Cx<'_>, root: &Node, spec: &Node, at: &At<'_>, spec_at: &At<'_>) {
    let group = spec.text("group").unwrap_or_default();
    let plural = spec.at(&["names", "plural"]).and_then(Node::as_str).unwrap_or_default();
    let expected = format!("{plural}.{group}");
    if let Some(metadata) = root.given("metadata")
        && let Some(name) = metadata.given("name").filter(|name| name.as_str() != Some(&expected))
        && !plural.is_empty()
        && !group.is_empty()
    {
        let here = at.key("metadata", metadata);
        cx.invalid(&here.key("name", name), name, &format!("must be plural and group: \"{expected}\""));
    }
    with(spec, spec_at, "group", |node, at| {
        cx.form_of(node, at, names::dns_subdomain);
        if !group.is_empty() && !group.contains('.') {
            cx.invalid(at, node, "must be a domain with at least one dot");
        }
    });
    if group.ends_with(".k8s.io") || group == "k8s.io" || group.ends_with(".kubernetes.io") || group == "kubernetes.io"
    {
        approval(cx, root, at);
    }
    with(spec, spec_at, "scope", |node, at| cx.one_of(node, at, &["Cluster", "Namespaced"]));
    with(spec, spec_at, "names", |names_node, at| {
        cx.filled(names_node, at, "plural");
        cx.filled(names_node, at, "kind");
        cx.form(names_node, at, "plural", names::dns1035_label);
        cx.form(names_node, at, "singular", names::dns1035_label);
        for key in ["kind", "listKind"] {
            with(names_node, at, key, |node, at| {
                let lower = node.as_str().unwrap_or_default().to_ascii_lowercase();
                if !lower.is_empty() && names::dns1035_label(&lower).is_some() {
                    cx.invalid(at, node, "must be letters, digits and '-', and begin with a letter");
                }
            });
        }
        for key in ["shortNames", "categories"] {
            each(names_node, at, key, |node, at| cx.item_form(node, at, names::dns1035_label));
        }
    });
    versions(cx, spec, spec_at);
    with(spec, spec_at, "conversion", |conversion, at| {
        with(conversion, at, "strategy", |node, at| cx.one_of(node, at, &["None", "Webhook"]));
        if conversion.text("strategy") == Some("Webhook") {
            match conversion.given("webhook") {
                None => cx.required(at, "webhook", "the strategy Webhook needs it"),
                Some(webhook) => {
                    let here = at.key("webhook", webhook);
                    if webhook.given("clientConfig").is_none() {
                        cx.required(&here, "clientConfig", "the strategy Webhook needs it");
                    }
                    if webhook.given("conversionReviewVersions").is_none_or(|list| list.items().is_empty()) {
                        cx.required(&here, "conversionReviewVersions", "there must be one at least");
                    }
                }
            }
        } else {
            with(conversion, at, "webhook", |_, at| cx.forbidden(at, "only the strategy Webhook has it"));
        }
    });
    if spec.get("preserveUnknownFields").and_then(Node::as_bool) == Some(true) {
        let node = spec.get("preserveUnknownFields").expect("it is given");
        cx.invalid(
            &spec_at.key("preserveUnknownFields", node),
            node,
            "must be false; use x-kubernetes-preserve-unknown-fields in the schema",
        );
    }
}

fn approval(cx: &mut Cx<'_>, root: &Node, at: &At<'_>) {
    const KEY: &str = "api-approved.kubernetes.io";
    let metadata = root.given("metadata");
    let metadata_at = metadata.map_or(at.missing("metadata"), |node| at.key("metadata", node));
    let annotations = metadata.and_then(|metadata| metadata.given("annotations"));
    let here = annotations.map_or(metadata_at.missing("annotations"), |node| metadata_at.key("annotations", node));
    match annotations.and_then(|annotations| annotations.get(KEY)) {
        None => cx.required(&here, KEY, "groups of Kubernetes are protected; only approved definitions may use them"),
        Some(node) => {
            let text = node.as_str().unwrap_or_default();
            let is_url = ytterby_text::url::parse(text.as_bytes())
                .is_ok_and(|url| !url.host().is_empty() && !url.scheme().is_empty());
            if !is_url && !text.starts_with("unapproved") {
                cx.invalid(&here.key(KEY, node), node, "must be the URL of the approval, or begin with \"unapproved\"");
            }
        }
    }
}

fn versions(cx: &mut Cx<'_>, spec: &Node, at: &At<'_>) {
    let list = spec.given("versions").map(Node::items).unwrap_or_default();
    let stored = list.iter().filter(|version| version.get("storage").and_then(Node::as_bool) == Some(true)).count();
    if stored != 1
        && let Some(node) = spec.given("versions")
    {
        cx.wrong(&at.key("versions", node), &format!("exactly one version must have storage: true; found {stored}"));
    }
    let mut seen = HashSet::new();
    each(spec, at, "versions", |version, at| {
        cx.filled(version, at, "name");
        cx.form(version, at, "name", names::dns1035_label);
        with(version, at, "deprecationWarning", |node, at| {
            if version.get("deprecated").and_then(Node::as_bool) != Some(true) {
                cx.forbidden(at, "only deprecated versions have it");
            } else if node.as_str().is_some_and(|text| text.trim().is_empty() || text.len() > 256) {
                cx.invalid(at, node, "must be a text of at most 256 bytes");
            }
        });
        if let Some(node) =
            version.get("name").filter(|node| node.as_str().is_some_and(|name| !seen.insert(name.to_owned())))
        {
            cx.duplicate(&at.key("name", node), node);
        }
        each(version, at, "additionalPrinterColumns", |column, at| {
            cx.filled(column, at, "name");
            with(column, at, "type", |node, at| {
                cx.one_of(node, at, &["boolean", "date", "integer", "number", "string"])
            });
            with(column, at, "format", |node, at| {
                cx.one_of(node, at, &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"]);
            });
            with(column, at, "jsonPath", |node, at| {
                if node.as_str().is_some_and(|path| !path.starts_with('.')) {
                    cx.invalid(at, node, "must begin with '.'");
                }
            });
        });
        with(version, at, "subresources", |subresources, at| {
            with(subresources, at, "scale", |scale, at| {
                with(scale, at, "labelSelectorPath", |node, at| {
                    let is_good = |path: &str| path.starts_with(".status.") || path.starts_with(".spec.");
                    if node.as_str().is_some_and(|path| !path.is_empty() && !is_good(path)) {
                        cx.invalid(at, node, "must begin with .spec. or .status.");
                    }
                });
                for (key, head) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
                    with(scale, at, key, |node, at| {
                        if node.as_str().is_some_and(|path| !path.starts_with(head)) {
                            cx.invalid(at, node, &format!("must begin with {head}"));
                        }
                    });
                }
            });
        });
        match version.at(&["schema", "openAPIV3Schema"]) {
            None => {
                let has_schema = version.given("schema").is_some();
                let schema_at = version.given("schema").map_or(at.missing("schema"), |node| at.key("schema", node));
                cx.required(
                    if has_schema { &schema_at } else { at },
                    if has_schema { "openAPIV3Schema" } else { "schema" },
                    "every version needs a schema",
                );
            }
            Some(raw) => {
                let schema = version.get("schema").expect("it has a schema");
                let here = at.key("schema", schema);
                schema_root(cx, raw, &here.key("openAPIV3Schema", raw));
            }
        }
    });
}

fn schema_root(cx: &mut Cx<'_>, raw: &Node, at: &At<'_>) {
    match raw.get("type") {
        None => cx.required(at, "type", "the root of a schema is an object"),
        Some(node) if node.as_str() != Some("object") => {
            cx.invalid(&at.key("type", node), node, "the root of a schema must be an object");
        }
        Some(_) => {}
    }
    let errors = cx.report.errors;
    let mut walk = Structure { cx };
    walk.node(raw, at, SchemaPosition::Root);
    // Types of rules come from the schema: they mean nothing where it is wrong.
    if cx.report.errors > errors || !has_rules(raw) {
        return;
    }
    let mut compiler = Compiler::of_crd();
    let id = compiler.schema(raw);
    let schemas = compiler.finish();
    let mut costs =
        RuleCosts { cx, schemas: &schemas, declarations: Declarations::new(&schemas, id), total: 0, costly: 0 };
    costs.node(raw, id, at, Some(1), true);
    if costs.total > MAX_TOTAL_COST && costs.costly == 0 {
        let total = costs.total;
        cx.report.error(Id::KUBERNETES_RULE_ERROR, at, || {
            FindingText::new(format!(
                "all rules together may cost up to {total}, more than the server allows: {MAX_TOTAL_COST}"
            ))
            .help("add maxItems, maxProperties and maxLength where lists, maps and texts are declared")
        });
    }
}

/// Whether a schema or one below it has rules.
fn has_rules(raw: &Node) -> bool {
    let below = |node: &Node| node.entries().iter().any(|entry| has_rules(&entry.node));
    raw.entries().iter().any(|entry| match &*entry.key {
        "x-kubernetes-validations" => true,
        "properties" => below(&entry.node),
        "items" | "additionalProperties" => has_rules(&entry.node),
        _ => false,
    })
}

/// Where a schema is: some of its keywords are allowed only in some places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SchemaPosition {
    Root,
    Node,
    /// Inside `allOf`, `anyOf`, `oneOf` or `not`.
    Nested,
}

impl SchemaPosition {
    /// The position of properties and items.
    fn below(self) -> SchemaPosition {
        if self == SchemaPosition::Nested { SchemaPosition::Nested } else { SchemaPosition::Node }
    }
}

const ITEMS_NEEDED: &str = "an array needs a schema of its items";

/// Whether a keyword is allowed everywhere and needs no check but those of types, properties and
/// items.
fn is_usual(keyword: &[u8]) -> bool {
    matches!(
        keyword,
        b"type"
            | b"description"
            | b"format"
            | b"properties"
            | b"items"
            | b"required"
            | b"enum"
            | b"title"
            | b"minimum"
            | b"maximum"
            | b"minLength"
            | b"maxLength"
            | b"minItems"
            | b"maxItems"
    )
}

struct Structure<'a, 'r> {
    cx: &'a mut Cx<'r>,
}

impl Structure<'_, '_> {
    fn node(&mut self, raw: &Node, at: &At<'_>, place: SchemaPosition) {
        if self.cx.report.is_done() || !matches!(raw.value, Value::Map(_)) {
            return;
        }
        let flag = |key: &str| raw.get(key).and_then(Node::as_bool) == Some(true);
        let kind = raw.text("type").unwrap_or_default();
        let (preserves, int_or_string) =
            (flag("x-kubernetes-preserve-unknown-fields"), flag("x-kubernetes-int-or-string"));
        if !kind.is_empty() {
            const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
            let node = raw.get("type").expect("it is a text");
            self.cx.one_of(node, &at.key("type", node), &TYPES);
        } else if place == SchemaPosition::Node && !preserves && !int_or_string {
            self.cx.required(at, "type", "every schema outside of allOf, anyOf, oneOf and not needs one");
        }
        // The checks below look up other keywords, which takes time, and most schemas have none of
        // them.
        if raw.entries().iter().all(|entry| is_usual(entry.key.as_bytes())) {
            if kind == "array" && place != SchemaPosition::Nested && raw.given("items").is_none() {
                self.cx.required(at, "items", ITEMS_NEEDED);
            }
            return self.below_usual(raw, at, place);
        }
        self.forbidden_keywords(raw, at);
        let properties = raw.given("properties");
        if let Some(node) = raw.given("additionalProperties") {
            let here = at.key("additionalProperties", node);
            if node.as_bool() == Some(false) {
                self.cx
                    .forbidden(&here, "additionalProperties cannot be false; what is not declared is dropped anyway");
            } else if properties.is_some_and(|properties| !properties.entries().is_empty()) {
                self.cx.forbidden(&here, "a schema has either properties or additionalProperties");
            }
        }
        if kind == "array" && place != SchemaPosition::Nested && raw.given("items").is_none() {
            self.cx.required(at, "items", ITEMS_NEEDED);
        }
        with(raw, at, "pattern", |node, at| {
            if let Some(Err(error)) = node.as_str().map(|pattern| Regexp::new(pattern.as_bytes())) {
                self.cx.invalid(at, node, &format!("the pattern is malformed: {error}"));
            }
        });
        self.lists(raw, at);
        if place == SchemaPosition::Nested {
            for key in [
                "default",
                "nullable",
                "x-kubernetes-preserve-unknown-fields",
                "x-kubernetes-embedded-resource",
                "x-kubernetes-int-or-string",
                "x-kubernetes-validations",
            ] {
                with(raw, at, key, |_, at| {
                    self.cx.forbidden(at, &format!("{key} cannot be used inside of allOf, anyOf, oneOf and not"))
                });
            }
            // `anyOf: [{type: integer}, {type: string}]` is the usual form of int-or-string.
        }
        if place != SchemaPosition::Nested {
            with(raw, at, "default", |default, at| self.default(raw, default, at));
        }
        self.below(raw, at, place);
    }

    fn forbidden_keywords(&mut self, raw: &Node, at: &At<'_>) {
        for key in [
            "$ref",
            "definitions",
            "dependencies",
            "patternProperties",
            "deprecated",
            "discriminator",
            "id",
            "readOnly",
            "writeOnly",
            "xml",
            "$schema",
            "additionalItems",
        ] {
            with(raw, at, key, |node, at| {
                let is_empty = node.as_str() == Some("") || matches!(&node.value, Value::Map(map) if map.is_empty());
                let is_empty = is_empty && key != "$ref" && key != "dependencies";
                if !is_empty {
                    self.cx.forbidden(at, &format!("{key} cannot be used in a definition"));
                }
            });
        }
        if raw.get("uniqueItems").and_then(Node::as_bool) == Some(true) {
            let node = raw.get("uniqueItems").expect("it is true");
            self.cx
                .forbidden(&at.key("uniqueItems", node), "uniqueItems cannot be true; use x-kubernetes-list-type: set");
        }
    }

    fn below(&mut self, raw: &Node, at: &At<'_>, place: SchemaPosition) {
        self.below_usual(raw, at, place);
        with(raw, at, "additionalProperties", |node, at| self.items(node, at, place));
        for key in ["allOf", "anyOf", "oneOf"] {
            each(raw, at, key, |node, at| self.node(node, at, SchemaPosition::Nested));
        }
        with(raw, at, "not", |node, at| self.node(node, at, SchemaPosition::Nested));
    }

    fn items(&mut self, node: &Node, at: &At<'_>, place: SchemaPosition) {
        if node.items().is_empty() {
            self.node(node, at, place.below());
        } else {
            self.cx.forbidden(at, "items must be one schema, not a list of them");
        }
    }

    /// Properties and items.
    fn below_usual(&mut self, raw: &Node, at: &At<'_>, place: SchemaPosition) {
        let inner = place.below();
        if let Some(properties) = raw.given("properties") {
            let here = at.key("properties", properties);
            for entry in properties.entries() {
                let is_meta =
                    place == SchemaPosition::Root && ["apiVersion", "kind", "metadata"].contains(&&*entry.key);
                let property_at = here.entry(entry);
                if is_meta && entry.key == "metadata" {
                    self.metadata(&entry.node, &property_at);
                } else if entry.node.is_null() && inner == SchemaPosition::Node {
                    self.cx.required(&property_at, "type", "every schema needs one");
                } else {
                    self.node(&entry.node, &property_at, inner);
                }
            }
        }
        with(raw, at, "items", |node, at| self.items(node, at, place));
    }

    /// The schema of `metadata` may only restrict names.
    fn metadata(&mut self, raw: &Node, at: &At<'_>) {
        with(raw, at, "properties", |properties, at| {
            for entry in properties.entries() {
                if !["name", "generateName"].contains(&&*entry.key) {
                    self.cx.forbidden(
                        &at.key(&entry.key, &entry.node),
                        "the schema of metadata can restrict name and generateName only",
                    );
                }
            }
        });
    }

    fn lists(&mut self, raw: &Node, at: &At<'_>) {
        let list_type = raw.text("x-kubernetes-list-type");
        if let Some(node) = raw.get("x-kubernetes-list-type") {
            let here = at.key("x-kubernetes-list-type", node);
            self.cx.one_of(node, &here, &["atomic", "set", "map"]);
            if raw.text("type") != Some("array") {
                self.cx.invalid(&here, node, "only arrays have a list type");
            }
        }
        let keys = raw.given("x-kubernetes-list-map-keys").map(Node::items).unwrap_or_default();
        let items = raw.given("items");
        match list_type {
            Some("map") if keys.is_empty() => {
                self.cx.required(at, "x-kubernetes-list-map-keys", "a list of type map needs the keys of its items");
            }
            Some("map") => {
                let properties = items.and_then(|items| items.given("properties"));
                let required: Vec<&str> = items
                    .and_then(|items| items.given("required"))
                    .map(Node::items)
                    .unwrap_or_default()
                    .iter()
                    .filter_map(Node::as_str)
                    .collect();
                each(raw, at, "x-kubernetes-list-map-keys", |key, at| {
                    let name = key.as_str().unwrap_or_default();
                    match properties.and_then(|properties| properties.get(name)) {
                        None => self.cx.invalid(at, key, "must be a property of the items"),
                        Some(property) if property.get("default").is_none() && !required.contains(&name) => {
                            self.cx.wrong(at, "a key of items must be required or have a default");
                        }
                        Some(_) => {}
                    }
                });
            }
            Some("set") => {
                if let Some(items) = items {
                    let here = at.key("items", items);
                    let is_atomic = match items.text("type") {
                        Some("object") => items.text("x-kubernetes-map-type") == Some("atomic"),
                        Some("array") => matches!(items.text("x-kubernetes-list-type"), None | Some("atomic")),
                        _ => true,
                    };
                    if !is_atomic {
                        self.cx.required(&here, "x-kubernetes-map-type", "items of a set must be atomic");
                    }
                }
            }
            _ => {
                with(raw, at, "x-kubernetes-list-map-keys", |_, at| {
                    self.cx.forbidden(at, "only lists of type map have keys");
                });
            }
        }
        with(raw, at, "x-kubernetes-map-type", |node, at| self.cx.chosen(node, at, &["atomic", "granular"]));
    }

    /// A default must be valid for its own schema and rules, before nested defaults are applied.
    fn default(&mut self, raw: &Node, default: &Node, at: &At<'_>) {
        let mut compiler = Compiler::of_crd();
        let id = compiler.schema(raw);
        let mut schemas = compiler.finish();
        structural::prune(&schemas, default, id, at, false, self.cx.report);
        let errors = self.cx.report.errors;
        structural::Validator::new(&schemas, self.cx.report).check(default, id, at);
        if self.cx.report.errors == errors {
            rules::compile_all(&mut schemas, id);
            rules::check_value(default, &schemas, id, at, self.cx.report);
        }
    }
}

struct RuleCosts<'a, 'r, 's> {
    cx: &'a mut Cx<'r>,
    schemas: &'s Schemas,
    declarations: Declarations<'s>,
    total: u64,
    /// The number of rules that are too costly by themselves.
    costly: usize,
}

impl RuleCosts<'_, '_, '_> {
    /// `count` values of a schema can be in one object, `None` below a list or map without a bound;
    /// `correlates` where each has a previous one.
    fn node(&mut self, raw: &Node, id: SchemaId, at: &At<'_>, count: Option<u64>, correlates: bool) {
        let schema = self.schemas.get(id);
        if raw.given("x-kubernetes-validations").is_some() {
            let of = self.declarations.of(id);
            each(raw, at, "x-kubernetes-validations", |rule, at| {
                let compiled = rules::compile(rule, of.as_ref());
                for fault in &compiled.faults {
                    let here = rule.get(fault.key).map_or(at.missing(fault.key), |node| at.key(fault.key, node));
                    self.cx.report.error(fault.id, &here, || FindingText::new(fault.message.clone()));
                }
                // Lists without bounds inside each other are not multiplied: all of it fits into
                // one request.
                let count = count.unwrap_or_else(|| rules::most_values(self.schemas, id));
                self.rule(rule, at, &compiled, count, correlates, id);
            });
        }
        if let Some(properties) = raw.given("properties") {
            let here = at.key("properties", properties);
            for entry in properties.entries() {
                if let Some(field) = schema.field(&entry.key) {
                    self.node(&entry.node, field, &here.key(&entry.key, &entry.node), count, correlates);
                }
            }
        }
        let bounded = |key: &str| {
            let most = raw.given(key).and_then(Node::as_int)?;
            Some(count?.saturating_mul(u64::try_from(most).unwrap_or(0)))
        };
        if let (Some(items), Some(of)) = (raw.given("items"), schema.items) {
            let is_map = raw.text("x-kubernetes-list-type") == Some("map");
            self.node(items, of, &at.key("items", items), bounded("maxItems"), correlates && is_map);
        }
        if let (Some(values), Additional::Of(of)) = (raw.given("additionalProperties"), schema.additional) {
            let here = at.key("additionalProperties", values);
            self.node(values, of, &here, bounded("maxProperties"), correlates);
        }
    }

    fn rule(
        &mut self,
        rule: &Node,
        at: &At<'_>,
        compiled: &rules::CompiledRule,
        count: u64,
        correlates: bool,
        id: SchemaId,
    ) {
        let here = rule.get("rule").map_or(at.missing("rule"), |node| at.key("rule", node));
        let cost = compiled.cost.saturating_mul(count);
        self.total = self.total.saturating_add(cost);
        if cost > MAX_RULE_COST {
            self.costly += 1;
            let times = cost.checked_div(MAX_RULE_COST).unwrap_or(1);
            self.cx.report.error(Id::KUBERNETES_RULE_ERROR, &here, || {
                let times = if times > 100 { "more than 100".to_owned() } else { format!("{times}") };
                FindingText::new(format!("the rule can cost {times} times as much as the server allows"))
                    .help("simplify it, or add maxItems, maxProperties and maxLength where lists, maps and texts are declared")
            });
        }
        if compiled.uses_old && !correlates {
            self.cx.report.error(Id::KUBERNETES_RULE_ERROR, &here, || {
                FindingText::new("oldSelf cannot be used here: items of this list have no previous ones")
                    .help("make the list one of type map, with keys")
            });
        }
        with(rule, at, "reason", |node, at| {
            let reasons = ["FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid", "FieldValueDuplicate"];
            self.cx.one_of(node, at, &reasons);
        });
        with(rule, at, "fieldPath", |node, at| {
            let text = node.as_str().unwrap_or_default();
            let steps = rules::field_path(text).filter(|steps| !steps.is_empty());
            let resolves = steps.is_some_and(|steps| {
                let mut here = Some(id);
                for step in &steps {
                    here = here.and_then(|id| self.schemas.get(id).property(step));
                }
                here.is_some()
            });
            if !resolves {
                self.cx.invalid(at, node, "must be the path of a field below, such as .spec.name");
            }
        });
    }
}
