//! Rules of CustomResourceDefinitions: `x-kubernetes-validations`.
//!
//! A rule is compiled once, against the types of its schema, and evaluated with the value as
//! `self`. Names are escaped as in Kubernetes (`x-y` is `x__dash__y`); fields that a schema
//! preserves but does not declare are invisible. Rules that compare with the previous object are
//! skipped: there is none.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use ytterby_cel::{Env, EvalError, Library, ListKind, ListVal, MapVal, MaxSize, ObjectType, Program, Type, Val};
use ytterby_diag::Id;
use ytterby_text::cel::escaped;

use crate::crd::CompiledKind;
use crate::document::{Node, Value};
use crate::report::{At, CheckFindings, FindingText};
use crate::scalars;
use crate::schema::{Additional, ListType, Schema, SchemaId, Schemas, ValueType};

/// Maximum cost of one evaluation of a rule.
const MAX_CALL_COST: u64 = 1_000_000;

/// Maximum cost of all rules of an object.
const MAX_OBJECT_COST: u64 = 10_000_000;

/// The server's limit for a request, and so for every value in an object.
const MAX_REQUEST: u64 = 3 << 20;

/// Longer custom messages are ignored.
const MAX_MESSAGE: usize = 5 << 10;

/// A rule.
#[derive(Debug)]
pub(crate) struct CelRule {
    /// The rule as written, with positions.
    pub raw: Node,
    /// `None` if it does not compile.
    program: Option<Program>,
    message: Option<Program>,
}

/// The indexes of `self` and `oldSelf` among the variables.
const SELF: usize = 0;
const OLD: usize = 1;

/// Fields of `metadata` that rules can read.
const META: [&str; 2] = ["generateName", "name"];

impl CelRule {
    pub fn of(raw: &Node) -> CelRule {
        CelRule { raw: raw.clone(), program: None, message: None }
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.raw.text(key)
    }
}

/// Types and maximum sizes for schemas.
pub(crate) struct Declarations<'s> {
    schemas: &'s Schemas,
    root: SchemaId,
    known: HashMap<SchemaId, Option<(Type, Arc<MaxSize>)>>,
}

impl<'s> Declarations<'s> {
    pub fn new(schemas: &'s Schemas, root: SchemaId) -> Declarations<'s> {
        Declarations { schemas, root, known: HashMap::new() }
    }

    /// The type of a schema, if its values are visible to rules.
    pub fn of(&mut self, id: SchemaId) -> Option<(Type, Arc<MaxSize>)> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        // A recursive schema is invisible to its own rules.
        self.known.insert(id, None);
        let declared = self.declare(id);
        self.known.insert(id, declared.clone());
        declared
    }

    fn declare(&mut self, id: SchemaId) -> Option<(Type, Arc<MaxSize>)> {
        let schema = self.schemas.get(id);
        let limits = schema.limits.as_deref();
        let format = limits.and_then(|limits| limits.format.as_deref());
        Some(match schema.kind {
            ValueType::Any => return None,
            ValueType::IntOrString => {
                // The values of an enum bound texts only.
                let most = limits.and_then(|limits| limits.max_length);
                (Type::Dyn, MaxSize::sized(most.map_or(MAX_REQUEST - 2, |most| most.saturating_mul(4))))
            }
            ValueType::Boolean => (Type::Bool, MaxSize::sized(0)),
            ValueType::Integer | ValueType::Int32 | ValueType::Int64 => (Type::Int, MaxSize::sized(0)),
            ValueType::Number => (Type::Double, MaxSize::sized(0)),
            ValueType::Array => {
                let items = schema.items?;
                let (of, shape) = self.of(items)?;
                let most = limits.and_then(|limits| limits.max_items);
                let most = most.unwrap_or_else(|| (MAX_REQUEST - 2) / (min_size(self.schemas, items, 0) + 1));
                let shape = MaxSize { max: most, items: Some(shape), ..MaxSize::default() };
                (Type::list(of), Arc::new(shape))
            }
            ValueType::Object => match schema.additional {
                Additional::Of(values) if schema.fields.is_empty() => {
                    let (of, shape) = self.of(values)?;
                    let most = limits.and_then(|limits| limits.max_properties);
                    let most = most.unwrap_or_else(|| (MAX_REQUEST - 2) / (min_size(self.schemas, values, 0) + 6));
                    // The server assumes size 0 for keys.
                    let keys = Some(MaxSize::sized(0));
                    let shape = MaxSize { max: most, items: Some(shape), keys, ..MaxSize::default() };
                    (Type::map(Type::String, of), Arc::new(shape))
                }
                _ => self.object(id, schema),
            },
            _ => match format {
                Some("byte") => (Type::Bytes, MaxSize::sized(max_text(schema))),
                Some("date-time" | "date") => (Type::Timestamp, MaxSize::sized(1)),
                Some("duration") => (Type::Duration, MaxSize::sized(1)),
                _ => (Type::String, MaxSize::sized(max_text(schema))),
            },
        })
    }

