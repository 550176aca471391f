//! Values during evaluation: equality, order and sizes.
//!
//! Numbers of different types are equal if they denote the same number, also as keys of maps;
//! values of other different types are unequal, never an error. Sizes (`Val::deep_size`) decide
//! what a call costs.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::net::IpAddr;
use std::rc::Rc;

use crate::call::{NamedFormat, SemverValue};
use crate::quantity::Quantity;

/// A value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Val {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// A float.
    Double(f64),
    /// A text.
    Str(Rc<str>),
    /// Bytes.
    Bytes(Rc<[u8]>),
    /// A list.
    List(Rc<ListVal>),
    /// A map, or an object with fields.
    Map(Rc<MapVal>),
    /// Seconds since 1970, and nanoseconds.
    Timestamp(i64, u32),
    /// Nanoseconds.
    Duration(i64),
    /// A value or nothing.
    Optional(Option<Rc<Val>>),
    /// A type.
    Type(&'static str),
    /// An IP address.
    Ip(IpAddr),
    /// A range of IP addresses.
    Cidr(IpAddr, u8),
    /// A URL.
    Url(Rc<ytterby_text::url::Url>),
    /// A quantity.
    Quantity(Rc<Quantity>),
    /// A version.
    Semver(Rc<SemverValue>),
    /// A named format.
    Format(NamedFormat),
    /// Answers whether a request is authorized; always unknown here.
    Authorizer,
}

/// The semantics of a list in comparisons.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ListKind {
    /// The order matters.
    #[default]
    Plain,
    /// The order does not matter.
    Set,
    /// The order does not matter; these keys identify items.
    Map(Vec<String>),
}

/// A list.
#[derive(Debug, Default)]
pub struct ListVal {
    /// Its items.
    pub items: Vec<Val>,
    /// Its semantics.
    pub kind: ListKind,
}

/// A map.
#[derive(Debug, Default)]
pub struct MapVal {
    entries: Vec<(Val, Val)>,
    index: OnceCell<HashMap<MapKey, usize>>,
}

/// A hashable key: equal numbers of different types are one key.
#[derive(PartialEq, Eq, Hash, Debug)]
enum MapKey {
    Bool(bool),
    Number(i128),
    Str(Rc<str>),
}

/// Maps with up to this many entries have no index.
const SEARCHED: usize = 8;

impl MapVal {
    /// A map of these entries, in order. Keys are booleans, integers or texts.
    pub fn new(entries: Vec<(Val, Val)>) -> MapVal {
        MapVal { entries, index: OnceCell::new() }
    }

    /// Its entries.
    pub fn entries(&self) -> &[(Val, Val)] {
        &self.entries
    }

    /// The value of a key.
    pub fn get(&self, key: &Val) -> Option<&Val> {
        if self.entries.len() <= SEARCHED {
            return self.entries.iter().find(|(other, _)| other.equals(key)).map(|(_, value)| value);
        }
        let index = self.index.get_or_init(|| {
            let keys = self.entries.iter().enumerate().filter_map(|(at, (key, _))| Some((key.key()?, at)));
            keys.collect()
        });
        index.get(&key.key()?).map(|&at| &self.entries[at].1)
    }

    /// The value of a text key.
    pub fn field(&self, name: &str) -> Option<&Val> {
        if self.entries.len() <= SEARCHED {
            let is_it = |(key, _): &&(Val, Val)| matches!(key, Val::Str(text) if **text == *name);
            return self.entries.iter().find(is_it).map(|(_, value)| value);
        }
        self.get(&Val::from(name))
    }
}

impl From<&str> for Val {
    fn from(text: &str) -> Val {
        Val::Str(text.into())
    }
}

impl Val {
    /// A list whose order matters.
    pub fn list(items: Vec<Val>) -> Val {
        Val::List(Rc::new(ListVal { items, kind: ListKind::Plain }))
    }

    /// A map.
    pub fn map(entries: Vec<(Val, Val)>) -> Val {
        Val::Map(Rc::new(MapVal::new(entries)))
    }

    fn key(&self) -> Option<MapKey> {
        Some(match self {
            Val::Bool(value) => MapKey::Bool(*value),
            Val::Int(value) => MapKey::Number((*value).into()),
            Val::Uint(value) => MapKey::Number((*value).into()),
            Val::Double(value) if value.fract() == 0.0 && value.abs() < 1e30 => MapKey::Number(*value as i128),
            Val::Str(text) => MapKey::Str(text.clone()),
            _ => return None,
        })
    }

