//! Converts diagnostics of the engine to findings: ranges in files of the project, and edits.
//!
//! An editor needs a range for everything. A problem without a position gets the best substitute:
//! the map in a values file where something is missing, then the target in the project file, then
//! the first file.

use ytterby_diag::{Diagnostic, Label, Origin, PlaceNames, Safety, Sources, Step, ValueForm};

use super::Variant;
use crate::config;
use crate::findings::{Finding, QuickFix, RelatedPlace, Severity, TextEdit};
use crate::project::{FileRole, ProjectSnapshot, SnapshotFile};
use crate::text::{LineIndex, TextRange};

/// Converts a diagnostic to a finding in a file.
pub(super) fn finding(
    project: &ProjectSnapshot,
    variant: &Variant,
    diagnostic: &Diagnostic,
    sources: &Sources,
) -> Option<Finding> {
    let placed = diagnostic.labels.iter().find_map(|label| Some((label, place(project, variant, label, sources)?)));
    let (primary, (path, range)) = match placed {
        Some((label, place)) => (Some(label), place),
        // Warnings about the run as a whole (no output, output that is not YAML) are for the
        // command line.
        None if diagnostic.severity == Severity::Warning => return None,
        None => (None, fallback(project, variant)?),
    };
    let shown = |text: &ytterby_diag::Text| text.shown(sources, PlaceNames::Full);
    // Avoid repeating the same sentence.
    let mut said = diagnostic.sentence(sources);
    if let Some(must_be) = diagnostic.must_be.as_ref().map(shown)
        && !said.contains(&must_be)
    {
        said = format!("{said} (must be: {must_be})");
    }
    for help in &diagnostic.helps {
        let text = shown(&help.text);
        if !text.contains('\n') && !said.contains(&text) {
            said = format!("{said}\nhelp: {text}");
        }
    }
    let id = diagnostic.id.name();
    let mut finding = Finding { severity: diagnostic.severity, ..Finding::error(&path, range, id, said) };
    finding.wants_string = diagnostic.expected.as_ref().is_some_and(|expected| expected.plain().starts_with("string"));
    finding.is_unnecessary = id.starts_with("lint/unused-");
    finding.is_deprecated = matches!(id, "values/deprecated" | "kubernetes/deprecated");
    for label in diagnostic.labels.iter().filter(|label| !primary.is_some_and(|primary| std::ptr::eq(primary, *label)))
    {
        if let Some((path, range)) = place(project, variant, label, sources) {
            let text = shown(&label.text);
            let text = if text.is_empty() { role_text(label).to_owned() } else { text };
            finding.related.push(RelatedPlace { path, range, text });
        }
    }
    for help in &diagnostic.helps {
        let Some(fix) = &help.fix else { continue };
        let edits: Option<Vec<TextEdit>> = fix
            .edits
            .iter()
            .map(|edit| {
                let span = edit.span(sources)?;
                let source = sources.get(span.file)?;
                (source.origin() == Origin::File).then(|| {
                    let range = TextRange::new(span.start as usize, span.end as usize);
                    TextEdit::new(source.place(), range, edit.replacement.clone())
                })
            })
            .collect();
        if let Some(edits) = edits {
            finding.fixes.push(QuickFix { title: fix.title.clone(), edits, is_preferred: fix.safety == Safety::Safe });
        }
    }
    // A value from `set:` is in the project file.
    let is_flag = |label: &Label| {
        let source = label.span(sources).and_then(|span| sources.get(span.file));
        source.is_some_and(|source| matches!(source.origin(), Origin::Flag(_)))
    };
    if primary.is_some_and(is_flag)
        && let (Some(path), Some(file)) = (&diagnostic.path, &project.project_file)
    {
        let name = variant.name.as_deref().unwrap_or_default().split('[').next().unwrap_or_default();
        let keys = path.steps().iter().map_while(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        });
        if let Some((key, value)) = config::set_place(file, name, &keys.collect::<Vec<_>>()) {
            finding.range = if id == "schema/unknown-key" { key } else { value };
        }
    }
    if id == "values/required" {
        finding.missing = diagnostic.path.as_ref().map(|path| {
            let step = |step: &Step| match step {
                Step::Key(key) => Some(key.to_string()),
                Step::Index(_) => None,
            };
            path.steps().iter().map(step).collect()
        });
    }
    if id == "values/required"
        && let Some(path) = &diagnostic.path
        && let Some((path, range)) = nearest_given(project, variant, path.steps())
    {
        let place = RelatedPlace { path: finding.path, range: finding.range, text: "declared here".to_owned() };
        finding.related.insert(0, place);
        (finding.path, finding.range) = (path, range);
    }
    Some(finding)
}

