//! Builds documents and texts while a template's program runs.
//!
//! A context is one result under construction: the documents of a file, the fragment of a function,
//! a text. It contains the open collections from the outermost to the innermost ([`Open`]); an item
//! is added to its collection when it starts. Starting a node closes the open ones down to the
//! nearest common ancestor in the source; a closed collection becomes the value of its item. The
//! context of a text only joins pieces ([`WholeText`]).

use std::rc::Rc;

use rustc_hash::FxHashSet;
use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::Str;

use super::item_writer::ItemWriter;
use super::open::{Building, Open};
use super::ops::Noop;
use super::table::{NodeNumber, NodeTable, SourceValue, TemplateNode, TemplateNodeKind};
use super::whole_text::WholeText;
use crate::annotation::{Ann, Annotation};
use crate::early::{DocumentWriter, WrittenDocuments};
use crate::node::{self, Annotated, Document, FragmentData, Meta, Node, Scalar};
use crate::record::Replaced;

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
    /// Documents of a file, written early.
    Written(WrittenDocuments),
    Text(Str),
}

/// What becomes of the documents of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Becomes {
    /// They are kept.
    Nodes,
    /// Each document is written when it is complete ([`crate::early`]).
    TextOfDocuments,
    /// Each item is written when it begins. Nothing may replace or override an item.
    TextOfItems,
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
pub(crate) struct ResultBuilder {
    dialect: Dialect,
    overrides: KeyOverrides,
    open: Vec<Open>,
    /// The text of a text context.
    text: WholeText,
    /// Writes complete documents, if they are not kept.
    documents: Option<Box<DocumentWriter>>,
    /// Writes items as they begin, if they are not kept.
    items: Option<Box<ItemWriter>>,
    /// Annotations of nodes that have not started yet.
    annotations: Vec<(NodeNumber, Annotation)>,
    /// Keys of map items that have not started yet.
    keys: Vec<(NodeNumber, Str)>,
    /// The first overlay annotation on the open document or on a node below that is written here.
    overlay: Option<(Ann, Pos)>,
    /// Overlay annotations in documents that are not overlays, the first one of each.
    idle_overlays: Vec<(Ann, Pos)>,
}

pub(super) type Result<T> = std::result::Result<T, String>;

impl ResultBuilder {
    pub fn new(dialect: Dialect, overrides: KeyOverrides) -> ResultBuilder {
        ResultBuilder {
            dialect,
            overrides,
            open: Vec::new(),
            text: WholeText::default(),
            documents: None,
            items: None,
            annotations: Vec::new(),
            keys: Vec::new(),
            overlay: None,
            idle_overlays: Vec::new(),
        }
    }

    /// The context of a file.
    pub fn of_file(overrides: KeyOverrides, becomes: Becomes) -> ResultBuilder {
        let context = ResultBuilder::new(Dialect::Yaml, overrides);
        match becomes {
            Becomes::Nodes => context,
            Becomes::TextOfDocuments => ResultBuilder { documents: Some(Box::default()), ..context },
            Becomes::TextOfItems => ResultBuilder { items: Some(Box::default()), ..context },
        }
    }

    /// Stores an annotation for the node that is started under `tag`. The last one with a name
    /// wins.
    pub fn annotate(&mut self, tag: NodeNumber, annotation: Annotation) {
        self.annotations.push((tag, annotation));
    }

    /// Stores a key for the map item that is started under `tag`.
    pub fn set_key(&mut self, tag: NodeNumber, key: Str) {
        self.keys.push((tag, key));
    }

    /// Opens a node.
    pub fn start(&mut self, table: &NodeTable, tag: NodeNumber) -> Result<()> {
        let node = table.node(tag);
        match node.kind {
            TemplateNodeKind::DocumentSet | TemplateNodeKind::Map(_) | TemplateNodeKind::Array(_) => {
                self.start_collection(table, tag, node)
            }
            TemplateNodeKind::Document | TemplateNodeKind::MapItem(_) | TemplateNodeKind::ArrayItem => {
                self.start_item(table, tag, node)
            }
            TemplateNodeKind::Text => Err(self.no_place(&node.kind)),
        }
    }

