//! `@ytt:library`: libraries as values in programs.
//!
//! `library.get()` returns a library that has not run yet; `with_data_values()` and
//! `with_data_values_schema()` return copies with more inputs. `eval()`, `export()` and
//! `data_values()` run it, again on each call.

use std::rc::Rc;

use ytterby_diag::{Failure, Help, Pos};
use ytterby_starlark::{Args, Builtin, Error, Eval, Value};
use ytterby_text::{Str, spelling};

use super::stages::{PreparedLibrary, Waiting};
use super::{BaseDirectories, Evaluated, LibraryRun};
use crate::args::{self, fail};
use crate::node::{self, Annotated, Document, DocumentSet, FileDocuments, Fragment, Node};
use crate::record::{LibraryCall, Record};
use crate::schema;
use crate::stdlib::{self, Module};
use crate::template::{KeyOverrides, UnknownComments};
use crate::values::{Envelope, Input, LibraryRef};

/// The module for a file of `parent` with the directories `base`; `waiting` contains the inputs for
/// libraries below.
pub(crate) fn module(parent: &LibraryRun, base: &BaseDirectories, waiting: &Rc<Waiting>) -> Module {
    let (parent, base, waiting) = (parent.clone(), base.clone(), waiting.clone());
    let get = move |_: &mut Eval, args: Args<'_>| get(&parent, &base, &waiting, args);
    Module::new("library").with_value("get", stdlib::function("library.get", get))
}

fn get(parent: &LibraryRun, base: &BaseDirectories, waiting: &Waiting, args: Args<'_>) -> Result<Value, Error> {
    let path = args::one_string(&args)?.to_str();
    let mut run = parent.clone();
    let mut alias = String::new();
    for (name, value) in args.named {
        match &*name.to_str() {
            "alias" => alias = args::string(value)?.to_string(),
            "ignore_unknown_comments" => {
                let ignore = args::boolean(value)?;
                run.options.unknown_comments = if ignore { UnknownComments::Ignore } else { UnknownComments::Refuse };
            }
            "implicit_map_key_overrides" => {
                let implicit = args::boolean(value)?;
                run.options.key_overrides = if implicit { KeyOverrides::Implicit } else { KeyOverrides::Annotated };
            }
            "strict" => run.options.strict = args::boolean(value)?,
            "dangerous_data_values_disable_validation" => run.skip_value_validation |= args::boolean(value)?,
            "data_value_schema_disable_validation" if parent.run.is_beyond_ytt() => {
                run.skip_value_validation |= args::boolean(value)?;
            }
            other => fail!("Unexpected kwarg '{other}'"),
        }
    }
    if path.starts_with('@') {
        fail!("Expected library '{path}' to be specified without '@'");
    }
    run.library = base.current.find_private(&path)?;
    let name = LibraryRef { path: path.into_owned(), alias };
    let instance = Instance { name, run, values: waiting.values.clone(), schemas: waiting.schemas.clone() };
    Ok(instance.into_value())
}

/// A private library of `parent` with all inputs that were given for it there, as code would get it
/// by its name alone.
pub(crate) fn prepare_private(
    eval: &mut Eval,
    parent: &LibraryRun,
    waiting: Waiting,
    name: &str,
) -> Result<(LibraryRun, PreparedLibrary), Failure> {
    let run = LibraryRun { library: parent.library.find_private(name)?, ..parent.clone() };
    let name = LibraryRef { path: name.to_owned(), alias: String::new() };
    let instance = Instance { name, run, values: waiting.values, schemas: waiting.schemas };
    let prepared = instance.prepared(eval)?;
    Ok((instance.run, prepared))
}

/// A library as code ran it, for those who ask where its data values come from.
pub(crate) struct RanLibrary {
    pub run: LibraryRun,
    pub prepared: PreparedLibrary,
    /// Schemas that were given for it.
    pub schemas: Vec<Envelope>,
    /// Data values that were given for it, in the order in which they count.
    pub given: Vec<Envelope>,
}

/// A library that has not run yet.
#[derive(Clone)]
struct Instance {
    name: LibraryRef,
    run: LibraryRun,
    values: Vec<Rc<Envelope>>,
    schemas: Vec<Rc<Envelope>>,
}

