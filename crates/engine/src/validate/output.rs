//! `@assert/validate` on nodes of output documents (SPEC K).

use std::cell::Cell;
use std::rc::Rc;

use ytterby_diag::Kind;
use ytterby_starlark::Eval;

use super::{Checker, Path, Report, Rules, Spot};
use crate::annotation::Ann;
use crate::api::Failure;
use crate::node::{Annotated, Document, DocumentSet, MAX_NODES, Node};
use crate::run::Run;

/// Checks the output documents of a library run, each with its number. `values` are the data values that templates read.
///
/// # Errors
/// The violations, or what is wrong with a rule.
pub(crate) fn check<'d>(
    eval: &mut Eval,
    run: &Run,
    docs: impl Iterator<Item = (usize, &'d Document)>,
    values: &Document,
) -> Result<(), Failure> {
    let mut report = Report::default();
    for (index, doc) in docs {
        if !has_rules(doc) {
            continue;
        }
        if is_too_large(&doc.value) {
            let place = run.locate(doc.pos);
            return Err(Failure::new(format!(
                "{HEADER}a document of more than {MAX_NODES} nodes cannot be checked ({place})"
            )));
        }
        let mut checker = Checker::new(eval, run, Some(&doc.value), Kind::Output);
        checker.hides_keys = true;
        checker.suffix = format!(" (document {index} at {})", run.locate(doc.pos));
        checker.values = Some(values);
        checker.report = report;
        let prefixed = |failure: Failure| failure.prefixed(HEADER);
        annotated(&mut checker, doc, None, &Path::Document).map_err(prefixed)?;
        below(&mut checker, &doc.value, &Path::Document).map_err(prefixed)?;
        report = checker.report;
    }
    if report.is_empty() { Ok(()) } else { Err(report.into_failure(run).prefixed(HEADER)) }
}

/// Takes the rules off documents that were checked.
pub(crate) fn drop_rules(docs: &mut DocumentSet) {
    for doc in docs.items.iter_mut().filter(|doc| has_rules(&**doc)) {
        clean(doc);
    }
}

fn clean(item: &mut impl Annotated) {
    if item.has(Ann::AssertValidate) {
        item.meta_mut().annotations.retain(|annotation| annotation.ann != Some(Ann::AssertValidate));
    }
    match item.value_mut() {
        Node::Map(map) if map.iter().any(has_rules) => crate::deep(|| Rc::make_mut(map).iter_mut().for_each(clean)),
        Node::Array(array) if array.items.iter().any(has_rules) => {
            crate::deep(|| Rc::make_mut(array).items.iter_mut().for_each(clean));
        }
        _ => {}
    }
}

const HEADER: &str = "Validating output documents:\n";

/// Checks every `@assert/validate` on a node and its descendants (`assert.valid()`).
pub(crate) fn check_node(eval: &mut Eval, run: &Run, node: &Node) -> Result<Report, Failure> {
    let mut checker = Checker::new(eval, run, Some(node), Kind::Validation);
    checker.hides_keys = true;
    below(&mut checker, node, &Path::Document)?;
    Ok(checker.report)
}

/// The same for a document.
pub(crate) fn check_document(eval: &mut Eval, run: &Run, doc: &Document) -> Result<Report, Failure> {
    let mut checker = Checker::new(eval, run, Some(&doc.value), Kind::Validation);
    checker.hides_keys = true;
    annotated(&mut checker, doc, None, &Path::Document)?;
    below(&mut checker, &doc.value, &Path::Document)?;
    Ok(checker.report)
}

/// Whether there is any rule in a document. Most documents have none, and this is all that they cost.
///
/// Parts that a document shares with itself count each time that they are there, so it may have more nodes than any memory
/// holds. Such a document cannot be written; where nothing is found in as much of it as can be, there is nothing to check.
fn has_rules(item: &impl Annotated) -> bool {
    carries(item, &Cell::new(MAX_NODES))
}

fn carries(item: &impl Annotated, left: &Cell<u32>) -> bool {
    if item.has(Ann::AssertValidate) {
        return true;
    }
    let Some(less) = left.get().checked_sub(1) else { return false };
    left.set(less);
    match item.value() {
        Node::Scalar(_) => false,
        Node::Map(map) => crate::deep(|| map.iter().any(|item| carries(item, left))),
        Node::Array(array) => crate::deep(|| array.items.iter().any(|item| carries(item, left))),
    }
}

/// Whether a node has more nodes below it than can be written.
fn is_too_large(node: &Node) -> bool {
    fn runs_out(node: &Node, left: &Cell<u32>) -> bool {
        let Some(less) = left.get().checked_sub(1) else { return true };
        left.set(less);
        match node {
            Node::Scalar(_) => false,
            Node::Map(map) => crate::deep(|| map.iter().any(|item| runs_out(&item.value, left))),
            Node::Array(array) => crate::deep(|| array.items.iter().any(|item| runs_out(&item.value, left))),
        }
    }
    runs_out(node, &Cell::new(MAX_NODES))
}

/// Runs the rules of the annotations on one item; overlays may have left several.
fn annotated(
    checker: &mut Checker<'_>,
    item: &impl Annotated,
    parent: Option<&Node>,
    path: &Path<'_>,
) -> Result<(), Failure> {
    for annotation in item.annotations().iter().filter(|annotation| annotation.ann == Some(Ann::AssertValidate)) {
        let rules = Rules::from_annotation(annotation, checker.run)?;
        let spot = Spot { value: item.value(), parent, path, pos: item.pos(), secret: false };
        checker.check(&rules, &spot)?;
    }
    Ok(())
}

fn below(checker: &mut Checker<'_>, node: &Node, path: &Path<'_>) -> Result<(), Failure> {
    match node {
        Node::Scalar(_) => Ok(()),
        Node::Map(map) => map.iter().try_for_each(|item| {
            let path = Path::Key(path, &item.key);
            annotated(checker, item, Some(node), &path)?;
            crate::deep(|| below(checker, &item.value, &path))
        }),
        Node::Array(array) => array.items.iter().enumerate().try_for_each(|(index, item)| {
            let path = Path::Index(path, index);
            annotated(checker, item, Some(node), &path)?;
            crate::deep(|| below(checker, &item.value, &path))
        }),
    }
}
