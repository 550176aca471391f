//! `schema diff` finds every change that affects accepted values or their results.

use crate::support::diff;

/// Compares two documents; the verdict is the worst of the changes.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    let schema = |text: &str| {
        let (before, body) = text.split_once("===\n").unwrap_or(("", text));
        format!("{before}#@data/values-schema\n---\n{body}\n")
    };
    let worst = ["major", "minor", "patch"].into_iter().find(|word| expected.iter().any(|line| line.starts_with(word)));
    let mut lines: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
    lines.push(format!("verdict: {}", worst.unwrap_or("none")));
    let changes = diff(&schema(old), &schema(new));
    assert_eq!(changes.lines().collect::<Vec<_>>(), lines, "\n{old}\n{new}");
}

#[test]
fn nothing_changed() {
    check("a: 1\nb:\n- x: 1", "a: 1\nb:\n- x: 1", &[]);
    // Null by either annotation; the order of types does not matter.
    check("#@schema/type one_of=[\"int\", \"null\"]\n#@schema/default None\na: 1", "#@schema/nullable\na: 1", &[]);
    check("#@schema/type one_of=[\"int\", \"string\"]\na: 1", "#@schema/type one_of=[\"string\", \"int\"]\na: 1", &[]);
    check(
        "#@schema/validation (\"x\", lambda v: v > 1)\na: 5",
        "#@schema/validation (\"x\", lambda v: v > 1)\na: 5",
        &[],
    );
}

#[test]
fn a_wider_type_is_minor_and_a_narrower_one_major() {
    check("a: 1", "a: x", &["major a: type changed from integer to string", "minor a: default changed"]);
    check("a: 1", "a: 1.5", &["minor a: type widened from integer to float", "minor a: default changed"]);
    check("a: 1.5", "a: 1", &["major a: type changed from float to integer", "minor a: default changed"]);
    check("a: 1", "#@schema/type any=True\na: 1", &["minor a: type widened from integer to any"]);
    check("#@schema/type any=True\na: 1", "a: 1", &["major a: type changed from any to integer"]);
    check(
        "a: 1",
        "#@schema/type one_of=[\"int\", \"string\"]\na: 1",
        &["minor a: type widened from integer to integer or string"],
    );
    check(
        "#@schema/type one_of=[\"int\", \"string\"]\na: 1",
        "a: 1",
        &["major a: type changed from integer or string to integer"],
    );
    check("a:\n- 1", "a:\n- x", &["major a: type changed from array of integer to array of string"]);
    check(
        "a: 1",
        "a:\n  b: 1",
        &["major a: type changed from integer to map", "minor a: default changed", "minor a.b: added"],
    );
    check("- 1", "- x", &["major (document): type changed from array of integer to array of string"]);
}

#[test]
fn allowing_null_is_minor_and_forbidding_it_major() {
    check("a: 1", "#@schema/nullable\na: 1", &["minor a: now nullable", "minor a: default changed"]);
    check("#@schema/nullable\na: 1", "a: 1", &["major a: no longer nullable", "minor a: default changed"]);
    check("a:\n- 1", "a:\n#@schema/nullable\n- 1", &["minor a[]: now nullable"]);
    check("a:\n#@schema/nullable\n- 1", "a:\n- 1", &["major a[]: no longer nullable"]);
    check("a: 1", "#@schema/type one_of=[\"int\", \"null\"]\na: 1", &["minor a: now nullable"]);
    check("#@schema/nullable\na: 1", "#@schema/type any=True\na: null", &["minor a: type widened from integer to any"]);
}

#[test]
fn removed_and_newly_required_keys_are_major() {
    check("a: 1", "a: 1\nb: 1", &["minor b: added"]);
    check("a: 1\nb: 1", "a: 1", &["major b: removed"]);
    check("a: 1\nb: 1", "a: 1\n#@schema/removed \"use a\"\nb: 1", &["major b: removed"]);
    check("a: 1", "a: 1\n#@schema/required\nb: 1", &["major b: added (required)"]);
    check("a: 1", "a: 1\nm:\n  #@schema/required\n  b: 1", &["minor m: added", "major m.b: added (required)"]);
    // A key without a valid default cannot be omitted.
    check("a: 1", "a: 1\n#@schema/validation min_len=1\nb: \"\"", &["major b: added (required)"]);
    check("a: 1", "#@schema/required\na: 1", &["major a: now required"]);
    check("#@schema/required\na: 1", "a: 1", &["minor a: no longer required"]);
    check("a: 1", "#@schema/key-may-be-present\na: 1", &["minor a: now optional"]);
    check("#@schema/key-may-be-present\na: 1", "a: 1", &["minor a: no longer optional"]);
    // Keys may contain the separator.
    check("a:\n  b: 1", "a.b: 1", &["minor a.b: added", "major a: removed"]);
}

