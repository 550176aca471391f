//! How an error in a template's code is told: the message, then the calls with their source lines.

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Kind, Note, Pos, Severity};
use ytterby_starlark::{Error, SyntaxError};

use crate::api::Failure;
use crate::run::Run;

/// The failure that a running program ended with. `is_own` tells the files whose lines may be shown.
pub(crate) fn failure_of_error(run: &Run, error: &Error, is_own: &dyn Fn(Pos) -> bool) -> Failure {
    let carried = error.payload().and_then(|payload| payload.clone().downcast::<Failure>().ok());
    // A report of violations names the calling line itself where that is the line of the rules.
    let is_named = |pos: Pos| {
        carried.as_ref().is_some_and(|inner| {
            let mut diagnostics = inner.diagnostics.iter();
            diagnostics.any(|inner| inner.kind == Kind::Validation && inner.by == Some(pos) && inner.from == Some(pos))
        })
    };
    let frames = error.frames().iter().filter(|frame| !is_named(frame.pos));
    let frames: Vec<_> = frames.map(|frame| (Some(frame.name.to_str().into_owned()), frame.pos)).collect();
    let mut failure = Failure::new("");
    push_block(run, &mut failure, error.message(), &frames, is_own);
    match carried {
        Some(inner) if !inner.diagnostics.is_empty() => {
            failure.diagnostics = inner.diagnostics.clone();
            failure.message.shows(inner.message.shown().iter().copied());
        }
        _ => failure.diagnostics.push(diagnostic(error.message(), frames.first().map(|frame| frame.1))),
    }
    failure
}

/// The failure that a program could not even be run.
pub(crate) fn failure_of_syntax(run: &Run, errors: &[SyntaxError], is_own: &dyn Fn(Pos) -> bool) -> Failure {
    let mut failure = Failure::new("");
    for error in errors {
        push_block(run, &mut failure, &error.message, &[(None, error.pos)], is_own);
        if run.options.rich && lacks_comma(run, error) {
            failure.message.note(Note::Text("    = hint: missing comma between arguments?".to_owned()));
        }
        failure.diagnostics.push(diagnostic(&error.message, Some(error.pos)));
    }
    failure
}

/// Whether an annotation's arguments seem to lack a comma.
fn lacks_comma(run: &Run, error: &SyntaxError) -> bool {
    let is_annotation = |line: String| line.trim_start().starts_with("#@") && !line.trim_start().starts_with("#@ ");
    error.message.starts_with("got ")
        && error.message.ends_with("want ','")
        && run.sources.line_text(error.pos).is_some_and(is_annotation)
}

/// The error that carries a failure through a running program.
pub(crate) fn error_of_failure(failure: Failure) -> Error {
    Error::new(failure.message.text()).with_payload(Rc::new(failure))
}

fn diagnostic(message: &str, pos: Option<Pos>) -> Diagnostic {
    let first_line = message.lines().next().unwrap_or_default();
    let from = pos.filter(|pos| pos.is_known());
    Diagnostic { from, ..Diagnostic::new(Severity::Error, Kind::Other, first_line) }
}

fn push_block(
    run: &Run,
    failure: &mut Failure,
    message: &str,
    frames: &[(Option<String>, Pos)],
    is_own: &dyn Fn(Pos) -> bool,
) {
    let (topic, rest) = message.split_once('\n').map_or((message, None), |(topic, rest)| (topic, Some(rest)));
    let shown: Vec<_> = frames.iter().map(|(name, pos)| (name, *pos, run.show_line(*pos, is_own(*pos)))).collect();
    let hint = hint(message, shown.iter().flat_map(|(_, _, lines)| lines)).map(|hint| format!(" (hint: {hint})"));
    let mut text = format!("\n- {topic}{}", hint.unwrap_or_default());
    for (name, _, lines) in &shown {
        if lines.is_empty() {
            continue;
        }
        let indent = match name {
            Some(name) => {
                text.push_str(&format!("\n    in {name}"));
                "      "
            }
            None => "    ",
        };
        for line in lines {
            text.push_str(&format!("\n{indent}{line}"));
        }
    }
    if let Some(rest) = rest {
        text.push_str("\n\n    reason:");
        for line in rest.split('\n') {
            text.push_str(&format!("\n     {line}"));
        }
    }
    failure.message.push_str(&text);
    failure.message.shows(shown.iter().filter(|(_, _, lines)| !lines.is_empty()).map(|(_, pos, _)| *pos));
}

/// What people who know other languages stumble over.
fn hint<'a>(message: &str, mut lines: impl Iterator<Item = &'a String>) -> Option<&'static str> {
    Some(match message {
        "undefined: true" => "use 'True' instead of 'true' for boolean assignment",
        "undefined: false" => "use 'False' instead of 'false' for boolean assignment",
        "got newline, want ':'" => "missing colon at the end of 'if/for/def' statement?",
        "undefined: null" => "use 'None' instead of 'null' to indicate no value",
        "undefined: nil" => "use 'None' instead of 'nil' to indicate no value",
        "undefined: none" => "use 'None' instead of 'none' to indicate no value",
        "unhandled index operation struct[string]" => "use getattr(...) to access struct field programmatically",
        "got '&', want primary expression" if lines.any(|line| line.contains("&&")) => {
            "use 'and' instead of '&&' for logical-and"
        }
        "got '|', want primary expression" if lines.any(|line| line.contains("||")) => {
            "use 'or' instead of '||' for logical-or"
        }
        _ => {
            let operands = message.strip_prefix("unknown binary op: ")?;
            if operands.contains('\n') {
                return None;
            } else if operands.contains(" | ") {
                "use 'or' instead of '|' for logical-or"
            } else if operands.contains(" & ") {
                "use 'and' instead of '&' for logical-and"
            } else {
                return None;
            }
        }
    })
}
