//! One input file, with its kind and role as its name and marks determine them.
//!
//! A mark (`--file-mark`) takes precedence over the extension. The questions are separate, because
//! the answers are independent: a file can be for output without being a template, and only for
//! `load()` although it is YAML.

use ytterby_diag::{Origin, Source};
use ytterby_text::Str;

use super::Content;

/// The kind of content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FileKind {
    /// YAML, a template or not.
    Yaml,
    /// Text, a template or not.
    Text,
    /// Starlark.
    Starlark,
    /// Anything else: only `data.read()` can access it.
    Data,
}

/// One input file.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// Its path below the directory that was given; file marks match against this.
    pub found_path: String,
    /// The path for all other purposes.
    pub path: String,
    /// The path to open it, if it differs from `path`; machine-readable diagnostics contain it.
    pub place: Option<String>,
    /// Its name in syntax errors, as in ytt since 0.50: `file conf/a.yml`. Without it,
    /// `found_path`.
    pub description: Option<String>,
    /// Where it comes from.
    pub origin: Origin,
    /// The bytes.
    pub content: Content,
    /// The kind set by a mark.
    pub marked_kind: Option<FileKind>,
    /// Whether it is a template, if a mark sets it.
    pub marked_template: Option<bool>,
    /// Whether it is part of the output, if a mark sets it.
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

    /// The source with its bytes.
    pub(crate) fn source(&self, bytes: Str) -> Source {
        Source::new(self.path.clone(), bytes).with_place(self.place.as_deref()).with_origin(self.origin)
    }

    /// Its name in syntax errors of YAML; `ytt_minor` is the emulated release of ytt.
    pub(crate) fn described(&self, ytt_minor: u8) -> &str {
        match &self.description {
            _ if ytt_minor < 50 => &self.path,
            Some(text) => text,
            None => &self.found_path,
        }
    }

    /// The last piece of the path.
    pub fn name(&self) -> &str {
        // Asked for thousands of times a run: a third of the instructions of `rsplit`.
        let slash = self.path.bytes().rposition(|byte| byte == b'/');
        &self.path[slash.map_or(0, |at| at + 1)..]
    }

    /// The kind of content: set by a mark, otherwise by the extension.
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

    /// Whether it is only for `load()`: Starlark, or `….lib.<ext>`.
    pub fn is_library(&self) -> bool {
        let mut pieces = self.name().rsplit('.');
        let before_last = pieces.nth(1);
        (before_last == Some("lib") && pieces.next().is_some()) || self.kind() == FileKind::Starlark
    }

    /// Whether its code is run.
    pub fn is_template(&self) -> bool {
        self.marked_template.unwrap_or_else(|| self.is_template_by_name())
    }

    /// Whether its result is part of the output. This is possible for files that are not templates,
    /// too.
    pub fn is_for_output(&self) -> bool {
        self.marked_output.unwrap_or_else(|| self.marked_template == Some(true) || self.is_template_by_name())
    }

    /// Whether it was found below a given directory, rather than given itself.
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
    fn kinds_follow_from_names() {
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
