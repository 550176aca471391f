//! `min_len`, `max_len`, `len`: the length of a string (in bytes), a list or a map.

use std::rc::Rc;

use num_traits::ToPrimitive;
use ytterby_starlark::Value;

use super::{ExportTarget, Keyword, Limit, MadeRule, NamedRule, NodeType, Quantity, RuleViolation, Subject, type_name};
use crate::node::{Node, Scalar};

#[derive(Debug)]
struct Length {
    bound: LengthBound,
    /// The limit in messages: it may be larger than any length.
    shown: String,
    limit: i64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum LengthBound {
    Min,
    Max,
    Exact,
}

pub(super) fn min_len(value: &Value, subject: Subject<'_>) -> MadeRule {
    make(LengthBound::Min, value, subject)
}

pub(super) fn max_len(value: &Value, subject: Subject<'_>) -> MadeRule {
    make(LengthBound::Max, value, subject)
}

pub(super) fn len(value: &Value, subject: Subject<'_>) -> MadeRule {
    let negative = match value {
        Value::Int(limit) => *limit < 0,
        Value::BigInt(limit) => limit.to_f64().is_some_and(|limit| limit < 0.0),
        other => return Err(subject.wrong("number", other)),
    };
    if negative { Err(subject.bad("to be 0 or more")) } else { make(LengthBound::Exact, value, subject) }
}

fn make(bound: LengthBound, value: &Value, subject: Subject<'_>) -> MadeRule {
    // A float is truncated to an integer, as in the reference.
    let (shown, limit) = match value {
        Value::Int(limit) => (limit.to_string(), *limit),
        Value::BigInt(limit) => (limit.to_string(), if limit.to_f64() < Some(0.0) { i64::MIN } else { i64::MAX }),
        Value::Float(limit) if limit.is_finite() => (format!("{:.0}", limit.trunc() + 0.0), *limit as i64),
        // The reference's wording, which users know.
        other if matches!(subject, Subject::Value) => {
            let text = format!("expected value to be an number, but was {}", other.type_name());
            return Err(super::BadArgument::new(text));
        }
        other => return Err(subject.wrong("number", other)),
    };
    Ok(Some(Rc::new(Length { bound, shown, limit })))
}

fn length(value: &Node) -> Option<i64> {
    let length = match value {
        Node::Scalar(Scalar::Str(text)) => text.as_bytes().len(),
        Node::Scalar(_) => return None,
        Node::Array(array) => array.items.len(),
        Node::Map(map) => map.len(),
    };
    i64::try_from(length).ok()
}

impl NamedRule for Length {
    fn must_be(&self) -> String {
        let symbol = match self.bound {
            LengthBound::Min => ">=",
            LengthBound::Max => "<=",
            LengthBound::Exact => "=",
        };
        format!("length {symbol} {}", self.shown)
    }

    fn accepts(&self, value: &Node) -> bool {
        length(value).is_some_and(|length| match self.bound {
            LengthBound::Min => length >= self.limit,
            LengthBound::Max => length <= self.limit,
            LengthBound::Exact => length == self.limit,
        })
    }

    fn suits(&self, value: &Node) -> bool {
        length(value).is_some()
    }

    fn is_void(&self) -> bool {
        self.bound == LengthBound::Min && self.limit <= 0
    }

    fn found(&self, value: &Node) -> RuleViolation {
        match length(value) {
            Some(length) => RuleViolation::Failure(format!("length = {length}")),
            None => RuleViolation::Error(format!("len: value of type {} has no len", type_name(value))),
        }
    }

    fn limits(&self) -> Vec<Limit> {
        let bound = super::Bound { number: self.limit as f64, is_exclusive: false };
        let (least, most) = (Limit::AtLeast(Quantity::Length, bound), Limit::AtMost(Quantity::Length, bound));
        match self.bound {
            LengthBound::Min => vec![least],
            LengthBound::Max => vec![most],
            LengthBound::Exact => vec![least, most],
        }
    }

    fn export(&self, _target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        let (min, max) = match shape {
            NodeType::Text => ("minLength", "maxLength"),
            NodeType::List { .. } => ("minItems", "maxItems"),
            NodeType::Map(_) => ("minProperties", "maxProperties"),
            NodeType::Integer | NodeType::Float | NodeType::Other => return Vec::new(),
        };
        // Keywords cannot express negative lengths; no value is that short.
        if self.limit < 0 && self.bound != LengthBound::Min {
            return Vec::new();
        }
        let keyword = |name| Keyword::Plain(name, Node::Scalar(Scalar::Int(self.limit.max(0))));
        match self.bound {
            LengthBound::Min => vec![keyword(min)],
            LengthBound::Max => vec![keyword(max)],
            LengthBound::Exact => vec![keyword(min), keyword(max)],
        }
    }
}
