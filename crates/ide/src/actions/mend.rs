//! Code actions that add missing text: quotes, values, `end`, `load`.

use ytterby_text::spelling;

use super::{Action, newline, quick_fix};
use crate::complete::{is_loadable_file, relative, symbol_load_line};
use crate::context::Cursor;
use crate::findings::{Finding, TextEdit};
use crate::model::{DefKind, ModelKind, RegionKind};
use crate::schema::{scalar_text, yaml_literal};

/// Quotes a scalar where a string is expected.
pub(super) fn quote(at: Cursor<'_>, finding: &Finding) -> Option<Action> {
    let value = finding.range.of(at.text());
    let is_plain = !value.is_empty() && !value.starts_with(['"', '\'', '{', '[', '|', '>']) && !value.contains('\n');
    if !finding.wants_string || !is_plain {
        return None;
    }
    let quoted = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    let edits = vec![TextEdit::new(&at.file.path, finding.range, quoted.clone())];
    Some(Action { is_preferred: true, ..quick_fix(format!("Quote the value: {quoted}"), edits) })
}

/// Replaces a value by one that a rule allows, the most similar first.
pub(super) fn choose(at: Cursor<'_>, finding: &Finding) -> Vec<Action> {
    const MAX: usize = 5;
    let model = at.model();
    let Some(item) = model.value_at(finding.range.start) else { return Vec::new() };
    let written = &model.items[item];
    let schema = at.schema(written.document);
    let Some(node) = schema.find(&model.path(item)) else { return Vec::new() };
    let given = scalar_text(written.value.of(at.text()));
    let mut members: Vec<String> = schema.nodes[node].members.iter().map(|member| yaml_literal(member)).collect();
    members.sort_by_key(|member| spelling::distance(&given, &scalar_text(member)).unwrap_or(usize::MAX));
    let fix = |(rank, member): (usize, String)| {
        let edits = vec![TextEdit::new(&at.file.path, written.value, member.clone())];
        Action { is_preferred: rank == 0, ..quick_fix(format!("Replace by {member}"), edits) }
    };
    members.into_iter().take(MAX).enumerate().map(fix).collect()
}

/// Adds a required key to a map.
pub(super) fn give(at: Cursor<'_>, finding: &Finding) -> Option<Action> {
    let (model, text) = (at.model(), at.text());
    let path = finding.missing.as_ref()?;
    let (key, above) = path.split_last()?;
    let key = key.as_deref()?;
    let first = model.items.first()?;
    let newline = newline(text);
    let (line, column) = match above {
        [] => (first.line, first.column),
        above => {
            let item = model.key_at(finding.range.start)?;
            let is_it = model.path(item).into_iter().eq(above.iter().map(Option::as_deref));
            let child = model.children(model.items[item].document, Some(item)).next()?;
            let child = &model.items[child];
            (is_it && !child.is_flow).then_some((child.line, child.column))?
        }
    };
    let schema = at.project.schema();
    let node = schema.find(path)?;
    let value = match schema.nodes[node].type_name.as_str() {
        "map" => "{}".to_owned(),
        "array" => "[]".to_owned(),
        _ => schema.nodes[node].default.clone().filter(|default| !default.starts_with("#@")).unwrap_or_default(),
    };
    let new = format!("{}{key}: {value}{newline}", " ".repeat(column));
    Some(quick_fix(
        format!("Add the required value {key}"),
        vec![TextEdit::insert(&at.file.path, model.lines.start(line), new)],
    ))
}

/// Closes a block at the end of its lines: before the next line with less indentation, or at the
/// end of its document.
pub(super) fn add_end(at: Cursor<'_>, finding: &Finding) -> Option<Action> {
    let (model, text) = (at.model(), at.text());
    let open = || model.blocks.iter().filter(|block| block.end.is_none());
    let line = model.lines.line_of(finding.range.start);
    let block = open().find(|block| block.line == line).or_else(|| open().next_back())?;
    let is_star = model.regions.first().is_some_and(|region| region.kind == RegionKind::Whole);
    let word = match at.file.kind() {
        ModelKind::Text => "(@ end @)",
        _ if is_star => "end",
        _ => "#@ end",
    };
    let head = model.lines.range(text, block.line).of(text);
    let indent: String = head.chars().take_while(|c| c.is_whitespace()).collect();
    let mut last = block.line;
    for number in block.line + 1..model.lines.count() {
        let body = model.lines.range(text, number).of(text);
        let column = body.len() - body.trim_start().len();
        let is_outside = column < indent.len() || body.starts_with("---") && at.file.kind() == ModelKind::Yaml;
        // Code in a Starlark file is indented below the head of its block.
        let is_after = is_star && column <= indent.len();
        if body.trim().is_empty() {
            continue;
        }
        if is_outside || is_after {
            break;
        }
        last = number;
    }
    let newline = newline(text);
    let end = model.lines.range(text, last).end;
    let title = format!("Add {word} for `{}`", block.head.of(text).trim());
    Some(quick_fix(title, vec![TextEdit::insert(&at.file.path, end, format!("{newline}{indent}{word}"))]))
}

/// Loads a function or variable with this name from another file.
pub(super) fn load(at: Cursor<'_>, finding: &Finding) -> Vec<Action> {
    let name = finding.range.of(at.text());
    let Some(own) = at.index.map(|index| &at.project.files[index]) else { return Vec::new() };
    let library = at.project.library(&own.logical);
    let directory = own.logical.rsplit_once('/').map_or("", |(directory, _)| directory);
    let defines = |file: &crate::SnapshotFile| {
        let mut definitions = file.file.model().definitions.iter();
        definitions.any(|definition| {
            definition.scope == 0
                && definition.name == name
                && matches!(definition.kind, DefKind::Function { .. } | DefKind::Variable(_))
        })
    };
    let others = at.project.inputs().map(|(_, file)| file).filter(|file| {
        is_loadable_file(file)
            && file.file.path != own.file.path
            && !name.starts_with('_')
            && at.project.library(&file.logical) == library
            && defines(file)
    });
    let fix = |file: &crate::SnapshotFile| {
        let path = match relative(directory, &file.logical) {
            Some(path) => path,
            None => format!("/{}", file.logical.strip_prefix(&format!("{library}/")).unwrap_or(&file.logical)),
        };
        let (offset, line) = symbol_load_line(at, &path, name);
        quick_fix(format!("Load {name} from {path}"), vec![TextEdit::insert(&at.file.path, offset, line)])
    };
    others.take(5).map(fix).collect()
}