    fn object(&mut self, id: SchemaId, schema: &Schema) -> (Type, Arc<MaxSize>) {
        let mut fields = BTreeMap::new();
        let mut shapes = BTreeMap::new();
        let is_resource = id == self.root || schema.embedded;
        if is_resource {
            let texts = |names: &[&str]| -> BTreeMap<String, Type> {
                names.iter().map(|name| ((*name).to_owned(), Type::String)).collect()
            };
            fields.extend(texts(&["apiVersion", "kind"]));
            let metadata = ObjectType { name: "metadata".to_owned(), fields: texts(&META) };
            fields.insert("metadata".to_owned(), Type::Object(Arc::new(metadata)));
            let text = || MaxSize::sized(MAX_REQUEST - 2);
            let metadata = META.iter().map(|name| ((*name).to_owned(), text())).collect();
            shapes.insert("metadata".to_owned(), Arc::new(MaxSize { max: 2, fields: metadata, ..MaxSize::default() }));
            shapes.insert("apiVersion".to_owned(), text());
            shapes.insert("kind".to_owned(), text());
        }
        for field in &schema.fields {
            if is_resource && ["apiVersion", "kind", "metadata"].contains(&&*field.name) {
                continue;
            }
            if let (Some(name), Some((of, shape))) = (escaped(&field.name), self.of(field.schema)) {
                fields.insert(name.clone(), of);
                shapes.insert(name, shape);
            }
        }
        let name = format!("object{}", id.0);
        let object = Type::Object(Arc::new(ObjectType { name, fields }));
        (object, Arc::new(MaxSize { fields: shapes, ..MaxSize::default() }))
    }
}

/// The maximum length of a text of this schema.
fn max_text(schema: &Schema) -> u64 {
    let limits = schema.limits.as_deref();
    if let Some(most) = limits.and_then(|limits| limits.max_length) {
        // A character has up to four bytes.
        return most.saturating_mul(4);
    }
    if !schema.enumeration.is_empty() {
        let len = |value: &Value| if let Value::Str(text) = value { text.len() as u64 } else { 1 };
        return schema.enumeration.iter().map(len).max().unwrap_or(1);
    }
    MAX_REQUEST - 2
}

/// The maximum number of values of a schema in a request.
pub(crate) fn most_values(schemas: &Schemas, id: SchemaId) -> u64 {
    MAX_REQUEST / (min_size(schemas, id, 0) + 1)
}

/// The minimum size of a value of this schema as JSON.
fn min_size(schemas: &Schemas, id: SchemaId, depth: usize) -> u64 {
    let schema = schemas.get(id);
    match schema.kind {
        ValueType::Boolean => 4,
        ValueType::Integer | ValueType::Int32 | ValueType::Int64 | ValueType::Number | ValueType::IntOrString => 1,
        ValueType::Object if depth < 50 => {
            let required = schema.required.iter().map(|name| match schema.field(name) {
                Some(field) if schemas.get(field).default.is_none() => {
                    name.len() as u64 + 4 + min_size(schemas, field, depth + 1)
                }
                _ => 0,
            });
            2 + required.sum::<u64>()
        }
        ValueType::String => min_text(schema.limits.as_deref().and_then(|limits| limits.format.as_deref())),
        _ => 2,
    }
}

/// The fewest bytes that a text of a format takes as JSON.
fn min_text(format: Option<&str>) -> u64 {
    match format {
        Some("duration") => 3,
        Some("date") => 12,
        Some("date-time") => 21,
        _ => 2,
    }
}

/// The problem with a rule.
pub(crate) struct RuleFault {
    pub key: &'static str,
    pub id: Id,
    pub message: String,
}

/// A compiled rule with its maximum cost for one evaluation.
pub(crate) struct CompiledRule {
    pub rule: CelRule,
    pub cost: u64,
    pub uses_old: bool,
    pub faults: Vec<RuleFault>,
}

