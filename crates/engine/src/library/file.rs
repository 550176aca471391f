//! An input file: read once, parsed once, compiled once, however many runs use it.
//!
//! [`SharedFile`] caches what can be shared between threads (bytes, trees, programs). [`File`] adds
//! what belongs to one thread.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ytterby_diag::{Cause, Diagnostic, Failure, FileId, Pos};
use ytterby_starlark::Syntax;
use ytterby_text::Str;
use ytterby_text::budget::{self, WorkingAt};
use ytterby_text::profile::{self, SpanKind};
use ytterby_yaml::{ReadError, ReadOptions, Tree};

use crate::early::{self, WrittenDocuments};
use crate::input::{FileKind, InputFile};
use crate::limits::working_at;
use crate::node::{self, DocumentSet, FileDocuments};
use crate::run::Run;
use crate::slips;
use crate::template::{self, CompileError, CompiledTemplate, Template, UnknownComments};

/// An input file with its cached results. All runs of a project share it.
pub(crate) struct SharedFile {
    input: InputFile,
    source: OnceLock<FileId>,
    /// By `--strict`, which a library can set separately.
    trees: Mutex<[Option<Computed<Tree>>; 2]>,
    templates: Mutex<Vec<(TemplateKey, Computed<CompiledTemplate>)>>,
}

/// A result computed from a file, or why it failed, with the warnings about it.
struct Computed<T> {
    result: Result<Arc<T>, Failure>,
    warnings: Arc<[Diagnostic]>,
}

impl<T> Clone for Computed<T> {
    fn clone(&self) -> Computed<T> {
        Computed { result: self.result.clone(), warnings: self.warnings.clone() }
    }
}

impl<T> Computed<T> {
    fn new(run: &Run, make: impl FnOnce() -> Result<T, Failure>) -> Computed<T> {
        let (result, warnings) = run.collect_warnings(make);
        Computed { result: result.map(Arc::new), warnings: warnings.into() }
    }

