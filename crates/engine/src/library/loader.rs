//! Evaluates the files of a library, and the files that they `load()`.
//!
//! A loader exists for one set of data values. It caches the exports of files for `load()`, so each
//! file is evaluated once, unless it uses data values that another file changed.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ytterby_diag::{Failure, FileId, Id, Pos};
use ytterby_starlark::{Error, Eval, Exports, Value};
use ytterby_text::Str;
use ytterby_text::profile::{self, SpanKind};

use super::file::File;
use super::tree::{FileInLibrary, Library};
use crate::early::{self, WrittenDocuments};
use crate::input::FileKind;
use crate::node::{self, FileDocuments, FragmentData, Node, SharedLists};
use crate::record::Record;
use crate::run::Run;
use crate::stdlib;
use crate::template::{self, Becomes, Built, Evaluation, KeyOverrides, Template, TemplateOps, UnknownComments};

/// Options that a library can set separately.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoaderOptions {
    pub unknown_comments: UnknownComments,
    pub key_overrides: KeyOverrides,
    pub strict: bool,
}

/// The base directories for paths in a file.
#[derive(Clone, Debug)]
pub(crate) struct BaseDirectories {
    /// The directory of the file: relative paths.
    pub current: Rc<Library>,
    /// The library's root: paths that begin with `/`.
    pub root: Rc<Library>,
}

/// A file, and the base directories for paths in it.
pub(crate) struct BasedFile {
    pub file: Rc<File>,
    pub base: BaseDirectories,
}

/// Creates `@ytt:library` for a file with these base directories.
type MakeLibraryModule = dyn Fn(&BaseDirectories) -> stdlib::Module;

/// Evaluates files with one set of data values.
pub(crate) struct Loader {
    pub run: Rc<Run>,
    pub options: LoaderOptions,
    /// The source of `data.values`.
    values: Node,
    /// `data.values`, or why it cannot be created. All files share it, as in ytt since 0.52. For
    /// ytt 0.49 this is only the check, and each file has a separate value.
    shared_values: OnceCell<Result<Value, Error>>,
    /// The lists in `shared_values`.
    shared_lists: Rc<SharedLists>,
    /// How many times a file loaded `@ytt:data`.
    uses_of_data: Cell<usize>,
    /// Creates `@ytt:library` for a file with these base directories.
    pub library_module: Box<MakeLibraryModule>,
    loaded: RefCell<HashMap<*const File, Loaded>>,
    loading: RefCell<Vec<Rc<File>>>,
    /// The same files, for fast lookup.
    is_loading: RefCell<HashSet<*const File>>,
    /// Paths of the files that were evaluated here; messages show their lines.
    own: RefCell<HashSet<String>>,
}

/// The exports of a file.
struct Loaded {
    exports: Rc<Exports>,
    /// If it uses data values: the number of changes ([`SharedLists::changes`]) before it was
    /// evaluated.
    depends_on: Option<u64>,
}

/// The file that is being evaluated, for resolving `load()`.
pub(crate) struct FileContext {
    pub loader: Rc<Loader>,
    pub base: BaseDirectories,
    pub ops: Rc<TemplateOps>,
}

impl Loader {
    pub fn new(
        run: &Rc<Run>,
        options: LoaderOptions,
        values: Node,
        library_module: impl Fn(&BaseDirectories) -> stdlib::Module + 'static,
    ) -> Rc<Loader> {
        Rc::new(Loader {
            run: run.clone(),
            options,
            values,
            shared_values: OnceCell::new(),
            shared_lists: Rc::new(SharedLists::new(Record::of(run).map(|record| record.reads.clone()))),
            uses_of_data: Cell::default(),
            library_module: Box::new(library_module),
            loaded: RefCell::default(),
            loading: RefCell::default(),
            is_loading: RefCell::default(),
            own: RefCell::default(),
        })
    }

    /// The module `data` for a file with these base directories.
    fn data_module(&self, base: &BaseDirectories) -> Result<stdlib::Module, Error> {
        self.uses_of_data.set(self.uses_of_data.get() + 1);
        let is_shared = self.run.ytt_minor() >= 52;
        let make = || {
            stdlib::data::check_keys(&self.values)?;
            let lists = is_shared.then_some(&self.shared_lists);
            Ok(node::watched_values_of(&self.values, lists))
        };
        let shared = self.shared_values.get_or_init(make).clone()?;
        let values = if is_shared { shared } else { node::values_of(&self.values) };
        Ok(stdlib::data::module(&self.run, values, base))
    }

