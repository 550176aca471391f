//! The two stages of a library's run before its templates: its schema and its data values.
//!
//! Both find the files with the matching documents, evaluate them, and merge them with the inputs
//! from outside (flags, or the code that uses the library). Documents for libraries below are kept
//! for them.

use std::rc::Rc;

use ytterby_diag::{Cause, Diagnostic, Failure, Help, Id, Part, SchemaBlock, SchemaReport};
use ytterby_starlark::Eval;

use super::envelope::{Envelope, Input};
use super::merge;
use crate::annotation::Ann;
use crate::library::{FileInLibrary, LibraryRun, Loader};
use crate::node::{Annotated, Document, DocumentSet, Node};
use crate::overlay::{self, Purpose};
use crate::run::Run;
use crate::schema::{self, DocumentRole, Schema};
use crate::validate;
use crate::values::check::{Misshapen, Mistyped, ShapeChecks, Whose};

/// The schema of a library.
pub(crate) struct DeclaredSchema {
    /// `None` if the library has no schema: everything is allowed.
    pub schema: Option<Rc<Schema>>,
    /// Schemas for libraries below.
    pub for_children: Vec<Rc<Envelope>>,
    /// The files that contained it; they are not templates.
    pub files: Vec<FileInLibrary>,
}

/// The data values of a library.
#[derive(Clone)]
pub(crate) struct FinalValues {
    pub doc: Document,
    /// Data values for libraries below.
    pub for_children: Vec<Rc<Envelope>>,
    /// The files that contained them; they are not templates.
    pub files: Vec<FileInLibrary>,
}

/// The schema that the files of a library declare, with `given` overlaid.
pub(crate) fn schema_of(
    library: &LibraryRun,
    eval: &mut Eval,
    given: Vec<Envelope>,
) -> Result<DeclaredSchema, Failure> {
    let names = ["data/values-schema", "schema/definition", "schema/match", "schema"];
    let names = if library.run.is_beyond_ytt() { &names[..] } else { &names[..1] };
    let files = library.files_annotated(names)?;
    if files.is_empty() && given.is_empty() {
        return Ok(DeclaredSchema { schema: None, for_children: Vec::new(), files });
    }
    let order = order_of(&files, (!given.is_empty()).then_some("additional data value schema"));
    let in_order =
        |failure: Failure| failure.doing(format!("Overlaying data values schema (in following order: {order})"));
    let loader = library.loader_without_values();
    let run = &library.run;
    let mut own = Vec::new();
    let mut role = DocumentRole::Schema;
    for file in &files {
        let docs = documents_of(library, eval, &loader, file, Ann::DataValuesSchema, "schema").map_err(in_order)?;
        for doc in docs {
            own.push(schema_by_itself(eval, run, doc, &mut role).map_err(in_order)?);
        }
    }
    let (schema, for_children) = combine(eval, run, own, given).map_err(in_order)?;
    Ok(DeclaredSchema { schema, for_children, files })
}

type Combined = (Option<Rc<Schema>>, Vec<Rc<Envelope>>);

/// The schema in a document of a file, which must be valid by itself. The first one for this
/// library has the given `role`.
fn schema_by_itself(
    eval: &mut Eval,
    run: &Run,
    doc: Document,
    role: &mut DocumentRole,
) -> Result<(Envelope, Option<Schema>), Failure> {
    let mut envelope = Envelope::new(doc, Input::Document)?;
    schema::distribute_defaults_for_strings(run, &mut envelope.doc)?;
    let own_role =
        if envelope.is_for_child() { DocumentRole::Overlay } else { std::mem::replace(role, DocumentRole::Overlay) };
    let schema = schema::compile(eval, run, &envelope.doc, own_role)?;
    Ok((envelope, Some(schema)))
}

/// Combines the documents of files with the given ones.
fn combine(
    eval: &mut Eval,
    run: &Run,
    own: Vec<(Envelope, Option<Schema>)>,
    given: Vec<Envelope>,
) -> Result<Combined, Failure> {
    let mut for_children = Vec::new();
    let mut merged: Option<Document> = None;
    let mut only: Option<Schema> = None;
    for (envelope, compiled) in own.into_iter().chain(given.into_iter().map(|envelope| (envelope, None))) {
        if envelope.is_for_child() {
            for_children.push(Rc::new(envelope));
            continue;
        }
        merged = Some(match merged {
            None => {
                only = compiled;
                envelope.doc
            }
            Some(left) => {
                only = None;
                overlay::merge_document(eval, run, left, &envelope.doc, Purpose::Schema)?
            }
        });
    }
    let schema = match (only, merged) {
        (Some(schema), _) => Some(schema),
        (None, Some(doc)) => Some(schema::compile(eval, run, &doc, DocumentRole::Schema)?),
        (None, None) => None,
    };
    Ok((schema.map(Rc::new), for_children))
}

/// The data values in the files of a library, with `given` on top.
pub(crate) fn values_of(
    library: &LibraryRun,
    eval: &mut Eval,
    given: Vec<Envelope>,
    schema: Option<&Schema>,
) -> Result<FinalValues, Failure> {
    let files = library.files_annotated(&["data/values"])?;
    let order = order_of(&files, (!given.is_empty()).then_some("additional data values"));
    let in_order = |failure: Failure| failure.doing(format!("Overlaying data values (in following order: {order})"));
    let run = &library.run;
    let mut inputs = inputs_of(library, eval, &files).map_err(in_order)?;
    inputs.extend(given);
    let (for_children, own): (Vec<Envelope>, Vec<Envelope>) = inputs.into_iter().partition(Envelope::is_for_child);
    let merge::Merged { mut doc, problems } = merge::merge(eval, run, schema, own).map_err(in_order)?;
    let mistyped = Mistyped::of(&problems);
    let violations = validate(library, eval, &mut doc, schema, &mistyped)?;
    let problems = (!problems.is_empty()).then(|| {
        let title = merge::TITLE.to_owned();
        in_order(Failure::of(Cause::Schema(SchemaReport { title, blocks: problems })))
    });
    match (problems, violations) {
        (None, None) => {}
        (Some(failure), None) | (None, Some(failure)) => return Err(failure),
        (Some(problems), Some(violations)) => return Err(Failure::of(Cause::Series(vec![problems, violations]))),
    }
    Ok(FinalValues { doc, for_children: for_children.into_iter().map(Rc::new).collect(), files })
}

