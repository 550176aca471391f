//! A schema by example: the type of each value is inferred, and the value is the default.

use super::Notes;
use super::print::{ImportedNode, Sample, literal};
use crate::node::{Array, Map, Node, Scalar};

/// The node for a value like this one.
pub(super) fn place(value: &Node, notes: &mut Notes) -> ImportedNode {
    of_all(&[value], "", notes)
}

/// The node for values like any of these; there is at least one.
fn of_all(values: &[&Node], path: &str, notes: &mut Notes) -> ImportedNode {
    crate::deep(|| {
        let nullable = values.iter().any(|value| value.is_null());
        let values: Vec<&Node> = values.iter().copied().filter(|value| !value.is_null()).collect();
        let mut place = match values.first() {
            Some(Node::Scalar(_)) => scalar(&values),
            Some(Node::Map(_)) => all(&values, Node::as_map).map(|maps| map(&maps, path, notes)),
            Some(Node::Array(_)) => all(&values, Node::as_array).map(|arrays| array(&arrays, path, notes)),
            None => None,
        };
        match &mut place {
            Some(place) if nullable => place.annotations.insert(0, "nullable".to_owned()),
            _ => {}
        }
        place.unwrap_or_else(|| ImportedNode {
            annotations: vec!["type any=True".to_owned()],
            ..ImportedNode::default()
        })
    })
}

fn all<'a, T>(values: &[&'a Node], read: fn(&'a Node) -> Option<&'a T>) -> Option<Vec<&'a T>> {
    values.iter().map(|value| read(value)).collect()
}

/// `None` if the kinds differ, unless all are numbers.
fn scalar(values: &[&Node]) -> Option<ImportedNode> {
    let scalars: Option<Vec<&Scalar>> = values
        .iter()
        .map(|value| match value {
            Node::Scalar(scalar) => Some(scalar),
            _ => None,
        })
        .collect();
    let scalars = scalars?;
    let first = *scalars.first()?;
    let is_number = |scalar: &Scalar| matches!(scalar, Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_));
    let kind = std::mem::discriminant(first);
    let stands = if scalars.iter().all(|scalar| std::mem::discriminant(*scalar) == kind) {
        first
    } else if scalars.iter().all(|scalar| is_number(scalar)) {
        scalars.iter().find(|scalar| matches!(scalar, Scalar::Float(_))).copied().unwrap_or(first)
    } else {
        return None;
    };
    Some(ImportedNode { value: Sample::Scalar(stands.clone()), ..ImportedNode::default() })
}

/// Keys that not all of the maps have are optional; if there are no keys, any key is allowed.
fn map(maps: &[&Map], path: &str, notes: &mut Notes) -> ImportedNode {
    let mut keys = Map::new();
    let mut values: Vec<Vec<&Node>> = Vec::new();
    for item in maps.iter().flat_map(|map| map.iter()) {
        let at = keys.find(&item.key).unwrap_or_else(|| {
            keys.push_new(item.key.clone(), Node::NULL);
            values.push(Vec::new());
            values.len() - 1
        });
        values[at].push(&item.value);
    }
    if keys.is_empty() && !path.is_empty() {
        // `annotations: {}` expects keys that are not known yet.
        let annotations = vec!["any-key".to_owned(), "type any=True".to_owned()];
        let free = ImportedNode { annotations, ..ImportedNode::default() };
        return ImportedNode { value: Sample::Map(vec![(Scalar::from("_"), free)]), ..ImportedNode::default() };
    }
    let items = keys.iter().zip(&values).map(|(item, values)| {
        let own = super::keywords::step(path, &item.key);
        let mut place = of_all(values, &own, notes);
        if values.len() < maps.len() {
            place.annotations.insert(0, "key-may-be-present".to_owned());
        }
        (item.key.clone(), place)
    });
    ImportedNode { value: Sample::Map(items.collect()), ..ImportedNode::default() }
}

/// One item represents all; the content of the array becomes the default.
fn array(arrays: &[&Array], path: &str, notes: &mut Notes) -> ImportedNode {
    let items: Vec<&Node> = arrays.iter().flat_map(|array| &array.items).map(|item| &item.value).collect();
    let item = of_all(&items, &format!("{path}[]"), notes);
    let mut annotations = Vec::new();
    // Arrays inside items of another array are part of those items.
    if let [array] = arrays
        && !array.items.is_empty()
        && !path.contains("[]")
    {
        match literal(&Node::array((*array).clone())) {
            Some(text) => annotations.push(format!("default {text}")),
            None => notes.unsupported("default", path),
        }
    }
    ImportedNode { annotations, value: Sample::Array(Box::new(item)), ..ImportedNode::default() }
}
