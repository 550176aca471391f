//! The annotations of an imported node, in order.
//!
//! What another schema language says in keywords, ytt says in annotations: type, nullability,
//! default, rules, title, examples. A default goes into the sample value where possible, because
//! that is how people write schemas.

use super::flat::Flat;
use super::keywords::{Importer, ItemRole, Types, is_true, text};
use super::print::{ImportedNode, Keys, Sample, SampleKind, kind_of, literal, quoted};
use super::rules::ValidationArguments;
use crate::export::keywords::{array, map};
use crate::node::{Node, Scalar};

impl Importer<'_> {
    /// Writes the annotations of a node.
    pub fn annotate(
        &mut self,
        place: &mut ImportedNode,
        flat: &mut Flat,
        types: &Types,
        path: &str,
        role: ItemRole,
        validation: &mut ValidationArguments,
    ) {
        let mut lines = Vec::new();
        for (keyword, annotation) in [("title", "title"), ("description", "desc")] {
            match flat.remove(keyword) {
                Some(Node::Scalar(Scalar::Str(text))) => lines.push(format!("{annotation} {}", quoted(&text.to_str()))),
                Some(_) => self.notes.unsupported(keyword, path),
                None => {}
            }
        }
        match flat.remove("deprecated") {
            Some(value) if is_true(&value) && role != ItemRole::Document => {
                lines.push("deprecated \"deprecated\"".into())
            }
            Some(value) if is_true(&value) => self.notes.unsupported("deprecated", path),
            _ => {}
        }
        lines.extend(self.examples(place, flat, path));
        lines.extend(type_lines(place, types));
        let has_default = self.default(place, flat, types, path, role, &mut lines);
        let is_item = |required: bool| role == ItemRole::Item { required };
        if is_item(true) && !has_default {
            lines.push("required".to_owned());
        }
        let has_only_null = matches!(place.value, Sample::Scalar(Scalar::Null));
        if place.besides.shapes.is_some() && !types.null && has_only_null && role != ItemRole::Document {
            // The value null would make the node nullable.
            validation.flag("not_null");
        }
        let write_only = flat.remove("writeOnly").is_some_and(|value| is_true(&value));
        let is_password = text(&flat.keywords, "format").as_deref() == Some("password");
        if is_password {
            flat.remove("format");
        }
        if write_only || is_password {
            lines.push("secret".to_owned());
        }
        if let Some(rules) = validation.text() {
            lines.push(format!("validation {rules}"));
        }
        let is_required = is_item(true) && !has_default;
        place.is_unsound = !types.null && (is_required || !sample_is_valid(place, validation));
        // There is no default for it, and the sample would not be valid.
        if is_item(false) && !has_default && place.is_unsound {
            place.annotations.push("key-may-be-present".to_owned());
            place.is_unsound = false;
        }
        place.annotations.extend(lines);
    }

    fn examples(&mut self, place: &ImportedNode, flat: &mut Flat, path: &str) -> Option<String> {
        let description = match flat.remove("x-example-description") {
            Some(Node::Scalar(Scalar::Str(text))) => Some(text.to_string()),
            _ => None,
        };
        let mut values = Vec::new();
        values.extend(flat.remove("example"));
        match flat.remove("examples") {
            Some(Node::Array(list)) => values.extend(list.items.iter().map(|item| item.value.clone())),
            Some(_) => self.notes.unsupported("examples", path),
            None => {}
        }
        let mut texts = Vec::new();
        for value in values {
            let value = fitted(place, value);
            match literal(&value).filter(|_| place.takes(&value)) {
                Some(text) => texts.push(text),
                None => self.notes.unsupported("examples", path),
            }
        }
        match (&texts[..], &description) {
            ([], _) => None,
            ([one], None) => Some(format!("example {one}")),
            (texts, _) => {
                let name = quoted(description.as_deref().unwrap_or_default());
                let pairs: Vec<String> = texts.iter().map(|text| format!("({name}, {text})")).collect();
                Some(format!("examples {}", pairs.join(", ")))
            }
        }
    }

    /// Puts the default where it belongs: into the sample, or into an annotation. Returns whether
    /// there is one.
    fn default(
        &mut self,
        place: &mut ImportedNode,
        flat: &mut Flat,
        types: &Types,
        path: &str,
        role: ItemRole,
        lines: &mut Vec<String>,
    ) -> bool {
        let Some(default) = flat.remove("default") else { return false };
        let default = fitted(place, default);
        if !place.takes(&default) {
            self.notes.unsupported("default", path);
            return false;
        }
        match (&default, &mut place.value) {
            (Node::Scalar(scalar), Sample::Scalar(sample)) => {
                if place.besides.any || !scalar.is_null() {
                    *sample = scalar.clone();
                }
                if types.null && !scalar.is_null() && !place.besides.any && role != ItemRole::ArrayItem {
                    lines.extend(literal(&default).map(|text| format!("default {text}")));
                }
                true
            }
            (Node::Scalar(Scalar::Null), _) => true,
            (Node::Map(map), Sample::Map(_)) if map.is_empty() && types.count() == 1 && !types.null => true,
            (Node::Array(list), Sample::Array(_)) if list.items.is_empty() && types.count() == 1 && !types.null => true,
            _ if role == ItemRole::ArrayItem => {
                self.notes.unsupported("default", path);
                false
            }
            _ => match literal(&default) {
                Some(text) => {
                    lines.push(format!("default {text}"));
                    true
                }
                None => {
                    self.notes.unsupported("default", path);
                    false
                }
            },
        }
    }
}