    /// The name of its type, as `type(x)` shows it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Val::Null => "null_type",
            Val::Bool(_) => "bool",
            Val::Int(_) => "int",
            Val::Uint(_) => "uint",
            Val::Double(_) => "double",
            Val::Str(_) => "string",
            Val::Bytes(_) => "bytes",
            Val::List(_) => "list",
            Val::Map(_) => "map",
            Val::Timestamp(..) => "google.protobuf.Timestamp",
            Val::Duration(_) => "google.protobuf.Duration",
            Val::Optional(_) => "optional_type",
            Val::Type(_) => "type",
            Val::Ip(_) => "net.IP",
            Val::Cidr(..) => "net.CIDR",
            Val::Url(_) => "kubernetes.URL",
            Val::Quantity(_) => "kubernetes.Quantity",
            Val::Semver(_) => "kubernetes.Semver",
            Val::Format(_) => "kubernetes.NamedFormat",
            Val::Authorizer => "kubernetes.authorization.Authorizer",
        }
    }

    /// Its size for costs: characters, bytes, items.
    pub(crate) fn size(&self) -> u64 {
        match self {
            Val::Str(text) => text.len() as u64,
            Val::Bytes(bytes) => bytes.len() as u64,
            Val::List(list) => list.items.len() as u64,
            Val::Map(map) => map.entries.len() as u64,
            _ => 1,
        }
    }

    /// Its size including everything inside.
    pub(crate) fn deep_size(&self) -> u64 {
        match self {
            Val::List(list) => 1 + list.items.iter().map(Val::deep_size).sum::<u64>(),
            Val::Map(map) => 1 + map.entries.iter().map(|(key, value)| key.size() + value.deep_size()).sum::<u64>(),
            other => other.size(),
        }
    }

    /// Whether two values are equal. Values of different types are unequal, except numbers.
    pub fn equals(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Null, Val::Null) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Str(a), Val::Str(b)) => a == b,
            (Val::Bytes(a), Val::Bytes(b)) => a == b,
            (Val::Timestamp(a, b), Val::Timestamp(c, d)) => (a, b) == (c, d),
            (Val::Duration(a), Val::Duration(b)) => a == b,
            (Val::Type(a), Val::Type(b)) => a == b,
            (Val::Ip(a), Val::Ip(b)) => a == b,
            (Val::Cidr(a, x), Val::Cidr(b, y)) => (a, x) == (b, y),
            (Val::Url(a), Val::Url(b)) => a.text() == b.text(),
            (Val::Quantity(a), Val::Quantity(b)) => a == b,
            (Val::Semver(a), Val::Semver(b)) => a.compare(b) == Ordering::Equal,
            (Val::Format(a), Val::Format(b)) => a == b,
            (Val::Optional(a), Val::Optional(b)) => match (a, b) {
                (None, None) => true,
                (Some(a), Some(b)) => a.equals(b),
                _ => false,
            },
            (Val::List(a), Val::List(b)) => a.equals(b),
            (Val::Map(a), Val::Map(b)) => {
                a.entries.len() == b.entries.len()
                    && a.entries.iter().all(|(key, value)| b.get(key).is_some_and(|other| value.equals(other)))
            }
            _ => self.compare_numbers(other) == Some(Ordering::Equal),
        }
    }

    /// Compares two numbers of any types.
    pub(crate) fn compare_numbers(&self, other: &Val) -> Option<Ordering> {
        let whole = |value: &Val| match value {
            Val::Int(value) => Some(i128::from(*value)),
            Val::Uint(value) => Some(i128::from(*value)),
            _ => None,
        };
        match (self, other) {
            (Val::Double(a), Val::Double(b)) => a.partial_cmp(b),
            (Val::Double(a), b) => compare_mixed(*a, whole(b)?),
            (a, Val::Double(b)) => compare_mixed(*b, whole(a)?).map(Ordering::reverse),
            (a, b) => Some(whole(a)?.cmp(&whole(b)?)),
        }
    }

    /// Compares two values of one type.
    pub(crate) fn compare(&self, other: &Val) -> Option<Ordering> {
        match (self, other) {
            (Val::Bool(a), Val::Bool(b)) => Some(a.cmp(b)),
            (Val::Str(a), Val::Str(b)) => Some(a.cmp(b)),
            (Val::Bytes(a), Val::Bytes(b)) => Some(a.cmp(b)),
            (Val::Timestamp(a, b), Val::Timestamp(c, d)) => Some((a, b).cmp(&(c, d))),
            (Val::Duration(a), Val::Duration(b)) => Some(a.cmp(b)),
            _ => self.compare_numbers(other),
        }
    }
}

fn compare_mixed(a: f64, b: i128) -> Option<Ordering> {
    if a.is_nan() {
        return None;
    }
    if a.abs() >= 1e30 {
        return Some(if a > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let whole = a.floor();
    Some((whole as i128).cmp(&b).then(if a > whole { Ordering::Greater } else { Ordering::Equal }))
}

impl ListVal {
    fn equals(&self, other: &ListVal) -> bool {
        if self.items.len() != other.items.len() {
            return false;
        }
        let is_ordered = self.kind == ListKind::Plain && other.kind == ListKind::Plain;
        if is_ordered {
            return self.items.iter().zip(&other.items).all(|(a, b)| a.equals(b));
        }
        self.items.iter().all(|a| other.items.iter().any(|b| a.equals(b)))
            && other.items.iter().all(|a| self.items.iter().any(|b| a.equals(b)))
    }

    /// Concatenates lists according to their semantics.
    pub(crate) fn joined(&self, other: &ListVal) -> ListVal {
        let mut items = self.items.clone();
        match &self.kind {
            ListKind::Plain => items.extend(other.items.iter().cloned()),
            ListKind::Set => {
                for item in &other.items {
                    if !items.iter().any(|known| known.equals(item)) {
                        items.push(item.clone());
                    }
                }
            }
            ListKind::Map(keys) => {
                let same = |a: &Val, b: &Val| match (a, b) {
                    (Val::Map(a), Val::Map(b)) => keys.iter().all(|key| match (a.field(key), b.field(key)) {
                        (Some(a), Some(b)) => a.equals(b),
                        (None, None) => true,
                        _ => false,
                    }),
                    _ => false,
                };
                for item in &other.items {
                    match items.iter_mut().find(|known| same(known, item)) {
                        Some(known) => *known = item.clone(),
                        None => items.push(item.clone()),
                    }
                }
            }
        }
        ListVal { items, kind: self.kind.clone() }
    }
}
