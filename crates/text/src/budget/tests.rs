//! Tests of the account: which charges are refused, and that none is without a budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::*;

/// A host with a fake clock and fake memory.
#[derive(Debug, Default)]
struct Numbers {
    nanos: AtomicU64,
    bytes: AtomicU64,
}

impl Meter for Numbers {
    fn time(&self) -> Option<Duration> {
        Some(Duration::from_nanos(self.nanos.fetch_add(1_000_000, Ordering::Relaxed)))
    }

    fn memory(&self) -> Option<u64> {
        Some(self.bytes.load(Ordering::Relaxed))
    }
}

#[test]
fn nothing_is_refused_without_a_budget() {
    assert!(memory(1 << 50).is_ok() && work(1 << 50).is_ok() && output(1 << 50).is_ok());
    assert!(!is_exceeded());
}

#[test]
fn without_a_meter_memory_counts_all_charges() {
    let _running = begin(Limits { memory: Some(1 << 20), ..Limits::default() }, None, None);
    for _ in 0..1024 {
        assert_eq!(memory(1024), Ok(()));
    }
    assert_eq!(memory(1024), Err(Exceeded::Memory(1 << 20)));
    assert!(is_exceeded());
    assert_eq!(work(1), Err(Exceeded::Memory(1 << 20)), "what was exceeded stays exceeded");
}

#[test]
fn the_default_counts_no_memory_without_a_meter() {
    let _running = begin(Limits::default(), None, None);
    assert_eq!(memory(1 << 40), Ok(()));
}

#[test]
fn with_a_meter_only_measured_memory_counts() {
    let host = Arc::new(Numbers::default());
    let _running = begin(Limits { memory: Some(100 << 20), ..Limits::default() }, None, Some(host.clone()));
    for _ in 0..10_000 {
        assert_eq!(memory(1 << 20), Ok(()), "garbage does not count");
    }
    // By now more than the limit was charged, so other budgets in the process (of other tests) make
    // no difference.
    host.bytes.store(90 << 20, Ordering::Relaxed);
    assert_eq!(memory(60 << 20), Err(Exceeded::Memory(100 << 20)));
}

/// Memory in blocks that are not charged is found when the clock is checked.
#[test]
fn memory_is_measured_without_charges() {
    let host = Arc::new(Numbers::default());
    let _running = begin(Limits { memory: Some(1 << 20), ..Limits::default() }, None, Some(host.clone()));
    assert_eq!((0..100_000).find_map(|_| work(1).err()), None);
    // The charge makes other budgets in the process (of other tests) irrelevant.
    assert_eq!(memory(1 << 20), Ok(()));
    assert_eq!(memory(1 << 20), Ok(()));
    host.bytes.store(2 << 20, Ordering::Relaxed);
    assert_eq!((0..100_000).find_map(|_| work(1).err()), Some(Exceeded::Memory(1 << 20)));
}

#[test]
fn input_raises_the_defaults() {
    let host = Arc::new(Numbers::default());
    host.bytes.store(Limits::MEMORY, Ordering::Relaxed);
    let _running = begin(Limits::default(), None, Some(host));
    input(1 << 20);
    assert_eq!(memory(32 << 20), Ok(()));
    assert_eq!(memory(Limits::MEMORY as usize + (128 << 20)), Err(Exceeded::Memory(Limits::MEMORY + (64 << 20))));
}

#[test]
fn time_limit_is_reported() {
    let _running = begin(
        Limits { time: Some(Duration::from_millis(20)), ..Limits::default() },
        None,
        Some(Arc::new(Numbers::default())),
    );
    let turns = (0..1_000_000).take_while(|_| work(1).is_ok()).count();
    assert!(turns > 10_000 && turns < 100_000, "{turns}");
}

#[test]
fn steps_output_and_cancellation() {
    let token = Cancellation::new();
    let limits = Limits { steps: Some(100), output: Some(10), ..Limits::default() };
    {
        let _running = begin(limits, Some(token.clone()), None);
        assert_eq!((steps(99), steps_left()), (Ok(()), 1));
        assert_eq!(work(5000), Ok(()));
        code_begins();
        assert_eq!(work(3000), Ok(()));
        assert_eq!(work(3000), Ok(()));
        at(0, 7);
        assert_eq!(steps(1), Err(Exceeded::Steps(100)));
        assert_eq!(hottest(), [((0, 7), 100)]);
    }
    {
        let _running = begin(limits, Some(token.clone()), None);
        assert_eq!(output(10), Ok(()));
        assert_eq!(output(1), Err(Exceeded::Output(10)));
    }
    token.cancel();
    let _running = begin(limits, Some(token), None);
    assert_eq!(work(5000), Err(Exceeded::Cancelled));
}

#[test]
fn a_run_inside_of_another_has_its_own_budget() {
    let _outer = begin(Limits { memory: Some(100), ..Limits::default() }, None, None);
    assert_eq!(memory(60), Ok(()));
    {
        let _inner = begin(Limits { memory: Some(10), ..Limits::default() }, None, None);
        assert_eq!(memory(11), Err(Exceeded::Memory(10)));
    }
    assert_eq!(memory(40), Ok(()));
    assert_eq!(memory(1), Err(Exceeded::Memory(100)));
}

