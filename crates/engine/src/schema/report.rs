//! The blocks that say what is wrong with a schema or with data values of the wrong type.
//!
//! A block shows the source lines of the node and of the annotations in question, what was found, what was expected and
//! hints. Texts are built when a run fails, never before.

use ytterby_diag::{Diagnostic, Kind, Pos, Severity};

use crate::api::Failure;
use crate::run::Run;

/// One block.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// A line above the excerpt.
    pub about: Option<String>,
    /// Annotations whose lines are shown too.
    pub annotations: Vec<Pos>,
    /// The node.
    pub pos: Pos,
    /// Where it came from, if it stands in no source.
    pub call: Pos,
    /// What to show in place of source lines.
    pub shown: Shown,
    pub found: String,
    pub expected: String,
    pub hints: Vec<String>,
    /// Hints that only the rich rendering shows.
    pub rich_hints: Vec<String>,
    pub kind: Kind,
    /// The data value in question.
    pub path: Option<String>,
    /// Where the type stands.
    pub by: Option<Pos>,
}

/// What a block shows of the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Its line.
    Source,
    /// This in place of its line.
    Line(String),
    /// Neither its file nor its line: the reference has none for a collection that is the whole value of a flag.
    Nowhere,
    /// The value, because code made it and no line holds it.
    Calculated(String),
}

impl Block {
    /// A block about the node at `pos`.
    pub fn at(pos: Pos, found: impl Into<String>, expected: impl Into<String>) -> Block {
        Block {
            about: None,
            annotations: Vec::new(),
            pos,
            call: Pos::UNKNOWN,
            shown: Shown::Source,
            found: found.into(),
            expected: expected.into(),
            hints: Vec::new(),
            rich_hints: Vec::new(),
            kind: Kind::Schema,
            path: None,
            by: None,
        }
    }

    pub fn about(mut self, text: impl Into<String>) -> Block {
        self.about = Some(text.into());
        self
    }

    pub fn annotation(mut self, pos: Pos) -> Block {
        self.annotations.push(pos);
        self
    }

    pub fn hint(mut self, text: impl Into<String>) -> Block {
        self.hints.push(text.into());
        self
    }

    /// A hint that only rich messages and machine formats show.
    pub fn rich_hint(mut self, text: impl Into<String>) -> Block {
        self.rich_hints.push(text.into());
        self
    }

    /// The failure of one block under a title.
    pub fn under(self, run: &Run, title: &str) -> Failure {
        failure(run, title, &[self])
    }

    /// The path, for rich messages, where the line alone does not tell it.
    fn path_to_show(&self, run: &Run) -> Option<&str> {
        let path = self.path.as_deref().filter(|path| run.options.rich && *path != "(document)")?;
        let line = match &self.shown {
            Shown::Source => source_text(run, self.pos),
            Shown::Line(line) | Shown::Calculated(line) => line.clone(),
            Shown::Nowhere => String::new(),
        };
        let tells = line.trim_start().strip_prefix(path).is_some_and(|rest| rest.starts_with([':', '=']));
        (!tells).then_some(path)
    }

    fn diagnostic(&self, title: &str) -> Diagnostic {
        let what = match (&self.about, self.kind) {
            (Some(about), _) => about.clone(),
            (None, Kind::Schema) => title.to_owned(),
            (None, _) => format!("expected {}, found {}", bare(&self.expected), self.found),
        };
        let message = match &self.path {
            Some(path) => format!("{path}: {what}"),
            None => what,
        };
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Diagnostic {
            path: self.path.clone(),
            expected: text(bare(&self.expected)),
            found: text(&self.found),
            from: [self.pos, self.call].into_iter().find(|pos| pos.is_known()),
            by: self.by.filter(|pos| pos.is_known()),
            hints: self.hints.iter().chain(&self.rich_hints).cloned().collect(),
            ..Diagnostic::new(Severity::Error, self.kind, message)
        }
    }
}

/// The text without the position behind it.
fn bare(expected: &str) -> &str {
    expected.split_once(" (by ").or_else(|| expected.split_once(" (from ")).map_or(expected, |(text, _)| text)
}

/// The failure that these blocks make under a title.
pub(crate) fn failure(run: &Run, title: &str, blocks: &[Block]) -> Failure {
    let mut failure = Failure::from(format!("\n{title}\n{}\n", "=".repeat(title.len())));
    append(run, &mut failure, title, blocks);
    failure.message.push_str("\n");
    failure
}

