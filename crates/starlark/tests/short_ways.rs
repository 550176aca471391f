//! Fast paths of the machine give the same results as the general ones: methods called in place,
//! loops without tuples, integers in instructions.

mod common;

use common::run;

/// The output of a program, or its error without the position.
fn told(code: &str) -> String {
    let outcome = run(code);
    let error = outcome.error.unwrap_or_default();
    let message =
        error.lines().find(|line| line.trim_start().starts_with("reason:") || line.contains("error")).unwrap_or(&error);
    format!("{}{}", outcome.printed, message.trim())
}

/// Runs two bodies of a function and compares their output.
#[track_caller]
fn same(first: &str, body: &str, other: &str) {
    let program = |body: &str| format!("def run():\n{first}\n{body}\nend\nrun()\n");
    let (a, b) = (run(&program(body)), run(&program(other)));
    assert_eq!((a.printed, a.error.is_some()), (b.printed, b.error.is_some()), "{body}\n{other}");
}

const RECEIVERS: &[&str] = &[
    "'a-b-a'",
    "''",
    "'Straße'",
    "'a string that is longer than others, -b-'",
    "[1, 'a', 2]",
    "[]",
    "{'a': 1, 2: 'b'}",
    "{}",
    "set([1, 'a'])",
    "(1, 2)",
    "3",
];
const METHODS: &[&str] = &[
    "upper",
    "lower",
    "title",
    "strip",
    "split",
    "splitlines",
    "startswith",
    "endswith",
    "find",
    "rfind",
    "index",
    "count",
    "replace",
    "join",
    "format",
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "get",
    "items",
    "keys",
    "values",
    "setdefault",
    "update",
    "union",
    "nothing",
];
const ARGS: &[&str] =
    &["'a'", "'-'", "''", "0", "1", "70000", "1.5", "None", "True", "['a', 'b']", "{'a': 2}", "'{} {}'"];

#[test]
fn methods_in_place_give_the_same() {
    let long = |args: &str| format!("m = getattr(r, name)\nprint(m(*[{args}]), r)");
    let mut calls = 0;
    for receiver in RECEIVERS {
        for method in METHODS {
            let first = format!("r = {receiver}\nname = '{method}'\nx = 'a'\ny = 1");
            // A call on the variable is done in place, one on `getattr` is not.
            same(&first, &format!("print(r.{method}(), r)"), &long(""));
            for arg in ARGS.iter().chain(&["x"]) {
                same(&first, &format!("print(r.{method}({arg}), r)"), &long(arg));
                for second in ["y", "'b'", "0"] {
                    let args = format!("{arg}, {second}");
                    same(&first, &format!("print(r.{method}({args}), r)"), &long(&args));
                }
                calls += 4;
            }
        }
    }
    assert!(calls > 10_000);
}

#[test]
fn methods_on_literals_and_results_give_the_same() {
    assert_eq!(
        told("def f(i):\nreturn '{}-{}'.format(i, i % 3).upper().split('-')\nend\nprint(f(4))"),
        "[\"4\", \"1\"]\n"
    );
    assert_eq!(told("def f():\nl = []\nl.append(l.append(1))\nreturn l\nend\nprint(f())"), "[1, None]\n");
    assert_eq!(
        told("def f(l):\nfor i, x in enumerate(l):\nl.append(x)\nend\nreturn l\nend\nprint(f([1, 2]))"),
        "[1, 2, 1, 2]\n"
    );
}

#[test]
fn loops_over_pairs_give_the_same() {
    for (source, loop_over) in [
        ("l = [1, 'a', (2, 3)]", "enumerate(l)"),
        ("l = []", "enumerate(l)"),
        ("l = (1, 2)", "enumerate(l)"),
        ("l = range(3)", "enumerate(l)"),
        ("l = {'a': 1}", "enumerate(l)"),
        ("l = 3", "enumerate(l)"),
        ("l = [1, 2]", "enumerate(l or [3])"),
        ("l = {'a': 1, 2: [3]}", "l.items()"),
        ("l = {}", "l.items()"),
        ("l = [1]", "l.items()"),
        ("l = 'a'", "'b'.items()"),
    ] {
        let short = format!("for a, b in {loop_over}:\nprint(a, b)\nend");
        let long = format!("e = {loop_over}\nfor p in e:\na, b = p\nprint(a, b)\nend");
        same(source, &short, &long);
        let short = format!("print([(b, a) for a, b in {loop_over}])");
        let long = format!("e = {loop_over}\nprint([(p[1], p[0]) for p in e])");
        same(source, &short, &long);
    }
}

