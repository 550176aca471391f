//! Profiles of programs: functions, lines and steps are exact, and a profile does not change
//! results.

mod common;

use std::rc::Rc;
use std::time::Duration;

use common::run;
use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Eval, Exports, NoOps, ProgramPiece, compile};
use ytterby_text::budget;
use ytterby_text::profile::{self, Profile, SpanKind};

fn no_clock() -> Duration {
    Duration::ZERO
}

/// The profile of a program, and its number of steps.
fn profile_of(code: &str) -> (Profile, u64) {
    let _running = budget::begin(budget::Limits::default(), None, None);
    let recording = profile::begin(no_clock, false);
    let phase = profile::phase("all");
    let program =
        compile(&[ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) }], &[]).expect("it is code");
    let mut eval = Eval::new();
    let _ = program.run(&mut eval, Rc::new(NoOps), &Exports::default());
    let steps = eval.steps();
    drop(phase);
    (recording.finish(), steps)
}

/// Each function: its name, number of calls, own steps, and steps including its calls.
fn functions(profile: &Profile) -> Vec<(String, u64, u64, u64)> {
    let functions = profile.by_name(&[SpanKind::Function]);
    let mut told: Vec<_> = functions
        .iter()
        .map(|f| (profile.spans[f.span].name.to_string(), f.count, f.own.steps, f.total.steps))
        .collect();
    told.sort();
    told
}

const CALLS: &str = "\
def inner(n):
  x = 0
  for i in range(n):
    x += i
  end
  return x
end
def outer(n):
  a = inner(n)
  b = [inner(m) for m in range(2)]
  return a + b[0]
end
y = outer(10)
z = (lambda q: q + 1)(y)
";

#[test]
fn functions_are_counted_with_their_steps() {
    let (profile, steps) = profile_of(CALLS);
    // A call counts one step, and so do each iteration of a loop and the check that ends it.
    let told = functions(&profile);
    let names: Vec<_> = told.iter().map(|f| (f.0.as_str(), f.1)).collect();
    assert_eq!(names, [("inner", 3), ("lambda", 1), ("outer", 1)]);
    let of = |name: &str| told.iter().find(|f| f.0 == name).expect("it was called").clone();
    assert_eq!(of("outer").3, of("outer").2 + of("inner").2);
    assert_eq!(profile.whole.steps, steps);
    assert_eq!((of("inner").2, of("lambda").2), (3 + 11 + 1 + 2, 1));
    let own: u64 = profile.spans.iter().map(|span| span.own.steps).sum();
    assert_eq!(own, steps);
}

#[test]
fn lines_have_the_steps_of_their_statements() {
    let (profile, _) = profile_of("x = 0\nfor i in range(100):\n  x += i\nend\ny = 1\n");
    let at = |offset: u32| profile.lines.get(&(0, offset)).map_or(0, |cost| cost.steps);
    // Iterations are charged at the statement inside the loop, and the final check after it.
    assert_eq!((at(6), at(31)), (1, 100), "{:?}", profile.lines);
    assert_eq!((at(2), at(42)), (0, 0));
}

#[test]
fn bytes_equal_those_charged_to_the_budget() {
    let (profile, _) = profile_of("def f():\n  return \"x\" * 100000\nend\nx = f()\n");
    let f = &profile.by_name(&[SpanKind::Function])[0];
    assert!((100_000..110_000).contains(&f.own.bytes), "{f:?}");
}

#[test]
fn functions_that_fail_are_closed() {
    let (profile, steps) = profile_of("def f():\n  return 1 // 0\nend\ndef g():\n  return f()\nend\ng()\n");
    assert_eq!(functions(&profile).iter().map(|f| f.1).sum::<u64>(), 2);
    assert_eq!(profile.whole.steps, steps);
}

#[test]
fn a_profile_does_not_change_the_result() {
    let programs = [
        CALLS,
        "def f(*args, **kwargs):\n  return len(args) + len(kwargs)\nend\nprint(f(1, 2, a=3))\n",
        "def f():\n  x = 1\n  def g():\n    return x\n  end\n  return g\nend\nprint(f()())\n",
        "for k, v in {\"a\": 1}.items():\n  print(k, v)\nend\nfor i, v in enumerate([3]):\n  print(i, v)\nend\n",
        "def f(n):\n  if n == 0:\n    return 0\n  end\n  return f(n - 1)\nend\nprint(f(500))\n",
        "s = \"\"\nfor i in range(40):\n  s += str(i)\n  s = s + \"-\"\nend\nprint(s)\ns += s\nprint(len(s))\n",
        "print([x for x in range(5) if x % 2 == 0], {x: x for x in \"ab\".elems()})\n",
        "def f():\n  fail(\"no\")\nend\nprint(1)\nf()\n",
    ];
    for code in programs {
        let plain = run(code);
        let recording = profile::begin(no_clock, false);
        let profiled = run(code);
        drop(recording);
        assert_eq!((plain.printed, plain.error), (profiled.printed, profiled.error), "{code}");
    }
}
