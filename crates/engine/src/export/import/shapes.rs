//! `oneOf` and `anyOf` in general: each alternative becomes a shape of `@schema/one-of` or
//! `@schema/any-of`.
//!
//! A shape is a function that returns a document. Keywords beside the alternatives hold for each of
//! them, so they become part of each shape.

use std::collections::HashMap;

use ytterby_diag::Pos;

use super::flat::Flat;
use super::keywords::{ANY, Importer, ItemRole, Types, is_true, text};
use super::print::{Besides, ImportedNode};
use super::rules::subject;
use crate::export::keywords::{array, map};
use crate::node::{Map, MapItem, Node, Scalar};
use ytterby_diag::Failure;

/// The alternatives of a schema.
pub(super) struct Alternatives {
    keyword: &'static str,
    pub members: Vec<Map>,
}

/// Keywords that describe the node and not its value; they stay with the node.
const ABOUT_PLACE: [&str; 14] = [
    "title",
    "description",
    "default",
    "example",
    "examples",
    "x-example-description",
    "deprecated",
    "writeOnly",
    "nullable",
    "x-kubernetes-validations",
    "$defs",
    "definitions",
    "$schema",
    "$id",
];

impl Alternatives {
    /// `None` if it is not a list of schemas.
    pub fn read(keyword: &'static str, list: &Node) -> Option<Alternatives> {
        let Node::Array(list) = list else { return None };
        let members: Option<Vec<Map>> = list.items.iter().map(|item| item.value.as_map().cloned()).collect();
        members.map(|members| Alternatives { keyword, members })
    }

    /// One alternative per type, if there are several types and a keyword applies to one of them.
    pub fn of_types(flat: &mut Flat) -> Option<Alternatives> {
        let is_open = flat.get("x-kubernetes-int-or-string").is_some_and(is_true);
        let names: Vec<Node> = match flat.get("type") {
            _ if is_open => vec![Node::str("integer"), Node::str("string")],
            Some(Node::Array(list)) => list.items.iter().map(|item| item.value.clone()).collect(),
            _ => return None,
        };
        let is_null = |name: &Node| matches!(name, Node::Scalar(Scalar::Str(name)) if *name == *"null");
        let others: Vec<&Node> = names.iter().filter(|name| !is_null(name)).collect();
        let is_about_one = |item: &MapItem| item.key.as_str().is_some_and(|key| subject(&key.to_str()).is_some());
        if others.len() < 2 || !flat.keywords.iter().any(is_about_one) {
            return None;
        }
        let member =
            |name: &Node| Map::from_items(vec![MapItem::new(Scalar::from("type"), name.clone(), Pos::UNKNOWN)]);
        let members = names.iter().map(member).collect();
        flat.remove("type");
        flat.remove("x-kubernetes-int-or-string");
        Some(Alternatives { keyword: "anyOf", members })
    }

    /// Removes `{type: null}`; returns whether it was present.
    pub fn take_null(&mut self) -> bool {
        let is_null = |member: &Map| member.len() == 1 && text(member, "type").as_deref() == Some("null");
        let count = self.members.len();
        self.members.retain(|member| !is_null(member));
        self.members.len() < count
    }

    /// The values, if each alternative is a constant or a list of constants.
    pub fn values(&self) -> Option<Node> {
        let mut values: Vec<Node> = Vec::new();
        for member in &self.members {
            let is_about_values = |item: &MapItem| {
                let name = item.key.as_str().map(ToString::to_string).unwrap_or_default();
                matches!(&*name, "const" | "enum" | "title" | "description" | "deprecated")
            };
            let own = match (member.get_str("const"), member.get_str("enum").map(|item| &item.value)) {
                (Some(item), None) => vec![item.value.clone()],
                (None, Some(Node::Array(list))) => list.items.iter().map(|item| item.value.clone()).collect(),
                _ => return None,
            };
            if !member.iter().all(is_about_values) {
                return None;
            }
            values.extend(own);
        }
        (!values.is_empty()).then(|| array(values))
    }

    fn annotation(&self) -> &'static str {
        if self.keyword == "oneOf" { "one-of" } else { "any-of" }
    }
}

impl Importer<'_> {
    /// The node with one of several shapes. `None` if the alternatives cannot be distinguished;
    /// then the rest of the schema must suffice.
    pub fn shaped(
        &mut self,
        flat: &mut Flat,
        types: &mut Types,
        alternatives: Alternatives,
        path: &str,
    ) -> Result<Option<ImportedNode>, Failure> {
        let common = common(flat);
        let known = self.shapes.len();
        let mut calls = Vec::new();
        for member in &alternatives.members {
            let schema = match common.is_empty() {
                true => Node::map(member.clone()),
                false => map([(Scalar::from("allOf"), array([Node::map(common.clone()), Node::map(member.clone())]))]),
            };
            let place = self.place(&schema, path, ItemRole::Document)?;
            if place.besides.any && place.besides.shapes.is_none() {
                self.shapes.truncate(known);
                calls.clear();
                break;
            }
            types.null |= place.besides.null && place.besides.shapes.is_none();
            let name = self.names.name(path);
            calls.push(format!("{name}()"));
            self.shapes.push((name, place));
        }
        if calls.len() < 2 {
            self.notes.unsupported(alternatives.keyword, path);
            for item in common.into_items() {
                flat.keywords.push(item);
            }
            return Ok(None);
        }
        types.null |= flat.remove("nullable").is_some_and(|value| is_true(&value));
        let shapes = Some(format!("{} {}", alternatives.annotation(), calls.join(", ")));
        let besides = Besides { null: types.null, shapes, ..ANY.besides };
        Ok(Some(ImportedNode { besides, ..ANY }))
    }
}

/// Removes the keywords that hold for all alternatives from the schema.
fn common(flat: &mut Flat) -> Map {
    let is_about_place = |item: &MapItem| item.key.as_str().is_some_and(|key| ABOUT_PLACE.contains(&&*key.to_str()));
    let (stays, common): (Vec<MapItem>, Vec<MapItem>) =
        std::mem::take(&mut flat.keywords).into_items().into_iter().partition(is_about_place);
    flat.keywords = Map::from_items(stays);
    Map::from_items(common)
}

/// The names of the functions that return shapes.
#[derive(Default)]
pub(super) struct Names(HashMap<String, usize>);

impl Names {
    /// A name from the last key of a path: `config_1`.
    fn name(&mut self, path: &str) -> String {
        let key = path.rsplit('.').next().unwrap_or_default();
        let keep = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let base: String = key.trim_end_matches("[]").chars().map(keep).collect();
        let base = base.trim_matches('_');
        let base = match base.starts_with(|c: char| c.is_ascii_alphabetic()) {
            true => base.to_lowercase(),
            false => "shape".to_owned(),
        };
        let count = self.0.entry(base.clone()).or_default();
        *count += 1;
        format!("{base}_{count}")
    }
}