#[test]
fn arithmetic_with_literals_gives_the_same() {
    let values =
        ["0", "7", "-7", "70000", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "'ab'", "[1]", "None"];
    for op in ["+", "-", "*", "%", "//", "/", "&", "|", "^", "==", "<", ">="] {
        for x in values {
            for y in ["0", "3", "-3", "1000003", "65535", "9223372036854775807"] {
                same(
                    &format!("x = {x}"),
                    &format!("print(x {op} {y})"),
                    &format!("y = {y}\nz = [x, y]\nprint(z[0] {op} z[1])"),
                );
                let first = format!("x = {x}\ny = {y}");
                same(&first, &format!("print(x {op} y)"), &format!("print([x][0] {op} [y][0])"));
                same(&first, &format!("print({y} {op} x)"), &format!("print(y {op} [x][0])"));
            }
        }
    }
}

#[test]
fn calls_with_names_give_the_same() {
    let first = "def f(a, b=2, *, c=3):\nreturn (a, b, c)\nend\ndef g(c, a):\nreturn (c, a)\nend";
    for args in ["1, b=5", "a=1, b=5", "1, c=7", "b=5, a=1", "c=1, a=2", "1, 2, c=3"] {
        // The same call site calls one function and then another.
        let call =
            format!("for h in [f, f, g, f, g]:\nif h == f or '{args}' == 'c=1, a=2':\nprint(h({args}))\nend\nend");
        let other = format!(
            "for h in [f, f, g, f, g]:\nif h == f or '{args}' == 'c=1, a=2':\nprint(h(**dict({args})))\nend\nend"
        );
        match args.starts_with(|c: char| c.is_ascii_digit()) {
            true => assert!(run(&format!("def run():\n{first}\n{call}\nend\nrun()")).error.is_none()),
            false => same(first, &call, &other),
        }
    }
}

#[test]
fn methods_of_literals_give_the_same() {
    let values = ["7", "-120", "'ab'", "'a text of more than twenty-two bytes'", "None", "[1]", "1.5"];
    for format in ["", "{}", "x-{}", "{}-{}", "{}{}{}", "{{}}", "{0}", "{", "}", "{!r}", "é{}", "{}{}", "a{}b{}c"] {
        for x in values {
            for y in values {
                let first = format!("x = {x}\ny = {y}\nf = '{format}'");
                for args in ["", "x", "x, y", "x, y, x", "[x][0], [y][0]"] {
                    let long = format!("m = getattr(f, 'format')\nprint(m(*[{args}]))");
                    same(&first, &format!("print('{format}'.format({args}))"), &long);
                    same(&first, &format!("print(f.format({args}))"), &long);
                }
            }
        }
    }
    for (short, long) in [
        ("len(x)", "[f(x) for f in [len]][0]"),
        ("str(x)", "[f(x) for f in [str]][0]"),
        ("'-'.join([str(x)])", "getattr('-', 'join')([[f(x) for f in [str]][0]])"),
        ("'ab'.nothing(x)", "getattr('ab', 'nothing')(x)"),
    ] {
        for x in values.iter().chain(&["{}", "(1, 2)", "len", "9223372036854775807", "99999999999999999999"]) {
            same(&format!("x = {x}"), &format!("print({short})"), &format!("print({long})"));
        }
    }
}

#[test]
fn appending_gives_the_same() {
    for list in ["[]", "[1]", "{}", "'a'", "3"] {
        let first = format!("l = {list}\nx = 'x'");
        for item in ["x", "1", "x + 'y'", "[x]", "l", "len(x)", "[][0]"] {
            same(
                &first,
                &format!("l.append({item})\nprint(len(l))"),
                &format!("getattr(l, 'append')({item})\nprint(len(l))"),
            );
            let during =
                |call: &str| format!("for y in [1, 2]:\n{call}({item})\nend\nfor y in l:\n{call}({item})\nend");
            same(&first, &during("l.append"), &during("getattr(l, 'append')"));
        }
    }
    let frozen = "l = []\ndef f(x):\nl.append(x)\nend\ndef g(x):\nl.append(x + 1)\nend\n";
    assert!(told(&format!("{frozen}f(1)\ng(1)\nprint(l)")).starts_with("[1, 2]"));
}

#[test]
fn remainders_in_conditions_give_the_same() {
    for x in ["0", "7", "-7", "9223372036854775807", "99999999999999999999", "1.5", "'%d'", "None"] {
        for (divisor, other) in [("3", "0"), ("3", "1"), ("1", "0"), ("-3", "-1"), ("0", "0"), ("7", "'7'")] {
            for op in ["==", "!=", "<", ">="] {
                same(
                    &format!("x = {x}"),
                    &format!("if x % {divisor} {op} {other}:\nprint(1)\nelse:\nprint(2)\nend"),
                    &format!("d = {divisor}\nr = x % d\nprint(1 if r {op} {other} else 2)"),
                );
                let either = format!("(x % {divisor} if x == 7 else 5 % {divisor})");
                same(
                    &format!("x = {x}"),
                    &format!("if {either} {op} {other}:\nprint(1)\nelse:\nprint(2)\nend"),
                    &format!("r = {either}\nprint(1 if r {op} {other} else 2)"),
                );
            }
        }
    }
}

