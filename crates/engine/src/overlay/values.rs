//! Prepares nodes that overlays pass on: removes overlay annotations, converts collections to YAML
//! nodes, marks values as given.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::deep;
use crate::node::{Annotated, Array, Map, MergePolicy, Node, Origin};
use crate::reuse::Reuse;

/// A node without overlay annotations, in which all collections are YAML nodes; `None` if it is so
/// already.
///
/// The reference converts everything that takes part in an overlay to YAML nodes, so that functions
/// see yamlfragments, and removes overlay annotations from the result.
pub(crate) fn cleaned(node: &Node) -> Option<Node> {
    cleaned_with(node, None)
}

/// The same where other renders may have looked at the node already.
fn cleaned_with(node: &Node, reuse: Option<&Reuse>) -> Option<Node> {
    if matches!(node, Node::Scalar(_)) || reuse.is_some_and(|reuse| reuse.is_clean(node)) {
        return None;
    }
    let result = deep(|| match node {
        Node::Scalar(_) => None,
        Node::Map(map) => {
            let mut result: Option<Map> = None;
            for (at, item) in map.iter().enumerate() {
                let value = cleaned_with(&item.value, reuse);
                if value.is_some() || is_overlaying(item) {
                    let item = result.get_or_insert_with(|| Map::clone(map)).item_mut(at);
                    strip(item);
                    if let Some(value) = value {
                        item.value = value;
                    }
                }
            }
            if map.origin == Origin::Code {
                result.get_or_insert_with(|| Map::clone(map)).origin = Origin::Yaml;
            }
            result.map(Node::map)
        }
        Node::Array(array) => {
            let mut result: Option<Array> = None;
            for (at, item) in array.items.iter().enumerate() {
                let value = cleaned_with(&item.value, reuse);
                if value.is_some() || is_overlaying(item) {
                    let item = &mut result.get_or_insert_with(|| Array::clone(array)).items[at];
                    strip(item);
                    if let Some(value) = value {
                        item.value = value;
                    }
                }
            }
            if array.origin == Origin::Code {
                result.get_or_insert_with(|| Array::clone(array)).origin = Origin::Yaml;
            }
            result.map(Node::array)
        }
    });
    if let (None, Some(reuse)) = (&result, reuse) {
        reuse.note_clean(node);
    }
    result
}

/// Cleans an item and its content.
pub(crate) fn clean(item: &mut impl Annotated) {
    clean_with(item, None);
}

/// The same where other renders may have looked at it already.
pub(super) fn clean_with(item: &mut impl Annotated, reuse: Option<&Reuse>) {
    if is_overlaying(item) {
        strip(item);
    }
    if let Some(value) = cleaned_with(item.value(), reuse) {
        *item.value_mut() = value;
    }
}

/// Whether an item has annotations about merging.
fn is_overlaying(item: &impl Annotated) -> bool {
    item.policy() != MergePolicy::default() || item.annotations().iter().any(is_overlay)
}

fn is_overlay(annotation: &crate::annotation::Annotation) -> bool {
    annotation.name.starts_with(b"overlay/")
}

pub(super) fn strip(item: &mut impl Annotated) {
    if is_overlaying(item) {
        let meta = item.meta_mut();
        meta.annotations.retain(|annotation| !is_overlay(annotation));
        meta.policy = MergePolicy::default();
        if item.meta().is_some_and(|meta| meta.annotations.is_empty() && meta.given.is_empty()) {
            *item.meta_slot() = None;
        }
    }
}

/// Clean copies of values of the right side. A value may be inserted in many places; it is cleaned
/// once.
#[derive(Default)]
pub(super) struct Copies(FxHashMap<usize, Option<Node>>);

impl Copies {
    /// A clean copy of a value, which must outlive these copies.
    pub fn of(&mut self, node: &Node) -> Node {
        let address = match node {
            Node::Scalar(_) => return node.clone(),
            Node::Map(map) => Rc::as_ptr(map).addr(),
            Node::Array(array) => Rc::as_ptr(array).addr(),
        };
        self.0.entry(address).or_insert_with(|| cleaned(node)).clone().unwrap_or_else(|| node.clone())
    }
}

/// Marks an item and everything in it as given by an input.
pub(crate) fn mark_given(item: &mut impl Annotated) {
    let pos = item.pos();
    item.meta_mut().given.push(pos);
    mark_values_given(item.value_mut());
}

/// The same for everything in a value.
pub(crate) fn mark_values_given(node: &mut Node) {
    match node {
        Node::Scalar(_) => {}
        Node::Map(map) => deep(|| Rc::make_mut(map).iter_mut().for_each(mark_given)),
        Node::Array(array) => deep(|| Rc::make_mut(array).items.iter_mut().for_each(mark_given)),
    }
}