    /// Adds a piece of the source to a text.
    pub fn add_text(&mut self, node: &TemplateNode) -> Result<()> {
        match &node.value {
            SourceValue::Scalar(Scalar::Str(text)) if self.dialect == Dialect::Text => self.text.add(text),
            _ => Err(self.no_place(&node.kind)),
        }
    }

    /// Adds the result of an expression to a text.
    pub fn add_text_value(&mut self, node: &TemplateNode, value: &Value) -> Result<()> {
        match value {
            _ if self.dialect != Dialect::Text => Err(self.no_place(&node.kind)),
            Value::Str(text) => self.text.add(text),
            value if value.downcast::<Noop>().is_some() => Ok(()),
            value => Err(format!(
                "cannot set non-string value ({}), consider using str(...) to convert to string",
                node::go_type_name(value)
            )),
        }
    }

    /// The problem of a node that does not belong into this context.
    #[cold]
    fn no_place(&self, kind: &TemplateNodeKind) -> String {
        let name = kind.name();
        format!(
            "code begins or ends in the middle of a YAML structure: this {name} has no place in what was started before"
        )
    }

    fn start_collection(&mut self, table: &NodeTable, tag: NodeNumber, node: &TemplateNode) -> Result<()> {
        if self.open.last().is_some_and(|open| open.item != node.parent) {
            self.close_to_parent_of(table, tag, node)?;
        }
        if self.dialect == Dialect::Text {
            return Err(self.no_place(&node.kind));
        }
        if let Some(open) = self.open.last() {
            // Only items can have collections below them, and those are maps or arrays.
            if open.item == 0 || matches!(node.kind, TemplateNodeKind::DocumentSet) {
                return Err(format!("{}; this is a {}", open.contents(), node.kind.name()));
            }
        }
        let open = Open::new(tag, &node.kind);
        if let Some(items) = &mut self.items {
            items.begin_collection(open.collection());
        }
        self.open.push(open);
        Ok(())
    }

    fn start_item(&mut self, table: &NodeTable, tag: NodeNumber, node: &TemplateNode) -> Result<()> {
        match self.open.last() {
            Some(open) if open.tag == node.parent => self.close_item()?,
            Some(_) => self.close_to_parent_of(table, tag, node)?,
            // A function may begin with items: they get their collection from the source.
            None => self.start(table, node.parent)?,
        }
        if matches!(node.kind, TemplateNodeKind::Document) {
            self.overlay = None;
        }
        let meta = if self.annotations.is_empty() { None } else { self.take_annotations(tag) };
        if let (None, Some(meta)) = (self.overlay, &meta) {
            self.overlay = idle_overlay(meta, &node.kind);
        }
        let given = if self.keys.is_empty() { None } else { self.take_key(tag) };
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        open.add_item(tag, node, given, meta, self.overrides)?;
        if let Some(items) = &mut self.items {
            items.begin_item(open.key());
        }
        Ok(())
    }

    /// Sets the value of the innermost open node to one from the source.
    pub fn set_source_value(&mut self, value: Node) -> Result<()> {
        let has_constant = matches!(value, Node::Map(_) | Node::Array(_));
        let written = self.write_value(&value);
        let open = self.innermost()?;
        open.add(value)?;
        match written {
            Written::No => open.has_constant = has_constant,
            Written::Yes => open.forget_value(),
        }
        Ok(())
    }

    /// Sets the value of the innermost open node to the result of an expression.
    pub fn set_value(&mut self, value: &Value) -> Result<()> {
        match node::from_value(value)? {
            FragmentData::Node(node) => {
                let written = self.write_value(&node);
                let open = self.innermost()?;
                open.set(node)?;
                if written == Written::Yes {
                    open.forget_value();
                }
                Ok(())
            }
            FragmentData::Documents(_) => Err(format!("{}; this is a document set", self.innermost()?.contents())),
        }
    }

