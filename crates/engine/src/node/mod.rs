//! The value model: YAML nodes that are shared and copied on write.
//!
//! A [`Node`] is a value in a YAML document. Collections are reference-counted and copied only when
//! they change (`Rc::make_mut`), so a clone only increments a counter. Items have a position and,
//! optionally, annotations; a collection has the position of the item that contains it. Starlark
//! sees nodes through [`Fragment`]. Values of Starlark code become nodes once, when they are
//! assigned ([`from_value`]).
//!
//! Nothing here knows the meaning of annotations.

mod convert;
mod documents;
mod fragment;
mod map;
mod policy;
mod structs;
mod write;

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_text::budget;
pub(crate) use ytterby_yaml::Scalar;

pub(crate) use convert::{
    COMPLEX_KEY_CAUSE, COMPLEX_KEY_HELP, MAX_NODES, array_with_position, documents_from_tree, from_tree, from_value,
    go_type_name, has_duplicate_keys, is_empty, key_text, map_with_position, node_from_value, scalar_from_value,
    scalar_to_value, to_plain_value, to_value, values_from_tree, with_position,
};
pub(crate) use documents::FileDocuments;
pub(crate) use fragment::{Fragment, FragmentData};
pub(crate) use map::{Map, hash};
pub(crate) use policy::{MergePolicy, merge_plainly};
pub(crate) use structs::{Object, Reads, SharedLists, Struct, values_of, watched_values_of};
pub(crate) use write::{count, count_several, write_below, write_node};

use crate::annotation::{Ann, Annotation};

/// A YAML value: a scalar, a map or an array.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Scalar(Scalar),
    Map(Rc<Map>),
    Array(Rc<Array>),
}

/// Who created a collection. Starlark sees one from YAML as a yamlfragment, and one from code as a
/// dict or list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Origin {
    #[default]
    Yaml,
    Code,
}

/// `key: value`.
#[derive(Clone, Debug)]
pub(crate) struct MapItem {
    pub key: Scalar,
    pub value: Node,
    pub pos: Pos,
    pub meta: Option<Rc<Meta>>,
}

/// The items of a sequence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Array {
    pub items: Vec<ArrayItem>,
    pub origin: Origin,
}

/// `- value`.
#[derive(Clone, Debug)]
pub(crate) struct ArrayItem {
    pub value: Node,
    pub pos: Pos,
    pub meta: Option<Rc<Meta>>,
}

/// A document: the content between two `---`.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub value: Node,
    pub pos: Pos,
    pub meta: Option<Rc<Meta>>,
}

/// The documents of a file or of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct DocumentSet {
    pub items: Vec<Document>,
}

/// Data that few items have: annotations, and where a data value was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meta {
    pub annotations: Vec<Annotation>,
    /// The positions where inputs of data values gave this node, in order.
    pub given: Vec<Pos>,
    /// How it is merged if no annotation specifies it.
    pub policy: MergePolicy,
}

impl Node {
    pub const NULL: Node = Node::Scalar(Scalar::Null);

    pub fn str(text: impl Into<ytterby_text::Str>) -> Node {
        Node::Scalar(Scalar::Str(text.into()))
    }

    pub fn map(map: Map) -> Node {
        Node::Map(Rc::new(map))
    }

    pub fn array(array: Array) -> Node {
        Node::Array(Rc::new(array))
    }

    pub fn is_null(&self) -> bool {
        matches!(self, Node::Scalar(Scalar::Null))
    }

