//! Code actions that move values from templates to the schema.

use super::declare::insert_key;
use super::{Action, ActionKind, newline};
use crate::TextRange;
use crate::complete::load_line;
use crate::context::Cursor;
use crate::findings::TextEdit;
use crate::model::{DefKind, Model, ModelKind, is_identifier};
use crate::schema::{LibrarySchema, scalar_text, type_of};

/// Moves the value at a selection into the schema.
pub(super) fn extract(at: Cursor<'_>, selection: TextRange) -> Option<Action> {
    let (model, text) = (at.model(), at.text());
    if !at.is_template() || at.file.kind() != ModelKind::Yaml || crate::file::is_project_file(&at.file.path) {
        return None;
    }
    // Extract the whole list, not one of its items.
    let item = model.value_at(selection.start).filter(|item| model.items[*item].value.touches(selection.end))?;
    let item = std::iter::successors(Some(item), |item| model.items[*item].parent)
        .find(|item| !model.items[*item].is_flow)
        .filter(|item| !model.items[*item].value.is_empty())?;
    let written = &model.items[item];
    let is_special = model.is_schema(written.document) || model.is_values(written.document);
    let schema = at.project.schema_for(&at.file.path);
    if is_special || !schema.is_declared || crate::schema::code_of_value(model, item).is_some() {
        return None;
    }
    let name = free_name(model, item, &schema);
    let declared = declaration(model, text, item, &name)?;
    // The file may load the data module under another name.
    let module = model.definitions.iter().find(
        |definition| matches!(&definition.kind, DefKind::Loaded { load, .. } if model.loads[*load].path == "@ytt:data"),
    );
    let module_name = module.map_or("data", |definition| definition.name.as_str());
    let code = format!("#@ {module_name}.values.{name}");
    let mut edits = replace_value(at, item, &code)?;
    edits.push(insert_key(at.project, &schema, None, &declared)?);
    if module.is_none() {
        let (offset, line) = load_line(at, "data");
        edits.push(TextEdit::insert(&at.file.path, offset, line));
    }
    Some(Action {
        title: format!("Extract to data value {name} in the schema"),
        kind: ActionKind::Extract,
        edits,
        is_preferred: false,
        finding: None,
    })
}

/// The edits that replace a value by code. Code extends to the end of its line, so a comment there
/// moves to the line above.
fn replace_value(at: Cursor<'_>, item: usize, code: &str) -> Option<Vec<TextEdit>> {
    let (model, text) = (at.model(), at.text());
    let value = model.items[item].value;
    let line = model.lines.line_of(value.end);
    let end = model.lines.range(text, line).end;
    let rest = text[value.end..end].trim();
    if rest.is_empty() {
        return Some(vec![TextEdit::new(&at.file.path, value, code)]);
    }
    if !rest.starts_with('#') || rest.starts_with("#@") {
        return None;
    }
    let first = model.lines.line_of(value.start);
    let start = model.lines.start(first);
    let head = &text[start..value.start];
    let indent: String = head.chars().take_while(|c| c.is_whitespace()).collect();
    Some(vec![
        TextEdit::insert(&at.file.path, start, format!("{indent}{rest}{}", newline(text))),
        TextEdit::new(&at.file.path, TextRange::new(value.start, end), code),
    ])
}

/// A name for the new data value, made from the key, that the schema does not have.
fn free_name(model: &Model, item: usize, schema: &LibrarySchema) -> String {
    // YAML treats some words as booleans.
    let is_word = |name: &str| {
        let name = name.to_ascii_lowercase();
        matches!(name.as_str(), "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null")
    };
    let key = std::iter::successors(Some(item), |item| model.items[*item].parent)
        .find_map(|item| model.items[item].key.clone())
        .unwrap_or_else(|| "value".to_owned());
    let mut name: String = key.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if !is_identifier(&name) || is_word(&name) {
        name = format!("value_{name}");
    }
    let base = name.clone();
    let mut number = 2;
    while schema.declares(None, &name) {
        name = format!("{base}{number}");
        number += 1;
    }
    name
}

/// The lines that declare a value in the schema: a scalar as it is, a list with its default.
fn declaration(model: &Model, text: &str, item: usize, name: &str) -> Option<String> {
    let written = &model.items[item];
    let value = written.value.of(text);
    if !value.starts_with('[') {
        let is_scalar = !value.starts_with(['{', '|', '>', '*', '&', '!']) && !value.contains('\n');
        return is_scalar.then(|| match type_of(value) {
            "null" => format!("#@schema/nullable\n{name}: \"\""),
            _ => format!("{name}: {value}"),
        });
    }
    let items: Vec<&str> =
        model.children(written.document, Some(item)).map(|item| model.items[item].value.of(text)).collect();
    let of = type_of(items.first()?);
    let code = |item: &&str| match type_of(item) {
        "string" => Some(format!("{:?}", scalar_text(item))),
        "boolean" => Some(if scalar_text(item).eq_ignore_ascii_case("true") { "True" } else { "False" }.to_owned()),
        "integer" | "float" => Some((*item).to_owned()),
        _ => None,
    };
    let example = match of {
        "string" => "\"\"",
        "boolean" => "false",
        "integer" => "0",
        "float" => "0.0",
        _ => return None,
    };
    let is_nested = |item: &&str| item.is_empty() || item.starts_with(['{', '[']) || type_of(item) != of;
    if items.iter().any(is_nested) {
        return None;
    }
    let items: Option<Vec<String>> = items.iter().map(code).collect();
    Some(format!("#@schema/default [{}]\n{name}:\n- {example}", items?.join(", ")))
}