/// Keys that are found, missing, removed and added again: a dict finds the last key without a
/// search.
#[test]
fn dicts_give_the_same_as_lists() {
    let program = "def run():\nd = {}\nl = []\ns = 1\nfor i in range(3000):\ns = (s * 48271) % 2147483647\n\
        k = 'k' + str(s % 37) if s % 5 else 'a key of more than twenty-two bytes ' + str(s % 11)\n\
        if s % 7 == 0:\nd.pop(k, None)\nl = [p for p in l if p[0] != k]\n\
        else:\nd[k] = d.get(k, 0) + i\nold = [p for p in l if p[0] == k]\n\
        if old:\nl = [(p[0], p[1] + i) if p[0] == k else p for p in l]\nelse:\nl = l + [(k, i)]\nend\nend\n\
        if d.items() != l:\nfail('differs at', i)\nend\nend\nprint(len(l) == len(d))\nend\nrun()";
    assert_eq!(told(program), "True\n");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, cases: 300, ..Default::default() })]

    #[test]
    fn methods_of_any_strings_give_the_same(
        texts in proptest::collection::vec("[abAZ@`{\\[é]{0,9}|[a-c]{0,40}", 3),
        method in proptest::sample::select(vec!["upper", "lower", "startswith", "endswith", "replace", "get", "format"]),
    ) {
        let args = match method {
            "upper" | "lower" => "",
            "startswith" | "endswith" => "y",
            _ => "y, z",
        };
        let text = |at: usize| format!("'{}'", texts[at]);
        let receiver = if method == "get" { format!("{{{}: 1, 'b': z}}", text(0)) } else { text(0) };
        let first = format!("y = {}\nz = {}\nx = {receiver}", text(1), text(2));
        same(&first, &format!("print(x.{method}({args}))"), &format!("print(getattr(x, '{method}')(*[{args}]))"));
    }
}

#[test]
fn strings_of_any_length_give_the_same() {
    for len in [0, 1, 2, 3, 4, 7, 8, 9, 13, 14, 15, 16, 17, 21, 22, 23, 40] {
        for text in ["aB-1z", "ab", "éa"] {
            let text: String = text.chars().cycle().take(len).collect();
            let first = format!("r = '{text}'\nl = []\nd = {{r: r}}\nn = {len}");
            let calls = |name: &str, args: &str| {
                same(
                    &first,
                    &format!("for i in range(2):\nx = r.{name}({args})\nl.append(x)\nend\nprint(l, {{x: 1}})"),
                    &format!(
                        "for i in range(2):\nx = getattr(r, '{name}')(*[{args}])\nl += [x]\nend\nprint(l, {{x: 1}})"
                    ),
                );
            };
            calls("upper", "");
            calls("lower", "");
            for part in ["''", "'a'", "'B-'", "r", "r[1:]", "r[:-1]", "'ab' + r"] {
                calls("startswith", part);
                calls("endswith", part);
                for new in ["''", "'x'", "'longer'"] {
                    calls("replace", &format!("{part}, {new}"));
                }
            }
            for format in ["'{}'", "'{}-{}'", "'-{}{}-'", "'{}, {}, {}'"] {
                same(
                    &first,
                    &format!(
                        "for i in [0, 9, 10, 99, 100, 12345678, 123456789, -1]:\nprint({format}.format(r, i, n))\nend"
                    ),
                    &format!(
                        "for i in [0, 9, 10, 99, 100, 12345678, 123456789, -1]:\nprint(getattr({format}, 'format')(r, i, n))\nend"
                    ),
                );
            }
            same(
                &first,
                "x = r + 'a'\ny = x\nprint(x, y, y == x, d.get(r, 0))",
                "x = ''.join([r, 'a'])\ny = x + ''\nprint(x, y, True, d[r])",
            );
        }
    }
}

#[test]
fn integers_are_stored_in_dicts_as_other_values() {
    for (first, key) in [
        ("d = {'a': [1]}", "'a'"),
        ("d = {'a': 'text'}", "'a'"),
        ("d = {'a': 2}", "'a'"),
        ("d = {}", "'a'"),
        ("d = {1: 2}", "1"),
        ("d = {'a key that is longer than others': 2}", "'a key that is longer than others'"),
        ("d = {}", "[]"),
        ("d = {'a': 1}\nfor k in d:\nd[k] = 1\nend", "'a'"),
    ] {
        same(first, &format!("i = 5\nd[{key}] = i + 1\nprint(d)"), &format!("d.update([({key}, 6)])\nprint(d)"));
    }
}
