//! The nodes of a template's source and the operations on them; the program refers to both by
//! number.
//!
//! Node numbers (tags) are assigned in the reference's order, since some of its messages contain
//! them.

use std::cell::OnceCell;
use std::ops::Deref;
use std::sync::Arc;

use ytterby_diag::Pos;
use ytterby_text::Str;
use ytterby_yaml::write::is_plain;
use ytterby_yaml::{ComplexKey, NodeId, Tree, View};

use super::literal::Literals;
use crate::annotation::{Ann, Level};
use crate::node::{self, Node, Scalar};

/// The number of a node in its template; 0 is the root above all nodes.
pub(crate) type NodeNumber = u32;

/// A node of the template's source.
#[derive(Debug)]
pub(crate) struct TemplateNode {
    pub parent: NodeNumber,
    pub depth: u32,
    pub pos: Pos,
    pub kind: TemplateNodeKind,
    pub value: SourceValue,
    /// Whether its key is a string that is written without quotes.
    pub has_plain_key: bool,
    /// The same for its value.
    pub has_plain_value: bool,
}

/// The value of a node in the source.
#[derive(Clone, Debug)]
pub(crate) enum SourceValue {
    /// The scalar of a leaf; null if code computes the value or if there are nodes below.
    Scalar(Scalar),
    /// A collection without code below it: an index into [`NodeTable::constants`].
    Constant(u32),
}

impl SourceValue {
    pub const NULL: SourceValue = SourceValue::Scalar(Scalar::Null);
}

/// The kind of node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TemplateNodeKind {
    DocumentSet,
    Document,
    /// With the number of items in the source, and whether their keys are different.
    Map {
        items: u32,
        distinct: bool,
    },
    MapItem(Scalar),
    /// With the number of items in the source.
    Array(u32),
    ArrayItem,
    /// A text or a piece of it.
    Text,
}

impl TemplateNodeKind {
    /// The name as messages show it.
    pub fn name(&self) -> &'static str {
        match self {
            TemplateNodeKind::DocumentSet => "document set",
            TemplateNodeKind::Document => "document",
            TemplateNodeKind::Map { .. } => "map",
            TemplateNodeKind::MapItem(_) => "map item",
            TemplateNodeKind::Array(_) => "array",
            TemplateNodeKind::ArrayItem => "array item",
            TemplateNodeKind::Text => "text",
        }
    }

    /// The problem of a node that does not belong into a context.
    #[cold]
    pub fn no_place(&self) -> String {
        let name = self.name();
        format!(
            "code begins or ends in the middle of a YAML structure: this {name} has no place in what was started before"
        )
    }
}

/// One operation of a template's program.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// A placeholder for a line that the reference generates and that needs no action.
    Nothing,
    /// Opens a node: the following nodes are its children.
    StartNode(NodeNumber),
    /// Opens a node and sets its value to the one in the source.
    StartLeaf(NodeNumber),
    /// Opens an item and the collection in it, which has the next tag.
    StartNested(NodeNumber),
    /// Sets the value of the open node to the one in the source.
    SetNode(NodeNumber),
    /// Sets the value of the open node to the result of an expression.
    SetNodeValue,
    /// An annotation for the next node that is started under this tag.
    Annotate(Box<Annotate>),
    /// Adds a piece to the open text.
    AddText(NodeNumber),
    /// Adds the result of an expression to the open text.
    AddTextValue(NodeNumber),
    /// Begins a text inside a YAML template.
    StartText,
    /// Ends it, and makes it the value of the open node.
    SetNodeText,
    /// Ends it, and makes it the key of the next map item that is started under this tag.
    SetKeyText(NodeNumber),
}

impl Op {
    /// The node that it starts.
    #[inline]
    pub fn starts(&self) -> Option<NodeNumber> {
        match *self {
            Op::StartNode(tag) | Op::StartLeaf(tag) | Op::StartNested(tag) => Some(tag),
            _ => None,
        }
    }

    /// The number of nodes that it creates.
    #[inline]
    pub fn nodes(&self) -> u32 {
        match self {
            Op::StartNode(_) | Op::StartLeaf(_) | Op::AddText(_) | Op::AddTextValue(_) => 1,
            Op::StartNested(_) => 2,
            _ => 0,
        }
    }
}

/// The data of [`Op::Annotate`].
#[derive(Clone, Debug)]
pub(crate) struct Annotate {
    pub tag: NodeNumber,
    /// Which one it is if all names are known; see [`Annotate::ann`].
    ann: Option<Ann>,
    pub name: Str,
    pub pos: Pos,
    /// Its arguments if they are literals; otherwise code computes them.
    pub literals: Option<Literals>,
}

impl Annotate {
    pub fn new(tag: NodeNumber, name: &str, pos: Pos, literals: Option<Literals>) -> Annotate {
        Annotate { tag, ann: Ann::from_name(name.as_bytes(), Level::Ytterby), name: name.into(), pos, literals }
    }

    /// Which annotation it is.
    pub fn ann(&self, level: Level) -> Option<Ann> {
        if level == Level::Ytterby { self.ann } else { Ann::from_name(&self.name, level) }
    }
}

/// Nodes and operations of one template.
#[derive(Default)]
pub(crate) struct NodeTable {
    nodes: Vec<TemplateNode>,
    ops: Vec<Op>,
    /// Whether some key is a collection.
    has_complex_keys: bool,
    /// Collections without code below them. They stay in the tree until an evaluation needs them.
    constants: Vec<NodeId>,
    /// The tree of the constants.
    tree: Option<Arc<Tree>>,
}

