//! Limits: each ends in an error, none in a crash.

mod common;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::{check, run, run_with};
use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{
    CallLimits, Dialect, Eval, EvalLimits, Exports, NoOps, Problem, ProgramPiece, Value, compile, compile_in,
};
use ytterby_text::Str;
use ytterby_text::budget::{self, Limits};

#[track_caller]
fn check_limited(code: &str, limits: EvalLimits, message: &str) {
    let error = run_with(code, limits).error.unwrap_or_default();
    assert!(error.starts_with(&format!("- {message}\n")), "{error}");
}

#[test]
fn steps_are_limited() {
    let limits = || EvalLimits { steps: Some(10_000), ..EvalLimits::default() };
    check_limited("while True:\n  None\nend", limits(), "step limit exceeded (10000 steps)");
    let error = run_with("n = 0\nwhile n >= 0:\n  n += 1\nend", limits()).error.unwrap_or_default();
    assert!(error.trim_end().ends_with("2 | while n >= 0:"), "{error}");
    check_limited("x = [i for i in range(100000)]", limits(), "step limit exceeded (10000 steps)");
    check_limited("x = list(range(100000))", limits(), "step limit exceeded (10000 steps)");
    check_limited("def f():\n  f()\nend\nf()", limits(), "step limit exceeded (10000 steps)");
    assert!(run_with("x = [i for i in range(9000)]", limits()).error.is_none());
}

#[test]
fn steps_are_counted_where_the_loop_begins() {
    let code = "def f():\n  for i in range(100000):\n    x = [\n      i]\n  end\nend\nf()";
    let limits = EvalLimits { steps: Some(10_000), ..EvalLimits::default() };
    let error = run_with(code, limits).error.unwrap_or_default();
    let place = "    in f\n      2 |   for i in range(100000):\n    in <toplevel>\n      7 | f()\n";
    assert_eq!(error, format!("- step limit exceeded (10000 steps)\n{place}"));
}

#[test]
fn a_call_can_have_its_own_limits() {
    let code = b"def loop(n):\n  x = []\n  for i in range(n):\n    x.append(i)\n  end\n  return len(x)\nend";
    let program =
        compile(&[ProgramPiece::Code { text: code, at: Pos::new(FileId(0), 0) }], &[]).expect("the code is right");
    let mut eval = Eval::new();
    eval.set_limits(EvalLimits { steps: Some(100_000), ..EvalLimits::default() });
    let exports = program.run(&mut eval, Rc::new(NoOps), &Exports::default()).expect("the code runs");
    let function = exports.get(&Str::from("loop")).expect("it is there");
    let mut call = |steps, memory, n| match eval.call_within(CallLimits { steps, memory }, function, &[Value::Int(n)]) {
        Ok(length) => length.repr().to_string(),
        Err(error) => error.message().into_owned(),
    };
    assert_eq!(call(10_000, 1 << 20, 9_000), "9000");
    assert_eq!(call(10_000, 1 << 20, 10_000), "step limit exceeded (10000 steps)");
    assert_eq!(call(10_000, 1 << 10, 9_000), "memory limit exceeded (1024 bytes)");
    assert_eq!(call(10_000, 1 << 20, 9_000), "9000");
    assert_eq!(call(1_000_000, 1 << 30, 90_000), "step limit exceeded (100000 steps)");
}

#[test]
fn depth_is_limited() {
    let error = run("def f(n):\n  return f(n + 1)\nend\nf(0)").error.unwrap();
    assert!(error.starts_with("- call depth limit exceeded (200000 frames)\n    in f\n      2 |   return f(n + 1)\n"));
    check("def f(n):\n  return 0 if n == 0 else 1 + f(n - 1)\nend\nprint(f(150000))", "150000\n");
}

