//! JSON lines: one object for each problem, with all its details.
//!
//! The format is public. Lines and columns count from 1, columns count characters, offsets count
//! bytes from 0, and ends are exclusive.

mod writer;

use super::Report;
use super::resolved::{Point, Resolved, ResolvedFix, ResolvedFrame, ResolvedLabel, SourceRange};
use crate::{Path, Role, Sources, Step};

pub(super) use writer::{ObjectWriter, array, quoted};

pub(super) fn render(report: &Report<'_>) -> String {
    report.resolved().iter().map(|problem| line(problem, report.sources) + "\n").collect()
}

/// A line for other messages: text that code printed, or debug output.
pub fn note(kind: &str, text: &str) -> String {
    ObjectWriter::new().text("severity", "note").text("kind", kind).text("message", text).finish() + "\n"
}

fn line(problem: &Resolved, sources: &Sources) -> String {
    let mut object = ObjectWriter::new()
        .text("severity", problem.severity.name())
        .text("kind", problem.id.kind().name())
        .text("id", problem.id.name())
        .text("message", &problem.message);
    object = details(object, problem);
    for (name, role) in [("from", Role::Problem), ("by", Role::Rule)] {
        if let Some(range) = problem.place(role) {
            let place = ObjectWriter::new().text("file", &range.file).number("line", range.start.line);
            object = object.raw(name, &place.finish());
        }
    }
    if let Some(range) = problem.range() {
        object = object.raw("range", &range_object(range).finish());
    }
    object
        .list("labels", problem.labels.iter().map(label_object).collect())
        .list("help", problem.helps.iter().map(|help| quoted(&help.text)).collect())
        .list("fixes", problem.file_fixes(sources).into_iter().map(fix_object).collect())
        .list("frames", problem.frames.iter().map(frame_object).collect())
        .list("data_values", problem.data_values.iter().map(|path| quoted(&path.to_string())).collect())
        .finish()
}

/// Adds the fields that are not positions, if they are known.
pub(super) fn details(mut object: ObjectWriter, problem: &Resolved) -> ObjectWriter {
    if let Some(path) = &problem.path {
        object = object.text("path", &path.shown()).raw("path_items", &path_items(path));
    }
    let texts = [("mustBe", &problem.must_be), ("expected", &problem.expected), ("found", &problem.found)];
    for (name, text) in texts {
        if let Some(text) = text {
            object = object.text(name, text);
        }
    }
    let hints = problem.hints().map(|hint| quoted(hint)).collect();
    object.list("hints", hints).list("notes", problem.notes.iter().map(|note| quoted(note)).collect())
}

fn path_items(path: &Path) -> String {
    array(path.steps().iter().map(|step| match step {
        Step::Key(key) => quoted(key),
        Step::Index(index) => index.to_string(),
    }))
}

fn range_object(range: &SourceRange) -> ObjectWriter {
    let point = |point: Point| {
        let object = ObjectWriter::new().number("line", point.line).number("column", point.column);
        object.number("offset", point.offset).finish()
    };
    ObjectWriter::new().text("file", &range.file).raw("start", &point(range.start)).raw("end", &point(range.end))
}

fn label_object(label: &ResolvedLabel) -> String {
    range_object(&label.range).text("text", &label.text).text("role", label.role.name()).finish()
}

fn fix_object(fix: &ResolvedFix) -> String {
    let edits = fix.edits.iter().map(|(range, text)| range_object(range).text("replacement", text).finish());
    ObjectWriter::new().text("title", &fix.title).raw("edits", &array(edits)).finish()
}

fn frame_object(frame: &ResolvedFrame) -> String {
    let mut object = ObjectWriter::new();
    if let Some(name) = &frame.name {
        object = object.text("name", name);
    }
    let start = frame.range.start;
    object.text("file", &frame.range.file).number("line", start.line).number("column", start.column).finish()
}
