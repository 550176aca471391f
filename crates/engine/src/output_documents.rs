//! Output documents as programs see them: in place ([`OutputRef`]) or as trees of their own
//! ([`OutputNode`]).
//!
//! A check by the host ([`OutputCheck`]), such as that of Kubernetes manifests, reads documents in
//! place: copying those of cf-for-k8s cost as much as checking them.

use std::cell::Cell;
use std::fmt;

use ytterby_diag::{Diagnostic, Pos};
use ytterby_yaml::{NodeId, Scalar, Tree, View, has_duplicate_keys, last_wins};

use crate::deep::deep_walk;
use crate::node::{self, FileDocuments, MAX_NODES, Node};

/// A check of all output documents of a run.
pub trait OutputCheck: fmt::Debug + Send + Sync {
    /// A description for the failure: `Checking output against Kubernetes 1.36`.
    fn title(&self) -> String;

    /// The findings: errors, which fail the run, and warnings.
    fn check(&self, documents: &OutputDocuments<'_>) -> Vec<Diagnostic>;
}

/// The output documents of a run, in order.
pub struct OutputDocuments<'a> {
    files: Vec<&'a FileDocuments>,
    /// Nodes that may still be read. Shared nodes count each time: a few of them can contain each
    /// other many times.
    left: Cell<u32>,
}

impl fmt::Debug for OutputDocuments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'a> OutputDocuments<'a> {
    /// The documents of these files.
    pub(crate) fn new(files: Vec<&'a FileDocuments>) -> OutputDocuments<'a> {
        OutputDocuments { files, left: Cell::new(MAX_NODES) }
    }

    /// Whether more nodes were read than documents may have.
    pub(crate) fn are_too_large(&self) -> bool {
        self.left.get() == 0
    }

    /// The documents.
    pub fn iter(&self) -> impl Iterator<Item = OutputRef<'_>> {
        self.files.iter().flat_map(|docs| {
            let (plain, nodes) = match docs {
                FileDocuments::Plain(tree) => (Some(tree), None),
                FileDocuments::Nodes(set) => (None, Some(set)),
            };
            let plain = plain.into_iter().flat_map(|tree| {
                let docs = tree.documents().iter().filter(|doc| !doc.injected);
                docs.map(|doc| self.document(RefNode::Plain(tree, doc.value), doc.pos))
            });
            let nodes = nodes.into_iter().flat_map(|set| &set.items);
            plain.chain(nodes.map(|doc| self.document(RefNode::Node(&doc.value), doc.pos)))
        })
    }

    fn document<'d>(&'d self, node: RefNode<'d>, pos: Pos) -> OutputRef<'d> {
        OutputRef { node, pos, left: &self.left }
    }
}

/// A node of an output document, read in place.
#[derive(Clone, Copy, Debug)]
pub struct OutputRef<'a> {
    node: RefNode<'a>,
    /// Where the item that contains it begins in a source; unknown for nodes that code created.
    pub pos: Pos,
    left: &'a Cell<u32>,
}

#[derive(Clone, Copy, Debug)]
enum RefNode<'a> {
    Node(&'a Node),
    Plain(&'a Tree, NodeId),
}

/// The content of an [`OutputRef`].
#[derive(Debug)]
pub enum OutputContent<'a> {
    /// A leaf.
    Scalar(&'a Scalar),
    /// Items in order.
    Array(OutputItems<'a>),
    /// Keys and values in order.
    Map(OutputEntries<'a>),
}

/// The items of an array.
#[derive(Debug)]
pub struct OutputItems<'a>(RefChildren<'a>);

/// The keys and values of a map.
#[derive(Debug)]
pub struct OutputEntries<'a>(RefChildren<'a>);

/// The children of a node.
#[derive(Debug)]
struct RefChildren<'a> {
    kind: ChildrenKind<'a>,
    left: &'a Cell<u32>,
}

