//! What can be written at a place.
//!
//! Where the cursor is decides who answers: the project file, values (`values`), code (`code`) or the keys of
//! Kubernetes (`manifest`).

pub(crate) use code::load_line;

mod code;
mod manifest;
mod values;

use crate::TextRange;
use crate::config;
use crate::context::{Cursor, Known};
use crate::file;

/// What a completion is, for its icon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompletionKind {
    /// A data value, a key or a field.
    Field,
    /// A function.
    Function,
    /// A variable or parameter.
    Variable,
    /// A module.
    Module,
    /// An annotation.
    Annotation,
    /// An argument or rule.
    Argument,
    /// A word of the language.
    Keyword,
    /// Several lines with places to fill in.
    Snippet,
    /// A file or directory.
    File,
    /// One of several values.
    Value,
}

/// Something that can be written.
#[derive(Clone, PartialEq, Debug)]
pub struct Completion {
    /// What the list shows.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// What it is, in a few words.
    pub detail: String,
    /// What it is, as Markdown.
    pub documentation: String,
    /// What is replaced.
    pub range: TextRange,
    /// What comes in its place.
    pub text: String,
    /// Whether the text has places to fill in, as snippets write them.
    pub is_snippet: bool,
    /// Whether it should not be used any more.
    pub is_deprecated: bool,
    /// Where it comes in the list; equal ones are ordered by their labels.
    pub rank: u8,
    /// A further edit: a text at an offset.
    pub also: Option<(usize, String)>,
}

impl Completion {
    fn new(label: impl Into<String>, kind: CompletionKind, range: TextRange) -> Completion {
        let label = label.into();
        Completion {
            text: label.clone(),
            label,
            kind,
            detail: String::new(),
            documentation: String::new(),
            range,
            is_snippet: false,
            is_deprecated: false,
            rank: 5,
            also: None,
        }
    }

    fn text(self, text: impl Into<String>) -> Completion {
        Completion { text: text.into(), ..self }
    }

    fn detail(self, detail: impl Into<String>) -> Completion {
        Completion { detail: detail.into(), ..self }
    }

    fn documentation(self, text: impl Into<String>) -> Completion {
        Completion { documentation: text.into(), ..self }
    }

    fn rank(self, rank: u8) -> Completion {
        Completion { rank, ..self }
    }
}

/// What can be written at a place.
pub fn complete(at: Cursor<'_>, known: Known<'_>) -> Vec<Completion> {
    if file::is_project_file(&at.file.path) {
        return project_file(at);
    }
    if at.is_values_file() {
        return values::complete(at, known);
    }
    if !at.is_template() {
        return Vec::new();
    }
    if let Some(found) = code::complete(at, known) {
        return found;
    }
    let document = at.document();
    if at.model().is_values(document) {
        return values::complete(at, known);
    }
    if at.model().is_schema(document) {
        return Vec::new();
    }
    manifest::complete(at)
}

fn project_file(at: Cursor<'_>) -> Vec<Completion> {
    let (parent, column) = at.surroundings();
    let path = parent.filter(|_| column > 0).map(|parent| at.model().path(parent)).unwrap_or_default();
    if values::value_item(at).is_some() {
        return Vec::new();
    }
    let range = values::key_range(at);
    let given = values::given_keys(at, parent.filter(|_| column > 0));
    let keys = config::keys_at(&path).iter().filter(|key| !given.iter().any(|given| given == key.name));
    keys.map(|key| {
        let item = Completion::new(key.name, CompletionKind::Field, range);
        item.text(format!("{}: ", key.name)).documentation(key.about)
    })
    .collect()
}
