//! Records about a run for provenance: which data values were read, the results of overlays, where
//! libraries were evaluated.
//!
//! By default a run has no [`Record`]; the code that would write to it checks an `Option` once per
//! file, overlay document or library, never per node.

use std::cell::RefCell;
use std::rc::Rc;

use ytterby_diag::Pos;

use crate::node::{Document, Reads};
use crate::run::Run;

/// The records of one run.
#[derive(Default)]
pub(crate) struct Record {
    pub reads: Rc<Reads>,
    histories: RefCell<Vec<History>>,
    libraries: RefCell<Vec<LibraryCall>>,
}

/// Documents while overlays are applied to them. A number identifies a document as long as it
/// exists.
pub(crate) struct History {
    pub start: Vec<(usize, Document)>,
    /// Each overlay document, and the documents after it.
    pub steps: Vec<(Document, Vec<(usize, Document)>)>,
}

/// A library that code evaluated.
pub(crate) struct LibraryCall {
    pub name: String,
    /// The position of the call.
    pub pos: Pos,
    pub documents: Vec<Document>,
}

impl Record {
    /// The records of a run, if enabled.
    pub fn of(run: &Run) -> Option<Rc<Record>> {
        run.record.borrow().clone()?.downcast().ok()
    }

    /// Begins a series of overlays.
    pub fn begin(&self, start: Vec<(usize, Document)>) {
        self.histories.borrow_mut().push(History { start, steps: Vec::new() });
    }

    /// Records the documents after an overlay document.
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