    /// Writes the value of the open item, if items are written.
    fn write_value(&mut self, value: &Node) -> Written {
        let Some(items) = &mut self.items else { return Written::No };
        items.value(value);
        Written::Yes
    }

    /// Replaces the innermost open node by the items of a value (`template.replace()`). In a part
    /// without code that is the last item, however deep: see
    /// `tests/cases/template/replace-after-finished-item`.
    pub fn replace(&mut self, value: &Value) -> Result<()> {
        if self.items.is_some() {
            return Err("a file that replaces nodes has to load @ytt:template by this name".into());
        }
        let data = node::from_value(value)?;
        while let Some(open) = self.open.last_mut()
            && let Some(inner) = open.open_constant()?
        {
            self.open.push(inner);
        }
        match self.open.last_mut() {
            Some(open) => open.replace(data, self.overrides),
            None => {
                let found = if self.dialect == Dialect::Text { "text" } else { "null" };
                Err(format!("expected to replace document value, map item or array item, but found {found}"))
            }
        }
    }

    /// The node that [`ResultBuilder::replace`] replaced last, and what by.
    pub fn replaced(&self) -> Option<Replaced> {
        let (current, outer) = self.open.split_last()?;
        let (pos, by) = current.replaced()?;
        let above = outer.iter().rev().find_map(Open::item_pos).unwrap_or(Pos::UNKNOWN);
        Some(Replaced { pos, above, by })
    }

    /// Closes all nodes and returns the result, and the overlay annotations without effect in it,
    /// unless it becomes part of something else.
    pub fn finish(mut self) -> Result<(Built, Vec<(Ann, Pos)>)> {
        if self.dialect == Dialect::Text {
            return Ok((Built::Text(self.text.finish()), Vec::new()));
        }
        while self.open.len() > 1 {
            self.close()?;
        }
        self.close_item()?;
        let built = match (self.open.pop().map(|open| open.node), self.documents, self.items) {
            (Some(Building::DocumentSet(..)), Some(documents), _) => Built::Written(documents.finish()),
            (Some(Building::DocumentSet(..)), _, Some(items)) => Built::Written(items.finish()),
            (outermost, ..) => Built::Yaml(outermost.map_or(FragmentData::Node(Node::NULL), fragment_of)),
        };
        Ok((built, self.idle_overlays))
    }

    fn innermost(&mut self) -> Result<&mut Open> {
        self.open.last_mut().ok_or_else(|| "expected a YAML node to be started before its value is set".into())
    }

    fn take_key(&mut self, tag: NodeNumber) -> Option<Str> {
        self.keys.iter().position(|(of, _)| *of == tag).map(|at| self.keys.remove(at).1)
    }

    fn take_annotations(&mut self, tag: NodeNumber) -> Option<Rc<Meta>> {
        let own: Vec<Annotation> =
            self.annotations.extract_if(.., |(of, _)| *of == tag).map(|(_, annotation)| annotation).collect();
        let annotations = last_of_each_name(own);
        (!annotations.is_empty()).then(|| Rc::new(Meta { annotations, ..Meta::default() }))
    }

    /// Closes what is open below the nearest common ancestor of the innermost open node and a new
    /// one. Usually that is the parent of the new one.
    fn close_to_parent_of(&mut self, table: &NodeTable, tag: NodeNumber, new: &TemplateNode) -> Result<()> {
        let Some(innermost) = self.open.last() else { return Ok(()) };
        let at = match self.place_of(new.parent) {
            Some(at) => at,
            None => {
                let common = table.common_parent(innermost.innermost_tag(), tag);
                let place = self.place_of(common);
                place.ok_or_else(|| self.no_place(&new.kind))?
            }
        };
        while self.open.len() > at.index + 1 {
            self.close()?;
        }
        if at.is_collection {
            self.close_item()?;
        }
        Ok(())
    }

    /// Where a node is open.
    fn place_of(&self, tag: NodeNumber) -> Option<OpenNode> {
        if tag == 0 {
            return None;
        }
        let index = self.open.iter().rposition(|open| open.tag == tag || open.item == tag)?;
        Some(OpenNode { index, is_collection: self.open[index].tag == tag })
    }

