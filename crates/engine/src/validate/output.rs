//! `@assert/validate` on nodes of output documents.
//!
//! Rules run after all overlays, root to leaf. Documents without rules are recognised quickly,
//! because most have none.

use std::cell::Cell;
use std::rc::Rc;

use ytterby_diag::{Failure, Id, Path, Text, ViolationBlock};
use ytterby_starlark::Eval;

use super::DocumentKind;
use super::{CheckedValue, Checker, Rules, failure_of};
use crate::annotation::Ann;
use crate::causes::{self, FindCauses};
use crate::node::{Annotated, Document, DocumentSet, MAX_NODES, Node};
use crate::path::Way;
use crate::run::Run;

/// Checks the output documents of a library run, each with its index. `values` are the data values
/// that templates read.
///
/// # Errors
/// The violations, or an error in a rule.
pub(crate) fn check<'d>(
    eval: &mut Eval,
    run: &Run,
    docs: impl Iterator<Item = (usize, &'d Document)>,
    values: &Document,
    causes: Option<&dyn FindCauses>,
) -> Result<(), Failure> {
    let mut blocks: Vec<ViolationBlock> = Vec::new();
    let mut wrong: Vec<(usize, &Document)> = Vec::new();
    for (index, doc) in docs {
        if !has_rules(doc) {
            continue;
        }
        if is_too_large(&doc.value) {
            let text = format!("a document of more than {MAX_NODES} nodes cannot be checked (");
            return Err(Failure::new(Id::LIMIT_OUTPUT, Text::new(text).at(doc.pos).then(")")).in_stage(STAGE));
        }
        let mut checker = Checker::new(eval, run, Some(&doc.value), DocumentKind::Output);
        checker.suffix = Text::new(format!(" (document {index} at ")).at(doc.pos).then(")");
        checker.values = Some(values);
        checker.blocks = blocks;
        let staged = |failure: Failure| failure.in_stage(STAGE);
        annotated(&mut checker, doc, None, &Way::Document).map_err(staged)?;
        below(&mut checker, &doc.value, &Way::Document).map_err(staged)?;
        let known = wrong.len();
        blocks = checker.blocks;
        wrong.extend((known..blocks.len()).map(|block| (block, doc)));
    }
    if let (Some(causes), false) = (causes, wrong.is_empty()) {
        let node = |(block, doc): &(usize, &Document)| {
            ((*doc).clone(), blocks[*block].path.path().cloned().unwrap_or_else(Path::document))
        };
        let nodes: Vec<(Document, Path)> = wrong.iter().map(node).collect();
        for (found, (block, _)) in causes.of(&nodes).into_iter().zip(&wrong) {
            causes::add(&mut blocks[*block].reads, found);
        }
    }
    failure_of(blocks).map_or(Ok(()), |failure| Err(failure.in_stage(STAGE)))
}

/// Removes the rules from documents that were checked.
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

const STAGE: &str = "Validating output documents";

/// Checks every `@assert/validate` on a node and its descendants (`assert.valid()`).
pub(crate) fn check_node(eval: &mut Eval, run: &Run, node: &Node) -> Result<Vec<ViolationBlock>, Failure> {
    let mut checker = Checker::new(eval, run, Some(node), DocumentKind::Values);
    below(&mut checker, node, &Way::Document)?;
    Ok(checker.blocks)
}

/// The same for a document.
pub(crate) fn check_document(eval: &mut Eval, run: &Run, doc: &Document) -> Result<Vec<ViolationBlock>, Failure> {
    let mut checker = Checker::new(eval, run, Some(&doc.value), DocumentKind::Values);
    annotated(&mut checker, doc, None, &Way::Document)?;
    below(&mut checker, &doc.value, &Way::Document)?;
    Ok(checker.blocks)
}

/// Whether a document has any rule. Most documents have none, and this is their whole cost.
///
/// Shared parts of a document count each time they occur, so it may have more nodes than fit into
/// memory. Such a document cannot be written. If the part that could be written contains no rule,
/// there is nothing to check.
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

/// Runs the rules of the annotations on one item; overlays may have added several.
fn annotated(
    checker: &mut Checker<'_>,
    item: &impl Annotated,
    parent: Option<&Node>,
    way: &Way<'_>,
) -> Result<(), Failure> {
    for annotation in item.annotations().iter().filter(|annotation| annotation.ann == Some(Ann::AssertValidate)) {
        let rules = Rules::from_annotation(annotation, checker.run)?;
        let spot = CheckedValue { value: item.value(), parent, way, pos: item.pos(), secret: false };
        checker.check(&rules, &spot)?;
    }
    Ok(())
}

fn below(checker: &mut Checker<'_>, node: &Node, way: &Way<'_>) -> Result<(), Failure> {
    match node {
        Node::Scalar(_) => Ok(()),
        Node::Map(map) => map.iter().try_for_each(|item| {
            let way = Way::Key(way, &item.key);
            annotated(checker, item, Some(node), &way)?;
            crate::deep(|| below(checker, &item.value, &way))
        }),
        Node::Array(array) => array.items.iter().enumerate().try_for_each(|(index, item)| {
            let way = Way::Index(way, index);
            annotated(checker, item, Some(node), &way)?;
            crate::deep(|| below(checker, &item.value, &way))
        }),
    }
}
