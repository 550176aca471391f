//! Helpers that the tests share.
#![allow(dead_code)]

use ytterby_diag::FileId;
use ytterby_yaml::write::{JsonOptions, JsonWriter, YamlWriter, write_tree};
use ytterby_yaml::{Comment, NodeId, ReadOptions, Scalar, Tree, View, parse};

/// Reads and writes a text, as `ytt -f -` does with plain YAML.
pub fn recode(input: &[u8], strict: bool) -> Result<Vec<u8>, String> {
    let options = ReadOptions { strict, ..ReadOptions::default() };
    let tree = parse(input, FileId(0), &options).map_err(|error| error.reference())?;
    let mut yaml = YamlWriter::new();
    write_tree(&tree, &mut yaml);
    Ok(yaml.finish())
}

/// Checks the output for `input`: YAML, or a message that begins with `yaml: `.
#[track_caller]
pub fn check(input: &str, expected: &str) {
    let found = match recode(input.as_bytes(), false) {
        Ok(out) => String::from_utf8(out).expect("the output is text"),
        Err(message) => message,
    };
    assert_eq!(found, expected, "for {input:?}");
}

/// Checks the JSON for `input`.
#[track_caller]
pub fn check_json(input: &str, options: JsonOptions, expected: &str) {
    let tree = parse(input.as_bytes(), FileId(0), &ReadOptions::default()).expect("the input is YAML");
    let mut json = JsonWriter::new(options);
    write_tree(&tree, &mut json);
    let found =
        json.finish().map(|out| String::from_utf8(out).expect("JSON is text")).unwrap_or_else(|problem| problem);
    assert_eq!(found, expected, "for {input:?}");
}

/// Checks which node has which comments: one line per node, `line name | comment | comment`, with
/// `^` before a comment that is above its node.
#[track_caller]
pub fn check_comments(input: &str, expected: &str) {
    let tree = parse(input.as_bytes(), FileId(0), &ReadOptions::default()).expect("the input is YAML");
    assert_eq!(outline(&tree, input).trim_end(), expected.trim(), "for {input:?}");
}

fn outline(tree: &Tree, input: &str) -> String {
    let mut out = String::new();
    let mut line = |offset: Option<u32>, name: &str, comments: &[Comment]| {
        let place = match offset {
            Some(offset) => (input[..offset as usize].matches('\n').count() + 1).to_string(),
            None => "?".to_owned(),
        };
        out.push_str(&format!("{place} {name}"));
        for comment in comments {
            out.push_str(&format!(" | {}{}", if comment.inline { "" } else { "^" }, comment.text));
        }
        out.push('\n');
    };
    for document in tree.documents() {
        line((!document.injected).then_some(document.pos.offset), "---", tree.comments(document));
        visit(tree, document.value, &mut line);
    }
    out
}

fn visit(tree: &Tree, id: NodeId, line: &mut impl FnMut(Option<u32>, &str, &[Comment])) {
    match tree.value(id) {
        View::Scalar(_) => {}
        View::Map(items) => {
            for item in items {
                let Scalar::Str(key) = &item.key else { panic!("the tests use string keys") };
                line(Some(item.pos.offset), &key.to_str(), tree.comments(item));
                visit(tree, item.value, line);
            }
        }
        View::Array(items) => {
            for item in items {
                line(Some(item.pos.offset), "-", tree.comments(item));
                visit(tree, item.value, line);
            }
        }
    }
}
