//! Code actions: fixes of findings, and changes that a user asks for.

use crate::TextRange;
use crate::complete::load_line;
use crate::context::Cursor;
use crate::findings::{Finding, TextEdit};
use crate::model::{FileKind, is_identifier};
use crate::project::{Place, Project};
use crate::schema::Schema;

/// What an action is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionKind {
    /// It mends a finding.
    QuickFix,
    /// It moves something elsewhere.
    Extract,
    /// It changes the form.
    Rewrite,
}

/// Something that can be done.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// What it does.
    pub title: String,
    /// What it is.
    pub kind: ActionKind,
    /// The edits.
    pub edits: Vec<TextEdit>,
    /// Whether it is what most users want.
    pub is_preferred: bool,
    /// The finding that it mends, by its number.
    pub finding: Option<usize>,
}

/// What can be done about a selection. `findings` are those of the project.
pub fn actions(at: Cursor<'_>, selection: TextRange, findings: &[Finding]) -> Vec<Action> {
    let mut found = Vec::new();
    let lines = &at.model().lines;
    let (first, last) = (lines.line_of(selection.start), lines.line_of(selection.end));
    for (number, finding) in findings.iter().enumerate().filter(|(_, finding)| finding.path == at.file.path) {
        let meets = lines.line_of(finding.range.start) <= last && first <= lines.line_of(finding.range.end);
        if !meets {
            continue;
        }
        for fix in &finding.fixes {
            found.push(Action {
                title: fix.title.clone(),
                kind: ActionKind::QuickFix,
                edits: fix.edits.clone(),
                is_preferred: fix.is_preferred,
                finding: Some(number),
            });
        }
        let more = match finding.code.as_str() {
            "code/unknown-value" => declare(at, finding),
            "schema/type" => quote(at, finding),
            _ => None,
        };
        found.extend(more.map(|action| Action { finding: Some(number), ..action }));
    }
    found.extend(extract(at, selection));
    found.extend(wrap(at, selection, first, last));
    let mut unique: Vec<Action> = Vec::new();
    for action in found {
        if !unique.iter().any(|known| known.title == action.title && known.edits == action.edits) {
            unique.push(action);
        }
    }
    unique
}

/// Declares an unknown data value in the schema.
fn declare(at: Cursor<'_>, finding: &Finding) -> Option<Action> {
    let cursor = Cursor { offset: finding.range.end, ..at };
    let (chain, part) = cursor.chain()?;
    let part = part?;
    let crate::project::Meaning::DataValue(path) = at.project.meaning(at.index?, chain, part + 1)? else { return None };
    let schema = at.project.schema_for(&at.file.path);
    let (name, above) = path.split_last()?;
    let name = name.as_deref()?;
    let owner = if above.is_empty() { None } else { Some(schema.find(above)?) };
    let text = format!("{}: \"\"", yaml_key(name));
    let edit = insert_key(at.project, &schema, owner, &text)?;
    let shown: Vec<&str> = path.iter().map(|step| step.as_deref().unwrap_or("[]")).collect();
    Some(Action {
        title: format!("Declare data value {} in the schema", shown.join(".")),
        kind: ActionKind::QuickFix,
        edits: vec![edit],
        is_preferred: false,
        finding: None,
    })
}

fn yaml_key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { format!("{name:?}") }
}

/// The edit that adds a line of YAML to a map of the schema, after its last key.
fn insert_key(project: &Project, schema: &Schema, owner: Option<usize>, text: &str) -> Option<TextEdit> {
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
    let newline = if file.text.contains("\r\n") { "\r\n" } else { "\n" };
    let line = format!("{}{}", " ".repeat(indent), text.replace('\n', newline));
    // After the last line; a text without a line break at its end gets one.
    Some(match last_line + 1 < lines.count() {
        true => TextEdit::insert(&place.path, lines.start(last_line + 1), format!("{line}{newline}")),
        false => TextEdit::insert(&place.path, file.text.len(), format!("{newline}{line}{newline}")),
    })
}

/// The column and the last line of the item that is declared at a place.
fn item_lines(project: &Project, place: &Place) -> Option<(usize, usize)> {
    let file = project.file(&place.path)?;
    let model = file.model();
    let item = model.items.iter().find(|item| item.key_range == place.range)?;
    Some((item.column, item.end_line))
}

