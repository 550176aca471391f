//! `unique`: a list without two equal items; items are compared deeply.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;
use ytterby_starlark::Value;

use super::{
    ExportTarget, ItemTypes, Keyword, MadeRule, Most, NamedRule, NodeType, RuleViolation, Subject, Want, equal,
    wrong_type,
};
use crate::node::{ArrayItem, Node, Scalar};

#[derive(Debug)]
struct Unique;

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    Ok(if subject.flag(value)? { Some(Rc::new(Unique)) } else { None })
}

impl NamedRule for Unique {
    fn must_be(&self) -> String {
        "unique items".to_owned()
    }

    fn accepts(&self, value: &Node) -> bool {
        value.as_array().is_some_and(|array| first_pair(&array.items).is_none())
    }

    fn suits(&self, value: &Node) -> bool {
        value.as_array().is_some()
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(Want::Unique)
    }

    fn found(&self, value: &Node) -> RuleViolation {
        RuleViolation::Failure(match value.as_array() {
            Some(array) => match first_pair(&array.items) {
                Some((first, second)) => format!("items {first} and {second} are equal"),
                None => String::new(),
            },
            None => wrong_type("list", value),
        })
    }

    fn export(&self, target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        match (target, shape) {
            (ExportTarget::Crd, NodeType::List { items }) if *items != ItemTypes::Other => {
                vec![Keyword::Plain("x-kubernetes-list-type", Node::str("set"))]
            }
            (_, shape) if !shape.may_be_list() => Vec::new(),
            (ExportTarget::Crd, _) => {
                vec![Keyword::Loop("self.all(x, self.exists_one(y, x == y))".to_owned(), Most::Few)]
            }
            _ => vec![Keyword::Plain("uniqueItems", Node::Scalar(Scalar::Bool(true)))],
        }
    }
}

/// The first pair of equal items: ordered by the first of the two, then by the second.
fn first_pair(items: &[ArrayItem]) -> Option<(usize, usize)> {
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::with_capacity(items.len());
    let mut best: Option<(usize, usize)> = None;
    for (at, item) in items.iter().enumerate() {
        let same_hash = seen.entry(hash(&item.value)).or_default();
        match same_hash.iter().find(|&&other| equal(&items[other].value, &item.value)) {
            Some(&other) if best.is_none_or(|(first, _)| other < first) => best = Some((other, at)),
            Some(_) => {}
            None => same_hash.push(at),
        }
        if best.is_some_and(|(first, _)| first == 0) {
            break;
        }
    }
    best
}

/// Equal nodes hash alike: an integer and a float of the same value, maps in any order.
fn hash(value: &Node) -> u64 {
    let mut hasher = FxHasher::default();
    match value {
        Node::Scalar(Scalar::Null) => 0u8.hash(&mut hasher),
        Node::Scalar(Scalar::Bool(value)) => value.hash(&mut hasher),
        Node::Scalar(Scalar::Int(value)) => (*value as f64 + 0.0).to_bits().hash(&mut hasher),
        Node::Scalar(Scalar::UInt(value)) => (*value as f64 + 0.0).to_bits().hash(&mut hasher),
        Node::Scalar(Scalar::Float(value)) => (value + 0.0).to_bits().hash(&mut hasher),
        Node::Scalar(Scalar::Str(value)) => value.as_bytes().hash(&mut hasher),
        Node::Scalar(key @ Scalar::Complex(_)) => key.hash(&mut hasher),
        Node::Array(array) => array.items.iter().for_each(|item| crate::deep(|| hash(&item.value)).hash(&mut hasher)),
        Node::Map(map) => {
            let sum = map.iter().fold(0u64, |sum, item| {
                let mut pair = FxHasher::default();
                hash(&Node::Scalar(item.key.clone())).hash(&mut pair);
                crate::deep(|| hash(&item.value)).hash(&mut pair);
                sum.wrapping_add(pair.finish())
            });
            sum.hash(&mut hasher);
        }
    }
    hasher.finish()
}
