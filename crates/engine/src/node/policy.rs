//! How an item of an overlay is merged if it has no annotation for that.
//!
//! Plain YAML with data values has no annotations, and a schema allows more than an overlay would.
//! Both use a [`MergePolicy`]; an annotation of the user overrides it.

use std::rc::Rc;

use super::{Annotated, Document, Meta, Node};
use crate::deep;

/// How to merge an item without annotations. By default it must match one item, and is merged into
/// that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct MergePolicy {
    /// It replaces the item that it matches.
    pub replaces: bool,
    /// It is added if nothing matches.
    pub adds: bool,
    /// Its children are added if nothing matches.
    pub adds_children: bool,
}

impl MergePolicy {
    /// Merges existing items and adds missing ones.
    pub const MERGE: MergePolicy = MergePolicy { replaces: false, adds: true, adds_children: false };
    /// Replaces an existing item, or adds it.
    pub const REPLACE: MergePolicy = MergePolicy { replaces: true, adds: true, adds_children: false };

    /// Metadata with only this policy.
    pub fn alone(self) -> Rc<Meta> {
        Rc::new(Meta { policy: self, ..Meta::default() })
    }
}

/// Turns plain YAML into an overlay that sets its content: maps are merged, everything else is
/// replaced, and missing items are added. Its annotations are dropped.
///
/// The caller, who knows the comments, must check that the document is plain YAML.
pub(crate) fn merge_plainly(doc: &mut Document) {
    set(doc, &MergePolicy::MERGE.alone(), &MergePolicy::REPLACE.alone());
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
