//! The profile of the thread while it is being made.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

use super::SpanKind;
use super::summary::{Cost, Event, Place, Profile, SpanCost};
use crate::{Str, budget};

/// Spans inside each other that are told apart. What is opened deeper counts for the innermost of these: recursion
/// would make a tree as large as the run is long.
const MAX_DEPTH: usize = 200;

/// Events that are kept at most: about 50 MB of a trace, which viewers can still show.
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
    numbers: HashMap<(Option<usize>, SpanKind, Option<Place>, Str), usize>,
    open: Vec<Open>,
    keeps_events: bool,
}

/// A span that has begun.
struct Open {
    span: usize,
    /// The line of code that is at work in it.
    line: Option<Place>,
    /// What had been used when it began.
    start: Cost,
    /// For a function the depth of the call.
    depth: Option<usize>,
}

/// A profile that is being made.
#[must_use]
pub struct Recording(());

/// Begins the profile of what this thread does. `clock` tells the time; where `events` is set, each single span is kept.
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

/// A span that ends where this is dropped.
#[must_use]
pub struct Span {
    height: usize,
}

impl Drop for Span {
    fn drop(&mut self) {
        with(|recorder| recorder.close_to(self.height));
    }
}

/// Opens a span, where this thread is being profiled.
#[inline]
pub fn span(kind: SpanKind, name: impl FnOnce() -> Str) -> Option<Span> {
    if is_on() { open(kind, None, name()) } else { None }
}

/// Opens the span of a stage of the run.
#[inline]
pub fn phase(name: &'static str) -> Option<Span> {
    span(SpanKind::Phase, || Str::from(name))
}

/// Opens the span of something that was written at a place.
#[inline]
pub fn span_at(kind: SpanKind, place: Place, name: impl FnOnce() -> Str) -> Option<Span> {
    if is_on() { open(kind, Some(place), name()) } else { None }
}

#[cold]
fn open(kind: SpanKind, place: Option<Place>, name: Str) -> Option<Span> {
    with(|recorder| {
        let height = recorder.open.len();
        recorder.enter(kind, place, name, None);
        Span { height }
    })
}

/// Notes that a function begins, which is the `depth`th that is at work.
pub fn enter(name: &Str, place: Place, depth: usize) {
    with(|recorder| recorder.enter(SpanKind::Function, Some(place), name.clone(), Some(depth)));
}

/// Notes that the innermost function ends.
pub fn leave() {
    with(|recorder| {
        if recorder.open.last().is_some_and(|open| open.depth.is_some()) {
            recorder.close_to(recorder.open.len() - 1);
        }
    });
}

/// Notes that functions deeper than `depth` ended with an error.
pub fn unwind(depth: usize) {
    with(|recorder| {
        let is_above = |open: &Open| open.depth.is_some_and(|found| found > depth);
        let above = recorder.open.iter().rev().take_while(|open| is_above(open)).count();
        recorder.close_to(recorder.open.len() - above);
    });
}

/// Notes the line of code that runs next.
pub fn line(place: Place) {
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

/// The steps and bytes that the run on this thread has used.
fn used() -> Cost {
    let (steps, bytes) = budget::used();
    Cost { time: Duration::ZERO, steps, bytes }
}

impl Recorder {
    /// Charges what was used since the last event to the innermost span.
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

    fn enter(&mut self, kind: SpanKind, place: Option<Place>, name: Str, depth: Option<usize>) {
        self.charge();
        let around = self.open.last();
        // What a line of code does through built-in functions belongs to the line.
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
        self.open.push(Open { span, line, start: self.last, depth });
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