#[test]
fn changed_rules_of_keys_are_reported() {
    let map = |key: &str| format!("m:\n  #@schema/{key}\n  _: 1");
    check(
        &map("any-key"),
        &map("key allowed=\"any\", expects=\"1+\""),
        &["major m: rule added: 1 or more items with any key"],
    );
    check(
        &map("key allowed=\"any\", expects=\"1+\""),
        &map("any-key"),
        &["minor m: rule removed: 1 or more items with any key"],
    );
    check(
        &map("key allowed=\"any\", expects=1"),
        &map("key allowed=\"any\", expects=2"),
        &["major m: rule added: 2 items with any key", "minor m: rule removed: 1 item with any key"],
    );
    check(
        &map("any-key"),
        &map("key allowed=\"x.*\", missing_ok=True"),
        &["major m.*: keys changed from any key to a key matching \"x.*\""],
    );
    check(
        &map("key allowed=\"x.*\", missing_ok=True"),
        &map("any-key"),
        &["minor m.*: keys widened from a key matching \"x.*\" to any key"],
    );
    check("m:\n  a: 1", "m:\n  a: 1\n  #@schema/any-key\n  _: 1", &["minor m.*: added"]);
    check("m:\n  a: 1\n  #@schema/any-key\n  _: 1", "m:\n  a: 1", &["major m.*: removed"]);
    check(
        "m:\n  #@schema/key allowed=\"x\", missing_ok=True\n  _: 1\n  #@schema/key allowed=\"z\", missing_ok=True\n  __: x",
        "m:\n  #@schema/key allowed=\"z\", missing_ok=True\n  _: 2\n  #@schema/key allowed=\"x\", missing_ok=True\n  __: 1",
        &["major m.*: type changed from string to integer"],
    );
    check(
        "m:\n  #@schema/key missing_ok=True\n  a: 1",
        "m:\n  #@schema/key expects=0\n  a: 1",
        &["major m: rule added: 0 items with the key \"a\""],
    );
}

#[test]
fn stricter_rules_are_major() {
    let rule = |rule: &str| format!("#@schema/validation {rule}\na: 5");
    check("a: 5", &rule("min=1"), &["major a: rule added: a value >= 1"]);
    check(&rule("min=1"), "a: 5", &["minor a: rule removed: a value >= 1"]);
    check(
        &rule("min=1"),
        &rule("min=2"),
        &["major a: rule added: a value >= 2", "minor a: rule removed: a value >= 1"],
    );
    check(&rule("min=2"), &rule("min=1"), &["minor a: rule loosened from a value >= 2 to a value >= 1"]);
    check(&rule("above=1"), &rule("min=1"), &["minor a: rule loosened from a value > 1 to a value >= 1"]);
    check(&rule("max=9"), &rule("max=9, min=1"), &["major a: rule added: a value >= 1"]);
    check(
        &rule("one_of=[5, 6]"),
        &rule("one_of=[5, 6, 7]"),
        &["minor a: rule loosened from one of [5, 6] to one of [5, 6, 7]"],
    );
    check(
        &rule("one_of=[5, 6]"),
        &rule("one_of=[5]"),
        &["major a: rule added: one of [5]", "minor a: rule removed: one of [5, 6]"],
    );
    check(
        &rule("min=1"),
        &rule("min=1, when=lambda v: v > 3"),
        &["minor a: rule loosened from a value >= 1 to a value >= 1 (conditional)"],
    );
    check(
        &rule("min=1, when=lambda v: v > 3"),
        &rule("min=1, when=lambda v: v > 4"),
        &["major a: rule changed: a value >= 1 (conditional)"],
    );
    // A reworded rule, and another rule with the same words.
    check(&rule("min=1"), &rule("min=(1, \"positive\")"), &["patch a: documentation changed"]);
    check(&rule("min=(1, \"enough\")"), &rule("min=(2, \"enough\")"), &["major a: rule changed: enough"]);
    check(&rule("(\"ok\", lambda v: v > 1)"), &rule("(\"ok\", lambda v: v > 2)"), &["major a: rule changed: ok"]);
    check(&rule("format=\"port\""), "a: 5", &["minor a: rule removed: format \"port\""]);
    check("a: \"\"", "#@schema/validation max_len=9\na: \"\"", &["major a: rule added: length <= 9"]);
    check(
        "#@schema/validation len=3\na: abc",
        "#@schema/validation min_len=3\na: abc",
        &["minor a: rule loosened from length = 3 to length >= 3"],
    );
    check(
        "a:\n- \"\"",
        "a:\n#@schema/validation format=\"hostname\"\n- \"\"",
        &["major a[]: rule added: format \"hostname\""],
    );
    check("#@schema/validation-defaults-for-strings min_len=1\na: x", "a: x", &["minor a: rule removed: length >= 1"]);
    check("a: 1", "#@schema/validation (\"f\", lambda v: True)\na: 1", &["major a: rule added: f"]);
}

