//! What a profile found.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::time::Duration;

use super::SpanKind;
use crate::Str;

/// A place in a source: the number of a file, and an offset.
pub type Place = (u32, u32);

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Time on the clock.
    pub time: Duration,
    /// Steps of code: turns of loops and calls of functions.
    pub steps: u64,
    /// Bytes that were charged to the budget before they were allocated.
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

/// All spans of one kind, name and place that were opened inside of the same span.
#[derive(Clone, Debug)]
pub struct SpanCost {
    /// What it is about.
    pub kind: SpanKind,
    /// Its name: a path, the name of a function, the description of a rule.
    pub name: Str,
    /// Where it was written, if it was.
    pub place: Option<Place>,
    /// The number of the span around it.
    pub parent: Option<usize>,
    /// How often it was opened.
    pub count: u64,
    /// What was used outside of the spans inside of it.
    pub own: Cost,
}

/// One span from its beginning to its end.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// The number of its [`SpanCost`].
    pub span: usize,
    /// When it began, counted from the beginning of the profile.
    pub start: Duration,
    /// What was used until its end.
    pub cost: Cost,
}

/// What a run spent time, steps and memory on.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The spans. Each one comes after the span around it.
    pub spans: Vec<SpanCost>,
    /// What each line of code used, without the functions that it called.
    pub lines: HashMap<Place, Cost>,
    /// All spans in the order in which they ended, where they were asked for.
    pub events: Vec<Event>,
    /// How many events were left out because there are too many.
    pub events_left_out: u64,
    /// What the whole used.
    pub whole: Cost,
}

/// All spans of one kind, name and place, wherever they were opened.
#[derive(Clone, Debug)]
pub struct Total {
    /// The number of the first of them.
    pub span: usize,
    /// How often they were opened.
    pub count: u64,
    /// What was used outside of the spans inside of them.
    pub own: Cost,
    /// What was used inside of them, too. A function that calls itself counts once.
    pub total: Cost,
}

impl Profile {
    /// What each span used, the spans inside of it included.
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

    /// The spans of some kinds, those of the same name and place added up; the one that took longest comes first.
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