#[test]
fn very_many_calls_are_counted() {
    let run = |depth: usize| {
        let code = format!("def f(n):\n  return f(n - 1) if n else 1 // 0\nend\nf({depth})");
        let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) };
        let program = compile(&[piece], &[]).unwrap();
        program.run(&mut Eval::new(), Rc::new(NoOps), &Exports::default()).err().unwrap()
    };
    let problem = run(1_000).into_code_problem(&|_| false);
    assert_eq!((problem.frames.len(), problem.omitted.0), (1_002, 0));
    let problem = run(50_000).into_code_problem(&|_| false);
    assert_eq!((problem.frames.len(), problem.omitted), (200, (50_002 - 200, 100)));
    assert_eq!(problem.frames.last().unwrap().name.as_deref(), Some("<toplevel>"));
}

#[test]
fn arguments_of_a_call_are_limited() {
    let call = |positional: usize, named: usize| {
        let positional = (0..positional).map(|_| "1".to_owned());
        let args: Vec<String> = positional.chain((0..named).map(|n| format!("k{n}=1"))).collect();
        run(&format!("def f(*args, **kwargs):\n  return len(args) + len(kwargs)\nend\nprint(f({}))", args.join(", ")))
    };
    let message = |positional, named| call(positional, named).error.unwrap_or_default();
    assert_eq!((message(255, 0), message(0, 255), message(255, 255)), Default::default());
    assert!(message(256, 0).starts_with("- 256 positional arguments in call, limit is 255\n"), "{}", message(256, 0));
    assert!(message(0, 256).starts_with("- 256 keyword arguments in call, limit is 255\n"), "{}", message(0, 256));
}

#[test]
fn depth_through_builtins_is_limited() {
    let error = run("def f(n):\n  return sorted([n], key=f)\nend\nf(0)").error.unwrap();
    assert!(error.starts_with("- call depth limit exceeded"), "{}", &error[..200]);
}

#[test]
fn memory_is_limited() {
    let limits = || EvalLimits { memory: Some(1 << 20), ..EvalLimits::default() };
    check_limited("x = [0] * 1000000", limits(), "memory limit exceeded (1048576 bytes)");
    check_limited("x = 'x'\nwhile True:\n  x += x\nend", limits(), "memory limit exceeded (1048576 bytes)");
    check_limited("x = []\nwhile True:\n  x.append(1)\nend", limits(), "memory limit exceeded (1048576 bytes)");
    check_limited(
        "x = {}\nfor i in range(1000000):\n  x[i] = i\nend",
        limits(),
        "memory limit exceeded (1048576 bytes)",
    );
    check_limited("x = 'ab'.join(['c' * 1000] * 2000)", limits(), "memory limit exceeded (1048576 bytes)");
}

/// Each result takes a megabyte or a few kilobytes of memory, and a list keeps all of them.
#[test]
fn results_are_charged() {
    let run = |prepare: &str, result: &str, turns: usize| {
        let code = format!("{prepare}\nkept = []\nfor i in range({turns}):\n  kept.append({result})\nend");
        let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) };
        let program = compile_in(Dialect::Current, &[piece], &[]).expect("the code is right");
        let _running = budget::begin(Limits { memory: Some(64 << 20), ..Limits::default() }, None, None);
        let mut eval = Eval::new();
        eval.set_dialect(Dialect::Current);
        program.run(&mut eval, Rc::new(NoOps), &Exports::default()).err().map(|error| error.message().into_owned())
    };
    let collect = "def args(*args, **kwargs):\n  return args or kwargs\nend\n";
    let names = "names = {\"k%d\" % i: i for i in range(900)}";
    let number = "number = 7\nfor i in range(18):\n  number *= number\nend";
    let bytes = "x = bytes(\"x\") * 1000000";
    let charged = [
        (number, "-number", 900),
        (number, "~number", 900),
        (number, "abs(-number)", 900),
        (number, "number >> 1", 900),
        (number, "number + 1", 900),
        ("digits = \"7\" * 10000", "int(digits)", 20_000),
        (bytes, "x * 2", 90),
        (bytes, "x + x", 90),
        (bytes, "x[1:]", 90),
        ("x = \"x\" * 1000000", "x.removeprefix(\"x\")", 90),
        ("x = \"x\" * 1000000", "x.removesuffix(\"x\")", 90),
        ("", "dir(\"\")", 90_000),
        (&format!("{collect}{names}"), "args(**names)", 2_000),
        (&format!("{collect}x = [1] * 900"), "args(*x)", 9_000),
    ];
    for (prepare, result, turns) in charged {
        let error = run(prepare, result, turns).unwrap_or_default();
        assert!(error.contains("memory limit exceeded"), "{result}: {error:?}");
        assert_eq!(run(prepare, result, 3), None, "{result}");
    }
}