    /// Closes the innermost collection: it becomes the value of its item.
    fn close(&mut self) -> Result<()> {
        self.close_item()?;
        let (Some(closed), Some(parent)) = (self.open.pop(), self.open.last_mut()) else { return Ok(()) };
        if let Some(items) = &mut self.items {
            items.end_collection();
            return Ok(());
        }
        match closed.node {
            Building::Map(mut map, _) => {
                map.shrink_if_wasteful();
                parent.add(Node::map(map))
            }
            Building::Array(mut array, _) => {
                if array.items.len() * 3 / 2 < array.items.capacity() {
                    array.items.shrink_to_fit();
                }
                parent.add(Node::array(array))
            }
            // It is outermost.
            Building::DocumentSet(..) => Ok(()),
        }
    }

    /// Closes the open item of the innermost collection.
    fn close_item(&mut self) -> Result<()> {
        let Some(open) = self.open.last_mut().filter(|open| open.item != 0) else { return Ok(()) };
        if let (Some(overlay), Some(doc)) = (self.overlay, open.document())
            && is_no_overlay(doc)
        {
            self.idle_overlays.push(overlay);
        }
        open.close_item()?;
        if let (Some(documents), Building::DocumentSet(docs, _)) = (&mut self.documents, &mut open.node) {
            docs.items.drain(..).for_each(|doc| documents.add(&doc));
        }
        if let Some(items) = &mut self.items {
            items.end_item();
            open.forget_items();
        }
        Ok(())
    }
}

/// Whether a value was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    No,
}

/// The place of an open node.
struct OpenNode {
    /// The index of its collection.
    index: usize,
    /// Whether it is the collection itself, not its open item.
    is_collection: bool,
}

/// A complete collection.
fn fragment_of(collection: Building) -> FragmentData {
    match collection {
        Building::DocumentSet(docs, _) => FragmentData::Documents(Rc::new(docs)),
        Building::Map(map, _) => FragmentData::Node(Node::map(map)),
        Building::Array(array, _) => FragmentData::Node(Node::array(array)),
    }
}

/// Whether overlay annotations have no effect in a document.
fn is_no_overlay(doc: &Document) -> bool {
    doc.pos.is_known()
        && ![Ann::OverlayMatch, Ann::DataValues, Ann::DataValuesSchema].into_iter().any(|ann| doc.has(ann))
}

/// The first overlay annotation on a node that requires an overlay: a document that an overlay
/// would append is part of the output anyway.
fn idle_overlay(meta: &Meta, kind: &TemplateNodeKind) -> Option<(Ann, Pos)> {
    let is_added = |ann| matches!((kind, ann), (TemplateNodeKind::Document, Ann::OverlayInsert | Ann::OverlayAppend));
    let is_idle = |ann: &Ann| ann.is_in("overlay") && !is_added(*ann);
    meta.annotations.iter().find_map(|annotation| Some((annotation.ann.filter(is_idle)?, annotation.pos)))
}

/// The last annotation of each name, in order. `@schema/desc` wins over its alias, whichever comes
/// last.
fn last_of_each_name(annotations: Vec<Annotation>) -> Vec<Annotation> {
    if annotations.len() < 2 {
        return annotations;
    }
    let is_alias = |ann: &Annotation| ann.ann == Some(Ann::SchemaDesc) && ann.name != Ann::SchemaDesc.name();
    let has_desc = annotations.iter().any(|ann| ann.ann == Some(Ann::SchemaDesc) && !is_alias(ann));
    let mut seen = FxHashSet::default();
    let is_last = |ann: &Annotation| {
        let name = if ann.ann.is_some() { Str::EMPTY } else { ann.name.clone() };
        !(has_desc && is_alias(ann)) && seen.insert((ann.ann, name))
    };
    let mut kept: Vec<Annotation> = annotations.into_iter().rev().filter(is_last).collect();
    kept.reverse();
    kept
}
