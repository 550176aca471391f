//! Limits on the cost of CEL rules in Kubernetes: rules that cost too much become text.
//!
//! Kubernetes estimates the cost of each rule from the largest value that its schema allows, times
//! how often the place can be in one object, and refuses a definition with a rule above its limit.
//! An exported schema is walked once; the limits are those of Kubernetes 1.36.

use std::collections::BTreeMap;
use std::sync::Arc;

use ytterby_cel::{Env, Library, MaxSize, ObjectType, Program, Type};
use ytterby_text::cel::escaped;

use super::keywords::array;
use crate::node::{Map, Node, Scalar};

/// One rule may cost this much.
const MAX_RULE: u64 = 10_000_000;

/// All rules of a schema together may cost this much.
const MAX_TOTAL: u64 = 100_000_000;

/// The server reads no larger requests; nothing in an object is larger.
const MAX_REQUEST: u64 = 3 << 20;

const RULES: &str = "x-kubernetes-validations";

/// The schema without rules that Kubernetes would find too costly; their messages are in
/// descriptions.
pub(super) fn affordable(schema: &Node) -> Node {
    walk(schema, Some(1), &mut 0)
}

/// `count` values of a schema can be in one object; `None` below a list or map without a bound.
fn walk(schema: &Node, count: Option<u64>, total: &mut u64) -> Node {
    let Some(map) = schema.as_map() else { return schema.clone() };
    let mut out = map.clone();
    for item in out.iter_mut() {
        let Scalar::Str(key) = &item.key else { continue };
        match &*key.to_str() {
            "properties" => {
                if let Some(fields) = item.value.as_map() {
                    let mut fields = fields.clone();
                    fields.iter_mut().for_each(|field| field.value = walk(&field.value, count, total));
                    item.value = Node::map(fields);
                }
            }
            name @ ("items" | "additionalProperties") => {
                let bound = if name == "items" { "maxItems" } else { "maxProperties" };
                let most = number(schema, bound).and_then(|most| Some(count?.saturating_mul(most)));
                item.value = walk(&item.value, most, total);
            }
            _ => {}
        }
    }
    // Lists without bounds inside each other are not multiplied: all of it fits into one request.
    let count = count.unwrap_or_else(|| MAX_REQUEST / (min_size(schema) + 1));
    drop_costly(&mut out, schema, count, total);
    Node::map(out)
}

fn drop_costly(out: &mut Map, schema: &Node, count: u64, total: &mut u64) {
    let Some(at) = out.find(&Scalar::from(RULES)) else { return };
    let Some((of, shape)) = declared(schema) else { return };
    let list = out.items()[at].value.clone();
    let (mut kept, mut texts) = (Vec::new(), Vec::new());
    for rule in list.as_array().map(|list| &list.items[..]).unwrap_or_default() {
        let cost = text(&rule.value, "rule").and_then(|source| cost(&source, &of, &shape)).unwrap_or(0);
        let cost = cost.saturating_mul(count);
        if cost > MAX_RULE || total.saturating_add(cost) > MAX_TOTAL {
            texts.extend(text(&rule.value, "message"));
        } else {
            *total += cost;
            kept.push(rule.value.clone());
        }
    }
    if texts.is_empty() {
        return;
    }
    if kept.is_empty() {
        out.remove(at);
    } else {
        out.item_mut(at).value = array(kept);
    }
    let added = format!("Must be: {}.", texts.join("; "));
    match out.find(&Scalar::from("description")) {
        Some(at) => {
            let old = text(schema, "description").unwrap_or_default();
            out.item_mut(at).value = Node::str(format!("{old} {added}"));
        }
        None => out.push_new("description", Node::str(added)),
    }
}

/// Maximum cost of one evaluation of a rule; `None` if it does not compile.
fn cost(source: &str, of: &Type, shape: &Arc<MaxSize>) -> Option<u64> {
    let env = Env { variables: vec![("self".to_owned(), of.clone())], library: Library::Kubernetes };
    let program = Program::compile(source, &env).ok()?;
    Some(program.estimate(std::slice::from_ref(shape)))
}

