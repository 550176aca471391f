//! An open collection of a context, with the item that is being built.
//!
//! The open item is the last one of its collection. `template.replace()` takes it out: when the
//! item is closed, others come in its place.

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_text::{Str, budget};

use super::build::{KeyOverrides, Result};
use super::place::{Collection, OpenCollection};
use super::table::{NodeNumber, TemplateNode, TemplateNodeKind};
use crate::annotation::Ann;
use crate::node::{
    self, Annotated, Array, ArrayItem, Document, DocumentSet, FragmentData, Map, MapItem, Meta, Node, Origin, Scalar,
};

/// An open collection and its open item.
pub(super) struct Open {
    pub tag: NodeNumber,
    /// The tag of the open item, which is the last one; 0 if there is none.
    pub item: NodeNumber,
    /// Whether the value of the open item is a collection from the source, made as a whole.
    pub has_constant: bool,
    pub node: Building,
}

/// A collection under construction.
pub(super) enum Building {
    DocumentSet(DocumentSet, Replacement<Document>),
    Map(Map, Replacement<MapItem>),
    Array(Array, Replacement<ArrayItem>),
}

/// The open item, if `template.replace()` was called for it, and what comes in its place.
type Replacement<T> = Option<Box<Replaced<T>>>;

pub(super) struct Replaced<T> {
    item: T,
    by: Vec<T>,
}

/// The room for the items of a collection with this many in the source. Functions and branches that
/// are written one after the other are one collection in the source, but each call makes a few of
/// its items only.
fn expected_items(in_source: u32) -> usize {
    in_source.min(16) as usize
}

impl Open {
    /// Opens a collection; items cannot be opened by themselves.
    pub fn new(tag: NodeNumber, kind: &TemplateNodeKind) -> Open {
        let node = match kind {
            TemplateNodeKind::Map { items, .. } => Building::Map(Map::with_capacity(expected_items(*items)), None),
            TemplateNodeKind::Array(items) => {
                Building::Array(Array { items: Vec::with_capacity(expected_items(*items)), ..Array::default() }, None)
            }
            TemplateNodeKind::DocumentSet
            | TemplateNodeKind::Document
            | TemplateNodeKind::MapItem(_)
            | TemplateNodeKind::ArrayItem
            | TemplateNodeKind::Text => Building::DocumentSet(DocumentSet::default(), None),
        };
        Open { tag, item: 0, has_constant: false, node }
    }

    /// Opens an item.
    pub fn add_item(
        &mut self,
        tag: NodeNumber,
        node: &TemplateNode,
        key: Option<Str>,
        meta: Option<Rc<Meta>>,
        overrides: KeyOverrides,
    ) -> Result<()> {
        let (value, pos) = (Node::NULL, node.pos);
        match (&mut self.node, &node.kind) {
            (Building::Map(map, _), TemplateNodeKind::MapItem(own)) if self.item == 0 => {
                let key = key.map_or_else(|| own.clone(), Scalar::Str);
                let item = MapItem { key, value, pos, meta };
                make_room(map, &item, overrides)?;
                map.push(item);
            }
            (Building::Array(array, _), TemplateNodeKind::ArrayItem) if self.item == 0 => {
                array.items.push(ArrayItem { value, pos, meta });
            }
            (Building::DocumentSet(docs, _), TemplateNodeKind::Document) if self.item == 0 => {
                docs.items.push(Document { value, pos, meta });
            }
            (_, kind) => return Err(format!("{}; this is a {}", self.contents(), kind.name())),
        }
        self.item = tag;
        self.has_constant = false;
        Ok(())
    }

    /// Takes the value of the open item out, if it is a collection from the source, and opens it
    /// with its last item, as if its items had been started one by one.
    pub fn open_constant(&mut self) -> Result<Option<Open>> {
        let is_constant = std::mem::take(&mut self.has_constant);
        let tag = self.item;
        let Some(value) = self.value_mut().filter(|_| is_constant) else { return Ok(None) };
        let is_collection = |value: &Node| matches!(value, Node::Map(_) | Node::Array(_));
        let (node, last) = match std::mem::take(value) {
            Node::Map(map) => {
                charge_copies(map.len())?;
                let map = Rc::unwrap_or_clone(map);
                let last = map.items().last().map(|item| is_collection(&item.value));
                (Building::Map(map, None), last)
            }
            Node::Array(array) => {
                charge_copies(array.items.len())?;
                let array = Rc::unwrap_or_clone(array);
                let last = array.items.last().map(|item| is_collection(&item.value));
                (Building::Array(array, None), last)
            }
            scalar => {
                *value = scalar;
                return Ok(None);
            }
        };
        // The source has one tag for all of it.
        let item = if last.is_some() { tag } else { 0 };
        Ok(Some(Open { tag, item, has_constant: last == Some(true), node }))
    }

