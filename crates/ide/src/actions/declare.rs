//! Code actions that declare data values in the schema.

use super::{Action, newline, quick_fix};
use crate::TextRange;
use crate::context::Cursor;
use crate::findings::{Finding, TextEdit};
use crate::model::is_identifier;
use crate::project::{FileRange, Meaning, ProjectSnapshot};
use crate::schema::{LibrarySchema, type_of};

/// Declares a data value that code reads.
pub(super) fn from_code(at: Cursor<'_>, finding: &Finding) -> Option<Action> {
    let cursor = Cursor { offset: finding.range.end, ..at };
    let (chain, part) = cursor.chain()?;
    let Meaning::DataValue(path) = at.project.meaning(at.index?, chain, part? + 1)? else { return None };
    let schema = at.project.schema_for(&at.file.path);
    declare(at.project, &schema, &path, |key| format!("{key}: \"\""))
}

/// Declares a key that a values file or data values document sets, with the type of its value.
pub(super) fn from_values(at: Cursor<'_>, finding: &Finding) -> Option<Action> {
    let model = at.model();
    let item = model.key_at(finding.range.start)?;
    let schema = at.schema(model.items[item].document);
    let path: Vec<Option<String>> = model.path(item).into_iter().map(|step| step.map(str::to_owned)).collect();
    let value = model.items[item].value.of(at.text());
    let is_scalar = !value.is_empty()
        && !value.starts_with(['{', '[', '|', '>', '*', '&'])
        && !matches!(type_of(value), "null" | "any");
    let has_code = crate::schema::code_of_value(model, item).is_some();
    declare(at.project, &schema, &path, |key| match is_scalar && !has_code {
        true => format!("{key}: {value}"),
        false => format!("#@schema/type any=True\n{key}: null"),
    })
}

fn declare(
    project: &ProjectSnapshot,
    schema: &LibrarySchema,
    path: &[Option<String>],
    line: impl Fn(&str) -> String,
) -> Option<Action> {
    let (name, above) = path.split_last()?;
    let name = name.as_deref()?;
    let owner = if above.is_empty() { None } else { Some(schema.find(above)?) };
    let key = if is_identifier(name) { name.to_owned() } else { format!("{name:?}") };
    let edit = insert_key(project, schema, owner, &line(&key))?;
    let shown: Vec<&str> = path.iter().map(|step| step.as_deref().unwrap_or("[]")).collect();
    let shown = shown.join(".");
    let title = match schema.is_declared {
        true => format!("Declare data value {shown} in the schema"),
        false => format!("Add data value {shown} to the data values"),
    };
    Some(quick_fix(title, vec![edit]))
}

/// The edit that adds lines of YAML to a map of the schema, after its last key.
pub(super) fn insert_key(
    project: &ProjectSnapshot,
    schema: &LibrarySchema,
    owner: Option<usize>,
    text: &str,
) -> Option<TextEdit> {
    let (place, indent, last_line) = match owner {
        Some(owner) => {
            let last = schema.nodes[owner].children.last().and_then(|child| schema.nodes[*child].places.first());
            let place = last.or(schema.nodes[owner].places.first())?;
            let (column, end) = item_lines(project, place)?;
            let indent = if last.is_some() { column } else { column + 2 };
            (place.clone(), indent, end)
        }
        None => {
            let last = schema.top.last().and_then(|node| schema.nodes[*node].places.first());
            match last {
                Some(place) => {
                    let (column, end) = item_lines(project, place)?;
                    (place.clone(), column, end)
                }
                None => empty_schema(project)?,
            }
        }
    };
    let file = project.file(&place.path)?;
    let lines = &file.model().lines;
    let newline = newline(&file.text);
    let blanks = " ".repeat(indent);
    let line = format!("{blanks}{}", text.replace('\n', &format!("{newline}{blanks}")));
    // After the last line; add a missing line break at the end of the text.
    Some(match last_line + 1 < lines.count() {
        true => TextEdit::insert(&place.path, lines.start(last_line + 1), format!("{line}{newline}")),
        false => TextEdit::insert(&place.path, file.text.len(), format!("{newline}{line}{newline}")),
    })
}

/// The column and the last line of the item at a place. Keys in `{…}` have no lines of their own.
fn item_lines(project: &ProjectSnapshot, place: &FileRange) -> Option<(usize, usize)> {
    let file = project.file(&place.path)?;
    let model = file.model();
    let item = model.items.iter().find(|item| item.key_range == place.range && !item.is_flow)?;
    Some((item.column, item.end_line))
}

/// A schema document without keys.
fn empty_schema(project: &ProjectSnapshot) -> Option<(FileRange, usize, usize)> {
    project.inputs().find_map(|(_, source)| {
        let model = source.file.model();
        let document = (0..model.documents.len()).find(|document| model.is_schema(*document))?;
        let line = model.documents[document].line;
        let place = FileRange { path: source.file.path.clone(), range: TextRange::default() };
        Some((place, 0, line))
    })
}