/// The type and the sizes of a schema's values, where rules can see them.
fn declared(schema: &Node) -> Option<(Type, Arc<MaxSize>)> {
    if flag(schema, "x-kubernetes-int-or-string") {
        // The values of an enum bound texts only.
        let most = number(schema, "maxLength").map_or(MAX_REQUEST - 2, |most| most.saturating_mul(4));
        return Some((Type::Dyn, MaxSize::sized(most)));
    }
    Some(match &*text(schema, "type")? {
        "boolean" => (Type::Bool, MaxSize::sized(0)),
        "integer" => (Type::Int, MaxSize::sized(0)),
        "number" => (Type::Double, MaxSize::sized(0)),
        "array" => {
            let items = get(schema, "items")?;
            let (of, shape) = declared(items)?;
            let max = number(schema, "maxItems").unwrap_or_else(|| (MAX_REQUEST - 2) / (min_size(items) + 1));
            (Type::list(of), Arc::new(MaxSize { max, items: Some(shape), ..MaxSize::default() }))
        }
        "object" => match get(schema, "additionalProperties").filter(|_| get(schema, "properties").is_none()) {
            Some(values) => {
                let (of, shape) = declared(values)?;
                let max = number(schema, "maxProperties").unwrap_or_else(|| (MAX_REQUEST - 2) / (min_size(values) + 6));
                let shape = MaxSize { max, items: Some(shape), keys: Some(MaxSize::sized(0)), ..MaxSize::default() };
                (Type::map(Type::String, of), Arc::new(shape))
            }
            None => object(schema),
        },
        _ => match text(schema, "format").as_deref() {
            Some("byte") => (Type::Bytes, MaxSize::sized(max_text(schema))),
            Some("date-time" | "date") => (Type::Timestamp, MaxSize::sized(1)),
            Some("duration") => (Type::Duration, MaxSize::sized(1)),
            _ => (Type::String, MaxSize::sized(max_text(schema))),
        },
    })
}

fn object(schema: &Node) -> (Type, Arc<MaxSize>) {
    let (mut fields, mut shapes) = (BTreeMap::new(), BTreeMap::new());
    for item in get(schema, "properties").and_then(Node::as_map).into_iter().flat_map(Map::iter) {
        let Scalar::Str(key) = &item.key else { continue };
        if let (Some(name), Some((of, shape))) = (escaped(&key.to_str()), declared(&item.value)) {
            fields.insert(name.clone(), of);
            shapes.insert(name, shape);
        }
    }
    // Rules compare no two objects, so one name will do.
    let of = Type::Object(Arc::new(ObjectType { name: "object".to_owned(), fields }));
    (of, Arc::new(MaxSize { fields: shapes, ..MaxSize::default() }))
}

/// The most bytes that a text has; a character has up to four.
fn max_text(schema: &Node) -> u64 {
    if let Some(most) = number(schema, "maxLength") {
        return most.saturating_mul(4);
    }
    let values = get(schema, "enum").and_then(Node::as_array).map(|list| &list.items[..]).unwrap_or_default();
    let len = |node: &Node| if let Node::Scalar(Scalar::Str(text)) = node { text.to_str().len() as u64 } else { 1 };
    values.iter().map(|item| len(&item.value)).max().unwrap_or(MAX_REQUEST - 2)
}

/// The fewest bytes that a value takes as JSON.
fn min_size(schema: &Node) -> u64 {
    if flag(schema, "x-kubernetes-int-or-string") {
        return 1;
    }
    match text(schema, "type").as_deref() {
        Some("boolean") => 4,
        Some("integer" | "number") => 1,
        Some("object") => {
            let fields = get(schema, "properties").and_then(Node::as_map);
            let required = get(schema, "required").and_then(Node::as_array).map(|list| &list.items[..]);
            let sizes = required.unwrap_or_default().iter().filter_map(|item| {
                let Node::Scalar(Scalar::Str(name)) = &item.value else { return None };
                let field = &fields?.get_str(&name.to_str())?.value;
                let is_asked_for = get(field, "default").is_none();
                is_asked_for.then(|| name.to_str().len() as u64 + 4 + min_size(field))
            });
            2 + sizes.sum::<u64>()
        }
        Some("string") => match text(schema, "format").as_deref() {
            Some("duration") => 3,
            Some("date") => 12,
            Some("date-time") => 21,
            _ => 2,
        },
        _ => 2,
    }
}

fn get<'n>(schema: &'n Node, key: &str) -> Option<&'n Node> {
    schema.as_map()?.get_str(key).map(|item| &item.value)
}

fn text(schema: &Node, key: &str) -> Option<String> {
    match get(schema, key)? {
        Node::Scalar(Scalar::Str(text)) => Some(text.to_str().into_owned()),
        _ => None,
    }
}

fn flag(schema: &Node, key: &str) -> bool {
    matches!(get(schema, key), Some(Node::Scalar(Scalar::Bool(true))))
}

fn number(schema: &Node, key: &str) -> Option<u64> {
    match get(schema, key)? {
        Node::Scalar(Scalar::Int(value)) => u64::try_from(*value).ok(),
        _ => None,
    }
}
