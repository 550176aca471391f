//! Tests of nodes as values of CEL. The evaluator has its own tests, in its own crate.

use super::*;
use crate::validate::rules::tests::yaml;

fn says(source: &str, value: &str) -> Result<bool, String> {
    CelProgram::compile(source).unwrap_or_else(|problem| panic!("{source}: {problem}")).holds(&yaml(value))
}

#[test]
fn nodes_have_their_types() {
    for (source, value) in [
        ("self == null", "null"),
        ("self", "true"),
        ("type(self) == int && self + 1 == 5", "4"),
        ("type(self) == uint && self == 18446744073709551615u", "18446744073709551615"),
        ("type(self) == double && self < 2.0", "1.5"),
        ("self.size() == 4", "äbcd"),
        ("self.map(x, x * 2) == [2, 4]", "[1, 2]"),
        ("self.a.b == 'x' && has(self.a) && !has(self.c)", "{a: {b: x}}"),
        ("self['a-b'] == 1 && self[1] == 'one'", "{a-b: 1, 1: one}"),
    ] {
        assert_eq!(says(source, value), Ok(true), "{source} of {value}");
    }
}

#[test]
fn failed_evaluations_are_errors() {
    assert!(CelProgram::compile("self >").is_err());
    assert_eq!(says("self", "1"), Err("CEL expression is not a bool, but int".to_owned()));
    let nested = "self.all(a, self.all(b, self.all(c, self.all(d, a + b + c + d < 1000))))";
    let list = format!("[{}]", vec!["1"; 100].join(", "));
    assert_eq!(says(nested, &list), Err("CEL expression takes too many steps".to_owned()));
    assert!(says("self.nothing == 1", "{a: 1}").is_err());
}
