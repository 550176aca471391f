//! An input file in a run: read once, parsed once, compiled once.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Cause, Diagnostic, Failure, FileId};
use ytterby_yaml::{ReadOptions, Tree};

use crate::input::InputFile;
use crate::run::Run;
use crate::slips;
use crate::template::{self, CompileError, Template, UnknownComments};

/// An input file and what was made of it so far.
pub(crate) struct File {
    pub input: InputFile,
    /// Its place among the input files: overlays apply, and documents are written, in this order.
    pub order: usize,
    source: OnceCell<FileId>,
    /// By whether `--strict` holds, which a library can set for itself.
    trees: RefCell<[Option<Parsed>; 2]>,
    templates: RefCell<Vec<(TemplateKey, Rc<Template>)>>,
}

type Parsed = Result<Rc<Tree>, Failure>;

#[derive(Clone, Copy, PartialEq, Eq)]
struct TemplateKey {
    strict: bool,
    unknown: UnknownComments,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("File").field(&self.input.path).finish()
    }
}

impl File {
    pub fn new(input: InputFile, order: usize) -> File {
        File { input, order, source: OnceCell::new(), trees: RefCell::default(), templates: RefCell::default() }
    }

    /// The path that messages show.
    pub fn path(&self) -> &str {
        &self.input.path
    }

    /// The last piece of the path.
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// The bytes, and the source that they became.
    pub fn source(&self, run: &Run) -> Result<(FileId, Arc<[u8]>), Failure> {
        let bytes = self.input.content.read()?;
        let file = *self.source.get_or_init(|| run.add_source(self.input.source(bytes.clone())));
        Ok((file, bytes))
    }

    /// Whether its comments mean anything.
    fn has_code(&self) -> bool {
        self.input.is_template() || self.input.is_library()
    }

    /// The parsed YAML.
    pub fn tree(&self, run: &Run, strict: bool) -> Parsed {
        let parse = || {
            let (file, bytes) = self.source(run)?;
            run.debug(|| format!("## parse {} ({} bytes)\n", self.path(), bytes.len()));
            let options = ReadOptions { strict, comments: self.has_code(), ..run.read_options() };
            let tree = ytterby_yaml::parse(&bytes, file, &options).map_err(|error| {
                let failure = Failure::from(Diagnostic::from(error));
                failure.doing(format!("Unmarshaling YAML template '{}'", self.input.described(run.ytt_minor())))
            })?;
            slips::warn_about_boolean_keys(&tree, run);
            slips::warn_about_braces(&tree, run);
            slips::warn_about_code_in_strings(&tree, run);
            Ok(Rc::new(tree))
        };
        self.trees.borrow_mut()[usize::from(strict)].get_or_insert_with(parse).clone()
    }

    /// Lets go of what was made of it, to be called where nothing needs it again.
    pub fn forget(&self) {
        self.trees.take();
        self.templates.take();
    }

    /// The compiled YAML template; none where it is plain YAML.
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
            Template::yaml(&tree, run, unknown)
                .map_err(|error| self.compile_failure(run, error, "Compiling YAML template", ""))
        };
        self.cached(run, TemplateKey { strict, unknown }, compile).map(Some)
    }

    /// The compiled text template; the bytes where it is plain text.
    pub fn text_template(&self, run: &Run) -> Result<Result<Rc<Template>, Arc<[u8]>>, Failure> {
        let (file, bytes) = self.source(run)?;
        if !self.has_code() {
            return Ok(Err(bytes));
        }
        let compile = || {
            let text = String::from_utf8_lossy(&bytes);
            Template::text(&text, file, run)
                .map_err(|error| self.compile_failure(run, error, "Parsing text template", "Evaluating text template"))
        };
        self.cached(run, TemplateKey { strict: false, unknown: UnknownComments::Refuse }, compile).map(Ok)
    }

    /// The compiled Starlark file.
    pub fn starlark(&self, run: &Run) -> Result<Rc<Template>, Failure> {
        let (file, bytes) = self.source(run)?;
        let compile = || {
            Template::starlark(&bytes, file, run)
                .map_err(|error| self.compile_failure(run, error, "", "Evaluating starlark template"))
        };
        self.cached(run, TemplateKey { strict: false, unknown: UnknownComments::Refuse }, compile)
    }

    fn cached(
        &self,
        run: &Run,
        key: TemplateKey,
        compile: impl FnOnce() -> Result<Template, Failure>,
    ) -> Result<Rc<Template>, Failure> {
        if let Some((_, template)) = self.templates.borrow().iter().find(|(other, _)| *other == key) {
            return Ok(template.clone());
        }
        let template = Rc::new(compile()?);
        run.debug(|| format!("## compile {} ({})\n", self.path(), template.size()));
        self.templates.borrow_mut().push((key, template.clone()));
        Ok(template)
    }

    /// `malformed` and `syntax` say what was being done.
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
