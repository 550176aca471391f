//! What templates have under construction in a run.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ytterby_text::budget;

/// How many nodes the templates of a run may make: some gigabytes of them. A loop that does not end makes more.
const MAX_NODES: u32 = 30_000_000;

/// What a node takes, roughly.
const NODE_BYTES: usize = 96;

/// The nodes that one evaluation of a file builds at the moment, in layers.
pub(crate) trait Building {
    /// Gives up the innermost layer.
    fn give_up(&self);
}

/// Which contexts are open in a run, whatever their files: what an error leaves open can be given up from outside.
#[derive(Default)]
pub(crate) struct OpenContexts {
    stacks: RefCell<Vec<Rc<dyn Building>>>,
    /// How many nodes were started so far.
    nodes: Cell<u32>,
    /// Whether some node got rules for the output.
    has_output_rules: Cell<bool>,
}

impl OpenContexts {
    /// Begins to count nodes for another run.
    pub fn begin_run(&self) {
        self.unwind(0);
        self.nodes.set(0);
    }

    /// Notes that a layer was begun.
    pub fn begin(&self, of: Rc<dyn Building>) {
        self.stacks.borrow_mut().push(of);
    }

    /// Notes that the innermost layer came to its end.
    pub fn end(&self) {
        self.stacks.borrow_mut().pop();
    }

    /// How many are open; [`OpenContexts::unwind`] goes back to that.
    pub fn depth(&self) -> usize {
        self.stacks.borrow().len()
    }

    /// Gives up contexts that an error left open.
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

    /// Notes that some node got rules for the output (`@assert/validate`).
    pub fn note_output_rules(&self) {
        self.has_output_rules.set(true);
    }

    /// Whether some node got rules for the output.
    pub fn has_output_rules(&self) -> bool {
        self.has_output_rules.get()
    }
}
