//! The keywords of one schema node, in output order.

use crate::node::{Map, MapItem, Node, Scalar};
use ytterby_diag::Pos;

/// All keywords, in order.
const ORDER: &[&str] = &[
    "$schema",
    "title",
    "type",
    "additionalProperties",
    "format",
    "nullable",
    "deprecated",
    "description",
    "x-example-description",
    "example",
    "examples",
    "items",
    "properties",
    "patternProperties",
    "unevaluatedProperties",
    "default",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "enum",
    "required",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "contains",
    "writeOnly",
    "x-ytt-format",
    "x-ytt-validations",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-list-type",
    "x-kubernetes-validations",
];

/// Keywords and their values.
#[derive(Default)]
pub(super) struct Keywords(Vec<(usize, &'static str, Node)>);

impl Keywords {
    /// Sets a keyword; the last value wins.
    pub fn set(&mut self, name: &'static str, value: impl Into<Node>) {
        let rank = ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
        self.remove(name);
        self.0.push((rank, name, value.into()));
    }

    pub fn get(&self, name: &str) -> Option<&Node> {
        self.0.iter().find(|(_, other, _)| *other == name).map(|(_, _, value)| value)
    }

    /// Appends to the list of a keyword.
    pub fn push(&mut self, name: &'static str, value: Node) {
        let mut items: Vec<Node> = match self.get(name) {
            Some(Node::Array(list)) => list.items.iter().map(|item| item.value.clone()).collect(),
            _ => Vec::new(),
        };
        items.push(value);
        self.set(name, array(items));
    }

    /// Removes a keyword.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(_, other, _)| *other != name);
    }

    pub fn text(&mut self, name: &'static str, text: &str) {
        self.set(name, Node::str(text));
    }

    pub fn flag(&mut self, name: &'static str, value: bool) {
        self.set(name, Node::Scalar(Scalar::Bool(value)));
    }

    /// The map of keywords in their order.
    pub fn into_node(mut self) -> Node {
        self.0.sort_by_key(|(rank, _, _)| *rank);
        map(self.0.into_iter().map(|(_, name, value)| (Scalar::from(name), value)))
    }
}

/// A map without positions.
pub(super) fn map(items: impl IntoIterator<Item = (Scalar, Node)>) -> Node {
    Node::map(items.into_iter().map(|(key, value)| MapItem::new(key, value, Pos::UNKNOWN)).collect::<Map>())
}

/// An array without positions.
pub(super) fn array(items: impl IntoIterator<Item = Node>) -> Node {
    let items = items.into_iter().map(|value| crate::node::ArrayItem::new(value, Pos::UNKNOWN)).collect();
    Node::array(crate::node::Array { items, ..crate::node::Array::default() })
}
