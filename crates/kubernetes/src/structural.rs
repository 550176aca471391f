//! Custom resources: pruning, defaults, and structural validation, in the server's order.
//!
//! [`prune`] finds unknown fields. [`prepared`] drops nulls and applies defaults. [`Validator`]
//! then checks values against the schema. Rules are evaluated later, and only if no error prevents
//! them: see [`Validator::blocks_rules`].

use std::cell::Cell;
use std::collections::HashSet;
use std::rc::Rc;

use ytterby_diag::{Id, Text};

use crate::document::{MapEntry, Node, Value, whole};
use crate::native::{one_of, required, unknown_field};
use crate::report::{At, CheckFindings, FindingText};
use crate::scalars::has_format;
use crate::schema::{Additional, Constraints, ListType, NumberBound, Schema, SchemaId, Schemas, ValueType};

/// Reports undeclared fields. `metadata` and the type of embedded resources are checked elsewhere.
pub(crate) fn prune(
    schemas: &Schemas,
    node: &Node,
    id: SchemaId,
    at: &At<'_>,
    is_root: bool,
    report: &mut CheckFindings,
) {
    let schema = schemas.get(id);
    match &node.value {
        Value::Map(entries) => {
            for entry in entries {
                if (is_root || schema.embedded) && ["apiVersion", "kind", "metadata"].contains(&&*entry.key) {
                    continue;
                }
                let here = at.key(&entry.key, &entry.node);
                match (schema.field(&entry.key), schema.additional) {
                    (Some(field), _) | (None, Additional::Of(field)) => {
                        prune(schemas, &entry.node, field, &here, false, report);
                    }
                    (None, Additional::Any) => {}
                    (None, Additional::No) if schema.preserve => {}
                    (None, Additional::No) => {
                        unknown_field(report, schema, &entry.key, &here);
                    }
                }
            }
        }
        Value::List(items) => {
            if let Some(of) = schema.items {
                for (index, item) in items.iter().enumerate() {
                    prune(schemas, item, of, &at.index(index, item), false, report);
                }
            }
        }
        _ => {}
    }
}

/// Removes nulls that are not allowed, and applies defaults.
pub(crate) fn prepared(schemas: &Schemas, node: &mut Node, id: SchemaId) {
    let schema = schemas.get(id);
    match &mut node.value {
        Value::Map(entries) => {
            entries.retain(|entry| {
                let field = schema.property(&entry.key).map(|field| schemas.get(field));
                let is_dropped =
                    entry.node.is_null() && field.is_some_and(|field| !field.nullable && field.kind != ValueType::Any);
                !is_dropped
            });
            if schema.has_defaults {
                for field in &schema.fields {
                    let declared = schemas.get(field.schema);
                    if let Some(default) = &declared.default
                        && !entries.iter().any(|entry| entry.key == *field.name)
                    {
                        entries.push(MapEntry { key: (*field.name).into(), node: Node::new(default.clone()) });
                    }
                }
            }
            for entry in entries {
                if let Some(field) = schema.property(&entry.key) {
                    prepared(schemas, &mut entry.node, field);
                }
            }
        }
        Value::List(items) => {
            if let Some(of) = schema.items {
                items.iter_mut().for_each(|item| prepared(schemas, item, of));
            }
        }
        _ => {}
    }
}

/// Checks values against a schema.
pub(crate) struct Validator<'a> {
    schemas: &'a Schemas,
    report: &'a mut CheckFindings,
    /// The current nesting of schemas: combinations can refer to themselves.
    nested: usize,
    /// The number of schemas that may still be visited; shared with checks inside combinations.
    budget: Rc<Cell<u32>>,
    /// Whether there was an error after which the server evaluates no rules: wrong types, missing
    /// fields, enums, sizes.
    pub blocks_rules: bool,
}

/// Maximum schemas visited for one document; each takes well below a microsecond.
const MAX_STEPS: u32 = 20_000_000;

/// Marks an exhausted budget that was already reported.
const EXHAUSTED: u32 = u32::MAX;

/// Maximum nesting of schemas; documents are less deep.
const MAX_NESTED: usize = 1000;

