//! A check of output documents by the host, such as that of Kubernetes manifests.
//!
//! The engine passes documents with the positions of their nodes, after overlays and rules, and
//! adds to each finding the data values that its line reads. The host decides what to check.

use std::fmt;

use ytterby_diag::{Cause, Diagnostic, Failure, Id, Label, Part, Path, Pos, Role, Severity, Text};
use ytterby_yaml::{NodeId, Scalar, Tree, View, last_wins};

use crate::causes::{self, FindCauses};
use crate::library::{Evaluated, FileDocuments};
use crate::node::{Document, MAX_NODES, Node};
use crate::run::Run;
use crate::validate::values_read;

/// A check of all output documents of a run.
pub trait OutputCheck: fmt::Debug + Send + Sync {
    /// A description for the failure: `Checking output against Kubernetes 1.36`.
    fn title(&self) -> String;

    /// The findings: errors, which fail the run, and warnings.
    fn check(&self, documents: Vec<OutputNode>) -> Vec<Diagnostic>;
}

/// A node of an output document.
#[derive(Clone, Debug)]
pub struct OutputNode {
    /// Its value.
    pub value: OutputValue,
    /// Where the item that contains it begins in a source; unknown for nodes that code created.
    pub pos: Pos,
}

/// The value of a node.
#[derive(Clone, Debug)]
pub enum OutputValue {
    /// A leaf.
    Scalar(Scalar),
    /// Items in order.
    Array(Vec<OutputNode>),
    /// Keys and values in order.
    Map(Vec<(Scalar, OutputNode)>),
}

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
    let mut budget = MAX_NODES;
    let mut documents = Vec::new();
    for (_, docs) in &evaluated.documents {
        documents.extend(nodes_of(docs, &mut budget));
    }
    if budget == 0 {
        let text = format!("documents of more than {MAX_NODES} nodes cannot be checked");
        return Err(Failure::new(Id::LIMIT_OUTPUT, text).in_stage(check.title()));
    }
    let mut errors = Vec::new();
    let findings = check.check(documents);
    let deciding = causes.map(|causes| causes_of(causes, evaluated, &findings)).unwrap_or_default();
    for (at, mut finding) in findings.into_iter().enumerate() {
        add_values(run, &mut finding, values, deciding.get(at));
        match finding.severity {
            Severity::Error => errors.push(Failure::from(finding)),
            Severity::Warning => run.warn(finding),
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
    let docs: Vec<Document> = docs.collect();
    let nowhere = || (Document::new(Node::NULL, Pos::UNKNOWN), Path::document());
    let node = |finding: &Diagnostic| {
        let path = finding.path.clone()?;
        let pos = finding.primary()?.pos;
        Some((causes::document_with(&docs, &path, pos)?.clone(), path))
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

/// The documents of a file; incomplete if the budget is used up.
pub(crate) fn nodes_of(docs: &FileDocuments, budget: &mut u32) -> Vec<OutputNode> {
    match docs {
        FileDocuments::Plain(tree) => {
            let docs = tree.documents().iter().filter(|doc| !doc.injected);
            docs.filter_map(|doc| plain(tree, doc.value, doc.pos, budget)).collect()
        }
        FileDocuments::Nodes(set) => set.items.iter().filter_map(|doc| node(&doc.value, doc.pos, budget)).collect(),
    }
}

/// A node and everything below it; `None` if the budget is used up.
pub(crate) fn node(of: &Node, pos: Pos, budget: &mut u32) -> Option<OutputNode> {
    *budget = budget.checked_sub(1)?;
    let value = match of {
        Node::Scalar(scalar) => OutputValue::Scalar(scalar.clone()),
        Node::Array(array) => crate::deep(|| {
            let mut items = Vec::with_capacity(array.items.len());
            items.extend(array.items.iter().filter_map(|item| node(&item.value, item.pos, budget)));
            OutputValue::Array(items)
        }),
        Node::Map(map) => crate::deep(|| {
            let mut items = Vec::with_capacity(map.len());
            items.extend(map.iter().filter_map(|item| {
                let value = node(&item.value, item.pos, budget)?;
                Some((item.key.clone(), value))
            }));
            OutputValue::Map(items)
        }),
    };
    Some(OutputNode { value, pos })
}

/// The same for plain YAML that was never converted to nodes.
fn plain(tree: &Tree, id: NodeId, pos: Pos, budget: &mut u32) -> Option<OutputNode> {
    *budget = budget.checked_sub(1)?;
    let value = match tree.value(id) {
        View::Scalar(scalar) => OutputValue::Scalar(scalar.clone()),
        View::Array(items) => crate::deep(|| {
            OutputValue::Array(items.iter().filter_map(|item| plain(tree, item.value, item.pos, budget)).collect())
        }),
        View::Map(items) => crate::deep(|| {
            let kept = last_wins(items).into_iter();
            let items =
                kept.filter_map(|(item, _)| Some((item.key.clone(), plain(tree, item.value, item.pos, budget)?)));
            OutputValue::Map(items.collect())
        }),
    };
    Some(OutputNode { value, pos })
}
