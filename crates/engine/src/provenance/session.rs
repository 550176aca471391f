//! A project that can be rendered repeatedly with other data values.
//!
//! Schema and data values are computed once; parsed and compiled files are kept. Each render gets a
//! document of final data values and returns the documents of the output before any check.

use std::cell::OnceCell;
use std::rc::Rc;

use ytterby_diag::{Failure, FileId, Origin, Pos};
use ytterby_starlark::{Eval, Syntax};
use ytterby_text::Str;

use super::blocks::Blocks;
use super::constants::Constants;
use crate::annotation::Ann;
use crate::library::{File, Library, LibraryRun, PreparedLibrary, RanLibrary, Waiting, library_run};
use crate::node::{Annotated, Document, Node, Reads};
use crate::overlay::{self, Purpose};
use crate::record::{History, LibraryCall, Record, Replaced};
use crate::run::Run;
use crate::schema::Schema;
use crate::schema::check::CheckContext;
use crate::values::{self, Envelope, FinalValues, Input, MergeResult};

/// A project and its data values.
pub(super) struct Session {
    pub run: Rc<Run>,
    pub library: LibraryRun,
    pub schema: Option<Rc<Schema>>,
    /// The inputs of data values in order of precedence, with the values after each.
    pub inputs: Vec<GivenInput>,
    /// The final data values.
    pub values: Document,
    /// Whether the values satisfy all rules.
    pub is_valid: bool,
    /// The code of all files, read when it is needed.
    code: OnceCell<SessionCode>,
    used_up: Vec<crate::library::FileInLibrary>,
    values_for_children: Vec<Rc<Envelope>>,
    schemas_for_children: Vec<Rc<Envelope>>,
}

/// Facts from the code of all files.
pub(super) struct SessionCode {
    pub constants: Constants,
    pub blocks: Blocks,
}

/// One input of data values.
pub(super) struct GivenInput {
    pub kind: InputKind,
    /// Its position, for values without their own.
    pub place: Pos,
    pub doc: Document,
    /// The data values after it.
    pub after: Document,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum InputKind {
    Document,
    File,
    Flag,
    Variable,
    /// `with_data_values()`.
    Library,
}

impl InputKind {
    pub fn name(self) -> &'static str {
        match self {
            InputKind::Document => "document",
            InputKind::File => "file",
            InputKind::Flag => "flag",
            InputKind::Variable => "env",
            InputKind::Library => "library",
        }
    }
}

/// The output of one render.
pub(super) struct Output {
    pub documents: Vec<Document>,
    /// Texts by path.
    pub texts: Vec<(String, Str)>,
    pub histories: Vec<History>,
    pub libraries: Vec<LibraryCall>,
    pub replaced: Vec<Replaced>,
    pub reads: Option<Rc<Reads>>,
}

impl Session {
    pub fn new(run: &Rc<Run>, eval: &mut Eval, library: Rc<Library>) -> Result<Session, Failure> {
        let library = library_run(run, library);
        compile(&library)?;
        let given = values::from_flags(run)?;
        Session::with(library, eval, Vec::new(), given)
    }

    /// A library that code ran, with the history of its data values.
    pub fn of_ran(ran: &RanLibrary, eval: &mut Eval) -> Result<Session, Failure> {
        Session::with(ran.run.clone(), eval, ran.schemas.clone(), ran.given.clone())
    }