/// A table with the data of one thread: its constants as nodes, each created lazily.
pub(crate) struct LinkedTable {
    table: Arc<NodeTable>,
    constants: Box<[OnceCell<Node>]>,
}

impl LinkedTable {
    pub fn new(table: &Arc<NodeTable>) -> LinkedTable {
        LinkedTable { constants: table.constants.iter().map(|_| OnceCell::new()).collect(), table: table.clone() }
    }

    /// The value of a node in the source.
    pub fn value(&self, tag: NodeNumber) -> Node {
        match &self.node(tag).value {
            SourceValue::Scalar(scalar) => Node::Scalar(scalar.clone()),
            SourceValue::Constant(index) => {
                let index = *index as usize;
                let make = || match &self.table.tree {
                    Some(tree) => node::from_tree(tree, self.table.constants[index]),
                    None => Node::NULL,
                };
                self.constants[index].get_or_init(make).clone()
            }
        }
    }
}

impl Deref for LinkedTable {
    type Target = NodeTable;

    fn deref(&self) -> &NodeTable {
        &self.table
    }
}

impl NodeTable {
    /// Adds a node.
    pub fn add_node(&mut self, parent: NodeNumber, pos: Pos, kind: TemplateNodeKind, value: SourceValue) -> NodeNumber {
        let depth = self.depth(parent) + 1;
        self.has_complex_keys |= matches!(kind, TemplateNodeKind::MapItem(Scalar::Complex(_)));
        let has_plain_key = matches!(&kind, TemplateNodeKind::MapItem(Scalar::Str(key)) if is_plain(key));
        self.nodes.push(TemplateNode { parent, depth, pos, kind, value, has_plain_key, has_plain_value: false });
        self.nodes.len() as NodeNumber
    }

    /// The key that an operation starts, if it is a collection.
    #[inline]
    pub fn complex_key(&self, op: &Op) -> Option<&ComplexKey> {
        if !self.has_complex_keys {
            return None;
        }
        match &self.node(op.starts()?).kind {
            TemplateNodeKind::MapItem(Scalar::Complex(key)) => Some(key),
            _ => None,
        }
    }

    /// Adds an operation.
    pub fn add_op(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        self.ops.len() as u32 - 1
    }

    pub fn node(&self, tag: NodeNumber) -> &TemplateNode {
        &self.nodes[tag as usize - 1]
    }

    /// Sets the value of a node to one of a tree, without templating.
    pub fn set_value(&mut self, tag: NodeNumber, tree: &Tree, id: NodeId) {
        let value = match tree.value(id) {
            View::Scalar(scalar) => SourceValue::Scalar(scalar.clone()),
            View::Map(_) | View::Array(_) => {
                self.constants.push(id);
                SourceValue::Constant(self.constants.len() as u32 - 1)
            }
        };
        let node = &mut self.nodes[tag as usize - 1];
        node.has_plain_value = matches!(&value, SourceValue::Scalar(Scalar::Str(text)) if is_plain(text));
        node.value = value;
    }

    /// Adds the value of a node, or the collection in it, to the operation that starts the node, if
    /// that is the last one.
    pub fn fuse(&mut self, fused: Op) -> bool {
        let (Op::StartLeaf(tag) | Op::StartNested(tag)) = fused else { return false };
        match self.ops.last_mut() {
            Some(last) if matches!(&*last, Op::StartNode(started) if *started == tag) => {
                *last = fused;
                true
            }
            _ => false,
        }
    }

    /// Frees unused capacity: nothing is added any more. All constants are part of the tree.
    pub fn finish(mut self, tree: Option<&Arc<Tree>>) -> NodeTable {
        self.tree = tree.filter(|_| !self.constants.is_empty()).cloned();
        self.constants.shrink_to_fit();
        self.nodes.shrink_to_fit();
        self.ops.shrink_to_fit();
        self
    }

    /// The number of nodes and operations.
    pub fn counts(&self) -> (usize, usize) {
        (self.nodes.len(), self.ops.len())
    }

    pub fn op(&self, op: u32) -> &Op {
        &self.ops[op as usize]
    }

    /// The nearest ancestor of `new` that is also `current` or an ancestor of it; 0 if there is
    /// none.
    pub fn common_parent(&self, current: NodeNumber, new: NodeNumber) -> NodeNumber {
        let (mut a, mut b) = (current, self.node(new).parent);
        while a != b {
            let (depth_a, depth_b) = (self.depth(a), self.depth(b));
            if depth_a >= depth_b {
                a = self.node(a).parent;
            }
            if depth_b >= depth_a {
                b = self.node(b).parent;
            }
        }
        a
    }

    fn depth(&self, tag: NodeNumber) -> u32 {
        if tag == 0 { 0 } else { self.node(tag).depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_common_parent() {
        let mut table = NodeTable::default();
        let mut add = |parent| table.add_node(parent, Pos::UNKNOWN, TemplateNodeKind::Array(0), SourceValue::NULL);
        let root = add(0);
        let left = add(root);
        let below = add(left);
        let right = add(root);
        let other = add(0);
        assert_eq!(table.common_parent(root, left), root);
        assert_eq!(table.common_parent(below, right), root);
        assert_eq!(table.common_parent(right, below), root);
        assert_eq!(table.common_parent(below, below), left);
        assert_eq!(table.common_parent(below, other), 0);
    }
}
