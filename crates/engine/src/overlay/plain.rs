//! Turns plain YAML into an overlay that sets what it contains: maps are merged, everything else is replaced, and
//! what is missing is added.

use std::rc::Rc;

use ytterby_diag::Pos;
use ytterby_starlark::Value;
use ytterby_text::Str;

use crate::annotation::{Ann, Annotation};
use crate::deep;
use crate::node::{Annotated, Document, MapItem, Meta, Node};

/// Annotates a document so that it is merged the plain way; annotations that it has are dropped.
///
/// Whether the document is plain YAML at all is for the caller to check, who knows its comments.
pub(crate) fn annotate_for_plain_merge(doc: &mut Document) {
    let (merge, replace) = metas();
    annotate(doc, &merge, &replace);
}

/// Annotates one item so that it takes the place of what is there (`replaces`), or is merged into it.
pub(crate) fn annotate_item_for_plain_merge(item: &mut MapItem, replaces: bool) {
    let (merge, replace) = metas();
    item.meta = Some(if replaces { replace } else { merge });
}

/// What stands on what is merged, and on what is replaced.
fn metas() -> (Rc<Meta>, Rc<Meta>) {
    let yes = |name: &str| (Str::from(name), Value::Bool(true));
    let matching = Annotation { kwargs: vec![yes("missing_ok")], ..Annotation::bare(Ann::OverlayMatch, Pos::UNKNOWN) };
    let replacing = Annotation { kwargs: vec![yes("or_add")], ..Annotation::bare(Ann::OverlayReplace, Pos::UNKNOWN) };
    let merge = Rc::new(Meta { annotations: vec![matching.clone()], ..Meta::default() });
    (merge, Rc::new(Meta { annotations: vec![matching, replacing], ..Meta::default() }))
}

fn annotate(item: &mut impl Annotated, merge: &Rc<Meta>, replace: &Rc<Meta>) {
    let meta = match item.value_mut() {
        Node::Map(map) => {
            deep(|| Rc::make_mut(map).iter_mut().for_each(|item| annotate(item, merge, replace)));
            merge
        }
        Node::Array(_) | Node::Scalar(_) => replace,
    };
    *item.meta_slot() = Some(meta.clone());
}
