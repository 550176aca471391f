//! The contexts that templates have open in a run: nodes under construction, and their number.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ytterby_text::budget;

/// Maximum number of nodes that the templates of a run may create: some gigabytes. Only an endless
/// loop creates more.
const MAX_NODES: u32 = 30_000_000;

/// Approximate bytes of a node.
const NODE_BYTES: usize = 96;

/// The nodes that one evaluation of a file is building, in layers.
pub(crate) trait Building {
    /// Discards the innermost layer.
    fn give_up(&self);
}

/// The open contexts of a run, across its files. Contexts that an error left open can be discarded
/// from outside.
#[derive(Default)]
pub(crate) struct OpenContexts {
    stacks: RefCell<Vec<Rc<dyn Building>>>,
    /// The number of nodes started so far.
    nodes: Cell<u32>,
    /// Whether some node has rules for the output.
    has_output_rules: Cell<bool>,
}

impl OpenContexts {
    /// Resets the counters for another run.
    pub fn begin_run(&self) {
        self.unwind(0);
        self.nodes.set(0);
    }

    /// Records that a layer was begun.
    pub fn begin(&self, of: Rc<dyn Building>) {
        self.stacks.borrow_mut().push(of);
    }

    /// Records that the innermost layer ended.
    pub fn end(&self) {
        self.stacks.borrow_mut().pop();
    }

    /// The number of open contexts, for [`OpenContexts::unwind`].
    pub fn depth(&self) -> usize {
        self.stacks.borrow().len()
    }

    /// Discards contexts that an error left open.
    pub fn unwind(&self, depth: usize) {
        for stack in self.stacks.borrow_mut().drain(depth..).rev() {
            stack.give_up();
        }
    }

    /// Counts a node.
    pub fn count_node(&self) -> Result<(), String> {
        budget::memory(NODE_BYTES).and_then(|()| budget::work(1)).map_err(|exceeded| exceeded.to_string())?;
        self.nodes.set(self.nodes.get() + 1);
        if self.nodes.get() > MAX_NODES {
            return Err(format!("templates make more than {MAX_NODES} nodes (is there a loop that does not end?)"));
        }
        Ok(())
    }

    /// Records that some node has rules for the output (`@assert/validate`).
    pub fn note_output_rules(&self) {
        self.has_output_rules.set(true);
    }

    /// Whether some node has rules for the output.
    pub fn has_output_rules(&self) -> bool {
        self.has_output_rules.get()
    }
}
