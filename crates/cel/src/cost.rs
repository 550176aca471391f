//! Estimates the maximum cost of an expression from the maximum sizes of its variables.
//!
//! The rules are those of evaluation. If a size is unbounded, the cost of a loop over it is
//! practically infinite. This is intended: Kubernetes rejects such rules when a definition is
//! created.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::check::{Loop, NodeKind, TypedNode};
use crate::functions::Fun;
use crate::syntax::Macro;
use crate::types::Type;

/// The maximum size of a value.
#[derive(Clone, Debug, Default)]
pub struct MaxSize {
    /// Characters, bytes or items.
    pub max: u64,
    /// Items of lists and values of maps.
    pub items: Option<Arc<MaxSize>>,
    /// Keys of maps.
    pub keys: Option<Arc<MaxSize>>,
    /// Declared fields.
    pub fields: BTreeMap<String, Arc<MaxSize>>,
}

impl MaxSize {
    /// A scalar of this size.
    pub fn sized(max: u64) -> Arc<MaxSize> {
        Arc::new(MaxSize { max, ..MaxSize::default() })
    }

    fn unknown() -> Arc<MaxSize> {
        MaxSize::sized(u64::MAX)
    }
}

pub(crate) fn estimate(root: &TypedNode, shapes: &[Arc<MaxSize>]) -> u64 {
    let mut walk = Estimate { shapes: shapes.to_vec() };
    walk.node(root).0
}

struct Estimate {
    shapes: Vec<Arc<MaxSize>>,
}

/// Whether values of a type have no size of their own.
fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Int | Type::Uint | Type::Double | Type::Duration | Type::Timestamp)
}

/// A tenth, rounded up: what looking at characters costs.
pub(crate) fn tenth(size: u64) -> u64 {
    size.div_ceil(10)
}

impl Estimate {
    fn node(&mut self, node: &TypedNode) -> (u64, Arc<MaxSize>) {
        match &node.kind {
            NodeKind::Str(text) => (0, MaxSize::sized(text.len() as u64)),
            NodeKind::Bytes(bytes) => (0, MaxSize::sized(bytes.len() as u64)),
            NodeKind::Null | NodeKind::Bool(_) | NodeKind::Int(_) | NodeKind::Uint(_) | NodeKind::Double(_) => {
                (0, MaxSize::sized(1))
            }
            // A name like any other, of a value whose size is unknown.
            NodeKind::TypeName(_) => (1, MaxSize::unknown()),
            NodeKind::Var(slot) => (1, self.shapes.get(*slot).cloned().unwrap_or_else(MaxSize::unknown)),
            NodeKind::Select(of, field, _) => {
                let (cost, shape) = self.node(of);
                let found = shape.fields.get(&field.name).or(shape.items.as_ref()).cloned();
                (cost.saturating_add(1), found.unwrap_or_else(MaxSize::unknown))
            }
            NodeKind::Has(of, _) => (self.node(of).0, MaxSize::sized(1)),
            NodeKind::Index(of, index, _) => {
                let ((cost, shape), (index, _)) = (self.node(of), self.node(index));
                let found = shape.items.clone().unwrap_or_else(MaxSize::unknown);
                (cost.saturating_add(index).saturating_add(1), found)
            }
            NodeKind::Call(fun, args) | NodeKind::Regex(fun, _, args) => self.call(*fun, args, &node.ty),
            NodeKind::Chain(first, rest) => {
                let (mut cost, mut shape) = self.node(first);
                for (fun, operand) in rest {
                    let (operand_cost, operand) = self.node(operand);
                    let own = self::own(*fun, &[shape.clone(), operand.clone()], &node.ty);
                    cost = cost.saturating_add(operand_cost).saturating_add(own);
                    shape = match fun {
                        Fun::Add if !is_number(&node.ty) => {
                            Arc::new(MaxSize { max: shape.max.saturating_add(operand.max), ..(*shape).clone() })
                        }
                        _ => MaxSize::sized(1),
                    };
                }
                (cost, shape)
            }
            NodeKind::And(operands) | NodeKind::Or(operands) => {
                let cost = operands.iter().fold(0u64, |sum, operand| sum.saturating_add(self.node(operand).0));
                (cost, MaxSize::sized(1))
            }
            NodeKind::If(parts) => {
                let [condition, yes, no] = &**parts;
                let ((condition, _), (yes, a), (no, b)) = (self.node(condition), self.node(yes), self.node(no));
                (condition.saturating_add(yes.max(no)), if a.max >= b.max { a } else { b })
            }
            NodeKind::List(items) => {
                let mut cost = 10u64;
                let mut of: Option<Arc<MaxSize>> = None;
                for (item, _) in items {
                    let (item, shape) = self.node(item);
                    cost = cost.saturating_add(item);
                    of = Some(of.filter(|other| other.max > shape.max).unwrap_or(shape));
                }
                (cost, Arc::new(MaxSize { max: items.len() as u64, items: of, ..MaxSize::default() }))
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
                (cost, Arc::new(MaxSize { max: entries.len() as u64, fields, ..MaxSize::default() }))
            }
            NodeKind::Comprehension(of) => self.comprehension(of),
        }
    }

