//! A manifest as data: values with positions.
//!
//! Hosts build a [`Manifest`] from a YAML tree ([`documents`]) or from their own nodes. Keys are
//! strings, as in JSON; of duplicate keys the last value counts, and each earlier one is recorded,
//! because a strict server rejects it. A position is that of the *item* that contains the value
//! (its key or its `-`), from which a source finds the ranges of key and value.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use ytterby_diag::{Path, Pos, Step};
use ytterby_text::{Str, budget, gofloat};
use ytterby_yaml::{Document as YamlDocument, NodeId, Scalar, Tree, View, has_duplicate_keys, last_wins};

/// Maximum nesting of documents, which limits every recursion over them.
pub const MAX_DEPTH: usize = 400;

/// A value with its position.
#[derive(Clone, Debug)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// The start of the item that contains it.
    pub pos: Pos,
}

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Value {
    /// Null or absent.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above [`i64::MAX`].
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(SharedStr),
    /// An array.
    List(Vec<Node>),
    /// A map.
    Map(Vec<MapEntry>),
}

/// A string of a document: text that is cheap to clone, and the same bytes as in the tree that it
/// was read from.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedStr(Str);

impl SharedStr {
    /// The text of a string; invalid UTF-8 is replaced.
    pub fn of(text: &Str) -> SharedStr {
        const NOT_ASCII: u64 = 0x8080_8080_8080_8080;
        // Nearly all strings are short and ASCII: this takes a tenth of the instructions of reading
        // their characters.
        let is_ascii = text.short().is_some_and(|[a, b, c]| (a | b | c) & NOT_ASCII == 0);
        match is_ascii || text.as_str().is_some() {
            true => SharedStr(text.clone()),
            false => SharedStr(Str::new(&*text.to_str())),
        }
    }

    /// The bytes. Unlike the text, they need no check.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl Deref for SharedStr {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_str().expect("all constructors check it")
    }
}

impl PartialEq<str> for SharedStr {
    fn eq(&self, other: &str) -> bool {
        self.0.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for SharedStr {
    fn eq(&self, other: &&str) -> bool {
        *self == **other
    }
}

impl From<&str> for SharedStr {
    fn from(text: &str) -> SharedStr {
        SharedStr(Str::new(text))
    }
}

impl From<String> for SharedStr {
    fn from(text: String) -> SharedStr {
        SharedStr(Str::new(text))
    }
}

impl fmt::Display for SharedStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for SharedStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

/// One item of a map.
#[derive(Clone, Debug)]
pub struct MapEntry {
    /// The key.
    pub key: SharedStr,
    /// The value; its position is that of the key.
    pub node: Node,
}

/// One manifest.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// Its content. Shared, because a custom kind keeps its definition until an object needs it.
    pub root: Arc<Node>,
    /// Problems that a strict parser reports before it checks types.
    pub faults: Vec<Fault>,
}

/// Something that JSON cannot represent, or a strict parser rejects.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The kind of problem.
    pub kind: FaultKind,
    /// The path of the item.
    pub path: Path,
    /// Its position.
    pub pos: Pos,
}

/// A problem of an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// A duplicate key.
    Duplicate,
    /// Infinity or NaN.
    NotFinite,
    /// A key that is null or binary.
    Key,
    /// Nested deeper than [`MAX_DEPTH`].
    Depth,
}

/// Charges a lookup in a large map: rules look up one key for each of another map or list.
fn charge_lookup(entries: usize) {
    const SMALL: usize = 64;
    const ENTRIES_PER_UNIT: usize = 16;
    if entries > SMALL {
        budget::or_unwind(budget::work(entries / ENTRIES_PER_UNIT));
    }
}

impl Node {
    /// A value without a position.
    pub fn new(value: Value) -> Node {
        Node { value, pos: Pos::UNKNOWN }
    }

