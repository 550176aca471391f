//! The order of a run: schema, data values, templates, overlays, checks, output.
//!
//! This module only puts the stages in order and handles the inspection flags, which stop after a
//! stage and show its result. The stages of a library are in `library`.

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Diagnostic, Failure, Id, Origin, Pos, Sources};
use ytterby_starlark::Eval;
use ytterby_text::budget;
use ytterby_text::profile::phase;

use crate::api::{Host, Inspect, Options, OutputForm, Rendered, Silent};
use crate::causes::FindCauses;
use crate::early;
use crate::export::{self, Changes};
use crate::host_check;
use crate::input::InputFile;
pub(crate) use crate::library::library_run;
use crate::library::{Evaluated, FileInLibrary, Library, LibraryRun, PreparedLibrary, library_of, prepare_private};
use crate::limits;
use crate::node::{Array, ArrayItem, Document, DocumentSet, FileDocuments, Node};
use crate::output::{self, Written};
use crate::output_source;
use crate::output_types::{Format, Offer, SchemaFormat};
use crate::provenance::causes::Causes;
use crate::record::Record;
use crate::run::Run;
use crate::schema::{Schema, hide_lines_naming, redact, secret_names};
use crate::slips;
use crate::values::{self, DeclaredSchema, Envelope};

/// Renders `files`. Sources for positions of diagnostics are added to `sources`.
///
/// # Errors
/// If files, options or values are wrong, or a limit is reached. Warnings until then are part of
/// the failure.
pub fn render(
    files: Vec<InputFile>,
    options: &Options,
    sources: &Arc<Sources>,
    host: Rc<dyn Host>,
) -> Result<Rendered, Failure> {
    crate::on_large_stack(|| {
        let _budget = limits::begin(options);
        let run = Rc::new(Run::new(options, sources, host));
        let (rendered, warnings) = run.conclude(|| {
            run.writes_early.set(early::is_possible(options, offer(&run), &files));
            let library = library_of(&run, files)?;
            if options.is_last_run {
                // Never freed: the end of the process is quicker than visiting every node.
                std::mem::forget((Rc::clone(&run), Rc::clone(&library)));
            }
            stages(&run, library).and_then(limits::charge_output)
        })?;
        Ok(Rendered { warnings, ..rendered })
    })
}

/// Compares the schemas of two sets of files.
///
/// # Errors
/// If the files of one version are wrong or declare no schema, or a limit is reached.
pub fn diff_schemas(
    old: Vec<InputFile>,
    new: Vec<InputFile>,
    options: &Options,
    sources: &Arc<Sources>,
    host: Rc<dyn Host>,
) -> Result<Changes, Failure> {
    crate::on_large_stack(|| {
        let _budget = limits::begin(options);
        compare_schemas(old, new, options, sources, host)
    })
}

fn compare_schemas(
    old: Vec<InputFile>,
    new: Vec<InputFile>,
    options: &Options,
    sources: &Arc<Sources>,
    host: Rc<dyn Host>,
) -> Result<Changes, Failure> {
    let run = Rc::new(Run::new(options, sources, host.clone()));
    let schema = |files: Vec<InputFile>, what: &str| {
        let run = Rc::new(Run::new(options, sources, host.clone()));
        let library = library_of(&run, files)?;
        let declared = library_run(&run, library).schema(&mut run.new_eval(), Vec::new())?;
        declared.schema.ok_or_else(|| {
            Failure::new(Id::SCHEMA_INVALID, format!("Expected a schema in the {what} files, found none"))
        })
    };
    limits::within(sources, || {
        let (old, new) = (schema(old, "old")?, schema(new, "new")?);
        Ok(export::diff(&old, &new, &run))
    })
}

/// The whole run up to the documents.
pub(crate) fn evaluate(run: &Rc<Run>, library: Rc<Library>) -> Result<Evaluated, Failure> {
    let root = library_run(run, library);
    let mut eval = run.new_eval();
    let given = given_values(run, &root)?;
    let declared = root.schema(&mut eval, Vec::new())?;
    let prepared = prepare(&root, &mut eval, declared, given)?;
    finish(run, &root, &mut eval, prepared)
}

