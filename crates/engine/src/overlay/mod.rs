//! Overlays: YAML that changes other YAML.
//!
//! The right side is walked item by item. Each item specifies which items on the left it matches
//! (`search`, `matcher`), how many of those are expected (`expects`) and what happens to them
//! (`action`, `merge`, `edit`). Items on the left are in slots (`left`, `sequence`) and are found
//! through an index if a matcher names fields (`index`), so that the cost of an overlay depends on
//! what it touches. Left values are shared until they change.
//!
//! Only `templates` knows where the two sides come from.

mod action;
mod compare;
mod edit;
mod expects;
mod explain;
mod index;
mod left;
mod matcher;
mod merge;
mod search;
mod sequence;
mod templates;
mod values;

use ytterby_diag::{Diagnostic, Failure, Id, Part, Text};
use ytterby_starlark::Eval;

pub(crate) use matcher::Matcher;
pub(crate) use templates::post_process;
pub(crate) use values::mark_values_given;

use crate::node::{Document, FragmentData, Node};
use crate::run::Run;

/// The purpose of an overlay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The documents of a library.
    Templates,
    /// A call of `overlay.apply()`.
    Call,
    /// Data values. Items that the right side gives are marked as given.
    Values,
    /// A schema. Causes warnings about annotations that have no effect.
    Schema,
}

impl Purpose {
    /// Whether there is one document on each side, which are merged regardless of `@overlay/match`.
    fn is_one_to_one(self) -> bool {
        matches!(self, Purpose::Values | Purpose::Schema)
    }
}

/// Merges one document into another: data values or schemas. The cost is that of the overlay, if
/// the left document is not shared.
pub(crate) fn merge_document(
    eval: &mut Eval,
    run: &Run,
    left: Document,
    right: &Document,
    purpose: Purpose,
) -> Result<Document, Failure> {
    let mut docs = left::LeftDocuments::new([vec![left]]);
    merge::Merge::new(eval, run, purpose).documents(&mut docs, std::slice::from_ref(right))?;
    match docs.into_files().into_iter().flatten().next() {
        Some(doc) => Ok(doc),
        None => {
            let problem = Diagnostic::error(Id::OVERLAY_CONFLICT, "Expected a document to be left, but it was removed");
            let failure = Failure::from(problem.at(right.pos, Part::Line));
            Err(failure.doing(Text::new("Document on line ").at(right.pos)))
        }
    }
}

/// Applies `right` to `left`, which must be [`clean`]: one step of `overlay.apply()`.
pub(crate) fn apply(eval: &mut Eval, run: &Run, left: &mut FragmentData, right: &FragmentData) -> Result<(), Failure> {
    let mut merge = merge::Merge::new(eval, run, Purpose::Call);
    match (left, right) {
        (FragmentData::Documents(left), FragmentData::Documents(right)) => {
            let items = std::mem::take(&mut std::rc::Rc::make_mut(left).items);
            let mut docs = left::LeftDocuments::new([items]);
            let result = merge.documents(&mut docs, &right.items);
            std::rc::Rc::make_mut(left).items = docs.into_files().into_iter().flatten().collect();
            result
        }
        (left, FragmentData::Documents(_)) => Err(merge::conflict("document set", left.name())),
        (FragmentData::Node(left), FragmentData::Node(right)) => {
            merge.value(left, right, expects::Expects::default()).map(|_| ())
        }
        (FragmentData::Documents(_), FragmentData::Node(right)) => match right {
            Node::Map(_) => Err(merge::conflict("map", "document set")),
            Node::Array(_) => Err(merge::conflict("array", "document set")),
            Node::Scalar(_) => Ok(()),
        },
    }
}

/// Removes overlay annotations, and turns all collections into YAML nodes.
pub(crate) fn clean(data: &mut FragmentData) {
    match data {
        FragmentData::Node(node) => {
            if let Some(clean) = values::cleaned(node) {
                *node = clean;
            }
        }
        FragmentData::Documents(docs) => {
            std::rc::Rc::make_mut(docs).items.iter_mut().for_each(values::clean);
        }
    }
}

#[cfg(test)]
mod tests;
