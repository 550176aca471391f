//! Writing: quoting, layout, JSON, positions, `fmt`. Expectations come from the reference unless a
//! test says otherwise.

mod common;

use common::{check, check_json};
use ytterby_diag::FileId;
use ytterby_text::gojson::Html;
use ytterby_yaml::write::{JsonOptions, PosWriter, scalar_text};
use ytterby_yaml::{ReadOptions, Scalar, format, parse};

#[test]
fn strings_that_look_like_other_types_are_quoted() {
    for text in ["yes", "~", "null", "1", "0x1", "1e3", "1:30", "2001-01-01", ".inf", ""] {
        check(&format!("a: '{text}'\n"), &format!("a: \"{text}\"\n"));
    }
    for text in ["yess", "1.2.3", "08:00:aa", "-", "- a", "a: b", "a #b", " a", "a ", "'a"] {
        let single = text.replace('\'', "''");
        let quoted = matches!(text, "-" | "- a" | "a: b" | "a #b" | " a" | "a " | "'a");
        let expected = if quoted { format!("'{single}'") } else { text.to_owned() };
        check(&format!("a: '{single}'\n"), &format!("a: {expected}\n"));
    }
}

#[test]
fn long_and_multi_line_keys_follow_a_question_mark() {
    let key = "k".repeat(129);
    check(&format!("? {key}\n: {{a: 1}}\n"), &format!("? {key}\n: a: 1\n"));
    check(&format!("? {key}\n: [1, [2]]\n"), &format!("? {key}\n: - 1\n  - - 2\n"));
    check("? |\n  a\n  b\n: 1\n", "? |\n  a\n  b\n: 1\n");
}

#[test]
fn maps_and_arrays_can_be_keys() {
    check("a: {{ x }}\n", "a:\n  ? x: null\n  : null\n");
    check("{{ x }}: 1\n", "? ? x: null\n  : null\n: 1\n");
    check("? a: 1\n  b: [2]\n: - 1\n", "? a: 1\n  b:\n  - value: 2\n    line: 2\n: - 1\n");
    check("---\n? [a]\n: 1\n", "? - value: a\n    line: 1\n: 1\n");
    check("a: {{}: 1, []: 2}\n", "a:\n  {}: 1\n  []: 2\n");
    check("a: {{b: 1}: 1, {b: 1}: 2}\n", "a:\n  ? b: 1\n  : 2\n");
    check("k: &x {a: 1}\n*x : 1\n", "k:\n  a: 1\n? a: 1\n: 1\n");
    check("[{a: 1}: 2, [b]: 3]\n", "- ? a: 1\n  : 2\n- ? - value: b\n      line: 1\n  : 3\n");
}

#[test]
fn errors_near_complex_keys_have_their_own_line() {
    check("a: {{ x }}\nb: 1\n  c: 2\n", "yaml: line 3: mapping values are not allowed in this context");
    check("a: b\n{{ x }}\nb: 1\n", "yaml: line 3: could not find expected ':'");
    let deep = format!("a: {}x{}\n", "{".repeat(102), "}".repeat(102));
    check(&deep, "yaml: line 1: map keys are nested more than 100 levels deep");
}

#[test]
fn binary_is_broken_into_lines() {
    let packed = "/".repeat(96);
    check(&format!("a: !!binary {packed}\n"), &format!("a: !!binary |\n  {}\n  {}\n", "/".repeat(70), "/".repeat(26)));
    check("a: !!binary /w==\n", "a: !!binary /w==\n");
}

#[test]
fn json_is_sorted_and_escaped() {
    let plain = JsonOptions::default();
    check_json("b: <1>\na: [1.0, 1e21, 1e-7, null]\n", plain, r#"{"a":[1,1e+21,1e-7,null],"b":"\u003c1\u003e"}"#);
    let options = JsonOptions { indent: 2, html: Html::Keep };
    check_json("b: <\na: {}\nc: []\n", options, "{\n  \"a\": {},\n  \"b\": \"<\",\n  \"c\": []\n}");
    check_json("a: 1\n---\nb: 2\n", plain, r#"{"a":1}{"b":2}"#);
    check_json("- [{b: 1, a: [2, {d: 3, c: 4}]}]\n", plain, r#"[[{"a":[2,{"c":4,"d":3}],"b":1}]]"#);
    check_json("a: .nan\n", plain, "json: unsupported value: NaN");
    check_json("1: a\n", plain, "Expected key to be string");
}

#[test]
fn positions_form_a_column() {
    let mut pos = PosWriter::new();
    pos.document(Some("a.yml:1"));
    pos.begin();
    pos.map_item(Some("a.yml:2"), &Scalar::from("b"), Some(&scalar_text(&Scalar::from("1"))));
    pos.map_item(Some("a.yml:3"), &Scalar::from("c"), None);
    pos.begin();
    pos.array_item(None, 0, Some(&scalar_text(&Scalar::from("x\ny"))));
    pos.end();
    pos.end();
    let expected = "          a.yml:1 | [doc]\n          a.yml:2 |   b: \"1\"\n          a.yml:3 |   c:\n    [0]\n                  |       |-\n  x\n  y\n";
    assert_eq!(String::from_utf8(pos.finish()).unwrap(), expected);
}

#[track_caller]
fn check_format(input: &str, expected: &str) {
    let tree = parse(input.as_bytes(), FileId(0), &ReadOptions::default()).unwrap();
    let found = String::from_utf8(format(&tree)).unwrap();
    assert_eq!(found, expected, "for {input:?}");
    // Formatting is idempotent.
    let again = parse(found.as_bytes(), FileId(0), &ReadOptions::default()).unwrap();
    assert_eq!(String::from_utf8(format(&again)).unwrap(), expected, "a second time for {input:?}");
}

#[test]
fn formatting_keeps_comments() {
    check_format("a: 1\n# x\nb:   [1,  {c: 2}] # y\n", "a: 1\n\n# x\nb:\n  - 1\n  - c: 2 # y\n");
    check_format("a:\n - |\n    b\n    c\n", "a:\n  - |\n    b\n    c\n");
    // The reference drops empty collections.
    check_format("a: {}\nb: [[]]\n", "a: {}\nb:\n  - []\n");
    // The reference writes keys without quotes, which changes their meaning.
    check_format("'yes': 1\n'a: b': 2\n", "\"yes\": 1\n'a: b': 2\n");
}
