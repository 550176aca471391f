//! Writes the items of a file as they begin, so that no nodes of it exist.
//!
//! What may follow what is the same as in a [`ResultBuilder`](super::build::ResultBuilder), but all
//! that is kept of an item is its number. A collection is written with its first item, since an
//! empty one has another form, and an empty document has none. An item whose value is set again
//! goes back to where its value began.

use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::budget;
use ytterby_yaml::write::{WriterMark, YamlWriter};
use ytterby_yaml::{Scalar, Sink};

use super::build::{Built, NOT_STARTED, Result};
use super::item_runs::Run;
use super::open::{contents, not_overridden, not_settable};
use super::pending::{IdleOverlays, Pending, may_be_overlay};
use super::place::{Collection, OpenCollection, Place, place_of};
use super::table::{LinkedTable, NodeNumber, NodeTable, Op, SourceValue, TemplateNode, TemplateNodeKind};
use crate::annotation::Ann;
use crate::early;
use crate::node::{self, FragmentData, Map, Node};

/// A collection below more than this many others charges its indentation.
const DEEP: usize = 32;

/// The bytes that are charged for a scalar, besides its text.
pub(super) const SCALAR_BYTES: usize = 80;

/// The text of a file under construction.
pub(super) struct ItemWriter {
    pub yaml: YamlWriter,
    /// The open collections, the documents first.
    pub open: Vec<OpenText>,
    /// The items of the open maps from the outermost to the innermost, while their keys are surely
    /// different.
    pub items: Vec<NodeNumber>,
    pub pending: Pending,
    pub idle: IdleOverlays,
    pub problem: Option<String>,
    /// By the number of their first operation.
    pub runs: Vec<Run>,
}

pub(super) struct OpenText {
    pub tag: NodeNumber,
    /// The tag of the open item; 0 if there is none.
    pub item: NodeNumber,
    pub collection: Collection,
    pub has_items: bool,
    /// Whether the open item has a value.
    pub has_value: bool,
    /// Where the value of the open item begins.
    pub value: WriterMark,
    pub keys: Keys,
    /// Whether the open item is a document that may be an overlay.
    pub may_be_overlay: bool,
}

/// The keys of an open map.
pub(super) enum Keys {
    /// All are different in the source, and each item came after those before it. The items are
    /// those of [`ItemWriter::items`] from this index on.
    InOrder(usize),
    /// Each new key is looked up.
    Looked(Box<Map>),
}

impl OpenCollection for OpenText {
    fn tag(&self) -> NodeNumber {
        self.tag
    }

    fn item(&self) -> NodeNumber {
        self.item
    }
}

impl Default for ItemWriter {
    fn default() -> ItemWriter {
        ItemWriter {
            yaml: early::writer(),
            open: Vec::new(),
            items: Vec::new(),
            pending: Pending::default(),
            idle: IdleOverlays::default(),
            problem: None,
            runs: Vec::new(),
        }
    }
}

impl ItemWriter {
    /// Does an operation that starts nodes.
    #[inline]
    pub fn start_op(&mut self, table: &LinkedTable, op: &Op) -> Result<()> {
        match *op {
            Op::StartLeaf(tag) => {
                self.start(table, tag)?;
                self.set_source_value(table, tag)
            }
            Op::StartNested(tag) => {
                self.start(table, tag)?;
                self.start(table, tag + 1)
            }
            Op::StartNode(tag) => self.start(table, tag),
            _ => Ok(()),
        }
    }

    /// Opens a node.
    #[inline]
    fn start(&mut self, table: &NodeTable, tag: NodeNumber) -> Result<()> {
        let node = table.node(tag);
        match node.kind {
            TemplateNodeKind::DocumentSet => self.start_collection(table, tag, node, Collection::Documents),
            TemplateNodeKind::Map { .. } => self.start_collection(table, tag, node, Collection::Map),
            TemplateNodeKind::Array(_) => self.start_collection(table, tag, node, Collection::Array),
            TemplateNodeKind::Document | TemplateNodeKind::MapItem(_) | TemplateNodeKind::ArrayItem => {
                self.start_item(table, tag, node)
            }
            TemplateNodeKind::Text => Err(node.kind.no_place()),
        }
    }

    fn start_collection(
        &mut self,
        table: &NodeTable,
        tag: NodeNumber,
        node: &TemplateNode,
        collection: Collection,
    ) -> Result<()> {
        if self.open.last().is_some_and(|open| open.item != node.parent) {
            self.close_to_parent_of(table, tag, node)?;
        }
        if let Some(open) = self.open.last() {
            // Only items can have collections below them, and those are maps or arrays.
            if open.item == 0 || collection == Collection::Documents {
                return Err(format!("{}; this is a {}", open.contents(), node.kind.name()));
            }
        }
        self.clear_value();
        let keys = match node.kind {
            TemplateNodeKind::Map { distinct: false, .. } => Keys::Looked(Box::default()),
            _ => Keys::InOrder(self.items.len()),
        };
        self.open.push(OpenText {
            tag,
            item: 0,
            collection,
            has_items: false,
            has_value: false,
            value: self.yaml.mark(),
            keys,
            may_be_overlay: false,
        });
        Ok(())
    }

