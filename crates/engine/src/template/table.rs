//! What a template's program refers to by number: the nodes of the source and the operations on them.
//!
//! Node numbers (tags) are given in the order in which the reference gives them, since some of its messages show them.

use ytterby_diag::Pos;
use ytterby_text::Str;

use crate::node::{Node, Scalar};

/// The number of a node in its template; 0 is the place above all nodes.
pub(crate) type Tag = u32;

/// A node as the template's source has it.
#[derive(Debug)]
pub(crate) struct TemplateNode {
    pub parent: Tag,
    pub depth: u32,
    pub pos: Pos,
    pub kind: Kind,
    /// The scalar of a leaf, or the whole value where nothing below is templated.
    pub value: Node,
}

/// What sort of node it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    DocumentSet,
    Document,
    /// With so many items in the source.
    Map(u32),
    MapItem(Scalar),
    /// With so many items in the source.
    Array(u32),
    ArrayItem,
    TextRoot,
    Text,
}

impl Kind {
    /// The name as messages show it.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::DocumentSet => "document set",
            Kind::Document => "document",
            Kind::Map(_) => "map",
            Kind::MapItem(_) => "map item",
            Kind::Array(_) => "array",
            Kind::ArrayItem => "array item",
            Kind::TextRoot | Kind::Text => "text",
        }
    }
}

/// One operation of a template's program.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// Holds the place of a line that the reference generates and that needs nothing done.
    Nothing,
    /// Opens a node: what follows goes into it.
    StartNode(Tag),
    /// Gives the open node the value that the source has.
    SetNode(Tag),
    /// Gives the open node the value of an expression.
    SetNodeValue,
    /// An annotation of the node that is started next under this tag.
    Annotate(Box<Annotate>),
    /// Begins a text inside a YAML template.
    StartText,
    /// Ends it, and gives it to the open node as value.
    SetNodeText,
    /// Ends it, and makes it the key of the map item that is started next under this tag.
    SetKeyText(Tag),
}

/// What [`Op::Annotate`] does.
#[derive(Clone, Debug)]
pub(crate) struct Annotate {
    pub tag: Tag,
    pub name: Str,
    pub pos: Pos,
}

/// Nodes and operations of one template.
#[derive(Debug, Default)]
pub(crate) struct Table {
    nodes: Vec<TemplateNode>,
    ops: Vec<Op>,
}

impl Table {
    /// Takes in a node.
    pub fn add_node(&mut self, parent: Tag, pos: Pos, kind: Kind, value: Node) -> Tag {
        let depth = self.depth(parent) + 1;
        self.nodes.push(TemplateNode { parent, depth, pos, kind, value });
        self.nodes.len() as Tag
    }

    /// Takes in an operation.
    pub fn add_op(&mut self, op: Op) -> u32 {
        self.ops.push(op);
        self.ops.len() as u32 - 1
    }

    pub fn node(&self, tag: Tag) -> &TemplateNode {
        &self.nodes[tag as usize - 1]
    }

    pub fn node_mut(&mut self, tag: Tag) -> &mut TemplateNode {
        &mut self.nodes[tag as usize - 1]
    }

    /// Gives back the room for more: nothing is added any more.
    pub fn finish(mut self) -> Table {
        self.nodes.shrink_to_fit();
        self.ops.shrink_to_fit();
        self
    }

    /// How many nodes and operations there are.
    pub fn counts(&self) -> (usize, usize) {
        (self.nodes.len(), self.ops.len())
    }

    pub fn op(&self, op: u32) -> &Op {
        &self.ops[op as usize]
    }

    /// The nearest node above `new` that is also `current` or above it; 0 where there is none.
    pub fn common_parent(&self, current: Tag, new: Tag) -> Tag {
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

    fn depth(&self, tag: Tag) -> u32 {
        if tag == 0 { 0 } else { self.node(tag).depth }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest_common_parent() {
        let mut table = Table::default();
        let mut add = |parent| table.add_node(parent, Pos::UNKNOWN, Kind::Map(0), Node::NULL);
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
