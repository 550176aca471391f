//! Templates: YAML files, text files and Starlark files as programs.
//!
//! A front end writes the lines of a program ([`program`]): the user's code unchanged, and
//! operations on nodes in between. The Starlark crate compiles them; while they run, [`ops`] builds
//! documents. A file is compiled once and evaluated as often as needed.

mod annotation_hint;
mod build;
mod comment;
mod item_runs;
mod item_writer;
mod lint;
mod literal;
mod open;
mod ops;
mod pending;
mod place;
mod problem;
mod program;
mod table;
mod text;
mod whole_text;
mod yaml;

use std::rc::Rc;
use std::sync::Arc;

use ytterby_diag::{Diagnostic, FileId, Listing, ListingStyle, Pos};
use ytterby_starlark::{Eval, Exports, LinkedProgram, Ops, Program, ProgramPiece, Syntax, SyntaxError, parse_in};
use ytterby_text::Str;
use ytterby_yaml::Tree;

pub(crate) use build::{Becomes, Built, KeyOverrides};
pub(crate) use comment::{UnknownComments, documents_annotated};
pub(crate) use ops::TemplateOps;
pub(crate) use problem::{problem_of_error, problem_of_syntax};
pub(crate) use yaml::{annotates, has_templating, templating_of_document};

use crate::annotation::Ann;
use crate::run::Run;
use table::{LinkedTable, NodeTable};
use yaml::Arguments;

/// A compiled file, which threads can share.
pub(crate) struct CompiledTemplate {
    program: Program,
    table: Arc<NodeTable>,
    language: Language,
}

/// A compiled file that is ready to run on one thread.
pub(crate) struct Template {
    program: LinkedProgram,
    table: Rc<LinkedTable>,
    language: Language,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Yaml,
    Text,
    Starlark,
}

/// The result of evaluating a file.
pub(crate) struct Evaluation {
    /// Its exports for `load()`, without names that begin with `_`.
    pub exports: Rc<Exports>,
    /// The rendered result.
    pub built: Option<Built>,
    /// Overlay annotations in documents that are not overlays, the first one of each.
    pub idle_overlays: Vec<(Ann, Pos)>,
}

/// Why a file cannot be compiled.
pub(crate) enum CompileError {
    /// The template is not well-formed.
    Malformed(Malformed),
    /// Its code is not.
    Syntax(Vec<SyntaxError>),
}

/// An error in the structure of a template.
type Malformed = Box<Diagnostic>;

impl CompiledTemplate {
    /// Compiles a YAML file that has templating.
    pub fn yaml(tree: &Arc<Tree>, run: &Run, unknown: UnknownComments) -> Result<CompiledTemplate, CompileError> {
        lint::warn(tree, run);
        let is_observed = run.options.coverage.is_some() || ytterby_text::profile::is_on();
        let arguments = if is_observed { Arguments::Code } else { Arguments::LiteralsOrCode };
        let writer = yaml::write_program(tree, run, unknown, arguments).map_err(CompileError::Malformed)?;
        CompiledTemplate::compile(run, writer, Some(tree), Language::Yaml)
    }

    /// Compiles a text file.
    pub fn text(text: &Str, file: FileId, run: &Run) -> Result<CompiledTemplate, CompileError> {
        let text = text::TemplateText::new(text);
        let writer = text::write_program(&text, file).map_err(CompileError::Malformed)?;
        CompiledTemplate::compile(run, writer, None, Language::Text)
    }

    /// Compiles a Starlark file.
    pub fn starlark(text: &[u8], file: FileId, run: &Run) -> Result<CompiledTemplate, CompileError> {
        run.sources.set_listing(file, Listing::new(ListingStyle::Starlark));
        let piece = ProgramPiece::Code { text, at: Pos::new(file, 0) };
        let program = compiled(run, &[piece]).map_err(CompileError::Syntax)?;
        Ok(CompiledTemplate { program, table: Arc::default(), language: Language::Starlark })
    }

    fn compile(
        run: &Run,
        writer: program::ProgramWriter<'_>,
        tree: Option<&Arc<Tree>>,
        language: Language,
    ) -> Result<CompiledTemplate, CompileError> {
        let compiled = compiled(run, &writer.pieces());
        run.sources.set_listing(writer.file, writer.lines);
        let program = compiled.map_err(CompileError::Syntax)?;
        Ok(CompiledTemplate { program, table: Arc::new(writer.table.finish(tree)), language })
    }

    /// Its size, as text.
    pub fn size(&self) -> String {
        let (nodes, ops) = self.table.counts();
        format!("{nodes} nodes, {ops} operations")
    }

    /// Adds the data that belongs to the current thread.
    pub fn link(&self) -> Template {
        let table = Rc::new(LinkedTable::new(&self.table));
        Template { program: self.program.link(), table, language: self.language }
    }
}

/// The code of a YAML file as a syntax tree, for tools that read it instead of running it. `None`
/// if the template is malformed.
pub(crate) fn yaml_syntax(tree: &Tree, run: &Run, unknown: UnknownComments) -> Option<Syntax> {
    let writer = yaml::write_program(tree, run, unknown, Arguments::Code).ok()?;
    parse_in(run.dialect(), &writer.pieces()).ok()
}

/// The same for a text file.
pub(crate) fn text_syntax(text: &Str, file: FileId, run: &Run) -> Option<Syntax> {
    let text = text::TemplateText::new(text);
    let writer = text::write_program(&text, file).ok()?;
    parse_in(run.dialect(), &writer.pieces()).ok()
}

/// The same for a Starlark file.
pub(crate) fn starlark_syntax(text: &[u8], file: FileId, run: &Run) -> Option<Syntax> {
    parse_in(run.dialect(), &[ProgramPiece::Code { text, at: Pos::new(file, 0) }]).ok()
}

/// Compiles these pieces; records coverage if the run requests it.
fn compiled(run: &Run, pieces: &[ProgramPiece<'_>]) -> Result<Program, Vec<SyntaxError>> {
    let coverage = run.options.coverage.as_ref().map(|coverage| coverage.of_code());
    ytterby_starlark::compile_covered(run.dialect(), pieces, &[], coverage.as_deref())
}

impl Template {
    /// The operations of one evaluation.
    pub fn ops(&self, run: &Run, overrides: KeyOverrides) -> Rc<TemplateOps> {
        Rc::new(TemplateOps::new(self.table.clone(), overrides, run.level, run.contexts.clone()))
    }

    /// Evaluates the file.
    pub fn run(
        &self,
        eval: &mut Eval,
        ops: &Rc<TemplateOps>,
        becomes: Becomes,
    ) -> Result<Evaluation, ytterby_starlark::Error> {
        if self.language == Language::Yaml {
            ops.begin_file(becomes);
        }
        let exports = self.program.run(eval, ops.clone() as Rc<dyn Ops>, &Exports::default())?;
        let exports = without_private_names(exports);
        if self.language == Language::Starlark {
            return Ok(Evaluation { exports, built: None, idle_overlays: Vec::new() });
        }
        let (built, idle_overlays) = ops.end_file().map_err(ytterby_starlark::Error::new)?;
        Ok(Evaluation { exports, built: Some(built), idle_overlays })
    }
}

fn without_private_names(exports: Rc<Exports>) -> Rc<Exports> {
    let is_private = |name: &Str| name.starts_with(b"_");
    if !exports.iter().any(|(name, _)| is_private(name)) {
        return exports;
    }
    let public = exports.iter().filter(|(name, _)| !is_private(name));
    Rc::new(Exports::new(public.map(|(name, value)| (name.clone(), value.clone()))))
}
