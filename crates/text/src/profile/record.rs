//! The profile of the current thread while it is recorded.
//!
//! Whoever runs something opens a `span`, which ends on drop; functions and lines are noted by the
//! VM. The cost since the last event is charged to the innermost span. Without a recording, each of
//! these looks at one flag and returns.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

use super::SpanKind;
use super::summary::{Cost, Event, Profile, SourcePosition, SpanCost};
use crate::{Str, budget};

/// Maximum nesting of spans. Deeper ones are charged to the innermost: with recursion the tree
/// would grow with the length of the run.
const MAX_DEPTH: usize = 200;

/// Maximum number of events: about 50 MB of a trace, which viewers can still show.
const MAX_EVENTS: usize = 500_000;

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

struct Recorder {
    clock: fn() -> Duration,
    started: Duration,
    /// The time, steps and bytes at the last event.
    last: Cost,
    profile: Profile,
    numbers: HashMap<(Option<usize>, SpanKind, Option<SourcePosition>, Str), usize>,
    open: Vec<OpenSpan>,
    keeps_events: bool,
}

/// An open span.
struct OpenSpan {
    span: usize,
    /// The current line of code in it.
    line: Option<SourcePosition>,
    /// The cost when it began.
    start: Cost,
    /// The call depth of a function.
    depth: Option<usize>,
}

/// A profile that is being recorded.
#[must_use]
pub struct Recording(());

/// Starts the profile of this thread. `clock` returns the time; if `events` is set, each single
/// span is kept.
pub fn begin(clock: fn() -> Duration, events: bool) -> Recording {
    let started = clock();
    let recorder = Recorder {
        clock,
        started,
        last: Cost { time: started, ..used() },
        profile: Profile::default(),
        numbers: HashMap::new(),
        open: Vec::new(),
        keeps_events: events,
    };
    RECORDER.set(Some(recorder));
    ON.set(true);
    Recording(())
}

impl Recording {
    /// Ends the profile.
    pub fn finish(self) -> Profile {
        let recorder = RECORDER.take();
        let Some(mut recorder) = recorder else { return Profile::default() };
        recorder.close_to(0);
        recorder.profile
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        ON.set(false);
        RECORDER.set(None);
    }
}

/// Whether this thread is being profiled.
#[inline]
pub fn is_on() -> bool {
    ON.get()
}

/// A span that ends when this is dropped.
#[must_use]
pub struct SpanGuard {
    height: usize,
}

impl Drop for SpanGuard {
    fn drop(&mut self) {
        with(|recorder| recorder.close_to(self.height));
    }
}

/// Opens a span, if this thread is being profiled.
#[inline]
pub fn span(kind: SpanKind, name: impl FnOnce() -> Str) -> Option<SpanGuard> {
    if is_on() { open(kind, None, name()) } else { None }
}

/// Opens the span of a stage of the run.
#[inline]
pub fn phase(name: &'static str) -> Option<SpanGuard> {
    span(SpanKind::Phase, || Str::from(name))
}

/// Opens the span of something with a position in a source.
#[inline]
pub fn span_at(kind: SpanKind, place: SourcePosition, name: impl FnOnce() -> Str) -> Option<SpanGuard> {
    if is_on() { open(kind, Some(place), name()) } else { None }
}

#[cold]
fn open(kind: SpanKind, place: Option<SourcePosition>, name: Str) -> Option<SpanGuard> {
    with(|recorder| {
        let height = recorder.open.len();
        recorder.enter(kind, place, name, None);
        SpanGuard { height }
    })
}

/// Records that a function begins; `depth` is the number of active functions.
pub fn enter(name: &Str, place: SourcePosition, depth: usize) {
    with(|recorder| recorder.enter(SpanKind::Function, Some(place), name.clone(), Some(depth)));
}

/// Records that the innermost function ends.
pub fn leave() {
    with(|recorder| {
        if recorder.open.last().is_some_and(|open| open.depth.is_some()) {
            recorder.close_to(recorder.open.len() - 1);
        }
    });
}

/// Records that functions deeper than `depth` ended with an error.
pub fn unwind(depth: usize) {
    with(|recorder| {
        let is_above = |open: &OpenSpan| open.depth.is_some_and(|found| found > depth);
        let above = recorder.open.iter().rev().take_while(|open| is_above(open)).count();
        recorder.close_to(recorder.open.len() - above);
    });
}

/// Records the line of code that runs next.
pub fn line(place: SourcePosition) {
    with(|recorder| {
        recorder.charge();
        if let Some(open) = recorder.open.last_mut() {
            open.line = Some(place);
        }
    });
}

fn with<T>(act: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
    RECORDER.with_borrow_mut(|recorder| recorder.as_mut().map(act))
}

/// The steps and bytes used so far by the run on this thread.
fn used() -> Cost {
    let (steps, bytes) = budget::used();
    Cost { time: Duration::ZERO, steps, bytes }
}

impl Recorder {
    /// Charges the cost since the last event to the innermost span.
    fn charge(&mut self) {
        let now = Cost { time: (self.clock)(), ..used() };
        let cost = now.since(self.last);
        self.last = now;
        self.profile.whole += cost;
        let Some(open) = self.open.last() else { return };
        self.profile.spans[open.span].own += cost;
        if let Some(line) = open.line {
            *self.profile.lines.entry(line).or_default() += cost;
        }
    }

    fn enter(&mut self, kind: SpanKind, place: Option<SourcePosition>, name: Str, depth: Option<usize>) {
        self.charge();
        let around = self.open.last();
        // Work in built-in functions belongs to the line that calls them.
        let line = around.filter(|_| kind != SpanKind::Evaluate && depth.is_none()).and_then(|open| open.line);
        let parent = around.map(|open| open.span);
        let span = match parent {
            Some(parent) if self.open.len() >= MAX_DEPTH => parent,
            _ => {
                let profile = &mut self.profile;
                let number = *self.numbers.entry((parent, kind, place, name)).or_insert_with_key(|key| {
                    let own = Cost::default();
                    profile.spans.push(SpanCost { kind, name: key.3.clone(), place, parent, count: 0, own });
                    profile.spans.len() - 1
                });
                profile.spans[number].count += 1;
                number
            }
        };
        self.open.push(OpenSpan { span, line, start: self.last, depth });
    }

    fn close_to(&mut self, height: usize) {
        if self.open.len() <= height {
            return;
        }
        self.charge();
        for open in self.open.drain(height..).rev() {
            if self.keeps_events {
                if self.profile.events.len() < MAX_EVENTS {
                    let start = open.start.time.saturating_sub(self.started);
                    self.profile.events.push(Event { span: open.span, start, cost: self.last.since(open.start) });
                } else {
                    self.profile.events_left_out += 1;
                }
            }
        }
    }
}
