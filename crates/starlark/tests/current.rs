//! Additions to the language since ytt's version, and their absence in ytt's dialect.

use std::rc::Rc;

use ytterby_diag::{FileId, Pos};
use ytterby_starlark::{Dialect, Eval, Exports, NoOps, ProgramPiece, compile_in};

/// The value of `x` after the code, or the first error.
fn run(dialect: Dialect, code: &str) -> String {
    let piece = ProgramPiece::Code { text: code.as_bytes(), at: Pos::new(FileId(0), 0) };
    let program = match compile_in(dialect, &[piece], &[]) {
        Ok(program) => program,
        Err(errors) => return format!("error: {}", errors[0].message),
    };
    let mut eval = Eval::new();
    eval.set_dialect(dialect);
    match program.run(&mut eval, Rc::new(NoOps), &Exports::default()) {
        Ok(globals) => globals.get(b"x").map(|value| value.repr().to_string()).unwrap_or_default(),
        Err(error) => format!("error: {error}"),
    }
}

/// Checks an expression in both dialects: its value, and ytt's error.
#[track_caller]
fn check(expression: &str, now: &str, ytt: &str) {
    let code = format!("x = {expression}");
    assert_eq!(run(Dialect::Current, &code), now, "{expression}");
    assert_eq!(run(Dialect::Ytt, &code), format!("error: {ytt}"), "{expression}");
}

