//! Builds documents and texts while a template's program runs.
//!
//! A context is one result under construction: the documents of a file, the fragment of a function,
//! a text. It contains the open collections from the outermost to the innermost ([`Open`]); an item
//! is added to its collection when it starts. Starting a node closes the open ones down to the
//! nearest common ancestor in the source; a closed collection becomes the value of its item. The
//! context of a text only joins pieces ([`WholeText`]).

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::Str;

use super::open::{Building, Open};
use super::ops::Noop;
use super::pending::{IdleOverlays, Pending, may_be_overlay};
use super::place::{Place, place_of};
use super::table::{LinkedTable, NodeNumber, NodeTable, SourceValue, TemplateNode, TemplateNodeKind};
use super::whole_text::WholeText;
use crate::annotation::Ann;
use crate::early::{DocumentWriter, WrittenDocuments};
use crate::node::{self, Annotated, FragmentData, Node, Scalar};
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
    pub pending: Pending,
    idle: IdleOverlays,
}

/// Why a value cannot be set without a node.
pub(super) const NOT_STARTED: &str = "expected a YAML node to be started before its value is set";

pub(super) type Result<T> = std::result::Result<T, String>;

impl ResultBuilder {
    pub fn new(dialect: Dialect, overrides: KeyOverrides) -> ResultBuilder {
        ResultBuilder {
            dialect,
            overrides,
            open: Vec::new(),
            text: WholeText::default(),
            documents: None,
            pending: Pending::default(),
            idle: IdleOverlays::default(),
        }
    }

    /// The context of a file whose documents are written when they are complete.
    pub fn of_documents(overrides: KeyOverrides) -> ResultBuilder {
        ResultBuilder { documents: Some(Box::default()), ..ResultBuilder::new(Dialect::Yaml, overrides) }
    }

    /// Opens a node.
    pub fn start(&mut self, table: &NodeTable, tag: NodeNumber) -> Result<()> {
        let node = table.node(tag);
        match node.kind {
            TemplateNodeKind::DocumentSet | TemplateNodeKind::Map { .. } | TemplateNodeKind::Array(_) => {
                self.start_collection(table, tag, node)
            }
            TemplateNodeKind::Document | TemplateNodeKind::MapItem(_) | TemplateNodeKind::ArrayItem => {
                self.start_item(table, tag, node)
            }
            TemplateNodeKind::Text => Err(node.kind.no_place()),
        }
    }

    /// Adds a piece of the source to a text.
    pub fn add_text(&mut self, node: &TemplateNode) -> Result<()> {
        match &node.value {
            SourceValue::Scalar(Scalar::Str(text)) if self.dialect == Dialect::Text => self.text.add(text),
            _ => Err(node.kind.no_place()),
        }
    }

    /// Adds the result of an expression to a text.
    pub fn add_text_value(&mut self, node: &TemplateNode, value: &Value) -> Result<()> {
        match value {
            _ if self.dialect != Dialect::Text => Err(node.kind.no_place()),
            Value::Str(text) => self.text.add(text),
            value if value.downcast::<Noop>().is_some() => Ok(()),
            value => Err(format!(
                "cannot set non-string value ({}), consider using str(...) to convert to string",
                node::go_type_name(value)
            )),
        }
    }

    fn start_collection(&mut self, table: &NodeTable, tag: NodeNumber, node: &TemplateNode) -> Result<()> {
        if self.open.last().is_some_and(|open| open.item != node.parent) {
            self.close_to_parent_of(table, tag, node)?;
        }
        if self.dialect == Dialect::Text {
            return Err(node.kind.no_place());
        }
        if let Some(open) = self.open.last() {
            // Only items can have collections below them, and those are maps or arrays.
            if open.item == 0 || matches!(node.kind, TemplateNodeKind::DocumentSet) {
                return Err(format!("{}; this is a {}", open.contents(), node.kind.name()));
            }
        }
        self.open.push(Open::new(tag, &node.kind));
        Ok(())
    }

    fn start_item(&mut self, table: &NodeTable, tag: NodeNumber, node: &TemplateNode) -> Result<()> {
        match self.open.last() {
            Some(open) if open.tag == node.parent => self.close_item()?,
            Some(_) => self.close_to_parent_of(table, tag, node)?,
            // A function may begin with items: they get their collection from the source.
            None => self.start(table, node.parent)?,
        }
        let meta = self.pending.take_annotations(tag);
        self.idle.note(&node.kind, meta.as_deref());
        let given = self.pending.take_key(tag);
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        open.add_item(tag, node, given, meta, self.overrides)
    }

    /// Sets the value of the innermost open node to the one of a node in the source.
    pub fn set_source_value(&mut self, table: &LinkedTable, tag: NodeNumber) -> Result<()> {
        let value = table.value(tag);
        let has_constant = matches!(value, Node::Map(_) | Node::Array(_));
        let open = self.innermost()?;
        open.add(value)?;
        open.has_constant = has_constant;
        Ok(())
    }

    /// Sets the value of the innermost open node to the result of an expression.
    pub fn set_value(&mut self, value: &Value) -> Result<()> {
        match node::from_value(value)? {
            FragmentData::Node(node) => self.innermost()?.set(node),
            FragmentData::Documents(_) => Err(format!("{}; this is a document set", self.innermost()?.contents())),
        }
    }

    /// Replaces the innermost open node by the items of a value (`template.replace()`). In a part
    /// without code that is the last item, however deep: see
    /// `tests/cases/template/replace-after-finished-item`.
    pub fn replace(&mut self, value: &Value) -> Result<()> {
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
        let built = match (self.open.pop().map(|open| open.node), self.documents) {
            (Some(Building::DocumentSet(..)), Some(documents)) => Built::Written(documents.finish()),
            (outermost, _) => Built::Yaml(outermost.map_or(FragmentData::Node(Node::NULL), fragment_of)),
        };
        Ok((built, self.idle.into_found()))
    }

    fn innermost(&mut self) -> Result<&mut Open> {
        self.open.last_mut().ok_or_else(|| NOT_STARTED.into())
    }

    /// Closes what is open below the place of a new node.
    fn close_to_parent_of(&mut self, table: &NodeTable, tag: NodeNumber, new: &TemplateNode) -> Result<()> {
        let place = place_of(&self.open, table, tag).ok_or_else(|| new.kind.no_place())?;
        while self.open.len() > place.depth() {
            self.close()?;
        }
        if let Place::Collection(_) = place {
            self.close_item()?;
        }
        Ok(())
    }

    /// Closes the innermost collection: it becomes the value of its item.
    fn close(&mut self) -> Result<()> {
        self.close_item()?;
        let (Some(closed), Some(parent)) = (self.open.pop(), self.open.last_mut()) else { return Ok(()) };
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
        self.idle.item_ends(|| open.document().map(|doc| may_be_overlay(doc.pos, doc.meta())));
        open.close_item()?;
        if let (Some(documents), Building::DocumentSet(docs, _)) = (&mut self.documents, &mut open.node) {
            docs.items.drain(..).for_each(|doc| documents.add(&doc));
        }
        Ok(())
    }
}

/// A complete collection.
fn fragment_of(collection: Building) -> FragmentData {
    match collection {
        Building::DocumentSet(docs, _) => FragmentData::Documents(Rc::new(docs)),
        Building::Map(map, _) => FragmentData::Node(Node::map(map)),
        Building::Array(array, _) => FragmentData::Node(Node::array(array)),
    }
}