    /// Closes the open item: adds what replaces it.
    pub fn close_item(&mut self) -> Result<()> {
        self.item = 0;
        match &mut self.node {
            Building::DocumentSet(docs, replaced) => {
                if let Some(replaced) = replaced.take() {
                    docs.items.extend(replaced.by);
                }
            }
            Building::Map(map, replaced) => {
                if let Some(replaced) = replaced.take() {
                    replaced.by.into_iter().for_each(|item| map.push(item));
                }
            }
            Building::Array(array, replaced) => {
                if let Some(replaced) = replaced.take() {
                    array.items.extend(replaced.by);
                }
            }
        }
        Ok(())
    }

    /// The open document, unless it is replaced.
    pub fn document(&self) -> Option<&Document> {
        match &self.node {
            Building::DocumentSet(docs, None) if self.item != 0 => docs.items.last(),
            _ => None,
        }
    }

    /// The value of the open item.
    fn value_mut(&mut self) -> Option<&mut Node> {
        fn value<'a, T: Annotated>(last: Option<&'a mut T>, replaced: &'a mut Replacement<T>) -> Option<&'a mut Node> {
            match replaced {
                Some(replaced) => Some(replaced.item.value_mut()),
                None => last.map(T::value_mut),
            }
        }
        match &mut self.node {
            _ if self.item == 0 => None,
            Building::DocumentSet(docs, replaced) => value(docs.items.last_mut(), replaced),
            Building::Map(map, replaced) => value(map.last_mut(), replaced),
            Building::Array(array, replaced) => value(array.items.last_mut(), replaced),
        }
    }

    /// What the collection contains.
    pub fn collection(&self) -> Collection {
        match &self.node {
            Building::DocumentSet(..) => Collection::Documents,
            Building::Map(..) => Collection::Map,
            Building::Array(..) => Collection::Array,
        }
    }

    /// Sets the value of the innermost open node.
    pub fn add(&mut self, value: Node) -> Result<()> {
        if let Some(slot) = self.value_mut() {
            *slot = value;
            return Ok(());
        }
        Err(format!("{}; this is a {}", self.contents(), value.type_name()))
    }

    /// Sets the value of the innermost open node to the result of an expression.
    pub fn set(&mut self, value: Node) -> Result<()> {
        if self.item == 0 { Err(not_settable(self.collection())) } else { self.add(value) }
    }

    /// Replaces the innermost open node by the items of a value, once.
    pub fn replace(&mut self, data: FragmentData, overrides: KeyOverrides) -> Result<()> {
        let Some(pos) = self.item_pos() else {
            let found = self.name();
            return Err(format!("expected to replace document value, map item or array item, but found {found}"));
        };
        match &mut self.node {
            Building::DocumentSet(docs, replaced) => {
                let by = documents_of(data)?;
                put_instead(replaced, || docs.items.pop(), by, "document", "document set")?;
            }
            Building::Map(map, replaced) => {
                let (items, strict) = map_items_of(data, pos)?;
                // Items that code created have no annotation to allow an override, so it is
                // implied.
                let overrides = if strict { overrides } else { KeyOverrides::Implicit };
                // The replaced item cannot be overridden.
                let own = if replaced.is_none() { map.pop() } else { None };
                let key = own.as_ref().or(replaced.as_ref().map(|old| &old.item)).map(|item| item.key.clone());
                if let Err(problem) = make_room_for_all(map, &items, key.as_ref(), overrides) {
                    own.into_iter().for_each(|item| map.push(item));
                    return Err(problem);
                }
                put_instead(replaced, || own, items, "map item", "map")?;
            }
            Building::Array(array, replaced) => {
                let by = array_items_of(data, pos)?;
                put_instead(replaced, || array.items.pop(), by, "array item", "array")?;
            }
        }
        Ok(())
    }

    /// The position of the replaced item, and of those that come in its place.
    pub fn replaced(&self) -> Option<(Pos, Vec<Pos>)> {
        fn places<T: Annotated>(replaced: &Replaced<T>) -> (Pos, Vec<Pos>) {
            (replaced.item.pos(), replaced.by.iter().map(T::pos).collect())
        }
        match &self.node {
            Building::DocumentSet(_, replaced) => replaced.as_deref().map(places),
            Building::Map(_, replaced) => replaced.as_deref().map(places),
            Building::Array(_, replaced) => replaced.as_deref().map(places),
        }
    }

    /// The position of the open document, map item or array item.
    pub fn item_pos(&self) -> Option<Pos> {
        fn pos<T: Annotated>(last: Option<&T>, replaced: &Replacement<T>) -> Option<Pos> {
            replaced.as_ref().map(|replaced| replaced.item.pos()).or_else(|| last.map(T::pos))
        }
        match &self.node {
            _ if self.item == 0 => None,
            Building::DocumentSet(docs, replaced) => pos(docs.items.last(), replaced),
            Building::Map(map, replaced) => pos(map.items().last(), replaced),
            Building::Array(array, replaced) => pos(array.items.last(), replaced),
        }
    }

