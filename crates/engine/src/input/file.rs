//! One input file and what its name and marks make of it.

use std::sync::Arc;

use ytterby_diag::{Origin, Source};

use super::Content;

/// What is in a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FileKind {
    /// YAML, a template or not.
    Yaml,
    /// Text, a template or not.
    Text,
    /// Starlark.
    Starlark,
    /// Anything else: only `data.read()` sees it.
    Data,
}

/// One input file.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Where it was found, below the directory that was named; file marks match against this.
    pub found_path: String,
    /// The path that everything else goes by.
    pub path: String,
    /// Where it can be opened, if that is not `path`; machine-readable diagnostics tell it.
    pub place: Option<String>,
    /// What it is called where it cannot be parsed, as ytt since 0.50 has it: `file conf/a.yml`. Without it, `found_path`.
    pub description: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// The bytes.
    pub content: Content,
    /// The kind that a mark gave it.
    pub marked_kind: Option<FileKind>,
    /// Whether a mark made it a template or kept it from being one.
    pub marked_template: Option<bool>,
    /// Whether a mark put it into the output or kept it out.
    pub marked_output: Option<bool>,
}

impl InputFile {
    /// A file without marks.
    pub fn new(path: impl Into<String>, content: Content) -> InputFile {
        let path = path.into();
        InputFile {
            found_path: path.clone(),
            path,
            place: None,
            description: None,
            origin: Origin::File,
            content,
            marked_kind: None,
            marked_template: None,
            marked_output: None,
        }
    }

    /// The source that its bytes become.
    pub(crate) fn source(&self, bytes: Arc<[u8]>) -> Source {
        Source::new(self.path.clone(), bytes).with_place(self.place.as_deref()).with_origin(self.origin)
    }

    /// What errors about YAML that cannot be parsed call it; `ytt_minor` is the release of ytt that is followed.
    pub(crate) fn described(&self, ytt_minor: u8) -> &str {
        match &self.description {
            _ if ytt_minor < 50 => &self.path,
            Some(text) => text,
            None => &self.found_path,
        }
    }

    /// The last piece of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// What is in it: what a mark says, else what the extension says.
    pub fn kind(&self) -> FileKind {
        if let Some(kind) = self.marked_kind {
            return kind;
        }
        let name = self.name();
        if name.ends_with(".yaml") || name.ends_with(".yml") {
            FileKind::Yaml
        } else if name.ends_with(".star") {
            FileKind::Starlark
        } else if name.ends_with(".txt") {
            FileKind::Text
        } else {
            FileKind::Data
        }
    }

    /// Whether it only serves `load()`: Starlark, or `….lib.<ext>`.
    pub fn is_library(&self) -> bool {
        let mut pieces = self.name().rsplit('.');
        let before_last = pieces.nth(1);
        (before_last == Some("lib") && pieces.next().is_some()) || self.kind() == FileKind::Starlark
    }

    /// Whether code in it is run.
    pub fn is_template(&self) -> bool {
        self.marked_template.unwrap_or_else(|| self.is_template_by_name())
    }

    /// Whether what it renders to is part of the output. A file that is no template can be.
    pub fn is_for_output(&self) -> bool {
        self.marked_output.unwrap_or_else(|| self.marked_template == Some(true) || self.is_template_by_name())
    }

    /// Whether it was found below a directory that was named, rather than named itself.
    pub fn is_implied(&self) -> bool {
        self.found_path.contains('/')
    }

    fn is_template_by_name(&self) -> bool {
        !self.is_library() && matches!(self.kind(), FileKind::Yaml | FileKind::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> InputFile {
        InputFile::new(path, Content::new(*b""))
    }

    #[test]
    fn names_tell_kinds() {
        let check = |path: &str, kind, is_library| {
            assert_eq!((file(path).kind(), file(path).is_library()), (kind, is_library), "{path}");
        };
        check("a/b.yml", FileKind::Yaml, false);
        check("b.yaml", FileKind::Yaml, false);
        check("b.lib.yml", FileKind::Yaml, true);
        check("lib.yml", FileKind::Yaml, false);
        check("a.lib/b.yml", FileKind::Yaml, false);
        check(".lib.txt", FileKind::Text, true);
        check("b.star", FileKind::Starlark, true);
        check("yml", FileKind::Data, false);
        check("b.json", FileKind::Data, false);
    }
}