#[test]
fn huge_results_are_refused_without_a_limit() {
    check_limited("x = 'x' * 2000000000", EvalLimits::default(), "excessive repeat (2000000000 elements)");
    check_limited("x = [0] * 100000000", EvalLimits::default(), "excessive repeat (100000000 elements)");
    check_limited("x = 3\nwhile True:\n  x = x * x\nend", EvalLimits::default(), "integer too large (1661954 bits)");
}

#[test]
fn long_integers_are_refused() {
    check_limited("int('9' * 10000000)", EvalLimits::default(), "int: integer too large (10000000 digits)");
    check_limited(&format!("x = {}", "9".repeat(1_000_000)), EvalLimits::default(), "invalid int literal");
}

/// A chain of operations keeps one intermediate value, not the value of each part.
#[test]
fn long_chains_need_few_values() {
    let names = "def f():\n  return f\nend\none = 1\n";
    for (begin, part) in [
        ("1", " + 1"),
        ("1", " - 1.5"),
        ("'a'", " + ''"),
        ("[]", " + [one][:0]"),
        ("2", " % 3"),
        ("1", " and one"),
        ("0", " or 0"),
        ("'%s'", " % '%s'"),
        ("'a'", "[0]"),
        ("'abc'", "[0:2]"),
        ("'abc'", ".strip('x')"),
        ("'abc'", ".format()"),
        ("'abc'", ".strip"),
        ("f", "()"),
    ] {
        let part = part.repeat(66_000);
        let error = run(&format!("{names}x = {begin}{part}")).error.unwrap_or_default();
        let is_known = error.is_empty() || error.contains("has no .strip");
        assert!(is_known, "{begin}{}: {}", &part[..10], &error[..error.len().min(200)]);
    }
    check(
        "x = 3\nprint((x + 1) * (x - 1) % 5 - x, 'a-b'.split('-')[1].upper()[0:1] + 'c', (x - 1) in [2], (1 + x) not in [x])",
        "0 Bc True True\n",
    );
}

/// Further errors about names are counted, whatever they are.
#[test]
fn many_errors_about_names_are_counted() {
    let duplicates = run(&format!("def f({}):\n  return 1\nend", "k=1,".repeat(3_000))).error.unwrap();
    assert!(duplicates.len() < 66_000, "{} bytes", duplicates.len());
    assert!(duplicates.contains("- 1999 more errors, of which this is the first\n"), "{duplicates:?}");
    let undefined = run(&format!("x = [{}]", "y,".repeat(3_000))).error.unwrap();
    assert!(undefined.contains("- 2000 more undefined names, of which this is the first\n"));
    let both = run(&format!("{}\nx = [{}]", "return\n".repeat(999), "y,".repeat(3_000))).error.unwrap();
    assert!(both.contains("- 2999 more undefined names, of which this is the first\n"));
}

#[test]
fn a_large_code_point_is_out_of_range() {
    let message = |dialect, code: &str| {
        let program = compile_in(dialect, &[ProgramPiece::Code { text: code.as_bytes(), at: common::nowhere() }], &[]);
        let mut eval = Eval::new();
        eval.set_dialect(dialect);
        let failed = program.expect("the code is right").run(&mut eval, Rc::new(NoOps), &Exports::default()).err();
        failed.expect("an error").message().into_owned()
    };
    assert_eq!(message(Dialect::Ytt, "chr(1 << 40)"), "chr: got int, want int");
    assert_eq!(message(Dialect::Current, "chr(1 << 40)"), "chr: 1099511627776 out of range");
    assert_eq!(message(Dialect::Current, "chr(-1 << 40)"), "chr: -1099511627776 out of range");
    assert_eq!(message(Dialect::Current, "chr(1 << 400)"), "chr: integer of 401 bits out of range");
    assert_eq!(message(Dialect::Current, "chr(1.5)"), "chr: got float, want int");
}

