//! Merges the findings of all targets into one list.

use std::collections::{HashMap, HashSet};

use ytterby_diag::{Diagnostic, FileId, Id, Origin, Part, Pos, Sources};
use ytterby_text::Str;

use crate::target::{TargetFindings, is_lint, overlays};

/// The identity of a finding.
type FindingKey = (FileId, u32, &'static str, String);

/// Merges the findings of targets: errors of any target, lints that hold in all targets with the
/// file.
pub(crate) fn merge(mut reports: Vec<TargetFindings>, sources: &Sources) -> Vec<Diagnostic> {
    let same = Same::of(sources);
    for report in &mut reports {
        report.findings.iter_mut().for_each(|finding| same.place(finding));
        report.files = report.files.iter().map(|file| same.file(*file)).collect();
        report.overlays.iter_mut().for_each(|(pos, _)| pos.file = same.file(pos.file));
    }
    let all_ran = reports.iter().all(|report| !report.failed);
    let keys: Vec<HashSet<FindingKey>> =
        reports.iter().map(|report| report.findings.iter().map(|finding| key(finding, sources)).collect()).collect();
    let mut seen: HashSet<FindingKey> = HashSet::new();
    let mut findings = Vec::new();
    for report in &reports {
        for finding in &report.findings {
            let key = key(finding, sources);
            let has_file = |report: &TargetFindings| report.files.contains(&key.0);
            let holds = !is_lint(finding.id)
                || reports.iter().zip(&keys).all(|(report, keys)| !has_file(report) || keys.contains(&key));
            if holds && seen.insert(key) {
                findings.push(finding.clone());
            }
        }
    }
    if all_ran {
        findings.extend(unmatched(&reports));
    }
    // `check` writes nothing, and other values may produce output.
    findings.retain(|finding| finding.id != Id::INPUT_NO_OUTPUT && finding.id != Id::INPUT_OTHER_FILES);
    drop_doubles(&mut findings, sources);
    for finding in &mut findings {
        finding.beyond_text = false;
    }
    let order = |finding: &Diagnostic| {
        let label = finding.primary();
        let place = label.and_then(|label| sources.get(label.pos.file)).map(|source| source.place().to_owned());
        (place, label.map(|label| label.pos.offset))
    };
    findings.sort_by_cached_key(order);
    findings
}

fn key(finding: &Diagnostic, sources: &Sources) -> FindingKey {
    let pos = finding.primary().map_or(Pos::UNKNOWN, |label| label.pos);
    (pos.file, pos.offset, finding.id.name(), finding.sentence(sources))
}

/// Overlays without effect in all targets.
fn unmatched(reports: &[TargetFindings]) -> Vec<Diagnostic> {
    let mut found: Vec<((FileId, u32), bool)> = overlays(reports).into_iter().collect();
    found.sort_unstable();
    let idle = found.into_iter().filter(|(_, has_effect)| !has_effect);
    let report = |((file, offset), _)| {
        let text = "this overlay matches nothing in any target";
        let finding = Diagnostic::warning(Id::LINT_UNMATCHED_OVERLAY, text).at(Pos::new(file, offset), Part::Line);
        finding.help("change what it matches, or remove it")
    };
    idle.map(report).collect()
}

/// Removes errors of runs about missing attributes for which the check has a better message.
fn drop_doubles(findings: &mut Vec<Diagnostic>, sources: &Sources) {
    let mut ends = HashSet::new();
    let mut lines = HashSet::new();
    for finding in findings.iter().filter(|finding| finding.id == Id::CODE_UNKNOWN_VALUE) {
        if let Some(span) = finding.primary().and_then(|label| label.span(sources)) {
            ends.insert((span.file, span.end));
            lines.insert(sources.locate(span.pos()));
        }
    }
    findings.retain(|finding| {
        let Some(span) = finding.primary().and_then(|label| label.span(sources)) else { return true };
        let is_in_string = sources.get(span.file).is_some_and(|source| source.origin() == Origin::Code);
        if finding.id == Id::CODE_ATTRIBUTE && !is_in_string {
            return !ends.contains(&(span.file, span.end));
        }
        // `data.values["nmae"]`: a run shows the bracket. Strings with code are separate sources.
        let may_be_same = finding.id == Id::CODE_INDEX || finding.id == Id::CODE_ATTRIBUTE;
        !may_be_same || !lines.contains(&sources.locate(span.pos()))
    });
}

/// Maps sources of the same file to one: every run adds its own.
struct Same(HashMap<FileId, FileId>);

impl Same {
    fn of(sources: &Sources) -> Same {
        let mut first: HashMap<(String, Str), FileId> = HashMap::new();
        let mut same = HashMap::new();
        for number in 0.. {
            let file = FileId(number);
            let Some(source) = sources.get(file) else { break };
            if source.origin() != Origin::File {
                continue;
            }
            let key = (source.place().to_owned(), source.text().clone());
            let original = *first.entry(key).or_insert(file);
            same.insert(file, original);
            // Secrets of one must not be shown through the other.
            if original != file {
                let hidden = source.hidden_in(0..source.text().len());
                sources.hide(original, hidden.into_iter().map(|range| range.start as u32..range.end as u32));
            }
        }
        Same(same)
    }

    fn file(&self, file: FileId) -> FileId {
        self.0.get(&file).copied().unwrap_or(file)
    }

    fn place(&self, finding: &mut Diagnostic) {
        finding.labels.iter_mut().for_each(|label| label.pos.file = self.file(label.pos.file));
        let fixes = finding.helps.iter_mut().filter_map(|help| help.fix.as_mut());
        fixes.flat_map(|fix| &mut fix.edits).for_each(|edit| edit.pos.file = self.file(edit.pos.file));
    }
}
