//! Warns about what YAML reads otherwise than people think: keys that are booleans, keys given twice.
//!
//! ytt says nothing about either, so these warnings are for those who asked for more than its texts. They show the key
//! and not the value, which may be a secret: nobody knows the schema yet.

use std::collections::HashMap;

use ytterby_diag::{Kind, Pos};
use ytterby_yaml::{MapItem, NodeId, Scalar, Tree, View};

use crate::node::key_text;
use crate::run::Run;
use crate::template;

/// Warns about keys such as `on` and `y`, except in schemas, which are told about each key that is no string.
pub(crate) fn warn_about_boolean_keys(tree: &Tree, run: &Run) {
    if !is_wanted(run) {
        return;
    }
    let docs = tree.documents().iter().filter(|doc| !template::annotates(tree, *doc, "data/values-schema"));
    docs.for_each(|doc| each_map(tree, doc.value, &mut |items| boolean_keys(run, items)));
}

/// Warns about keys that stand twice in a map of a values file.
pub(crate) fn warn_about_repeated_keys(tree: &Tree, run: &Run) {
    if is_wanted(run) {
        let docs = tree.documents();
        docs.iter().for_each(|doc| each_map(tree, doc.value, &mut |items| repeated_keys(tree, run, items)));
    }
}

fn is_wanted(run: &Run) -> bool {
    run.options.cut_lines && run.is_beyond_ytt()
}

fn each_map(tree: &Tree, id: NodeId, visit: &mut dyn FnMut(&[MapItem])) {
    match tree.value(id) {
        View::Scalar(_) => {}
        View::Map(items) => {
            visit(items);
            items.iter().for_each(|item| crate::deep(|| each_map(tree, item.value, visit)));
        }
        View::Array(items) => items.iter().for_each(|item| crate::deep(|| each_map(tree, item.value, visit))),
    }
}

fn boolean_keys(run: &Run, items: &[MapItem]) {
    for item in items {
        let Scalar::Bool(value) = item.key else { continue };
        if let Some(word) = word_at(run, item.pos).filter(|word| !matches!(&*word.to_lowercase(), "true" | "false")) {
            let text =
                format!("in YAML, the key {word} is the boolean {value}; to keep it as it is, quote it: \"{word}\"");
            run.warn_showing(Kind::Other, item.pos, Some(format!("{word}: …")), text);
        }
    }
}

/// The word that begins at a place.
fn word_at(run: &Run, pos: Pos) -> Option<String> {
    let source = run.sources.get(pos.file)?;
    let rest = source.text().get(pos.offset as usize..)?;
    let word: Vec<u8> = rest.iter().copied().take_while(u8::is_ascii_alphabetic).take(6).collect();
    String::from_utf8(word).ok().filter(|word| !word.is_empty())
}

fn repeated_keys(tree: &Tree, run: &Run, items: &[MapItem]) {
    let mut seen: HashMap<String, &MapItem> = HashMap::with_capacity(items.len());
    for item in items {
        let key = key_text(&item.key).into_owned();
        let Some(first) = seen.insert(key.clone(), item).filter(|first| first.key == item.key) else { continue };
        let is_map = |item: &MapItem| matches!(tree.value(item.value), View::Map(_));
        let outcome = if is_map(first) && is_map(item) { "both are merged" } else { "this one counts" };
        let text = format!("key \"{key}\" stands twice in its map, first at {}; {outcome}", run.locate(first.pos));
        run.warn_showing(Kind::Other, item.pos, Some(format!("{key}: …")), text);
    }
}
