//! JSON lines, and the little JSON writer that the machine-readable renderings need.

use ytterby_text::quote;

use super::Report;
use crate::message::one_line;
use crate::{Diagnostic, Pos, Sources};

pub(super) fn render(report: &Report<'_>) -> String {
    let entries = report.entries();
    entries.iter().map(|entry| line(entry, report.sources).finish() + "\n").collect()
}

/// A line for what is no problem: something that code printed, or what `--debug` says.
pub fn note(kind: &str, text: &str) -> String {
    let mut object = Object::new();
    object.text("severity", "note");
    object.text("kind", kind);
    object.text("message", text);
    object.finish() + "\n"
}

fn line(diagnostic: &Diagnostic, sources: &Sources) -> Object {
    let mut object = Object::new();
    object.text("severity", diagnostic.severity.name());
    object.text("kind", diagnostic.kind.name());
    object.text("message", &one_line(&diagnostic.message));
    details(&mut object, diagnostic);
    for (name, pos) in [("from", diagnostic.from), ("by", diagnostic.by)] {
        if let Some((file, line)) = pos.and_then(|pos| place(pos, sources)) {
            let mut place = Object::new();
            place.text("file", &file);
            place.raw("line", &line.to_string());
            object.raw(name, &place.finish());
        }
    }
    object
}

/// The fields that are not positions, where they are known.
pub(super) fn details(object: &mut Object, diagnostic: &Diagnostic) {
    let fields = [
        ("path", &diagnostic.path),
        ("mustBe", &diagnostic.must_be),
        ("expected", &diagnostic.expected),
        ("found", &diagnostic.found),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            object.text(name, value);
        }
    }
    if !diagnostic.hints.is_empty() {
        let hints: Vec<String> = diagnostic.hints.iter().map(|hint| quoted(hint)).collect();
        object.raw("hints", &format!("[{}]", hints.join(",")));
    }
}

/// File and line of a position that is in a source. Programs that read this open the file, so it is where it lies.
pub(super) fn place(pos: Pos, sources: &Sources) -> Option<(String, u32)> {
    let source = sources.get(pos.file)?;
    Some((source.place().to_owned(), source.line(pos.offset)))
}

/// A JSON object being written.
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Object {
        Object("{".to_owned())
    }

    pub(super) fn text(&mut self, name: &str, value: &str) {
        self.raw(name, &quoted(value));
    }

    /// A field whose value is JSON already.
    pub(super) fn raw(&mut self, name: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(name));
        self.0.push(':');
        self.0.push_str(value);
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A JSON string.
fn quoted(text: &str) -> String {
    // Line separators are legal in JSON but end a line for many readers of JSON lines.
    let is_unfit = |c: char| c.is_ascii_control() || matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    quote::literal('"', text, |c| is_unfit(c).then(|| quote::unicode_escape(c)))
}
