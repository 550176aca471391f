//! SARIF 2.1.0, the log format of static analysis tools.
//!
//! A report is one log with one run, a rule for each id that occurs, and a result for each problem.

use ytterby_text::url;

use super::Report;
use super::json::{ObjectWriter, array, details};
use super::resolved::{Resolved, ResolvedFix, SourceRange};
use crate::{Id, Sources};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(super) fn render(report: &Report<'_>) -> String {
    let problems = report.resolved();
    let mut rules: Vec<Id> = problems.iter().map(|problem| problem.id).collect();
    rules.sort_by_key(|id| id.name());
    rules.dedup();
    let driver = ObjectWriter::new()
        .text("name", report.program)
        .text("version", report.version)
        .text("informationUri", crate::HELP_BASE)
        .raw("rules", &array(rules.iter().map(|id| rule(*id))));
    let tool = ObjectWriter::new().raw("driver", &driver.finish());
    let mut run = ObjectWriter::new().raw("tool", &tool.finish()).text("columnKind", "unicodeCodePoints");
    if !report.printed.is_empty() {
        run = run.raw("invocations", &array([invocation(report)]));
    }
    let run = run.raw("results", &array(problems.iter().map(|problem| result(problem, &rules, report.sources))));
    let log = ObjectWriter::new().text("$schema", SCHEMA).text("version", "2.1.0").raw("runs", &array([run.finish()]));
    log.finish() + "\n"
}

/// The invocation of the program, with the text it printed.
fn invocation(report: &Report<'_>) -> String {
    let notification = ObjectWriter::new().text("level", "note").raw("message", &text_object(report.printed));
    ObjectWriter::new()
        .raw("executionSuccessful", if report.failure.is_none() { "true" } else { "false" })
        .raw("toolExecutionNotifications", &array([notification.finish()]))
        .finish()
}

fn rule(id: Id) -> String {
    ObjectWriter::new()
        .text("id", id.name())
        .raw("shortDescription", &text_object(id.title()))
        .text("helpUri", &id.help_uri())
        .finish()
}

fn result(problem: &Resolved, rules: &[Id], sources: &Sources) -> String {
    let mut result = ObjectWriter::new().text("ruleId", problem.id.name());
    if let Some(index) = rules.iter().position(|id| *id == problem.id) {
        result = result.number("ruleIndex", index as u64);
    }
    result = result.text("level", problem.severity.name()).raw("message", &text_object(&problem.message));
    let mut places = problem.labels.iter();
    if let Some(primary) = places.next() {
        result = result.raw("locations", &array([location(&primary.range, &primary.text)]));
    }
    let related = places.map(|label| location(&label.range, &label.text)).collect();
    let fixes = problem.file_fixes(sources).into_iter().map(fix_object).collect();
    let properties = details(ObjectWriter::new().text("kind", problem.id.kind().name()), problem).finish();
    result.list("relatedLocations", related).list("fixes", fixes).raw("properties", &properties).finish()
}

fn location(range: &SourceRange, text: &str) -> String {
    let physical =
        ObjectWriter::new().raw("artifactLocation", &artifact(&range.file)).raw("region", &region(range)).finish();
    let location = ObjectWriter::new().raw("physicalLocation", &physical);
    if text.is_empty() { location.finish() } else { location.raw("message", &text_object(text)).finish() }
}

fn artifact(file: &str) -> String {
    ObjectWriter::new().text("uri", &url::reference(file)).finish()
}

fn region(range: &SourceRange) -> String {
    ObjectWriter::new()
        .number("startLine", range.start.line)
        .number("startColumn", range.start.column)
        .number("endLine", range.end.line)
        .number("endColumn", range.end.column)
        .finish()
}

/// A fix: the edits of each file together.
fn fix_object(fix: &ResolvedFix) -> String {
    let mut files: Vec<(&str, Vec<String>)> = Vec::new();
    for (range, text) in &fix.edits {
        let replacement = ObjectWriter::new()
            .raw("deletedRegion", &region(range))
            .raw("insertedContent", &text_object(text))
            .finish();
        match files.iter_mut().find(|(file, _)| *file == range.file) {
            Some((_, replacements)) => replacements.push(replacement),
            None => files.push((&range.file, vec![replacement])),
        }
    }
    let change = |(file, replacements): (&str, Vec<String>)| {
        ObjectWriter::new().raw("artifactLocation", &artifact(file)).raw("replacements", &array(replacements)).finish()
    };
    ObjectWriter::new()
        .raw("description", &text_object(&fix.title))
        .raw("artifactChanges", &array(files.into_iter().map(change)))
        .finish()
}

fn text_object(text: &str) -> String {
    ObjectWriter::new().text("text", text).finish()
}
