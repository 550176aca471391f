//! Rules in the OpenAPI document of ytt since 0.50: the arguments of `@schema/validation` as
//! written.
//!
//! As in the reference, nothing is checked or combined: a bound need not suit the type. A keyword
//! is omitted only for a condition, or for a value that YAML cannot express. The default of Ytterby
//! is in [`super::rules`].

use num_traits::ToPrimitive;
use ytterby_starlark::Value;
use ytterby_text::Str;

use super::keywords::{Keywords, array};
use crate::node::{self, Node, Scalar};
use crate::schema::{ScalarType, Slot, Type};

/// Writes the named rules of a slot.
pub(super) fn write(keywords: &mut Keywords, arguments: &[(Str, Value)], slot: &Slot) {
    let names: Vec<_> = arguments.iter().map(|(name, _)| name.to_str()).collect();
    if names.iter().any(|name| name == "when") {
        return;
    }
    for (name, (_, value)) in names.iter().zip(arguments) {
        let (keyword, value) = match &**name {
            "min" => ("minimum", node::node_from_value(value).ok()),
            "max" => ("maximum", node::node_from_value(value).ok()),
            "min_len" => match length_keywords(slot) {
                Some((keyword, _)) => (keyword, length(value)),
                None => continue,
            },
            "max_len" => match length_keywords(slot) {
                Some((_, keyword)) => (keyword, length(value)),
                None => continue,
            },
            "one_of" => ("enum", elements(value)),
            _ => continue,
        };
        if let Some(value) = value {
            keywords.set(keyword, value);
        }
    }
}

/// The keywords for lengths; `None` if the type has no length, or if null is allowed.
fn length_keywords(slot: &Slot) -> Option<(&'static str, &'static str)> {
    match slot.ty {
        _ if slot.nullable => None,
        Type::Scalar(ScalarType::String) => Some(("minLength", "maxLength")),
        Type::Array(_) => Some(("minItems", "maxItems")),
        Type::Map(_) => Some(("minProperties", "maxProperties")),
        _ => None,
    }
}

/// A number, truncated, if it fits into 64 bits.
fn length(value: &Value) -> Option<Node> {
    let number = match value {
        Value::Int(number) => Some(*number),
        Value::Float(number) => number.to_i64(),
        _ => None,
    };
    number.map(|number| Node::Scalar(Scalar::Int(number)))
}

/// The elements of a sequence, the keys of a mapping.
fn elements(value: &Value) -> Option<Node> {
    let elements: Option<Vec<Node>> = value.iterate()?.map(|item| node::node_from_value(&item).ok()).collect();
    elements.map(array)
}
