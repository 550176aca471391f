//! Limits the work for the rules of one VM.
//!
//! The author of an annotation decides how much work its rules are, so it is counted in steps:
//! regular expression matching, values that paths visit, scans of long texts. Counting does not
//! depend on the machine, so a VM gets the same verdict everywhere. One step takes about 20 ns.

use std::cell::Cell;

/// Maximum steps for all rules of one VM: about 250 ms.
pub const STEPS: u64 = 12_000_000;

/// Steps before a review is moved to the second queue: about 2 ms, and some hundred times what the
/// rules of a shipped template take.
pub const FIRST_STEPS: u64 = 100_000;

/// Steps on the thread that read the review: about 0.1 ms, and some ten times what most rules take.
pub const GLANCE_STEPS: u64 = 5_000;

/// Steps per value that a path visits.
const VISIT: u64 = 4;

/// Bytes of a text scanned per step.
pub(crate) const STRIDE: usize = 64;

/// A remaining number of steps, and a clock.
pub struct Budget<'a> {
    steps: u64,
    left: Cell<u64>,
    is_late: &'a dyn Fn() -> bool,
}

/// No steps are left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exhausted;

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget::new(STEPS)
    }
}

impl<'a> Budget<'a> {
    /// A number of steps without a time limit.
    pub fn new(steps: u64) -> Budget<'a> {
        Budget { steps, left: Cell::new(steps), is_late: &|| false }
    }

    /// Adds a time limit: `is_late` returns whether it is reached.
    #[must_use]
    pub fn until(self, is_late: &'a dyn Fn() -> bool) -> Budget<'a> {
        Budget { is_late, ..self }
    }

    /// Whether the client that waits for the result has given up.
    pub fn is_late(&self) -> bool {
        (self.is_late)()
    }

    /// Whether more steps were requested than available.
    pub fn is_exhausted(&self) -> bool {
        self.left.get() == 0
    }

    /// The remaining steps.
    pub(crate) fn left(&self) -> u64 {
        self.left.get()
    }

    /// The steps taken so far.
    pub fn taken(&self) -> u64 {
        self.steps - self.left.get()
    }

    /// Takes steps. If there are not enough, all are gone, so that the result of later rules does
    /// not depend on their size.
    pub(crate) fn spend(&self, steps: u64) -> Result<(), Exhausted> {
        let mut left = self.left.get().saturating_sub(steps);
        // Commands also have limits for all VMs together (`--limit-time`); the webhook does not.
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

    /// The number of values that a path may still visit.
    pub(crate) fn visits_left(&self) -> usize {
        usize::try_from(self.left.get() / VISIT).unwrap_or(usize::MAX)
    }

    /// Takes the steps of scanning a text.
    pub(crate) fn scan(&self, text: &str) -> Result<(), Exhausted> {
        self.spend((text.len() / STRIDE) as u64)
    }
}

impl Exhausted {
    /// The message for a rule that did not get its steps.
    pub(crate) fn message() -> String {
        "the rules of this VM take too many steps; this rule was stopped".to_owned()
    }
}