#[derive(Debug)]
enum ChildrenKind<'a> {
    Items(std::slice::Iter<'a, node::ArrayItem>),
    PlainItems(&'a Tree, std::slice::Iter<'a, ytterby_yaml::ArrayItem>),
    Entries(std::slice::Iter<'a, node::MapItem>),
    PlainEntries(&'a Tree, std::slice::Iter<'a, ytterby_yaml::MapItem>),
    /// A map with duplicate keys, of which the last value counts.
    LastEntries(&'a Tree, std::vec::IntoIter<(&'a ytterby_yaml::MapItem, Pos)>),
}

impl<'a> OutputRef<'a> {
    /// The content; null once more nodes were read than a document may have.
    pub fn content(&self) -> OutputContent<'a> {
        let left = self.left;
        let Some(fewer) = left.get().checked_sub(1) else { return OutputContent::Scalar(&Scalar::Null) };
        left.set(fewer);
        let array = |kind| OutputContent::Array(OutputItems(RefChildren { kind, left }));
        let map = |kind| OutputContent::Map(OutputEntries(RefChildren { kind, left }));
        match self.node {
            RefNode::Node(Node::Scalar(scalar)) => OutputContent::Scalar(scalar),
            RefNode::Node(Node::Array(items)) => array(ChildrenKind::Items(items.items.iter())),
            RefNode::Node(Node::Map(items)) => map(ChildrenKind::Entries(items.iter())),
            RefNode::Plain(tree, id) => match tree.value(id) {
                View::Scalar(scalar) => OutputContent::Scalar(scalar),
                View::Array(items) => array(ChildrenKind::PlainItems(tree, items.iter())),
                View::Map(items) if has_duplicate_keys(items) => {
                    map(ChildrenKind::LastEntries(tree, last_wins(items).into_iter()))
                }
                View::Map(items) => map(ChildrenKind::PlainEntries(tree, items.iter())),
            },
        }
    }
}