/// Compiles a rule for values of a type.
pub(crate) fn compile(raw: &Node, of: Option<&(Type, Arc<MaxSize>)>) -> CompiledRule {
    let mut rule = CelRule::of(raw);
    let mut faults = Vec::new();
    let mut fault = |key, message: String| faults.push(RuleFault { key, id: Id::KUBERNETES_RULE_ERROR, message });
    let source = rule.text("rule").unwrap_or_default().to_owned();
    let is_optional = raw.get("optionalOldSelf").and_then(Node::as_bool) == Some(true);
    if source.trim().is_empty() {
        fault("rule", "the rule is empty".to_owned());
        return CompiledRule { rule, cost: 0, uses_old: false, faults };
    }
    let Some((of, shape)) = of else {
        fault("rule", "rules cannot see values of this schema: it has no type".to_owned());
        return CompiledRule { rule, cost: 0, uses_old: false, faults };
    };
    let old = if is_optional { Type::Optional(Arc::new(of.clone())) } else { of.clone() };
    let variables = vec![("self".to_owned(), of.clone()), ("oldSelf".to_owned(), old)];
    let env = Env { variables, library: Library::Kubernetes };
    let shapes = [shape.clone(), shape.clone()];
    let (mut cost, mut uses_old) = (0, false);
    match Program::compile(&source, &env) {
        Err(error) => fault("rule", format!("the rule does not compile: {error}")),
        Ok(program) if *program.result_type() != Type::Bool => {
            fault("rule", format!("the rule returns {}, expected bool", program.result_type()));
        }
        Ok(program) => {
            cost = program.estimate(&shapes);
            uses_old = program.uses(OLD);
            rule.program = Some(program);
        }
    }
    if is_optional && rule.program.is_some() && !uses_old {
        fault("optionalOldSelf", "optionalOldSelf is for rules that use oldSelf; this one does not".to_owned());
    }
    if let Some(message) = raw.text("messageExpression").map(str::to_owned) {
        match Program::compile(&message, &env) {
            Err(error) => fault("messageExpression", format!("the expression does not compile: {error}")),
            Ok(program) if *program.result_type() != Type::String => {
                let found = program.result_type().to_string();
                fault("messageExpression", format!("the expression returns {found}, expected string"));
            }
            Ok(program) => rule.message = Some(program),
        }
    }
    if let Some(message) = raw.text("message") {
        if message.lines().nth(1).is_some() || message.ends_with(['\n', '\r']) {
            fault("message", "a message must not contain line breaks".to_owned());
        } else if raw.get("message").is_some() && message.trim().is_empty() && !message.is_empty() {
            fault("message", "a message must not be blank".to_owned());
        }
    } else if source.trim().contains('\n') && raw.text("messageExpression").is_none() {
        fault("message", "a rule of several lines needs a message".to_owned());
    }
    CompiledRule { rule, cost, uses_old, faults }
}

/// Compiles all rules of a definition; those that do not compile are left out.
pub(crate) fn compile_all(schemas: &mut Schemas, root: SchemaId) {
    let with_rules: Vec<SchemaId> =
        (0..schemas.len() as u32).map(SchemaId).filter(|id| !schemas.get(*id).rules.is_empty()).collect();
    if with_rules.is_empty() {
        return;
    }
    let mut compiled = Vec::with_capacity(with_rules.len());
    let mut declarations = Declarations::new(schemas, root);
    for id in with_rules {
        let of = declarations.of(id);
        let rules = declarations.schemas.get(id).rules.iter().map(|rule| compile(&rule.raw, of.as_ref()).rule);
        compiled.push((id, rules.collect::<Vec<_>>()));
    }
    for (id, rules) in compiled {
        schemas.get_mut(id).rules = rules;
    }
    mark(schemas);
}

/// Marks schemas that have rules below.
fn mark(schemas: &mut Schemas) {
    loop {
        let mut changed = false;
        for at in 0..schemas.len() as u32 {
            let schema = schemas.get(SchemaId(at));
            if schema.has_rules {
                continue;
            }
            let is_below = |id: SchemaId| schemas.get(id).has_rules;
            let additional = if let Additional::Of(id) = schema.additional { Some(id) } else { None };
            let has_rules = !schema.rules.is_empty()
                || schema.fields.iter().any(|field| is_below(field.schema))
                || schema.items.is_some_and(is_below)
                || additional.is_some_and(is_below);
            if has_rules {
                schemas.get_mut(SchemaId(at)).has_rules = true;
                changed = true;
            }
        }
        if !changed {
            return;
        }
    }
}

