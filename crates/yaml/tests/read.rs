//! Reading: structure, errors, limits. Expectations come from the reference unless a test says
//! otherwise.

mod common;

use common::{check, recode};
use ytterby_diag::FileId;
use ytterby_yaml::{ReadOptions, Style, View, parse};

#[test]
fn block_collections() {
    check("a:\n- b\n- c:\n    d: e\n  f: g\nh: i\n", "a:\n- b\n- c:\n    d: e\n  f: g\nh: i\n");
    check("- - a\n  - b\n-\n  - c\n- d: 1\n  e: 2\n", "- - a\n  - b\n- - c\n- d: 1\n  e: 2\n");
    check("a:\n  - b\nc:\nd: 1\n", "a:\n- b\nc: null\nd: 1\n");
    check("? a\n: b\n? c\n", "a: b\nc: null\n");
    check("-\n-\n", "- null\n- null\n");
}

#[test]
fn flow_collections() {
    check("{a: 1, b: [c, {d: e}], f}\n", "a: 1\nb:\n- c\n- d: e\nf: null\n");
    check("[a: 1, ? b : 2, \"c\":3]\n", "- a: 1\n- b: 2\n- c: 3\n");
    check("a: [\n  b, # comment\n  c\n]\n", "a:\n- b\n- c\n");
    check("{a: , b: }\n", "a: null\nb: null\n");
}

#[test]
fn scalars_on_several_lines() {
    check("a: b\n  c\n\n  d\n", "a: |-\n  b c\n  d\n");
    check("a: \"b\n  c\\\n  d\\te\"\n", "a: \"b cd\\te\"\n");
    check("a: >\n  b\n  c\n\n  d\n   e\n", "a: |\n  b c\n  d\n   e\n");
    check("a: |+\n  b\n\nc: 1\n", "a: |+\n  b\n\nc: 1\n");
}

#[test]
fn anchors_aliases_and_merges() {
    check("a: &x [1]\nb: *x\n", "a:\n- 1\nb:\n- 1\n");
    check("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", "a:\n  b: 1\nc:\n  b: 1\n  d: 2\n");
    check("? <<\n: {a: 1}\n", "a: 1\n");
    check("&a : 1\n", "null: 1\n");
    check("!!str : 1\n", "\"\": 1\n");
    check("a: *x\n", "yaml: unknown anchor 'x' referenced");
}

#[test]
fn values_are_indented_deeper_than_their_keys() {
    check("a: 1\nb:\nc\n", "yaml: line 4: could not find expected ':'");
    check("a: 1\nb:\nc d\ne: 2\n", "yaml: line 4: could not find expected ':'");
    check("a: 1\nb:\n...\n", "a: 1\nb: null\n");
    check("a: 1\nb:\n c\n", "a: 1\nb: c\n");
    check("a: 1\nb:\nc: 2\n", "a: 1\nb: null\nc: 2\n");
}

#[test]
fn all_line_breaks_are_accepted() {
    check("a: 1\rb: 2\r", "a: 1\nb: 2\n");
    check("a: |\r\n  b\r\n  c\r\n", "a: |\n  b\n  c\n");
    check("a: 1\u{85}b: 2\u{85}", "a: 1\nb: 2\n");
}

#[test]
fn errors_of_the_scanner_have_its_line() {
    check("a: 1\nb: c: d\n", "yaml: line 2: mapping values are not allowed in this context");
    check("a: 1\nb\nc: 2\n", "yaml: line 3: could not find expected ':'");
    check("a: 1\nb", "yaml: line 3: could not find expected ':'");
    check("a:\n\tb: 1\n", "yaml: line 2: found character that cannot start any token");
    check("a: 1\n\tb: 1\n", "yaml: line 2: found a tab character that violates indentation");
    check("a: \"\\q\"\n", "yaml: line 1: found unknown escape character");
}