impl<'a> Iterator for RefChildren<'a> {
    /// The children of maps have keys.
    type Item = (Option<&'a Scalar>, OutputRef<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let plain_entry =
            |tree, item: &'a ytterby_yaml::MapItem| (Some(&item.key), RefNode::Plain(tree, item.value), item.pos);
        let (key, node, pos) = match &mut self.kind {
            ChildrenKind::Items(items) => items.next().map(|item| (None, RefNode::Node(&item.value), item.pos))?,
            ChildrenKind::PlainItems(tree, items) => {
                items.next().map(|item| (None, RefNode::Plain(tree, item.value), item.pos))?
            }
            ChildrenKind::Entries(items) => {
                items.next().map(|item| (Some(&item.key), RefNode::Node(&item.value), item.pos))?
            }
            ChildrenKind::PlainEntries(tree, items) => plain_entry(tree, items.next()?),
            ChildrenKind::LastEntries(tree, items) => plain_entry(tree, items.next()?.0),
        };
        Some((key, OutputRef { node, pos, left: self.left }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match &self.kind {
            ChildrenKind::Items(items) => items.size_hint(),
            ChildrenKind::PlainItems(_, items) => items.size_hint(),
            ChildrenKind::Entries(items) => items.size_hint(),
            ChildrenKind::PlainEntries(_, items) => items.size_hint(),
            ChildrenKind::LastEntries(_, items) => items.size_hint(),
        }
    }
}

impl<'a> Iterator for OutputItems<'a> {
    type Item = OutputRef<'a>;

    fn next(&mut self) -> Option<OutputRef<'a>> {
        self.0.next().map(|(_, item)| item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<'a> Iterator for OutputEntries<'a> {
    type Item = (&'a Scalar, OutputRef<'a>);

    fn next(&mut self) -> Option<(&'a Scalar, OutputRef<'a>)> {
        let (key, value) = self.0.next()?;
        Some((key?, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// A node of an output document. However deep it is, it can be cloned, formatted and dropped on any
/// stack.
///
/// It implements `Drop`, so fields cannot be moved out of it: use [`std::mem::take`] for `value`.
pub struct OutputNode {
    /// Its value.
    pub value: OutputValue,
    /// Where the item that contains it begins in a source; unknown for nodes that code created.
    pub pos: Pos,
}

impl OutputNode {
    /// The value of a key of a map.
    pub fn get(&self, key: &str) -> Option<&OutputNode> {
        let OutputValue::Map(items) = &self.value else { return None };
        let is_named = |other: &Scalar| matches!(other, Scalar::Str(text) if &**text == key.as_bytes());
        items.iter().find(|(other, _)| is_named(other)).map(|(_, value)| value)
    }

    /// A string; `None` for other values, and for bytes that are not UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            OutputValue::Scalar(Scalar::Str(text)) => std::str::from_utf8(text).ok(),
            _ => None,
        }
    }

    /// An integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.value {
            OutputValue::Scalar(Scalar::Int(number)) => Some(number),
            _ => None,
        }
    }
}

impl Clone for OutputNode {
    fn clone(&self) -> OutputNode {
        OutputNode { value: deep_walk(|| self.value.clone()), pos: self.pos }
    }
}

impl fmt::Debug for OutputNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep_walk(|| f.debug_struct("OutputNode").field("value", &self.value).field("pos", &self.pos).finish())
    }
}

impl Drop for OutputNode {
    fn drop(&mut self) {
        if !matches!(self.value, OutputValue::Scalar(_)) {
            let value = std::mem::take(&mut self.value);
            deep_walk(|| drop(value));
        }
    }
}

impl Default for OutputValue {
    fn default() -> OutputValue {
        OutputValue::Scalar(Scalar::Null)
    }
}

/// The value of a node.
#[derive(Clone, Debug)]
pub enum OutputValue {
    /// A leaf.
    Scalar(Scalar),
    /// Items in order.
    Array(Vec<OutputNode>),
    /// Keys and values in order.
    Map(Vec<(Scalar, OutputNode)>),
}

/// The documents of a file; incomplete if the budget is used up.
pub(crate) fn nodes_of(docs: &FileDocuments, budget: &mut u32) -> Vec<OutputNode> {
    match docs {
        FileDocuments::Plain(tree) => {
            let docs = tree.documents().iter().filter(|doc| !doc.injected);
            docs.filter_map(|doc| plain(tree, doc.value, doc.pos, budget)).collect()
        }
        FileDocuments::Nodes(set) => set.items.iter().filter_map(|doc| node(&doc.value, doc.pos, budget)).collect(),
    }
}

/// A node and everything below it; `None` if the budget is used up.
pub(crate) fn node(of: &Node, pos: Pos, budget: &mut u32) -> Option<OutputNode> {
    *budget = budget.checked_sub(1)?;
    let value = match of {
        Node::Scalar(scalar) => OutputValue::Scalar(scalar.clone()),
        Node::Array(array) => crate::deep(|| {
            let mut items = Vec::with_capacity(array.items.len());
            items.extend(array.items.iter().filter_map(|item| node(&item.value, item.pos, budget)));
            OutputValue::Array(items)
        }),
        Node::Map(map) => crate::deep(|| {
            let mut items = Vec::with_capacity(map.len());
            items.extend(map.iter().filter_map(|item| {
                let value = node(&item.value, item.pos, budget)?;
                Some((item.key.clone(), value))
            }));
            OutputValue::Map(items)
        }),
    };
    Some(OutputNode { value, pos })
}

/// The same for plain YAML that was never converted to nodes.
fn plain(tree: &Tree, id: NodeId, pos: Pos, budget: &mut u32) -> Option<OutputNode> {
    *budget = budget.checked_sub(1)?;
    let value = match tree.value(id) {
        View::Scalar(scalar) => OutputValue::Scalar(scalar.clone()),
        View::Array(items) => crate::deep(|| {
            OutputValue::Array(items.iter().filter_map(|item| plain(tree, item.value, item.pos, budget)).collect())
        }),
        View::Map(items) => crate::deep(|| {
            let kept = last_wins(items).into_iter();
            let items =
                kept.filter_map(|(item, _)| Some((item.key.clone(), plain(tree, item.value, item.pos, budget)?)));
            OutputValue::Map(items.collect())
        }),
    };
    Some(OutputNode { value, pos })
}
