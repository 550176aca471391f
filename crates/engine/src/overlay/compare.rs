//! Whether a value contains everything in another value.
//!
//! Used by `overlay.subset()` and `@overlay/assert`: a map may have more keys than expected, an
//! array more items at its end; leaves must be equal, and an integer never equals a float.

use std::fmt;

use crate::deep;
use crate::node::{Node, Scalar};

/// Finds the first position where `left` lacks something in `expected`.
pub(super) fn mismatch(left: &Node, expected: &Node) -> Option<Mismatch> {
    deep(|| match (left, expected) {
        (Node::Map(left), Node::Map(expected)) => expected.iter().find_map(|item| match left.get(&item.key) {
            Some(found) => mismatch(&found.value, &item.value),
            None => Some(Mismatch::NoSuchKey),
        }),
        (Node::Array(left), Node::Array(expected)) => {
            expected.items.iter().enumerate().find_map(|(at, item)| match left.items.get(at) {
                Some(found) => mismatch(&found.value, &item.value),
                None => Some(Mismatch::TooFewItems),
            })
        }
        (other, Node::Map(_)) => Some(Mismatch::NoMap(other.type_name())),
        (other, Node::Array(_)) => Some(Mismatch::NoArray(other.type_name())),
        (left, Node::Scalar(expected)) if is_leaf(left, expected) => None,
        (left, expected) => Some(Mismatch::Leaf(left.type_name(), expected.type_name())),
    })
}

/// Whether `left` contains everything in `expected`.
pub(super) fn contains(left: &Node, expected: &Node) -> bool {
    mismatch(left, expected).is_none()
}

/// Whether a node is exactly this scalar.
pub(super) fn is_leaf(node: &Node, expected: &Scalar) -> bool {
    matches!(node, Node::Scalar(scalar) if scalar == expected)
}

/// Why two values do not match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mismatch {
    NoSuchKey,
    TooFewItems,
    NoMap(&'static str),
    NoArray(&'static str),
    Leaf(&'static str, &'static str),
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::NoSuchKey => f.write_str("Expected at least one map item to match by key"),
            Mismatch::TooFewItems => f.write_str("Expected to have matching number of array items"),
            Mismatch::NoMap(found) => write!(f, "Expected map, but was {found}"),
            Mismatch::NoArray(found) => write!(f, "Expected array, but was {found}"),
            Mismatch::Leaf(left, right) => write!(f, "Expected leaf values to match {left} {right}"),
        }
    }
}
