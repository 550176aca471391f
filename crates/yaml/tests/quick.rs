//! The fast paths of the reader agree with the general code: the same tree with the same positions,
//! or the same error. Documents that are read and written one by one are the same as those of a
//! tree.

use proptest::prelude::*;
use ytterby_diag::FileId;
use ytterby_text::Str;
use ytterby_yaml::write::{YamlWriter, write_tree};
use ytterby_yaml::{ReadOptions, parse, parse_shared, parse_slowly, rewrite};

/// A text of 300 bytes, long enough to share the bytes of the source.
macro_rules! long {
    () => {
        concat!(
            "this sentence is written three times, so that it is longer than the shortest text that is shared; ",
            "this sentence is written three times, so that it is longer than the shortest text that is shared; ",
            "this sentence is written three times, so that it is longer than the shortest text that is shared"
        )
    };
}

#[track_caller]
fn check(text: &str) {
    for options in [ReadOptions::default(), ReadOptions { comments: false, ..ReadOptions::default() }] {
        let quick = parse(text.as_bytes(), FileId(0), &options);
        let slow = parse_slowly(text.as_bytes(), FileId(0), &options);
        let shared = parse_shared(&Str::from(text), FileId(0), &options);
        let slow = format!("{slow:?}");
        assert_eq!(format!("{quick:?}"), slow, "for {text:?}");
        assert_eq!(format!("{shared:?}"), slow, "shared, for {text:?}");
        let written = shared.map(|tree| written_by(|yaml| write_tree(&tree, yaml)));
        let mut result = Ok(());
        let text = Str::from(text);
        let rewritten = written_by(|yaml| result = rewrite(&text, FileId(0), &options, yaml));
        assert_eq!(format!("{:?}", result.map(|()| rewritten)), format!("{written:?}"), "one by one, for {text:?}");
    }
}

fn written_by(write: impl FnOnce(&mut YamlWriter)) -> String {
    let mut yaml = YamlWriter::new();
    write(&mut yaml);
    String::from_utf8_lossy(&yaml.finish()).into_owned()
}

#[test]
fn documents_and_their_marks_read_the_same() {
    check("a: &x 1\nb: *x\n---\n# c\n---\nc: *x\n");
    check("# a\n--- # b\nc: &d [1]\n...\n--- |\n  e\n--- {}\n--- &d f\n...\n# g\n");
    check("---\n--- a\n---\nb: <<\n<<: {c: 1}\n--- {a: 1, a: 2}\n--- [}\n");
}

#[test]
fn lines_of_common_forms() {
    check("a: 1\nb:\n  c: x y\n  d: \"q\"\n  e: 'r'\nf:\n- 1\n- two\n- g: 3\n  h:\n    i: j\n- - k\n  - l: m\n");
    check("a: |\n  one\n  two\n\n   three\n  four\nb: |-\n    x\n    y\nc: >\n  p\n  q\nd: |2\n   x\n  y\n");
    check("a:\n  b: 1\n c: 2\n");
    check("a: 'it''s'\nb: \"x\\\"\"\nc: \"x\" # y\nd: \"x\"\n  e: 1\n");
    check("a: x\n  y\nb: x\n\n  y\nc: x # d\n  e\n");
    check("- a: 1\n  b: 2\n-  c: 3\n   d: 4\n- e\n  f\n- g: h: i\n");
    check("a:\n  - x\n  - y\nb:\n- x\n- y\nc: d\n- e\n");
    check("a: {b: 1, c: [x, 'y', \"z\", 1.5 , true], d: {e: f g}, h: 'i''j', k: }\nl: []\nm: [ n, o: p, q]\n");
    check("a: {b: 1, c: x y , d: u:v, e: [f, g}\n");
    check("a: {b: c\n,d: e}\n- f\n");
    check("a: [b,\n... ]\n");
    check("a: |\n  x\n\ty\n");
    check("a: some words  \n  and more: no\n");
    check("a: some words \t\n  and:more#here  # c\n  b\nc: d\t# e\n");
    check("a: 'some words  \n\n  it''s \\ more '\nb: \"some  words \t\n  and \\\n  \\x41 more\\ \\n \"\n");
    check("a: \"wörter  \u{85} und \u{2028}\u{e9}  \n x \"\nb: wörter  und \u{2028} mehr\n");
    check("a: |\n  x\n \n  y\n  \n\n  z");
}

