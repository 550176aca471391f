//! Completes keys and values in values files and data values documents.
//!
//! Keys come from the schema of the library, without those that are present; values are the members
//! of enumerations, booleans and null. The same serves `set:` in the project file. The end of the
//! file finds where the cursor is in YAML.

use super::{Completion, CompletionKind, key_item};
use crate::context::{Cursor, Knowledge};
use crate::schema::{LibrarySchema, yaml_literal};
use crate::{TextRange, describe};

pub(super) fn complete(at: Cursor<'_>, known: Knowledge<'_>) -> Vec<Completion> {
    let schema = at.schema(at.document());
    let model = at.model();
    if let Some((parent, is_key)) = flow_place(at) {
        let path = parent.map(|parent| model.path(parent)).unwrap_or_default();
        if is_key {
            return keys(at, &schema, &path, &given_keys(at, parent), known, true);
        }
    }
    if let Some(item) = value_item(at) {
        return members(at, &schema, item, &model.path(item));
    }
    let (parent, column) = at.surroundings();
    let parent = parent.filter(|_| column > 0 || parent.is_some_and(|parent| model.items[parent].is_array_item));
    let mut path = parent.map(|parent| model.path(parent)).unwrap_or_default();
    // Below a key whose value is an array, a dash is required first.
    let node = schema.find(&path);
    if let Some(node) = node.filter(|node| schema.nodes[*node].element.is_some()) {
        let _ = node;
        path.push(None);
    }
    keys(at, &schema, &path, &given_keys(at, parent), known, false)
}

fn keys(
    at: Cursor<'_>,
    schema: &LibrarySchema,
    path: &[Option<&str>],
    given: &[String],
    known: Knowledge<'_>,
    in_flow: bool,
) -> Vec<Completion> {
    let owner = match path.is_empty() {
        true => None,
        false => match schema.find(path) {
            Some(node) => Some(node),
            None => return Vec::new(),
        },
    };
    let range = key_range(at);
    let is_open = |node: &&usize| !schema.nodes[**node].is_pattern && !given.contains(&schema.nodes[**node].key);
    let open = schema.keys(owner).iter().filter(is_open);
    let item = |node: &usize| {
        let declared = &schema.nodes[*node];
        let after = match (declared.type_name.as_str(), in_flow) {
            ("map", false) => format!("\n{}", " ".repeat(column_of(at) + 2)),
            ("array", false) => format!("\n{}- ", " ".repeat(column_of(at))),
            _ => " ".to_owned(),
        };
        let item = key_item(at, &declared.key, &after, range);
        let item = item.detail(describe::short(schema, *node)).documentation(describe::value(schema, *node, known));
        let rank = if declared.is_required { 1 } else { 3 };
        Completion { is_deprecated: declared.is_retired, rank, ..item }
    };
    open.map(item).collect()
}

/// The data values that `set:` of the project file can set.
pub(super) fn set_keys(at: Cursor<'_>, path: &[Option<&str>], given: &[String], range: TextRange) -> Vec<Completion> {
    let schema = at.project.schema();
    // A key may be dotted: `db.host`.
    let typed = range.of(at.text());
    let prefix = typed.rfind('.').map_or("", |dot| &typed[..=dot]);
    let mut whole: Vec<Option<&str>> = path.iter().flatten().flat_map(|key| key.split('.')).map(Some).collect();
    whole.extend(prefix.split_terminator('.').map(Some));
    let owner = if whole.is_empty() { None } else { schema.find(&whole) };
    if owner.is_none() && !whole.is_empty() {
        return Vec::new();
    }
    let open = schema.keys(owner).iter();
    let open = open.filter(|node| !given.contains(&format!("{prefix}{}", schema.nodes[**node].key)));
    open.map(|node| {
        let key = format!("{prefix}{}", schema.nodes[*node].key);
        let item = key_item(at, &key, " ", range);
        item.documentation(describe::value(&schema, *node, Knowledge::default()))
    })
    .collect()
}