    fn with(
        library: LibraryRun,
        eval: &mut Eval,
        schemas: Vec<Envelope>,
        given: Vec<Envelope>,
    ) -> Result<Session, Failure> {
        let run = &library.run.clone();
        let declared = library.schema(eval, schemas)?;
        let files = library.files_annotated(&["data/values"])?;
        let documents = values::inputs_of(&library, eval, &files)?;
        let from_documents = documents.into_iter().map(|envelope| (InputKind::Document, envelope));
        let from_flags = given.into_iter().map(|envelope| {
            let source = run.sources.get(envelope.doc.pos.file).map(|source| source.origin());
            let kind = match (envelope.input, envelope.separator, source) {
                (Input::Code(_), ..) => InputKind::Library,
                (_, None, _) if envelope.doc.has(Ann::DataValues) => InputKind::Document,
                (_, None, _) => InputKind::File,
                (_, Some(_), Some(Origin::Variable(_))) => InputKind::Variable,
                (_, Some(_), _) => InputKind::Flag,
            };
            (kind, envelope)
        });
        let (mut children, mut inputs) = (Vec::new(), Vec::new());
        for (kind, envelope) in from_documents.chain(from_flags) {
            if envelope.is_for_child() {
                children.push(Rc::new(envelope));
            } else {
                inputs.push((kind, envelope));
            }
        }
        let schema = declared.schema;
        let mut session = Session {
            run: run.clone(),
            library,
            values: match &schema {
                Some(schema) => schema.defaults(),
                None => Document::new(Node::map(crate::node::Map::new()), Pos::UNKNOWN),
            },
            schema,
            inputs: Vec::new(),
            is_valid: true,
            code: OnceCell::new(),
            used_up: declared.files.into_iter().chain(files).collect(),
            values_for_children: children,
            schemas_for_children: declared.for_children,
        };
        let mut merged = session.values.clone();
        for (kind, envelope) in inputs {
            if let Some(schema) = &session.schema {
                schema.keep_secrets(run, &envelope.doc.value);
            }
            let is_first = session.inputs.is_empty();
            merged = session.merge(eval, merged, &envelope, is_first)?;
            let place = if envelope.doc.pos.is_known() { envelope.doc.pos } else { envelope.input.place() };
            session.inputs.push(GivenInput { kind, place, doc: envelope.doc, after: merged.clone() });
        }
        session.is_valid = session.validate(eval, &mut merged)?.is_none();
        session.values = merged;
        Ok(session)
    }

    /// A library with known data values, for variations of them.
    pub fn of(library: &LibraryRun, prepared: &PreparedLibrary) -> Session {
        Session {
            run: library.run.clone(),
            library: library.clone(),
            schema: prepared.schema.clone(),
            inputs: Vec::new(),
            values: prepared.values.doc.clone(),
            is_valid: true,
            code: OnceCell::new(),
            used_up: prepared.used_up.clone(),
            values_for_children: prepared.waiting.values.clone(),
            schemas_for_children: prepared.waiting.schemas.clone(),
        }
    }

    /// The code of all files, those of libraries included.
    pub fn code(&self) -> &SessionCode {
        self.code.get_or_init(|| {
            let options = &self.library.options;
            let files = self.library.library.all_files();
            let syntax = |file: &Rc<File>| file.syntax(&self.run, options.strict, options.unknown_comments);
            let files: Vec<(FileId, Syntax)> = files.iter().filter_map(syntax).collect();
            let constants = Constants::of(files.iter().map(|(_, syntax)| syntax));
            SessionCode { constants, blocks: Blocks::of(&files, &self.run.sources) }
        })
    }

    fn merge(&self, eval: &mut Eval, left: Document, input: &Envelope, is_first: bool) -> Result<Document, Failure> {
        match &self.schema {
            Some(schema) => match values::try_merge(&mut CheckContext { eval, run: &self.run }, schema, left, input)? {
                MergeResult::Merged(doc) => Ok(doc),
                MergeResult::Wrong(blocks) => Err(values::wrong(blocks)),
            },
            None if is_first => Ok(input.doc.clone()),
            None => overlay::merge_document(eval, &self.run, left, &input.doc, Purpose::Values),
        }
    }

    /// Fills shapes and checks rules; returns the violations.
    fn validate(&self, eval: &mut Eval, doc: &mut Document) -> Result<Option<Failure>, Failure> {
        values::validate(&self.library, eval, doc, self.schema.as_deref(), &Default::default())
    }