/// The data values of the root library: checked, and completed with defaults.
pub(crate) fn final_values(run: &Rc<Run>, library: Rc<Library>) -> Result<Document, Failure> {
    let root = library_run(run, library);
    let mut eval = run.new_eval();
    let given = given_values(run, &root)?;
    let declared = root.schema(&mut eval, Vec::new())?;
    Ok(prepare(&root, &mut eval, declared, given)?.values.doc)
}

/// The data values of flags.
fn given_values(run: &Rc<Run>, root: &LibraryRun) -> Result<Vec<Envelope>, Failure> {
    values::from_flags(run).inspect_err(|failure| hide_secrets_of(run, root, failure))
}

/// The data values of the root library; those for libraries below wait for them.
fn prepare(
    root: &LibraryRun,
    eval: &mut Eval,
    declared: DeclaredSchema,
    given: Vec<Envelope>,
) -> Result<PreparedLibrary, Failure> {
    let (for_children, given): (Vec<Envelope>, Vec<Envelope>) = given.into_iter().partition(Envelope::is_for_child);
    let mut prepared = root.prepare_with(eval, declared, given)?;
    prepared.waiting.values.extend(for_children.into_iter().map(Rc::new));
    Ok(prepared)
}

/// Templates, overlays and checks.
fn finish(run: &Rc<Run>, root: &LibraryRun, eval: &mut Eval, prepared: PreparedLibrary) -> Result<Evaluated, Failure> {
    let schema = prepared.schema.clone();
    let check = run.options.output_check.as_deref();
    let checked = check.map(|check| (check, prepared.values.doc.clone()));
    let covered = run.options.coverage.as_ref().map(|coverage| (coverage, prepared.values.doc.clone()));
    let causes = Causes::wanted(root, &prepared);
    let causes = causes.as_ref().map(|causes| causes as &dyn FindCauses);
    let evaluated = root.finish(eval, prepared, causes)?;
    if let (Some((coverage, values)), Some(record)) = (covered, Record::of(run)) {
        coverage.add_values(&values.value, &record.reads);
    }
    if let Some((check, values)) = checked {
        let _span = phase("checks of the output");
        host_check::check(run, check, &evaluated, &values, causes)?;
    }
    look_for_slips(run, root, schema.as_deref(), &evaluated);
    Ok(evaluated)
}

/// The result that the host requested: documents, or an inspection.
pub(crate) fn stages(run: &Rc<Run>, library: Rc<Library>) -> Result<Rendered, Failure> {
    let options = &run.options;
    let root = library_run(run, library);
    if options.inspect == Some(Inspect::Files) {
        let docs = DocumentSet { items: vec![inspected_files(&root)] };
        return documents(run, vec![FileDocuments::Nodes(docs)]);
    }
    let mut eval = run.new_eval();
    if options.coverage.is_some() {
        *run.record.borrow_mut() = Some(Rc::new(Record::default()));
    }
    let given = given_values(run, &root)?;
    if matches!(options.inspect, Some(Inspect::Schema | Inspect::SchemaDocs)) {
        let declared = below(&root, &options.library)?.schema(&mut eval, Vec::new())?;
        return inspected_schema(run, declared.schema.as_deref());
    }
    let declared = root.schema(&mut eval, Vec::new())?;
    if options.output_types.schema(offer(run))?.is_some() {
        return Err(Failure::new(
            Id::FLAG_CONFLICT,
            "Output type currently only supported for data values schema (i.e. include --data-values-schema-inspect)",
        ));
    }
    let mut prepared = prepare(&root, &mut eval, declared, given)?;
    if options.inspect == Some(Inspect::Values) {
        let mut at = root;
        for name in &options.library {
            (at, prepared) = prepare_private(&mut eval, &at, prepared.waiting, name)?;
        }
        let PreparedLibrary { schema, values, .. } = prepared;
        let mut doc = values.doc;
        if let Some(schema) = schema.filter(|schema| schema.uses.secrets) {
            doc.value = redact(&doc.value, &schema.root);
        }
        return documents(run, vec![FileDocuments::Nodes(DocumentSet { items: vec![doc] })]);
    }
    let evaluated = finish(run, &root, &mut eval, prepared)?;
    let _span = phase("write");
    write(run, evaluated)
}

