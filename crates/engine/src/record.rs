//! Records about a run for provenance: which data values were read, the results of overlays, where
//! libraries were evaluated, what `template.replace()` replaced.
//!
//! By default a run has no [`Record`]; the code that would write to it checks an `Option` once per
//! file, overlay document or library, never per node.

use std::any::Any;
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
    replaced: RefCell<Vec<Replaced>>,
    /// The libraries at work, outermost first.
    running: RefCell<Vec<String>>,
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
    /// The name for addressing data values, without the first `@`: `app@db`.
    pub name: String,
    /// The position of the call.
    pub pos: Pos,
    pub documents: Vec<Document>,
    /// The inputs of the run.
    pub details: Rc<dyn Any>,
}

/// A node that `template.replace()` replaced by others.
#[derive(Clone, Debug)]
pub(crate) struct Replaced {
    /// The position of the node that was replaced.
    pub pos: Pos,
    /// The position of the item that contains it.
    pub above: Pos,
    /// The positions of the nodes that replace it.
    pub by: Vec<Pos>,
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

    /// Records that a library starts.
    pub fn enter_library(&self, name: String) {
        self.running.borrow_mut().push(name);
    }

    /// Records that the innermost library ended; returns its whole name.
    pub fn leave_library(&self) -> String {
        let mut running = self.running.borrow_mut();
        let name = running.join("@");
        running.pop();
        name
    }

    pub fn library(&self, call: LibraryCall) {
        self.libraries.borrow_mut().push(call);
    }

    /// Notes a call of `template.replace()`.
    pub fn replace(&self, replaced: Replaced) {
        self.replaced.borrow_mut().push(replaced);
    }

    pub fn take(&self) -> (Vec<History>, Vec<LibraryCall>, Vec<Replaced>) {
        (self.histories.take(), self.libraries.take(), self.replaced.take())
    }
}