    fn start_item(&mut self, table: &NodeTable, tag: NodeNumber, node: &TemplateNode) -> Result<()> {
        match self.open.last() {
            Some(open) if open.tag == node.parent => self.close_item(),
            Some(_) => self.close_to_parent_of(table, tag, node)?,
            // A function may begin with items: they get their collection from the source.
            None => self.start(table, node.parent)?,
        }
        let meta = self.pending.take_annotations(tag);
        self.idle.note(&node.kind, meta.as_deref());
        let given = self.pending.take_key(tag);
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else { return Ok(()) };
        let given_key;
        let key = match (open.collection, &node.kind) {
            (Collection::Map, TemplateNodeKind::MapItem(own)) if open.item == 0 => {
                let is_own = given.is_none();
                let key = match given {
                    Some(given) => {
                        given_key = Scalar::Str(given);
                        &given_key
                    }
                    None => own,
                };
                let in_order = is_own && open.tag == node.parent;
                open.keys.add(&mut self.items, table, key, in_order.then_some(tag))?;
                Some((key, is_own && node.has_plain_key))
            }
            (Collection::Array, TemplateNodeKind::ArrayItem) if open.item == 0 => None,
            (Collection::Documents, TemplateNodeKind::Document) if open.item == 0 => {
                open.may_be_overlay = may_be_overlay(node.pos, meta.as_deref());
                None
            }
            (_, kind) => return Err(format!("{}; this is a {}", open.contents(), kind.name())),
        };
        if depth > DEEP {
            budget::or_unwind(budget::text(2 * depth));
        }
        if !std::mem::replace(&mut open.has_items, true) && open.collection != Collection::Documents {
            if depth == 2 {
                self.yaml.document();
            }
            begin(&mut self.yaml, open.collection, 1);
        }
        match key {
            Some((Scalar::Str(key), true)) => self.yaml.plain_key(key),
            Some((key, _)) => self.yaml.key(key),
            None => {}
        }
        open.item = tag;
        open.has_value = false;
        open.value = self.yaml.mark();
        Ok(())
    }

    /// Sets the value of the innermost open node to the one of a node in the source.
    pub fn set_source_value(&mut self, table: &LinkedTable, tag: NodeNumber) -> Result<()> {
        let open = self.innermost()?;
        if open.item == 0 {
            return Err(format!("{}; this is a {}", open.contents(), table.value(tag).type_name()));
        }
        let node = table.node(tag);
        match &node.value {
            SourceValue::Scalar(scalar @ Scalar::Str(text)) if node.has_plain_value => {
                charge(scalar)?;
                if self.begin_value(false) == Written::Yes {
                    self.yaml.plain_scalar(text);
                }
                Ok(())
            }
            SourceValue::Scalar(scalar) => self.write_scalar(scalar),
            SourceValue::Constant(_) => {
                self.write_node(&table.value(tag));
                Ok(())
            }
        }
    }

    /// Sets the value of the innermost open node to the result of an expression.
    pub fn set_value(&mut self, value: &Value) -> Result<()> {
        if let Value::Str(_) | Value::Int(_) | Value::Bool(_) | Value::None = value
            && let Some(scalar) = node::scalar_from_value(value)
        {
            self.check_item()?;
            return self.write_scalar(&scalar);
        }
        match node::from_value(value)? {
            FragmentData::Node(node) => {
                self.check_item()?;
                self.write_node(&node);
                Ok(())
            }
            FragmentData::Documents(_) => Err(format!("{}; this is a document set", self.innermost()?.contents())),
        }
    }

    /// Closes all nodes and returns the text, and the overlay annotations without effect in it.
    pub fn finish(mut self) -> (Built, Vec<(Ann, Pos)>) {
        while self.open.len() > 1 {
            self.close();
        }
        self.close_item();
        let written = match self.problem {
            Some(problem) => Err(problem),
            None => Ok(early::text_of(self.yaml)),
        };
        (Built::Written(written), self.idle.into_found())
    }

    fn innermost(&self) -> Result<&OpenText> {
        self.open.last().ok_or_else(|| NOT_STARTED.into())
    }

    /// Whether code can set the value of the innermost open node.
    fn check_item(&self) -> Result<()> {
        let open = self.innermost()?;
        if open.item == 0 { Err(not_settable(open.collection)) } else { Ok(()) }
    }