/// The data values in the files of a library, with `given` on top, before validation.
pub(super) fn merged(
    library: &LibraryRun,
    eval: &mut Eval,
    given: Vec<Envelope>,
    schema: &Schema,
) -> Result<Document, Failure> {
    let files = library.files_annotated(&["data/values"])?;
    let mut inputs = inputs_of(library, eval, &files)?;
    inputs.extend(given);
    let own = inputs.into_iter().filter(|input| !input.is_for_child()).collect();
    let merge::Merged { doc, problems } = merge::merge(eval, &library.run, Some(schema), own)?;
    match problems.is_empty() {
        true => Ok(doc),
        false => Err(wrong(problems)),
    }
}

/// The failure for values that do not match the schema.
pub(crate) fn wrong(blocks: Vec<SchemaBlock>) -> Failure {
    Failure::of(Cause::Schema(SchemaReport { title: merge::TITLE.to_owned(), blocks }))
}

/// The data values documents of files, for this library and for others.
pub(crate) fn inputs_of(
    library: &LibraryRun,
    eval: &mut Eval,
    files: &[FileInLibrary],
) -> Result<Vec<Envelope>, Failure> {
    let loader = library.loader_without_values();
    let mut inputs = Vec::new();
    for file in files {
        for doc in documents_of(library, eval, &loader, file, Ann::DataValues, "data values")? {
            warn_about_schema_annotations(&library.run, &doc);
            inputs.push(Envelope::new(doc, Input::Document)?);
        }
    }
    Ok(inputs)
}

/// Adds the defaults of shapes, and checks all rules. Returns the violations; other errors end the
/// run.
pub(crate) fn validate(
    library: &LibraryRun,
    eval: &mut Eval,
    doc: &mut Document,
    schema: Option<&Schema>,
    mistyped: &Mistyped,
) -> Result<Option<Failure>, Failure> {
    let run = &library.run;
    let skip = library.skip_value_validation;
    let mode = if skip { ShapeChecks::TypesOnly } else { ShapeChecks::Rules };
    let staged = |failure: Failure| failure.in_stage("Validating final data values");
    if let Some(schema) = schema {
        schema.keep_secrets(run, &doc.value);
    }
    let misshapen = match schema {
        Some(schema) => crate::values::check::resolve_shapes(eval, run, doc, schema, mode).map_err(staged)?,
        None => Misshapen::new(),
    };
    if skip {
        return Ok(None);
    }
    let whose = if library.library.is_root() { Whose::Root } else { Whose::Library };
    let blocks = crate::values::check::check(eval, run, doc, schema, &misshapen, mistyped, whose).map_err(staged)?;
    Ok(validate::failure_of(blocks).map(staged))
}

fn order_of(files: &[FileInLibrary], more: Option<&str>) -> String {
    let names: Vec<&str> = files.iter().map(|file| file.file.path()).chain(more).collect();
    names.join(", ")
}

/// The documents of a file with an annotation; others must be empty.
fn documents_of(
    library: &LibraryRun,
    eval: &mut Eval,
    loader: &Rc<Loader>,
    file: &FileInLibrary,
    ann: Ann,
    what: &str,
) -> Result<Vec<Document>, Failure> {
    let path = file.file.path();
    let wrap = |failure: Failure| failure.doing(format!("Templating file '{path}'"));
    let DocumentSet { items } = library.documents(eval, loader, file).map_err(|mut failure| {
        if library.has_other_documents(file, ann) {
            let help = format!("a file with {what} has no data values: move its templates to a separate file");
            failure.add_help(Help::new(help));
        }
        wrap(failure)
    })?;
    let (docs, others): (Vec<Document>, Vec<Document>) = items.into_iter().partition(|doc| doc.has(ann));
    if let Some(other) = others.iter().find(|doc| !doc.is_empty()) {
        let text = format!("Expected {what} file '{path}' to only have {what} documents");
        let problem = Diagnostic::error(Id::VALUES_DOCUMENT, text).at(other.pos, Part::Line);
        let help = format!("move this document to a separate file: a file with {what} has no templates");
        return Err(wrap(problem.help(Help::new(help)).into()));
    }
    Ok(docs)
}

/// Warns about schema annotations, which have no meaning in data values.
fn warn_about_schema_annotations(run: &Run, doc: &Document) {
    if run.is_beyond_ytt() {
        warn_about_item(run, doc);
    }
}

fn warn_about_item(run: &Run, item: &dyn Annotated) {
    for ann in item.annotations() {
        let Some(kind) = ann.ann.filter(|kind| kind.is_in("schema")) else { continue };
        let mut text = format!("@{} has no effect outside a schema document", kind.name());
        if kind == Ann::SchemaValidation {
            text.push_str("; use @assert/validate");
        }
        run.warn_of_annotation(Id::ANNOTATION_MISPLACED, ann.pos, text);
    }
    match item.value() {
        Node::Scalar(_) => {}
        Node::Map(map) => crate::deep(|| map.iter().for_each(|item| warn_about_item(run, item))),
        Node::Array(array) => crate::deep(|| array.items.iter().for_each(|item| warn_about_item(run, item))),
    }
}
