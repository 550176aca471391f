//! Lists input files: paths, directories, URLs, standard input.
//!
//! Files are only listed here; the engine reads their bytes lazily. Names, order and error texts
//! are the reference's.

mod http;
mod path;
mod skip;
mod symlink;

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::io::{self, Read};
use std::path::PathBuf;

use ytterby::{Content, Failure, InputFile};
use ytterby_diag::{Id, Origin};
use ytterby_text::Str;

#[cfg(feature = "server")]
pub use self::http::addresses;
pub use self::path::clean;
pub use self::skip::{SNAPSHOTS, Skip};
pub use self::symlink::Symlinks;

/// Lists the files of `-f` flags, in the order of the flags; files of a directory are sorted by
/// path.
pub fn list(paths: &[String], symlinks: &Symlinks, stdin: &Stdin) -> Result<Vec<InputFile>, Failure> {
    let rules = InputOptions { urls: Urls::MayHoldEquals, skip: Skip::Nothing };
    list_as(rules, paths, symlinks, stdin)
}

/// Like [`list`], with other rules.
pub fn list_as(
    rules: InputOptions<'_>,
    paths: &[String],
    symlinks: &Symlinks,
    stdin: &Stdin,
) -> Result<Vec<InputFile>, Failure> {
    inputs(paths, rules, symlinks, stdin).map_err(Content::unreadable)
}

/// How paths become inputs.
#[derive(Clone, Copy, Debug)]
pub struct InputOptions<'a> {
    /// How URLs are read.
    pub urls: Urls,
    /// Files that are left out of directories.
    pub skip: Skip<'a>,
}

fn inputs(
    paths: &[String],
    InputOptions { urls, skip }: InputOptions<'_>,
    symlinks: &Symlinks,
    stdin: &Stdin,
) -> Result<Vec<InputFile>, String> {
    let mut files = Vec::new();
    for argument in paths {
        let (name, path) = name_and_path(argument, urls).ok_or_else(|| {
            format!("Expected file '{argument}' to only have single '=' sign to for relative path assignment")
        })?;
        let mut file = if path == "-" {
            InputFile { origin: Origin::Stdin, ..InputFile::new("stdin.yml", stdin.content()) }
        } else if is_url(path) {
            let url = path.to_owned();
            let content = Content::later(move || http::get(&url).map_err(Content::unreadable));
            let description = Some(format!("HTTP URL '{path}'"));
            let file_name = match urls {
                Urls::MayHoldEquals => path::base(path.split('?').next().unwrap_or_default()),
                Urls::AreCutAtEquals => path::base(path),
            };
            InputFile { description, origin: Origin::Url, ..InputFile::new(file_name, content) }
        } else {
            let metadata = fs::symlink_metadata(path)
                .map_err(|error| format!("Checking file '{path}': lstat {path}: {}", io_text(&error)))?;
            if metadata.is_dir() {
                // Like the reference, accept and ignore a name for a directory.
                let found = directory(path, symlinks, skip);
                files.extend(found.map_err(|error| format!("Listing files '{path}': {error}"))?);
                continue;
            }
            local_file(InputPath::new(path), path::base(path), metadata.file_type(), symlinks)?
        };
        if !name.is_empty() {
            name.clone_into(&mut file.path);
        }
        files.push(file);
    }
    Ok(files)
}

/// How to parse arguments that contain URLs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Urls {
    /// As ytt 0.49: every `=` separates a name from a path.
    AreCutAtEquals,
    /// As later releases. The name of a file is the last segment of the path, without the query.
    MayHoldEquals,
}

fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// Splits `path` or `name=path`; the name may be empty.
fn name_and_path(argument: &str, urls: Urls) -> Option<(&str, &str)> {
    match argument.split_once('=') {
        None => Some(("", argument)),
        Some(_) if urls == Urls::MayHoldEquals && is_url(argument) => Some(("", argument)),
        Some((name, url)) if urls == Urls::MayHoldEquals && is_url(url) => Some((name, url)),
        Some((_, path)) if path.contains('=') => None,
        Some(pair) => Some(pair),
    }
}

/// Standard input, which can be read only once.
#[derive(Default)]
pub struct Stdin {
    was_read: Cell<bool>,
}

impl Stdin {
    fn content(&self) -> Content {
        if self.was_read.replace(true) {
            let text = "Standard input has already been read, has the '-' argument been used in more than one flag?";
            return Content::failed(Failure::new(Id::FILE_CONFLICT, text));
        }
        Content::later(|| match read_stdin() {
            Ok(bytes) => Ok(bytes.into()),
            Err(error) => Err(Content::unreadable(format!("read /dev/stdin: {}", io_text(&error)))),
        })
    }
}