/// Hides lines with names of secrets if a values file, flag or variable cannot be parsed: only the
/// schema knows the secrets, and it was not evaluated yet.
fn hide_secrets_of(run: &Run, root: &LibraryRun, failure: &Failure) {
    let has_secrets = |file: &FileInLibrary| {
        let text = file.file.input().content.read();
        text.is_ok_and(|text| text.windows(SECRET.len()).any(|part| part == SECRET))
    };
    if !run.is_beyond_ytt() || !root.library.accessible_files().iter().any(has_secrets) {
        return;
    }
    // The output of its `print()` does not belong to this run.
    let quiet = Rc::new(Run::new(&run.options, &run.sources, Rc::new(Silent)));
    let library = LibraryRun { run: quiet.clone(), ..root.clone() };
    let Ok(declared) = library.schema(&mut quiet.new_eval(), Vec::new()) else { return };
    let Some(schema) = declared.schema.filter(|schema| schema.uses.secrets) else { return };
    let names = secret_names(&schema.root);
    for diagnostic in failure.diagnostics() {
        for label in &diagnostic.labels {
            let Some(source) = run.sources.get(label.pos.file) else { continue };
            match source.origin() {
                // The name is not part of the text.
                Origin::Flag(_) | Origin::Variable(_) => {
                    run.sources.hide(label.pos.file, std::iter::once(0..source.text().len() as u32));
                }
                _ => hide_lines_naming(&run.sources, label.pos.file, &names),
            }
        }
    }
}

const SECRET: &[u8] = b"schema/secret";

/// Warns about mistakes that are only visible in the whole run.
fn look_for_slips(run: &Run, root: &LibraryRun, schema: Option<&Schema>, evaluated: &Evaluated) {
    if !run.options.look_for_slips {
        return;
    }
    for (_, docs) in &evaluated.documents {
        if let (Some(schema), FileDocuments::Plain(tree)) = (schema, docs) {
            slips::warn_about_plain_values(tree, run, schema);
        }
    }
    if evaluated.documents.is_empty() && evaluated.texts.is_empty() {
        slips::warn_about_no_output(run, root.library.accessible_files().len());
    }
}

/// The library at a path of names, each one private to the one before.
pub(crate) fn library_below(run: &Rc<Run>, files: Vec<InputFile>, names: &[String]) -> Result<LibraryRun, Failure> {
    below(&library_run(run, library_of(run, files)?), names)
}

/// The library at a path of names, each one private to the one before.
fn below(root: &LibraryRun, names: &[String]) -> Result<LibraryRun, Failure> {
    let mut at = root.clone();
    for name in names {
        at.library = at.library.find_private(name).map_err(|_| {
            let text = format!("Unknown library '{name}' in --library");
            let help = "name a directory below _ytt_lib, without the @; one inside of it is a second --library";
            Failure::from(Diagnostic::error(Id::LIBRARY_MISSING, text).help(help))
        })?;
    }
    Ok(at)
}

/// The schema in the format of `--output`.
fn inspected_schema(run: &Run, schema: Option<&Schema>) -> Result<Rendered, Failure> {
    let absent = Schema::absent();
    let schema = schema.unwrap_or(&absent);
    let _working = limits::working_at(schema.root.pos);
    let types = &run.options.output_types;
    let offer = offer(run);
    let format = match types.schema(offer)? {
        None if run.options.inspect == Some(Inspect::SchemaDocs) => Some(SchemaFormat::YttSchema),
        format => format,
    };
    let doc = match format {
        Some(SchemaFormat::OpenApi) => export::openapi(schema, run.options.compat),
        Some(SchemaFormat::JsonSchema) => export::json_schema(schema),
        Some(SchemaFormat::Crd) => export::crd(schema),
        Some(SchemaFormat::YttSchema) => export::ytt_schema(schema),
        Some(SchemaFormat::Markdown) => {
            return text(types.format(offer)?, SchemaFormat::Markdown, || export::markdown(schema));
        }
        Some(SchemaFormat::Values) => {
            return text(types.format(offer)?, SchemaFormat::Values, || export::values_file(schema));
        }
        Some(SchemaFormat::Html) => return text(types.format(offer)?, SchemaFormat::Html, || export::html(schema)),
        None => {
            let text = "Data values schema export only supported in OpenAPI v3 format; specify format with --output=openapi-v3 flag";
            let names = offer.schema_formats().collect::<Vec<_>>().join(", ");
            let problem = Diagnostic::error(Id::FLAG_VALUE, text);
            return Err(problem.help(format!("the formats of schemas are {names}")).into());
        }
    };
    documents(run, vec![FileDocuments::Nodes(DocumentSet { items: vec![doc] })])
}

