//! ytt's text: warnings line by line, then the error, to the letter.
//!
//! This is the only module that knows ytt's layouts: the list of calls under `- message`, the
//! blocks with a ruler under their title, the violations with `from:` and `must be:`. The cases
//! below `tests/cases`, recorded from the reference, pin it.

mod code;
mod schema;
mod spread;
mod violations;

pub(super) use code::with_commas;

use super::Report;
use crate::diagnostic::one_line;
use crate::{Cause, Context, Diagnostic, Failure, PlaceNames, Sources, Text};

pub(super) fn render(report: &Report<'_>) -> String {
    let mut out = String::new();
    for warning in report.warnings().filter(|warning| !warning.beyond_text) {
        out.push_str(&format!("{}: Warning: {}\n", report.program, warning_line(warning, report.sources)));
    }
    if let Some(failure) = report.failure {
        out.push_str(&format!("{}: Error: ", report.program));
        spread::spread_into(&mut out, &text(failure, report.sources));
        out.push('\n');
    }
    out
}

/// The text of a failure, after `Error: `, before ytt's last layout step (`spread`).
pub fn text(failure: &Failure, sources: &Sources) -> String {
    let mut out = String::new();
    write(&mut out, failure, sources);
    out
}

fn write(out: &mut String, failure: &Failure, sources: &Sources) {
    write_contexts(out, failure, sources);
    write_cause(out, failure, sources);
}

fn write_contexts(out: &mut String, failure: &Failure, sources: &Sources) {
    let begins_line = matches!(failure.cause(), Cause::Code(_) | Cause::Schema(_) | Cause::Nested(..));
    let contexts = failure.contexts();
    for (at, context) in contexts.iter().enumerate().rev() {
        let (text, end) = match context {
            Context::Doing(text) => (text, ": "),
            Context::Stage(text) if at == 0 && begins_line => (text, ":"),
            Context::Stage(text) => (text, ":\n"),
        };
        push(out, text, sources);
        out.push_str(end);
    }
}

fn write_cause(out: &mut String, failure: &Failure, sources: &Sources) {
    match failure.cause() {
        Cause::Problem(diagnostic) => {
            push(out, diagnostic.reference.as_ref().unwrap_or(&diagnostic.message), sources);
            // ytt has no limits, so its layout has no place for where they were reached.
            let is_limit = diagnostic.id.limit().is_some() && diagnostic.reference.is_none();
            if let Some(label) = diagnostic.problem_label().filter(|label| is_limit && label.pos.is_known()) {
                out.push_str(&format!(" at {}", sources.locate(label.pos)));
            }
        }
        Cause::Code(problems) => code::write_all(out, problems, sources),
        Cause::Schema(report) => schema::write(out, report, sources),
        Cause::Nested(title, inner) => {
            schema::write_title(out, title);
            write(out, inner, sources);
            out.push_str(" \n\n");
        }
        Cause::Violations(blocks) => blocks.iter().for_each(|block| violations::write(out, block, sources)),
        Cause::StrictAnnotations(diagnostics, _) => {
            out.push_str("Strict annotations:");
            for diagnostic in diagnostics {
                let at = diagnostic.primary().map_or_else(|| "?".to_owned(), |label| sources.locate(label.pos));
                let message = diagnostic.message.shown(sources, PlaceNames::Reference);
                out.push_str(&format!("\n  - {message} ({at})"));
            }
        }
        Cause::Series(failures) => {
            for (number, failure) in failures.iter().enumerate() {
                let mut text = String::new();
                write(&mut text, failure, sources);
                if number > 0 && !out.ends_with('\n') && !text.starts_with('\n') {
                    out.push('\n');
                }
                out.push_str(&text);
            }
        }
    }
}

fn push(out: &mut String, text: &Text, sources: &Sources) {
    text.write(out, sources, PlaceNames::Reference);
}

/// The text of a warning and its position.
fn warning_line(warning: &Diagnostic, sources: &Sources) -> String {
    let message = warning.reference.as_ref().unwrap_or(&warning.message);
    let message = one_line(&message.shown(sources, PlaceNames::Reference));
    let source = warning.primary().and_then(|label| Some((sources.get(label.pos.file)?, label.pos)));
    match source {
        Some((source, pos)) => {
            format!("{message} ({}:{})", without_parentheses(source.full_name()), source.line(pos.offset))
        }
        None => message,
    }
}

/// `(data-value arg)` without its parentheses, since it is written inside of others.
fn without_parentheses(name: &str) -> String {
    match name.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((inside, behind)) => format!("{inside}{behind}"),
        None => name.to_owned(),
    }
}
