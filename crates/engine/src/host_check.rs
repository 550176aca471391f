//! Runs the check that the host brings ([`OutputCheck`]) on the output documents.
//!
//! The host decides what to check. The engine passes documents after overlays and rules, and adds
//! to each finding the data values that its line reads.

use ytterby_diag::{Cause, Diagnostic, Failure, Id, Label, Part, Path, Pos, Role, Severity, Text};

use crate::causes::{self, DocumentsByPosition, FindCauses};
use crate::library::Evaluated;
use crate::node::{Document, MAX_NODES, Node};
use crate::output_documents::{OutputCheck, OutputDocuments};
use crate::run::Run;
use crate::validate::values_read;

/// Runs the host's check; `values` are the data values that templates read.
///
/// # Errors
/// The findings that are errors.
pub(crate) fn check(
    run: &Run,
    check: &dyn OutputCheck,
    evaluated: &Evaluated,
    values: &Document,
    causes: Option<&dyn FindCauses>,
) -> Result<(), Failure> {
    let documents = OutputDocuments::new(evaluated.documents.iter().map(|(_, docs)| docs).collect());
    let findings = check.check(&documents);
    if documents.are_too_large() {
        let text = format!("documents of more than {MAX_NODES} nodes cannot be checked");
        return Err(Failure::new(Id::LIMIT_OUTPUT, text).in_stage(check.title()));
    }
    let mut errors = Vec::new();
    let deciding = causes.map(|causes| causes_of(causes, evaluated, &findings)).unwrap_or_default();
    for (at, mut finding) in findings.into_iter().enumerate() {
        add_values(run, &mut finding, values, deciding.get(at));
        match finding.severity {
            Severity::Error => errors.push(Failure::from(finding)),
            _ => run.warn(finding),
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(Failure::of(Cause::Series(errors)).in_stage(check.title())) }
}

/// For each finding, the data values that determine its node.
fn causes_of(causes: &dyn FindCauses, evaluated: &Evaluated, findings: &[Diagnostic]) -> Vec<Vec<(Path, Pos)>> {
    if findings.is_empty() {
        return Vec::new();
    }
    let docs = evaluated.documents.iter().flat_map(|(_, docs)| docs.clone().into_nodes().items);
    let docs = DocumentsByPosition::new(docs.collect());
    let nowhere = || (Document::new(Node::NULL, Pos::UNKNOWN), Path::document());
    let node = |finding: &Diagnostic| {
        let path = finding.path.clone()?;
        let pos = finding.primary()?.pos;
        Some((docs.document_with(&path, pos)?.clone(), path))
    };
    let nodes: Vec<(Document, Path)> = findings.iter().map(|finding| node(finding).unwrap_or_else(nowhere)).collect();
    causes.of(&nodes)
}

/// Adds the data values that the line of a finding reads, and those that determine its node.
fn add_values(run: &Run, finding: &mut Diagnostic, values: &Document, deciding: Option<&Vec<(Path, Pos)>>) {
    let Some(pos) = finding.primary().map(|label| label.pos) else { return };
    let mut reads = values_read(run, pos, values);
    causes::add(&mut reads, deciding.cloned().unwrap_or_default());
    for (path, pos) in reads {
        let words = Text::new(format!("data value {path} comes from here"));
        let label = Label::new(Role::Related, pos, Part::Value).text(words);
        finding.labels.extend(Some(label).filter(|label| label.pos.is_known()));
        finding.data_values.push(path);
    }
}