/// Adds blocks to a failure that has its title already.
pub(crate) fn append(run: &Run, failure: &mut Failure, title: &str, blocks: &[Block]) {
    let width = blocks.iter().map(|block| line_number(run, block.pos).len()).max().unwrap_or(0);
    for block in blocks {
        write(run, failure, block, width);
        failure.diagnostics.push(block.diagnostic(title));
    }
}

/// A failure of something inside, reported again under a title, as the reference does for nodes that may be null.
pub(crate) fn nested(title: &str, inner: Failure) -> Failure {
    let mut failure = inner.prefixed(&format!("\n{title}\n{}\n", "=".repeat(title.len())));
    failure.message.push_str(" \n\n");
    failure
}

fn write(run: &Run, failure: &mut Failure, block: &Block, width: usize) {
    use ytterby_diag::Note;
    let mut text = String::new();
    if let Some(about) = &block.about {
        text.push('\n');
        text.push_str(about);
    }
    let margin = |delimiter: &str, number: &str| format!("\n  {number:>width$} {delimiter}");
    if let Shown::Calculated(value) = &block.shown {
        text.push_str("\nData value calculated:");
        text.push_str(&margin("#", ""));
        text.push_str(&margin("#", ""));
        text.push(' ');
        text.push_str(value);
        text.push_str(&margin("#", ""));
    } else {
        text.push('\n');
        if block.shown != Shown::Nowhere {
            text.push_str(&file_name(run, block.pos));
        }
        text.push(':');
        text.push_str(&margin("|", ""));
        let mut lines = block.annotations.clone();
        lines.sort_by_key(|pos| run.sources.line(*pos));
        lines.push(block.pos);
        for (at, pos) in lines.iter().enumerate() {
            if at > 0 && !are_neighbours(run, lines[at - 1], *pos) {
                text.push_str(&margin("|", ""));
                text.push_str(" ...");
            }
            text.push_str(&margin("|", &line_number(run, *pos)));
            text.push(' ');
            match &block.shown {
                Shown::Line(line) if at + 1 == lines.len() => text.push_str(line),
                Shown::Nowhere => {}
                _ => text.push_str(&source_text(run, *pos)),
            }
        }
        text.push_str(&margin("|", ""));
    }
    text.push_str("\n\n");
    failure.message.push_str(&text);
    text.clear();
    let field = |name: &str, value: &str| format!("  {:>width$} = {name}: {value}", "");
    if let Some(path) = block.path_to_show(run) {
        failure.message.note(Note::Text(field("at", path)));
    }
    if !block.found.is_empty() {
        text.push_str(&field("found", &block.found));
    }
    text.push('\n');
    if !block.expected.is_empty() {
        text.push_str(&field("expected", &block.expected));
    }
    for hint in &block.hints {
        text.push('\n');
        text.push_str(&field("hint", hint));
    }
    text.push('\n');
    failure.message.push_str(&text);
    failure.message.shows([block.pos]);
    for hint in &block.rich_hints {
        failure.message.note(Note::Text(match hint.strip_prefix("merged:") {
            Some(merged) => format!("  {:>width$} = merged:{merged}", ""),
            None => field("hint", hint),
        }));
    }
}

fn line_number(run: &Run, pos: Pos) -> String {
    match run.sources.line(pos) {
        0 => "?".to_owned(),
        line => line.to_string(),
    }
}

fn file_name(run: &Run, pos: Pos) -> String {
    let name =
        |source: &ytterby_diag::Source| if run.options.rich { source.full_name() } else { source.name() }.to_owned();
    run.sources.get(pos.file).map_or_else(String::new, |source| name(&source))
}

fn are_neighbours(run: &Run, one: Pos, other: Pos) -> bool {
    one.is_known()
        && other.is_known()
        && one.file == other.file
        && run.sources.line(one).abs_diff(run.sources.line(other)) <= 1
}

/// The line of a position; of a flag the whole value, which may have several.
pub(crate) fn source_text(run: &Run, pos: Pos) -> String {
    let Some(source) = run.sources.get(pos.file) else { return String::new() };
    if source.name().starts_with('(') {
        return String::from_utf8_lossy(source.text()).into_owned();
    }
    let line =
        if run.options.cut_lines { source.excerpt(pos.offset) } else { source.line_text(source.line(pos.offset)) };
    line.unwrap_or_default()
}
