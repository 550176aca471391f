//! The standard library of CEL, with one value of any type: the rule `cel=`.

use ytterby_cel::{Env, EvalError, Library, Type, Val};
use ytterby_diag::FileId;
use ytterby_yaml::{NodeId, ReadOptions, Scalar, Tree, View, parse};

struct Program(ytterby_cel::Program);

impl Program {
    fn compile(source: &str) -> Result<Program, String> {
        let env = Env { variables: vec![("self".to_owned(), Type::Dyn)], library: Library::Standard };
        ytterby_cel::Program::compile(source, &env).map(Program).map_err(|error| error.message)
    }
}

fn value(tree: &Tree, id: NodeId) -> Val {
    match tree.value(id) {
        View::Scalar(scalar) => of_scalar(scalar),
        View::Array(items) => Val::list(items.iter().map(|item| value(tree, item.value)).collect()),
        View::Map(items) => {
            Val::map(items.iter().map(|item| (of_scalar(&item.key), value(tree, item.value))).collect())
        }
    }
}

fn of_scalar(scalar: &Scalar) -> Val {
    match scalar {
        Scalar::Null => Val::Null,
        Scalar::Bool(value) => Val::Bool(*value),
        Scalar::Int(value) => Val::Int(*value),
        Scalar::UInt(value) => Val::Uint(*value),
        Scalar::Float(value) => Val::Double(*value),
        Scalar::Str(text) => Val::from(&*text.to_str()),
        Scalar::Complex(_) => panic!("only keys are collections"),
    }
}