    /// Whether a document with only this value is empty: null, or an empty collection from YAML. An
    /// empty collection from code is intended.
    pub fn is_blank(&self) -> bool {
        match self {
            Node::Scalar(scalar) => scalar.is_null(),
            Node::Map(map) => map.is_empty() && map.origin == Origin::Yaml,
            Node::Array(array) => array.items.is_empty() && array.origin == Origin::Yaml,
        }
    }

    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Node::Map(map) => Some(map),
            _ => None,
        }
    }

    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Node::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The type's name in messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Node::Scalar(Scalar::Null) => "null",
            Node::Scalar(Scalar::Bool(_)) => "boolean",
            Node::Scalar(Scalar::Int(_) | Scalar::UInt(_)) => "integer",
            Node::Scalar(Scalar::Float(_)) => "float",
            Node::Scalar(Scalar::Str(_)) => "string",
            Node::Scalar(Scalar::Complex(key)) => key.kind(),
            Node::Map(_) => "map",
            Node::Array(_) => "array",
        }
    }

    /// Equality of content: order of keys, positions, annotations and origin do not matter; an
    /// integer is not equal to a float.
    pub fn same(&self, other: &Node) -> bool {
        budget::or_unwind(budget::work(1));
        match (self, other) {
            (Node::Scalar(a), Node::Scalar(b)) => a == b,
            (Node::Array(a), Node::Array(b)) => {
                a.items.len() == b.items.len() && a.items.iter().zip(&b.items).all(|(a, b)| a.value.same(&b.value))
            }
            (Node::Map(a), Node::Map(b)) => {
                a.len() == b.len()
                    && a.iter().all(|item| b.get(&item.key).is_some_and(|other| item.value.same(&other.value)))
            }
            _ => false,
        }
    }
}

impl Default for Node {
    fn default() -> Node {
        Node::NULL
    }
}

impl From<Scalar> for Node {
    fn from(scalar: Scalar) -> Node {
        Node::Scalar(scalar)
    }
}

impl MapItem {
    pub fn new(key: Scalar, value: Node, pos: Pos) -> MapItem {
        MapItem { key, value, pos, meta: None }
    }
}

impl ArrayItem {
    pub fn new(value: Node, pos: Pos) -> ArrayItem {
        ArrayItem { value, pos, meta: None }
    }
}

impl Document {
    pub fn new(value: Node, pos: Pos) -> Document {
        Document { value, pos, meta: None }
    }

    /// Whether it is omitted from the output.
    pub fn is_empty(&self) -> bool {
        self.value.is_blank()
    }
}

/// The common interface of documents, map items and array items: a value, a position, annotations.
pub(crate) trait Annotated {
    fn meta(&self) -> Option<&Meta>;
    fn meta_slot(&mut self) -> &mut Option<Rc<Meta>>;
    fn value(&self) -> &Node;
    fn value_mut(&mut self) -> &mut Node;
    fn pos(&self) -> Pos;
    fn set_pos(&mut self, pos: Pos);
    /// `document`, `map item`, `array item`.
    fn kind(&self) -> &'static str;

    fn annotations(&self) -> &[Annotation] {
        self.meta().map_or(&[], |meta| &meta.annotations)
    }

    fn annotation(&self, ann: Ann) -> Option<&Annotation> {
        self.annotations().iter().find(|annotation| annotation.ann == Some(ann))
    }

    fn has(&self, ann: Ann) -> bool {
        self.annotation(ann).is_some()
    }

    fn policy(&self) -> MergePolicy {
        self.meta().map_or(MergePolicy::default(), |meta| meta.policy)
    }

    /// The metadata, mutable; created if there is none.
    fn meta_mut(&mut self) -> &mut Meta {
        Rc::make_mut(self.meta_slot().get_or_insert_default())
    }

    /// Adds an annotation; replaces one with the same name.
    fn annotate(&mut self, annotation: Annotation) {
        let annotations = &mut self.meta_mut().annotations;
        match annotations.iter_mut().find(|old| old.same_name(&annotation)) {
            Some(old) => *old = annotation,
            None => annotations.push(annotation),
        }
    }
}

macro_rules! annotated {
    ($($type:ty = $kind:literal),*) => {$(
        impl Annotated for $type {
            fn meta(&self) -> Option<&Meta> {
                self.meta.as_deref()
            }
            fn meta_slot(&mut self) -> &mut Option<Rc<Meta>> {
                &mut self.meta
            }
            fn value(&self) -> &Node {
                &self.value
            }
            fn value_mut(&mut self) -> &mut Node {
                &mut self.value
            }
            fn pos(&self) -> Pos {
                self.pos
            }
            fn set_pos(&mut self, pos: Pos) {
                self.pos = pos;
            }
            fn kind(&self) -> &'static str {
                $kind
            }
        }
    )*};
}

annotated!(Document = "document", MapItem = "map item", ArrayItem = "array item");
