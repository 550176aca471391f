//! Builds documents and texts while a template's program runs.
//!
//! A context is one result under construction: the documents of a file, the fragment of a function,
//! a text. It contains the open nodes from the outermost to the innermost. Starting a node closes
//! the open ones down to the nearest common ancestor in the source; a closed node is added to its
//! parent.

use std::collections::HashSet;
use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::{Str, budget};

use super::table::{Kind, Table, Tag};
use crate::annotation::{Ann, Annotation};
use crate::node::{
    self, Annotated, Array, ArrayItem, Document, DocumentSet, FragmentData, Map, MapItem, Meta, Node, Origin,
};
use crate::record::Replaced;

/// Longer texts are charged before they are copied.
const LONG: usize = 4096;

/// The language of a context.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Dialect {
    Yaml = 0,
    Text = 1,
}

/// The result of a context.
#[derive(Debug)]
pub(crate) enum Built {
    Yaml(FragmentData),
    Text(Str),
}

/// Whether a map key may be overridden.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeyOverrides {
    /// `--implicit-map-key-overrides`.
    Implicit,
    /// Only with `@yaml/map-key-override`.
    Annotated,
}

/// One result under construction.
pub(crate) struct Context {
    dialect: Dialect,
    overrides: KeyOverrides,
    open: Vec<Open>,
    /// Annotations of nodes that have not started yet.
    annotations: Vec<(Tag, Annotation)>,
    /// Keys of map items that have not started yet.
    keys: Vec<(Tag, Str)>,
    /// Overlay annotations in documents that are not overlays, the first one of each.
    idle_overlays: Vec<(Ann, Pos)>,
}

struct Open {
    tag: Tag,
    node: Building,
    /// The replacement by `template.replace()`.
    replacement: Option<Replacement>,
    /// For documents: the first overlay annotation on it or on a node below that is written here.
    overlay: Option<(Ann, Pos)>,
}

enum Building {
    DocumentSet(DocumentSet),
    Document(Document),
    Map(Map),
    MapItem(MapItem),
    Array(Array),
    ArrayItem(ArrayItem),
    TextRoot(WholeText),
    Text(Str),
}

/// The pieces of a text. A long one that stays alone, like a file without code, is not copied.
#[derive(Default)]
struct WholeText {
    alone: Str,
    joined: Vec<u8>,
}

impl WholeText {
    #[inline]
    fn push(&mut self, piece: &Str) {
        if self.joined.is_empty() {
            if self.alone.is_empty() && piece.len() > LONG {
                self.alone = piece.clone();
                return;
            }
            self.joined.extend_from_slice(&std::mem::take(&mut self.alone));
        }
        self.joined.extend_from_slice(piece);
    }

    fn finish(self) -> Str {
        if self.joined.is_empty() { self.alone } else { Str::from(self.joined) }
    }
}

enum Replacement {
    Documents(Vec<Document>),
    MapItems(Vec<MapItem>),
    ArrayItems(Vec<ArrayItem>),
}

type Result<T> = std::result::Result<T, String>;

impl Context {
    pub fn new(dialect: Dialect, overrides: KeyOverrides) -> Context {
        Context {
            dialect,
            overrides,
            open: Vec::new(),
            annotations: Vec::new(),
            keys: Vec::new(),
            idle_overlays: Vec::new(),
        }
    }

    /// Stores an annotation for the node that is started under `tag`. The last one with a name
    /// wins.
    pub fn annotate(&mut self, tag: Tag, annotation: Annotation) {
        self.annotations.push((tag, annotation));
    }

    /// Stores a key for the map item that is started under `tag`.
    pub fn set_key(&mut self, tag: Tag, key: Str) {
        self.keys.push((tag, key));
    }

