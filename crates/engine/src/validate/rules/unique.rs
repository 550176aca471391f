//! `unique`: a list without two equal items; items are compared deeply.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;
use ytterby_starlark::Value;
use ytterby_text::budget;

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
    let mut seen = Distinct::default();
    let mut best: Option<(usize, usize)> = None;
    for item in items {
        if let Some(pair) = seen.add(&item.value)
            && best.is_none_or(|(first, _)| pair.0 < first)
        {
            best = Some(pair);
        }
        if best.is_some_and(|(first, _)| first == 0) {
            break;
        }
    }
    best
}

/// Values of which no two are equal.
#[derive(Default)]
pub(super) struct Distinct<'a> {
    values: Vec<&'a Node>,
    by_hash: HashMap<u64, Vec<usize>>,
}

impl<'a> Distinct<'a> {
    /// Adds a value; if it is equal to an earlier one, returns the numbers of both.
    pub(super) fn add(&mut self, value: &'a Node) -> Option<(usize, usize)> {
        let at = self.values.len();
        self.values.push(value);
        // If a limit is reached, the next function that can fail reports it.
        if !budget::may_take(BYTES_OF_VALUE, 1) {
            return None;
        }
        let same_hash = self.by_hash.entry(hash(value)).or_default();
        match same_hash.iter().find(|&&other| equal(self.values[other], value)) {
            Some(&other) => Some((other, at)),
            None => {
                same_hash.push(at);
                None
            }
        }
    }

    /// Whether one of the values is equal.
    pub(super) fn contains(&self, value: &Node) -> bool {
        let same_hash = self.by_hash.get(&hash(value));
        same_hash.is_some_and(|numbers| numbers.iter().any(|&number| equal(self.values[number], value)))
    }
}

/// What one of the [`Distinct`] values takes.
const BYTES_OF_VALUE: usize = 96;

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
