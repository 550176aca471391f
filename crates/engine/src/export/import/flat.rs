//! Flattens a schema that is spread over `$ref`, `allOf` and similar keywords into one map of
//! keywords.

use super::Notes;
use crate::export::keywords::{array, map};
use crate::node::{ArrayItem, Map, MapItem, Node, Scalar};

/// All keywords of a schema.
#[derive(Default)]
pub(super) struct Flat {
    pub keywords: Map,
    /// Further values of repeated keywords; each is a separate schema.
    pub more: Vec<Map>,
    /// The references that were followed.
    pub refs: Vec<String>,
    /// Whether a reference is cyclic.
    pub is_cyclic: bool,
}

/// Maximum length of a chain of references and nested `allOf`.
const MAX_STEPS: usize = 1000;

/// Collects the keywords of `schema`. `open` contains the references that are being followed.
pub(super) fn flatten(document: &Node, schema: &Map, open: &[String], path: &str, notes: &mut Notes) -> Flat {
    let mut flat = Flat::default();
    let mut waiting = vec![schema.clone()];
    let mut steps = 0;
    while let Some(schema) = waiting.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            flat.is_cyclic = true;
            return flat;
        }
        let mut parts = Vec::new();
        for item in schema.iter() {
            let Scalar::Str(name) = &item.key else { continue };
            match (&*name.to_str(), &item.value) {
                ("$ref", Node::Scalar(Scalar::Str(target))) => {
                    let target = target.to_string();
                    if open.contains(&target) || flat.refs.contains(&target) {
                        flat.is_cyclic = true;
                        return flat;
                    }
                    match referenced(document, &target) {
                        Some(Node::Map(found)) => parts.push((*found).clone()),
                        _ => notes.unsupported("$ref", path),
                    }
                    flat.refs.push(target);
                }
                ("allOf", Node::Array(list)) => {
                    for member in &list.items {
                        match &member.value {
                            Node::Map(map) => parts.push((**map).clone()),
                            _ => notes.unsupported("allOf", path),
                        }
                    }
                }
                _ => flat.add(item, path, notes),
            }
        }
        waiting.extend(parts.into_iter().rev());
    }
    flat
}

impl Flat {
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.keywords.get_str(name).map(|item| &item.value)
    }

    pub fn remove(&mut self, name: &str) -> Option<Node> {
        let at = self.keywords.find(&Scalar::from(name))?;
        Some(self.keywords.remove(at).value)
    }

    /// Adds the keywords of a schema that must hold too.
    pub fn merge(&mut self, other: &Map, path: &str, notes: &mut Notes) {
        for item in other.iter() {
            self.add(item, path, notes);
        }
    }

    fn add(&mut self, item: &MapItem, path: &str, notes: &mut Notes) {
        let Some(at) = self.keywords.find(&item.key) else {
            self.keywords.push(item.clone());
            return;
        };
        let old = &self.keywords.items()[at].value;
        if old.same(&item.value) {
            return;
        }
        let name = item.key.as_str().map(ToString::to_string).unwrap_or_default();
        let is_true = |node: &Node| matches!(node, Node::Scalar(Scalar::Bool(true)));
        let merged = match (&*name, old, &item.value) {
            // The outermost texts are the most specific.
            ("title" | "description" | "default" | "example" | "examples" | "deprecated", ..) => return,
            ("$schema" | "$id" | "id" | "$defs" | "definitions" | "$comment", ..) => return,
            ("properties" | "patternProperties", Node::Map(old), Node::Map(new)) => {
                Node::map(both_properties(old, new))
            }
            ("required" | "x-kubernetes-validations", Node::Array(old), Node::Array(new)) => {
                let mut list = (**old).clone();
                let lacks = |item: &&ArrayItem| !old.items.iter().any(|own| own.value.same(&item.value));
                list.items.extend(new.items.iter().filter(lacks).cloned());
                Node::array(list)
            }
            ("enum", Node::Array(old), Node::Array(new)) => {
                let is_new = |item: &&ArrayItem| new.items.iter().any(|other| other.value.same(&item.value));
                array(old.items.iter().filter(is_new).map(|item| item.value.clone()))
            }
            ("type", old, new) => match common_types(old, new) {
                Some(types) => types,
                None => return notes.unsupported("allOf", path),
            },
            ("items", old @ Node::Map(_), new @ Node::Map(_)) => both(old, new),
            ("additionalProperties", old, new) => match (old, new) {
                (Node::Map(_), Node::Map(_)) => both(old, new),
                (old, new) if is_true(old) => new.clone(),
                (Node::Map(_), new) if !is_true(new) => new.clone(),
                _ => return,
            },
            ("nullable", ..) => Node::Scalar(Scalar::Bool(false)),
            ("uniqueItems" | "writeOnly" | "readOnly" | "x-kubernetes-preserve-unknown-fields", ..) => {
                Node::Scalar(Scalar::Bool(true))
            }
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", old, new) => {
                if number(new) > number(old) { new.clone() } else { return }
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", old, new) => {
                if number(new) < number(old) { new.clone() } else { return }
            }
            ("pattern" | "multipleOf" | "format" | "const" | "not" | "contains", ..) => {
                return self.more.push(Map::from_items(vec![item.clone()]));
            }
            _ => return notes.unsupported("allOf", path),
        };
        self.keywords.item_mut(at).value = merged;
    }
}