    /// The documents of a YAML file.
    pub fn yaml(self: &Rc<Loader>, eval: &mut Eval, based: &BasedFile) -> Result<FileDocuments, Failure> {
        match self.built(eval, based, Becomes::Nodes)? {
            Some(Built::Yaml(FragmentData::Documents(docs))) => Ok(FileDocuments::Nodes(Rc::unwrap_or_clone(docs))),
            Some(_) => Err(no_documents(&based.file)),
            None => Ok(FileDocuments::Plain(based.file.tree(&self.run, self.options.strict)?)),
        }
    }

    /// The documents of a YAML file, written as soon as they are complete.
    pub fn written_yaml(self: &Rc<Loader>, eval: &mut Eval, based: &BasedFile) -> Result<WrittenDocuments, Failure> {
        let file = &based.file;
        if file.is_surely_plain(&self.run)? {
            return file.written(&self.run, self.options.strict);
        }
        let text = file.source(&self.run)?.1;
        let may_change_items = self.options.key_overrides == KeyOverrides::Implicit || early::changes_items(&text);
        let becomes = if may_change_items { Becomes::TextOfDocuments } else { Becomes::TextOfItems };
        match self.built(eval, based, becomes)? {
            Some(Built::Written(docs)) => Ok(docs),
            Some(_) => Err(no_documents(file)),
            None => file.written(&self.run, self.options.strict),
        }
    }

    /// What the template of a YAML file builds; `None` for plain YAML.
    fn built(
        self: &Rc<Loader>,
        eval: &mut Eval,
        based: &BasedFile,
        becomes: Becomes,
    ) -> Result<Option<Built>, Failure> {
        let (run, file) = (&self.run, &based.file);
        let Some(template) = file.yaml_template(run, self.options.strict, self.options.unknown_comments)? else {
            return Ok(None);
        };
        let outcome = self.evaluate(eval, based, &template, "", becomes)?;
        if based.base.root.is_root() {
            // Documents of other libraries may be meant for `overlay.apply()`.
            for (ann, pos) in outcome.idle_overlays {
                let name = ann.name();
                let text =
                    format!("@{name} has no effect: its document is no overlay; annotate it with @overlay/match");
                run.warn_of_annotation(Id::ANNOTATION_MISPLACED, pos, text);
            }
        }
        outcome.built.map_or_else(|| Err(no_documents(file)), |built| Ok(Some(built)))
    }

    /// The text of a text file.
    pub fn text(self: &Rc<Loader>, eval: &mut Eval, based: &BasedFile) -> Result<Str, Failure> {
        let template = match based.file.text_template(&self.run)? {
            Ok(template) => template,
            Err(bytes) => return Ok(bytes),
        };
        match self.evaluate(eval, based, &template, "Evaluating text template", Becomes::Nodes)?.built {
            Some(Built::Text(text)) => Ok(text),
            _ => Ok(Str::EMPTY),
        }
    }

    /// The exports of a library file.
    pub fn exports(self: &Rc<Loader>, eval: &mut Eval, based: &BasedFile) -> Result<Option<Rc<Exports>>, Failure> {
        let file = &based.file;
        let key = Rc::as_ptr(file);
        if let Some(loaded) = self.loaded.borrow().get(&key) {
            let is_current = |changes| self.shared_lists.changes() == changes;
            if loaded.depends_on.is_none_or(is_current) {
                // A file that loads this one has the same dependencies.
                let uses = usize::from(loaded.depends_on.is_some());
                self.uses_of_data.set(self.uses_of_data.get() + uses);
                return Ok(Some(loaded.exports.clone()));
            }
        }
        let run = &self.run;
        let (template, prefix) = match file.input().kind() {
            FileKind::Yaml => {
                let options = self.options;
                let template = file.yaml_template(run, options.strict, options.unknown_comments)?;
                let Some(template) = template else { return Ok(Some(Rc::default())) };
                (template, "")
            }
            FileKind::Text => match file.text_template(run)? {
                Ok(template) => (template, "Evaluating text template"),
                Err(_) => return Ok(Some(Rc::default())),
            },
            FileKind::Starlark => (file.starlark(run)?, "Evaluating starlark template"),
            FileKind::Data => return Ok(None),
        };
        self.check_cycle(file)?;
        let (changes, uses) = (self.shared_lists.changes(), self.uses_of_data.get());
        self.loading.borrow_mut().push(file.clone());
        self.is_loading.borrow_mut().insert(key);
        let result = self.evaluate(eval, based, &template, prefix, Becomes::Nodes);
        self.loading.borrow_mut().pop();
        self.is_loading.borrow_mut().remove(&key);
        let exports = result?.exports;
        let depends_on = (self.uses_of_data.get() > uses).then_some(changes);
        self.loaded.borrow_mut().insert(key, Loaded { exports: exports.clone(), depends_on });
        Ok(Some(exports))
    }

