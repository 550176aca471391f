//! A cache shared by the renders of a project on one thread.
//!
//! Nodes without code are created once per thread, and overlays copy only what they change: most of
//! the output of a target (CRDs, vendored manifests) consists of the same nodes in the next one.
//! Such a node is written once, and afterwards its text is copied; it is searched for overlay
//! annotations once. This saves a third of the time of each of 100 targets of cf-for-k8s. Nodes
//! that only one render has are not kept.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use ytterby_yaml::Tree;
use ytterby_yaml::write::{WritePoint, WrittenValue, YamlWriter};

use crate::node::{Map, Node, Scalar};

/// Collections with fewer items are written as fast as they are looked up.
const FEWEST_ITEMS: usize = 4;

/// Shorter strings are written as fast as they are looked up.
const SHORTEST_TEXT: usize = 512;

/// Entries that were not used for this many renders are dropped.
const KEPT_RENDERS: u32 = 2;

/// The cache of one thread.
#[derive(Default)]
pub(crate) struct Reuse {
    /// The number of the current render.
    render: Cell<u32>,
    texts: RefCell<FxHashMap<(usize, WritePoint), WrittenNode>>,
    /// Nodes without overlay annotations whose collections all come from YAML, and the last render
    /// that had them.
    clean: RefCell<FxHashMap<usize, (Node, u32)>>,
}

/// A node that was written before.
struct WrittenNode {
    /// Kept alive, so that no other node gets its address.
    _of: SharedNode,
    /// The last render that wrote it.
    render: u32,
    /// Its number of nodes.
    nodes: u32,
    /// `None` after it was written once: most nodes shared within one render do not exist in the
    /// next one.
    text: Option<Rc<WrittenValue>>,
}

enum SharedNode {
    Node(#[expect(dead_code, reason = "it only keeps the address")] Node),
    Tree(#[expect(dead_code, reason = "it only keeps the address")] Arc<Tree>),
}

/// The cached state of a node.
pub(crate) enum CachedNode {
    /// Its text, and its number of nodes.
    Text(Rc<WrittenValue>, u32),
    /// Write it and call [`Reuse::keep_node`], which stores the text or only records the node.
    Write { address: usize, point: WritePoint },
    /// Write it; it is not shared.
    Alone,
}

impl Reuse {
    /// Begins another render.
    pub fn begin_render(&self) {
        let render = self.render.get() + 1;
        self.render.set(render);
        self.texts.borrow_mut().retain(|_, known| known.render + KEPT_RENDERS >= render);
        self.clean.borrow_mut().retain(|_, (_, last)| *last + KEPT_RENDERS >= render);
    }

    /// Whether a node is known to have no overlay annotations.
    pub fn is_clean(&self, node: &Node) -> bool {
        let Some(address) = address(node) else { return false };
        let mut clean = self.clean.borrow_mut();
        let Some((_, last)) = clean.get_mut(&address) else { return false };
        *last = self.render.get();
        true
    }

    /// Records that a node has no overlay annotations.
    pub fn note_clean(&self, node: &Node) {
        if let Some(address) = address(node) {
            self.clean.borrow_mut().insert(address, (node.clone(), self.render.get()));
        }
    }

    /// The text of a node at a point.
    pub fn text_of_node(&self, node: &Node, point: WritePoint) -> CachedNode {
        match address(node) {
            Some(address) => self.at(address, point),
            None => CachedNode::Alone,
        }
    }

    /// The text of plain documents at a point.
    pub fn text_of_tree(&self, tree: &Arc<Tree>, point: WritePoint) -> CachedNode {
        self.at(Arc::as_ptr(tree).addr(), point)
    }

    fn at(&self, address: usize, point: WritePoint) -> CachedNode {
        match self.texts.borrow_mut().get_mut(&(address, point)) {
            Some(WrittenNode { text: Some(text), render, nodes, .. }) => {
                *render = self.render.get();
                CachedNode::Text(text.clone(), *nodes)
            }
            _ => CachedNode::Write { address, point },
        }
    }

    /// Records a node that was written, and its start in the output.
    pub fn keep_node(&self, place: (usize, WritePoint), node: &Node, nodes: u32, writer: &YamlWriter, start: usize) {
        self.keep(place, || SharedNode::Node(node.clone()), nodes, writer, start);
    }

    /// The same for plain documents.
    pub fn keep_tree(&self, place: (usize, WritePoint), tree: &Arc<Tree>, writer: &YamlWriter, start: usize) {
        self.keep(place, || SharedNode::Tree(tree.clone()), 0, writer, start);
    }

    fn keep(
        &self,
        place: (usize, WritePoint),
        of: impl FnOnce() -> SharedNode,
        nodes: u32,
        writer: &YamlWriter,
        start: usize,
    ) {
        let render = self.render.get();
        let mut texts = self.texts.borrow_mut();
        let known = texts.entry(place).or_insert_with(|| WrittenNode { _of: of(), render, nodes, text: None });
        if known.render != render {
            known.text = Some(Rc::new(writer.written_since(start)));
            known.render = render;
        }
    }
}

/// The address of a node that may be shared and is worth caching.
fn address(node: &Node) -> Option<usize> {
    match node {
        Node::Map(map) if Rc::strong_count(map) > 1 && is_worth_it(map) => Some(Rc::as_ptr(map).addr()),
        Node::Array(array) if Rc::strong_count(array) > 1 && array.items.len() >= FEWEST_ITEMS => {
            Some(Rc::as_ptr(array).addr())
        }
        Node::Scalar(Scalar::Str(text)) if text.len() >= SHORTEST_TEXT => Some(text.as_bytes().as_ptr().addr()),
        _ => None,
    }
}

fn is_worth_it(map: &Map) -> bool {
    map.len() >= FEWEST_ITEMS || map.iter().any(|item| !matches!(item.value, Node::Scalar(_)))
}
