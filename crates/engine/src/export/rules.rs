//! Rules in exported schemas: as keywords if possible, as CEL in CRDs, otherwise as text.
//!
//! A rule that the target cannot express becomes part of the description. In CRDs, so do rules that
//! could cost the API server too much, because it refuses the whole definition then. `write`
//! begins, `rule` decides.

use super::cel;
use super::keywords::{Keywords, array, map};
use super::schema::is_visible;
use crate::node::{Node, Scalar};
use crate::schema::{Slot, Type};
use crate::validate::{ExportTarget, Exported, Keyword, NodeType, Rules};

/// The target of the rules.
pub(super) struct RuledSlot<'a> {
    pub target: ExportTarget,
    pub slot: &'a Slot,
    /// Its type, as far as the rules can hold.
    pub ty: &'a Type,
    /// Whether null is allowed.
    pub takes_null: bool,
    /// The number of lists and maps with arbitrary keys around it, each of which multiplies the
    /// cost.
    pub repeats: u8,
}

/// Writes the rules of a node as keywords. Rules without keywords are added to `texts`.
pub(super) fn write(
    keywords: &mut Keywords,
    rules: &Rules,
    shape: &NodeType,
    spot: &RuledSlot<'_>,
    texts: &mut Vec<String>,
) {
    for exported in rules.exports(spot.target, shape) {
        rule(keywords, exported, spot, texts);
    }
}

fn rule(keywords: &mut Keywords, rule: Exported, spot: &RuledSlot<'_>, texts: &mut Vec<String>) {
    let target = spot.target;
    let mut pieces = rule.keywords;
    if pieces.is_empty()
        && target == ExportTarget::Crd
        && let Some(expression) = rule.function.as_ref().and_then(|function| cel::translate(function, spot.slot))
    {
        pieces.push(Keyword::Cel(expression));
    }
    let longest = spot.slot.rules.as_ref().and_then(|rules| rules.longest());
    let is_costly = |piece: &Keyword| match piece {
        Keyword::Loop(_, most) => spot.repeats > 0 || !most.allows(longest),
        // Even a cheap rule is multiplied by collections inside of collections.
        Keyword::Cel(_) => spot.repeats > 1,
        _ => false,
    };
    if pieces.iter().any(is_costly) {
        return texts.push(rule.text);
    }
    // Kubernetes refuses rules about values without a type.
    if pieces.is_empty() || (pieces.iter().any(is_cel) && !is_visible(spot.ty)) {
        return texts.push(rule.text);
    }
    if target != ExportTarget::JsonSchema {
        for (bound, flag) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            keep_tighter(keywords, &mut pieces, bound, flag);
        }
    }
    let clashes = pieces.iter().any(|piece| match piece {
        Keyword::Plain(name, value) => {
            keywords.get(name).is_some_and(|old| !old.same(value) && tighter(name, old, value).is_none())
        }
        Keyword::Pattern(_) => keywords.get("pattern").is_some(),
        Keyword::Cel(_) | Keyword::Loop(..) | Keyword::NotNull | Keyword::Void => false,
    });
    if clashes {
        if target == ExportTarget::OpenApi {
            return texts.push(rule.text);
        }
        // Kubernetes accepts rules in CEL only beside types.
        let (rules, others): (Vec<Keyword>, Vec<Keyword>) = pieces.into_iter().partition(is_cel);
        rules.into_iter().for_each(|piece| apply(keywords, piece, &rule.text, spot));
        let mut schema = Keywords::default();
        others.into_iter().for_each(|piece| apply(&mut schema, piece, &rule.text, spot));
        return keywords.push("allOf", schema.into_node());
    }
    pieces.into_iter().for_each(|piece| apply(keywords, piece, &rule.text, spot));
}

fn is_cel(piece: &Keyword) -> bool {
    matches!(piece, Keyword::Cel(_) | Keyword::Loop(..))
}