    /// The value of a key of this map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        charge_lookup(self.entries().len());
        self.entries().iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
    }

    /// The value of a key, unless it is null.
    pub fn given(&self, key: &str) -> Option<&Node> {
        self.get(key).filter(|node| !node.is_null())
    }

    /// The value at a path, unless it is null.
    pub fn at(&self, keys: &[&str]) -> Option<&Node> {
        keys.iter().try_fold(self, |node, key| node.given(key))
    }

    /// The value of a key, if it is a string.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The integer, if this is one; `2.0` is one.
    pub fn as_int(&self) -> Option<i64> {
        match self.value {
            Value::Int(value) => Some(value),
            Value::Float(value) => whole(value),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The items of this map; empty for other values.
    pub fn entries(&self) -> &[MapEntry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of this array; empty for other values.
    pub fn items(&self) -> &[Node] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }
}

/// The integer that equals a float, if any.
pub(crate) fn whole(value: f64) -> Option<i64> {
    let is_whole = value.fract() == 0.0 && (-9.3e18..9.2e18).contains(&value);
    is_whole.then_some(value as i64)
}

impl Value {
    /// The JSON type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Int(_) | Value::UInt(_) => "integer",
            Value::Float(value) if whole(*value).is_some() => "integer",
            Value::Float(_) => "number",
            Value::Str(_) => "string",
            Value::List(_) => "array",
            Value::Map(_) => "object",
        }
    }

    /// The value for a message: scalars as they are, collections by their type.
    pub fn shown(&self) -> String {
        match self {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::UInt(value) => value.to_string(),
            Value::Float(value) => gofloat::format_g(*value),
            Value::Str(text) => {
                let cut = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
                let dots = if cut < text.len() { "…" } else { "" };
                format!("{:?}{dots}", &text[..cut])
            }
            Value::List(items) => format!("an array of {}", items.len()),
            Value::Map(entries) => format!("an object of {}", entries.len()),
        }
    }

    /// Whether two values are equal as JSON: the order of keys does not matter, 1 and 1.0 are
    /// equal.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::List(a), Value::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.value.same(&b.value))
            }
            (Value::Map(a), Value::Map(b)) => {
                let find = |key: &SharedStr| b.iter().find(|entry| entry.key == *key);
                a.len() == b.len()
                    && a.iter()
                        .all(|entry| find(&entry.key).is_some_and(|other| entry.node.value.same(&other.node.value)))
            }
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }

    fn number(&self) -> Option<Number> {
        match *self {
            Value::Int(value) => Some(Number::Whole(value.into())),
            Value::UInt(value) => Some(Number::Whole(value.into())),
            Value::Float(value) => Some(whole(value).map_or(Number::Real(value), |value| Number::Whole(value.into()))),
            _ => None,
        }
    }
}

#[derive(PartialEq)]
enum Number {
    Whole(i128),
    Real(f64),
}

/// The manifests of a YAML or JSON text, without empty ones.
pub fn documents(tree: &Tree) -> Vec<Manifest> {
    tree.documents().iter().filter(|document| !document.injected).filter_map(|doc| document(tree, doc)).collect()
}

fn document(tree: &Tree, document: &YamlDocument) -> Option<Manifest> {
    if matches!(tree.value(document.value), View::Scalar(Scalar::Null)) {
        return None;
    }
    let mut reader = TreeReader { tree, depth: 0, faults: Vec::new() };
    // The position of a document is its first item, because `---` is of no help.
    let pos = match tree.value(document.value) {
        View::Map([first, ..]) => first.pos,
        _ => tree.span(document.value).pos(),
    };
    let root = reader.node(document.value, pos);
    Some(Manifest { root: Arc::new(root), faults: reader.faults })
}

struct TreeReader<'t> {
    tree: &'t Tree,
    depth: usize,
    faults: Vec<Fault>,
}

