//! Warns about common mistakes that are not errors: boolean or duplicate keys, code in strings,
//! values files passed as templates, runs without output.
//!
//! ytt has no such warnings, so they are omitted from its text, and the checks do not run if only
//! that text is shown.

use std::collections::HashMap;

use ytterby_diag::{Diagnostic, Edit, Help, Id, Label, Part, Pos, Role, Safety, Text};
use ytterby_yaml::{MapItem, NodeId, Scalar, Tree, View};

use crate::node::key_text;
use crate::run::Run;
use crate::schema::Schema;
use crate::template;

/// Warns about keys such as `on` and `y`, except in schemas, which report each key that is not a
/// string.
pub(crate) fn warn_about_boolean_keys(tree: &Tree, run: &Run) {
    if !is_wanted(run) {
        return;
    }
    let docs = tree.documents().iter().filter(|doc| !template::annotates(tree, *doc, "data/values-schema"));
    docs.for_each(|doc| each_map(tree, doc.value, &mut |items| boolean_keys(run, items)));
}

/// Warns about `{{ x }}`, which YAML reads as a map whose key is a map.
pub(crate) fn warn_about_braces(tree: &Tree, run: &Run) {
    if !is_wanted(run) {
        return;
    }
    let mut found: Option<Pos> = None;
    let docs = tree.documents().iter();
    docs.for_each(|doc| {
        each_map(tree, doc.value, &mut |items| {
            let braces =
                items.iter().find(|item| matches!(item.key, Scalar::Complex(_)) && is_in_braces(run, item.pos));
            found = found.or(braces.map(|item| item.pos));
        });
    });
    if let Some(pos) = found {
        let text = "this file looks like a Helm or Jinja template; `{{ … }}` is written as a map whose key is a map";
        let help = "Helm and Jinja templates are not rendered here; put the braces in quotes if they are text";
        run.warn(Diagnostic::warning(Id::INPUT_HELM, text).at(pos, Part::Key).help(help).beyond_text());
    }
}

/// Whether the bracket at a position follows another one.
fn is_in_braces(run: &Run, pos: Pos) -> bool {
    let source = run.sources.get(pos.file);
    let at = pos.offset as usize;
    source.is_some_and(|source| at > 0 && source.text().get(at - 1..=at) == Some(b"{{"))
}

/// Warns about duplicate keys in maps of a values file.
pub(crate) fn warn_about_repeated_keys(tree: &Tree, run: &Run) {
    if is_wanted(run) {
        let docs = tree.documents();
        docs.iter().for_each(|doc| each_map(tree, doc.value, &mut |items| repeated_keys(tree, run, items)));
    }
}

fn is_wanted(run: &Run) -> bool {
    run.options.look_for_slips && run.is_beyond_ytt()
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
            let quoted = format!("\"{word}\"");
            let edit = Edit::replace(item.pos, Part::Bytes(word.len() as u32), quoted.clone());
            let help = Help::new(format!("quote it: {quoted}"));
            let help = help.fixed_by("Quote the key", vec![edit], Safety::Likely);
            let warning = Diagnostic::warning(Id::YAML_BOOLEAN_KEY, text).at(item.pos, Part::Key);
            run.warn(warning.help(help).beyond_text());
        }
    }
}

/// The word that begins at a position.
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
        let text = Text::new(format!("duplicate key \"{key}\", first given at ")).at(first.pos);
        let text = text.then(format!("; {outcome}"));
        let warning = Diagnostic::warning(Id::YAML_DUPLICATE_KEY, text).at(item.pos, Part::Key);
        let first = Label::new(Role::Related, first.pos, Part::Key).text("first given here");
        run.warn(warning.label(first).beyond_text());
    }
}

/// Warns about code that YAML reads as text: `(@= x @)` in strings that are not templates, `"#@ x"`
/// in quotes.
pub(crate) fn warn_about_code_in_strings(tree: &Tree, run: &Run) {
    if is_wanted(run) && template::has_templating(tree) {
        for doc in tree.documents() {
            strings(tree, run, doc.value, doc.pos, template::annotates(tree, doc, TEXT_TEMPLATES));
        }
    }
}

/// The annotation that turns strings into templates.
const TEXT_TEMPLATES: &str = "yaml/text-templated-strings";

fn strings(tree: &Tree, run: &Run, id: NodeId, owner: Pos, are_templates: bool) {
    match tree.value(id) {
        View::Scalar(Scalar::Str(text)) => string(run, owner, &text.to_str(), are_templates),
        View::Scalar(_) => {}
        View::Map(items) => {
            for item in items {
                let are_templates = are_templates || template::annotates(tree, item, TEXT_TEMPLATES);
                crate::deep(|| strings(tree, run, item.value, item.pos, are_templates));
            }
        }
        View::Array(items) => {
            for item in items {
                let are_templates = are_templates || template::annotates(tree, item, TEXT_TEMPLATES);
                crate::deep(|| strings(tree, run, item.value, item.pos, are_templates));
            }
        }
    }
}

fn string(run: &Run, owner: Pos, text: &str, are_templates: bool) {
    let warn = |text: &'static str, help: &'static str| {
        let warning = Diagnostic::warning(Id::INPUT_TEXT_MARKS, text).at(owner, Part::Value);
        run.warn(warning.help(help).beyond_text());
    };
    let has_marks = ["(@=", "(@-", "(@ "].iter().any(|mark| {
        let opened = text.find(mark).map(|at| &text[at + mark.len()..]);
        opened.is_some_and(|rest| rest.contains("@)"))
    });
    if has_marks && !are_templates {
        warn(
            "this string is no template: (@ … @) is text here",
            "annotate it, or a node around it, with #@yaml/text-templated-strings",
        );
    } else if text.starts_with("#@ ") {
        warn("code in quotes is text", "write the code as a comment, without quotes: `key: #@ expression`");
    }
}

/// Warns about a plain file that contains only data values: it was probably meant for
/// `--data-values-file`.
pub(crate) fn warn_about_plain_values(tree: &Tree, run: &Run, schema: &Schema) {
    let Some(ty) = schema.root.as_map().filter(|_| is_wanted(run)) else { return };
    if template::has_templating(tree) {
        return;
    }
    let mut docs = tree.documents().iter().filter(|doc| !doc.injected);
    let (Some(doc), None) = (docs.next(), docs.next()) else { return };
    let View::Map(items) = tree.value(doc.value) else { return };
    let is_declared = |item: &MapItem| ty.names().iter().any(|name| *name == key_text(&item.key));
    if items.is_empty() || !items.iter().all(is_declared) {
        return;
    }
    let name = run.sources.get(tree.file()).map(|source| source.place().to_owned()).unwrap_or_default();
    let text = "this file is written as it is, but all its keys are data values";
    let warning = Diagnostic::warning(Id::INPUT_PLAIN_VALUES, text).at(items[0].pos, Part::Key);
    let help = format!("to give data values, use --data-values-file {name}");
    run.warn(warning.help(help).beyond_text());
}

/// Warns about a run without output.
pub(crate) fn warn_about_no_output(run: &Run, files: usize) {
    if is_wanted(run) {
        let text = match files {
            0 => "nothing to write: no files were given",
            _ => "nothing to write: no file is a template or plain YAML with content",
        };
        let help = match files {
            0 => {
                "give files and directories by -f; `ytterby build` renders a project, `ytterby --help` lists all commands"
            }
            _ => "a schema and data values alone give no output; give templates by -f",
        };
        run.warn(Diagnostic::warning(Id::INPUT_NO_OUTPUT, text).help(help).beyond_text());
    }
}
