//! How an item of an overlay is merged where no annotation of its own says so.
//!
//! Plain YAML that gives data values has no annotations, and a schema lets more in than an overlay would. Both say so
//! with a [`Policy`]; an annotation that the user wrote decides against it.

use std::rc::Rc;

use super::{Annotated, Document, Meta, Node};
use crate::deep;

/// What is done with an item without annotations. By default it must match one item, and is merged into that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Policy {
    /// It takes the place of what it matches, whatever that is.
    pub replaces: bool,
    /// It is added where nothing matches.
    pub adds: bool,
    /// What is in it is added where nothing matches.
    pub adds_children: bool,
}

impl Policy {
    /// Merges what is there and adds what is not.
    pub const MERGE: Policy = Policy { replaces: false, adds: true, adds_children: false };
    /// Puts the item in place of what is there, or adds it.
    pub const REPLACE: Policy = Policy { replaces: true, adds: true, adds_children: false };

    /// Metadata that says nothing else.
    pub fn alone(self) -> Rc<Meta> {
        Rc::new(Meta { policy: self, ..Meta::default() })
    }
}

/// Makes plain YAML an overlay that sets what it contains: maps are merged, everything else is replaced, and what is
/// missing is added. Annotations that it has are dropped.
///
/// Whether the document is plain YAML at all is for the caller to check, who knows its comments.
pub(crate) fn merge_plainly(doc: &mut Document) {
    set(doc, &Policy::MERGE.alone(), &Policy::REPLACE.alone());
}

fn set(item: &mut impl Annotated, merge: &Rc<Meta>, replace: &Rc<Meta>) {
    let meta = match item.value_mut() {
        Node::Map(map) => {
            deep(|| Rc::make_mut(map).iter_mut().for_each(|item| set(item, merge, replace)));
            merge
        }
        Node::Array(_) | Node::Scalar(_) => replace,
    };
    *item.meta_slot() = Some(meta.clone());
}
