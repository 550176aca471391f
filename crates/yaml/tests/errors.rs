//! Tests of errors as data: the range of the mistake, other positions, advice, and the text after
//! its fix.

use ytterby_diag::{Diagnostic, FileId, Id, Source, Sources};
use ytterby_text::budget::{self, Limits};
use ytterby_yaml::{ReadOptions, outline, parse};

/// The content of a diagnostic: its position, other positions, advice, and the text after the fix.
fn told(input: &str) -> String {
    let sources = Sources::new();
    let file = sources.add(Source::new("a.yml", input.as_bytes()));
    let source = sources.get(file).expect("it was added");
    let error = parse(input.as_bytes(), file, &ReadOptions::default()).expect_err("it is not YAML");
    let diagnostic: Diagnostic = error.into();
    assert_eq!(diagnostic.id, Id::YAML_SYNTAX);
    let mut out = format!("{}\n", diagnostic.message.plain());
    for label in &diagnostic.labels {
        let span = label.span(&sources).expect("a range");
        let (line, column) = source.line_column(span.start);
        let text = &input[span.start as usize..span.end as usize];
        out += &format!("{line}:{column} {text:?} {}\n", label.text.plain());
    }
    for help in &diagnostic.helps {
        out += &format!("= {}\n", help.text.plain());
        let Some(fix) = &help.fix else { continue };
        let mut fixed = input.to_owned();
        for edit in fix.edits.iter().rev() {
            let span = edit.span(&sources).expect("a range");
            fixed.replace_range(span.start as usize..span.end as usize, &edit.replacement);
        }
        out += &fixed;
        parse(fixed.as_bytes(), FileId(0), &ReadOptions::default()).expect("the fix makes it YAML");
    }
    out
}

#[track_caller]
fn check(input: &str, expected: &[&str]) {
    let expected = expected.join("\n");
    assert_eq!(told(input).trim_end().replace(" \n", "\n"), expected.trim_end(), "for {input:?}");
}

#[test]
fn tabs_in_indentation_suggest_spaces() {
    let problem = "found character that cannot start any token";
    let help = "= YAML is indented with spaces";
    check("a:\n\tb: 1\n\tc: 2\n", &[problem, "2:1 \"\\t\"", help, "a:\n  b: 1\n  c: 2\n"]);
    let problem = "found a tab character that violates indentation";
    check("a: b\n\tc\n", &[problem, "2:1 \"\\t\"", help, "a: b\n  c\n"]);
}

#[test]
fn values_that_need_quotes() {
    let problem = "found character that cannot start any token";
    let help = |first: &str| format!("= a plain value cannot begin with {first}: put it in quotes");
    check("a: @b c # d\n", &[problem, "1:4 \"@b\"", &help("@"), "a: \"@b c\" # d\n"]);
    let bracket = "1:4 \"[\" this bracket is still open";
    check("a: [`b\"`, c]\n", &[problem, "1:5 \"`b\\\"`,\"", bracket, &help("`"), "a: ['`b\"`', c]\n"]);
    check("a: %b\n", &[problem, "1:4 \"%b\"", &help("%"), "a: \"%b\"\n"]);
    let problem = "did not find expected alphabetic or numeric character";
    check("a: *.txt\n", &[problem, "1:4 \"*.txt\"", &help("*"), "a: \"*.txt\"\n"]);
    let problem = "mapping values are not allowed in this context";
    let help = "= a value that contains `: ` needs quotes";
    check("a: error: b\n", &[problem, "1:9 \":\"", help, "a: \"error: b\"\n"]);
}

#[test]
fn comments_that_hide_a_bracket() {
    let help = "= a comment reaches to the end of its line and hides the closing bracket: write one item a line";
    let bracket = "1:4 \"[\" this bracket is still open";
    check("a: [#@ b ]\nc: 1\n", &["did not find expected ',' or ']'", "2:5 \"\"", bracket, help]);
    check("a: [b # c\nd: 1\n", &["did not find expected ',' or ']'", "2:1 \"d:\"", bracket]);
}