/// Scalars that share the bytes of the text, and some that are just too short for it.
#[test]
fn long_scalars() {
    for len in [255, 256, 257, 1000] {
        let (words, digits) = ("word ".repeat(len)[..len].trim_end().to_owned(), "7".repeat(len));
        check(&format!("a: {words}\nb: '{words}'\nc: \"{words}\" # {words}\n#{words}\nd: {digits}\n- {words}\n"));
        check(&format!(
            "- {words}\n- \"{words}\"\n- [{words}, '{words}']\n- {{a: {words}}}\n- {words}:\n- {words}: a\n"
        ));
        check(&format!(
            "- {words}\n  {words}\n- \"{words}\\n\"\n- !!str {words}\n- 1.{digits}\n- ~{words}\n- {words} # c"
        ));
    }
}

/// Block scalars that take the buffer of the reader.
#[test]
fn very_long_scalars() {
    let lines = "  line of a block scalar\n".repeat(3000);
    check(&format!("a: |\n{lines}b: >-\n{lines}c: |+\n{lines}\n\nd: \"{lines}\"\ne: |\n  x\n"));
    check(&format!("- |\n{lines}- {lines}\n- |2\n{lines}\n  ...\nf: 1\n"));
}

/// Pieces of lines.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "a",
        "b:",
        "c: ",
        "key: value",
        ", ",
        "{a: b",
        "[c, ",
        "d: \"e\"",
        "x: 1",
        "- ",
        "-",
        "? ",
        ": ",
        "\"q\"",
        "'r'",
        "\"",
        "'",
        "\\",
        " ",
        "  ",
        "\t",
        "# comment",
        " # comment",
        "{",
        "}",
        "[",
        "]",
        ",",
        "|",
        ">",
        "|-",
        "|2",
        "&n ",
        "*n",
        "!t ",
        "<<: ",
        "...",
        "---",
        "~",
        "true",
        "é",
        "\u{85}",
        "\u{2028}",
        "\r",
        "http://x",
        "a#b",
        ".5",
        "/p",
        "$x",
        "(y",
        "a,b[c]{d}\"e'f#g?h\\: ",
        "k\u{e9}y: ",
        "longer-key-than-eight: ",
        "words and: more",
        "words  and#more\t",
        "\"words  and",
        "'it''s  more",
        " \\n \\",
        "@",
        "%",
    ])
}

/// A line: some spaces and a few pieces.
fn line() -> impl Strategy<Value = String> {
    let plain = (0..4usize, prop::collection::vec(piece(), 0..4));
    plain.prop_map(|(indent, pieces)| format!("{}{}\n", " ".repeat(indent * 2), pieces.concat()))
}

const LONG_PLAIN: &str = concat!("l: ", long!());
const LONG_QUOTED: &str = concat!("- \"", long!(), "\" # ", long!());

/// A line as people write it, so that many texts are valid.
fn tidy_line() -> impl Strategy<Value = String> {
    let forms = prop::sample::select(vec![
        "a: 1",
        "b:",
        "c: x y",
        "z: [a, b c, 'd', \"e\", {f: 1, g: h i}]",
        "{a: [b], c: 'd'}",
        "[a, b:c, d: e, f]",
        "- d",
        "- e: 2",
        "-",
        "- - f",
        "g: |",
        "text",
        "h: \"q\"",
        "i: 'r'",
        "j: # c",
        "# c",
        "",
        "k: x # c",
        "- l: |",
        "m: {n: 1}",
        "- [o]",
        "p: >-",
        "- q:",
        "\"r\": s",
        "t : u",
        "v: w: x",
        "---",
        "&a y: *a",
        "n: 0",
        "on: 007",
        "a,b[c]{d}\"e'f#g?h: i",
        "- --flag=a:b#c",
        "u: \"two words  ",
        "u: 'two words  ",
        "and more\"",
        "it''s  more \\ '",
        "a few more words  ",
        "twenty-two-bytes-are-in-place: exactly twenty-two byt",
        LONG_PLAIN,
        LONG_QUOTED,
    ]);
    (0..4usize, forms).prop_map(|(indent, form)| format!("{}{form}\n", " ".repeat(indent * 2)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn any_lines(lines in prop::collection::vec(line(), 0..8), end in piece()) {
        check(&(lines.concat() + end));
    }

    #[test]
    fn tidy_lines(lines in prop::collection::vec(tidy_line(), 0..10)) {
        check(&lines.concat());
    }
}
