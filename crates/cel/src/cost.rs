//! Estimates the maximum cost of an expression from the maximum sizes of its variables.
//!
//! The rules are those of evaluation. If a size is unbounded, the cost of a loop over it is practically infinite. This is
//! intended: Kubernetes rejects such rules when a definition is created.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::{Loop, Node, NodeKind};
use crate::functions::Fun;
use crate::syntax::Macro;

/// The maximum size of a value.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Characters, bytes or items.
    pub max: u64,
    /// Items of lists and values of maps.
    pub items: Option<Arc<Shape>>,
    /// Keys of maps.
    pub keys: Option<Arc<Shape>>,
    /// Declared fields.
    pub fields: BTreeMap<String, Arc<Shape>>,
}

impl Shape {
    /// A scalar of this size.
    pub fn sized(max: u64) -> Arc<Shape> {
        Arc::new(Shape { max, ..Shape::default() })
    }

    fn unknown() -> Arc<Shape> {
        Shape::sized(u64::MAX)
    }
}

pub(crate) fn estimate(root: &Node, shapes: &[Arc<Shape>]) -> u64 {
    let mut walk = Estimate { shapes: shapes.to_vec() };
    walk.node(root).0
}

struct Estimate {
    shapes: Vec<Arc<Shape>>,
}

/// A tenth, rounded up: the cost of reading characters.
pub(crate) fn tenth(size: u64) -> u64 {
    size.div_ceil(10)
}

impl Estimate {
    fn node(&mut self, node: &Node) -> (u64, Arc<Shape>) {
        match &node.kind {
            NodeKind::Str(text) => (0, Shape::sized(text.len() as u64)),
            NodeKind::Bytes(bytes) => (0, Shape::sized(bytes.len() as u64)),
            NodeKind::Null
            | NodeKind::Bool(_)
            | NodeKind::Int(_)
            | NodeKind::Uint(_)
            | NodeKind::Double(_)
            | NodeKind::TypeName(_) => (0, Shape::sized(1)),
            NodeKind::Var(slot) => (1, self.shapes.get(*slot).cloned().unwrap_or_else(Shape::unknown)),
            NodeKind::Select(of, field, _) => {
                let (cost, shape) = self.node(of);
                let found = shape.fields.get(&field.name).or(shape.items.as_ref()).cloned();
                (cost.saturating_add(1), found.unwrap_or_else(Shape::unknown))
            }
            NodeKind::Has(of, _) => (self.node(of).0, Shape::sized(1)),
            NodeKind::Index(of, index, _) => {
                let ((cost, shape), (index, _)) = (self.node(of), self.node(index));
                let found = shape.items.clone().unwrap_or_else(Shape::unknown);
                (cost.saturating_add(index).saturating_add(1), found)
            }
            NodeKind::Call(fun, args) | NodeKind::Regex(fun, _, args) => self.call(*fun, args),
            NodeKind::Chain(first, rest) => {
                let (mut cost, mut shape) = self.node(first);
                for (fun, operand) in rest {
                    let (operand_cost, operand) = self.node(operand);
                    let own = of_call(*fun, shape.max, operand.max);
                    cost = cost.saturating_add(operand_cost).saturating_add(own);
                    shape = match fun {
                        Fun::Add => Arc::new(Shape { max: shape.max.saturating_add(operand.max), ..(*shape).clone() }),
                        _ => Shape::sized(1),
                    };
                }
                (cost, shape)
            }
            NodeKind::And(operands) | NodeKind::Or(operands) => {
                let cost = operands.iter().fold(0u64, |sum, operand| sum.saturating_add(self.node(operand).0));
                (cost, Shape::sized(1))
            }
            NodeKind::If(parts) => {
                let [condition, yes, no] = &**parts;
                let ((condition, _), (yes, a), (no, b)) = (self.node(condition), self.node(yes), self.node(no));
                (condition.saturating_add(yes.max(no)), if a.max >= b.max { a } else { b })
            }
            NodeKind::List(items) => {
                let mut cost = 10u64;
                let mut of: Option<Arc<Shape>> = None;
                for (item, _) in items {
                    let (item, shape) = self.node(item);
                    cost = cost.saturating_add(item);
                    of = Some(of.filter(|other| other.max > shape.max).unwrap_or(shape));
                }
                (cost, Arc::new(Shape { max: items.len() as u64, items: of, ..Shape::default() }))
            }
            NodeKind::Map(entries) => {
                let mut cost = 30u64;
                let mut fields = BTreeMap::new();
                for (key, value, _) in entries {
                    let (key_cost, _) = self.node(key);
                    let (value, shape) = self.node(value);
                    cost = cost.saturating_add(key_cost).saturating_add(value);
                    if let NodeKind::Str(name) = &key.kind {
                        fields.insert(name.clone(), shape);
                    }
                }
                (cost, Arc::new(Shape { max: entries.len() as u64, fields, ..Shape::default() }))
            }
            NodeKind::Comprehension(of) => self.comprehension(of),
        }
    }

