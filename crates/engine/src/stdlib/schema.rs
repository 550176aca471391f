//! `@ytt:schema`: checks any YAML with any schema.

use ytterby_diag::{
    Cause, DiagnosticKind, Exhibit, Failure, PlaceNames, SchemaBlock as Block, SchemaReport, Text, ViolationBlock,
};
use ytterby_starlark::{Args, Error, Eval, Value};

use super::Module;
use crate::args::{self, fail};
use crate::node::{self, Document, Fragment, Node};
use crate::run::Run;
use crate::schema::check::CheckContext;
use crate::schema::{self, Schema, shapes};
use crate::values::check::{self as rules, ShapeChecks};
use crate::values::{Envelope, Input, MergeResult, try_merge};

/// The module.
pub(super) fn module() -> Module {
    Module::new("schema").with("apply", apply).with("check", check)
}

/// `schema.apply(schema, value)`: returns the value with defaults added, or fails.
fn apply(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    const CHECKING: &str = "Checking value against schema";
    let (run, schema, value) = read(eval, &args)?;
    let checked = checked(eval, &run, &schema, value)?;
    match checked {
        SchemaCheck::Fits(node) => Ok(node::to_value(&node)),
        SchemaCheck::WrongTypes(blocks) => {
            let title = "One or more data values were invalid".to_owned();
            let failure = Failure::of(Cause::Schema(SchemaReport { title, blocks }));
            Err(failure.in_stage(CHECKING).into())
        }
        SchemaCheck::Violates(blocks) => Err(Failure::of(Cause::Violations(blocks)).in_stage(CHECKING).into()),
    }
}

/// `schema.check(schema, value)`: returns a list of errors.
fn check(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let (run, schema, value) = read(eval, &args)?;
    let checked = checked(eval, &run, &schema, value)?;
    let lines: Vec<String> = match checked {
        SchemaCheck::Fits(_) => Vec::new(),
        SchemaCheck::WrongTypes(blocks) => blocks.iter().map(|block| line_of_block(&run, block)).collect(),
        SchemaCheck::Violates(blocks) => blocks.iter().flat_map(|block| lines_of_violations(&run, block)).collect(),
    };
    Ok(Value::list(lines.into_iter().map(Value::str).collect()))
}

fn shown(run: &Run, text: &Text) -> String {
    text.shown(&run.sources, PlaceNames::Reference)
}

fn line_of_block(run: &Run, block: &Block) -> String {
    let path = block.path.clone().unwrap_or_default().shown();
    match block.id.kind() {
        DiagnosticKind::UnknownKey => format!("{path}: not declared in schema"),
        DiagnosticKind::Removed => match block.hints.first() {
            Some(remedy) => format!("{path}: removed from schema; {remedy}"),
            None => format!("{path}: removed from schema"),
        },
        _ => format!("{path}: {}", shown(run, &block.expectation())),
    }
}

fn lines_of_violations(run: &Run, block: &ViolationBlock) -> Vec<String> {
    let path = block.path.shown();
    let line = |violation: &ytterby_diag::Violation| match &violation.message {
        Some(message) => format!("{path}: {}", shown(run, message)),
        None if violation.found.is_empty() => format!("{path}: must be: {}", shown(run, &violation.must_be)),
        None => {
            format!("{path}: must be: {}; found: {}", shown(run, &violation.must_be), shown(run, &violation.found))
        }
    };
    block.violations.iter().map(line).collect()
}

enum SchemaCheck {
    Fits(Node),
    WrongTypes(Vec<Block>),
    Violates(Vec<ViolationBlock>),
}

/// The arguments: a compiled schema, and the value as a document with the position of the call.
fn read(eval: &mut Eval, args: &Args<'_>) -> Result<(std::rc::Rc<Run>, Schema, Envelope), Error> {
    let (declared, value) = args::two(args)?;
    let Some(fragment) = declared.downcast::<Fragment>() else {
        fail!("expected schema to be a yamlfragment, but was {}", declared.type_name());
    };
    let Some(run) = eval.data::<Run>() else { fail!("a schema cannot be checked outside a run") };
    let place = eval.position();
    let mut doc = shapes::shape_document(fragment, place);
    schema::distribute_defaults_for_strings(&run, &mut doc)?;
    let schema = schema::compile(eval, &run, &doc, schema::DocumentRole::Schema)?;
    let value = node::node_from_value(value).map_err(Error::new)?;
    let mut doc = Document::new(node::with_position(&value, place), place);
    node::merge_plainly(&mut doc);
    let envelope = Envelope::new(doc, Input::Checked)?;
    Ok((run, schema, envelope))
}

/// The value merged over the defaults, checked and validated.
fn checked(eval: &mut Eval, run: &Run, schema: &Schema, value: Envelope) -> Result<SchemaCheck, Failure> {
    let mut doc = match try_merge(&mut CheckContext { eval, run }, schema, schema.defaults(), &value)? {
        MergeResult::Merged(doc) => doc,
        MergeResult::Wrong(mut blocks) => {
            // The whole value is in the line of the call.
            let without_line = blocks.iter_mut().filter(|block| block.exhibit == Exhibit::EmptyLine);
            without_line.for_each(|block| block.exhibit = Exhibit::Line);
            return Ok(SchemaCheck::WrongTypes(blocks));
        }
    };
    let misshapen = rules::resolve_shapes(eval, run, &mut doc, schema, ShapeChecks::Rules)?;
    schema.keep_secrets(run, &doc.value);
    let mistyped = rules::Mistyped::default();
    let blocks = rules::check(eval, run, &doc, Some(schema), &misshapen, &mistyped, rules::Whose::Other)?;
    Ok(if blocks.is_empty() { SchemaCheck::Fits(doc.value) } else { SchemaCheck::Violates(blocks) })
}
