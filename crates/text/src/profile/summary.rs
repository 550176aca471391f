//! The results of a profile.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::time::Duration;

use super::SpanKind;
use crate::Str;

/// A position in a source: the number of a file, and an offset.
pub type SourcePosition = (u32, u32);

/// Used resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Time.
    pub time: Duration,
    /// Steps of code: loop iterations and function calls.
    pub steps: u64,
    /// Bytes charged to the budget before they were allocated.
    pub bytes: u64,
}

impl Cost {
    pub(super) fn since(self, before: Cost) -> Cost {
        Cost {
            time: self.time.saturating_sub(before.time),
            steps: self.steps.saturating_sub(before.steps),
            bytes: self.bytes.saturating_sub(before.bytes),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        self.time += other.time;
        self.steps += other.steps;
        self.bytes += other.bytes;
    }
}

/// All spans of one kind, name and position inside the same parent.
#[derive(Clone, Debug)]
pub struct SpanCost {
    /// The kind.
    pub kind: SpanKind,
    /// Its name: a path, the name of a function, the description of a rule.
    pub name: Str,
    /// Its position, if any.
    pub place: Option<SourcePosition>,
    /// The index of its parent.
    pub parent: Option<usize>,
    /// How often it was opened.
    pub count: u64,
    /// The cost outside of nested spans.
    pub own: Cost,
}

/// A single span.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The index of its [`SpanCost`].
    pub span: usize,
    /// Its start, from the beginning of the profile.
    pub start: Duration,
    /// Its cost.
    pub cost: Cost,
}

/// Where a run spent time, steps and memory.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The spans. Parents come before their children.
    pub spans: Vec<SpanCost>,
    /// The cost of each line of code, without the functions that it called.
    pub lines: HashMap<SourcePosition, Cost>,
    /// All single spans in the order in which they ended, if requested.
    pub events: Vec<Event>,
    /// The number of events omitted because of the limit.
    pub events_left_out: u64,
    /// The total cost.
    pub whole: Cost,
}

/// All spans of one kind, name and position, in any parent.
#[derive(Clone, Debug)]
pub struct Total {
    /// The index of the first of them.
    pub span: usize,
    /// How often they were opened.
    pub count: u64,
    /// The cost outside of nested spans.
    pub own: Cost,
    /// The cost including nested spans. Recursive functions are counted once.
    pub total: Cost,
}

impl Profile {
    /// The cost of each span, including nested spans.
    pub fn totals(&self) -> Vec<Cost> {
        let mut totals: Vec<Cost> = self.spans.iter().map(|span| span.own).collect();
        for (at, span) in self.spans.iter().enumerate().rev() {
            if let Some(parent) = span.parent {
                let total = totals[at];
                totals[parent] += total;
            }
        }
        totals
    }

    /// The spans of some kinds, summed by name and position; slowest first.
    pub fn by_name(&self, kinds: &[SpanKind]) -> Vec<Total> {
        let totals = self.totals();
        let key = |at: usize| (self.spans[at].kind, &self.spans[at].name, self.spans[at].place);
        let mut found: HashMap<_, Total> = HashMap::new();
        for (at, span) in self.spans.iter().enumerate().filter(|(_, span)| kinds.contains(&span.kind)) {
            let new = || Total { span: at, count: 0, own: Cost::default(), total: Cost::default() };
            let entry = found.entry(key(at)).or_insert_with(new);
            entry.count += span.count;
            entry.own += span.own;
            let around = std::iter::successors(span.parent, |at| self.spans[*at].parent);
            if !around.into_iter().any(|around| key(around) == key(at)) {
                entry.total += totals[at];
            }
        }
        let mut found: Vec<Total> = found.into_values().collect();
        found.sort_by_key(|entry| (std::cmp::Reverse(entry.total.time), entry.span));
        found
    }
}