    /// Opens a node.
    pub fn start(&mut self, table: &Table, tag: Tag) -> Result<()> {
        let node = table.node(tag);
        match node.kind {
            Kind::Text if self.next_text(table, tag) => return Ok(()),
            Kind::MapItem(_) | Kind::ArrayItem if self.next_item(table, tag)? => return Ok(()),
            _ => {}
        }
        if let Some(innermost) = self.open.last() {
            let common = table.common_parent(innermost.tag, tag);
            self.close_to(common, &node.kind)?;
        } else if matches!(node.kind, Kind::Document | Kind::MapItem(_) | Kind::ArrayItem | Kind::Text) {
            // A function may begin with items: they get their collection from the source.
            self.start(table, node.parent)?;
        }
        let building = self.instantiate(table, tag);
        let overlay = building.overlay_annotation();
        if overlay.is_some()
            && let Some(doc) = self.open.iter_mut().find(|open| matches!(open.node, Building::Document(_)))
        {
            doc.overlay = doc.overlay.or(overlay);
        }
        let overrides = self.overrides;
        if let Some(parent) = self.open.last_mut() {
            parent.node.accepts(&building)?;
            if let (Building::Map(map), Building::MapItem(item)) = (&mut parent.node, &building) {
                make_room(map, item, overrides)?;
            }
        }
        self.open.push(Open { tag, node: building, replacement: None, overlay });
        Ok(())
    }

    /// Opens a part of a text directly after another: like [`Context::start`], with a fifth of the
    /// instructions. Returns false if the node is something else.
    fn next_text(&mut self, table: &Table, tag: Tag) -> bool {
        let [.., Open { tag: root, node: Building::TextRoot(whole), .. }, innermost] = &mut self.open[..] else {
            return false;
        };
        let Open { tag: open, node: Building::Text(text), replacement: None, .. } = innermost else { return false };
        let siblings = table.node(tag).parent == *root && table.node(*open).parent == *root;
        if !siblings || !self.annotations.is_empty() {
            return false;
        }
        // If a limit is reached, the next node fails.
        if text.len() > LONG && budget::text(text.len()).is_err() {
            return false;
        }
        whole.push(text);
        *text = Str::EMPTY;
        *open = tag;
        true
    }

    /// Opens an item where the item before it is open: what [`Context::start`] does for any node, with half of the
    /// instructions. Gives whether it was that.
    fn next_item(&mut self, table: &Table, tag: Tag) -> Result<bool> {
        let node = table.node(tag);
        let [.., Open { tag: above, node: collection, .. }, innermost] = &mut self.open[..] else { return Ok(false) };
        let siblings = node.parent == *above && table.node(innermost.tag).parent == *above;
        let is_plain = self.annotations.is_empty() && self.keys.is_empty() && innermost.replacement.is_none();
        if !siblings || !is_plain {
            return Ok(false);
        }
        let (pos, meta) = (node.pos, None);
        match (collection, &mut innermost.node, &node.kind) {
            (Building::Map(map), Building::MapItem(open), Kind::MapItem(key)) => {
                let new = MapItem { key: key.clone(), value: Node::NULL, pos, meta };
                map.push(std::mem::replace(open, new));
                make_room(map, open, self.overrides)?;
            }
            (Building::Array(array), Building::ArrayItem(open), Kind::ArrayItem) => {
                array.items.push(std::mem::replace(open, ArrayItem { value: Node::NULL, pos, meta }));
            }
            _ => return Ok(false),
        }
        innermost.tag = tag;
        innermost.overlay = None;
        Ok(true)
    }

    /// Gives the innermost open node a value from the source.
    pub fn set_source_value(&mut self, value: Node) -> Result<()> {
        match (&mut self.innermost()?.node, value) {
            (Building::Text(text), Node::Scalar(node::Scalar::Str(value))) => {
                *text = value;
                Ok(())
            }
            (open, value) => open.add(value),
        }
    }

    /// Sets the value of the innermost open node to the result of an expression.
    pub fn set_value(&mut self, value: &Value) -> Result<()> {
        let open = self.innermost()?;
        if let Building::Text(text) = &mut open.node {
            let Value::Str(value) = value else {
                return Err(format!(
                    "cannot set non-string value ({}), consider using str(...) to convert to string",
                    node::go_type_name(value)
                ));
            };
            *text = value.clone();
            return Ok(());
        }
        match node::from_value(value)? {
            FragmentData::Node(node) => open.node.set(node),
            FragmentData::Documents(_) => Err(format!("{}; this is a document set", open.node.contents())),
        }
    }