fn says(source: &str, text: &str) -> Result<bool, String> {
    let program = Program::compile(source).unwrap_or_else(|problem| panic!("{source}: {problem}"));
    let tree = parse(text.as_bytes(), FileId(0), &ReadOptions::default()).unwrap();
    match program.0.evaluate(&[value(&tree, tree.documents()[0].value)], 10_000_000) {
        Ok((Val::Bool(answer), _)) => Ok(answer),
        Ok((other, _)) => Err(format!("CEL expression is not a bool, but {}", other.type_name())),
        Err(EvalError::Cost) => Err("CEL expression takes too many steps".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn expressions_are_evaluated() {
    for (source, value) in [
        ("self > 3", "4"),
        ("self >= 3 && self <= 5 || self == 10", "10"),
        ("self == 1.0", "1"),
        ("self + 1 == 5", "4"),
        ("self % 2 != 0", "3"),
        ("-self == -3", "3"),
        ("-9223372036854775808 < self", "0"),
        ("2 + 3 * 4 - 1 == 13 && (2 + 3) * 4 == 20 && 7 / 2 == 3", "0"),
        ("self.startsWith('ab') && self.endsWith(\"cd\") && self.contains('bc')", "abcd"),
        ("self.matches('^[a-z]+$') && matches(self, '(?i)ABCD')", "abcd"),
        ("self.size() == 4 && size(self) == 4", "äbcd"),
        ("self.a.b == 'x' && has(self.a) && !has(self.c)", "{a: {b: x}}"),
        ("self['a-b'] == 1 && self.`a-b` == 1 && self.a__dash__b == 1", "{a-b: 1}"),
        ("[has(self.a) && self.a != null, has(self.b) && self.b != null].exists_one(x, x)", "{a: 1, b: null}"),
        ("self.all(x, x > 0) && self.exists(x, x == 2) && self.exists_one(x, x == 3)", "[1, 2, 3]"),
        (
            "self.filter(x, x > 1) == [2, 3] && self.map(x, x * 2) == [2, 4, 6] && self.map(x, x > 1, x) == [2, 3]",
            "[1, 2, 3]",
        ),
        ("self.all(x, self.exists_one(y, x == y))", "[1, a, {b: [1]}]"),
        ("self.all(k, self[k] > 0)", "{a: 1, b: 2}"),
        ("'a' in self && !('c' in self)", "{a: 1}"),
        ("2 in self && 2.0 in self && !('2' in self)", "[1, 2]"),
        ("self == {'a': [1, {'b': null}]}", "{a: [1, {b: null}]}"),
        ("self ? 1 < 2 : 1 > 2", "true"),
        ("true || self.nothing", "{a: 1}"),
        ("self.nothing || true", "{a: 1}"),
        ("!(self.nothing && false)", "{a: 1}"),
        ("int('12') == 12 && double(1) == 1.0 && string(1.5) == '1.5' && uint(3) == 3u && bool('true')", "0"),
        ("type(self) == string && type([]) == list && type(null) == null_type", "a"),
        ("b'abc' == bytes('abc') && size(b'\\xff\\000') == 2", "0"),
        ("'\\u00e4\\x41\\t' == \"äA\\t\" && r'\\d' == '\\\\d'", "0"),
        ("'''a\nb''' == 'a\\nb' // comment", "0"),
        ("0x10 == 16 && 1e3 == 1000.0 && .5 < 1.0", "0"),
        ("self.lo < self.hi && size(self.name) > 0", "{lo: 1, hi: 2, name: x}"),
        ("self + [3] == [1, 2, 3] && 'a' + 'b' == 'ab'", "[1, 2]"),
        ("self < 'b' && false < true", "a"),
    ] {
        assert_eq!(says(source, value), Ok(true), "{source} on {value}");
    }
    assert_eq!(says("self > 3", "2"), Ok(false));
}

#[test]
fn errors_are_explained() {
    for (source, value, problem) in [
        ("self.x == 1", "{a: 1}", "no such key: x"),
        ("self.x == 1", "a", "no such field: x of string"),
        ("self[5] == 1", "[1]", "index out of bounds: 5"),
        ("self[-(1)] == 1", "[1]", "index out of bounds"),
        ("self[self[0]] == 1", "[7]", "index out of bounds"),
        ("self['b'] == 1", "{a: 1}", "no such key: b"),
        ("self[self.a] == 1", "{a: b}", "no such key"),
        ("'x'.matches(self)", "'['", "not a valid regular expression"),
        ("self + 'a' == 'b'", "1", "no such overload: + of int and string"),
        ("self < 'a'", "1", "no such overload: < of int and string"),
        ("9223372036854775807 + self > 0", "1", "integer overflow"),
        ("1 / self == 1", "0", "division by zero"),
        ("1 % self == 1", "0", "modulus by zero"),
        ("self", "1", "CEL expression is not a bool, but int"),
        ("self.all(x, x > 0)", "3", "cannot go through a int"),
        ("self.all(x, x > 0)", "[a, 1]", "no such overload: > of string and int"),
        ("int(self) == 1", "x", "not an int"),
    ] {
        assert_eq!(says(source, value), Err(problem.to_owned()), "{source} on {value}");
    }
}

#[test]
fn functions_of_kubernetes_are_unknown() {
    for source in [
        "",
        "self >",
        "self = 1",
        "foo",
        "foo(self)",
        "self.foo()",
        "size()",
        "self.all(x)",
        "self.map(x, 1, 2, 3)",
        "has(self)",
        "\"a",
        "'\\q'",
        "1 2",
        "self ? 1",
        "self.matches('[')",
        "99999999999999999999",
        "if",
        "self.lowerAscii()",
        "timestamp('2020-01-01T00:00:00Z')",
        "self.all(1, true)",
        "x",
        "(self",
        "[1,,2]",
        "0x",
        "1e",
        "@",
        "self..a",
    ] {
        assert!(Program::compile(source).is_err(), "{source}");
    }
}

#[test]
fn deep_long_and_slow_expressions_end() {
    assert!(Program::compile(&"(".repeat(10_000)).is_err());
    assert!(Program::compile(&"!".repeat(10_000)).is_err());
    assert!(Program::compile(&format!("self{}", ".a".repeat(10_000))).is_err());
    assert!(Program::compile(&"self?".repeat(5_000)).is_err());
    assert!(Program::compile(&" ".repeat(100_000)).is_err());
    let sum = format!("self{} > 0", " + 1".repeat(10_000));
    assert_eq!(says(&sum, "1"), Ok(true));
    let list = format!("[{}]", "1, ".repeat(1000));
    let texts = format!("[{}]", format!("{}, ", "a".repeat(1000)).repeat(1000));
    for (slow, value) in [
        ("self.all(a, self.all(b, self.all(c, self.all(d, a == b))))", &list),
        // Each of these takes few steps, but slow ones.
        ("self.all(a, self.all(b, self == self))", &list),
        ("self.all(a, self.all(b, !(2 in self)))", &list),
        ("self.all(a, self.all(b, a.contains(b) && b.endsWith(a)))", &texts),
        ("self.all(a, self.all(b, a.matches(b)))", &texts),
    ] {
        assert_eq!(says(slow, value), Err("CEL expression takes too many steps".to_owned()), "{slow}");
    }
}