#[test]
fn keys_without_colon_or_blank_are_explained() {
    check(
        "a: 1\nb:2\n",
        &["could not find expected ':'", "2:1 \"b:2\"", "= a blank has to follow the colon of a key", "a: 1\nb: 2\n"],
    );
    check(
        "a: b\n  c: d\n",
        &[
            "mapping values are not allowed in this context",
            "2:4 \":\"",
            "1:1 \"a: b\" this value goes on in the next line",
            "= a key cannot have both a value and keys below it: remove the value, or indent the key less",
        ],
    );
    check(
        "a:\n    b: 1\n   c: 2\n",
        &[
            "did not find expected key",
            "3:4 \"c:\"",
            "= indent the line by 4, like the lines that it belongs to",
            "a:\n    b: 1\n    c: 2\n",
        ],
    );
    check(
        "a: - b\n",
        &[
            "block sequence entries are not allowed in this context",
            "1:4 \"-\"",
            "= begin the array on a separate line: `-` cannot follow a key",
        ],
    );
}

#[test]
fn quotes_and_brackets() {
    check(
        "a: \"b\nc: d\n",
        &[
            "found unexpected end of stream",
            "1:4 \"\\\"b\"",
            "= close the quote, or write the text without quotes after `|`",
        ],
    );
    check(
        "a: \"b\nc: \"d\"\n",
        &["did not find expected key", "2:5 \"d\\\"\"", "1:4 \"\\\"b\" this string ends on the line of the error"],
    );
    check(
        "a: [1,\nb: {c: 2\nd: 3\n",
        &["did not find expected ',' or '}'", "3:2 \":\"", "2:4 \"{\" this bracket is still open"],
    );
    check(
        "a: \"\\d+\"\n",
        &[
            "found unknown escape character",
            "1:5 \"\\\\d\"",
            "= write \\\\ for a backslash, or use single quotes, which have no escapes",
            "a: \"\\\\d+\"\n",
        ],
    );
}

#[test]
fn other_template_languages() {
    let help = "begins an expression of Helm or Jinja, which is not YAML; put the value in quotes if it is text";
    let text = "a: {{ .Values.x }}-{{ .Values.y }}\n";
    assert!(told(text).contains(&format!("= `{{{{` {help}")), "{}", told(text));
    assert!(told("{% if x %}\na: 1\n").contains(&format!("= `{{%` {help}")));
}

#[test]
fn unknown_anchors_suggest_similar_ones() {
    check(
        "a: &defaults 1\nb: *defalts\n",
        &[
            "unknown anchor 'defalts' referenced",
            "2:4 \"*defalts\"",
            "= did you mean *defaults?",
            "a: &defaults 1\nb: *defaults\n",
        ],
    );
}

#[test]
fn outlines_list_keys_and_values() {
    let text = "a: &x !!str 'b'\n\"c d\" : [e, *x, {f: }]\n# g: h\nj: *x # k\n3: |\n  l\n? m\n";
    let outline = outline(text.as_bytes());
    let shown = |range: &std::ops::Range<u32>| text[range.start as usize..range.end as usize].to_owned();
    let found: Vec<_> = outline.items().iter().map(|item| (shown(&item.key), shown(&item.value))).collect();
    let found: Vec<_> = found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let expected = [
        ("a", "'b'"),
        ("\"c d\"", "[e, *x, {f: }]"),
        ("", "e"),
        ("", "*x"),
        ("", "{f: }"),
        ("f", ""),
        ("j", "*x"),
        ("3", "|\n  l"),
        ("m", ""),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_text_that_is_not_yaml_has_no_outline() {
    assert!(outline(b"a: [").items().is_empty());
    assert!(outline(b"\xff").items().is_empty());
}

/// Each `%TAG` directive is charged, and looked up among thousands without looking at each.
#[test]
fn tag_directives_are_charged() {
    let text = |count: usize| {
        let directives: String = (0..count).map(|number| format!("%TAG !t{number}! tag:example.com,2000:\n")).collect();
        directives + "---\na: !t0!x 1\n"
    };
    let charged = |count: usize| {
        let _running = budget::begin(Limits::default(), None, None);
        parse(text(count).as_bytes(), FileId(0), &ReadOptions::default()).expect("it is YAML");
        budget::used().1
    };
    let added = charged(2_000) - charged(1_000);
    assert!((100_000..600_000).contains(&added), "{added} bytes");
    let _running = budget::begin(Limits { memory: Some(1 << 20), ..Limits::default() }, None, None);
    let error = parse(text(20_000).as_bytes(), FileId(0), &ReadOptions::default()).expect_err("a limit is reached");
    let diagnostic: Diagnostic = error.into();
    assert!(diagnostic.message.plain().contains("a limit was reached"), "{}", diagnostic.message.plain());
}

#[test]
fn tag_directives_are_unique() {
    check("%TAG !a! x\n%TAG !a! y\n---\n", &["found duplicate %TAG directive", "2:1 \"%TAG\""]);
}