    /// The name of the innermost open node in messages.
    fn name(&self) -> &'static str {
        match (self.collection(), self.item) {
            (collection, 0) => name(collection),
            (Collection::Documents, _) => "document",
            (Collection::Map, _) => "map item",
            (Collection::Array, _) => "array item",
        }
    }

    /// The kinds of children that the innermost open node can have, for messages.
    pub fn contents(&self) -> &'static str {
        contents(self.collection(), self.item != 0)
    }
}

impl OpenCollection for Open {
    fn tag(&self) -> NodeNumber {
        self.tag
    }

    fn item(&self) -> NodeNumber {
        self.item
    }
}

fn name(collection: Collection) -> &'static str {
    match collection {
        Collection::Documents => "document set",
        Collection::Map => "map",
        Collection::Array => "array",
    }
}

/// The problem of a value for a collection instead of an item.
pub(super) fn not_settable(collection: Collection) -> String {
    let article = if collection == Collection::Array { "an" } else { "a" };
    format!("cannot set value on {article} {}", name(collection))
}

/// The kinds of children that a collection, or its open item, can have, for messages.
pub(super) fn contents(collection: Collection, has_item: bool) -> &'static str {
    match (collection, has_item) {
        (Collection::Documents, false) => "document sets can only contain documents",
        (Collection::Documents, true) => "documents can only contain arrays, maps, or scalars",
        (Collection::Map, false) => "maps can only contain map items",
        (Collection::Map, true) => "map items can only contain arrays, maps, or scalars",
        (Collection::Array, false) => "arrays can only contain array items",
        (Collection::Array, true) => "array items can only contain maps, arrays, or scalars",
    }
}

/// Takes the open item out and notes what comes in its place. An item that was replaced before is
/// no longer there.
fn put_instead<T>(
    replaced: &mut Replacement<T>,
    own: impl FnOnce() -> Option<T>,
    by: Vec<T>,
    item: &str,
    collection: &str,
) -> Result<()> {
    if replaced.is_some() {
        return Err(format!("expected to find placeholder {item} in {collection}"));
    }
    *replaced = own().map(|item| Box::new(Replaced { item, by }));
    Ok(())
}

/// Removes the items that others override, if that is allowed, but for the one that is replaced.
fn make_room_for_all(map: &mut Map, items: &[MapItem], own: Option<&Scalar>, overrides: KeyOverrides) -> Result<()> {
    items.iter().try_for_each(|item| make_room(map, item, overrides))?;
    if let Some(item) = items.iter().find(|item| Some(&item.key) == own) {
        check_override(item, overrides)?;
        return Err("expected to find placeholder map item in map".into());
    }
    Ok(())
}

/// Removes the item that `item` overrides, if that is allowed.
fn make_room(map: &mut Map, item: &MapItem, overrides: KeyOverrides) -> Result<()> {
    let Some(at) = map.find(&item.key) else { return Ok(()) };
    check_override(item, overrides)?;
    map.remove(at);
    Ok(())
}

/// Whether `item` may replace one with the same key.
fn check_override(item: &MapItem, overrides: KeyOverrides) -> Result<()> {
    if overrides == KeyOverrides::Implicit || item.has(Ann::YamlMapKeyOverride) {
        return Ok(());
    }
    Err(not_overridden(&item.key))
}

/// The problem of a key that comes again.
pub(super) fn not_overridden(key: &Scalar) -> String {
    format!(
        "expected key '{}' to not be specified again (unless '{}' annotation is added)",
        node::key_text(key),
        Ann::YamlMapKeyOverride.name()
    )
}

/// Charges the copies of items that replace others.
fn charge_copies(count: usize) -> Result<()> {
    let charged = budget::memory_of(count, 96).and_then(|()| budget::work(count / 8));
    charged.map_err(|exceeded| exceeded.to_string())
}

fn documents_of(data: FragmentData) -> Result<Vec<Document>> {
    charge_copies(data.len())?;
    match data {
        FragmentData::Documents(docs) => Ok(docs.items.clone()),
        FragmentData::Node(Node::Array(array)) if array.origin == Origin::Code => {
            Ok(array.items.iter().map(|item| Document::new(item.value.clone(), Pos::UNKNOWN)).collect())
        }
        other => Err(format!("expected value to be document set, but was {}", other.name())),
    }
}

/// The items, and whether overriding others needs an annotation.
fn map_items_of(data: FragmentData, pos: Pos) -> Result<(Vec<MapItem>, bool)> {
    charge_copies(data.len())?;
    match data {
        FragmentData::Node(Node::Map(map)) => Ok(match map.origin {
            Origin::Yaml => (map.items().to_vec(), true),
            Origin::Code => (node::map_with_position(&map, pos).into_items(), false),
        }),
        other => Err(format!("expected value to be map, but was {}", other.name())),
    }
}

fn array_items_of(data: FragmentData, pos: Pos) -> Result<Vec<ArrayItem>> {
    charge_copies(data.len())?;
    match data {
        FragmentData::Node(Node::Array(array)) => Ok(match array.origin {
            Origin::Yaml => array.items.clone(),
            Origin::Code => node::array_with_position(&array, pos).items,
        }),
        other => Err(format!("expected value to be array, but was {}", other.name())),
    }
}
