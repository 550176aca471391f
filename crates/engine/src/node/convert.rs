//! Conversions between Starlark values and nodes, and from the reader's tree to nodes.
//!
//! Values of code become nodes when they are assigned. Their collections keep the mark
//! [`Origin::Code`], because Starlark sees them as dicts and lists again.

use std::borrow::Cow;
use std::cell::Cell;
use std::rc::Rc;

use num_traits::ToPrimitive;
use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::{budget, gofloat};
pub(crate) use ytterby_yaml::has_duplicate_keys;
use ytterby_yaml::{NodeId, Tree, View};

use super::structs::Struct;
use super::{Array, ArrayItem, Document, DocumentSet, Fragment, FragmentData, Map, MapItem, Node, Origin, Scalar};

/// Maximum nesting of a value in YAML. It also stops values that contain themselves.
const MAX_DEPTH: usize = 10_000;

/// Maximum number of nodes of a value. A list that contains another one twice, which contains a
/// third one twice, and so on, is small in memory, but not as YAML.
pub(crate) const MAX_NODES: u32 = 30_000_000;

/// Approximate bytes of a node.
const NODE_BYTES: usize = 64;

/// A Starlark value as a node. The error is a message without position.
pub(crate) fn from_value(value: &Value) -> Result<FragmentData, String> {
    // Most values are such scalars: a third of the instructions of the general way.
    if let Value::Str(_) | Value::Int(_) | Value::Bool(_) | Value::None = value
        && let Some(scalar) = scalar_from_value(value)
    {
        budget::memory(NODE_BYTES).and_then(|()| budget::work(1)).map_err(|exceeded| exceeded.to_string())?;
        return Ok(FragmentData::Node(Node::Scalar(scalar)));
    }
    if let Some(fragment) = value.downcast::<Fragment>() {
        return Ok(fragment.data().clone());
    }
    node_from_value(value).map(FragmentData::Node)
}

/// The same, without documents.
pub(crate) fn node_from_value(value: &Value) -> Result<Node, String> {
    node_at_depth(value, 0, &Cell::new(MAX_NODES))
}

fn node_at_depth(value: &Value, depth: usize, nodes_left: &Cell<u32>) -> Result<Node, String> {
    count_node(depth, nodes_left)?;
    let array = |items: &mut dyn Iterator<Item = Value>| -> Result<Node, String> {
        let items = items.map(|item| Ok(ArrayItem::new(node_at_depth(&item, depth + 1, nodes_left)?, Pos::UNKNOWN)));
        Ok(Node::array(Array { items: items.collect::<Result<_, String>>()?, origin: Origin::Code }))
    };
    match value {
        Value::List(list) => array(&mut list.to_vec().into_iter()),
        Value::Tuple(tuple) => array(&mut tuple.iter().cloned()),
        Value::Set(set) => array(&mut set.to_vec().into_iter()),
        Value::Dict(dict) => map_of(dict.items().into_iter(), depth, nodes_left),
        Value::Host(host) => {
            if let Some(fragment) = host.downcast_ref::<Fragment>() {
                return match fragment.data() {
                    FragmentData::Node(node) => Ok(node.clone()),
                    FragmentData::Documents(_) => Err("a document set cannot be part of a YAML value".into()),
                };
            }
            if let Some(fields) = host.downcast_ref::<Struct>() {
                if let Some(map) = fields.unread_map() {
                    return code_map(map, depth, nodes_left);
                }
                return map_of(
                    fields.fields().iter().map(|(name, value)| (Value::Str(name.clone()), value.clone())),
                    depth,
                    nodes_left,
                );
            }
            match host.why_not_data() {
                Some(hint) => Err(format!("Unable to convert value: {hint}")),
                None => Err(not_yaml(value)),
            }
        }
        scalar => scalar_from_value(scalar).map(Node::Scalar).ok_or_else(|| not_yaml(scalar)),
    }
}

/// Counts and charges a node.
fn count_node(depth: usize, nodes_left: &Cell<u32>) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("a value nested deeper than {MAX_DEPTH} levels cannot be YAML (does it contain itself?)"));
    }
    match nodes_left.get().checked_sub(1) {
        Some(left) => nodes_left.set(left),
        None => return Err(format!("a value of more than {MAX_NODES} nodes cannot be YAML")),
    }
    budget::memory(NODE_BYTES).and_then(|()| budget::work(1)).map_err(|exceeded| exceeded.to_string())
}