impl<'a> Validator<'a> {
    pub fn new(schemas: &'a Schemas, report: &'a mut CheckFindings) -> Validator<'a> {
        Validator { schemas, report, nested: 0, budget: Rc::new(Cell::new(MAX_STEPS)), blocks_rules: false }
    }

    /// Whether a value is valid, without reasons.
    fn is_valid(&self, node: &Node, id: SchemaId) -> bool {
        let mut report = CheckFindings::quick();
        let (schemas, nested, budget) = (self.schemas, self.nested, self.budget.clone());
        let mut inner = Validator { schemas, report: &mut report, nested, budget, blocks_rules: false };
        inner.check(node, id, &At::root(node.pos));
        report.errors == 0 && self.budget.get() != EXHAUSTED
    }

    pub fn check(&mut self, node: &Node, id: SchemaId, at: &At<'_>) {
        if self.report.is_done() {
            return;
        }
        let left = self.budget.get();
        if left == 0 || self.nested > MAX_NESTED {
            if left != EXHAUSTED {
                self.budget.set(EXHAUSTED);
                self.block(Id::KUBERNETES_LIMIT, at, || FindingText::new("the schema refers to itself without end"));
            }
            return;
        }
        if left == EXHAUSTED {
            return;
        }
        self.budget.set(left - 1);
        self.nested += 1;
        self.visit(node, id, at);
        self.nested -= 1;
    }

    fn visit(&mut self, node: &Node, id: SchemaId, at: &At<'_>) {
        let schema = self.schemas.get(id);
        if node.is_null() {
            if !schema.nullable && schema.kind != ValueType::Any {
                self.block(Id::KUBERNETES_TYPE, at, || FindingText::wrong_type(schema.kind.name(), node));
            }
            return;
        }
        if matches!((schema.kind, &node.value), (ValueType::Integer, Value::UInt(_))) {
            self.block(Id::KUBERNETES_TYPE, at, || FindingText::of_value("the number does not fit into 64 bits", node));
            return;
        }
        if !fits(schema.kind, &node.value) {
            self.block(Id::KUBERNETES_TYPE, at, || FindingText::wrong_type(schema.kind.name(), node));
            return;
        }
        if !schema.enumeration.is_empty() && !schema.enumeration.iter().any(|value| value.same(&node.value)) {
            self.block(Id::KUBERNETES_ENUM, at, || one_of(&schema.enumeration, node));
        }
        match &node.value {
            Value::Map(entries) => {
                for name in &schema.required {
                    if node.get(name).is_none() {
                        self.blocks_rules = true;
                        self.report.key_error(Id::KUBERNETES_REQUIRED, &at.missing(name), || required(name));
                    }
                }
                for entry in entries {
                    if let Some(field) = schema.property(&entry.key) {
                        self.check(&entry.node, field, &at.key(&entry.key, &entry.node));
                    }
                }
            }
            Value::List(items) => {
                if let Some(of) = schema.items {
                    for (index, item) in items.iter().enumerate() {
                        self.check(item, of, &at.index(index, item));
                    }
                }
                self.list(items, &schema.list, at);
            }
            _ => {}
        }
        if let Some(limits) = &schema.limits {
            self.limits(node, schema, limits, at);
        }
    }

    fn block(&mut self, id: Id, at: &At<'_>, finding: impl FnOnce() -> FindingText) {
        self.blocks_rules = true;
        self.report.error(id, at, finding);
    }

    fn limits(&mut self, node: &Node, schema: &Schema, limits: &Constraints, at: &At<'_>) {
        match &node.value {
            Value::Str(text) => self.text(node, text, limits, at),
            Value::Int(_) | Value::UInt(_) | Value::Float(_) => self.number(node, schema, limits, at),
            Value::List(items) => {
                let len = items.len() as u64;
                self.size("items", len, limits.min_items, limits.max_items, at);
                if limits.unique_items {
                    self.list(items, &ListType::Set, at);
                }
            }
            Value::Map(entries) => {
                self.size("properties", entries.len() as u64, limits.min_properties, limits.max_properties, at);
            }
            Value::Null | Value::Bool(_) => {}
        }
        self.combinations(node, limits, at);
    }

    fn size(&mut self, what: &str, len: u64, least: Option<u64>, most: Option<u64>, at: &At<'_>) {
        if let Some(least) = least.filter(|least| len < *least) {
            self.report.error(Id::KUBERNETES_RANGE, at, || {
                FindingText::new(format!("must have at least {least} {what}; found {len}"))
            });
        }
        if let Some(most) = most.filter(|most| len > *most) {
            self.block(Id::KUBERNETES_RANGE, at, || {
                FindingText::new(format!("must have at most {most} {what}; found {len}"))
            });
        }
    }

    fn text(&mut self, node: &Node, text: &str, limits: &Constraints, at: &At<'_>) {
        if limits.min_length.is_some() || limits.max_length.is_some() {
            let len = text.chars().count() as u64;
            self.size("characters", len, limits.min_length, limits.max_length, at);
        }
        if let Some((pattern, regexp)) = &limits.pattern
            && !regexp.is_match_in(text)
        {
            self.report.error(Id::KUBERNETES_PATTERN, at, || {
                FindingText::of_value(format!("must match the pattern {pattern}"), node)
            });
        }
        if let Some(format) = &limits.format
            && !has_format(text, format)
        {
            self.report.error(Id::KUBERNETES_FORMAT, at, || {
                FindingText::of_value(format!("must have the format {format}"), node)
            });
        }
    }

    fn number(&mut self, node: &Node, schema: &Schema, limits: &Constraints, at: &At<'_>) {
        let value = match node.value {
            Value::Int(value) => value as f64,
            Value::UInt(value) => value as f64,
            Value::Float(value) => value,
            _ => return,
        };
        let range = match limits.format.as_deref() {
            Some("int32") => Some((f64::from(i32::MIN), f64::from(i32::MAX))),
            Some("uint32") => Some((0.0, f64::from(u32::MAX))),
            Some("uint64") => Some((0.0, u64::MAX as f64)),
            Some("int64") => Some((i64::MIN as f64, i64::MAX as f64)),
            Some("float") if schema.kind == ValueType::Number => Some((f64::from(f32::MIN), f64::from(f32::MAX))),
            _ => None,
        };
        if let Some((least, most)) = range
            && !(least..=most).contains(&value)
        {
            let format = limits.format.clone().unwrap_or_default();
            self.report.error(Id::KUBERNETES_RANGE, at, || {
                FindingText::of_value(format!("the number does not fit into {format}"), node)
            });
        }
        let is_below =
            |NumberBound { value: bound, exclusive }: &NumberBound| value < *bound || (*exclusive && value == *bound);
        let is_above =
            |NumberBound { value: bound, exclusive }: &NumberBound| value > *bound || (*exclusive && value == *bound);
        if let Some(bound) = limits.minimum.as_ref().filter(|bound| is_below(bound)) {
            let words = if bound.exclusive { "greater than" } else { "at least" };
            let message = format!("must be {words} {}", bound.value);
            self.report.error(Id::KUBERNETES_RANGE, at, || FindingText::of_value(message, node));
        }
        if let Some(bound) = limits.maximum.as_ref().filter(|bound| is_above(bound)) {
            let words = if bound.exclusive { "less than" } else { "at most" };
            let message = format!("must be {words} {}", bound.value);
            self.report.error(Id::KUBERNETES_RANGE, at, || FindingText::of_value(message, node));
        }
        if let Some(of) = limits.multiple_of
            && whole(value / of).is_none()
        {
            self.report
                .error(Id::KUBERNETES_RANGE, at, || FindingText::of_value(format!("must be a multiple of {of}"), node));
        }
    }

    fn combinations(&mut self, node: &Node, limits: &Constraints, at: &At<'_>) {
        for part in &limits.all_of {
            self.check(node, *part, at);
        }
        let matching = |of: &Self, parts: &[SchemaId]| parts.iter().filter(|part| of.is_valid(node, **part)).count();
        let any = limits.any_of.is_empty() || matching(self, &limits.any_of) > 0;
        if self.budget.get() == EXHAUSTED {
            return self
                .report
                .error(Id::KUBERNETES_LIMIT, at, || FindingText::new("the schema refers to itself without end"));
        }
        if !any {
            let count = limits.any_of.len();
            let reasons = self.reasons(node, &limits.any_of);
            self.report.error(Id::KUBERNETES_SCHEMA, at, || {
                let finding = FindingText::new(format!("must match one of the {count} schemas in anyOf"));
                reasons.into_iter().fold(finding, FindingText::note)
            });
        }
        if !limits.one_of.is_empty() {
            let (matches, count) = (matching(self, &limits.one_of), limits.one_of.len());
            if matches != 1 {
                let reasons = if matches == 0 { self.reasons(node, &limits.one_of) } else { Vec::new() };
                self.report.error(Id::KUBERNETES_SCHEMA, at, || {
                    let finding = FindingText::new(format!(
                        "must match exactly one of the {count} schemas in oneOf; it matches {matches}"
                    ));
                    reasons.into_iter().fold(finding, FindingText::note)
                });
            }
        }
        if limits.not.is_some_and(|not| self.is_valid(node, not)) {
            self.report.error(Id::KUBERNETES_SCHEMA, at, || FindingText::new("must not match the schema in not"));
        }
    }

    /// The reason for each of several schemas not to match, one line each; only for reports that
    /// collect findings.
    fn reasons(&self, node: &Node, parts: &[SchemaId]) -> Vec<Text> {
        if self.report.is_quick {
            return Vec::new();
        }
        let reason = |part: &SchemaId| {
            let mut report = CheckFindings::new();
            let (schemas, nested, budget) = (self.schemas, self.nested, self.budget.clone());
            let mut inner = Validator { schemas, report: &mut report, nested, budget, blocks_rules: false };
            inner.check(node, *part, &At::root(node.pos));
            let first = report.findings.into_iter().next()?;
            let path = first.path.filter(|path| !path.is_document()).map(|path| Text::new(format!("{path}: ")));
            Some(path.unwrap_or_default().join(first.message))
        };
        parts.iter().take(3).filter_map(reason).collect()
    }

    /// Checks that items are unique.
    fn list(&mut self, items: &[Node], list: &ListType, at: &At<'_>) {
        let keys = match list {
            ListType::Atomic => return,
            ListType::Set => None,
            ListType::Map(keys) => Some(keys),
        };
        let mut seen = HashSet::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let mut identity = String::new();
            match keys {
                None => write_identity(&item.value, &mut identity),
                Some(keys) => {
                    if !matches!(item.value, Value::Map(_)) {
                        continue;
                    }
                    for key in keys {
                        match item.get(key) {
                            Some(value) => write_identity(&value.value, &mut identity),
                            None => identity.push('-'),
                        }
                        identity.push('\u{1}');
                    }
                }
            }
            if !seen.insert(identity) {
                let keys = keys.map(|keys| keys.join(", "));
                self.report.error(Id::KUBERNETES_DUPLICATE_ITEM, &at.index(index, item), || match keys {
                    None => FindingText::of_value("the list has this item twice, and is a set", item),
                    Some(keys) => {
                        let values: Vec<String> = keys
                            .split(", ")
                            .map(|key| format!("{key} = {}", item.get(key).map_or("none".into(), |v| v.value.shown())))
                            .collect();
                        FindingText::new("an earlier item of the list has the same key: ")
                            .note(format!("the key of an item is {keys}"))
                            .with_value(values.join(", "))
                    }
                });
            }
        }
    }
}