/// The innermost map around a value in a values file of the variant: the place where something is
/// missing.
fn nearest_given(project: &ProjectSnapshot, variant: &Variant, steps: &[Step]) -> Option<(String, TextRange)> {
    let is_own = |(index, file): &(usize, &SnapshotFile)| match variant.loose {
        Some(loose) => *index == loose,
        None => file.role == FileRole::Values && (file.target.is_none() || file.target == variant.number),
    };
    let own: Vec<&SnapshotFile> = project.files.iter().enumerate().filter(is_own).map(|(_, file)| file).collect();
    let (_, above) = steps.split_last()?;
    let mut best: Option<(usize, String, TextRange)> = None;
    for file in own.iter().rev() {
        let model = file.file.model();
        let mut at: Option<usize> = None;
        let mut depth = 0;
        for step in above {
            let mut children = model.children(0, at);
            let next = match step {
                Step::Key(key) => children.find(|item| model.items[*item].key.as_deref() == Some(key)),
                Step::Index(index) => children.filter(|item| model.items[*item].is_array_item).nth(*index),
            };
            let Some(next) = next else { break };
            at = Some(next);
            depth += 1;
        }
        let first = || model.items.first().map_or(TextRange::default(), |item| item.key_range);
        let range = at.map_or_else(first, |item| model.items[item].key_range);
        if best.as_ref().is_none_or(|(known, ..)| depth > *known) {
            best = Some((depth, file.file.path.clone(), range));
        }
    }
    best.map(|(_, path, range)| (path, range))
}

fn role_text(label: &Label) -> &'static str {
    match label.role {
        ytterby_diag::Role::Problem => "here",
        ytterby_diag::Role::Rule => "because of this",
        ytterby_diag::Role::Candidate => "this was considered",
        _ => "see also",
    }
}

/// The range of a label.
fn place(
    project: &ProjectSnapshot,
    variant: &Variant,
    label: &Label,
    sources: &Sources,
) -> Option<(String, TextRange)> {
    let span = label.span(sources)?;
    let source = sources.get(span.file)?;
    match source.origin() {
        Origin::File => Some((source.place().to_owned(), TextRange::new(span.start as usize, span.end as usize))),
        // Code inside a string of a file: only its line is known.
        Origin::Code => {
            let file = project.file(source.place())?;
            let line = source.line(span.start).saturating_sub(1) as usize;
            let range = LineIndex::new(&file.text).range(&file.text, line);
            let body = range.of(&file.text);
            let word = source.text().get(span.start as usize..span.end as usize).unwrap_or_default();
            let word = String::from_utf8_lossy(word);
            let range = match body.find(&*word).filter(|_| !word.trim().is_empty()) {
                Some(at) => TextRange::new(range.start + at, range.start + at + word.len()),
                None => TextRange::new(range.start + body.len() - body.trim_start().len(), range.end),
            };
            Some((file.path.clone(), range))
        }
        Origin::Flag(ValueForm::Text | ValueForm::Yaml | ValueForm::Content) => fallback(project, variant),
        _ => None,
    }
}

/// The range for a finding without one: the target in the project file, or the first file.
fn fallback(project: &ProjectSnapshot, variant: &Variant) -> Option<(String, TextRange)> {
    if let Some(file) = &project.project_file {
        let name = variant.name.as_deref().unwrap_or_default();
        let name = name.split('[').next().unwrap_or_default();
        let range = config::target_range(file, name).unwrap_or_default();
        return Some((file.path.clone(), range));
    }
    let open = project.files.iter().find(|file| file.file.is_open()).or(project.files.first())?;
    Some((open.file.path.clone(), TextRange::default()))
}

/// For a `load` of a missing file, names the file.
pub(super) fn name_missing_file(project: &ProjectSnapshot, finding: &mut Finding) {
    if finding.code != "code/load" {
        return;
    }
    let Some(index) = project.index(&finding.path) else { return };
    let loads = &project.files[index].file.model().loads;
    let is_missing = loads.iter().any(|load| {
        let meets = load.range.start <= finding.range.end && finding.range.start <= load.range.end;
        meets && !load.path.starts_with('@') && project.loaded(index, &load.path).is_none()
    });
    if is_missing {
        "file/missing".clone_into(&mut finding.code);
    }
}
