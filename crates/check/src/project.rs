//! The parsed files of a target, and their libraries.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ytterby::{FileKind, InputFile};
use ytterby_diag::{FileId, Part, Pos, Sources};
use ytterby_starlark::ast::{Arg, Ast, ExprId, ExprKind};
use ytterby_text::{Str, budget};

use crate::Cache;
use crate::code::{self, Code};
use crate::names::{self, Names, ParamName, SymbolKind};

/// The directory that contains private libraries.
pub(crate) const PRIVATE: &str = "_ytt_lib";

/// Facts about a file that depend only on the file itself, so that they can be cached.
pub(crate) struct FileFacts {
    pub text: Str,
    pub code: Code,
    /// The names; `None` if there is no code, or it cannot be parsed.
    pub names: Option<Names>,
    /// The arguments of `library.get("…")`.
    pub libraries: Vec<String>,
}

/// A file of a project.
pub(crate) struct CheckedFile {
    pub input: InputFile,
    pub facts: Rc<FileFacts>,
    /// The source of its positions.
    pub source: FileId,
    /// Its library; `None` if nothing refers to the library.
    pub library: Option<usize>,
}

/// The files of a target.
pub(crate) struct CheckedProject {
    pub files: Vec<CheckedFile>,
    by_path: HashMap<String, usize>,
    /// The directories of libraries, with a trailing slash; the first one is the root, which is
    /// empty.
    pub libraries: Vec<String>,
    /// Their numbers.
    numbers: HashMap<String, usize>,
}

impl FileFacts {
    /// Whether it contains code that could not be parsed.
    pub fn is_broken(&self) -> bool {
        self.code.syntax.is_none()
    }
}

impl CheckedFile {
    /// Converts a position in the code to one in the file, with the length to mark. Inside a string
    /// it is the whole value.
    pub fn place(&self, pos: Pos, length: usize) -> (Pos, Part) {
        let (offset, is_exact) = self.facts.code.place(pos);
        (Pos::new(self.source, offset), if is_exact { Part::Bytes(length as u32) } else { Part::Value })
    }

    /// The directory with a trailing slash; empty for the root.
    fn directory(&self) -> &str {
        let path = &self.input.path;
        path.rfind('/').map_or("", |slash| &path[..=slash])
    }
}

/// Parses the files of a target, after file marks were applied.
pub(crate) fn project(files: &[InputFile], sources: &Sources, cache: &mut Cache) -> CheckedProject {
    let mut project = CheckedProject {
        files: Vec::new(),
        by_path: HashMap::new(),
        libraries: vec![String::new()],
        numbers: HashMap::from([(String::new(), 0)]),
    };
    for input in files {
        let (Ok(text), Ok(source)) = (input.content.read(), ytterby::facts::source_of(input)) else { continue };
        let source = cache.source(sources, source);
        let _working = budget::working_at(source.0, 0);
        let facts = cache.facts(input, &text, || facts(input, &text));
        project.by_path.insert(input.path.clone(), project.files.len());
        project.files.push(CheckedFile { input: input.clone(), facts, source, library: None });
    }
    project.find_libraries();
    project
}

fn facts(input: &InputFile, text: &Str) -> FileFacts {
    let code = code::read(input, text);
    let names = code.syntax.as_ref().map(names::names);
    let mut libraries = Vec::new();
    if let (Some(syntax), Some(names)) = (&code.syntax, &names)
        && names.loads.iter().any(|load| load.module == "@ytt:library")
    {
        gets(&syntax.ast, names, &mut libraries);
    }
    FileFacts { text: text.clone(), code, names, libraries }
}

/// Finds all `library.get("…")`.
fn gets(ast: &Ast, names: &Names, found: &mut Vec<String>) {
    for id in ast.ids() {
        let ExprKind::Call(callee, args) = &ast[id].kind else { continue };
        let ExprKind::Dot(base, name) = &ast[*callee].kind else { continue };
        let is_module = names.idents.get(base).is_some_and(
            |symbol| matches!(&names.symbols[*symbol].kind, SymbolKind::Load(module, _) if module == "@ytt:library"),
        );
        if *name == "get"
            && is_module
            && let Some(Arg::Positional(first)) = args.first()
            && let ExprKind::Str(text) = &ast[ast.unparen(*first)].kind
        {
            found.push(text.to_string());
        }
    }
}

