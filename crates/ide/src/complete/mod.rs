//! Completion.
//!
//! The position of the cursor decides which module answers: the project file (here), values
//! (`values`), code (`code`) or Kubernetes manifests (`manifest`).

pub(crate) use code::{is_loadable_file, load_line, relative, symbol_load_line};

mod code;
mod manifest;
mod values;

use crate::TextRange;
use crate::config;
use crate::context::{Cursor, Knowledge};
use crate::file;

/// The kind of a completion, for its icon.
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
    /// A keyword.
    Keyword,
    /// Several lines with placeholders.
    Snippet,
    /// A file or directory.
    File,
    /// One of several values.
    Value,
}

/// A completion.
#[derive(Clone, PartialEq, Debug)]
pub struct Completion {
    /// Its text in the list.
    pub label: String,
    /// Its kind.
    pub kind: CompletionKind,
    /// A short description.
    pub detail: String,
    /// A long description, as Markdown.
    pub documentation: String,
    /// The range to replace.
    pub range: TextRange,
    /// The replacement.
    pub text: String,
    /// Whether the text contains placeholders in snippet syntax.
    pub is_snippet: bool,
    /// Whether it is deprecated.
    pub is_deprecated: bool,
    /// Its rank in the list; equal ranks are sorted by label.
    pub rank: u8,
    /// An additional edit: inserts a text at an offset.
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

/// The completions at the cursor.
pub fn complete(at: Cursor<'_>, known: Knowledge<'_>) -> Vec<Completion> {
    if file::is_project_file(&at.file.path) {
        return if is_in_comment(at) { Vec::new() } else { project_file(at) };
    }
    if at.is_values_file() {
        return if is_in_comment(at) { Vec::new() } else { values::complete(at, known) };
    }
    if !at.is_template() {
        return Vec::new();
    }
    if let Some(found) = code::complete(at, known) {
        return found;
    }
    let document = at.document();
    if is_in_comment(at) {
        return Vec::new();
    }
    if at.model().is_values(document) {
        return values::complete(at, known);
    }
    if at.model().is_schema(document) {
        return Vec::new();
    }
    manifest::complete(at)
}

/// Whether the cursor is in a comment of YAML.
fn is_in_comment(at: Cursor<'_>) -> bool {
    let lines = &at.model().lines;
    let before = &at.text()[lines.start(lines.line_of(at.offset))..at.offset];
    let mut quote = None;
    let mut last = ' ';
    for c in before.chars() {
        match (quote, c) {
            (None, '#') if last.is_whitespace() => return true,
            (None, '"' | '\'') if last.is_whitespace() || matches!(last, '[' | '{' | ',') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            _ => {}
        }
        last = c;
    }
    false
}

/// A key and what follows it, where the rest of the line does not have its colon already.
fn key_item(at: Cursor<'_>, key: &str, after: &str, range: TextRange) -> Completion {
    let rest = &at.text()[range.end..];
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let word = rest.len() - rest.trim_start_matches(is_key).len();
    let item = Completion::new(key, CompletionKind::Field, range);
    match rest[word..].starts_with(':') {
        true => Completion { range: TextRange::new(range.start, range.end + word), ..item },
        false => item.text(format!("{key}:{after}")),
    }
}

fn project_file(at: Cursor<'_>) -> Vec<Completion> {
    let model = at.model();
    if let Some(found) = project_value(at) {
        return found;
    }
    if let Some(found) = values::set_members(at) {
        return found;
    }
    let (path, given) = match values::flow_place(at) {
        Some((owner, true)) => {
            (owner.map(|owner| model.path(owner)).unwrap_or_default(), values::given_keys(at, owner))
        }
        Some((_, false)) => return Vec::new(),
        None if values::value_item(at).is_some() => return Vec::new(),
        None => {
            let (parent, column) = at.surroundings();
            let parent = parent.filter(|_| column > 0);
            (parent.map(|parent| model.path(parent)).unwrap_or_default(), values::given_keys(at, parent))
        }
    };
    let range = values::key_range(at);
    if let [Some("set"), rest @ ..] | [Some("targets"), Some(_), Some("set"), rest @ ..] = &path[..] {
        return values::set_keys(at, rest, &given, range);
    }
    let keys = config::keys_at(&path).iter().filter(|key| !given.iter().any(|given| given == key.name));
    keys.map(|key| key_item(at, key.name, " ", range).documentation(key.about)).collect()
}

/// Paths and versions in the project file; `None` if the cursor is not in such a value.
fn project_value(at: Cursor<'_>) -> Option<Vec<Completion>> {
    let (model, text) = (at.model(), at.text());
    let line = model.lines.range(text, model.lines.line_of(at.offset));
    let before = &text[line.start..at.offset];
    let in_flow = model.items.iter().rposition(|item| {
        let value = item.value.of(text);
        let is_open = at.offset < item.value.end || !value.ends_with(']') && at.offset == item.value.end;
        value.starts_with('[') && item.value.start < at.offset && is_open
    });
    let own_dash = || {
        let (own, _) = at.surroundings();
        own.filter(|own| model.items[*own].is_array_item && before.trim_start().starts_with('-'))
    };
    let item = in_flow.or_else(own_dash).or_else(|| values::value_item(at))?;
    let path = model.path(item);
    let last = path.iter().rev().flatten().next()?;
    let is_place = match &path[..] {
        [_] | [_, None] => true,
        [Some("targets"), Some(_), rest @ ..] => matches!(rest, [Some(_)] | [Some(_), None]),
        _ => false,
    };
    if !is_place {
        return None;
    }
    let start = before.rfind(['[', ',', ' ', '"', '\'']).map_or(0, |at| at + 1);
    let range = TextRange::new(line.start + start, at.offset);
    match *last {
        "files" | "values" | "tests" | "schemas" => Some(project_paths(at, *last == "values", range)),
        "kubernetes" => {
            let versions = ytterby_kubernetes::Version::all().map(|version| format!("\"{version}\""));
            Some(versions.map(|version| Completion::new(version, CompletionKind::Value, range)).collect())
        }
        _ => None,
    }
}

/// The files and directories of a project, relative to its project file.
fn project_paths(at: Cursor<'_>, only_files: bool, range: TextRange) -> Vec<Completion> {
    const MAX: usize = 500;
    let system = &at.project.system;
    let mut found = Vec::new();
    let mut open = vec![(String::new(), 0)];
    while let Some((directory, depth)) = open.pop() {
        let mut entries = system.list(&file::join(&at.project.root, &directory));
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        for entry in entries.into_iter().filter(|entry| !entry.name.starts_with('.')) {
            let path = if directory.is_empty() { entry.name } else { format!("{directory}/{}", entry.name) };
            let is_input = file::is_input(&path) && !file::is_project_file(&path);
            let is_wanted = if entry.is_directory { !only_files } else { is_input };
            if is_wanted && found.len() < MAX {
                let detail = if entry.is_directory { "directory" } else { "file" };
                found.push(Completion::new(&path, CompletionKind::File, range).detail(detail));
            }
            if entry.is_directory && depth < 4 && found.len() < MAX {
                open.push((path, depth + 1));
            }
        }
    }
    found
}
