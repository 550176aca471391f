//! Libraries: directories of files, with private ones below `_ytt_lib`.
//!
//! All input files form one tree of directories. `load()` and `library.get()` look up paths in it,
//! and get a suggestion if a path does not exist.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use ytterby_diag::{Diagnostic, Failure, Help, Id};
use ytterby_text::spelling;

use super::file::File;

/// Maximum number of libraries to list if one is missing.
const LISTED: usize = 8;

/// Maximum number of files to compare with a path that does not exist.
const COMPARED_FILES: usize = 500;

/// The directory of private libraries.
const PRIVATE: &str = "_ytt_lib";

/// A directory of input files.
#[derive(Debug, Default)]
pub(crate) struct Library {
    name: String,
    children: Vec<Rc<Library>>,
    files: Vec<Rc<File>>,
    /// The index in `files` of the first file with a name; created lazily if there are many files.
    places: OnceCell<HashMap<String, usize>>,
}

/// Directories with more files have an index of their names.
const INDEXED: usize = 32;

/// A file seen from a library.
#[derive(Clone, Debug)]
pub(crate) struct FileInLibrary {
    pub file: Rc<File>,
    /// The innermost directory, the base of relative paths.
    pub library: Rc<Library>,
    /// The path relative to the library.
    pub path: String,
}

impl Library {
    /// The root library of these files.
    pub fn root(files: &[Rc<File>]) -> Rc<Library> {
        let mut root = Builder::default();
        for file in files {
            let mut at = &mut root;
            let (directories, _) = split_path(file.path());
            for name in directories {
                at = at.child(name);
            }
            at.library.files.push(file.clone());
        }
        root.finish()
    }

    /// Whether it is the library of all input files, which is evaluated only once.
    pub fn is_root(&self) -> bool {
        self.name.is_empty()
    }

    fn is_private(&self) -> bool {
        self.name == PRIVATE
    }

    /// The first file with this name in this directory.
    fn file(&self, name: &str) -> Option<&Rc<File>> {
        if self.files.len() <= INDEXED {
            return self.files.iter().find(|file| file.name() == name);
        }
        let places = self.places.get_or_init(|| {
            let mut places = HashMap::new();
            for (at, file) in self.files.iter().enumerate() {
                places.entry(file.name().to_owned()).or_insert(at);
            }
            places
        });
        places.get(name).map(|at| &self.files[*at])
    }

    fn child(&self, name: &str) -> Option<&Rc<Library>> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The private library at a path: `load("@path:file")`, `library.get("path")`.
    pub fn find_private(&self, path: &str) -> Result<Rc<Library>, Failure> {
        let Some(mut at) = self.child(PRIVATE) else {
            let text = format!("Could not find private library (directory '{PRIVATE}' missing?)");
            return Err(Failure::new(Id::LIBRARY_MISSING, text));
        };
        let pieces: Vec<&str> = path.split('/').collect();
        for (depth, piece) in pieces.iter().enumerate() {
            let found = at.child(piece).ok_or_else(|| {
                let above = pieces[..depth].join("/");
                let text = format!("Expected to find library '{path}', but did not find '{above}'");
                let problem = Diagnostic::error(Id::LIBRARY_MISSING, text);
                Failure::from(problem.helps(at.near_library(piece, &above)))
            })?;
            if found.is_private() {
                let above = pieces[..depth].join("/");
                let text = format!("Could not load private library '{above}'");
                return Err(Failure::new(Id::LIBRARY_MISSING, text));
            }
            at = found;
        }
        Ok(at.clone())
    }

    /// The directory at a path below this one.
    pub fn find(self: &Rc<Library>, path: &str) -> Result<Rc<Library>, String> {
        let pieces: Vec<&str> = path.split('/').collect();
        let mut at = self;
        for (depth, piece) in pieces.iter().enumerate() {
            // As in the reference, the message contains the directory in which the piece was
            // missing.
            let found = at.child(piece).ok_or_else(|| format!("Did not find '{}'", pieces[..depth].join("/")))?;
            if found.is_private() {
                return Err(format!("Encountered private library '{PRIVATE}'"));
            }
            at = found;
        }
        Ok(at.clone())
    }

