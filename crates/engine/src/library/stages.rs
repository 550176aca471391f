//! The stages of a library's run: schema, data values, templates, overlays.
//!
//! `LibraryRun::schema`, `LibraryRun::prepare` and `LibraryRun::finish` run in this order; between
//! them, callers of `@ytt:library` add inputs. What is meant for libraries below waits in `Waiting`
//! until those run, and unused input is an error.

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Failure, Id, Part, Pos, Text};
use ytterby_starlark::Eval;
use ytterby_text::profile::phase;

use super::{Evaluated, FileInLibrary, LibraryRun, Loader, module};
use crate::causes::FindCauses;
use crate::node::{Document, DocumentSet, FileDocuments, Map, Node};
use crate::schema::Schema;
use crate::validate::output;
use crate::values::{self, DeclaredSchema, Envelope, FinalValues};

/// Inputs for libraries below, which wait until those run.
#[derive(Clone, Default)]
pub(crate) struct Waiting {
    pub values: Vec<Rc<Envelope>>,
    pub schemas: Vec<Rc<Envelope>>,
}

/// A library whose data values are known.
#[derive(Clone)]
pub(crate) struct PreparedLibrary {
    pub schema: Option<Rc<Schema>>,
    pub values: FinalValues,
    pub waiting: Waiting,
    /// The files that contained schemas and data values.
    pub used_up: Vec<FileInLibrary>,
}

impl LibraryRun {
    /// A loader for files that are evaluated before data values are known.
    pub fn loader_without_values(&self) -> Rc<Loader> {
        let nothing = Document::new(Node::map(Map::new()), Pos::UNKNOWN);
        self.loader(&nothing, &Rc::new(Waiting::default()))
    }

    /// A loader with data values.
    fn loader(&self, values: &Document, waiting: &Rc<Waiting>) -> Rc<Loader> {
        let (this, waiting) = (self.clone(), waiting.clone());
        Loader::new(&self.run, self.options, values.value.clone(), move |base| module::module(&this, base, &waiting))
    }

    /// The schema, with the additions of others.
    pub fn schema(&self, eval: &mut Eval, given: Vec<Envelope>) -> Result<DeclaredSchema, Failure> {
        let _span = phase("schema");
        values::schema_of(self, eval, given)
    }

    /// Schema and data values, with the inputs of others.
    pub fn prepare(
        &self,
        eval: &mut Eval,
        schemas: Vec<Envelope>,
        given: Vec<Envelope>,
    ) -> Result<PreparedLibrary, Failure> {
        let declared = self.schema(eval, schemas)?;
        self.prepare_with(eval, declared, given)
    }

    /// The data values, with the inputs of others, for a known schema.
    pub fn prepare_with(
        &self,
        eval: &mut Eval,
        declared: DeclaredSchema,
        given: Vec<Envelope>,
    ) -> Result<PreparedLibrary, Failure> {
        let _span = phase("data values");
        let DeclaredSchema { schema, for_children: schemas, mut files } = declared;
        let mut values = values::values_of(self, eval, given, schema.as_deref())?;
        files.append(&mut values.files);
        let waiting = Waiting { values: std::mem::take(&mut values.for_children), schemas };
        Ok(PreparedLibrary { schema, values, waiting, used_up: files })
    }

    /// Evaluates templates and overlays. `causes` finds the data values that cause violations in
    /// the output.
    pub fn finish(
        &self,
        eval: &mut Eval,
        prepared: PreparedLibrary,
        causes: Option<&dyn FindCauses>,
    ) -> Result<Evaluated, Failure> {
        let waiting = Rc::new(prepared.waiting);
        let loader = self.loader(&prepared.values.doc, &waiting);
        let evaluated = {
            let _span = phase("templates");
            self.evaluate(eval, &loader, &prepared.used_up)?
        };
        self.check_all_used(&waiting)?;
        let mut evaluated = {
            let _span = phase("overlays");
            self.apply_overlays(eval, evaluated)?
        };
        let _span = phase("checks of the output");
        self.check_output(eval, &mut evaluated, &prepared.values.doc, causes)?;
        Ok(evaluated)
    }

    /// Checks the rules on output documents and removes them, so that users of the documents do not
    /// check again.
    fn check_output(
        &self,
        eval: &mut Eval,
        evaluated: &mut Evaluated,
        values: &Document,
        causes: Option<&dyn FindCauses>,
    ) -> Result<(), Failure> {
        // Most runs have no such rules and can skip the search.
        if !self.run.is_beyond_ytt() || !self.run.contexts.has_output_rules() {
            return Ok(());
        }
        let mut sets: Vec<&mut DocumentSet> = Vec::new();
        let mut first_numbers = Vec::new();
        let mut count = 0;
        for (_, docs) in &mut evaluated.documents {
            match docs {
                FileDocuments::Plain(tree) => count += tree.documents().iter().filter(|doc| !doc.injected).count(),
                FileDocuments::Nodes(docs) => {
                    first_numbers.push(count);
                    count += docs.items.len();
                    sets.push(docs);
                }
            }
        }
        if !self.skip_output_validation {
            let docs = sets.iter().zip(first_numbers);
            let docs =
                docs.flat_map(|(set, first)| set.items.iter().enumerate().map(move |(at, doc)| (first + at, doc)));
            output::check(eval, &self.run, docs, values, causes)?;
        }
        sets.into_iter().for_each(output::drop_rules);
        Ok(())
    }

    /// Checks that all inputs for libraries below were used.
    fn check_all_used(&self, waiting: &Waiting) -> Result<(), Failure> {
        let unused = |envelopes: &[Rc<Envelope>], what: &str| -> Vec<(Text, Pos)> {
            let unused = envelopes.iter().filter(|envelope| !envelope.is_used());
            unused.map(|envelope| (envelope.description(what), envelope.doc.pos)).collect()
        };
        let values = unused(&waiting.values, "Data Value");
        let schemas = unused(&waiting.schemas, "Schema");
        let kinds = match (values.is_empty(), schemas.is_empty()) {
            (true, true) => return Ok(()),
            (false, true) => "data values",
            (true, false) => "schema",
            (false, false) => "data values, and schema",
        };
        let mut text =
            Text::new(format!("Expected all provided library {kinds} documents to be used but found unused: "));
        let mut place = Pos::UNKNOWN;
        for (at, (description, pos)) in values.into_iter().chain(schemas).enumerate() {
            text = if at == 0 { text } else { text.then(", ") }.join(description);
            place = if place.is_known() { place } else { pos };
        }
        Err(Diagnostic::error(Id::LIBRARY_UNUSED, text).at(place, Part::Line).into())
    }
}
