//! The meaning of programs, beyond the recorded snippets.

mod common;

use common::{check, run};

#[test]
fn white_space_at_the_beginning_of_lines_is_dropped() {
    check("x = '''a\n   b\n\tc'''\nprint(x)", "a\nb\nc\n");
    check("x = 'a\\\n   b'\nprint(x)", "a   b\n");
    check("   print(1)\n print(2)", "1\n2\n");
}

#[test]
fn blocks_need_no_indentation() {
    check("if False:\nprint(1)\nelif False:\nprint(2)\nelse:\nprint(3)\nend\nprint(4)", "3\n4\n");
    check("def f(x): return x + 1\nprint(f(1))", "2\n");
    check("x = 1 if False else 2\nprint(x)", "2\n");
    check("for i in range(2): print(i)", "0\n1\n");
}

#[test]
fn a_variable_keeps_its_value_while_a_new_one_is_computed() {
    check("def f(x):\n  x = 0 or x\n  return x\nend\nprint(f(5))", "5\n");
    check("def f(x):\n  x = {1: x, 2: x}\n  return x\nend\nprint(f(5))", "{1: 5, 2: 5}\n");
    check("def f(x):\n  x = [x for y in [1, 2]]\n  return x\nend\nprint(f(5))", "[5, 5]\n");
    check("def f(x):\n  x = x[0] if x else x\n  return x\nend\nprint(f([5]), f([]))", "5 []\n");
    check("def f(a, b):\n  a, b = b, a\n  return a, b\nend\nprint(f(1, 2))", "(2, 1)\n");
    check("def f(x):\n  x = x + x\n  x += x\n  return x\nend\nprint(f('a'), f([1]))", "aaaa [1, 1, 1, 1]\n");
    check("def f(x):\n  y = x\n  x += 'b'\n  x = x + 'c'\n  return x, y\nend\nprint(f('a'))", "(\"abc\", \"a\")\n");
    check("x = 'a'\ny = x\nx += 'b'\nprint(x, y)", "ab a\n");
}

#[test]
fn lists_are_extended_in_place_by_augmented_assignment_only() {
    check("a = [1]\nb = a\na += [2]\nprint(b)\na = a + [3]\nprint(b, a)", "[1, 2]\n[1, 2] [1, 2, 3]\n");
    check("def f(a):\n  a += (2,)\n  a = a + [3]\nend\na = [1]\nf(a)\nprint(a)", "[1, 2]\n");
}

#[test]
fn closures_share_variables() {
    check(
        "def counter():\n  n = [0]\n  def next():\n    n[0] += 1\n    return n[0]\n  end\n  return next\nend\n\
         c = counter()\nc()\nprint(c(), counter()())",
        "2 1\n",
    );
    check("def f():\n  g = lambda: x\n  x = 1\n  y = g()\n  x = 2\n  return y, g()\nend\nprint(f())", "(1, 2)\n");
    check("fs = [lambda: i for i in range(3)]\nprint([f() for f in fs])", "[2, 2, 2]\n");
    check(
        "def f(a):\n  def g(b):\n    return lambda c: (a, b, c)\n  end\n  return g\nend\nprint(f(1)(2)(3))",
        "(1, 2, 3)\n",
    );
}

#[test]
fn all_kinds_of_parameters_are_bound() {
    let f = "def f(a, b=2, *args, c, d=4, **kw):\n  return a, b, args, c, d, kw\nend\n";
    check(&format!("{f}print(f(1, c=3))"), "(1, 2, (), 3, 4, {})\n");
    check(&format!("{f}print(f(1, 5, 6, 7, d=8, c=9, z=10))"), "(1, 5, (6, 7), 9, 8, {\"z\": 10})\n");
    check(&format!("{f}print(f(*[1, 2, 3], **{{'c': 4, 'x': 5}}))"), "(1, 2, (3,), 4, 4, {\"x\": 5})\n");
    check(
        &format!("{f}f(1)"),
        "- function f missing 1 argument (c)\n    in f\n      2 |   return a, b, args, c, d, kw\n    \
         in <toplevel>\n      4 | f(1)\n",
    );
    check("def f(a=[]):\n  a.append(1)\n  return a\nend\nf()\nprint(f())", "[1, 1]\n");
}