impl CheckedProject {
    /// The index of a file.
    pub fn find(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    /// Whether a file has code that cannot be parsed.
    pub fn has_broken_files(&self) -> bool {
        self.files.iter().any(|file| file.library.is_some() && file.facts.is_broken())
    }

    /// Finds the libraries that code refers to, starting from the root, and their files.
    fn find_libraries(&mut self) {
        let directories: HashSet<String> =
            self.files.iter().flat_map(|file| directories(&file.input.path)).map(str::to_owned).collect();
        let mut next = 0;
        while next < self.libraries.len() {
            // Libraries found meanwhile are private, so they take no file from those that are
            // known.
            let owners: Vec<Option<usize>> = self.files.iter().map(|file| self.owner(&file.input.path)).collect();
            let mut found: Vec<(usize, String)> = Vec::new();
            for (file, owner) in self.files.iter().zip(owners) {
                let Some(owner) = owner.filter(|owner| *owner >= next) else { continue };
                let loads = file.facts.names.iter().flat_map(|names| &names.loads);
                let loaded = loads.filter_map(|load| load.module.strip_prefix('@')?.split_once(':'));
                let loaded = loaded.map(|(name, _)| name).filter(|name| *name != "ytt");
                for name in loaded.chain(file.facts.libraries.iter().map(String::as_str)) {
                    found.push((owner, format!("{}{PRIVATE}/{name}/", file.directory())));
                }
            }
            next = self.libraries.len();
            found.sort_by_key(|(owner, _)| *owner);
            for (_, directory) in found {
                if directories.contains(&directory) && !self.numbers.contains_key(&directory) {
                    self.numbers.insert(directory.clone(), self.libraries.len());
                    self.libraries.push(directory);
                }
            }
        }
        for at in 0..self.files.len() {
            self.files[at].library = self.owner(&self.files[at].input.path);
        }
    }

    /// The library of a path: the innermost known one, unless a private directory is in between.
    fn owner(&self, path: &str) -> Option<usize> {
        let mut rest = "";
        for directory in directories(path).into_iter().rev() {
            let more = &path[directory.len()..];
            if more[..more.len() - rest.len()].split('/').any(|piece| piece == PRIVATE) {
                return None;
            }
            if let Some(number) = self.numbers.get(directory) {
                return Some(*number);
            }
            rest = more;
        }
        None
    }

    /// The files whose code sees the data values of a library: its own, and those that they load.
    pub fn members(&self, library: usize) -> Vec<usize> {
        let own = self.files.iter().enumerate().filter(|(_, file)| file.library == Some(library));
        let mut members: Vec<usize> = own.map(|(number, _)| number).collect();
        let mut next = 0;
        while next < members.len() {
            let names = self.files[members[next]].facts.names.as_ref();
            for load in names.into_iter().flat_map(|names| &names.loads) {
                if let Some(target) = resolve_load(self, members[next], &load.module)
                    && !members.contains(&target)
                {
                    members.push(target);
                }
            }
            next += 1;
        }
        members
    }

    /// The parameters of a function.
    pub fn params(&self, file: usize, name: ExprId) -> &[ParamName] {
        let names = self.files[file].facts.names.as_ref();
        names.and_then(|names| names.params.get(&name)).map_or(&[], Vec::as_slice)
    }

    /// The files of a library with paths relative to it, to evaluate it on its own.
    pub fn rooted(&self, library: usize) -> Vec<InputFile> {
        let directory = &self.libraries[library];
        let rooted = |file: &CheckedFile| {
            let path = file.input.path.strip_prefix(directory.as_str())?.to_owned();
            let place = file.input.place.clone().or_else(|| Some(file.input.path.clone()));
            Some(InputFile { path, place, ..file.input.clone() })
        };
        self.files.iter().filter_map(rooted).collect()
    }
}

/// The file that `load()` in another file refers to.
pub(crate) fn resolve_load(project: &CheckedProject, file: usize, module: &str) -> Option<usize> {
    let from = &project.files[file];
    let path = match module.strip_prefix('@') {
        Some(rest) => {
            let (name, path) = rest.split_once(':')?;
            format!("{}{PRIVATE}/{name}/{}", from.directory(), path.strip_prefix('/').unwrap_or(path))
        }
        None => relative(project, file, module),
    };
    project.find(&path)
}

/// Resolves a path in a file: relative to its directory, or to the root of its library.
pub(crate) fn relative(project: &CheckedProject, file: usize, path: &str) -> String {
    let from = &project.files[file];
    match path.strip_prefix('/') {
        Some(path) => format!("{}{path}", project.libraries[from.library.unwrap_or_default()]),
        None => format!("{}{path}", from.directory()),
    }
}

/// Whether a file can contain code.
pub(crate) fn has_code(file: &InputFile) -> bool {
    match file.kind() {
        FileKind::Yaml | FileKind::Text => file.is_template() || file.is_library(),
        FileKind::Starlark => true,
        FileKind::Data => false,
    }
}

/// The directories around a path, each with a trailing slash, outermost first; the first one is
/// empty.
fn directories(path: &str) -> Vec<&str> {
    let ends = path.match_indices('/').map(|(slash, _)| slash + 1);
    std::iter::once(0).chain(ends).map(|end| &path[..end]).collect()
}