    fn comprehension(&mut self, of: &Loop) -> (u64, Arc<MaxSize>) {
        let (range_cost, range) = self.node(&of.range);
        let is_optional = matches!(of.kind, Macro::OptMap | Macro::OptFlatMap);
        let items = range.items.clone().unwrap_or_else(MaxSize::unknown);
        let keys = range.keys.clone().unwrap_or_else(|| MaxSize::sized(1));
        let is_map = range.keys.is_some();
        self.shapes.truncate(of.slot);
        self.shapes.resize_with(of.slot, MaxSize::unknown);
        if is_optional {
            self.shapes.push(range.clone());
        } else if of.has_two {
            self.shapes.push(keys);
            self.shapes.push(items.clone());
        } else {
            self.shapes.push(if is_map { keys } else { items.clone() });
        }
        // What one round costs beside its condition, and the loop beside its rounds, as the macros
        // are expanded: an accumulator is read, and a list or map grows by one item.
        let (mut round, once) = match of.kind {
            Macro::Exists => (4u64, 1u64),
            Macro::ExistsOne => (2, 2),
            Macro::Filter => (13, 11),
            Macro::Map | Macro::TransformList => (12, 11),
            Macro::TransformMap | Macro::TransformMapEntry => (3, 31),
            Macro::SortBy => (14, 1),
            Macro::All | Macro::OptMap | Macro::OptFlatMap => (3, 1),
        };
        let mut result = items;
        if let Some(condition) = &of.condition {
            round = round.saturating_add(self.node(condition).0);
        }
        if let Some(transform) = &of.transform {
            let (cost, shape) = self.node(transform);
            round = round.saturating_add(cost);
            result = shape;
        }
        self.shapes.truncate(of.slot);
        let rounds = if is_optional { 1 } else { range.max };
        let cost = range_cost.saturating_add(rounds.saturating_mul(round)).saturating_add(once);
        let shape = match of.kind {
            Macro::All | Macro::Exists | Macro::ExistsOne => MaxSize::sized(1),
            Macro::OptMap | Macro::OptFlatMap => result,
            Macro::Filter | Macro::SortBy => range,
            _ => Arc::new(MaxSize { max: range.max, items: Some(result), ..MaxSize::default() }),
        };
        (cost, shape)
    }

    fn call(&mut self, fun: Fun, args: &[TypedNode], ty: &Type) -> (u64, Arc<MaxSize>) {
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
        let own = own(fun, &shapes, ty);
        let like_first = || shapes.first().cloned().unwrap_or_else(MaxSize::unknown);
        let shape = match fun {
            Fun::Add if is_number(ty) => MaxSize::sized(1),
            Fun::Add => Arc::new(MaxSize { max: first.saturating_add(second), ..(*like_first()).clone() }),
            // Numbers as text have a size that nobody knows.
            Fun::String if first == 0 => MaxSize::unknown(),
            Fun::LowerAscii
            | Fun::UpperAscii
            | Fun::Trim
            | Fun::Substring
            | Fun::Find
            | Fun::Dyn
            | Fun::TypeOf
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
                Arc::new(MaxSize { max: first, items: Some(MaxSize::sized(first)), ..MaxSize::default() })
            }
            Fun::OrValue | Fun::Or => {
                if first >= second {
                    like_first()
                } else {
                    shapes.get(1).cloned().unwrap_or_else(MaxSize::unknown)
                }
            }
            Fun::Replace | Fun::Join | Fun::Format | Fun::Quote => {
                MaxSize::sized(first.saturating_mul(sizes.get(2).copied().unwrap_or(2).max(2)))
            }
            Fun::Min | Fun::Max | Fun::First | Fun::Last => like_first().items.clone().unwrap_or_else(MaxSize::unknown),
            _ => MaxSize::sized(1),
        };
        (cost.saturating_add(own), shape)
    }
}

