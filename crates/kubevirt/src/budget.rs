//! The work that the rules of one VM may take.
//!
//! The author of an annotation decides how long its rules take, so the work is counted in
//! steps: comparisons of regular expressions, values that paths visit, long texts that are looked
//! through. Counting does not depend on the machine, so a VM gets the same verdict everywhere and
//! every time. One step takes about 20 ns.

use std::cell::Cell;

/// Steps that all rules of one VM may take together: about 250 ms.
pub const STEPS: u64 = 12_000_000;

/// Steps that are taken at once; what needs more waits in the second queue. About 2 ms,
/// and some hundred times what the rules of a shipped template take.
pub const FIRST_STEPS: u64 = 100_000;

/// Steps that are taken on the thread that read the review: about 0.1 ms, and some ten times what most rules take.
pub const GLANCE_STEPS: u64 = 5_000;

/// Steps for each value that a path visits.
const VISIT: u64 = 4;

/// Bytes of a text that are looked through in one step.
pub(crate) const STRIDE: usize = 64;

/// A number of steps that gets smaller, and a clock.
pub struct Budget<'a> {
    steps: u64,
    left: Cell<u64>,
    is_late: &'a dyn Fn() -> bool,
}

/// There are no steps left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exhausted;

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget::new(STEPS)
    }
}

impl<'a> Budget<'a> {
    /// A number of steps, whatever time they take.
    pub fn new(steps: u64) -> Budget<'a> {
        Budget { steps, left: Cell::new(steps), is_late: &|| false }
    }

    /// The same steps, as long as `is_late` says no.
    #[must_use]
    pub fn until(self, is_late: &'a dyn Fn() -> bool) -> Budget<'a> {
        Budget { is_late, ..self }
    }

    /// Whether the client that waits for the result has given up.
    pub fn is_late(&self) -> bool {
        (self.is_late)()
    }

    /// Whether somebody asked for more steps than there were.
    pub fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// Steps that are left.
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Steps that were taken so far.
    pub fn taken(&self) -> u64 {
        self.steps - self.left.get()
    }

    /// Takes steps. Where there are not enough, all are gone: what comes next must not depend on
    /// how large it is.
    pub(crate) fn spend(&self, steps: u64) -> Result<(), Exhausted> {
        let mut left = self.left.get().saturating_sub(steps);
        // Commands also have limits for all VMs together (`--limit-time`); the webhook has none.
        if ytterby_text::budget::work(usize::try_from(steps).unwrap_or(usize::MAX)).is_err() {
            left = 0;
        }
        self.left.set(left);
        if left == 0 { Err(Exhausted) } else { Ok(()) }
    }

    /// Takes the steps of a path that visited this many values.
    pub(crate) fn visit(&self, values: usize) -> Result<(), Exhausted> {
        self.spend(VISIT.saturating_mul(values as u64))
    }

    /// Values that a path may still visit.
    pub(crate) fn visits_left(&self) -> usize {
        usize::try_from(self.left.get() / VISIT).unwrap_or(usize::MAX)
    }

    /// Takes the steps of looking through a text.
    pub(crate) fn scan(&self, text: &str) -> Result<(), Exhausted> {
        self.spend((text.len() / STRIDE) as u64)
    }
}

impl Exhausted {
    /// What a rule is told that did not get its steps.
    pub(crate) fn message() -> String {
        "the rules of this VM take too many steps; this rule was stopped".to_owned()
    }
}
