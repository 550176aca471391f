//! Finds unknown data values with the recovering model, even in files that do not compile.
//!
//! `ytterby check` follows the data flow further; its findings come later
//! ([`crate::analysis::lint`]).

use std::collections::HashSet;

use ytterby_text::spelling;

use crate::findings::{Finding, QuickFix, RelatedPlace, Severity, TextEdit};
use crate::model::{DefKind, Model, TokenKind, string_content};
use crate::project::{FileRole, Meaning, ProjectSnapshot};
use crate::schema::LibrarySchema;

/// Data values that no schema declares, in any branch of any file.
pub fn unknown_values(project: &ProjectSnapshot) -> Vec<Finding> {
    let mut found = Vec::new();
    let has_foreign_schema = project
        .files
        .iter()
        .any(|file| file.file.text.contains("with_data_values_schema") || file.file.text.contains("#@library/ref"));
    for (index, file) in project.inputs() {
        let is_root = project.library(&file.logical).is_empty();
        let schema = project.schema_for(&file.file.path);
        if !schema.is_declared || !is_root && has_foreign_schema {
            continue;
        }
        let model = file.file.model();
        let guarded = guarded_names(model, &file.file.text);
        for chain in &model.chains {
            let Some(Meaning::DataValue(path)) = project.meaning(index, chain, chain.parts.len()) else { continue };
            if is_certain(project, index, chain) {
                found.extend(unknown_value(project, index, &schema, chain, &path, &guarded));
            }
        }
    }
    found
}

/// Names tested by `hasattr` and `getattr`: they may be undeclared.
fn guarded_names(model: &Model, text: &str) -> HashSet<String> {
    let mut names = HashSet::new();
    for (index, token) in model.tokens.iter().enumerate() {
        if token.kind == TokenKind::Name && matches!(token.range.of(text), "hasattr" | "getattr") {
            let near = model.tokens[index..].iter().take(24).take_while(|token| token.range.of(text) != ")");
            let strings = near.filter(|token| token.kind == TokenKind::Str);
            names.extend(strings.map(|token| string_content(token.range.of(text)).to_owned()));
        }
    }
    names
}

/// Whether the meaning of a chain does not depend on the run: its root has exactly one definition.
fn is_certain(project: &ProjectSnapshot, file: usize, chain: &crate::model::Chain) -> bool {
    let model = project.files[file].file.model();
    let Ok(index) = model.references.binary_search_by_key(&chain.root_range.start, |r| r.range.start) else {
        return false;
    };
    let Some(definition) = model.references[index].definition.map(|index| &model.definitions[index]) else {
        return false;
    };
    let is_twin = |other: &&crate::model::Definition| other.scope == definition.scope && other.name == definition.name;
    let is_loaded = matches!(definition.kind, DefKind::Loaded { .. });
    is_loaded || model.definitions.iter().filter(is_twin).count() == 1
}

fn unknown_value(
    project: &ProjectSnapshot,
    file: usize,
    schema: &LibrarySchema,
    chain: &crate::model::Chain,
    path: &[Option<String>],
    guarded: &HashSet<String>,
) -> Option<Finding> {
    let mut at: Option<usize> = None;
    let mut open = false;
    // The last parts of the chain correspond to the last steps of the path.
    let first_part = path.len().checked_sub(chain.parts.len().min(path.len()))?;
    for (number, step) in path.iter().enumerate() {
        open |= at.is_some_and(|at| schema.nodes[at].is_open);
        if open {
            return None;
        }
        match schema.step(at, step.as_deref()) {
            Some(node) => at = Some(node),
            None => {
                let name = step.as_deref()?;
                if at.is_some_and(|at| schema.nodes[at].children.is_empty()) || guarded.contains(name) {
                    return None;
                }
                let is_last = number + 1 == path.len();
                if is_last && (chain.is_called || name.is_empty()) || number < first_part {
                    return None;
                }
                let part = &chain.parts[chain.parts.len() - (path.len() - number)];
                let file = &project.files[file].file;
                let names: Vec<&str> = schema.keys(at).iter().map(|node| schema.nodes[*node].key.as_str()).collect();
                let meant = spelling::closest(name, names.iter().copied(), spelling::tolerance(name));
                let shown: Vec<&str> = path[..=number].iter().map(|step| step.as_deref().unwrap_or("[]")).collect();
                let advice = meant.map(|meant| format!("\nhelp: did you mean {meant}?")).unwrap_or_default();
                let message = format!("the schema does not declare data value {}{advice}", shown.join("."));
                let mut finding = Finding::error(&file.path, part.range, "code/unknown-value", message);
                finding.fixes.extend(meant.map(|meant| QuickFix {
                    title: format!("Change {name} to {meant}"),
                    edits: vec![TextEdit::new(&file.path, part.range, meant)],
                    is_preferred: true,
                }));
                let owner = at.and_then(|at| schema.nodes[at].places.first());
                finding.related.extend(owner.map(|place| RelatedPlace {
                    path: place.path.clone(),
                    range: place.range,
                    text: "its keys are declared here".to_owned(),
                }));
                return Some(finding);
            }
        }
    }
    None
}

/// Removes warnings that a comment on the line above suppresses: `#! ytterby: ignore ID`.
pub fn drop_ignored(project: &ProjectSnapshot, findings: &mut Vec<Finding>) {
    findings.retain(|finding| {
        if finding.severity == Severity::Error {
            return true;
        }
        let Some(file) = project.file(&finding.path) else { return true };
        let model = file.model();
        let mut line = model.lines.line_of(finding.range.start);
        let is_plain = project.index(&finding.path).is_some_and(|index| project.files[index].role != FileRole::Input);
        // Annotations of the node may be between the comment and its key.
        while let Some(above) = line.checked_sub(1) {
            let text = model.lines.range(&file.text, above).of(&file.text).trim();
            let ids = text
                .strip_prefix("#! ytterby: ignore")
                .or_else(|| is_plain.then(|| text.strip_prefix("# ytterby: ignore")).flatten());
            match ids {
                Some(ids) => {
                    let is_named = |id: &str| id == finding.code;
                    return !ids.split([',', ' ']).map(str::trim).any(is_named);
                }
                None if text.starts_with('#') => line = above,
                None => return true,
            }
        }
        true
    });
}
