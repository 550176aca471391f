//! What a run notes about itself where somebody asked for it: which data values were read, what overlays left, where libraries
//! were evaluated.
//!
//! A run that nobody asks has no [`Record`]; the places that would write into it look at an `Option` once per file, overlay
//! document or library, never per node.

use std::cell::RefCell;
use std::rc::Rc;

use ytterby_diag::Pos;

use crate::node::{Document, Reads};
use crate::run::Run;

/// The notes of one run.
#[derive(Default)]
pub(crate) struct Record {
    pub reads: Rc<Reads>,
    histories: RefCell<Vec<History>>,
    libraries: RefCell<Vec<LibraryCall>>,
}

/// Documents while overlays were applied to them. A number names a document for as long as it is there.
pub(crate) struct History {
    pub start: Vec<(usize, Document)>,
    /// Each overlay document, and what it left.
    pub steps: Vec<(Document, Vec<(usize, Document)>)>,
}

/// A library that code evaluated.
pub(crate) struct LibraryCall {
    pub name: String,
    /// Where the code is that did.
    pub pos: Pos,
    pub documents: Vec<Document>,
}

impl Record {
    /// The notes of a run, if somebody asked for them.
    pub fn of(run: &Run) -> Option<Rc<Record>> {
        run.record.borrow().clone()?.downcast().ok()
    }

    /// Begins a series of overlays.
    pub fn begin(&self, start: Vec<(usize, Document)>) {
        self.histories.borrow_mut().push(History { start, steps: Vec::new() });
    }

    /// Notes what an overlay document left.
    pub fn step(&self, overlay: &Document, left: Vec<(usize, Document)>) {
        if let Some(history) = self.histories.borrow_mut().last_mut() {
            history.steps.push((overlay.clone(), left));
        }
    }

    pub fn library(&self, name: String, pos: Pos, documents: Vec<Document>) {
        self.libraries.borrow_mut().push(LibraryCall { name, pos, documents });
    }

    pub fn take(&self) -> (Vec<History>, Vec<LibraryCall>) {
        (self.histories.take(), self.libraries.take())
    }
}