    fn write_scalar(&mut self, scalar: &Scalar) -> Result<()> {
        charge(scalar)?;
        if self.begin_value(scalar.is_null()) == Written::Yes {
            self.yaml.scalar(scalar);
        }
        Ok(())
    }

    fn write_node(&mut self, node: &Node) {
        if self.begin_value(node.is_blank()) == Written::Yes && self.problem.is_none() {
            self.problem = node::write_node(&mut self.yaml, node).err();
        }
    }

    /// Prepares for a value of the open item. Documents with blank values are not written.
    fn begin_value(&mut self, is_blank: bool) -> Written {
        let is_document = self.open.len() == 1;
        self.clear_value();
        if let Some(open) = self.open.last_mut() {
            open.has_value = true;
        }
        if is_document {
            if is_blank {
                return Written::No;
            }
            self.yaml.document();
        }
        Written::Yes
    }

    /// Goes back to where the value of the open item began, if it has one.
    #[inline]
    fn clear_value(&mut self) {
        if let Some(open) = self.open.last_mut()
            && open.item != 0
            && std::mem::replace(&mut open.has_value, false)
        {
            self.yaml.return_to(open.value);
        }
    }

    /// Closes what is open below the place of a new node.
    pub fn close_to_parent_of(&mut self, table: &NodeTable, tag: NodeNumber, new: &TemplateNode) -> Result<()> {
        let place = place_of(&self.open, table, tag).ok_or_else(|| new.kind.no_place())?;
        while self.open.len() > place.depth() {
            self.close();
        }
        if let Place::Collection(_) = place {
            self.close_item();
        }
        Ok(())
    }

    /// Closes the innermost collection: it becomes the value of its item.
    fn close(&mut self) {
        self.close_item();
        let Some(OpenText { collection, has_items, keys, .. }) = self.open.pop() else { return };
        if let Keys::InOrder(first) = keys {
            self.items.truncate(first);
        }
        let is_document = self.open.len() == 1;
        if let Some(open) = self.open.last_mut() {
            open.has_value = true;
        }
        if !has_items {
            if is_document {
                return;
            }
            begin(&mut self.yaml, collection, 0);
        }
        match collection {
            Collection::Documents => {}
            Collection::Map => self.yaml.end_map(),
            Collection::Array => self.yaml.end_array(),
        }
    }

    /// Closes the open item of the innermost collection, if there is one.
    pub fn close_item(&mut self) {
        let Some(open) = self.open.last_mut() else { return };
        if std::mem::take(&mut open.item) == 0 {
            return;
        }
        let is_document = open.collection == Collection::Documents;
        if !open.has_value && !is_document {
            self.yaml.scalar(&Scalar::Null);
        }
        self.idle.item_ends(|| is_document.then_some(open.may_be_overlay));
    }
}

impl OpenText {
    fn contents(&self) -> &'static str {
        contents(self.collection, self.item != 0)
    }
}

impl Keys {
    /// Adds the key of an item; its number if it is one of the map's own in the source.
    #[inline]
    fn add(
        &mut self,
        items: &mut Vec<NodeNumber>,
        table: &NodeTable,
        key: &Scalar,
        own: Option<NodeNumber>,
    ) -> Result<()> {
        if let (Keys::InOrder(first), Some(tag)) = (&*self, own)
            && items[*first..].last().is_none_or(|last| *last < tag)
        {
            items.push(tag);
            return Ok(());
        }
        self.look_up(items, table, key)
    }

    #[inline(never)]
    fn look_up(&mut self, items: &mut Vec<NodeNumber>, table: &NodeTable, key: &Scalar) -> Result<()> {
        if let Keys::InOrder(first) = *self {
            let mut keys = Map::default();
            for tag in items.drain(first..) {
                if let TemplateNodeKind::MapItem(key) = &table.node(tag).kind {
                    keys.push_new(key.clone(), Node::NULL);
                }
            }
            *self = Keys::Looked(Box::new(keys));
        }
        if let Keys::Looked(keys) = self {
            if keys.get(key).is_some() {
                return Err(not_overridden(key));
            }
            keys.push_new(key.clone(), Node::NULL);
        }
        Ok(())
    }
}

/// Charges a scalar.
#[inline]
fn charge(scalar: &Scalar) -> Result<()> {
    let text = if let Scalar::Str(text) = scalar { text.len() } else { 0 };
    budget::text(SCALAR_BYTES + text).map_err(|exceeded| exceeded.to_string())
}

/// Whether a value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    No,
}

fn begin(yaml: &mut YamlWriter, collection: Collection, len: usize) {
    match collection {
        Collection::Documents => {}
        Collection::Map => yaml.begin_map(len),
        Collection::Array => yaml.begin_array(len),
    }
}
