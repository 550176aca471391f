//! `multiple_of`: the value divided by the argument is an integer, computed in decimal: 0.3 is a
//! multiple of 0.1.

use std::rc::Rc;

use num_traits::ToPrimitive;
use ytterby_starlark::Value;

use super::{
    ExportTarget, Keyword, MadeRule, NamedRule, NodeType, RuleViolation, Subject, Want, node_of, plain, wrong_type,
};
use crate::node::{Node, Scalar};

#[derive(Debug)]
struct MultipleOf {
    written: String,
    divisor: Decimal,
    node: Node,
}

pub(super) fn make(value: &Value, subject: Subject<'_>) -> MadeRule {
    let positive = match value {
        Value::Int(int) => *int > 0,
        Value::BigInt(int) => int.to_f64().is_some_and(|int| int > 0.0),
        Value::Float(float) => *float > 0.0 && float.is_finite(),
        other => return Err(subject.wrong("number", other)),
    };
    let node = plain(&node_of(value, subject)?);
    match Decimal::of(&node) {
        Some(divisor) if positive => Ok(Some(Rc::new(MultipleOf { written: value.repr().to_string(), divisor, node }))),
        _ => Err(subject.bad("to be greater than 0")),
    }
}

impl NamedRule for MultipleOf {
    fn must_be(&self) -> String {
        format!("a multiple of {}", self.written)
    }

    fn accepts(&self, value: &Node) -> bool {
        Decimal::of(value).is_some_and(|value| value.is_multiple_of(self.divisor))
    }

    fn suits(&self, value: &Node) -> bool {
        super::is_number(value)
    }

    fn wants(&self) -> Option<Want<'_>> {
        Some(Want::MultipleOf(&self.node))
    }

    fn found(&self, value: &Node) -> RuleViolation {
        RuleViolation::Failure(match value {
            Node::Scalar(Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_)) => {
                format!("not a multiple of {}", self.written)
            }
            other => wrong_type("number", other),
        })
    }

    fn export(&self, _target: ExportTarget, shape: &NodeType) -> Vec<Keyword> {
        match shape.may_be_number() {
            true => vec![Keyword::Plain("multipleOf", self.node.clone())],
            false => Vec::new(),
        }
    }
}

/// The absolute value of a number: `digits · 10^exponent`.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    fn of(value: &Node) -> Option<Decimal> {
        match value {
            Node::Scalar(Scalar::Int(int)) => Some(Decimal { digits: int.unsigned_abs(), exponent: 0 }),
            Node::Scalar(Scalar::UInt(int)) => Some(Decimal { digits: *int, exponent: 0 }),
            Node::Scalar(Scalar::Float(float)) if float.is_finite() => Decimal::of_float(float.abs()),
            _ => None,
        }
    }

    /// The shortest decimal that reads back as this float; it has at most 17 digits.
    fn of_float(float: f64) -> Option<Decimal> {
        let text = format!("{float:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, exponent: exponent.parse::<i32>().ok()? - fraction.len() as i32 })
    }

    fn is_multiple_of(self, divisor: Decimal) -> bool {
        let shift = self.exponent - divisor.exponent;
        let (digits, divisor) = (u128::from(self.digits), u128::from(divisor.digits));
        if shift >= 0 {
            // (digits · 10^shift) mod divisor without exceeding 128 bits.
            let mut remainder = digits % divisor;
            for _ in 0..shift {
                if remainder == 0 {
                    break;
                }
                remainder = remainder * 10 % divisor;
            }
            remainder == 0
        } else {
            let scaled = 10u128.checked_pow(shift.unsigned_abs()).and_then(|power| divisor.checked_mul(power));
            // A divisor that large divides only 0.
            scaled.map_or(digits == 0, |divisor| digits % divisor == 0)
        }
    }
}