impl TreeReader<'_> {
    fn node(&mut self, id: NodeId, pos: Pos) -> Node {
        if self.depth >= MAX_DEPTH {
            self.fault(FaultKind::Depth, Path::document(), pos);
            return Node { value: Value::Null, pos };
        }
        let value = match self.tree.value(id) {
            View::Scalar(scalar) => self.scalar(scalar, pos),
            View::Array(items) => {
                let mut list = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    list.push(self.below(item.value, item.pos, || Step::Index(index)));
                }
                Value::List(list)
            }
            View::Map(items) if has_duplicate_keys(items) => {
                for (item, _) in duplicates(items) {
                    let key = key_text(&item.key).unwrap_or_else(|| "".into());
                    self.fault(FaultKind::Duplicate, Path::document().key(key.to_string()), item.pos);
                }
                let kept: Vec<_> = last_wins(items).into_iter().map(|(item, _)| item).collect();
                self.map(kept.into_iter())
            }
            View::Map(items) => self.map(items.iter()),
        };
        Node { value, pos }
    }

    fn map<'i>(&mut self, items: impl ExactSizeIterator<Item = &'i ytterby_yaml::MapItem>) -> Value {
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            let Some(key) = key_text(&item.key) else {
                self.fault(FaultKind::Key, Path::document(), item.pos);
                continue;
            };
            let node = self.below(item.value, item.pos, || Step::Key(key.to_string()));
            entries.push(MapEntry { key, node });
        }
        Value::Map(entries)
    }

    fn scalar(&mut self, scalar: &Scalar, pos: Pos) -> Value {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(*value),
            Scalar::Int(value) => Value::Int(*value),
            Scalar::UInt(value) => Value::UInt(*value),
            Scalar::Float(value) if !value.is_finite() => {
                self.fault(FaultKind::NotFinite, Path::document(), pos);
                Value::Null
            }
            Scalar::Float(value) => Value::Float(*value),
            Scalar::Str(text) => Value::Str(SharedStr::of(text)),
            // Complex scalars occur only as keys.
            Scalar::Complex(_) => {
                self.fault(FaultKind::Key, Path::document(), pos);
                Value::Null
            }
        }
    }

    /// A node below this one; `step` leads to it. Paths are made on the way back, where there is a
    /// fault.
    fn below(&mut self, id: NodeId, pos: Pos, step: impl FnOnce() -> Step) -> Node {
        let faults = self.faults.len();
        self.depth += 1;
        let node = self.node(id, pos);
        self.depth -= 1;
        if self.faults.len() > faults {
            let step = step();
            for fault in &mut self.faults[faults..] {
                fault.path.prepend(step.clone());
            }
        }
        node
    }

    fn fault(&mut self, kind: FaultKind, path: Path, pos: Pos) {
        if self.faults.len() < 100 {
            self.faults.push(Fault { kind, path, pos });
        }
    }
}

/// Items with duplicate keys, each with the first one.
fn duplicates(items: &[ytterby_yaml::MapItem]) -> Vec<(&ytterby_yaml::MapItem, &ytterby_yaml::MapItem)> {
    let mut first = std::collections::HashMap::new();
    let mut found = Vec::new();
    for item in items {
        let Some(key) = key_text(&item.key) else { continue };
        match first.entry(key.to_string()) {
            std::collections::hash_map::Entry::Occupied(other) => found.push((item, *other.get())),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(item);
            }
        }
    }
    found
}

/// Converts a key to a JSON string; numbers and booleans become text.
pub fn key_text(key: &Scalar) -> Option<SharedStr> {
    Some(match key {
        Scalar::Null | Scalar::Complex(_) => return None,
        Scalar::Bool(value) => if *value { "true" } else { "false" }.into(),
        Scalar::Int(value) => value.to_string().into(),
        Scalar::UInt(value) => value.to_string().into(),
        Scalar::Float(value) => gofloat::format_g(*value).into(),
        Scalar::Str(text) => SharedStr::of(text),
    })
}