fn type_lines(place: &ImportedNode, types: &Types) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(shapes) = &place.besides.shapes {
        lines.push(shapes.clone());
        return lines;
    }
    let is_any = place.besides.any;
    let only_null = types.count() == 0 && types.null && !is_any;
    if types.null && !is_any && !only_null {
        lines.push("nullable".to_owned());
    }
    if is_any {
        lines.push("type any=True".to_owned());
    } else if only_null {
        lines.push("type one_of=\"null\"".to_owned());
    } else if types.count() > 1 {
        let names: Vec<String> = types.kinds.iter().map(|kind| quoted(kind.name())).collect();
        let inferred = if types.object || types.array { ", or_inferred=True" } else { "" };
        lines.push(format!("type one_of=[{}]{inferred}", names.join(", ")));
    }
    lines
}

/// Whether the sample and everything in it satisfy the rules.
fn sample_is_valid(place: &ImportedNode, validation: &ValidationArguments) -> bool {
    match &place.value {
        _ if place.besides.shapes.is_some() => false,
        _ if place.besides.any => true,
        Sample::Scalar(scalar) => validation.accepts(&Node::Scalar(scalar.clone())),
        Sample::Array(_) => validation.accepts(&array([])),
        Sample::Map(items) => {
            let is_own = |place: &ImportedNode| place.besides.keys == Keys::Own;
            let has_own = items.iter().any(|(_, item)| is_own(item));
            let is_whole = items.iter().all(|(_, item)| !is_own(item) || !item.is_unsound);
            is_whole && (has_own || validation.accepts(&map([])))
        }
    }
}

/// A value as the node stores it: JSON does not distinguish 5 from 5.0.
fn fitted(place: &ImportedNode, value: Node) -> Node {
    let is = |kind: SampleKind| matches!(&place.value, Sample::Scalar(sample) if kind_of(sample) == Some(kind));
    match value {
        Node::Scalar(Scalar::Float(float)) if is(SampleKind::Int) && float.fract() == 0.0 && float.abs() < 9e15 => {
            Node::Scalar(Scalar::Int(float as i64))
        }
        Node::Scalar(Scalar::Int(int)) if is(SampleKind::Float) && place.besides.kinds.is_empty() => {
            Node::Scalar(Scalar::Float(int as f64))
        }
        other => other,
    }
}