/// The position of a limit is the innermost one at that time, and a run inside another one knows
/// only its own.
#[test]
fn positions_nest() {
    let limits = Limits { steps: Some(1), ..Limits::default() };
    let current = || position::position().current;
    let outer = begin(limits, None, None);
    assert_eq!(current(), None);
    {
        let _file = working_at(1, 10);
        {
            let _node = working_at(1, 20);
            assert_eq!(current(), Some((1, 20)));
            let _unknown = working_at(u32::MAX, 0);
            assert_eq!(current(), Some((1, 20)), "an unknown position changes nothing");
        }
        assert_eq!(position::position(), WorkPosition { current: Some((1, 10)), last: Some((1, 20)) });
        {
            let _inner = begin(limits, None, None);
            assert_eq!(position::position(), WorkPosition::default(), "files of another run have other numbers");
            let _node = working_at(7, 70);
            assert!(steps(1).is_err());
            assert_eq!(exceeded_at().current, Some((7, 70)));
        }
        assert_eq!(position::position(), WorkPosition { current: Some((1, 10)), last: Some((1, 20)) });
    }
    assert_eq!(position::position(), WorkPosition { current: None, last: Some((1, 20)) });
    assert_eq!(exceeded_at(), WorkPosition::default(), "the limit of the inner run is not one of the outer run");
    // What is noted after a limit does not move its report.
    assert!(steps(1).is_err());
    let _later = working_at(2, 30);
    assert!(work(1).is_err());
    assert_eq!(exceeded_at(), WorkPosition { current: None, last: Some((1, 20)) });
    drop(outer);
    assert_eq!(position::position(), WorkPosition::default());
}

#[test]
fn walks_that_cannot_fail_are_unwound() {
    fn walk(depth: u32) -> u64 {
        or_unwind(work(1));
        if depth == 0 { 1 } else { walk(depth - 1) + walk(depth - 1) }
    }
    let meter: Arc<dyn Meter> = Arc::new(Numbers::default());
    let limits = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    {
        let _running = begin(limits, None, Some(meter.clone()));
        assert_eq!(catch(|| walk(10)), Ok(1024));
        assert_eq!(catch(|| walk(60)), Err(Exceeded::Time(Duration::from_millis(20))));
    }
    // Without a `catch` the walk goes on, and an ordinary panic is not caught as a limit.
    let _running = begin(limits, None, Some(meter));
    assert_eq!(walk(18), 1 << 18);
    assert!(std::panic::catch_unwind(|| catch(|| std::panic::resume_unwind(Box::new("other")))).is_err());
}

#[test]
fn limits_as_people_write_them() {
    let seconds = |text| parse_time(text).map(|time| time.as_secs_f64());
    assert_eq!(seconds("500ms"), Some(0.5));
    assert_eq!(seconds("1.5h"), Some(5400.0));
    for wrong in ["", "banana", "10", "-1s", "1s banana", "s", "0s", "1e3s", "99999999999h", "1..5s"] {
        assert_eq!(parse_time(wrong), None, "{wrong}");
    }
    for (text, size) in [("1", 1), ("1KiB", 1024), ("2mb", 2_000_000), ("1 GiB", 1 << 30), ("1Gi", 1 << 30)] {
        assert_eq!(parse_size(text), Some(size), "{text}");
    }
    for wrong in ["", "-1", "0", "10parsecs", "GiB", "1GiBs", "99999999TiB"] {
        assert_eq!(parse_size(wrong), None, "{wrong}");
    }
    for wrong in ["", "-5", "0", "1.5", "many", "+3"] {
        assert_eq!(parse_count(wrong), None, "{wrong}");
    }
    for time in ["500ms", "10s", "1.5s", "3m", "none"] {
        assert_eq!(shown_time(parse_time(time).expect("a time")), time);
    }
    for size in ["1GiB", "400MiB", "none"] {
        assert_eq!(shown_size(parse_size(size).expect("a size")), size);
    }
}

/// A run inside another one ends with it, and says which limit that was.
#[test]
fn inner_runs_end_with_the_outer_one() {
    let limits = |millis| Limits { time: Some(Duration::from_millis(millis)), ..Limits::default() };
    let host = Arc::new(Numbers::default());
    let outer = begin(limits(100), None, Some(host.clone()));
    let mut end = Ok(());
    for _ in 0..100 {
        let _inner = begin(limits(90), None, Some(host.clone()));
        end = (0..5).try_for_each(|_| work(1 << 16));
        if end.is_err() {
            break;
        }
    }
    assert_eq!(end, Err(Exceeded::Time(Duration::from_millis(100))));
    assert_eq!(work(1 << 16), Err(Exceeded::Time(Duration::from_millis(100))));
    drop(outer);
    // An inner limit that is reached earlier ends only the inner run.
    let _outer = begin(limits(1000), None, Some(host.clone()));
    let inner = begin(limits(10), None, Some(host));
    assert_eq!((0..50).try_for_each(|_| work(1 << 16)), Err(Exceeded::Time(Duration::from_millis(10))));
    drop(inner);
    assert_eq!(work(1 << 16), Ok(()));
}
