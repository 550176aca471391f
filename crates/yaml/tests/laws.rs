//! Properties: written values read back as the same, and every input is either read or refused with
//! an error.

mod common;

use proptest::prelude::*;
use ytterby_diag::FileId;
use ytterby_yaml::write::YamlWriter;
use ytterby_yaml::{NodeId, ReadOptions, Scalar, Sink, Tree, View, format, parse};

/// A generated value.
#[derive(Clone, Debug)]
enum Node {
    Scalar(Scalar),
    Map(Vec<(Scalar, Node)>),
    Array(Vec<Node>),
}

fn write(node: &Node, sink: &mut YamlWriter) {
    match node {
        Node::Scalar(value) => sink.scalar(value),
        Node::Map(items) => {
            sink.begin_map(items.len());
            for (key, value) in items {
                sink.key(key);
                write(value, sink);
            }
            sink.end_map();
        }
        Node::Array(items) => {
            sink.begin_array(items.len());
            items.iter().for_each(|item| write(item, sink));
            sink.end_array();
        }
    }
}

fn same(node: &Node, tree: &Tree, id: NodeId) -> bool {
    match (node, tree.value(id)) {
        (Node::Scalar(Scalar::Float(a)), View::Scalar(Scalar::Int(b))) => *a == *b as f64,
        (Node::Scalar(a), View::Scalar(b)) => a == b,
        (Node::Map(a), View::Map(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|((key, value), item)| *key == item.key && same(value, tree, item.value))
        }
        (Node::Array(a), View::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, tree, b.value)),
        _ => false,
    }
}

/// Strings with all characters that are special in YAML. LS and PS are left out: the reference's
/// layout changes them.
fn string() -> impl Strategy<Value = Scalar> {
    let piece = prop_oneof![
        "[a-z0-9]{1,5}",
        "[-?:,\\[\\]{}#&*!|>'\"%@` \n\t.~<=\\\\/_+]{1,3}",
        proptest::sample::select(
            &["é", "😀", "\u{7}", "\r", "null", "yes", "1:30", "0x1f", "1e3", "2001-01-01", "---"][..]
        )
        .prop_map(str::to_owned),
    ];
    proptest::collection::vec(piece, 0..5).prop_map(|pieces| Scalar::from(pieces.concat().as_str()))
}

fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        4 => string(),
        1 => Just(Scalar::Null),
        1 => any::<bool>().prop_map(Scalar::Bool),
        1 => any::<i64>().prop_map(Scalar::Int),
        1 => (i64::MAX as u64 + 1..).prop_map(Scalar::UInt),
        1 => (-1e9..1e9).prop_map(Scalar::Float),
    ]
}

/// A key. `<<` is written without quotes, as the reference does, and read as a merge.
fn key() -> impl Strategy<Value = Scalar> {
    string().prop_filter("a merge key", |key| *key != Scalar::from("<<"))
}

fn node() -> impl Strategy<Value = Node> {
    scalar().prop_map(Node::Scalar).prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec((key(), inner.clone()), 0..5).prop_map(Node::Map),
            proptest::collection::vec(inner, 0..5).prop_map(Node::Array),
        ]
    })
}

/// Text with every construct of YAML, mostly in the wrong place.
fn yaml_like() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b",
        "- ",
        ": ",
        "? ",
        "\n",
        "\n  ",
        "\n    ",
        " ",
        "\n- ",
        "a: ",
        "\nb: ",
        " # c",
        "{",
        "}",
        "[",
        "]",
        ", ",
        "\"",
        "'",
        "|\n",
        ">-\n",
        "&a ",
        "*a",
        "!!str ",
        "!<x> ",
        "<<: ",
        "\n---\n",
        "\n...\n",
        "%YAML 1.1\n",
        "\t",
        "\r\n",
        "\u{85}",
        "é",
        "\\x41",
        "\\",
        "@",
        "`",
        "~",
        "1",
        "%",
        "null",
        "'x'",
        "\"y\"",
        "[1, 2]",
        "{k: v}",
    ];
    let piece = proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned);
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_values_read_back(node in node()) {
        let mut yaml = YamlWriter::new();
        yaml.document();
        write(&node, &mut yaml);
        let text = yaml.finish();
        let tree = parse(&text, FileId(0), &ReadOptions::default());
        let tree = tree.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)));
        let document = &tree.documents()[0];
        prop_assert!(same(&node, &tree, document.value), "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn writing_is_idempotent(input in yaml_like()) {
        // An array that is a key is written with its lines, as in the reference.
        let shows_lines = |text: &[u8]| text.windows(7).any(|piece| piece == b"  line:");
        if let Ok(first) = common::recode(input.as_bytes(), false)
            && !shows_lines(&first)
        {
            let second = common::recode(&first, false);
            prop_assert_eq!(second.as_deref(), Ok(&first[..]), "{:?}", input);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(input in yaml_like(), strict in any::<bool>()) {
        if let Ok(tree) = parse(input.as_bytes(), FileId(0), &ReadOptions { strict, ..ReadOptions::default() }) {
            format(&tree);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(input in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&input, FileId(0), &ReadOptions::default());
    }
}