/// Converts data values that no code has read. The result is the same as converting them to values
/// of code and those back with [`node_at_depth`], without creating these values.
fn code_node(node: &Node, depth: usize, nodes_left: &Cell<u32>) -> Result<Node, String> {
    count_node(depth, nodes_left)?;
    match node {
        Node::Scalar(scalar) => Ok(Node::Scalar(scalar.clone())),
        Node::Map(map) => code_map(map, depth, nodes_left),
        Node::Array(array) => {
            let item =
                |item: &ArrayItem| Ok(ArrayItem::new(code_node(&item.value, depth + 1, nodes_left)?, Pos::UNKNOWN));
            let items = array.items.iter().map(item).collect::<Result<_, String>>()?;
            Ok(Node::array(Array { items, origin: Origin::Code }))
        }
    }
}

fn code_map(map: &Map, depth: usize, nodes_left: &Cell<u32>) -> Result<Node, String> {
    let item = |item: &MapItem| {
        let key = match &item.key {
            Scalar::Str(_) => item.key.clone(),
            other => Scalar::from(&*key_text(other)),
        };
        Ok(MapItem::new(key, code_node(&item.value, depth + 1, nodes_left)?, Pos::UNKNOWN))
    };
    let mut map = Map::from_items(map.iter().map(item).collect::<Result<_, String>>()?);
    map.origin = Origin::Code;
    Ok(Node::map(map))
}

fn map_of(pairs: impl Iterator<Item = (Value, Value)>, depth: usize, nodes_left: &Cell<u32>) -> Result<Node, String> {
    let mut map = Map::with_capacity(pairs.size_hint().0);
    map.origin = Origin::Code;
    for (key, value) in pairs {
        let key = scalar_from_value(&key).ok_or_else(|| format!("a {} cannot be a map key", key.type_name()))?;
        map.push(MapItem::new(key, node_at_depth(&value, depth + 1, nodes_left)?, Pos::UNKNOWN));
    }
    Ok(Node::map(map))
}

fn not_yaml(value: &Value) -> String {
    match value {
        Value::BigInt(number) => format!("integer {number} does not fit into 64 bits, the range of YAML values"),
        Value::Function(_) | Value::Builtin(_) => {
            format!("a {} cannot be a YAML value (did you mean to call it?)", value.type_name())
        }
        other if other.downcast::<ytterby_starlark::Bytes>().is_some() => {
            "bytes cannot be a YAML value (use str(...) to convert them)".into()
        }
        Value::Range(_) => "a range cannot be a YAML value (use list(...) to convert it)".into(),
        other => format!("a {} cannot be a YAML value", other.type_name()),
    }
}

/// A Starlark value as a scalar, if it is one.
pub(crate) fn scalar_from_value(value: &Value) -> Option<Scalar> {
    Some(match value {
        Value::None => Scalar::Null,
        Value::Bool(value) => Scalar::Bool(*value),
        Value::Int(value) => Scalar::Int(*value),
        Value::BigInt(value) => Scalar::UInt(value.to_u64()?),
        Value::Float(value) => Scalar::Float(*value),
        Value::Str(value) => Scalar::Str(value.clone()),
        _ => return None,
    })
}

/// A scalar as a Starlark value.
pub(crate) fn scalar_to_value(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::None,
        Scalar::Bool(value) => Value::Bool(*value),
        Scalar::Int(value) => Value::Int(*value),
        Scalar::UInt(value) => Value::big((*value).into()),
        Scalar::Float(value) => Value::Float(*value),
        Scalar::Str(value) => Value::Str(value.clone()),
        // A key of a dict cannot be a collection; code sees the text in the file.
        Scalar::Complex(_) => Value::str(key_text(scalar).into_owned()),
    }
}

/// A node as a Starlark value: collections from YAML as yamlfragments, those from code as dicts and
/// lists.
pub(crate) fn to_value(node: &Node) -> Value {
    match node {
        Node::Scalar(scalar) => scalar_to_value(scalar),
        Node::Map(map) if map.origin == Origin::Code => dict_of(map, to_value),
        Node::Array(array) if array.origin == Origin::Code => list_of(array, to_value),
        Node::Map(_) | Node::Array(_) => Value::host(Fragment::new(node.clone())),
    }
}