impl Instance {
    fn into_value(self) -> Value {
        let this = Rc::new(self);
        let (evaluating, exporting) =
            (format!("Evaluating library '{}'", this.name), format!("Exporting from library '{}'", this.name));
        Value::host(
            Module::new("library")
                .with_value("with_data_values", this.method("library.with_data_values", None, Instance::with_values))
                .with_value(
                    "with_data_values_schema",
                    this.method("library.with_data_values_schema", None, Instance::with_schema),
                )
                .with_value("eval", this.method("library.eval", Some(evaluating), Instance::eval))
                .with_value("export", this.method("library.export", Some(exporting.clone()), Instance::export))
                .with_value("data_values", this.method("library.data_values", Some(exporting), Instance::data_values)),
        )
    }

    /// A function whose errors begin with its name and what it was doing.
    fn method(
        self: &Rc<Instance>,
        name: &'static str,
        doing: Option<String>,
        body: fn(&Instance, &mut Eval, Args<'_>) -> Result<Value, Error>,
    ) -> Value {
        let this = self.clone();
        Value::from(Builtin::new(name, move |eval, args| {
            body(&this, eval, args).map_err(|error| match &doing {
                Some(doing) => error.in_context(doing).in_context(name),
                None => error.in_context(name),
            })
        }))
    }

    fn with_values(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        let given = args::one(&args)?;
        let value = node::node_from_value(given).map_err(Error::new)?;
        args::known_keywords(&args, &["plain"])?;
        let mut doc = Document::new(value, Pos::UNKNOWN);
        if args::bool_keyword(&args, "plain", false)? {
            if has_annotations(&doc.value) {
                fail!("Expected to be plain YAML, having no annotations (hint: remove comments starting with `#@`)");
            }
            node::merge_plainly(&mut doc);
        }
        let place = if self.run.run.is_beyond_ytt() { eval.position() } else { Pos::UNKNOWN };
        let envelope = Envelope::new(doc, Input::Code(place))?;
        let mut next = self.clone();
        next.values.push(Rc::new(envelope));
        Ok(next.into_value())
    }

    fn with_schema(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        let value = node::node_from_value(args::one(&args)?).map_err(Error::new)?;
        let mut doc = Document::new(value, Pos::UNKNOWN);
        schema::distribute_defaults_for_strings(&self.run.run, &mut doc)?;
        let envelope = Envelope::new(doc, Input::Document)?;
        // A schema that is not valid by itself is refused here, in the call that passes it.
        schema::compile(eval, &self.run.run, &envelope.doc, schema::DocumentRole::Overlay)?;
        let mut next = self.clone();
        next.schemas.push(Rc::new(envelope));
        Ok(next.into_value())
    }

    fn eval(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        if !args.positional.is_empty() {
            fail!("expected no arguments");
        }
        let mut this = self.clone();
        if this.run.run.is_beyond_ytt() {
            for (name, value) in args.named {
                let flag = match &*name.to_str() {
                    "output_disable_validation" => &mut this.run.skip_output_validation,
                    "data_value_schema_disable_validation" => &mut this.run.skip_value_validation,
                    _ => continue,
                };
                let Value::Bool(value) = value else { fail!("expected {name} to be a bool") };
                *flag |= *value;
            }
        }
        let outcome = this.evaluated(eval)?;
        let run = &this.run.run;
        let documents = outcome.documents.into_iter();
        let items: Vec<Document> = documents.flat_map(|(file, docs)| file.file.nodes(run, docs).items).collect();
        Ok(Value::host(Fragment::from(DocumentSet { items })))
    }

    fn data_values(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        if !args.positional.is_empty() {
            fail!("expected no arguments");
        }
        let prepared = self.prepared(eval)?;
        stdlib::data::check_keys(&prepared.values.doc.value)?;
        Ok(node::values_of(&prepared.values.doc.value))
    }

    fn export(&self, eval: &mut Eval, args: Args<'_>) -> Result<Value, Error> {
        let symbol = args::one_string(&args)?;
        let mut path: Option<&Str> = None;
        for (name, value) in args.named {
            match &*name.to_str() {
                "path" => path = Some(args::string(value)?).filter(|path| !path.is_empty()),
                other => fail!("Unexpected keyword argument '{other}'"),
            }
        }
        if symbol.starts_with(b"_") {
            fail!("Symbols starting with '_' are private, and cannot be exported");
        }
        let outcome = self.evaluated(eval)?;
        let found: Vec<_> = outcome
            .exports
            .iter()
            .filter(|(file, _)| path.is_none_or(|path| path.to_str() == *file))
            .filter_map(|(file, exports)| exports.get(symbol).map(|value| (file, value)))
            .collect();
        match &found[..] {
            [] => {
                let error = Error::new(format!("Expected to find exported symbol '{symbol}', but did not"));
                let files = outcome.exports.iter().filter(|(file, _)| path.is_none_or(|path| path.to_str() == *file));
                let names: Vec<_> =
                    files.flat_map(|(_, exports)| exports.iter()).map(|(name, _)| name.to_str()).collect();
                let meant = spelling::nearest(&symbol.to_str(), names.iter().map(|name| &**name));
                Err(match meant {
                    Some(meant) => error.with_help(Help::rename_string(&symbol.to_str(), meant)),
                    None => error,
                })
            }
            [(_, value)] => Ok((*value).clone()),
            several => {
                let paths: Vec<&str> = several.iter().map(|(file, _)| file.as_str()).collect();
                fail!(
                    "Expected to find exactly one exported symbol '{symbol}', but found multiple across files: {}",
                    paths.join(", ")
                )
            }
        }
    }

    fn evaluated(&self, eval: &mut Eval) -> Result<Evaluated, Failure> {
        let prepared = self.prepared(eval)?;
        match Record::of(&self.run.run) {
            None => self.run.finish(eval, prepared, None),
            Some(record) => self.recorded(eval, prepared, &record),
        }
    }

    /// The same, with a record for provenance.
    fn recorded(&self, eval: &mut Eval, prepared: PreparedLibrary, record: &Record) -> Result<Evaluated, Failure> {
        let pos = eval.position();
        let details = Rc::new(RanLibrary {
            run: self.run.clone(),
            prepared: prepared.clone(),
            schemas: self.deliver(&self.schemas).1,
            given: self.given().1,
        });
        record.enter_library(self.name.to_string());
        let outcome = self.run.finish(eval, prepared, None);
        let name = record.leave_library();
        let mut outcome = outcome?;
        let mut documents = Vec::new();
        for (file, docs) in &mut outcome.documents {
            let nodes = file.file.nodes(&self.run.run, docs.clone());
            documents.extend(nodes.items.iter().cloned());
            *docs = FileDocuments::Nodes(nodes);
        }
        record.library(LibraryCall { name, pos, documents, details });
        Ok(outcome)
    }

    /// What is for libraries below this one, and what is for itself.
    fn deliver(&self, envelopes: &[Rc<Envelope>]) -> (Vec<Envelope>, Vec<Envelope>) {
        let delivered = envelopes.iter().filter_map(|envelope| envelope.delivered(&self.name));
        delivered.partition(Envelope::is_for_child)
    }

    /// The data values given for libraries below this one, and for itself, in the order in which
    /// they count.
    fn given(&self) -> (Vec<Envelope>, Vec<Envelope>) {
        let (below, values) = self.deliver(&self.values);
        let (late, early): (Vec<Envelope>, Vec<Envelope>) =
            values.into_iter().partition(|envelope| envelope.after_library_module);
        (below, early.into_iter().chain(late).collect())
    }

    /// The library with all inputs for it.
    fn prepared(&self, eval: &mut Eval) -> Result<PreparedLibrary, Failure> {
        let (schemas_below, schemas) = self.deliver(&self.schemas);
        let (values_below, values) = self.given();
        let mut prepared = self.run.prepare(eval, schemas, values)?;
        // Inputs of a parent are applied on top of the library's own.
        prepared.waiting.schemas.extend(schemas_below.into_iter().map(Rc::new));
        prepared.waiting.values.extend(values_below.into_iter().map(Rc::new));
        Ok(prepared)
    }
}

fn has_annotations(node: &Node) -> bool {
    fn item(item: &dyn Annotated) -> bool {
        !item.annotations().is_empty() || crate::deep(|| has_annotations(item.value()))
    }
    match node {
        Node::Scalar(_) => false,
        Node::Map(map) => map.iter().any(|i| item(i)),
        Node::Array(array) => array.items.iter().any(|i| item(i)),
    }
}