    /// The data values with another value at a path; `None` if that is not legal.
    pub fn varied(&self, eval: &mut Eval, path: &ytterby_diag::Path, value: Node) -> Option<Document> {
        let doc = replacing(path, value);
        let envelope = Envelope::new(doc, Input::Document).ok()?;
        let is_first = self.values.value.as_map().is_some_and(crate::node::Map::is_empty);
        let mut varied = self.merge(eval, self.values.clone(), &envelope, is_first).ok()?;
        match self.validate(eval, &mut varied) {
            Ok(None) => Some(varied),
            // Values that were already invalid may stay invalid.
            Ok(Some(_)) if !self.is_valid => Some(varied),
            _ => None,
        }
    }

    /// A document that sets another value of an inner library, as a flag would.
    pub fn varied_below(library: &str, path: &ytterby_diag::Path, value: Node) -> Option<Envelope> {
        Envelope::addressed(replacing(path, value), Input::Document, &format!("@{library}")).ok()
    }

    /// Renders with these data values. `record` enables histories and reads.
    pub fn render(&self, eval: &mut Eval, values: &Document, record: bool) -> Result<Output, Failure> {
        self.render_with(eval, values, None, record)
    }

    /// Like [`Session::render`], with a value for an inner library.
    pub fn render_with(
        &self,
        eval: &mut Eval,
        values: &Document,
        below: Option<Envelope>,
        record: bool,
    ) -> Result<Output, Failure> {
        if record {
            self.run.record.replace(Some(Rc::new(Record::default())));
        }
        let given = self.values_for_children.iter().cloned().chain(below.map(Rc::new)).collect();
        let waiting = Waiting { values: given, schemas: self.schemas_for_children.clone() };
        let final_values = FinalValues { doc: values.clone(), for_children: Vec::new(), files: Vec::new() };
        let prepared = PreparedLibrary {
            schema: self.schema.clone(),
            values: final_values,
            waiting,
            used_up: self.used_up.clone(),
        };
        let library = LibraryRun { skip_output_validation: true, ..self.library.clone() };
        let evaluated = library.finish(eval, prepared, None);
        let record = Record::of(&self.run);
        self.run.record.take();
        let evaluated = evaluated?;
        let texts = evaluated.texts;
        let documents = evaluated.documents.into_iter();
        let documents = documents.flat_map(|(file, docs)| file.file.nodes(&self.run, docs).items);
        let documents = documents.filter(|doc| !doc.is_empty()).collect();
        let (histories, libraries, replaced) = record.as_ref().map(|record| record.take()).unwrap_or_default();
        Ok(Output {
            documents,
            texts,
            histories,
            libraries,
            replaced,
            reads: record.map(|record| record.reads.clone()),
        })
    }
}

/// Compiles all templates, so that problems of one are always reported.
fn compile(library: &LibraryRun) -> Result<(), Failure> {
    for file in library.library.accessible_files() {
        if !file.file.input().is_template() {
            continue;
        }
        let options = &library.options;
        file.file.compile(&library.run, options.strict, options.unknown_comments)?;
    }
    Ok(())
}

/// A document that replaces the value at a path.
fn replacing(path: &ytterby_diag::Path, value: Node) -> Document {
    use crate::node::{Map, MapItem, MergePolicy, Scalar};
    let mut value = value;
    let mut is_innermost = true;
    for step in path.steps().iter().rev() {
        let ytterby_diag::Step::Key(key) = step else { continue };
        let mut item = MapItem::new(Scalar::from(key.as_str()), value, Pos::UNKNOWN);
        item.meta_mut().policy = if is_innermost { MergePolicy::REPLACE } else { MergePolicy::MERGE };
        is_innermost = false;
        value = Node::map(Map::from_items(vec![item]));
    }
    let mut doc = Document::new(value, Pos::UNKNOWN);
    if is_innermost {
        crate::node::merge_plainly(&mut doc);
    }
    doc
}