    fn comprehension(&mut self, of: &Loop) -> (u64, Arc<Shape>) {
        let (range_cost, range) = self.node(&of.range);
        let is_optional = matches!(of.kind, Macro::OptMap | Macro::OptFlatMap);
        let items = range.items.clone().unwrap_or_else(Shape::unknown);
        let keys = range.keys.clone().unwrap_or_else(|| Shape::sized(1));
        let is_map = range.keys.is_some();
        self.shapes.truncate(of.slot);
        self.shapes.resize_with(of.slot, Shape::unknown);
        if is_optional {
            self.shapes.push(range.clone());
        } else if of.has_two {
            self.shapes.push(keys);
            self.shapes.push(items.clone());
        } else {
            self.shapes.push(if is_map { keys } else { items.clone() });
        }
        let mut round = if of.kind == Macro::Exists { 4u64 } else { 3 };
        let mut result = items;
        if let Some(condition) = &of.condition {
            round = round.saturating_add(self.node(condition).0);
        }
        if let Some(transform) = &of.transform {
            let (cost, shape) = self.node(transform);
            round = round.saturating_add(cost).saturating_add(11);
            result = shape;
        } else if of.kind == Macro::Filter {
            round = round.saturating_add(11);
        }
        self.shapes.truncate(of.slot);
        let rounds = if is_optional { 1 } else { range.max };
        let cost = range_cost.saturating_add(rounds.saturating_mul(round)).saturating_add(1);
        let shape = match of.kind {
            Macro::All | Macro::Exists | Macro::ExistsOne => Shape::sized(1),
            Macro::OptMap | Macro::OptFlatMap => result,
            Macro::Filter | Macro::SortBy => range,
            _ => Arc::new(Shape { max: range.max, items: Some(result), ..Shape::default() }),
        };
        (cost, shape)
    }

    fn call(&mut self, fun: Fun, args: &[Node]) -> (u64, Arc<Shape>) {
        let mut cost = 0u64;
        let mut shapes = Vec::with_capacity(args.len());
        for arg in args {
            let (arg, shape) = self.node(arg);
            cost = cost.saturating_add(arg);
            shapes.push(shape);
        }
        let sizes: Vec<u64> = shapes.iter().map(|shape| shape.max).collect();
        let first = sizes.first().copied().unwrap_or(1);
        let second = sizes.get(1).copied().unwrap_or(1);
        let own = of_call(fun, first, second);
        let like_first = || shapes.first().cloned().unwrap_or_else(Shape::unknown);
        let shape = match fun {
            Fun::Add => Arc::new(Shape { max: first.saturating_add(second), ..(*like_first()).clone() }),
            Fun::LowerAscii
            | Fun::UpperAscii
            | Fun::Trim
            | Fun::Substring
            | Fun::Find
            | Fun::Dyn
            | Fun::String
            | Fun::Bytes
            | Fun::Slice
            | Fun::Sort
            | Fun::Distinct
            | Fun::Reverse
            | Fun::Value
            | Fun::OptionalOf
            | Fun::OptionalOfNonZero => like_first(),
            Fun::Split | Fun::FindAll => {
                Arc::new(Shape { max: first, items: Some(Shape::sized(first)), ..Shape::default() })
            }
            Fun::OrValue | Fun::Or => {
                if first >= second {
                    like_first()
                } else {
                    shapes.get(1).cloned().unwrap_or_else(Shape::unknown)
                }
            }
            Fun::Replace | Fun::Join | Fun::Format | Fun::Quote => {
                Shape::sized(first.saturating_mul(sizes.get(2).copied().unwrap_or(2).max(2)))
            }
            Fun::Min | Fun::Max | Fun::First | Fun::Last => like_first().items.clone().unwrap_or_else(Shape::unknown),
            _ => Shape::sized(1),
        };
        (cost.saturating_add(own), shape)
    }
}

/// The cost of a call itself, by the sizes of its first two arguments.
pub(crate) fn of_call(fun: Fun, first: u64, second: u64) -> u64 {
    match fun {
        Fun::Contains | Fun::IndexOf | Fun::LastIndexOf => {
            1u64.saturating_add(tenth(first).saturating_mul(tenth(second)))
        }
        Fun::StartsWith | Fun::EndsWith => 1u64.saturating_add(tenth(second)),
        Fun::Matches | Fun::Find | Fun::FindAll => {
            // Each character costs a tenth, for each four characters of the pattern.
            tenth(first.saturating_add(1)).saturating_mul(second.div_ceil(4).max(1))
        }
        Fun::Equal | Fun::NotEqual | Fun::Less | Fun::LessEqual | Fun::Greater | Fun::GreaterEqual => {
            tenth(first.min(second)).max(1)
        }
        Fun::Add => tenth(first.saturating_add(second)).max(1),
        Fun::In => second.max(1),
        Fun::LowerAscii
        | Fun::UpperAscii
        | Fun::Trim
        | Fun::Substring
        | Fun::Replace
        | Fun::Split
        | Fun::Url
        | Fun::IsUrl
        | Fun::Ip
        | Fun::IsIp
        | Fun::Cidr
        | Fun::IsCidr
        | Fun::Quantity
        | Fun::IsQuantity
        | Fun::Semver
        | Fun::IsSemver
        | Fun::Bytes
        | Fun::Quote
        | Fun::Format => 1u64.saturating_add(tenth(first)),
        Fun::IsSorted | Fun::Sum | Fun::Min | Fun::Max | Fun::Join | Fun::Flatten | Fun::Slice | Fun::Reverse => {
            1u64.saturating_add(first)
        }
        Fun::Sort | Fun::Distinct | Fun::SetsContains | Fun::SetsEquivalent | Fun::SetsIntersects => 1u64
            .saturating_add(first.saturating_mul(if matches!(fun, Fun::Sort | Fun::Distinct) {
                first
            } else {
                second
            })),
        Fun::Range => 1u64.saturating_add(first),
        _ => 1,
    }
}