#[test]
fn evaluation_stops_at_the_first_error_in_order() {
    check(
        "def say(x):\n  print(x)\n  return x\nend\n'x'.nope(say(1))",
        "- string has no .nope field or method\n    in <toplevel>\n      5 | 'x'.nope(say(1))\n",
    );
    check(
        "def say(x):\n  print(x)\n  return x\nend\n'x'.upper(say(1))",
        "1\n- upper: got 1 arguments, want 0\n    in <toplevel>\n      5 | 'x'.upper(say(1))\n",
    );
}

#[test]
fn a_function_without_places_shows_its_definition() {
    check(
        "def f():\n  return 1\nend\nf(2)",
        "- function f accepts no arguments (1 given)\n    in f\n      1 | def f():\n    in <toplevel>\n      4 | f(2)\n",
    );
}

#[test]
fn leaving_a_loop_ends_the_iteration() {
    check(
        "def f(l):\n  for x in l:\n    return x\n  end\nend\nl = [1]\nf(l)\nl.append(2)\n\
         for x in l:\n  break\nend\nl.append(3)\nprint(l)",
        "[1, 2, 3]\n",
    );
    check(
        "def f(l):\n  for x in l:\n    for y in l:\n      if y == 2:\n        continue\n      end\n      if x == 2:\n\
                break\n      end\n      print(x, y)\n    end\n  end\nend\nf([1, 2, 3])",
        "1 1\n1 3\n3 1\n3 3\n",
    );
}

#[test]
fn modules_are_frozen_after_they_ran() {
    // The body itself may change its own values.
    check("l = [1]\nl.append(2)\nd = {'l': l}\nd['x'] = 1\nprint(l, d)", "[1, 2] {\"l\": [1, 2], \"x\": 1}\n");
}

#[test]
fn all_resolve_errors_are_reported() {
    check(
        "def f():\n  return nope1\nend\nprint(nope2)\nbreak\nlambda x, x: 1",
        "- undefined: nope2\n    4 | print(nope2)\n- break not in a loop\n    5 | break\n\
         - duplicate parameter: x\n    6 | lambda x, x: 1\n- undefined: nope1\n    2 |   return nope1\n",
    );
}

#[test]
fn sorting_is_stable_and_uses_keys() {
    check("print(sorted(['b', 'a', 'C'], key=lambda s: s.lower(), reverse=True))", "[\"C\", \"b\", \"a\"]\n");
    check("print(sorted([3.5, 1, 2], reverse=True))", "[3.5, 2, 1]\n");
    check("print(sorted([(i % 7, -i) for i in range(100)])[:3])", "[(0, -98), (0, -91), (0, -84)]\n");
    check(
        "print([x[1] for x in sorted([(1.0 * (i % 3), i) for i in range(30)], key=lambda p: p[0])][:4])",
        "[0, 3, 6, 9]\n",
    );
    check("n = float('nan')\nprint(len(sorted([n, 1.0, n, 0.5] * 30)))", "120\n");
    check("sorted([1, 'a'])", "- string < int not implemented\n    in <toplevel>\n      1 | sorted([1, 'a'])\n");
}

#[test]
fn a_long_program_may_have_very_many_calls_with_names() {
    let calls = "x = f(x, by=1)\n".repeat(70_000);
    check(&format!("def f(x, by): return x + by\nx = 0\n{calls}print(x)"), "70000\n");
}