/// Keeps the stricter of two bounds, if a flag makes a bound exclusive.
fn keep_tighter(keywords: &mut Keywords, pieces: &mut Vec<Keyword>, bound: &'static str, flag: &'static str) {
    let find = |wanted: &str| {
        pieces.iter().find_map(|piece| match piece {
            Keyword::Plain(name, value) if *name == wanted => Some(value),
            _ => None,
        })
    };
    let (Some(old), Some(new)) = (keywords.get(bound), find(bound)) else { return };
    let is_tighter = match tighter(bound, old, new) {
        _ if number(old) == number(new) => find(flag).is_some(),
        Some(one) => one.same(new),
        None => return,
    };
    if is_tighter {
        keywords.remove(bound);
        keywords.remove(flag);
    } else {
        pieces.retain(|piece| !matches!(piece, Keyword::Plain(name, _) if *name == bound || *name == flag));
    }
}

/// Writes the rules that only text can express.
pub(super) fn write_texts(keywords: &mut Keywords, target: ExportTarget, texts: Vec<String>) {
    if texts.is_empty() {
        return;
    }
    match target {
        ExportTarget::Crd => add_to_description(keywords, &format!("Must be: {}.", texts.join("; "))),
        ExportTarget::OpenApi | ExportTarget::JsonSchema => {
            keywords.set("x-ytt-validations", array(texts.into_iter().map(Node::str)));
        }
    }
}

/// Adds a rule of `x-kubernetes-validations`.
pub(super) fn add_cel(keywords: &mut Keywords, expression: String, message: &str) {
    // Kubernetes refuses messages with several lines.
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let rule = map([(Scalar::from("rule"), Node::str(expression)), (Scalar::from("message"), Node::str(message))]);
    keywords.push("x-kubernetes-validations", rule);
}

fn apply(keywords: &mut Keywords, piece: Keyword, text: &str, spot: &RuledSlot<'_>) {
    match piece {
        Keyword::Plain("enum", Node::Array(list)) if spot.takes_null => {
            let mut values: Vec<Node> = list.items.iter().map(|item| item.value.clone()).collect();
            if !values.iter().any(Node::is_null) {
                values.push(Node::NULL);
            }
            keywords.set("enum", array(values));
        }
        Keyword::Plain("not", Node::Map(schema)) if spot.takes_null => {
            // Null is not a number either.
            let mut schema = (*schema).clone();
            schema.push_new("type", Node::str("number"));
            keywords.set("not", Node::map(schema));
        }
        Keyword::Plain("oneOf", Node::Array(shapes)) if spot.takes_null => {
            // Null would match all of these shapes.
            let only_objects = shapes.items.iter().map(|shape| match &shape.value {
                Node::Map(shape) => {
                    let mut shape = (**shape).clone();
                    shape.push_new("type", Node::str("object"));
                    Node::map(shape)
                }
                other => other.clone(),
            });
            let null = map([(Scalar::from("type"), Node::str("null"))]);
            let shapes = array(only_objects.chain([null]));
            keywords.set("oneOf", shapes);
        }
        Keyword::Plain(name, value) => {
            let value = keywords.get(name).and_then(|old| tighter(name, old, &value)).unwrap_or(value);
            keywords.set(name, value);
        }
        Keyword::Pattern(pattern) => keywords.set("pattern", Node::str(pattern)),
        Keyword::Cel(expression) | Keyword::Loop(expression, _) => add_cel(keywords, expression, text),
        Keyword::NotNull | Keyword::Void => {}
    }
}

/// The stricter of two bounds.
fn tighter(name: &str, old: &Node, new: &Node) -> Option<Node> {
    let (a, b) = (number(old)?, number(new)?);
    match name {
        "minimum" | "minLength" | "minItems" | "minProperties" | "exclusiveMinimum" => {
            Some(if b > a { new.clone() } else { old.clone() })
        }
        "maximum" | "maxLength" | "maxItems" | "maxProperties" | "exclusiveMaximum" => {
            Some(if b < a { new.clone() } else { old.clone() })
        }
        _ => None,
    }
}

fn number(node: &Node) -> Option<f64> {
    match node {
        Node::Scalar(Scalar::Int(value)) => Some(*value as f64),
        Node::Scalar(Scalar::UInt(value)) => Some(*value as f64),
        Node::Scalar(Scalar::Float(value)) => Some(*value),
        _ => None,
    }
}

pub(super) fn add_to_description(keywords: &mut Keywords, text: &str) {
    let description = match keywords.get("description") {
        Some(Node::Scalar(Scalar::Str(old))) => format!("{old} {text}"),
        _ => text.to_owned(),
    };
    keywords.set("description", Node::str(description));
}