/// Whether a value has a type.
fn fits(kind: ValueType, value: &Value) -> bool {
    let is_whole = match value {
        Value::Int(_) | Value::UInt(_) => true,
        Value::Float(value) => whole(*value).is_some(),
        _ => false,
    };
    match kind {
        ValueType::Any => true,
        ValueType::Object => matches!(value, Value::Map(_)),
        ValueType::Array => matches!(value, Value::List(_)),
        ValueType::String | ValueType::Bytes => matches!(value, Value::Str(_)),
        ValueType::Boolean => matches!(value, Value::Bool(_)),
        // Integers beyond 64 bits are decoded as floats.
        ValueType::Integer | ValueType::Int32 | ValueType::Int64 => is_whole && !matches!(value, Value::UInt(_)),
        ValueType::Number => matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_)),
        ValueType::IntOrString => is_whole || matches!(value, Value::Str(_)),
        ValueType::Quantity => match value {
            Value::Str(text) => crate::scalars::quantity_fault(text).is_none(),
            value => matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_)),
        },
        ValueType::Time | ValueType::MicroTime => {
            matches!(value, Value::Str(text) if crate::scalars::time(text, kind == ValueType::MicroTime).is_some())
        }
        ValueType::SchemaOrBool | ValueType::SchemaOrArray | ValueType::SchemaOrStrings => true,
    }
}