    /// Replaces the innermost open node by the items of a value (`template.replace()`).
    pub fn replace(&mut self, value: &Value) -> Result<()> {
        let data = node::from_value(value)?;
        let Some((current, outer)) = self.open.split_last_mut() else {
            return Err("expected to replace document value, map item or array item, but found null".into());
        };
        let overrides = self.overrides;
        current.replacement = Some(match &current.node {
            Building::Document(_) => Replacement::Documents(documents_of(data)?),
            Building::MapItem(placeholder) => {
                let (items, strict) = map_items_of(data, placeholder.pos)?;
                // Items that code created have no annotation to allow an override, so it is
                // implied.
                let overrides = if strict { overrides } else { KeyOverrides::Implicit };
                if let Some(Open { node: Building::Map(map), .. }) = outer.last_mut() {
                    items.iter().try_for_each(|item| make_room(map, item, overrides))?;
                }
                // The replaced item counts, too, and cannot be overridden.
                if let Some(item) = items.iter().find(|item| item.key == placeholder.key) {
                    check_override(item, overrides)?;
                    return Err("expected to find placeholder map item in map".into());
                }
                Replacement::MapItems(items)
            }
            Building::ArrayItem(placeholder) => Replacement::ArrayItems(array_items_of(data, placeholder.pos)?),
            other => {
                return Err(format!(
                    "expected to replace document value, map item or array item, but found {}",
                    other.name()
                ));
            }
        });
        Ok(())
    }

    /// The node that [`Context::replace`] replaced last, and what by.
    pub fn replaced(&self) -> Option<Replaced> {
        let (current, outer) = self.open.split_last()?;
        let by = match current.replacement.as_ref()? {
            Replacement::Documents(items) => items.iter().map(|item| item.pos).collect(),
            Replacement::MapItems(items) => items.iter().map(|item| item.pos).collect(),
            Replacement::ArrayItems(items) => items.iter().map(|item| item.pos).collect(),
        };
        let above = outer.iter().rev().find_map(|open| open.node.item_pos()).unwrap_or(Pos::UNKNOWN);
        Some(Replaced { pos: current.node.item_pos()?, above, by })
    }

    /// Closes all nodes and returns the result, and the overlay annotations without effect in it,
    /// unless it becomes part of something else.
    pub fn finish(mut self) -> Result<(Built, Vec<(Ann, Pos)>)> {
        while self.open.len() > 1 {
            self.close()?;
        }
        let built = match self.open.pop().map(|open| open.node) {
            None if self.dialect == Dialect::Text => Built::Text(Str::EMPTY),
            None => Built::Yaml(FragmentData::Node(Node::NULL)),
            Some(Building::DocumentSet(docs)) => Built::Yaml(FragmentData::Documents(Rc::new(docs))),
            Some(Building::Map(map)) => Built::Yaml(FragmentData::Node(Node::map(map))),
            Some(Building::Array(array)) => Built::Yaml(FragmentData::Node(Node::array(array))),
            Some(Building::TextRoot(text)) => Built::Text(text.finish()),
            Some(Building::Text(text)) => Built::Text(text),
            Some(Building::Document(Document { value, .. }))
            | Some(Building::MapItem(MapItem { value, .. }))
            | Some(Building::ArrayItem(ArrayItem { value, .. })) => Built::Yaml(FragmentData::Node(value)),
        };
        Ok((built, self.idle_overlays))
    }

    fn innermost(&mut self) -> Result<&mut Open> {
        self.open.last_mut().ok_or_else(|| "expected a YAML node to be started before its value is set".into())
    }

