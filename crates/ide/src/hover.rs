//! Descriptions of what is under the cursor.
//!
//! `hover` finds out what kind of place the cursor is at: an annotation, code, or a key. Texts
//! about the language come from `reference`, those about data values from the schema, and both are
//! Markdown.

use crate::config;
use crate::context::{Cursor, Knowledge};
use crate::file;
use crate::model::TokenKind;
use crate::project::Meaning;
use crate::{TextRange, describe, dictionaries, infer, navigate, reference};

/// The description of something under the cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hover {
    /// The described range.
    pub range: TextRange,
    /// The description.
    pub markdown: String,
}

/// Describes what is under the cursor.
pub fn hover(at: Cursor<'_>, known: Knowledge<'_>) -> Option<Hover> {
    let model = at.model();
    if file::is_project_file(&at.file.path) {
        if let Some((navigate::Symbol::Value(_, path), range)) = navigate::symbol(at) {
            let schema = at.project.schema();
            return Some(Hover { range, markdown: describe::value(&schema, schema.find(&path)?, known) });
        }
        let item = model.key_at(at.offset)?;
        let key = config::about(&model.path(item))?;
        let markdown = format!("**{}**\n\n{}", key.name, key.about);
        return Some(Hover { range: model.items[item].key_range, markdown });
    }
    if at.is_template() {
        if let Some(hover) = annotation(at) {
            return Some(hover);
        }
        if at.region().is_some() {
            return code(at, known);
        }
    }
    key(at, known)
}

/// An annotation, one of its arguments, or a rule.
fn annotation(at: Cursor<'_>) -> Option<Hover> {
    let model = at.model();
    let annotation = &model.annotations[model.annotation_at(at.offset)?];
    if annotation.name_range.touches(at.offset) {
        let entry = reference::annotation(&annotation.name)?;
        return Some(Hover { range: annotation.name_range, markdown: entry.markdown("yaml", "#@") });
    }
    let (index, token) = at.token()?;
    let is_name = token.kind == TokenKind::Name
        && model.tokens.get(index + 1).is_some_and(|next| next.range.of(at.text()) == "=");
    if !is_name {
        return None;
    }
    let name = token.range.of(at.text());
    let entry = reference::annotation(&annotation.name)?;
    let about = entry.arguments.iter().find(|(argument, _)| argument == name);
    if let Some((_, about)) = about {
        return Some(Hover { range: token.range, markdown: format!("**{name}** of `@{}`\n\n{about}", entry.name) });
    }
    let takes_rules = matches!(
        annotation.name.as_str(),
        "schema/validation" | "schema/validate" | "assert/validate" | "schema/validation-defaults-for-strings"
    );
    let rule = reference::rule(name).filter(|_| takes_rules)?;
    Some(Hover { range: token.range, markdown: rule.markdown("python", "") })
}

fn code(at: Cursor<'_>, known: Knowledge<'_>) -> Option<Hover> {
    let model = at.model();
    let file = at.index?;
    // A load: the module or symbol in quotes.
    if let Some(load) = model.loads.iter().find(|load| load.path_range.touches(at.offset)) {
        let module = load.path.strip_prefix("@ytt:").and_then(reference::module)?;
        let names: Vec<&str> = module.members.iter().map(|entry| entry.name.as_str()).collect();
        let markdown = format!("**@ytt:{}**\n\n{}\n\n`{}`", module.name, module.text, names.join("`, `"));
        return Some(Hover { range: load.path_range, markdown });
    }
    if let Some((chain, part)) = at.chain() {
        let range = part.map_or(chain.root_range, |part| chain.parts[part].range);
        let meaning = at.project.meaning(file, chain, part.map_or(0, |part| part + 1));
        if let Some(markdown) = meaning.and_then(|meaning| meaning_text(at, &meaning, known)) {
            return Some(Hover { range, markdown });
        }
    }
    if let Some((field, range)) = at.field() {
        let target = field.target.map(|(file, definition)| Meaning::Definition(file, definition));
        let text = target.and_then(|meaning| meaning_text(at, &meaning, known));
        let plain = || format!("```python\n{} = {}\n```\n", field.name, field.value);
        return Some(Hover { range, markdown: text.unwrap_or_else(plain) });
    }
    if let Some((navigate::Symbol::Value(library, path), range)) = dictionaries::key_at(at) {
        let schema = at.project.schema_of_library(&library);
        return Some(Hover { range, markdown: describe::value(&schema, schema.find(&path)?, Knowledge::default()) });
    }
    let (_, token) = at.token()?;
    if let Some(definition) = model.definitions.iter().position(|definition| definition.range.touches(at.offset)) {
        let meaning = at.project.resolve(file, definition)?;
        return Some(Hover {
            range: model.definitions[definition].range,
            markdown: meaning_text(at, &meaning, known)?,
        });
    }
    if token.kind == TokenKind::Name {
        let reference = model.references.iter().position(|reference| reference.range == token.range);
        if let Some(meaning) = reference.and_then(|index| at.project.meaning_of_reference(file, index)) {
            return Some(Hover { range: token.range, markdown: meaning_text(at, &meaning, known)? });
        }
    }
    let word = token.range.of(at.text());
    let is_attribute = at.text()[..token.range.start].ends_with('.');
    let entry = match is_attribute {
        true => infer::receiver(at, token.range.start - 1).and_then(|of| infer::method(of, word)),
        false => reference::builtin(word),
    };
    entry.map(|entry| Hover { range: token.range, markdown: entry.markdown("python", "") })
}