/// A schema document without keys.
fn empty_schema(project: &Project) -> Option<(Place, usize, usize)> {
    project.inputs().find_map(|(_, source)| {
        let model = source.file.model();
        let document = (0..model.documents.len()).find(|document| model.is_schema(*document))?;
        let line = model.documents[document].line;
        let place = Place { path: source.file.path.clone(), range: TextRange::default() };
        Some((place, 0, line))
    })
}

/// Quotes a scalar where a string is expected.
fn quote(at: Cursor<'_>, finding: &Finding) -> Option<Action> {
    let value = finding.range.of(at.text());
    let is_plain = !value.is_empty() && !value.starts_with(['"', '\'', '{', '[', '|', '>']) && !value.contains('\n');
    if !finding.wants_string || !is_plain {
        return None;
    }
    let quoted = format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    Some(Action {
        title: format!("Quote the value: {quoted}"),
        kind: ActionKind::QuickFix,
        edits: vec![TextEdit::new(&at.file.path, finding.range, quoted)],
        is_preferred: true,
        finding: None,
    })
}

/// Moves a scalar of a template into the schema.
fn extract(at: Cursor<'_>, selection: TextRange) -> Option<Action> {
    let model = at.model();
    if !at.is_template() || at.file.kind() != FileKind::Yaml || crate::file::is_project_file(&at.file.path) {
        return None;
    }
    let item = model.value_at(selection.start).filter(|item| model.items[*item].value.touches(selection.end))?;
    let written = &model.items[item];
    let value = written.value.of(at.text());
    let is_special = model.is_schema(written.document) || model.is_values(written.document);
    let is_scalar = !value.starts_with(['{', '[', '|', '>', '*', '&']) && !value.contains('\n');
    if is_special || !is_scalar || written.is_flow || crate::schema::code_of_value(model, item).is_some() {
        return None;
    }
    let schema = at.project.schema_for(&at.file.path);
    if !schema.is_declared {
        return None;
    }
    let key = written.key.clone().unwrap_or_else(|| "value".to_owned());
    let mut name: String = key.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    if !is_identifier(&name) {
        name = format!("value_{name}");
    }
    let base = name.clone();
    let mut number = 2;
    while schema.step(None, Some(&name)).is_some() {
        name = format!("{base}{number}");
        number += 1;
    }
    // A data module under another name is used as it is called.
    let module = model.definitions.iter().find(|definition| {
        matches!(&definition.kind, crate::model::DefKind::Loaded { load, .. } if model.loads[*load].path == "@ytt:data")
    });
    let module_name = module.map_or("data", |definition| definition.name.as_str());
    let mut edits = vec![
        TextEdit::new(&at.file.path, written.value, format!("#@ {module_name}.values.{name}")),
        insert_key(at.project, &schema, None, &format!("{name}: {value}"))?,
    ];
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

/// Wraps lines in `if` and `end`.
fn wrap(at: Cursor<'_>, selection: TextRange, first: usize, last: usize) -> Option<Action> {
    let model = at.model();
    if !at.is_template() || at.file.kind() != FileKind::Yaml || crate::file::is_project_file(&at.file.path) {
        return None;
    }
    // A selection up to the beginning of a line does not contain that line.
    let last = if last > first && selection.end == model.lines.start(last) { last - 1 } else { last };
    let item = model.items.iter().find(|item| item.line >= first && item.line <= last)?;
    let is_special = model.is_schema(item.document) || model.is_values(item.document);
    let last = if selection.is_empty() { item.end_line } else { last };
    let text = at.text();
    let head = model.lines.range(text, first).of(text);
    let content = head.trim();
    if is_special || content.is_empty() || content.starts_with('#') || content.starts_with("---") {
        return None;
    }
    let indent: String = head.chars().take_while(|c| c.is_whitespace()).collect();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let end = model.lines.range(text, last).end;
    Some(Action {
        title: "Wrap in #@ if … #@ end".to_owned(),
        kind: ActionKind::Rewrite,
        edits: vec![
            TextEdit::insert(&at.file.path, model.lines.start(first), format!("{indent}#@ if True:{newline}")),
            TextEdit::insert(&at.file.path, end, format!("{newline}{indent}#@ end")),
        ],
        is_preferred: false,
        finding: None,
    })
}