/// A node as nested dicts and lists, as `yaml.decode()` returns it.
pub(crate) fn to_plain_value(node: &Node) -> Value {
    match node {
        Node::Scalar(scalar) => scalar_to_value(scalar),
        Node::Map(map) => dict_of(map, to_plain_value),
        Node::Array(array) => list_of(array, to_plain_value),
    }
}

// Conversions that cannot fail stop if a limit is reached; their results are never used.
fn dict_of(map: &Map, convert: fn(&Node) -> Value) -> Value {
    if !budget::may_go_on(64 + 2 * NODE_BYTES * map.len()) {
        return Value::None;
    }
    let pairs = map.iter().map(|item| (scalar_to_value(&item.key), convert(&item.value)));
    Value::dict(pairs).expect("scalars can be hashed")
}

fn list_of(array: &Array, convert: fn(&Node) -> Value) -> Value {
    if !budget::may_go_on(64 + NODE_BYTES * array.items.len()) {
        return Value::None;
    }
    Value::list(array.items.iter().map(|item| convert(&item.value)).collect())
}

/// A map that code created, as if it were YAML at `pos`.
pub(crate) fn map_with_position(map: &Map, pos: Pos) -> Map {
    let items = map.iter().map(|item| {
        let place = if item.pos.is_known() { item.pos } else { pos };
        MapItem { pos: place, value: with_position(&item.value, pos), ..item.clone() }
    });
    items.collect()
}

/// An array that code created, as if it were YAML at `pos`.
pub(crate) fn array_with_position(array: &Array, pos: Pos) -> Array {
    let items = array.items.iter().map(|item| {
        let place = if item.pos.is_known() { item.pos } else { pos };
        ArrayItem { pos: place, value: with_position(&item.value, pos), ..item.clone() }
    });
    Array { items: items.collect(), origin: Origin::Yaml }
}

/// A node in which everything that code created has the position `pos`; the rest is shared.
pub(crate) fn with_position(node: &Node, pos: Pos) -> Node {
    match node {
        Node::Map(map) if needs_position(node) && budget::may_go_on(NODE_BYTES * map.len()) => {
            Node::map(map_with_position(map, pos))
        }
        Node::Array(array) if needs_position(node) && budget::may_go_on(NODE_BYTES * array.items.len()) => {
            Node::array(array_with_position(array, pos))
        }
        _ => node.clone(),
    }
}

fn needs_position(node: &Node) -> bool {
    if !budget::may_go_on(0) {
        return false;
    }
    match node {
        Node::Scalar(_) => false,
        Node::Map(map) => map.origin == Origin::Code || map.iter().any(|item| needs_position(&item.value)),
        Node::Array(array) => {
            array.origin == Origin::Code || array.items.iter().any(|item| needs_position(&item.value))
        }
    }
}

/// The documents of a file without templating: the last of duplicate keys wins.
pub(crate) fn documents_from_tree(tree: &Tree) -> DocumentSet {
    let docs = tree.documents().iter().filter(|doc| !doc.injected);
    DocumentSet { items: docs.map(|doc| Document::new(from_tree(tree, doc.value), doc.pos)).collect() }
}

/// The documents of a file of data values: duplicate keys with maps are merged, because each is
/// overlaid on the values so far.
pub(crate) fn values_from_tree(tree: &Tree) -> DocumentSet {
    let docs = tree.documents().iter().filter(|doc| !doc.injected);
    let document = |doc: &ytterby_yaml::Document| Document::new(convert(tree, doc.value, Twice::Merged), doc.pos);
    DocumentSet { items: docs.map(document).collect() }
}

/// How to treat duplicate keys.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Twice {
    LastWins,
    Merged,
}

/// Whether a document with this value is omitted from the output.
pub(crate) fn is_empty(tree: &Tree, id: NodeId) -> bool {
    match tree.value(id) {
        View::Scalar(scalar) => scalar.is_null(),
        View::Map(items) => items.is_empty(),
        View::Array(items) => items.is_empty(),
    }
}

/// A node of the reader's tree. The last of duplicate keys wins, at the place of the first.
pub(crate) fn from_tree(tree: &Tree, id: NodeId) -> Node {
    convert(tree, id, Twice::LastWins)
}

