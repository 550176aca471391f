//! Code actions: fixes of findings, and refactorings.
//!
//! Most fixes come with their findings. Those that need more than the engine knows are here:
//! `declare` changes schemas, `extract` moves values to them, `mend` adds missing text.

mod declare;
mod extract;
mod mend;

use crate::TextRange;
use crate::context::Cursor;
use crate::findings::{Finding, TextEdit};
use crate::model::ModelKind;

/// The kind of an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ActionKind {
    /// Fixes a finding.
    QuickFix,
    /// Moves something elsewhere.
    Extract,
    /// Changes the form of code.
    Rewrite,
}

/// A code action.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Its description in the menu.
    pub title: String,
    /// Its kind.
    pub kind: ActionKind,
    /// The edits.
    pub edits: Vec<TextEdit>,
    /// Whether it is the best choice for most users.
    pub is_preferred: bool,
    /// The index of the finding that it fixes.
    pub finding: Option<usize>,
}

/// The actions for a selection. `findings` are those of the project.
pub fn actions(at: Cursor<'_>, selection: TextRange, findings: &[Finding]) -> Vec<Action> {
    let mut found = Vec::new();
    let lines = &at.model().lines;
    let (first, last) = (lines.line_of(selection.start), lines.line_of(selection.end));
    for (number, finding) in findings.iter().enumerate().filter(|(_, finding)| finding.path == at.file.path) {
        let end = annotated_line(at, lines.line_of(finding.range.end));
        let meets = lines.line_of(finding.range.start) <= last && first <= end;
        if !meets {
            continue;
        }
        for fix in &finding.fixes {
            found.push(Action {
                title: fix.title.clone(),
                kind: ActionKind::QuickFix,
                edits: fix.edits.iter().map(|edit| without_empty_line(at, edit)).collect(),
                is_preferred: fix.is_preferred,
                finding: Some(number),
            });
        }
        let more = match finding.code.as_str() {
            "code/unknown-value" | "code/attribute" => declare::from_code(at, finding).into_iter().collect(),
            "schema/unknown-key" => declare::from_values(at, finding).into_iter().collect(),
            "schema/type" => mend::quote(at, finding).into_iter().collect(),
            "rule/one-of" => mend::choose(at, finding),
            "values/required" => mend::give(at, finding).into_iter().collect(),
            "code/block" => mend::add_end(at, finding).into_iter().collect(),
            "code/undefined" => mend::load(at, finding),
            _ => Vec::new(),
        };
        found.extend(more.into_iter().map(|action| Action { finding: Some(number), ..action }));
    }
    found.extend(extract::extract(at, selection));
    found.extend(wrap(at, selection, first, last));
    let mut unique: Vec<Action> = Vec::new();
    for action in found {
        if !unique.iter().any(|known| known.title == action.title && known.edits == action.edits) {
            unique.push(action);
        }
    }
    unique
}

/// The line that a finding reaches to: one about an annotation also counts on the line of its node.
fn annotated_line(at: Cursor<'_>, line: usize) -> usize {
    let lines = &at.model().lines;
    let is_annotation = |line: &usize| {
        let text = lines.range(at.text(), *line).of(at.text()).trim_start();
        text.strip_prefix("#@").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    (line..lines.count()).find(|line| !is_annotation(line)).unwrap_or(line)
}

/// An edit that leaves nothing but the mark of code on its line removes the line.
fn without_empty_line(at: Cursor<'_>, edit: &TextEdit) -> TextEdit {
    let (lines, text) = (&at.model().lines, at.text());
    if edit.path != at.file.path || !edit.text.is_empty() || edit.range.end > text.len() {
        return edit.clone();
    }
    let number = lines.line_of(edit.range.start);
    let line = lines.range(text, number);
    let is_within = line.start <= edit.range.start && edit.range.end <= line.end;
    let left = || format!("{}{}", &text[line.start..edit.range.start], &text[edit.range.end..line.end]);
    match is_within && matches!(left().trim(), "" | "#@") {
        true => {
            let end = if number + 1 < lines.count() { lines.start(number + 1) } else { line.end };
            TextEdit { range: TextRange::new(line.start, end), ..edit.clone() }
        }
        false => edit.clone(),
    }
}

fn quick_fix(title: impl Into<String>, edits: Vec<TextEdit>) -> Action {
    Action { title: title.into(), kind: ActionKind::QuickFix, edits, is_preferred: false, finding: None }
}

/// The line break that a text uses.
fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Wraps lines in `if` and `end`.
fn wrap(at: Cursor<'_>, selection: TextRange, first: usize, last: usize) -> Option<Action> {
    let model = at.model();
    if !at.is_template() || at.file.kind() != ModelKind::Yaml || crate::file::is_project_file(&at.file.path) {
        return None;
    }
    // A selection that ends at the beginning of a line does not include that line.
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
    let newline = newline(text);
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