    fn instantiate(&mut self, table: &Table, tag: Tag) -> Building {
        let node = table.node(tag);
        let meta = self.take_annotations(tag);
        match &node.kind {
            Kind::DocumentSet => Building::DocumentSet(DocumentSet::default()),
            Kind::Document => Building::Document(Document { value: Node::NULL, pos: node.pos, meta }),
            Kind::Map(items) => Building::Map(Map::with_capacity(*items as usize)),
            Kind::Array(items) => {
                Building::Array(Array { items: Vec::with_capacity(*items as usize), ..Array::default() })
            }
            Kind::ArrayItem => Building::ArrayItem(ArrayItem { value: Node::NULL, pos: node.pos, meta }),
            Kind::TextRoot => Building::TextRoot(WholeText::default()),
            Kind::Text => Building::Text(Str::EMPTY),
            Kind::MapItem(key) => {
                let given = self.keys.iter().position(|(of, _)| *of == tag).map(|at| self.keys.remove(at).1);
                let key = given.map_or_else(|| key.clone(), node::Scalar::Str);
                Building::MapItem(MapItem { key, value: Node::NULL, pos: node.pos, meta })
            }
        }
    }

    fn take_annotations(&mut self, tag: Tag) -> Option<Rc<Meta>> {
        if self.annotations.is_empty() {
            return None;
        }
        let pending = std::mem::take(&mut self.annotations);
        let (own, rest): (Vec<_>, Vec<_>) = pending.into_iter().partition(|(of, _)| *of == tag);
        self.annotations = rest;
        let annotations = last_of_each_name(own.into_iter().map(|(_, annotation)| annotation).collect());
        (!annotations.is_empty()).then(|| Rc::new(Meta { annotations, ..Meta::default() }))
    }

    fn close_to(&mut self, tag: Tag, new: &Kind) -> Result<()> {
        if !self.open.iter().rev().any(|open| open.tag == tag) {
            return Err(format!(
                "code begins or ends in the middle of a YAML structure: this {} has no place in what was started before",
                new.name()
            ));
        }
        while self.open.last().is_some_and(|open| open.tag != tag) {
            self.close()?;
        }
        Ok(())
    }

    /// Adds the innermost open node to its parent.
    fn close(&mut self) -> Result<()> {
        let (Some(closed), Some(parent)) = (self.open.pop(), self.open.last_mut()) else { return Ok(()) };
        if let (Building::Document(doc), Some(overlay), None) = (&closed.node, closed.overlay, &closed.replacement)
            && doc.pos.is_known()
            && ![Ann::OverlayMatch, Ann::DataValues, Ann::DataValuesSchema].into_iter().any(|ann| doc.has(ann))
        {
            self.idle_overlays.push(overlay);
        }
        match (&mut parent.node, closed.replacement) {
            (parent, None) => return parent.put(closed.node),
            (Building::DocumentSet(docs), Some(Replacement::Documents(items))) => docs.items.extend(items),
            (Building::Map(map), Some(Replacement::MapItems(items))) => {
                items.into_iter().for_each(|item| map.push(item));
            }
            (Building::Array(array), Some(Replacement::ArrayItems(items))) => array.items.extend(items),
            (parent, Some(_)) => {
                return Err(format!("expected to find the parent of a replaced node, but was {}", parent.name()));
            }
        }
        Ok(())
    }
}

impl Building {
    /// The position of a document, map item or array item.
    fn item_pos(&self) -> Option<Pos> {
        match self {
            Building::Document(doc) => Some(doc.pos),
            Building::MapItem(item) => Some(item.pos),
            Building::ArrayItem(item) => Some(item.pos),
            _ => None,
        }
    }

    /// The first overlay annotation on the node itself that requires an overlay: a document that an
    /// overlay would append is part of the output anyway.
    fn overlay_annotation(&self) -> Option<(Ann, Pos)> {
        let meta = match self {
            Building::Document(doc) => doc.meta(),
            Building::MapItem(item) => item.meta(),
            Building::ArrayItem(item) => item.meta(),
            _ => None,
        };
        let is_added = |ann| matches!((self, ann), (Building::Document(_), Ann::OverlayInsert | Ann::OverlayAppend));
        let is_idle = |ann: &Ann| ann.is_in("overlay") && !is_added(*ann);
        let mut annotations = meta?.annotations.iter();
        annotations.find_map(|annotation| Some((annotation.ann.filter(is_idle)?, annotation.pos)))
    }