/// Evaluates the rules of an object.
pub(crate) fn check(object: &Node, kind: &CompiledKind, at: &At<'_>, report: &mut CheckFindings) {
    let mut run = RuleRun { schemas: &kind.schemas, root: kind.root, report, left: MAX_OBJECT_COST };
    run.node(object, kind.root, at);
}

/// Evaluates the rules of a single value.
pub(crate) fn check_value(value: &Node, schemas: &Schemas, id: SchemaId, at: &At<'_>, report: &mut CheckFindings) {
    // No schema has this id, so none is treated as that of the whole object.
    let mut run = RuleRun { schemas, root: SchemaId(u32::MAX), report, left: MAX_OBJECT_COST };
    run.node(value, id, at);
}

struct RuleRun<'a> {
    schemas: &'a Schemas,
    root: SchemaId,
    report: &'a mut CheckFindings,
    /// The remaining cost limit.
    left: u64,
}

impl RuleRun<'_> {
    fn node(&mut self, node: &Node, id: SchemaId, at: &At<'_>) {
        let schema = self.schemas.get(id);
        if !schema.has_rules || node.is_null() || self.left == 0 || self.report.is_done() {
            return;
        }
        if !schema.rules.is_empty() {
            let value = value(self.schemas, self.root, node, id, true);
            for rule in &schema.rules {
                self.rule(rule, &value, node, at);
            }
        }
        for entry in node.entries() {
            if let Some(field) = schema.property(&entry.key) {
                self.node(&entry.node, field, &at.key(&entry.key, &entry.node));
            }
        }
        if let Some(of) = schema.items {
            for (index, item) in node.items().iter().enumerate() {
                self.node(item, of, &at.index(index, item));
            }
        }
    }

    fn rule(&mut self, rule: &CelRule, value: &Val, node: &Node, at: &At<'_>) {
        let Some(program) = &rule.program else { return };
        let is_optional = rule.raw.get("optionalOldSelf").and_then(Node::as_bool) == Some(true);
        if self.left == 0 || (program.uses(OLD) && !is_optional) {
            return;
        }
        let mut variables = vec![Val::Null; 2];
        variables[SELF] = value.clone();
        variables[OLD] = Val::Optional(None);
        let limit = MAX_CALL_COST.min(self.left);
        let source = rule.text("rule").unwrap_or_default();
        let shown = || rule.text("message").map_or_else(|| format!("rule: {}", source.trim()), str::to_owned);
        let message = match program.evaluate(&variables, limit) {
            Ok((Val::Bool(true), cost)) => {
                self.left = self.left.saturating_sub(cost);
                return;
            }
            Ok((_, cost)) => {
                self.left = self.left.saturating_sub(cost);
                self.message(rule, &variables)
            }
            Err(EvalError::Cost) => {
                self.left = 0;
                format!("the rules cost more than the server allows, no further ones are run; {}", shown())
            }
            Err(error) => format!("the rule cannot be evaluated: {error}; {}", shown()),
        };
        let steps = rule.text("fieldPath").and_then(field_path).unwrap_or_default();
        self.failure(rule, message, &steps, node, at);
    }

    /// Reports a violated rule, at the field that it names.
    fn failure(&mut self, rule: &CelRule, message: String, steps: &[String], node: &Node, at: &At<'_>) {
        if let Some((first, rest)) = steps.split_first() {
            let here = match node.get(first) {
                Some(inner) => at.key(first, inner),
                None => at.missing(first),
            };
            let empty = Node::new(Value::Null);
            return self.failure(rule, message, rest, node.get(first).unwrap_or(&empty), &here);
        }
        let source = rule.text("rule").unwrap_or_default().trim().to_owned();
        self.report.error(Id::KUBERNETES_RULE, at, || {
            let finding = FindingText::new(message);
            if source.len() <= 400 { finding.note(format!("rule: {source}")) } else { finding }
        });
    }

    fn message(&mut self, rule: &CelRule, variables: &[Val]) -> String {
        if let Some(program) = &rule.message
            && let Ok((Val::Str(text), cost)) = program.evaluate(variables, MAX_CALL_COST.min(self.left))
        {
            self.left = self.left.saturating_sub(cost);
            let is_good = !text.trim().is_empty() && !text.contains('\n') && text.len() <= MAX_MESSAGE;
            if is_good {
                return text.to_string();
            }
        }
        let source = rule.text("rule").unwrap_or_default().trim();
        rule.text("message").map_or_else(|| format!("the rule is not satisfied: {source}"), str::to_owned)
    }
}

