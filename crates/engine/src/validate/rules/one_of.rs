//! `one_of`, also `enum`: the value is one of a given list.

use std::rc::Rc;

use ytterby_starlark::Value;
use ytterby_text::budget;

use super::unique::Distinct;
use super::{
    BadArgument, ExportTarget, Keyword, Limit, MadeRule, NamedRule, NodeType, RuleViolation, Subject, Want, equal,
    node_of, plain, type_name,
};
use crate::node::{Array, ArrayItem, Node, Origin, Scalar};

#[derive(Debug)]
struct OneOf {
    written: String,
    allowed: AllowedValues,
}

#[derive(Debug)]
enum AllowedValues {
    Values(Vec<Node>),
    /// The keys of a map.
    Keys(Node),
    /// An empty YAML collection reads back as null, which contains nothing.
    Nothing,
}

/// Whether the reference treats a value as a sequence: it has a length and can be iterated over.
pub(super) fn is_sequence(value: &Value) -> bool {
    !matches!(value, Value::Str(_)) && value.len().is_some() && value.is_iterable()
}

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    if !is_sequence(value) {
        let text = match subject {
            Subject::Keyword(_) => {
                format!("expected keyword argument one_of to be a sequence, but was {}", value.type_name())
            }
            Subject::Value => format!("expected a sequence, but was a '{}'", value.type_name()),
        };
        return Err(BadArgument::new(text).without_position());
    }
    let node = match value {
        Value::Range(_) => node_of(&Value::list(value.iterate().into_iter().flatten().collect()), subject)?,
        _ => node_of(value, subject)?,
    };
    let allowed = match plain(&node) {
        Node::Array(array) => AllowedValues::Values(array.items.iter().map(|item| item.value.clone()).collect()),
        map @ Node::Map(_) => AllowedValues::Keys(map),
        Node::Scalar(_) => AllowedValues::Nothing,
    };
    Ok(Some(Rc::new(OneOf { written: value.repr().to_string(), allowed })))
}

impl NamedRule for OneOf {
    fn must_be(&self) -> String {
        format!("one of {}", self.written)
    }

    fn accepts(&self, value: &Node) -> bool {
        match &self.allowed {
            // If a limit is reached, the next function that can fail reports it.
            AllowedValues::Values(values) if budget::work(values.len() / 8).is_err() => false,
            AllowedValues::Values(values) => match value {
                Node::Scalar(Scalar::Str(text)) => {
                    values.iter().any(|allowed| matches!(allowed, Node::Scalar(Scalar::Str(other)) if other == text))
                }
                _ => {
                    let value = plain(value);
                    values.iter().any(|allowed| equal(allowed, &value))
                }
            },
            AllowedValues::Keys(map) => match (plain(value), map.as_map()) {
                (Node::Scalar(key), Some(map)) => map.get(&key).is_some(),
                _ => false,
            },
            AllowedValues::Nothing => false,
        }
    }

    fn suits(&self, value: &Node) -> bool {
        let (AllowedValues::Values(values), Node::Scalar(_)) = (&self.allowed, value) else { return true };
        let is_like = |other: &Node| match super::is_number(value) {
            true => super::is_number(other),
            false => type_name(other) == type_name(value),
        };
        values.is_empty() || values.iter().any(is_like)
    }

    fn wants(&self) -> Option<Want<'_>> {
        match &self.allowed {
            AllowedValues::Keys(map) => Some(Want::KeyOf(map)),
            AllowedValues::Values(_) | AllowedValues::Nothing => None,
        }
    }

    fn found(&self, value: &Node) -> RuleViolation {
        let value = plain(value);
        match &self.allowed {
            AllowedValues::Keys(_) if !matches!(value, Node::Scalar(_)) => {
                RuleViolation::Error(format!("unhashable: {}", type_name(&value)))
            }
            AllowedValues::Nothing => {
                RuleViolation::Error(format!("unknown binary op: {} in NoneType", type_name(&value)))
            }
            _ => RuleViolation::Failure("not one of allowed values".to_owned()),
        }
    }

    fn limits(&self) -> Vec<Limit> {
        match &self.allowed {
            AllowedValues::Values(values) => vec![Limit::OneOf(values.clone())],
            AllowedValues::Keys(_) | AllowedValues::Nothing => Vec::new(),
        }
    }

    fn export(&self, _target: ExportTarget, _shape: &NodeType) -> Vec<Keyword> {
        let AllowedValues::Values(values) = &self.allowed else { return Vec::new() };
        let mut items: Vec<ArrayItem> = Vec::with_capacity(values.len());
        let mut seen = Distinct::default();
        for value in values {
            if seen.add(value).is_none() {
                items.push(ArrayItem::new(value.clone(), ytterby_diag::Pos::UNKNOWN));
            }
        }
        // Most readers of schemas do not accept an empty list.
        if items.is_empty() {
            return Vec::new();
        }
        vec![Keyword::Plain("enum", Node::array(Array { items, origin: Origin::Code }))]
    }
}
