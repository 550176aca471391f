//! Examples for every rule.

use ytterby_diag::FileId;

use super::*;
use crate::node::documents_from_tree;

/// A YAML text as a node.
pub(crate) fn yaml(text: &str) -> Node {
    let tree = ytterby_yaml::parse(text.as_bytes(), FileId(0), &Default::default())
        .unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
    documents_from_tree(&tree).items.into_iter().next().map_or(Node::NULL, |doc| doc.value)
}

/// The rule with this argument.
pub(super) fn rule(name: &str, value: Value) -> Rc<dyn NamedRule> {
    let (_, entry) = find(name, Level::Ytterby).unwrap_or_else(|| panic!("no rule {name}"));
    match (entry.make)(&value, Subject::Keyword(name)) {
        Ok(Some(rule)) => rule,
        Ok(None) => panic!("{name} made no rule"),
        Err(bad) => panic!("{}", bad.text),
    }
}

pub(super) fn strings(items: &[&str]) -> Value {
    Value::list(items.iter().map(|item| Value::from(*item)).collect())
}

/// A rule of each kind, with a valid and an invalid value, its text and what it finds.
fn examples() -> Vec<(&'static str, Value, &'static str, &'static str, &'static str, &'static str)> {
    vec![
        ("min", Value::Int(3), "3", "2", "a value >= 3", "value < 3"),
        ("min", 2.0.into(), "2", "1.5", "a value >= 2", "value < 2"),
        ("max", "b".into(), "abc", "c", "a value <= \"b\"", "value > b"),
        ("max", Value::Int(3), "2.5", "a", "a value <= 3", "string <= int not implemented"),
        ("above", Value::Int(3), "3.5", "3", "a value > 3", "value <= 3"),
        ("below", Value::Int(3), "2", "3", "a value < 3", "value >= 3"),
        ("min_len", Value::Int(2), "ab", "a", "length >= 2", "length = 1"),
        ("max_len", 2.9.into(), "[1, 2]", "{a: 1, b: 2, c: 3}", "length <= 2", "length = 3"),
        ("max_len", Value::Int(2), "é", "7", "length <= 2", "len: value of type int has no len"),
        ("len", Value::Int(2), "é", "e", "length = 2", "length = 1"),
        ("not_null", true.into(), "1", "null", "not null", "value is null"),
        ("one_of", strings(&["a", "b"]), "a", "c", "one of [\"a\", \"b\"]", "not one of allowed values"),
        (
            "one_not_null",
            true.into(),
            "{a: 1, b: null}",
            "{a: null}",
            "exactly one of all children to be not null",
            "all values are null",
        ),
        (
            "one_not_null",
            strings(&["a", "b"]),
            "{a: 1, c: 2}",
            "{a: 1, b: 2}",
            "exactly one of [\"a\", \"b\"] to be not null",
            "[\"a\", \"b\"] are not null",
        ),
        (
            "one_not_null",
            true.into(),
            "{a: 1}",
            "{}",
            "exactly one of all children to be not null",
            "value must be a map or dict, but was 'NoneType'",
        ),
        ("starts_with", "ab".into(), "abc", "cab", "string starting with \"ab\"", "does not start with \"ab\""),
        ("ends_with", "ab".into(), "cab", "1", "string ending with \"ab\"", "value must be a string, but was 'int'"),
        ("contains", "b".into(), "abc", "[a, c]", "a value containing \"b\"", "does not contain \"b\""),
        ("contains", Value::Int(1), "[2, 1.0]", "{a: 1}", "a value containing 1", "does not contain 1"),
        (
            "contains",
            "b".into(),
            "{b: 1}",
            "true",
            "a value containing \"b\"",
            "value must be a string, a list or a map, but was 'bool'",
        ),
        ("matches", "^[a-z]+$".into(), "abc", "aB", "string matching \"^[a-z]+$\"", "does not match \"^[a-z]+$\""),
        ("format", "ipv4".into(), "1.2.3.4", "1.2.3", "format \"ipv4\"", "not a valid ipv4"),
        ("even", true.into(), "4.0", "3", "an even number", "not even"),
        ("odd", true.into(), "-3", "a", "an odd number", "value must be a number, but was 'string'"),
        ("multiple_of", 0.1.into(), "0.3", "0.35", "a multiple of 0.1", "not a multiple of 0.1"),
        ("multiple_of", Value::Int(5), "-10", "12", "a multiple of 5", "not a multiple of 5"),
        (
            "unique",
            true.into(),
            "[1, '1', [1], {a: 1}]",
            "[0, {a: 1, b: 2}, 7, {b: 2.0, a: 1}]",
            "unique items",
            "items 1 and 3 are equal",
        ),
        ("unique", true.into(), "[]", "[a, b, b, a]", "unique items", "items 0 and 3 are equal"),
        ("cel", "self > 3".into(), "4", "3", "CEL expression \"self > 3\"", "CEL expression is false"),
    ]
}

#[test]
fn accept_and_explain() {
    for (name, argument, valid, invalid, must_be, found) in examples() {
        let rule = rule(name, argument);
        assert_eq!(rule.must_be(), must_be);
        assert!(rule.accepts(&yaml(valid)), "{name}: {valid}");
        assert!(!rule.accepts(&yaml(invalid)), "{name}: {invalid}");
        assert_eq!(rule.found(&yaml(invalid)).into_text(), found, "{name}: {invalid}");
    }
}

#[test]
fn wrong_arguments_are_refused() {
    for (name, argument, text) in [
        ("len", Value::from("a"), "expected keyword argument \"len\" to be a number, but was string"),
        ("len", Value::Int(-1), "expected keyword argument \"len\" to be 0 or more"),
        ("min_len", Value::None, "expected keyword argument \"min_len\" to be a number, but was NoneType"),
        ("not_null", Value::Int(1), "expected keyword argument \"not_null\" to be a boolean, but was int"),
        ("starts_with", Value::Int(1), "expected keyword argument \"starts_with\" to be a string, but was int"),
        (
            "matches",
            "[".into(),
            "expected keyword argument \"matches\" to be a valid regular expression, but was \"[\"",
        ),
        ("cel", "(".into(), "expected keyword argument \"cel\" to be a valid CEL expression, but was \"(\""),
        ("multiple_of", Value::Int(0), "expected keyword argument \"multiple_of\" to be greater than 0"),
        ("one_not_null", false.into(), "one_not_null= cannot be False"),
        ("one_of", "a".into(), "expected keyword argument one_of to be a sequence, but was string"),
        ("format", "hostnam".into(), "unknown format \"hostnam\"; did you mean \"hostname\"?"),
    ] {
        let (_, entry) = find(name, Level::Ytterby).unwrap();
        match (entry.make)(&argument, Subject::Keyword(name)) {
            Err(bad) => assert_eq!(bad.text, text),
            Ok(_) => panic!("{name} took {argument:?}"),
        }
    }
}

#[test]
fn the_old_level_has_only_the_rules_of_ytt() {
    assert!(find("min_len", Level::Ytt049).is_some());
    assert!(find("format", Level::Ytt049).is_none());
    assert!(find("enum", Level::Ytt049).is_none());
}