/// The values that a key below `set:` of the project file can have; nothing where the cursor is not
/// at such a value.
pub(super) fn set_members(at: Cursor<'_>) -> Option<Vec<Completion>> {
    if let Some((_, true)) = flow_place(at) {
        return None;
    }
    let item = value_item(at)?;
    let path = crate::navigate::set_path(at.model(), item)?;
    Some(members(at, &at.project.schema(), item, &path))
}

/// The members of an enumeration, booleans, null.
fn members(at: Cursor<'_>, schema: &LibrarySchema, item: usize, path: &[Option<impl AsRef<str>>]) -> Vec<Completion> {
    let model = at.model();
    let Some(node) = schema.find(path) else { return Vec::new() };
    let declared = &schema.nodes[node];
    let value = model.items[item].value;
    let range = if value.touches(at.offset) { value } else { TextRange::new(at.offset, at.offset) };
    let mut texts: Vec<String> = declared.members.iter().map(|member| yaml_literal(member)).collect();
    if texts.is_empty() && declared.type_name == "boolean" {
        texts.extend(["true".to_owned(), "false".to_owned()]);
    }
    if declared.is_nullable {
        texts.push("null".to_owned());
    }
    if let Some(default) = declared.default.as_ref().filter(|_| !declared.is_secret && texts.is_empty())
        && !default.starts_with("#@")
        && declared.children.is_empty()
        && declared.element.is_none()
    {
        texts.push(default.clone());
    }
    let item = |text: String| {
        let label = crate::schema::scalar_text(&text);
        let detail = if declared.default.as_deref() == Some(&text) { "default" } else { "" };
        Completion::new(label, CompletionKind::Value, range).text(text).detail(detail)
    };
    texts.into_iter().map(item).collect()
}

/// The item whose value is at the cursor: after its colon, on its line.
pub(super) fn value_item(at: Cursor<'_>) -> Option<usize> {
    let model = at.model();
    let line = model.lines.line_of(at.offset);
    let from = model.items.partition_point(|item| item.line < line);
    let on_line = model.items[from..].iter().enumerate().take_while(|(_, item)| item.line == line);
    let is_before = |key: TextRange| at.text().get(key.end..at.offset).is_some_and(|between| between.contains(':'));
    let found = on_line.filter(|(_, item)| item.has_colon && item.key.is_some() && is_before(item.key_range));
    found.last().map(|(index, _)| from + index)
}

/// The key at the cursor, without its colon; may be empty.
pub(super) fn key_range(at: Cursor<'_>) -> TextRange {
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let text = at.text();
    let before = text[..at.offset].trim_end_matches(is_key).len();
    let line = at.model().lines.range(text, at.model().lines.line_of(at.offset));
    let start = before.max(line.start);
    let word = &text[start..at.offset];
    // A dash followed by a blank is an item, not part of a key.
    let start = if word == "-" { at.offset } else { start };
    TextRange::new(start, at.offset)
}

fn column_of(at: Cursor<'_>) -> usize {
    let range = key_range(at);
    range.start - at.model().lines.start(at.model().lines.line_of(range.start))
}

/// The keys that the map at the cursor already has.
pub(super) fn given_keys(at: Cursor<'_>, parent: Option<usize>) -> Vec<String> {
    let model = at.model();
    let siblings = model.children(at.document(), parent).map(|item| &model.items[item]);
    let others = siblings.filter(|item| !item.key_range.touches(at.offset) && item.has_colon);
    others.filter_map(|item| item.key.clone()).collect()
}

/// In `{…}`: the item around it, and whether a key can be written.
pub(super) fn flow_place(at: Cursor<'_>) -> Option<(Option<usize>, bool)> {
    let model = at.model();
    let owner = model.items.iter().rposition(|item| {
        let value = item.value.of(at.text());
        value.starts_with('{') && item.value.start < at.offset && at.offset < item.value.end.max(item.value.start + 1)
            || value.starts_with('{')
                && !value.ends_with('}')
                && item.value.start < at.offset
                && at.offset <= item.value.end
    })?;
    let start = model.items[owner].value.start + 1;
    let before = at.text().get(start..at.offset)?;
    let last = before.rfind([',', '{', ':']).map_or('{', |index| before[index..].chars().next().unwrap_or('{'));
    Some((Some(owner), last != ':'))
}