#[test]
fn loops_over_pairs_see_what_the_dict_had() {
    check(
        "d = {'a': 1, 'b': 2}\nfor k, v in d.items():\n  d[k + k] = v\n  d.pop(k)\nend\nprint(d)",
        "{\"aa\": 1, \"bb\": 2}\n",
    );
    check(
        "d = {'a': [1, 2], 'b': [3, 4]}\nkept = []\nfor k, (x, y) in d.items():\n  kept.append((k, x, y))\nend\nprint(kept)",
        "[(\"a\", 1, 2), (\"b\", 3, 4)]\n",
    );
    check("d = {1: 2, 3: 4}\nprint([(v, k) for k, v in d.items()])", "[(2, 1), (4, 3)]\n");
    check("d = {1: {2: 3}}\nprint([(a, b, c) for a, x in d.items() for b, c in x.items()])", "[(1, 2, 3)]\n");
    check("d = {1: 2}\nfor [k, v] in (d or {}).items():\n  k, v = v, k\n  print(k, v)\nend", "2 1\n");
    check("d = {}\nfor k, v in d.items():\n  print(k)\nend\nprint(len(d))", "0\n");
    check("x = [3]\nd = {1: x}\nfor k, v in d.items():\n  v.append(4)\nend\nprint(x, d)", "[3, 4] {1: [3, 4]}\n");
    let error = run("for k, v in [1].items():\n  None\nend").error.unwrap();
    assert!(error.starts_with("- list has no .items field or method"), "{error}");
    let error = run("for k, v in {1: 2}.items(3):\n  None\nend").error.unwrap();
    assert!(error.starts_with("- items: got 1 arguments, want 0"), "{error}");
}

#[test]
fn loops_over_pairs_of_locals_see_what_the_dict_had() {
    let loops = |head: &str, call: &str| {
        format!(
            "def f(x, y, c):\n  out = []\n  for a, b in {head}:\n    out.append((b, a))\n    x['new'] = 5\n    x.pop('new')\n  end\n  return out\nend\nprint({call})"
        )
    };
    let call = "f({'p': 1}, [('q', 2)], True), f({'p': 1}, [], False)";
    check(&loops("x.items()", call), "[(1, \"p\")] [(1, \"p\")]\n");
    check(&loops("(x.items())", call), "[(1, \"p\")] [(1, \"p\")]\n");
    check(&loops("(x or y).items()", call), "[(1, \"p\")] [(1, \"p\")]\n");
    check(&loops("(y if c else x.items())", call), "[(2, \"q\")] [(1, \"p\")]\n");
    check(&loops("(x.items() if c else y)", call), "[(1, \"p\")] []\n");
    check(&loops("(y or x.items())", call), "[(2, \"q\")] [(1, \"p\")]\n");
    check(&loops("(c and x.items() or y)", call), "[(1, \"p\")] []\n");
    check(&loops("[p for p in (y or x.items())]", call), "[(2, \"q\")] [(1, \"p\")]\n");
    check(
        "def f(x, y): return [a + b for a, b in (y or x.items())]\nprint(f({1: 2}, []), f({}, [(3, 4)]))",
        "[3] [7]\n",
    );
}

#[test]
fn only_unshared_pairs_are_moved() {
    check("t = (1, 2)\na, b = t\nprint(t, a, b)", "(1, 2) 1 2\n");
    check("l = [(1, 2), (3, 4)]\nfor a, b in l:\n  None\nend\nprint(l, a, b)", "[(1, 2), (3, 4)] 3 4\n");
    check("def f(x): return (x, [x])\na, b = f(1)\nc, d = f(2)\nprint(a, b, c, d)", "1 [1] 2 [2]\n");
    check("a, b = zip([1], [2])[0]\nprint(a, b)", "1 2\n");
}

#[test]
fn arithmetic_with_floats() {
    check("print(1 / 2, 3.0 + 1, 1 - 0.5, 2.0 * 3, 7.0 / 2, 7.5 // 2, 7.5 % 2)", "0.5 4 0.5 6 3.5 3 1.5\n");
    check("x = 0.5\nx += 1\nx += 0.25\ny = 1\ny += 0.5\nprint(x, y)", "1.75 1.5\n");
    for (code, message) in
        [("1 / 0", "real"), ("1.0 / 0", "real"), ("1 / 0.0", "real"), ("1.0 // 0.0", "floored"), ("1.0 / 0.0", "real")]
    {
        let error = run(&format!("x = {code}")).error.unwrap();
        assert!(error.starts_with(&format!("- {message} division by zero")), "{code}: {error}");
    }
}
