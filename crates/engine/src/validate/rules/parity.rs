//! `even` and `odd`: integers; a float without a fraction counts.

use std::rc::Rc;

use ytterby_starlark::Value;

use super::{ExportTarget, Keyword, MadeRule, NamedRule, NodeType, RuleViolation, Subject, wrong_type};
use crate::node::{Map, Node, Scalar};

#[derive(Debug)]
struct Parity {
    remainder: u64,
}

pub(super) fn even(value: &Value, subject: Subject<'_>) -> MadeRule {
    make(0, value, subject)
}

pub(super) fn odd(value: &Value, subject: Subject<'_>) -> MadeRule {
    make(1, value, subject)
}

fn make(remainder: u64, value: &Value, subject: Subject<'_>) -> MadeRule {
    Ok(if subject.flag(value)? { Some(Rc::new(Parity { remainder })) } else { None })
}

impl Parity {
    fn name(&self) -> &'static str {
        if self.remainder == 0 { "even" } else { "odd" }
    }
}

impl NamedRule for Parity {
    fn must_be(&self) -> String {
        format!("an {} number", self.name())
    }

    fn accepts(&self, value: &Node) -> bool {
        match value {
            Node::Scalar(Scalar::Int(int)) => int.unsigned_abs() % 2 == self.remainder,
            Node::Scalar(Scalar::UInt(int)) => int % 2 == self.remainder,
            Node::Scalar(Scalar::Float(float)) => (float % 2.0).abs() == self.remainder as f64,
            _ => false,
        }
    }

    fn has_period_two(&self) -> bool {
        true
    }

    fn suits(&self, value: &Node) -> bool {
        super::is_number(value)
    }

    fn found(&self, value: &Node) -> RuleViolation {
        RuleViolation::Failure(match value {
            Node::Scalar(Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_)) => format!("not {}", self.name()),
            other => wrong_type("number", other),
        })
    }

    fn export(&self, target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        if !shape.may_be_number() {
            return Vec::new();
        }
        let multiple_of = |number| Keyword::Plain("multipleOf", Node::Scalar(Scalar::Int(number)));
        // Numbers with a fraction are not multiples of two either.
        let whole = (*shape == NodeType::Float).then(|| multiple_of(1));
        match (self.remainder, target) {
            (0, _) => vec![multiple_of(2)],
            (_, ExportTarget::OpenApi) => Vec::new(),
            (_, ExportTarget::JsonSchema) => {
                let mut schema = Map::new();
                schema.push_new("multipleOf", Node::Scalar(Scalar::Int(2)));
                whole.into_iter().chain([Keyword::Plain("not", Node::map(schema))]).collect()
            }
            // Kubernetes has no arithmetic for values without a type.
            (_, ExportTarget::Crd) if *shape == NodeType::Other => Vec::new(),
            (_, ExportTarget::Crd) => {
                let rule = match whole {
                    Some(_) => "double(int(self)) == self && int(self) % 2 != 0",
                    None => "self % 2 != 0",
                };
                whole.into_iter().chain([Keyword::Cel(rule.to_owned())]).collect()
            }
        }
    }
}
