//! Reads files and finds the objects in them.

use std::cell::OnceCell;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ytterby_diag::{Source, Sources};
use ytterby_yaml::{ReadOptions, Tree, parse};

use super::Host;
use crate::objects::{Objects, objects};
use crate::parameters::Parameters;

/// Directories in directories that are searched.
const MAX_DEPTH: usize = 64;

/// Standard input in messages.
const STDIN: &str = "-";

/// How files begin that `gzip` made.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// A file that was read, or why not.
pub(super) struct File {
    /// Its name in messages.
    pub name: String,
    /// Its path, if it can be written.
    pub path: Option<PathBuf>,
    /// Its text.
    pub source: Option<Rc<Source>>,
    /// What is in it.
    pub objects: Result<Objects, Problem>,
    /// All of it, for the places of values, if there is a VM in it.
    pub tree: Option<Tree>,
    columns: Columns,
}

/// Why a file cannot be read.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub message: String,
    /// Line and column, where they are known.
    pub at: Option<(u32, u32)>,
}

impl File {
    /// Line and column of a byte, from 1; columns count characters.
    pub(super) fn position(&self, offset: usize) -> (u32, u32) {
        self.source.as_ref().map_or((1, 1), |source| self.columns.position(source, offset))
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, offset: usize) -> u32 {
        let line = |source: &Rc<Source>| source.line_column(offset.min(source.text().len()) as u32).0;
        self.source.as_ref().map_or(1, line)
    }

    /// What is in it. If it cannot be read, says so on `stderr` and gives nothing.
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

    /// The bytes, none if it could not be read.
    pub(super) fn text(&self) -> &[u8] {
        self.source.as_ref().map_or(&[], |source| source.text())
    }
}

/// Bytes between two counts of [`Columns`].
const BLOCK: usize = 512;

/// Columns of one file. On a line of many megabytes (JSON without line feeds) counting from its beginning for every place
/// would be quadratic, so the characters before each block are counted once, when a long line asks for it.
#[derive(Default)]
struct Columns(OnceCell<Vec<u32>>);

impl Columns {
    fn position(&self, source: &Source, offset: usize) -> (u32, u32) {
        let text = source.text();
        let offset = offset.min(text.len());
        let (line, column) = source.line_column(offset as u32);
        let start = offset - (column as usize - 1);
        let before = if offset - start <= 2 * BLOCK {
            characters(&text[start..offset])
        } else {
            self.before(text, offset) - self.before(text, start)
        };
        (line, before + 1)
    }

    /// Characters of a text before a byte.
    fn before(&self, text: &[u8], offset: usize) -> u32 {
        let blocks = self.0.get_or_init(|| {
            let mut count = 0;
            let mut counted = |block: &[u8]| {
                count += characters(block);
                count
            };
            std::iter::once(0).chain(text.chunks(BLOCK).map(&mut counted)).collect()
        });
        let block = offset / BLOCK;
        blocks[block] + characters(&text[block * BLOCK..offset])
    }
}

/// The characters that begin in a text.
fn characters(text: &[u8]) -> u32 {
    text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u32
}

/// Reads files, directories and standard input, in the order given; directories in alphabetical order.
pub(super) fn files(given: &[OsString], parameters: &Parameters, host: &dyn Host) -> Vec<File> {
    let sources = Sources::new();
    let mut files = Vec::new();
    for path in given {
        if path == STDIN {
            files.push(read(STDIN.to_owned(), None, host.stdin(), &sources, parameters));
        } else {
            let mut found = |path: &Path, content| {
                let name = path.to_string_lossy().into_owned();
                files.push(read(name, Some(path.to_owned()), content, &sources, parameters));
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
) -> File {
    let content = content.and_then(|content| match u32::try_from(content.len()) {
        Ok(_) if content.starts_with(GZIP) => Err(io::Error::other("the file is compressed (gzip); unpack it first")),
        Ok(_) => Ok(content),
        Err(_) => Err(io::Error::other("files above 4 GiB are not read")),
    });
    let content = match content {
        Ok(content) => content,
        Err(error) => {
            let problem = Problem { message: io_text(&error), at: None };
            return File { name, path, source: None, objects: Err(problem), tree: None, columns: Columns::default() };
        }
    };
    let id = sources.add(name.clone(), content);
    let source = sources.get(id).expect("the source was just added");
    let options = ReadOptions { comments: false, ..ReadOptions::default() };
    let columns = Columns::default();
    let (objects, tree) = match parse(source.text(), id, &options) {
        Ok(tree) => (objects(&tree, parameters).map_err(|message| Problem { message, at: None }), Some(tree)),
        Err(error) => {
            let at = columns.position(&source, error.pos.offset as usize);
            (Err(Problem { at: Some(at), message: without_line(&error.message) }), None)
        }
    };
    let tree = tree.filter(|_| objects.as_ref().is_ok_and(|objects| !objects.vms.is_empty()));
    File { name, path, source: Some(source), objects, tree, columns }
}

/// A message of the reader without its own idea of the line, which is not always the line of the place beside it.
fn without_line(message: &str) -> String {
    let rest = message.strip_prefix("yaml: line ").and_then(|rest| rest.split_once(": "));
    match rest.filter(|(line, _)| line.bytes().all(|byte| byte.is_ascii_digit())) {
        Some((_, what)) => format!("yaml: {what}"),
        None => message.to_owned(),
    }
}

/// What the system says, without its number.
fn io_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.as_str(), |(text, _)| text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_on_lines_of_any_length() {
        let line = "größe, ".repeat(400);
        let text = format!("short é\n{line}\nend");
        let sources = Sources::new();
        let source = sources.get(sources.add("x".to_owned(), text.clone().into_bytes())).unwrap();
        let columns = Columns::default();
        for (offset, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let before = &text[..offset];
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            let expect = (before.matches('\n').count() + 1, column);
            assert_eq!(columns.position(&source, offset), (expect.0 as u32, expect.1 as u32), "{offset}");
        }
    }
}