#[test]
fn a_program_can_be_cancelled() {
    let mut eval = Eval::new();
    eval.set_cancel(Arc::new(AtomicBool::new(true)));
    let code = b"while True:\n  None\nend";
    let program = compile(&[ProgramPiece::Code { text: code, at: common::nowhere() }], &[]).unwrap();
    let error = program.run(&mut eval, std::rc::Rc::new(NoOps), &Exports::default()).err().unwrap();
    assert_eq!(*error.problem(), Problem::Cancelled);
}

#[test]
fn deep_nesting_in_the_text_is_refused() {
    let nested = |n: usize| format!("x = {}{}", "[".repeat(n), "]".repeat(n));
    assert!(run(&nested(4_000)).error.is_none());
    assert!(run(&nested(100_000)).error.unwrap().starts_with("- expression nested too deeply"));
    assert!(run(&format!("x = {}1", "-".repeat(100_000))).error.unwrap().starts_with("- expression nested"));
    assert!(run(&format!("x = {}True", "not ".repeat(100_000))).error.unwrap().starts_with("- expression nested"));
    let blocks = "if True:\n".repeat(10_000) + &"end\n".repeat(10_000);
    assert!(run(&blocks).error.unwrap().starts_with("- blocks nested too deeply"));
    // A long sum is nested to the left, which is no nesting in the text.
    assert!(run(&format!("x = 1{}", " + 1".repeat(50_000))).error.is_none());
}

#[test]
fn deep_and_cyclic_values_are_handled() {
    check("x = []\nx.append(x)\nprint(x)", "[[...]]\n");
    check("x = {}\nx[1] = x\nprint(x)", "{1: {...}}\n");
    check(
        "x = []\nx.append(x)\ny = []\ny.append(y)\nprint(x == y)",
        "- comparison exceeded maximum recursion depth\n    in <toplevel>\n      5 | print(x == y)\n",
    );
    check("x = []\nfor i in range(300000):\n  x = [x]\nend\nprint(len(repr(x)))", "20005\n");
    let error = run("x = ()\nfor i in range(300000):\n  x = (x,)\nend\ny = {x: 1}").error.unwrap();
    assert!(error.starts_with("- hash exceeded maximum recursion depth"));
}

/// Checks the error of code that cannot be compiled, and its line.
#[track_caller]
fn check_too_large(code: &str, message: &str, line: usize) {
    let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) };
    let errors = compile(&[piece], &[]).err().expect("this is too much");
    let found = &errors[0];
    assert_eq!((found.message.as_str(), code[..found.pos.offset as usize].matches('\n').count() + 1), (message, line));
}

#[test]
fn programs_that_are_too_large_are_refused() {
    let many = |count: usize, text: &dyn Fn(usize) -> String| (0..count).map(text).collect::<String>();
    let lambdas = many(70_000, &|n| format!("lambda: {n},"));
    check_too_large(
        &format!("a = 1\nb = [{lambdas}]"),
        "too many functions in one function or file (limit is 65536)",
        2,
    );
    let locals = many(40_000, &|n| format!("  v{n} = {n}\n"));
    check_too_large(
        &format!("a = 1\n\ndef f():\n{locals}end\n"),
        "too many local variables (40000, limit is 32766)",
        3,
    );
    let values = many(70_000, &|n| format!("{n},"));
    check_too_large(&format!("a = 1\nb = ({values})"), "expression too large: more than 65,000 values at once", 2);
    let names = many(70_000, &|n| format!("v{n},"));
    check_too_large(
        &format!("a = 1\n{names}v = range(70001)"),
        "too many variables in one assignment (limit is 65535)",
        2,
    );
}

#[test]
fn long_lists_are_allowed() {
    let values: String = (0..100_000).map(|n| format!("{n},")).collect();
    let code = format!(
        "x = 7\ny = [x, {values} x]\ndef f():\n  z = [x, {values} x]\n  return len(z) + x\nend\nprint(len(y), y[-2], x, f())"
    );
    let run = run(&code);
    assert_eq!((run.error, run.printed.trim_end()), (None, "100002 99999 7 100009"));
}