/// Writes a text that is equal for equal JSON values.
fn write_identity(value: &Value, out: &mut String) {
    use std::fmt::Write as _;
    match value {
        Value::Null => out.push('n'),
        Value::Bool(value) => write!(out, "b{value}").expect("a string takes all"),
        Value::Int(value) => write!(out, "i{value}").expect("a string takes all"),
        Value::UInt(value) => write!(out, "i{value}").expect("a string takes all"),
        Value::Float(value) => match whole(*value) {
            Some(value) => write!(out, "i{value}").expect("a string takes all"),
            None => write!(out, "f{value:?}").expect("a string takes all"),
        },
        Value::Str(text) => write!(out, "s{}:{text}", text.len()).expect("a string takes all"),
        Value::List(items) => {
            write!(out, "[{}", items.len()).expect("a string takes all");
            items.iter().for_each(|item| write_identity(&item.value, out));
        }
        Value::Map(entries) => {
            let mut sorted: Vec<&MapEntry> = entries.iter().collect();
            sorted.sort_by(|a, b| a.key.cmp(&b.key));
            write!(out, "{{{}", sorted.len()).expect("a string takes all");
            for entry in sorted {
                write!(out, "s{}:{}", entry.key.len(), entry.key).expect("a string takes all");
                write_identity(&entry.node.value, out);
            }
        }
    }
}