/// The cost of a call without its arguments.
fn own(fun: Fun, shapes: &[Arc<MaxSize>], ty: &Type) -> u64 {
    let size = |at: usize| shapes.get(at).map_or(1, |shape: &Arc<MaxSize>| shape.max);
    match fun {
        // One look at a map; a list is searched.
        Fun::In if shapes.get(1).is_some_and(|shape| shape.keys.is_some()) => 1,
        Fun::Add if is_number(ty) => 1,
        _ => of_list(fun, shapes).unwrap_or_else(|| of_call(fun, size(0), size(1))),
    }
}

/// The cost of a call that reads the items of a list.
fn of_list(fun: Fun, shapes: &[Arc<MaxSize>]) -> Option<u64> {
    let list = shapes.first()?;
    let item = list.items.as_ref()?.max;
    Some(match fun {
        Fun::Reverse | Fun::Slice => list.max.saturating_add(11),
        Fun::IsSorted | Fun::Sum | Fun::Min | Fun::Max | Fun::IndexOf | Fun::LastIndexOf => {
            list.max.saturating_mul(tenth(item).saturating_add(1))
        }
        Fun::Join => {
            let between = shapes.get(1).map_or(0, |text| text.max).saturating_mul(list.max.saturating_sub(1));
            tenth(list.max.saturating_mul(item).saturating_add(between))
        }
        _ => return None,
    })
}

/// The cost of a call without its arguments, by the sizes of the first two.
pub(crate) fn of_call(fun: Fun, first: u64, second: u64) -> u64 {
    match fun {
        Fun::Contains | Fun::IndexOf | Fun::LastIndexOf => tenth(first).saturating_mul(tenth(second)),
        Fun::StartsWith | Fun::EndsWith => tenth(second),
        Fun::Matches | Fun::Find | Fun::FindAll => {
            // Each character costs a tenth, for each four characters of the pattern.
            tenth(first.saturating_add(1)).saturating_mul(second.div_ceil(4).max(1))
        }
        Fun::Equal | Fun::NotEqual => tenth(first.min(second)),
        Fun::Less | Fun::LessEqual | Fun::Greater | Fun::GreaterEqual => tenth(first.min(second)).max(1),
        Fun::Add => tenth(first.saturating_add(second)).max(1),
        Fun::In => second.max(1),
        // Once to look for the separators, once to write the result.
        Fun::Replace | Fun::Split => tenth(first).saturating_mul(2),
        Fun::LowerAscii
        | Fun::UpperAscii
        | Fun::Trim
        | Fun::Substring
        | Fun::Url
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
        | Fun::Format => tenth(first),
        Fun::IsCanonical => tenth(first).saturating_mul(2),
        Fun::ContainsIp => {
            if second > 1 {
                tenth(second).saturating_add(4)
            } else {
                4
            }
        }
        // The regular expressions of formats count as if they had 128 characters.
        Fun::Validate => tenth(second).saturating_mul(32).max(1),
        Fun::IsSorted | Fun::Sum | Fun::Min | Fun::Max | Fun::Join | Fun::Flatten | Fun::Slice | Fun::Reverse => {
            1u64.saturating_add(first)
        }
        Fun::Sort => first.saturating_mul(first).saturating_mul(2).saturating_add(14),
        Fun::Distinct => first.saturating_mul(first).saturating_mul(2).saturating_add(11),
        Fun::SetsContains | Fun::SetsIntersects => 1u64.saturating_add(first.saturating_mul(second)),
        Fun::SetsEquivalent => 1u64.saturating_add(first.saturating_mul(second).saturating_mul(2)),
        Fun::Range => 1u64.saturating_add(first),
        _ => 1,
    }
}
