//! `min`, `max`, `above`, `below`: compare the value with the argument.

use std::cmp::Ordering;
use std::rc::Rc;

use ytterby_starlark::{CompareOp, Value, compare};

use super::{
    Bound, ExportTarget, Keyword, Limit, MadeRule, NamedRule, NodeType, Quantity, RuleViolation, Subject, Want,
    node_of, plain,
};
use crate::node::{Node, Scalar, to_plain_value};

#[derive(Debug)]
struct Compare {
    op: CompareOp,
    /// The argument as written, for the text of the rule.
    written: String,
    limit: Node,
}

pub(super) fn min(value: &Value, subject: Subject<'_>) -> MadeRule {
    make(CompareOp::Ge, value, subject)
}

pub(super) fn max(value: &Value, subject: Subject<'_>) -> MadeRule {
    make(CompareOp::Le, value, subject)
}

pub(super) fn above(value: &Value, subject: Subject<'_>) -> MadeRule {
    strict(CompareOp::Gt, value, subject)
}

pub(super) fn below(value: &Value, subject: Subject<'_>) -> MadeRule {
    strict(CompareOp::Lt, value, subject)
}

fn strict(op: CompareOp, value: &Value, subject: Subject<'_>) -> MadeRule {
    let fits = matches!(
        value,
        Value::Int(_) | Value::BigInt(_) | Value::Float(_) | Value::Str(_) | Value::List(_) | Value::Tuple(_)
    );
    if fits { make(op, value, subject) } else { Err(subject.wrong("number", value)) }
}

fn make(op: CompareOp, value: &Value, subject: Subject<'_>) -> MadeRule {
    let limit = plain(&node_of(value, subject)?);
    Ok(Some(Rc::new(Compare { op, written: value.repr().to_string(), limit })))
}

impl Compare {
    /// The fast path for scalars of one kind.
    fn order(&self, value: &Node) -> Option<Ordering> {
        let (Node::Scalar(value), Node::Scalar(limit)) = (value, &self.limit) else { return None };
        match (value, limit) {
            (Scalar::Int(value), Scalar::Int(limit)) => Some(value.cmp(limit)),
            (Scalar::Str(value), Scalar::Str(limit)) => Some(value.as_bytes().cmp(limit.as_bytes())),
            (Scalar::Float(value), Scalar::Float(limit)) => value.partial_cmp(limit),
            _ => None,
        }
    }

    fn answer(&self, value: &Node) -> Result<bool, String> {
        match self.order(value) {
            Some(order) => Ok(self.op.accepts(order)),
            None => {
                let (value, limit) = (to_plain_value(&plain(value)), to_plain_value(&self.limit));
                compare(self.op, &value, &limit).map_err(|error| error.message().into_owned())
            }
        }
    }
}

impl NamedRule for Compare {
    fn must_be(&self) -> String {
        format!("a value {} {}", self.op.symbol(), self.written)
    }

    fn accepts(&self, value: &Node) -> bool {
        self.answer(value) == Ok(true)
    }

    fn suits(&self, value: &Node) -> bool {
        self.answer(value).is_ok()
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(Want::Near(&self.limit))
    }

    fn found(&self, value: &Node) -> RuleViolation {
        let opposite = match self.op {
            CompareOp::Ge => "<",
            CompareOp::Le => ">",
            CompareOp::Gt => "<=",
            _ => ">=",
        };
        match self.answer(value) {
            Err(problem) => RuleViolation::Error(problem),
            Ok(_) => {
                RuleViolation::Failure(format!("value {opposite} {}", to_plain_value(&self.limit).to_text().to_str()))
            }
        }
    }

    fn limits(&self) -> Vec<Limit> {
        let number = match self.limit {
            Node::Scalar(Scalar::Int(number)) => number as f64,
            Node::Scalar(Scalar::UInt(number)) => number as f64,
            Node::Scalar(Scalar::Float(number)) => number,
            _ => return Vec::new(),
        };
        let bound = |is_exclusive| Bound { number, is_exclusive };
        vec![match self.op {
            CompareOp::Ge => Limit::AtLeast(Quantity::Value, bound(false)),
            CompareOp::Le => Limit::AtMost(Quantity::Value, bound(false)),
            CompareOp::Gt => Limit::AtLeast(Quantity::Value, bound(true)),
            _ => Limit::AtMost(Quantity::Value, bound(true)),
        }]
    }

    fn export(&self, target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        let is_number = matches!(self.limit, Node::Scalar(Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_)));
        if !is_number || !shape.may_be_number() {
            return Vec::new();
        }
        let (inclusive, exclusive) = match self.op {
            CompareOp::Ge | CompareOp::Gt => ("minimum", "exclusiveMinimum"),
            _ => ("maximum", "exclusiveMaximum"),
        };
        let limit = self.limit.clone();
        match (self.op, target) {
            (CompareOp::Ge | CompareOp::Le, _) => vec![Keyword::Plain(inclusive, limit)],
            (_, ExportTarget::JsonSchema) => vec![Keyword::Plain(exclusive, limit)],
            _ => vec![Keyword::Plain(inclusive, limit), Keyword::Plain(exclusive, Node::Scalar(Scalar::Bool(true)))],
        }
    }
}