    fn check_cycle(&self, file: &Rc<File>) -> Result<(), Failure> {
        if !self.is_loading.borrow().contains(&Rc::as_ptr(file)) {
            return Ok(());
        }
        let loading = self.loading.borrow();
        let Some(start) = loading.iter().position(|other| Rc::ptr_eq(other, file)) else { return Ok(()) };
        let mut cycle: Vec<&str> = loading[start..].iter().map(|file| file.path()).collect();
        cycle.push(file.path());
        let text = format!("Expected files not to load each other in a cycle: {}", cycle.join(" -> "));
        Err(Failure::new(Id::CODE_RECURSION, text))
    }

    fn evaluate(
        self: &Rc<Loader>,
        eval: &mut Eval,
        based: &BasedFile,
        template: &Template,
        doing: &'static str,
        becomes: Becomes,
    ) -> Result<Evaluation, Failure> {
        let BasedFile { file, base } = based;
        self.run.debug(|| format!("## evaluate {}\n", file.path()));
        let _working = file.working_at();
        let _span = profile::span(SpanKind::Evaluate, || Str::from(file.path()));
        self.own.borrow_mut().insert(file.path().to_owned());
        let ops = template.ops(&self.run, self.options.key_overrides);
        let context = Rc::new(FileContext { loader: self.clone(), base: base.clone(), ops: ops.clone() });
        let mut inner = eval.sibling();
        inner.set_data(self.run.clone());
        inner.set_load(move |eval, module, _from| load(eval, module, &context));
        template.run(&mut inner, &ops, becomes).map_err(|error| {
            let is_foreign = |pos: Pos| !self.owns(pos.file);
            let failure = Failure::of_code(template::problem_of_error(&self.run, error, &is_foreign));
            if doing.is_empty() { failure } else { failure.doing(doing) }
        })
    }

    /// Whether a source is a file that was evaluated here, or a string in one.
    fn owns(&self, file: FileId) -> bool {
        self.run.sources.get(file).is_some_and(|source| self.own.borrow().contains(source.name()))
    }
}

fn no_documents(file: &File) -> Failure {
    Failure::new(Id::CODE_TEMPLATE, format!("Expected template '{}' to render a document set", file.path()))
}

/// `load("module", …)` in the file of `context`.
fn load(eval: &mut Eval, module: &Str, context: &Rc<FileContext>) -> Result<Rc<Exports>, Error> {
    let module = module.to_str();
    let found = resolve(&module, context);
    let (base, found) = match found {
        Ok(LoadTarget::Standard(name)) => return standard(name, context),
        Ok(LoadTarget::File(base, found)) => (base, found),
        Err(why) => return Err(why.into()),
    };
    let based = BasedFile { file: found.file, base };
    if !based.file.input().is_library() {
        return Err(Error::new(format!(
            "Expected file '{}' to be a library file, but was not (hint: library filename must end with '.lib.yml' or '.star'; use data.read(...) for loading non-templated file contents)",
            based.file.path()
        )));
    }
    let exports = context.loader.exports(eval, &based)?;
    exports.ok_or_else(|| Error::new(format!("File '{}' type is not a known", based.file.path())))
}

/// The module `@ytt:name` for the file of `context`.
fn standard(name: &str, context: &Rc<FileContext>) -> Result<Rc<Exports>, Error> {
    let loader = &context.loader;
    let (run, level) = (&loader.run, loader.run.level);
    if let Some(exports) = stdlib::find(run, name) {
        return Ok(exports);
    }
    let module = match name {
        "data" => loader.data_module(&context.base)?,
        "library" => (loader.library_module)(&context.base),
        "template" => stdlib::template::module(&context.ops, Record::of(run)),
        _ => return Err(stdlib::unknown_module(name, level)),
    };
    Ok(stdlib::exports(module, level))
}

enum LoadTarget<'a> {
    /// `@ytt:name`.
    Standard(&'a str),
    File(BaseDirectories, FileInLibrary),
}

fn resolve<'a>(module: &'a str, context: &FileContext) -> Result<LoadTarget<'a>, Failure> {
    let (base, path) = match module.strip_prefix('@') {
        None => (context.base.clone(), module),
        Some(rest) => {
            let (library, path) = rest.split_once(':').ok_or_else(|| Failure::new(
                Id::CODE_LOAD,
                "Expected library path to be in format '@name:path' e.g. '@github.com/vmware-tanzu/test:test.star' or '@ytt:base64'",
            ))?;
            if library == "ytt" {
                return Ok(LoadTarget::Standard(path));
            }
            let found = context.base.current.find_private(library)?;
            (BaseDirectories { current: found.clone(), root: found }, path)
        }
    };
    let found = match path.strip_prefix('/') {
        Some(path) => base.root.find_file(path)?,
        None => base.current.find_file(path)?,
    };
    // A file in a directory of the library loads from its own directory.
    Ok(LoadTarget::File(BaseDirectories { current: found.library.clone(), root: base.root }, found))
}