#[test]
fn the_scanner_is_one_token_ahead() {
    check("a: 1\n\"b\"@c\n", "yaml: line 2: found character that cannot start any token");
    check("a: 1\n[1, 2]@b\n", "yaml: line 2: found character that cannot start any token");
    check("*a@b\n", "yaml: line 1: found character that cannot start any token");
    check("one # c\ntwo # d\n`x`\n", "yaml: line 3: found character that cannot start any token");
    check("- 1\nb\n  c: 2\n", "yaml: line 3: could not find expected ':'");
    check("a:\n  - 1\n b\n  c: 2\n", "yaml: line 2: did not find expected key");
    check("one # c\ntwo: d\n", "yaml: line 1: did not find expected <document start>");
    check("- 1\n!!str 2 b\n# c\n- 3\n", "yaml: line 3: could not find expected ':'");
    check("- 1\n&a !!str 2: b\n", "yaml: line 1: did not find expected '-' indicator");
}

#[test]
fn a_key_without_colon_is_reported_after_the_rest_of_its_line() {
    let missing = |line: u32| format!("yaml: line {line}: could not find expected ':'");
    check("a: 1\n\"q\" b\n c\n d\ne: 1\n", &missing(5));
    check("a: 1\n\"\"\"\nx\ny: \"b\"\nc: 1\n", &missing(4));
    check("x:\n- a\n{\nc: 1\n", &missing(4));
    check("a: 1\n[\n &x\n  e: 1\n", &missing(3));
    check("x:\n  a: 1\n  [{\"a\": 1}-]\n- b\n", &missing(4));
    check("- a\n[1] | c %\n  e: 1\n", &missing(2));
    check("- a\n# c\n{\"a\": 1} }: 1\n", &missing(3));
    check("---\nk: v\n{]'\n\n- b\n", "yaml: line 6: found unexpected end of stream");
    check("- a\n*x\t-\n", "yaml: line 2: block sequence entries are not allowed in this context");
    check("a: 1\n*x x: 1\n", "yaml: unknown anchor 'x' referenced");
    check("---\nk: v\n? 'q' | }\n", "yaml: line 3: did not find expected comment or line break");
}

#[test]
fn errors_of_the_parser_have_the_line_before() {
    check("a:\n  b: 1\n c: 2\n", "yaml: line 2: did not find expected key");
    check("- a\nb: 1\n", "yaml: line 1: did not find expected '-' indicator");
    check("---\na: ]\n", "yaml: line 1: did not find expected node content");
    check("a: [b\n", "yaml: line 1: did not find expected ',' or ']'");
    // The reference crashes on line 0.
    check("a: ]\n", "yaml: line 1: did not find expected node content");
    // And it shows no line for the first one of a file that begins with a marker.
    check("--- ]\n", "yaml: did not find expected node content");
}

#[test]
fn syntax_errors_precede_errors_of_meaning() {
    check("a: !!int x\nb: ]\n", "yaml: line 1: did not find expected node content");
    check("a: !!int x\nb: 1\n", "yaml: cannot decode !!str `x` as a !!int");
    check("a: !!int x\n%YAML 1.1\n---\n", "yaml: cannot decode !!str `x` as a !!int");
    check("!!binary a\nb: 1\n", "yaml: line 2: mapping values are not allowed in this context");
}

#[test]
fn invalid_bytes_have_a_position() {
    let place = |input: &[u8]| parse(input, FileId(0), &ReadOptions::default()).map(|_| ()).unwrap_err();
    let error = place(b"a: 1\nb: \xFF\n");
    assert_eq!((error.reference().as_str(), error.span.start), ("yaml: invalid leading UTF-8 octet", 8));
    let error = place(b"a: \x07\n");
    assert_eq!((error.reference().as_str(), error.span.start), ("yaml: control characters are not allowed", 3));
    let error = place(b"a: \xEF\xBF\xBE\n");
    assert_eq!((error.reference().as_str(), error.span.start), ("yaml: control characters are not allowed", 3));
}

