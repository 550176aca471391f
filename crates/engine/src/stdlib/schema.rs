//! `@ytt:schema`: any YAML against any schema.

use ytterby_diag::Kind;
use ytterby_starlark::{Args, Error, Eval, Value};

use super::Module;
use super::args::{self, fail};
use crate::api::Failure;
use crate::node::{self, Document, Fragment, Node};
use crate::overlay;
use crate::run::Run;
use crate::schema::check::Context;
use crate::schema::report::{Block, Shown};
use crate::schema::{self, Schema, shapes};
use crate::template;
use crate::validate::Report;
use crate::validate::values::{self as rules, Mode};
use crate::values::{Envelope, Input, Outcome, try_merge};

/// The module.
pub(super) fn module() -> Module {
    Module::new("schema").with("apply", apply).with("check", check)
}

/// `schema.apply(schema, value)`: the value with defaults in, or an error.
fn apply(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    const CHECKING: &str = "Checking value against schema:";
    let (run, schema, value) = read(eval, &args)?;
    let checked = checked(eval, &run, &schema, value).map_err(template::error_of_failure)?;
    match checked {
        Checked::Fits(node) => Ok(node::to_value(&node)),
        Checked::WrongTypes(blocks) => {
            let failure = schema::report::failure(&run, "One or more data values were invalid", &blocks);
            Err(template::error_of_failure(failure.prefixed(CHECKING)))
        }
        Checked::Violates(report) => {
            Err(template::error_of_failure(report.into_failure(&run).prefixed(&format!("{CHECKING}\n"))))
        }
    }
}

/// `schema.check(schema, value)`: a list of what is wrong.
fn check(eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
    let (run, schema, value) = read(eval, &args)?;
    let checked = checked(eval, &run, &schema, value).map_err(template::error_of_failure)?;
    let lines: Vec<String> = match checked {
        Checked::Fits(_) => Vec::new(),
        Checked::WrongTypes(blocks) => blocks.iter().map(line_of_block).collect(),
        Checked::Violates(report) => report.blocks.iter().flat_map(lines_of_violations).collect(),
    };
    Ok(Value::list(lines.into_iter().map(Value::str).collect()))
}

fn line_of_block(block: &Block) -> String {
    let path = block.path.as_deref().unwrap_or("(document)");
    match block.kind {
        Kind::UnknownKey => format!("{path}: not declared in schema"),
        Kind::Removed => format!("{path}: removed from schema"),
        _ => {
            let expected = block.expected.split_once(" (by ").map_or(&*block.expected, |(name, _)| name);
            format!("{path}: expected {expected}, found {}", block.found)
        }
    }
}

fn lines_of_violations(block: &crate::validate::Block) -> impl Iterator<Item = String> + '_ {
    block.violations.iter().map(|violation| match (&violation.message, &*violation.found) {
        (Some(message), _) => format!("{}: {message}", block.path),
        (None, "") => format!("{}: must be: {}", block.path, violation.must_be),
        (None, found) => format!("{}: must be: {}; found: {found}", block.path, violation.must_be),
    })
}

enum Checked {
    Fits(Node),
    WrongTypes(Vec<Block>),
    Violates(Report),
}

/// The arguments: a compiled schema, and the value as a document of code at the place of the call.
fn read(eval: &mut Eval, args: &Args<'_>) -> Result<(std::rc::Rc<Run>, Schema, Envelope), Error> {
    let (declared, value) = args::two(args)?;
    let Some(fragment) = declared.downcast::<Fragment>() else {
        fail!("expected schema to be a yamlfragment, but was {}", declared.type_name());
    };
    let Some(run) = eval.data::<Run>() else { fail!("a schema cannot be checked outside a run") };
    let place = eval.position();
    let mut doc = shapes::shape_document(fragment, place);
    schema::distribute_defaults_for_strings(&run, &mut doc).map_err(template::error_of_failure)?;
    let schema = schema::compile(eval, &run, &doc, schema::Role::Schema).map_err(template::error_of_failure)?;
    let value = node::node_from_value(value).map_err(Error::new)?;
    let mut doc = Document::new(node::with_position(&value, place), place);
    overlay::annotate_for_plain_merge(&mut doc);
    let envelope = Envelope::new(doc, Input::Checked).map_err(template::error_of_failure)?;
    Ok((run, schema, envelope))
}

/// The value merged over the defaults, checked and validated.
fn checked(eval: &mut Eval, run: &Run, schema: &Schema, value: Envelope) -> Result<Checked, Failure> {
    let mut doc = match try_merge(&mut Context { eval, run }, schema, schema.defaults(), &value)? {
        Outcome::Merged(doc) => doc,
        Outcome::Wrong(mut blocks) => {
            // The whole value stands in the line of the call.
            let no_line = Shown::Line(String::new());
            blocks.iter_mut().filter(|block| block.shown == no_line).for_each(|block| block.shown = Shown::Source);
            return Ok(Checked::WrongTypes(blocks));
        }
    };
    let misshapen = rules::resolve_shapes(eval, run, &mut doc, schema, Mode::Rules)?;
    run.keep_secrets(&doc.value, schema);
    let mistyped = rules::Mistyped::default();
    let report = rules::check(eval, run, &doc, Some(schema), &misshapen, &mistyped, rules::Whose::Other)?;
    Ok(if report.is_empty() { Checked::Fits(doc.value) } else { Checked::Violates(report) })
}
