use std::cell::Cell;
use std::time::Duration;

use super::{Profile, SpanKind, begin, enter, is_on, leave, line, span, unwind};
use crate::Str;

thread_local!(static NOW: Cell<u64> = const { Cell::new(0) });

fn clock() -> Duration {
    Duration::from_micros(NOW.get())
}

/// Advances the clock by this many microseconds.
fn wait(micros: u64) {
    NOW.set(NOW.get() + micros);
}

/// Each span with its parents: own time, total time, count.
fn told(profile: &Profile) -> Vec<String> {
    let totals = profile.totals();
    let told = profile.spans.iter().zip(totals).map(|(span, total)| {
        let around = std::iter::successors(span.parent, |at| profile.spans[*at].parent).count();
        let micros = (span.own.time.as_micros(), total.time.as_micros());
        format!("{}{} {} {}/{} x{}", "  ".repeat(around), span.kind.name(), span.name, micros.0, micros.1, span.count)
    });
    told.collect()
}

#[test]
fn costs_go_to_the_innermost_span_and_line() {
    let recording = begin(clock, true);
    {
        let _phase = span(SpanKind::Phase, || Str::from("templates"));
        wait(1);
        let _file = span(SpanKind::Evaluate, || Str::from("a.yml"));
        line((0, 10));
        wait(2);
        for _ in 0..2 {
            enter(&Str::from("f"), (0, 50), 1);
            line((0, 60));
            wait(3);
            leave();
        }
        // Back in the line of the caller.
        wait(4);
        line((0, 20));
        let _overlay = span(SpanKind::Overlay, || Str::from("o"));
        wait(5);
    }
    let profile = recording.finish();
    let expected =
        ["phase templates 1/18 x1", "  evaluate a.yml 6/17 x1", "    function f 6/6 x2", "    overlay o 5/5 x1"];
    assert_eq!(told(&profile), expected);
    let lines = |offset| profile.lines[&(0, offset)].time.as_micros();
    assert_eq!([lines(10), lines(60), lines(20)], [6, 6, 5]);
    let events: Vec<_> = profile.events.iter().map(|event| (event.span, event.start.as_micros())).collect();
    assert_eq!(events, [(2, 3), (2, 6), (3, 13), (1, 1), (0, 0)]);
    assert_eq!(profile.whole.time.as_micros(), 18);
}

#[test]
fn a_function_that_calls_itself_counts_once() {
    let recording = begin(clock, false);
    let name = Str::from("f");
    for depth in 1..=1000 {
        enter(&name, (0, 1), depth);
        wait(1);
    }
    (0..1000).for_each(|_| leave());
    let profile = recording.finish();
    let functions = profile.by_name(&[SpanKind::Function]);
    assert_eq!(functions.len(), 1);
    assert_eq!((functions[0].own.time, functions[0].total.time), (Duration::from_millis(1), Duration::from_millis(1)));
    assert!(profile.spans.len() <= 200);
}

#[test]
fn errors_end_functions() {
    let recording = begin(clock, false);
    let _phase = span(SpanKind::Phase, || Str::from("p"));
    enter(&Str::from("f"), (0, 1), 1);
    enter(&Str::from("g"), (0, 2), 2);
    wait(1);
    unwind(1);
    wait(2);
    leave();
    wait(4);
    let profile = recording.finish();
    assert_eq!(told(&profile), ["phase p 4/7 x1", "  function f 2/3 x1", "    function g 1/1 x1"]);
}

#[test]
fn without_a_profile_there_are_no_spans() {
    assert!(!is_on());
    assert!(span(SpanKind::Phase, || unreachable!("nobody asked for a name")).is_none());
    drop(begin(clock, false));
    assert!(!is_on());
}
