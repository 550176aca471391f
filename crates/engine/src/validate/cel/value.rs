//! Values of CEL. Collections of the checked document are read in place.

use std::cmp::Ordering;
use std::rc::Rc;

use ytterby_text::gofloat;

use crate::node::{Node, Scalar};

/// A value while an expression is evaluated.
#[derive(Clone, Debug)]
pub(super) enum Val<'n> {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Double(f64),
    Str(Rc<str>),
    Bytes(Rc<[u8]>),
    List(Rc<[Val<'n>]>),
    Map(Rc<[(Val<'n>, Val<'n>)]>),
    /// A map or array of the document.
    Node(&'n Node),
    /// What `type()` gives.
    Type(&'static str),
}

impl<'n> Val<'n> {
    pub fn of(node: &'n Node) -> Val<'n> {
        match node {
            Node::Scalar(scalar) => Val::of_scalar(scalar),
            collection => Val::Node(collection),
        }
    }

    pub fn of_scalar(scalar: &Scalar) -> Val<'n> {
        match scalar {
            Scalar::Null => Val::Null,
            Scalar::Bool(value) => Val::Bool(*value),
            Scalar::Int(value) => Val::Int(*value),
            Scalar::UInt(value) => Val::UInt(*value),
            Scalar::Float(value) => Val::Double(*value),
            Scalar::Str(text) => Val::Str(Rc::from(&*text.to_str())),
            Scalar::Complex(_) => Val::Str(Rc::from(&*crate::node::key_text(scalar))),
        }
    }

    pub fn type_name(&self) -> &'static str {
        match self {
            Val::Null => "null_type",
            Val::Bool(_) => "bool",
            Val::Int(_) => "int",
            Val::UInt(_) => "uint",
            Val::Double(_) => "double",
            Val::Str(_) => "string",
            Val::Bytes(_) => "bytes",
            Val::List(_) | Val::Node(Node::Array(_)) => "list",
            Val::Map(_) | Val::Node(_) => "map",
            Val::Type(_) => "type",
        }
    }

    /// How many items, characters or bytes there are.
    pub fn size(&self) -> Option<usize> {
        Some(match self {
            Val::Str(text) => text.chars().count(),
            Val::Bytes(bytes) => bytes.len(),
            Val::List(items) => items.len(),
            Val::Map(items) => items.len(),
            Val::Node(Node::Array(array)) => array.items.len(),
            Val::Node(Node::Map(map)) => map.len(),
            _ => return None,
        })
    }

    /// The item of a list.
    pub fn item(&self, index: usize) -> Option<Val<'n>> {
        match self {
            Val::List(items) => items.get(index).cloned(),
            Val::Node(Node::Array(array)) => array.items.get(index).map(|item| Val::of(&item.value)),
            _ => None,
        }
    }

    /// What a comprehension runs over: the items of a list, the keys of a map.
    pub fn element(&self, index: usize) -> Option<Val<'n>> {
        match self {
            Val::Map(items) => items.get(index).map(|(key, _)| key.clone()),
            Val::Node(Node::Map(map)) => map.items().get(index).map(|item| Val::of_scalar(&item.key)),
            list => list.item(index),
        }
    }

    /// The value of a key; `None` where the map has no such key or this is no map.
    pub fn get(&self, key: &Val<'n>) -> Option<Val<'n>> {
        match self {
            // Keys are scalars, which compare in one step.
            Val::Map(items) => {
                items.iter().find(|(other, _)| other.equals(key, &mut 0)).map(|(_, value)| value.clone())
            }
            Val::Node(Node::Map(map)) => {
                let scalar = match key {
                    Val::Str(text) => Scalar::from(&**text),
                    Val::Int(value) => Scalar::Int(*value),
                    Val::UInt(value) => i64::try_from(*value).map_or(Scalar::UInt(*value), Scalar::Int),
                    Val::Bool(value) => Scalar::Bool(*value),
                    _ => return None,
                };
                map.get(&scalar).map(|item| Val::of(&item.value))
            }
            _ => None,
        }
    }

    pub fn is_map(&self) -> bool {
        matches!(self, Val::Map(_) | Val::Node(Node::Map(_)))
    }

    pub fn is_list(&self) -> bool {
        matches!(self, Val::List(_) | Val::Node(Node::Array(_)))
    }

    /// `==`: numbers by value, everything else only with its own type. Each comparison adds to `steps`.
    pub fn equals(&self, other: &Val<'n>, steps: &mut u32) -> bool {
        *steps = steps.saturating_add(1);
        match (self, other) {
            (Val::Null, Val::Null) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Str(a), Val::Str(b)) => a == b,
            (Val::Bytes(a), Val::Bytes(b)) => a == b,
            (Val::Type(a), Val::Type(b)) => a == b,
            (a, b) if a.is_list() && b.is_list() => {
                let size = a.size();
                size == b.size()
                    && (0..size.unwrap_or(0)).all(|at| match (a.item(at), b.item(at)) {
                        (Some(a), Some(b)) => crate::deep(|| a.equals(&b, steps)),
                        _ => false,
                    })
            }
            (a, b) if a.is_map() && b.is_map() => {
                let size = a.size();
                size == b.size()
                    && (0..size.unwrap_or(0)).filter_map(|at| a.element(at)).all(|key| {
                        match (a.get(&key), b.get(&key)) {
                            (Some(a), Some(b)) => crate::deep(|| a.equals(&b, steps)),
                            _ => false,
                        }
                    })
            }
            (a, b) => a.number_order(b) == Some(Ordering::Equal),
        }
    }

    /// How many steps it takes to look at all of it once, where that is one piece.
    pub fn cost(&self) -> usize {
        match self {
            Val::Str(text) => text.len() / 64,
            Val::Bytes(bytes) => bytes.len() / 64,
            _ => 0,
        }
    }

    /// `<` and so on; `None` where the two have no order.
    pub fn order(&self, other: &Val<'n>) -> Option<Ordering> {
        match (self, other) {
            (Val::Bool(a), Val::Bool(b)) => Some(a.cmp(b)),
            (Val::Str(a), Val::Str(b)) => Some(a.cmp(b)),
            (Val::Bytes(a), Val::Bytes(b)) => Some(a.cmp(b)),
            (a, b) => a.number_order(b),
        }
    }

    pub fn is_number(&self) -> bool {
        matches!(self, Val::Int(_) | Val::UInt(_) | Val::Double(_))
    }

    fn number_order(&self, other: &Val<'n>) -> Option<Ordering> {
        let whole = |value: &Val<'n>| match value {
            Val::Int(value) => Some(i128::from(*value)),
            Val::UInt(value) => Some(i128::from(*value)),
            _ => None,
        };
        match (self, other) {
            (Val::Double(a), Val::Double(b)) => a.partial_cmp(b),
            (Val::Double(a), b) => whole(b).and_then(|b| float_order(*a, b)),
            (a, Val::Double(b)) => whole(a).and_then(|a| float_order(*b, a)).map(Ordering::reverse),
            (a, b) => Some(whole(a)?.cmp(&whole(b)?)),
        }
    }

    /// What `string()` gives.
    pub fn text(&self) -> Option<Rc<str>> {
        Some(match self {
            Val::Str(text) => text.clone(),
            Val::Bool(value) => value.to_string().into(),
            Val::Int(value) => value.to_string().into(),
            Val::UInt(value) => value.to_string().into(),
            Val::Double(value) => gofloat::format_g(*value).into(),
            Val::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.into(),
            _ => return None,
        })
    }
}

/// The order of a float and an integer, without rounding either.
fn float_order(float: f64, int: i128) -> Option<Ordering> {
    match float {
        float if float.is_nan() => None,
        float if float >= 1e30 => Some(Ordering::Greater),
        float if float <= -1e30 => Some(Ordering::Less),
        float => {
            let below = float.floor();
            Some((below as i128).cmp(&int).then(if float > below { Ordering::Greater } else { Ordering::Equal }))
        }
    }
}