#[test]
fn dicts_have_a_union_operator() {
    let problem = "unknown binary op: dict | dict";
    check(r#"{"a": 1, "b": 2} | {"b": 9, "c": 3}"#, r#"{"a": 1, "b": 9, "c": 3}"#, problem);
    let code = "x = {1: 2}\ny = x\ny |= {1: 3, 2: 4}";
    assert_eq!(run(Dialect::Current, code), "{1: 3, 2: 4}");
    assert_eq!(run(Dialect::Ytt, code), format!("error: {problem}"));
    let local =
        "def f(d):\n  d |= {2: 1}\n  d[3] = {}\n  d[3] |= {4: 5}\n  n = 1\n  n |= 6\n  return d, n\nend\nx = f({})";
    assert_eq!(run(Dialect::Current, local), "({2: 1, 3: {4: 5}}, 7)");
    let iterated = "x = {1: 2}\nfor k in x:\n  x |= {2: 3}\nend";
    assert_eq!(run(Dialect::Current, iterated), "error: cannot apply |= to hash table during iteration");
    assert!(run(Dialect::Current, "x = {}\nx |= 1").starts_with("error: unknown binary op: dict | int"));
}

#[test]
fn strings_have_removeprefix_and_removesuffix() {
    let missing = |name: &str| format!("string has no .{name} field or method");
    check(r#""aab".removeprefix("a")"#, r#""ab""#, &missing("removeprefix"));
    check(r#""aab".removesuffix("ab")"#, r#""a""#, &missing("removesuffix"));
    check(r#""aab".removesuffix("")"#, r#""aab""#, &missing("removesuffix"));
    assert_eq!(
        run(Dialect::Current, r#"x = "a".removeprefix(1)"#),
        "error: removeprefix: for parameter 1: got int, want string"
    );
}

#[test]
fn sets_have_methods_and_an_order() {
    let sub = "unknown binary op: set - set";
    check("set([3, 1, 2]) - set([2])", "set([3, 1])", sub);
    for (expression, value) in [
        ("set([1]) < set([1, 2])", "True"),
        ("set([1]) <= set([1])", "True"),
        ("set([1]) < set([1])", "False"),
        ("set([1, 2]) > set([2])", "True"),
        ("set([1]) >= set([2])", "False"),
        ("set([3, 1, 2]).difference([1], (2,))", "set([3])"),
        ("set([3, 1, 2]).intersection([2, 3], [3])", "set([3])"),
        ("set([1, 2]).symmetric_difference([2, 3])", "set([1, 3])"),
        ("set([1]).issubset([1, 2])", "True"),
        ("set([1, 2]).issuperset([3])", "False"),
        ("set([1]).union([2], [3])", "set([1, 2, 3])"),
        ("set([2, 1]).pop()", "2"),
        ("set().pop()", "error: pop: empty set"),
        ("set([1]).remove(2)", "error: remove: missing key"),
        ("set([1]).discard(2)", "None"),
        ("set([1]).add([])", "error: add: unhashable type: list"),
        ("hasattr(set(), \"add\")", "True"),
    ] {
        assert_eq!(run(Dialect::Current, &format!("x = {expression}")), value, "{expression}");
    }
    let changed = "x = set([1])\nx.add(2)\nx.update([3], [4])\nx.remove(1)\nx.discard(4)";
    assert_eq!(run(Dialect::Current, changed), "set([2, 3])");
    assert_eq!(run(Dialect::Ytt, "x = hasattr(set(), \"add\")"), "False");
    assert_eq!(run(Dialect::Ytt, "x = dir(set())"), r#"["union"]"#);
}

#[test]
fn bytes_are_a_type() {
    check("bytes(\"a\")", "b\"a\"", "undefined: bytes");
    check("b\"a\"", "b\"a\"", "got string literal, want newline");
    for (expression, value) in [
        ("b\"a\\xff\\n\\\"\"", "b\"a\\xff\\n\\\"\""),
        ("rb\"\\d\"", "b\"\\\\d\""),
        ("b\"\\u00e9\" == bytes(\"é\")", "True"),
        ("b\"\\q\"", "error: invalid escape sequence \\q"),
        ("bytes([97, 98])", "b\"ab\""),
        ("bytes([256])", "error: bytes: at index 0, 256 out of range (want value in unsigned 8-bit range)"),
        ("len(b\"abc\"), b\"abc\"[1], b\"abc\"[::-1]", "(3, b\"b\", b\"cba\")"),
        ("b\"b\" in b\"abc\", 99 in b\"abc\", b\"a\" < b\"b\", b\"a\" == \"a\"", "(True, True, True, False)"),
        ("ord(b\"a\"), hash(b\"abc\"), str(b\"abc\"), type(b\"\")", "(97, 440920331, \"abc\", \"bytes\")"),
        ("b\"ab\".elems(), b\"ab\" * 2", "([97, 98], b\"abab\")"),
        ("{b\"k\": 1}[b\"k\"]", "1"),
        ("[c for c in b\"ab\"]", "error: bytes value is not iterable"),
        ("b\"a\" + \"b\"", "error: unknown binary op: bytes + string"),
    ] {
        assert_eq!(run(Dialect::Current, &format!("x = {expression}")), value, "{expression}");
    }
}

#[test]
fn numbers_have_abs_and_more_forms() {
    check("abs(-3)", "3", "undefined: abs");
    check("int(\"0b0\", 16)", "176", "int: invalid literal with base 16: 0b0");
    check("float(\"+nan\")", "NaN", "float: strconv.ParseFloat: parsing \"+nan\": invalid syntax");
    assert_eq!(run(Dialect::Current, "x = abs(-9223372036854775808), abs(-1.5)"), "(9223372036854775808, 1.5)");
    assert_eq!(run(Dialect::Current, "x = abs(\"\")"), "error: abs: got string, want int or float");
}

#[test]
fn incompatible_changes_are_not_adopted() {
    for dialect in [Dialect::Ytt, Dialect::Current] {
        for (expression, value) in
            [("str(1.0)", "\"1\""), ("\"\\d\"", "\"\\\\d\""), ("-7.5 % 3", "-1.5"), ("len(\"\\u00e9\")", "6")]
        {
            assert_eq!(run(dialect, &format!("x = {expression}")), value, "{expression}");
        }
        assert_eq!(run(dialect, "def abs(v): return 7\nx = abs(1)"), "7");
    }
}
