//! The contexts that templates have open in a run: nodes under construction, and their number.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ytterby_text::budget;

/// Maximum number of nodes that the templates of a run may create: some gigabytes. Only an endless
/// loop creates more.
const MAX_NODES: u32 = 30_000_000;

/// Approximate bytes of a node.
const NODE_BYTES: usize = 96;

/// Nodes are charged in groups of this many.
const PAID_AT_ONCE: u32 = 16;

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
    /// The number of nodes charged so far.
    nodes: Cell<u32>,
    /// How many of them have not started yet.
    paid: Cell<u32>,
    /// Whether some node has rules for the output.
    has_output_rules: Cell<bool>,
}

impl OpenContexts {
    /// Resets the counters for another run.
    pub fn begin_run(&self) {
        self.unwind(0);
        self.nodes.set(0);
        self.paid.set(0);
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

    /// Counts nodes that are about to be created.
    #[inline]
    pub fn count_nodes(&self, count: u32) -> Result<(), String> {
        match self.paid.get().checked_sub(count) {
            Some(left) => {
                self.paid.set(left);
                Ok(())
            }
            None => self.pay_for_nodes(count),
        }
    }

    /// Charges the next nodes in one go: for each of them alone, it would be a tenth of the
    /// instructions of a template that only builds.
    #[cold]
    fn pay_for_nodes(&self, count: u32) -> Result<(), String> {
        let bought = count + PAID_AT_ONCE;
        let charged = budget::memory(NODE_BYTES * bought as usize).and_then(|()| budget::work(bought as usize));
        charged.map_err(|exceeded| exceeded.to_string())?;
        self.nodes.set(self.nodes.get() + bought);
        if self.nodes.get() > MAX_NODES {
            return Err(format!("templates make more than {MAX_NODES} nodes (is there a loop that does not end?)"));
        }
        self.paid.set(self.paid.get() + PAID_AT_ONCE);
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
