//! Who is behind a problem in the output: an interface, so that checks need not know how causes are found.

use ytterby_diag::{Path, Pos};

use crate::node::Document;

/// Finds the data values that decide nodes of the output.
pub(crate) trait FindCauses {
    /// For each node, the data values that decide it, and where each was given.
    fn of(&self, wrong: &[(Document, Path)]) -> Vec<Vec<(Path, Pos)>>;

    /// The document that has a node at this path and place.
    fn document_with<'d>(&self, docs: &'d [Document], path: &Path, pos: Pos) -> Option<&'d Document>;
}

/// Adds what is not there yet.
pub(crate) fn add(reads: &mut Vec<(Path, Pos)>, more: Vec<(Path, Pos)>) {
    for (path, pos) in more {
        if !reads.iter().any(|(known, _)| *known == path) {
            reads.push((path, pos));
        }
    }
}