    /// Reports the warnings to a run and returns the result.
    fn tell(self, run: &Run) -> Result<Arc<T>, Failure> {
        self.warnings.iter().for_each(|warning| run.warn(warning.clone()));
        self.result
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct TemplateKey {
    strict: bool,
    unknown: UnknownComments,
}

impl SharedFile {
    pub fn new(input: InputFile) -> SharedFile {
        SharedFile { input, source: OnceLock::new(), trees: Mutex::default(), templates: Mutex::default() }
    }

    /// The input of the host.
    pub fn input(&self) -> &InputFile {
        &self.input
    }

    /// The bytes, and their source.
    fn source(&self, run: &Run) -> Result<(FileId, Str), Failure> {
        let bytes = self.input.content.read()?;
        let file = *self.source.get_or_init(|| run.add_shared_source(self.input.source(bytes.clone())));
        Ok((file, bytes))
    }

    fn tree(&self, run: &Run, strict: bool, parse: impl FnOnce() -> Result<Tree, Failure>) -> Computed<Tree> {
        // A second thread waits for the result of the first.
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut trees[usize::from(strict)];
        if let Some(made) = kept {
            return made.clone();
        }
        let made = Computed::new(run, parse);
        // An exceeded limit of one run may not apply to another.
        if !budget::is_exceeded() {
            *kept = Some(made.clone());
        }
        made
    }

    fn template(
        &self,
        run: &Run,
        key: TemplateKey,
        compile: impl FnOnce() -> Result<CompiledTemplate, Failure>,
    ) -> Computed<CompiledTemplate> {
        let mut templates = self.templates.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = templates.iter().find(|(other, _)| *other == key) {
            return made.clone();
        }
        let made = Computed::new(run, compile);
        if !budget::is_exceeded() {
            templates.push((key, made.clone()));
        }
        made
    }

    fn forget(&self) {
        *self.trees.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
        self.templates.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// An input file in a run, or in consecutive runs on one thread.
pub(crate) struct File {
    shared: Arc<SharedFile>,
    /// Its index among the input files: overlays apply, and documents are written, in this order.
    pub order: usize,
    /// The run that the results belong to: another one must get the warnings again.
    run: Cell<u64>,
    trees: RefCell<[Option<ParsedTree>; 2]>,
    templates: RefCell<Vec<(TemplateKey, Rc<Template>, u64)>>,
    /// The run whose limits it raised.
    charged: Cell<u64>,
    /// The text of plain YAML that was written early.
    written: RefCell<Option<Vec<u8>>>,
    /// The documents of plain YAML, and the tree they come from.
    documents: RefCell<Option<(Arc<Tree>, DocumentSet)>>,
    /// Whether documents carry one of several annotations, and the tree that tells.
    annotated: RefCell<Vec<Annotated>>,
}

/// A tree, names of annotations, and whether a document of the tree carries one of them.
type Annotated = (Arc<Tree>, Vec<String>, bool);

type ParsedTree = Result<Arc<Tree>, Failure>;

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("File").field(&self.path()).finish()
    }
}

impl File {
    pub fn new(shared: Arc<SharedFile>, order: usize) -> File {
        File {
            shared,
            order,
            run: Cell::default(),
            charged: Cell::default(),
            trees: RefCell::default(),
            templates: RefCell::default(),
            written: RefCell::default(),
            documents: RefCell::default(),
            annotated: RefCell::default(),
        }
    }

    /// The input of the host.
    pub fn input(&self) -> &InputFile {
        &self.shared.input
    }

    /// The path that messages show.
    pub fn path(&self) -> &str {
        &self.input().path
    }

    /// The last piece of the path.
    pub fn name(&self) -> &str {
        self.input().name()
    }

    /// The bytes, and their source.
    pub fn source(&self, run: &Run) -> Result<(FileId, Str), Failure> {
        let (file, bytes) = self.shared.source(run)?;
        if self.charged.replace(run.number) != run.number {
            budget::input(bytes.len());
        }
        Ok((file, bytes))
    }

    /// Notes that the file is being worked on, if it was read.
    pub fn working_at(&self) -> WorkingAt {
        working_at(self.shared.source.get().map_or(Pos::UNKNOWN, |file| Pos::new(*file, 0)))
    }

    /// Whether its comments can contain code.
    fn has_code(&self) -> bool {
        self.input().is_template() || self.input().is_library()
    }

    /// The parsed YAML.
    pub fn tree(&self, run: &Run, strict: bool) -> ParsedTree {
        if self.run.replace(run.number) != run.number {
            self.trees.take();
            // Limits do not depend on whether an earlier run parsed the file.
            self.source(run)?;
        }
        let parse = || {
            let tree = self.read(run, strict, ytterby_yaml::parse_shared)?;
            let _working = self.working_at();
            slips::warn_about_boolean_keys(&tree, run);
            slips::warn_about_braces(&tree, run);
            slips::warn_about_code_in_strings(&tree, run);
            Ok(tree)
        };
        let find = || self.shared.tree(run, strict, parse).tell(run);
        self.trees.borrow_mut()[usize::from(strict)].get_or_insert_with(find).clone()
    }

    /// Reads its YAML.
    fn read<T>(
        &self,
        run: &Run,
        strict: bool,
        read: impl FnOnce(&Str, FileId, &ReadOptions) -> Result<T, ReadError>,
    ) -> Result<T, Failure> {
        let (file, bytes) = self.source(run)?;
        let _working = self.working_at();
        run.debug(|| format!("## parse {} ({} bytes)\n", self.path(), bytes.len()));
        let _span = profile::span(SpanKind::Parse, || Str::from(self.path()));
        let options = ReadOptions { strict, comments: self.has_code(), ..run.read_options() };
        read(&bytes, file, &options).map_err(|error| {
            let failure = Failure::from(Diagnostic::from(error));
            failure.doing(format!("Unmarshaling YAML template '{}'", self.input().described(run.ytt_minor())))
        })
    }

    /// Whether it is plain YAML at first sight.
    pub fn is_surely_plain(&self, run: &Run) -> Result<bool, Failure> {
        Ok(!self.has_code() || early::is_surely_plain(&self.source(run)?.1))
    }

    /// Reads plain YAML and writes its documents.
    pub fn write(&self, run: &Run, strict: bool) -> Result<(), Failure> {
        if self.written.borrow().is_none() {
            self.source(run)?;
            let _working = self.working_at();
            let mut yaml = early::writer();
            self.read(run, strict, |text, file, options| ytterby_yaml::rewrite(text, file, options, &mut yaml))?;
            *self.written.borrow_mut() = Some(early::text_of(yaml));
        }
        Ok(())
    }

    /// The documents of plain YAML as text, once.
    pub fn written(&self, run: &Run, strict: bool) -> Result<WrittenDocuments, Failure> {
        self.write(run, strict)?;
        Ok(Ok(self.written.take().unwrap_or_default()))
    }

    /// Its documents as nodes; consecutive runs share those of plain YAML.
    pub fn nodes(&self, run: &Run, docs: FileDocuments) -> DocumentSet {
        let FileDocuments::Plain(tree) = docs else { return docs.into_nodes() };
        let _working = self.working_at();
        if !run.is_one_of_many {
            return node::documents_from_tree(&tree);
        }
        let mut kept = self.documents.borrow_mut();
        match &*kept {
            Some((of, docs)) if Arc::ptr_eq(of, &tree) => docs.clone(),
            _ => {
                let docs = node::documents_from_tree(&tree);
                kept.insert((tree, docs)).1.clone()
            }
        }
    }

    /// Whether its documents carry one of these annotations, as `look` finds; runs that use the
    /// same files share the answer.
    pub fn annotated(
        &self,
        run: &Run,
        tree: &Arc<Tree>,
        names: &[&str],
        look: impl FnOnce() -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        if !run.is_one_of_many {
            return look();
        }
        let mut kept = self.annotated.borrow_mut();
        let known = kept.iter().find(|(of, known, _)| Arc::ptr_eq(of, tree) && known == names);
        if let Some((.., answer)) = known {
            return Ok(*answer);
        }
        let answer = look()?;
        kept.push((tree.clone(), names.iter().map(|name| (*name).to_owned()).collect(), answer));
        Ok(answer)
    }

    /// Drops the cached results, if the run does not need them again.
    pub fn forget(&self, run: &Run) {
        if run.is_one_of_many {
            return;
        }
        self.trees.take();
        self.templates.take();
        self.shared.forget();
    }

    /// The compiled YAML template; `None` for plain YAML.
    pub fn yaml_template(
        &self,
        run: &Run,
        strict: bool,
        unknown: UnknownComments,
    ) -> Result<Option<Rc<Template>>, Failure> {
        let tree = self.tree(run, strict)?;
        if !self.has_code() || !template::has_templating(&tree) {
            return Ok(None);
        }
        let compile = || {
            CompiledTemplate::yaml(&tree, run, unknown)
                .map_err(|error| self.compile_failure(run, error, "Compiling YAML template", ""))
        };
        self.cached(run, TemplateKey { strict, unknown }, compile).map(Some)
    }

    /// The compiled text template; the bytes for plain text.
    pub fn text_template(&self, run: &Run) -> Result<Result<Rc<Template>, Str>, Failure> {
        let (file, bytes) = self.source(run)?;
        if !self.has_code() {
            return Ok(Err(bytes));
        }
        let compile = || {
            CompiledTemplate::text(&bytes, file, run)
                .map_err(|error| self.compile_failure(run, error, "Parsing text template", "Evaluating text template"))
        };
        self.cached(run, TemplateKey { strict: false, unknown: UnknownComments::Refuse }, compile).map(Ok)
    }

    /// The compiled Starlark file.
    pub fn starlark(&self, run: &Run) -> Result<Rc<Template>, Failure> {
        let (file, bytes) = self.source(run)?;
        let compile = || {
            CompiledTemplate::starlark(&bytes, file, run)
                .map_err(|error| self.compile_failure(run, error, "", "Evaluating starlark template"))
        };
        self.cached(run, TemplateKey { strict: false, unknown: UnknownComments::Refuse }, compile)
    }

    /// Compiles its code, if it has any.
    pub fn compile(&self, run: &Run, strict: bool, unknown: UnknownComments) -> Result<(), Failure> {
        match self.input().kind() {
            FileKind::Yaml => _ = self.yaml_template(run, strict, unknown)?,
            FileKind::Text => _ = self.text_template(run)?,
            FileKind::Starlark => _ = self.starlark(run)?,
            FileKind::Data => {}
        }
        Ok(())
    }

    /// Its code as a syntax tree, with its source. `None` if it has no code or cannot be parsed.
    pub fn syntax(&self, run: &Run, strict: bool, unknown: UnknownComments) -> Option<(FileId, Syntax)> {
        if !self.has_code() {
            return None;
        }
        let (file, bytes) = self.source(run).ok()?;
        let syntax = match self.input().kind() {
            FileKind::Yaml => {
                let tree = self.tree(run, strict).ok()?;
                template::yaml_syntax(&tree, run, unknown)
            }
            FileKind::Text => template::text_syntax(&bytes, file, run),
            FileKind::Starlark => template::starlark_syntax(&bytes, file, run),
            FileKind::Data => None,
        };
        Some((file, syntax?))
    }

    fn cached(
        &self,
        run: &Run,
        key: TemplateKey,
        compile: impl FnOnce() -> Result<CompiledTemplate, Failure>,
    ) -> Result<Rc<Template>, Failure> {
        let known = |known: &mut (TemplateKey, Rc<Template>, u64)| {
            (known.0 == key && known.2 == run.number).then(|| known.1.clone())
        };
        if let Some(template) = self.templates.borrow_mut().iter_mut().find_map(known) {
            return Ok(template);
        }
        let _working = self.working_at();
        let compile = || {
            let _span = profile::span(SpanKind::Compile, || Str::from(self.path()));
            let template = compile()?;
            run.debug(|| format!("## compile {} ({})\n", self.path(), template.size()));
            Ok(template)
        };
        let template = self.shared.template(run, key, compile).tell(run)?;
        let mut templates = self.templates.borrow_mut();
        if let Some((_, template, told)) = templates.iter_mut().find(|(other, ..)| *other == key) {
            *told = run.number;
            return Ok(template.clone());
        }
        let template = Rc::new(template.link());
        templates.push((key, template.clone(), run.number));
        Ok(template)
    }

    /// `malformed` and `syntax` describe what was being done.
    fn compile_failure(&self, run: &Run, error: CompileError, malformed: &str, syntax: &'static str) -> Failure {
        match error {
            CompileError::Malformed(problem) => Failure::from(*problem).doing(format!("{malformed} '{}'", self.path())),
            CompileError::Syntax(errors) => {
                let problems = errors.into_iter().map(|error| template::problem_of_syntax(run, error)).collect();
                let failure = Failure::of(Cause::Code(problems));
                if syntax.is_empty() { failure } else { failure.doing(syntax) }
            }
        }
    }
}
