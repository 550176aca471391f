//! Files, and access to them.

use std::sync::{Arc, OnceLock};

use crate::model::{Model, ModelKind};

/// The files that a server can see. Provided by the host: a disk, or the memory of a browser.
///
/// Paths are absolute and use `/`.
pub trait FileSystem: Send + Sync {
    /// The entries of a directory, in any order; empty if it cannot be read.
    fn list(&self, directory: &str) -> Vec<DirectoryEntry>;

    /// The bytes of a file.
    fn read(&self, path: &str) -> Option<Vec<u8>>;

    /// A number that changes with the content of a file, made from its time and size. `None` if
    /// there is no file.
    fn stamp(&self, path: &str) -> Option<u64>;
}

/// A file or directory in a directory.
#[derive(Clone, Debug)]
pub struct DirectoryEntry {
    /// Its name.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Like the result of [`FileSystem::stamp`].
    pub stamp: u64,
}

/// The editor's language of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EditorLanguage {
    /// Not open, or open as something else.
    #[default]
    Unknown,
    /// `ytt`: a template, schema or overlay.
    Ytt,
    /// `ytt-values`: a values file.
    Values,
    /// `yaml`.
    Yaml,
}

impl EditorLanguage {
    /// The language of an id of the protocol.
    pub fn of(id: &str) -> EditorLanguage {
        match id {
            "ytt" => EditorLanguage::Ytt,
            "ytt-values" => EditorLanguage::Values,
            "yaml" => EditorLanguage::Yaml,
            _ => EditorLanguage::Unknown,
        }
    }
}

/// One version of a file. It never changes; an edit makes another one.
#[derive(Debug)]
pub struct File {
    /// Its absolute path.
    pub path: String,
    /// Its text; invalid UTF-8 is replaced.
    pub text: Arc<str>,
    /// The editor's language.
    pub language: EditorLanguage,
    /// The editor's version, if it is open.
    pub version: Option<i64>,
    model: OnceLock<Model>,
}

impl File {
    /// A version of a file.
    pub fn new(path: &str, text: impl Into<Arc<str>>, language: EditorLanguage, version: Option<i64>) -> File {
        File { path: path.to_owned(), text: text.into(), language, version, model: OnceLock::new() }
    }

    /// The model of its text.
    pub fn model(&self) -> &Model {
        self.model.get_or_init(|| Model::new(&self.text, self.kind(), !self.is_plain()))
    }

    /// The kind of file, by its name; a file that is open as `ytt` with another name is a text
    /// template.
    pub fn kind(&self) -> ModelKind {
        match ModelKind::of(&self.path) {
            ModelKind::Other if self.language == EditorLanguage::Ytt => ModelKind::Text,
            kind => kind,
        }
    }

    /// Whether its comments have no meaning: a values file or the project file.
    pub fn is_plain(&self) -> bool {
        self.language == EditorLanguage::Values || is_project_file(&self.path)
    }

    /// Whether it is open in the editor.
    pub fn is_open(&self) -> bool {
        self.version.is_some()
    }

    /// The last piece of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// Whether a path is that of a project file.
pub fn is_project_file(path: &str) -> bool {
    matches!(path.rsplit('/').next(), Some("ytterby.yml" | "ytterby.yaml"))
}

/// The directory of a path.
pub fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) => "/",
        Some((parent, _)) => parent,
        None => "",
    }
}

/// Joins paths and resolves `.` and `..`.
pub fn join(directory: &str, path: &str) -> String {
    let whole = if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") };
    let mut pieces: Vec<&str> = Vec::new();
    for piece in whole.split('/') {
        match piece {
            "" | "." => {}
            ".." => drop(pieces.pop()),
            piece => pieces.push(piece),
        }
    }
    // A Windows path begins with its drive.
    let has_drive = pieces.first().is_some_and(|first| first.len() == 2 && first.ends_with(':'));
    if has_drive && !whole.starts_with('/') { pieces.join("/") } else { format!("/{}", pieces.join("/")) }
}

/// A path relative to a directory.
pub fn below<'a>(path: &'a str, directory: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(directory.trim_end_matches('/'))?;
    rest.strip_prefix('/')
}

/// Whether files of this name have a model: YAML, Starlark and text. Others are inputs that only
/// code reads.
pub fn is_input(path: &str) -> bool {
    ModelKind::of(path) != ModelKind::Other
}