/// Reads through a file, because the standard library treats an unreadable standard input
/// (`0>file`) as empty.
#[cfg(unix)]
fn read_stdin() -> io::Result<Vec<u8>> {
    use std::os::fd::AsFd;
    let mut bytes = Vec::new();
    fs::File::from(io::stdin().as_fd().try_clone_to_owned()?).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn read_stdin() -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// All files below a directory. Links to directories are not followed, so there are no cycles.
fn directory(root: &str, symlinks: &Symlinks, skip: Skip<'_>) -> Result<Vec<InputFile>, String> {
    let mut files = Vec::new();
    let mut filter = skip.filter(root);
    // Entries still to visit, in reverse order.
    let mut pending = entries_of(&InputPath::new(root), "")?;
    filter.apply(root, &mut pending);
    while let Some(WalkEntry { place, below, kind }) = pending.pop() {
        let kind = kind.map_err(|error| format!("lstat {}: {}", place.shown, io_text(&error)))?;
        if kind.is_dir() {
            let mut entries = entries_of(&place, &format!("{below}/"))?;
            filter.apply(&place.shown, &mut entries);
            pending.append(&mut entries);
        } else {
            files.push(local_file(place, &below, kind, symlinks)?);
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// An entry of a directory.
struct WalkEntry {
    place: InputPath,
    /// Its path relative to the root of the walk.
    below: String,
    /// Most file systems list it with the name, which saves a call for each file.
    kind: io::Result<FileType>,
}

/// The entries of a directory in reverse order, each with its name after `prefix`.
fn entries_of(directory: &InputPath, prefix: &str) -> Result<Vec<WalkEntry>, String> {
    let failed = |error: io::Error| format!("open {}: {}", directory.shown, io_text(&error));
    let mut names = Vec::new();
    for entry in fs::read_dir(&directory.path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        names.push((entry.file_name(), entry.file_type()));
    }
    names.sort_unstable_by(|(a, _), (b, _)| b.cmp(a));
    let entry = |(name, kind): (OsString, io::Result<FileType>)| WalkEntry {
        place: directory.below(&name),
        below: format!("{prefix}{}", name.to_string_lossy()),
        kind,
    };
    Ok(names.into_iter().map(entry).collect())
}

/// The path of a file. Names need not be UTF-8, but messages and comparisons use text.
struct InputPath {
    path: PathBuf,
    shown: String,
}

impl InputPath {
    fn new(path: &str) -> InputPath {
        InputPath { path: PathBuf::from(path), shown: path.to_owned() }
    }

    fn below(&self, name: &OsStr) -> InputPath {
        let shown = clean(&format!("{}/{}", self.shown, name.to_string_lossy()));
        let path = match name.to_str() {
            Some(_) if self.is_as_shown() => PathBuf::from(&shown),
            _ => self.path.join(name),
        };
        InputPath { path, shown }
    }

    fn is_as_shown(&self) -> bool {
        self.path.as_os_str() == self.shown.as_str()
    }
}

fn local_file(place: InputPath, name: &str, kind: FileType, symlinks: &Symlinks) -> Result<InputFile, String> {
    let shown = &place.shown;
    if kind.is_symlink() {
        symlinks.check(shown).map_err(|error| format!("Checking symlink file '{shown}': {error}"))?;
    } else if !kind.is_file() && !is_pipe(kind) {
        return Err(format!("Expected file '{shown}' to be a regular file, but was not"));
    }
    let at = Some(clean(shown));
    let description = Some(format!("file {shown}"));
    let content = Content::later(move || read_file(&place).map_err(Content::unreadable));
    Ok(InputFile { place: at, description, ..InputFile::new(name, content) })
}

fn read_file(place: &InputPath) -> Result<Str, String> {
    let failed = |verb: &str, error: io::Error| format!("{verb} {}: {}", place.shown, io_text(&error));
    let mut file = fs::File::open(&place.path).map_err(|error| failed("open", error))?;
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    read_all(&mut file, length).map_err(|error| failed("read", error))
}

/// Most bytes that are allocated before a file is read.
const LARGE: u64 = 1 << 28;

/// All bytes of a file with an expected length. They are read into their final memory: copying a
/// large file costs more than time, because each of its pages becomes another page of the process.
fn read_all(file: &mut impl Read, length: u64) -> io::Result<Str> {
    // One byte more than expected shows the end of the file without growing.
    let mut bytes = Vec::with_capacity(length.min(LARGE) as usize + 1);
    file.read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

#[cfg(unix)]
fn is_pipe(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: FileType) -> bool {
    false
}

/// The error in the reference's words: `no such file or directory`.
pub fn io_text(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    match chars.next() {
        // Acronyms such as `I/O error` keep their capitals.
        Some(first) if chars.clone().next().is_some_and(|second| second.is_lowercase()) => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_read_if_the_length_changes() {
        let text: Vec<u8> = (0..200_000u32).map(|at| (at % 251) as u8).collect();
        for length in [0, 1, 65_535, 65_536, 199_999, 200_000, 200_001, 300_000, LARGE] {
            assert_eq!(*read_all(&mut &text[..], length).expect("it can be read"), *text, "{length}");
        }
        assert_eq!(*read_all(&mut &b""[..], 100_000).expect("it can be read"), *b"");
    }

    #[test]
    fn names_are_separated_from_urls() {
        let now = |argument| name_and_path(argument, Urls::MayHoldEquals);
        assert_eq!(now("a.yml"), Some(("", "a.yml")));
        assert_eq!(now("b.yml=a.yml"), Some(("b.yml", "a.yml")));
        assert_eq!(now("b=a=c"), None);
        assert_eq!(now("http://h/a.yml?x=1&y=2"), Some(("", "http://h/a.yml?x=1&y=2")));
        assert_eq!(now("d/n.yml=https://h/a.yml?x=1"), Some(("d/n.yml", "https://h/a.yml?x=1")));
        assert_eq!(now("a=b=http://h/a.yml"), None);
        let before = |argument| name_and_path(argument, Urls::AreCutAtEquals);
        assert_eq!(before("http://h/a.yml?x=1"), Some(("http://h/a.yml?x", "1")));
        assert_eq!(before("http://h/a.yml?x=1&y=2"), None);
    }
}