    fn name(&self) -> &'static str {
        match self {
            Building::DocumentSet(_) => "document set",
            Building::Document(_) => "document",
            Building::Map(_) => "map",
            Building::MapItem(_) => "map item",
            Building::Array(_) => "array",
            Building::ArrayItem(_) => "array item",
            Building::TextRoot(_) | Building::Text(_) => "text",
        }
    }

    /// The kinds of children it can have, for messages.
    fn contents(&self) -> &'static str {
        match self {
            Building::DocumentSet(_) => "document sets can only contain documents",
            Building::Document(_) => "documents can only contain arrays, maps, or scalars",
            Building::Map(_) => "maps can only contain map items",
            Building::MapItem(_) => "map items can only contain arrays, maps, or scalars",
            Building::Array(_) => "arrays can only contain array items",
            Building::ArrayItem(_) => "array items can only contain maps, arrays, or scalars",
            Building::TextRoot(_) | Building::Text(_) => "texts can only contain text",
        }
    }

    fn accepts(&self, child: &Building) -> Result<()> {
        use Building as B;
        let fits = matches!(
            (self, child),
            (B::DocumentSet(_), B::Document(_))
                | (B::Document(_) | B::MapItem(_) | B::ArrayItem(_), B::Map(_) | B::Array(_))
                | (B::Map(_), B::MapItem(_))
                | (B::Array(_), B::ArrayItem(_))
                | (B::TextRoot(_), B::Text(_))
        );
        if fits { Ok(()) } else { Err(format!("{}; this is a {}", self.contents(), child.name())) }
    }

    /// Adds a closed child.
    fn put(&mut self, child: Building) -> Result<()> {
        use Building as B;
        match (self, child) {
            (B::DocumentSet(docs), B::Document(doc)) => docs.items.push(doc),
            (B::Map(map), B::MapItem(item)) => map.push(item),
            (B::Array(array), B::ArrayItem(item)) => array.items.push(item),
            (B::TextRoot(whole), B::Text(text)) => {
                if text.len() > LONG {
                    budget::text(text.len()).map_err(|exceeded| exceeded.to_string())?;
                }
                whole.push(&text);
            }
            (parent, B::Map(mut map)) => {
                map.shrink_to_fit();
                return parent.add(Node::map(map));
            }
            (parent, B::Array(mut array)) => {
                array.items.shrink_to_fit();
                return parent.add(Node::array(array));
            }
            (parent, child) => return Err(format!("{}; this is a {}", parent.contents(), child.name())),
        }
        Ok(())
    }

    /// Sets its value.
    fn add(&mut self, value: Node) -> Result<()> {
        match self {
            Building::Document(doc) => doc.value = value,
            Building::MapItem(item) => item.value = value,
            Building::ArrayItem(item) => item.value = value,
            other => return Err(format!("{}; this is a {}", other.contents(), value.type_name())),
        }
        Ok(())
    }

    /// Sets its value to the result of an expression.
    fn set(&mut self, value: Node) -> Result<()> {
        match self {
            Building::DocumentSet(_) | Building::Map(_) => Err(format!("cannot set value on a {}", self.name())),
            Building::Array(_) => Err("cannot set value on an array".into()),
            _ => self.add(value),
        }
    }
}

/// The last annotation of each name, in order. `@schema/desc` wins over its alias, whichever comes
/// last.
fn last_of_each_name(annotations: Vec<Annotation>) -> Vec<Annotation> {
    if annotations.len() < 2 {
        return annotations;
    }
    let is_alias = |ann: &Annotation| ann.ann == Some(Ann::SchemaDesc) && ann.name != Ann::SchemaDesc.name();
    let has_desc = annotations.iter().any(|ann| ann.ann == Some(Ann::SchemaDesc) && !is_alias(ann));
    let mut seen = HashSet::new();
    let is_last = |ann: &Annotation| {
        let name = if ann.ann.is_some() { Str::EMPTY } else { ann.name.clone() };
        !(has_desc && is_alias(ann)) && seen.insert((ann.ann, name))
    };
    let mut kept: Vec<Annotation> = annotations.into_iter().rev().filter(is_last).collect();
    kept.reverse();
    kept
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
    Err(format!(
        "expected key '{}' to not be specified again (unless '{}' annotation is added)",
        node::key_text(&item.key),
        Ann::YamlMapKeyOverride.name()
    ))
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
