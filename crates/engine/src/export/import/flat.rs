//! One map of keywords for a schema that is spread over `$ref`, `allOf` and the like.

use super::Notes;
use crate::node::{Map, MapItem, Node, Scalar};
use ytterby_diag::Pos;

/// The keywords of a schema, all in one place.
#[derive(Default)]
pub(super) struct Flat {
    pub keywords: Map,
    /// Keywords that the schema has several times; each is a schema of its own.
    pub more: Vec<Map>,
    /// The references that were followed.
    pub refs: Vec<String>,
    /// Whether a reference leads back to something that it is part of.
    pub is_cyclic: bool,
}

/// Longest chain of references and nested `allOf`.
const MAX_STEPS: usize = 1000;

/// Gathers the keywords of `schema`. `open` holds the references that are being followed further out.
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

    /// Adds the keywords of a schema that holds besides.
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
        let merged = match (&*name, old, &item.value) {
            // The outermost words are the closest ones.
            ("title" | "description" | "default" | "example" | "examples" | "deprecated", ..) => return,
            ("properties", Node::Map(old), Node::Map(new)) => Node::map(both_properties(old, new)),
            ("required", Node::Array(old), Node::Array(new)) => {
                let mut list = (**old).clone();
                let lacks = |item: &&crate::node::ArrayItem| !old.items.iter().any(|own| own.value.same(&item.value));
                list.items.extend(new.items.iter().filter(lacks).cloned());
                Node::array(list)
            }
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", old, new) => {
                if number(new) > number(old) { new.clone() } else { return }
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", old, new) => {
                if number(new) < number(old) { new.clone() } else { return }
            }
            ("pattern" | "multipleOf" | "format", ..) => {
                return self.more.push(Map::from_items(vec![item.clone()]));
            }
            _ => return notes.unsupported("allOf", path),
        };
        self.keywords.item_mut(at).value = merged;
    }
}

/// All properties; one that both have must be valid by both.
fn both_properties(old: &Map, new: &Map) -> Map {
    let mut all = old.clone();
    for item in new.iter() {
        match all.find(&item.key) {
            None => all.push(item.clone()),
            Some(at) if all.items()[at].value.same(&item.value) => {}
            Some(at) => {
                let both = crate::export::keywords::array([all.items()[at].value.clone(), item.value.clone()]);
                let both = MapItem::new(Scalar::from("allOf"), both, Pos::UNKNOWN);
                all.item_mut(at).value = Node::map(Map::from_items(vec![both]));
            }
        }
    }
    all
}

pub(super) fn number(node: &Node) -> Option<f64> {
    match node {
        Node::Scalar(Scalar::Int(value)) => Some(*value as f64),
        Node::Scalar(Scalar::UInt(value)) => Some(*value as f64),
        Node::Scalar(Scalar::Float(value)) => Some(*value),
        _ => None,
    }
}

/// What a reference into the same document means: `#/$defs/port`.
fn referenced(document: &Node, target: &str) -> Option<Node> {
    let pointer = target.strip_prefix('#')?;
    let mut at = document;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        at = match at {
            Node::Map(map) => &map.get_str(&step)?.value,
            Node::Array(list) => &list.items.get(step.parse::<usize>().ok()?)?.value,
            Node::Scalar(_) => return None,
        };
    }
    (pointer.is_empty() || pointer.starts_with('/')).then(|| at.clone())
}