fn convert(tree: &Tree, id: NodeId, twice: Twice) -> Node {
    let view = tree.value(id);
    let len = match view {
        View::Scalar(_) => 0,
        View::Array(items) => items.len(),
        View::Map(items) => items.len(),
    };
    if len > 0 && !budget::may_go_on(len * 2 * NODE_BYTES) {
        return Node::NULL;
    }
    match view {
        View::Scalar(scalar) => Node::Scalar(scalar.clone()),
        View::Array(items) => {
            let items = items.iter().map(|item| ArrayItem::new(convert(tree, item.value, twice), item.pos));
            Node::Array(Rc::new(Array { items: items.collect(), origin: Origin::Yaml }))
        }
        View::Map(items) => {
            let item = |item: &ytterby_yaml::MapItem| {
                MapItem::new(item.key.clone(), convert(tree, item.value, twice), item.pos)
            };
            let all = items.iter().map(item).collect();
            if !has_duplicate_keys(items) {
                return Node::map(Map::from_items(all));
            }
            let mut map = Map::with_capacity(items.len());
            put_all(&mut map, all, twice);
            Node::map(map)
        }
    }
}

/// Adds items to a map that may have their keys already.
fn put_all(map: &mut Map, items: Vec<MapItem>, twice: Twice) {
    for item in items {
        let Some(at) = map.find(&item.key) else {
            map.push(item);
            continue;
        };
        let old = map.item_mut(at);
        match (&mut old.value, item) {
            (Node::Map(left), MapItem { value: Node::Map(right), .. }) if twice == Twice::Merged => {
                put_all(Rc::make_mut(left), Rc::unwrap_or_clone(right).into_items(), twice);
            }
            (_, item) => *old = item,
        }
    }
}

/// What a map or an array as a key comes from; a part of messages, since the plain text of errors
/// has no advice.
pub(crate) const COMPLEX_KEY_CAUSE: &str = "this looks like a Helm or Jinja template";

/// Advice about a map or an array that is a key.
pub(crate) const COMPLEX_KEY_HELP: &str =
    "to YAML, `{{ x }}` is a map whose key is a map; put it in quotes if it is text";

/// A map key as messages show it.
pub(crate) fn key_text(key: &Scalar) -> Cow<'_, str> {
    match key {
        Scalar::Null => "null".into(),
        Scalar::Bool(value) => value.to_string().into(),
        Scalar::Int(value) => value.to_string().into(),
        Scalar::UInt(value) => value.to_string().into(),
        Scalar::Float(value) => gofloat::format_g(*value).into(),
        Scalar::Str(text) => text.to_str(),
        Scalar::Complex(_) => String::from_utf8_lossy(&ytterby_yaml::write::scalar_text(key)).into_owned().into(),
    }
}

/// The name of the Go type of a value in the reference; some of its messages contain it.
pub(crate) fn go_type_name(value: &Value) -> &'static str {
    match value {
        Value::None => "<nil>",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::BigInt(_) => "uint64",
        Value::Float(_) => "float64",
        Value::Str(_) => "string",
        Value::List(_) | Value::Tuple(_) | Value::Set(_) => "[]interface {}",
        Value::Dict(_) => "*orderedmap.Map",
        Value::Host(host) => match host.downcast_ref::<Fragment>().map(Fragment::data) {
            Some(data) => data.go_type_name(),
            None => "*orderedmap.Map",
        },
        _ => "<nil>",
    }
}

#[cfg(test)]
mod tests {
    use ytterby_diag::FileId;

    use super::*;
    use crate::node::values_of;

    /// Requests all fields of structs.
    fn read_all(value: &Value) {
        if let Some(fields) = value.downcast::<Struct>() {
            fields.fields().iter().for_each(|(_, value)| read_all(value));
        }
        if let Value::List(list) = value {
            list.to_vec().iter().for_each(read_all);
        }
    }

    #[test]
    fn unread_values_become_the_same_nodes_as_read_ones() {
        for text in ["{}", "[]", "a: 1", "a: {b: [x, {c: null, 1: y}], d: 1.5, e: 18446744073709551615}\nf: []\ng: {}"]
        {
            let tree = ytterby_yaml::parse(text.as_bytes(), FileId(0), &Default::default()).expect("it is YAML");
            let node = from_tree(&tree, tree.documents()[0].value);
            let (unread, read) = (values_of(&node), values_of(&node));
            read_all(&read);
            let shown = |value| format!("{:?}", node_from_value(value));
            assert_eq!(shown(&unread), shown(&read), "{text}");
            assert!(!shown(&unread).contains("Yaml"), "{text}");
        }
    }
}