fn meaning_text(at: Cursor<'_>, meaning: &Meaning, known: Knowledge<'_>) -> Option<String> {
    match meaning {
        Meaning::DataValue(path) if path.is_empty() => {
            reference::member("data", "values").map(|entry| entry.markdown("python", ""))
        }
        Meaning::DataValue(path) => {
            let schema = at.project.schema_for(&at.file.path);
            let node = schema.find(path)?;
            let is_root = at.index.is_none_or(|index| at.project.library(&at.project.files[index].logical).is_empty());
            let known = if is_root { known } else { Knowledge::default() };
            Some(describe::value(&schema, node, known))
        }
        Meaning::Module(name) => {
            let module = reference::module(name)?;
            let names: Vec<&str> = module.members.iter().map(|entry| entry.name.as_str()).collect();
            Some(format!("**@ytt:{name}**\n\n{}\n\n`{}`", module.text, names.join("`, `")))
        }
        Meaning::ModuleMember(module, name) => {
            reference::member(module, name).map(|entry| entry.markdown("python", ""))
        }
        Meaning::Definition(file, definition) => {
            let source = &at.project.files[*file];
            let from = if source.file.path == at.file.path { "" } else { &source.logical };
            Some(describe::definition(&source.file.model().definitions[*definition], from))
        }
    }
}

/// A key of a schema, of values or of a manifest.
fn key(at: Cursor<'_>, known: Knowledge<'_>) -> Option<Hover> {
    let model = at.model();
    let item = model.key_at(at.offset).or_else(|| model.value_at(at.offset))?;
    let range = model.items[item].key_range;
    let document = model.items[item].document;
    let path = model.path(item);
    if at.is_values_file() || model.is_schema(document) || model.is_values(document) {
        let schema = at.schema(document);
        let node = schema.find(&path)?;
        let known = if at.library(document).is_empty() { known } else { Knowledge::default() };
        return Some(Hover { range, markdown: describe::value(&schema, node, known) });
    }
    let (api_version, kind) = at.kind(document)?;
    let field = at.catalog()?.field(&api_version, &kind, &path)?;
    let names: String = path.iter().map(|step| step.map_or("[]".to_owned(), |name| format!(".{name}"))).collect();
    let mut markdown = format!("**{}**: `{}`\n", names.trim_start_matches('.'), field.type_name);
    if !field.description.is_empty() {
        markdown.push_str(&format!("\n{}\n", field.description));
    }
    markdown.push_str(&format!("\n- Field of {kind} ({api_version})"));
    if field.is_required {
        markdown.push_str("\n- Required");
    }
    if !field.members.is_empty() {
        markdown.push_str(&format!("\n- One of `{}`", field.members.join("`, `")));
    }
    for rule in &field.rules {
        markdown.push_str(&format!("\n- {rule}"));
    }
    Some(Hover { range, markdown })
}