/// A schema in a format that is not YAML, so that no document format applies to it.
fn text(format: Format, schema: SchemaFormat, write: impl FnOnce() -> String) -> Result<Rendered, Failure> {
    if format != Format::Yaml {
        let text = format!("Output type '{}' cannot be combined with '{}'", format.name(), schema.name());
        return Err(Failure::new(Id::FLAG_CONFLICT, text));
    }
    let documents = write().into_bytes();
    budget::may_output(documents.len())?;
    Ok(Rendered { documents, ..Rendered::default() })
}

/// The formats that `--output` accepts in this run.
fn offer(run: &Run) -> Offer {
    let shows_schema = matches!(run.options.inspect, Some(Inspect::Schema | Inspect::SchemaDocs));
    Offer { level: run.level, shows_schema }
}

/// The paths of the files that take part, as one document.
fn inspected_files(root: &LibraryRun) -> Document {
    let mut files = root.library.accessible_files();
    files.sort_by_key(|file| file.file.order);
    let items = files.iter().map(|file| ArrayItem::new(Node::str(file.file.path()), Pos::UNKNOWN));
    Document::new(Node::array(Array { items: items.collect(), ..Array::default() }), Pos::UNKNOWN)
}

/// The result that the host requested: one stream of documents, or files.
fn write(run: &Run, evaluated: Evaluated) -> Result<Rendered, Failure> {
    if run.options.target == OutputForm::Files {
        let source_map = match run.options.source_map {
            true => {
                let maps = evaluated
                    .documents
                    .iter()
                    .map(|(file, docs)| output_source::map(run, vec![docs.clone()], Some(&file.path)));
                maps.collect::<Result<Vec<_>, Failure>>()?.concat()
            }
            false => Vec::new(),
        };
        let files = output::files(evaluated, written(run), run.reuse.as_deref())?;
        return Ok(Rendered { files, source_map, ..Rendered::default() });
    }
    let has_other_files = !evaluated.texts.is_empty();
    if run.writes_early.get() {
        let mut ready = 0;
        for (file, docs) in &evaluated.written {
            let _working = file.file.working_at();
            ready += docs.as_ref().map_or(0, Vec::len);
            budget::may_output(ready)?;
        }
        let documents = output::joined(evaluated.written.into_iter().map(|(_, docs)| docs))?;
        return Ok(Rendered { documents, has_other_files, ..Rendered::default() });
    }
    let docs: Vec<FileDocuments> = evaluated.documents.into_iter().map(|(_, docs)| docs).collect();
    let source_map = match run.options.source_map {
        true => output_source::map(run, docs.clone(), None)?,
        false => Vec::new(),
    };
    Ok(Rendered { has_other_files, source_map, ..documents(run, docs)? })
}

/// What becomes of documents that are written.
fn written(run: &Run) -> Written {
    if run.options.is_last_run { Written::Leave } else { Written::Free }
}

/// One stream of documents in the format that `--output` names.
fn documents(run: &Run, docs: Vec<FileDocuments>) -> Result<Rendered, Failure> {
    let first = docs.iter().find_map(FileDocuments::first_pos);
    let documents = match run.options.output_types.format(offer(run))? {
        Format::Yaml => output::yaml_and(written(run), run.reuse.as_deref(), docs)?,
        Format::Json => output::json(&docs)?,
        Format::Pos => output::positions(run, &docs)?,
        Format::YamlSource => output_source::yaml(run, docs)?,
    };
    let _working = limits::working_at(first.unwrap_or(Pos::UNKNOWN));
    budget::may_output(documents.len())?;
    Ok(Rendered { documents, ..Rendered::default() })
}