/// All properties; one in both must be valid by both.
fn both_properties(old: &Map, new: &Map) -> Map {
    let mut all = old.clone();
    for item in new.iter() {
        match all.find(&item.key) {
            None => all.push(item.clone()),
            Some(at) if all.items()[at].value.same(&item.value) => {}
            Some(at) => {
                let merged = both(&all.items()[at].value, &item.value);
                all.item_mut(at).value = merged;
            }
        }
    }
    all
}

/// The schema of values that are valid by both.
fn both(old: &Node, new: &Node) -> Node {
    map([(Scalar::from("allOf"), array([old.clone(), new.clone()]))])
}

/// The types in both; `None` if there are none.
fn common_types(old: &Node, new: &Node) -> Option<Node> {
    let names = |node: &Node| -> Vec<String> {
        let name = |node: &Node| match node {
            Node::Scalar(Scalar::Str(name)) => Some(name.to_string()),
            _ => None,
        };
        match node {
            Node::Array(list) => list.items.iter().filter_map(|item| name(&item.value)).collect(),
            other => name(other).into_iter().collect(),
        }
    };
    let (old, new) = (names(old), names(new));
    let has = |names: &[String], name: &str| names.iter().any(|other| other == name);
    let narrow = |name: &String| match &**name {
        // Integers are numbers.
        "number" if !has(&new, "number") && has(&new, "integer") => Some("integer".to_owned()),
        "integer" if has(&new, "number") => Some("integer".to_owned()),
        name => has(&new, name).then(|| name.to_owned()),
    };
    let common: Vec<Node> = old.iter().filter_map(narrow).map(Node::str).collect();
    (!common.is_empty()).then(|| array(common))
}

pub(super) fn number(node: &Node) -> Option<f64> {
    match node {
        Node::Scalar(Scalar::Int(value)) => Some(*value as f64),
        Node::Scalar(Scalar::UInt(value)) => Some(*value as f64),
        Node::Scalar(Scalar::Float(value)) => Some(*value),
        _ => None,
    }
}

/// The target of a reference into the same document: `#/$defs/port`.
fn referenced(document: &Node, target: &str) -> Option<Node> {
    let pointer = target.strip_prefix('#')?;
    let mut at = document;
    for step in pointer.split('/').skip(1) {
        let step = percent_decoded(step).replace("~1", "/").replace("~0", "~");
        at = match at {
            Node::Map(map) => &map.get_str(&step)?.value,
            Node::Array(list) => &list.items.get(step.parse::<usize>().ok()?)?.value,
            Node::Scalar(_) => return None,
        };
    }
    (pointer.is_empty() || pointer.starts_with('/')).then(|| at.clone())
}

/// Decodes the escapes of URLs; invalid escapes stay.
fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match rest {
            [b'%', a, b, ..] => std::str::from_utf8(&[*a, *b]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &rest[3..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