#[test]
fn errors_after_the_last_line_are_on_it() {
    for (input, line) in [("a: [1,\n", 1), ("a: [1,", 1), ("b:\n  a: {b: 1\n", 2), ("---\na: [1,\r\n", 2)] {
        let error = parse(input.as_bytes(), FileId(0), &ReadOptions::default()).expect_err("something is missing");
        let found = input[..error.span.start as usize].matches('\n').count() + 1;
        assert_eq!(found, line, "for {input:?}: {}", error.reference());
    }
}

#[test]
fn spans_and_styles_are_those_of_the_text() {
    let text = "a: &x !!str 'b'\nc: [d]\ne: |\n  f\ng:\n";
    let tree = parse(text.as_bytes(), FileId(0), &ReadOptions::default()).unwrap();
    let View::Map(items) = tree.value(tree.documents()[0].value) else { panic!("a map") };
    let found: Vec<(&str, Style)> = items
        .iter()
        .map(|item| {
            let span = tree.span(item.value);
            (&text[span.start as usize..span.end as usize], tree.style(item.value))
        })
        .collect();
    let expected = [("'b'", Style::SingleQuoted), ("[d]", Style::Flow), ("|\n  f", Style::Literal), ("", Style::Plain)];
    assert_eq!(found, expected);
}

#[test]
fn block_collections_end_with_their_content() {
    let text = "a:\n  b: x y # c\n  d:\n  - 'e'\n\n# f\ng: [h, i: j]\nk: 1\n";
    let tree = parse(text.as_bytes(), FileId(0), &ReadOptions::default()).unwrap();
    let shown = |id| &text[tree.span(id).start as usize..tree.span(id).end as usize];
    let View::Map(items) = tree.value(tree.documents()[0].value) else { panic!("a map") };
    assert_eq!(shown(tree.documents()[0].value), text.trim_end());
    assert_eq!(shown(items[0].value), "b: x y # c\n  d:\n  - 'e'");
    assert_eq!(shown(items[1].value), "[h, i: j]");
    let View::Array(pair) = tree.value(items[1].value) else { panic!("an array") };
    assert_eq!(shown(pair[1].value), "i: j");
}

#[test]
fn nesting_has_a_limit() {
    let deep = |open: &str, count: usize| recode(open.repeat(count).as_bytes(), false).unwrap_err();
    assert!(deep("[", 1_000_000).contains("more than 10000 levels"));
    assert!(deep("{a: ", 1_000_000).contains("more than 10000 levels"));
    assert!(deep("- ", 1_000_000).contains("more than 10000 levels"));
    let fits = format!("{}{}", "[".repeat(9_999), "]".repeat(9_999));
    assert!(recode(fits.as_bytes(), false).is_ok());
}

#[test]
fn aliases_have_a_limit() {
    let mut laughs = "a0: &a0 [lol, lol]\n".to_owned();
    for at in 1..40 {
        laughs.push_str(&format!("a{at}: &a{at} [*a{}, *a{}]\n", at - 1, at - 1));
    }
    let message = recode(laughs.as_bytes(), false).unwrap_err();
    assert!(message.contains("more than 1000000 nodes"), "{message}");
    // By merging too.
    let mut merges = "a0: &a0 {x: 1}\n".to_owned();
    for at in 1..40 {
        merges.push_str(&format!("a{at}: &a{at} {{<<: *a{}, <<: *a{}}}\n", at - 1, at - 1));
    }
    assert!(recode(merges.as_bytes(), false).unwrap_err().contains("more than 1000000 nodes"));
    // A long scalar counts as several nodes.
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(640_000), "*a, ".repeat(1_000));
    assert!(recode(long.as_bytes(), false).unwrap_err().contains("more than 1000000 nodes"));
}

#[test]
fn aliases_cannot_exceed_the_depth() {
    let mut text = "a0: &a0 [x]\n".to_owned();
    for at in 1..300 {
        text.push_str(&format!("a{at}: &a{at} {}*a{}{}\n", "[".repeat(60), at - 1, "]".repeat(60)));
    }
    assert!(recode(text.as_bytes(), false).unwrap_err().contains("levels deep"));
}