#[test]
fn any_of_may_gain_shapes_and_one_of_may_not() {
    let shapes = |annotation: &str| {
        format!(
            "#@ def p():\nx: 1\n#@ end\n#@ def q():\nz: 1\n#@ end\n#@ def r():\nw: 1\n#@ end\n===\n#@schema/{annotation}\na: null"
        )
    };
    check(&shapes("any-of p(), q()"), &shapes("any-of q(), p(), r()"), &["minor a: shapes widened"]);
    check(&shapes("any-of p(), q(), r()"), &shapes("any-of p(), q()"), &["major a: shapes changed"]);
    check(&shapes("one-of p(), q()"), &shapes("one-of p(), q(), r()"), &["major a: shapes changed"]);
    check(
        &shapes("one-of p(), q()"),
        &shapes("any-of p(), q()"),
        &["minor a: type widened from one of several shapes to any of several shapes"],
    );
    check(
        &shapes("one-of p(), q()"),
        "#@schema/type any=True\na: null",
        &["minor a: type widened from one of several shapes to any"],
    );
    check(
        "#@schema/nullable\na:\n  x: 1",
        &shapes("one-of p(), q()"),
        &["major a: type changed from map to one of several shapes", "major a.x: removed"],
    );
    let inner = |rule: &str| {
        format!(
            "#@ def p():\n#@schema/validation {rule}\nx: 5\n#@ end\n#@ def q():\nz: 1\n#@ end\n===\n#@schema/one-of p(), q()\na: null"
        )
    };
    check(&inner("min=1"), &inner("min=2"), &["major a: shapes changed"]);
}

#[test]
fn defaults_and_words() {
    check("a: 1", "a: 2", &["minor a: default changed"]);
    check("a:\n- x: 1", "a:\n- x: 2", &["minor a[].x: default changed"]);
    check("a:\n- 1", "#@schema/default [2]\na:\n- 1", &["minor a: default changed"]);
    check(
        "m:\n  #@schema/any-key\n  _: 1",
        "#@schema/default {\"a\": 1}\nm:\n  #@schema/any-key\n  _: 1",
        &["minor m: default changed"],
    );
    // The new default would be invalid.
    check(
        "#@schema/validation min_len=1\na: x",
        "#@schema/validation min_len=1\na: \"\"",
        &["major a: now required", "minor a: default changed"],
    );
    check("a: 1", "#@schema/deprecated \"old\"\na: 1", &["minor a: deprecated"]);
    check(
        "#@schema/deprecated \"old\"\na: 1",
        "#@schema/deprecated \"older\"\na: 1",
        &["patch a: documentation changed"],
    );
    check("#@schema/deprecated \"old\"\na: 1", "a: 1", &["patch a: no longer deprecated"]);
    check("a: x", "#@schema/secret\na: x", &["patch a: now secret"]);
    check(
        "a: 1",
        "#@schema/title \"T\"\n#@schema/desc \"d\"\n#@schema/example 3\na: 1",
        &["patch a: documentation changed"],
    );
}