/// The keys of `.spec.a['b']`; `None` if it is not a path.
pub(crate) fn field_path(text: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix("['") {
            let (key, tail) = tail.split_once("']")?;
            steps.push(key.to_owned());
            rest = tail;
        } else {
            let tail = rest.strip_prefix('.')?;
            let end = tail.find(['.', '[']).unwrap_or(tail.len());
            if end == 0 {
                return None;
            }
            steps.push(tail[..end].to_owned());
            rest = &tail[end..];
        }
    }
    Some(steps)
}

/// The value as rules see it: only declared fields, by their escaped names, with the types of
/// formats.
fn value(schemas: &Schemas, root: SchemaId, node: &Node, id: SchemaId, is_top: bool) -> Val {
    let schema = schemas.get(id);
    match &node.value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Int(value) if schema.kind == ValueType::Number => Val::Double(*value as f64),
        Value::Int(value) => Val::Int(*value),
        Value::UInt(value) => Val::Double(*value as f64),
        Value::Float(value) => match (schema.kind, crate::document::whole(*value)) {
            (ValueType::Number, _) | (_, None) => Val::Double(*value),
            (_, Some(value)) => Val::Int(value),
        },
        Value::Str(text) => text_value(text, schema),
        Value::List(items) => {
            let of = schema.items;
            let items = items.iter().map(|item| match of {
                Some(of) => value(schemas, root, item, of, false),
                None => Val::Null,
            });
            let kind = match &schema.list {
                ListType::Atomic => ListKind::Plain,
                ListType::Set => ListKind::Set,
                ListType::Map(keys) => ListKind::Map(keys.iter().filter_map(|key| escaped(key)).collect()),
            };
            Val::List(Rc::new(ListVal { items: items.collect(), kind }))
        }
        Value::Map(entries) => {
            let is_resource = (is_top && id == root) || schema.embedded;
            let is_object = !(schema.fields.is_empty() && matches!(schema.additional, Additional::Of(_)));
            let mut found = Vec::with_capacity(entries.len());
            for entry in entries {
                let key: &str = &entry.key;
                if is_resource && key == "metadata" {
                    let known = entry.node.entries().iter().filter(|entry| META.contains(&&*entry.key));
                    let texts =
                        known.filter_map(|entry| Some((Val::from(&*entry.key), Val::from(entry.node.as_str()?))));
                    found.push((Val::from("metadata"), Val::map(texts.collect())));
                } else if is_resource && (key == "apiVersion" || key == "kind") {
                    found.extend(entry.node.as_str().map(|text| (Val::from(key), Val::from(text))));
                } else if let Some(field) = schema.property(key) {
                    if schemas.get(field).kind == ValueType::Any {
                        continue;
                    }
                    let name = if is_object { escaped(key) } else { Some(key.to_owned()) };
                    if let Some(name) = name {
                        found.push((Val::from(&*name), value(schemas, root, &entry.node, field, false)));
                    }
                }
            }
            Val::Map(Rc::new(MapVal::new(found)))
        }
    }
}

fn text_value(text: &str, schema: &Schema) -> Val {
    let format = schema.limits.as_deref().and_then(|limits| limits.format.as_deref());
    let found = match format {
        Some("byte") => scalars::base64(text).map(|bytes| Val::Bytes(bytes.into())),
        Some("date-time") => scalars::time(text, false).map(|time| Val::Timestamp(time.seconds, time.nanos)),
        Some("date") => {
            scalars::time(&format!("{text}T00:00:00Z"), false).map(|time| Val::Timestamp(time.seconds, time.nanos))
        }
        Some("duration") => scalars::any_duration(text).map(Val::Duration),
        _ => None,
    };
    found.unwrap_or_else(|| Val::from(text))
}

/// A value without a schema, as policies see it.
pub(crate) fn plain_value(node: &Node) -> Val {
    match &node.value {
        Value::Null => Val::Null,
        Value::Bool(value) => Val::Bool(*value),
        Value::Int(value) => Val::Int(*value),
        Value::UInt(value) => Val::Double(*value as f64),
        Value::Float(value) => crate::document::whole(*value).map_or(Val::Double(*value), Val::Int),
        Value::Str(text) => Val::from(&**text),
        Value::List(items) => Val::list(items.iter().map(plain_value).collect()),
        Value::Map(entries) => {
            let given = entries.iter().filter(|entry| !entry.node.is_null());
            Val::map(given.map(|entry| (Val::from(&*entry.key), plain_value(&entry.node))).collect())
        }
    }
}
