//! Reads files and finds the objects in them.
//!
//! A file that cannot be read or parsed does not end a run: `LoadedFile::objects` is then the
//! reason, and each command reports it in its format. Directories are read in alphabetical order,
//! up to a depth.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ytterby_diag::{FileId, Pos, Source, Sources};
use ytterby_text::budget::{self, WorkingAt};
use ytterby_yaml::{ReadOptions, Tree, parse};

use super::Host;
use ytterby_kubevirt::objects::{LargeMaps, Objects, objects};
use ytterby_kubevirt::parameters::Parameters;

/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 64;

/// The name of standard input in messages.
const STDIN: &str = "-";

/// Lines longer than this are described by paths, because columns do not help.
const LONG_LINE: usize = 200;

/// The first bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// A file that was read, or the reason for failing.
pub(super) struct LoadedFile {
    /// Its name in messages.
    pub name: String,
    /// Its path, unless it is standard input.
    pub path: Option<PathBuf>,
    /// Its text.
    pub source: Option<Arc<Source>>,
    id: FileId,
    /// Whether the whole file is one long line.
    pub is_one_line: bool,
    /// The objects in it.
    pub objects: Result<Objects, ReadProblem>,
    /// The whole tree, to find positions of values; only if it contains a VM.
    pub tree: Option<Tree>,
    /// The large maps of the tree.
    pub maps: RefCell<LargeMaps>,
}

/// The reason that a file cannot be read.
#[derive(Clone, Debug)]
pub(super) struct ReadProblem {
    pub message: String,
    /// Line and column, if known.
    pub at: Option<(u32, u32)>,
}

impl LoadedFile {
    /// Line and column of a byte offset, from 1; columns count characters.
    pub(super) fn position(&self, offset: usize) -> (u32, u32) {
        let place = |source: &Arc<Source>| source.line_column(offset.min(source.text().len()) as u32);
        self.source.as_ref().map_or((1, 1), place)
    }

    /// A byte offset as a position for diagnostics.
    pub(super) fn pos(&self, offset: usize) -> Pos {
        Pos::new(self.id, offset.min(self.text().len()) as u32)
    }

    /// Notes that the object at a byte offset is being worked on.
    pub(super) fn working_at(&self, offset: usize) -> WorkingAt {
        let pos = self.pos(offset);
        budget::working_at(pos.file.0, pos.offset)
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let line = |source: &Arc<Source>| source.line(offset.min(source.text().len()) as u32);
        self.source.as_ref().map_or(1, line)
    }

    /// The objects in it. If it cannot be read, reports that on `stderr` and returns `None`.
    pub(super) fn readable(&self, stderr: &mut dyn io::Write) -> io::Result<Option<&Objects>> {
        match &self.objects {
            Ok(objects) => Ok(Some(objects)),
            Err(problem) => {
                let at = problem.at.map_or(String::new(), |(line, column)| format!(":{line}:{column}"));
                writeln!(stderr, "{}{at}: {}", self.name, problem.message)?;
                Ok(None)
            }
        }
    }

    /// The bytes; empty if it could not be read.
    pub(super) fn text(&self) -> &[u8] {
        self.source.as_ref().map_or(&[], |source| source.text())
    }
}

/// Reads files, directories and standard input in the order given; directories in alphabetical
/// order.
pub(super) fn files(given: &[String], parameters: &Parameters, host: &dyn Host, sources: &Sources) -> Vec<LoadedFile> {
    let mut files = Vec::new();
    for path in given {
        if path == STDIN {
            files.push(read(STDIN.to_owned(), None, host.stdin(), sources, parameters));
        } else {
            let mut found = |path: &Path, content| {
                let name = path.to_string_lossy().into_owned();
                files.push(read(name, Some(path.to_owned()), content, sources, parameters));
            };
            visit(Path::new(path), 0, &mut found, host);
        }
    }
    files
}

fn visit(path: &Path, depth: usize, found: &mut dyn FnMut(&Path, io::Result<Vec<u8>>), host: &dyn Host) {
    match host.entries(path) {
        Err(error) => found(path, Err(error)),
        Ok(None) => found(path, host.read(path)),
        Ok(Some(_)) if depth == MAX_DEPTH => {}
        Ok(Some(mut entries)) => {
            entries.sort();
            for entry in entries {
                let is_directory = matches!(host.entries(&entry), Ok(Some(_)));
                let wanted = |end: &std::ffi::OsStr| end == "yaml" || end == "yml" || end == "json";
                if is_directory || entry.extension().is_some_and(wanted) {
                    visit(&entry, depth + 1, found, host);
                }
            }
        }
    }
}

fn read(
    name: String,
    path: Option<PathBuf>,
    content: io::Result<Vec<u8>>,
    sources: &Sources,
    parameters: &Parameters,
) -> LoadedFile {
    let content = content.and_then(|content| match u32::try_from(content.len()) {
        Ok(_) if content.starts_with(GZIP) => Err(io::Error::other("the file is compressed (gzip); unpack it first")),
        Ok(_) => Ok(content),
        Err(_) => Err(io::Error::other("files above 4 GiB are not read")),
    });
    let content = match content {
        Ok(content) => content,
        Err(error) => {
            let problem = ReadProblem { message: io_text(&error), at: None };
            let objects = Err(problem);
            return LoadedFile {
                name,
                path,
                source: None,
                id: FileId(u32::MAX),
                is_one_line: false,
                objects,
                tree: None,
                maps: RefCell::default(),
            };
        }
    };
    budget::input(content.len());
    let id = sources.add(Source::new(name.clone(), content));
    let source = sources.get(id).expect("the source was just added");
    let _working = budget::working_at(id.0, 0);
    let options = ReadOptions { comments: false, ..ReadOptions::default() };
    let (objects, tree) = match parse(source.text(), id, &options) {
        Ok(tree) => (objects(&tree, parameters).map_err(|message| ReadProblem { message, at: None }), Some(tree)),
        Err(error) => {
            let at = source.line_column(error.span.start);
            (Err(ReadProblem { at: Some(at), message: format!("yaml: {}", error.problem) }), None)
        }
    };
    let tree = tree.filter(|_| objects.as_ref().is_ok_and(|objects| !objects.vms.is_empty()));
    let text = source.text().trim_ascii();
    let is_one_line = text.len() > LONG_LINE && !text.contains(&b'\n');
    LoadedFile { name, path, source: Some(source), id, is_one_line, objects, tree, maps: RefCell::default() }
}

/// The system's error message, without the error number.
fn io_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned()
}