    /// The file at a path below this directory.
    pub fn find_file(self: &Rc<Library>, path: &str) -> Result<FileInLibrary, Failure> {
        let missing =
            |text: String| -> Failure { Diagnostic::error(Id::CODE_LOAD, text).helps(self.near_file(path)).into() };
        let (directories, name) = split_path(path);
        let directories: Vec<&str> = directories.collect();
        let library = match directories.is_empty() {
            true => self.clone(),
            false => self
                .find(&directories.join("/"))
                .map_err(|why| missing(format!("Expected to find file '{path}', but did not: {why}")))?,
        };
        match library.file(name) {
            Some(file) => {
                Ok(FileInLibrary { file: file.clone(), library: library.clone(), path: file.path().to_owned() })
            }
            None => Err(missing(format!(
                "Expected to find file '{path}' (hint: only files included via -f flag are available)"
            ))),
        }
    }

    /// Suggests a library with a similar name, or lists the existing ones. `above` is the path to
    /// here.
    fn near_library(&self, name: &str, above: &str) -> Option<Help> {
        let names = || self.children.iter().filter(|child| !child.is_private()).map(|child| child.name.as_str());
        let path = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}/{name}") };
        if let Some(near) = spelling::closest(name, names(), spelling::tolerance(name)) {
            return Some(Help::rename_string(&path(name), &path(near)));
        }
        let mut there: Vec<String> = names().take(LISTED).map(|name| format!("\"{}\"", path(name))).collect();
        if names().nth(LISTED).is_some() {
            there.push("…".to_owned());
        }
        (!there.is_empty()).then(|| Help::new(format!("found here: {}", there.join(", "))))
    }

    /// Suggests a file here or below: one with a similar path, or with the same name.
    fn near_file(self: &Rc<Library>, path: &str) -> Option<Help> {
        let files = self.accessible_files();
        let paths = || files.iter().map(|file| file.path.as_str()).take(COMPARED_FILES);
        let name = |path: &'_ str| split_path(path).1.to_owned();
        let near = spelling::closest(path, paths(), spelling::tolerance(path))
            .or_else(|| paths().find(|other| name(other) == name(path)))?;
        Some(Help::rename_string(path, near))
    }

    /// The files here and below, without those of private libraries.
    pub fn accessible_files(self: &Rc<Library>) -> Vec<FileInLibrary> {
        let mut found = Vec::new();
        self.collect("", &mut found);
        found
    }

    /// All files here and below, those of private libraries included.
    pub fn all_files(&self) -> Vec<Rc<File>> {
        let below = self.children.iter().flat_map(|child| child.all_files());
        self.files.iter().cloned().chain(below).collect()
    }

    fn collect(self: &Rc<Library>, prefix: &str, found: &mut Vec<FileInLibrary>) {
        for file in &self.files {
            let path = format!("{prefix}{}", file.name());
            found.push(FileInLibrary { file: file.clone(), library: self.clone(), path });
        }
        for child in self.children.iter().filter(|child| !child.is_private()) {
            child.collect(&format!("{prefix}{}/", child.name), found);
        }
    }
}

/// The directories of a path and its last piece.
fn split_path(path: &str) -> (impl Iterator<Item = &str>, &str) {
    let (directories, name) = path.rsplit_once('/').map_or((None, path), |(dirs, name)| (Some(dirs), name));
    (directories.into_iter().flat_map(|dirs| dirs.split('/')), name)
}

#[derive(Default)]
struct Builder {
    library: Library,
    children: Vec<Builder>,
}

impl Builder {
    fn child(&mut self, name: &str) -> &mut Builder {
        let at = match self.children.iter().position(|child| child.library.name == name) {
            Some(at) => at,
            None => {
                let library = Library { name: name.to_owned(), ..Library::default() };
                self.children.push(Builder { library, children: Vec::new() });
                self.children.len() - 1
            }
        };
        &mut self.children[at]
    }

    fn finish(mut self) -> Rc<Library> {
        self.library.children = self.children.into_iter().map(Builder::finish).collect();
        Rc::new(self.library)
    }
}
