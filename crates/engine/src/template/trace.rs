//! How an error in a template's code is told: the message, then the calls with their source lines.

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Kind, Message, Note, Pos, Severity};
use ytterby_starlark::{Error, SyntaxError};

use super::advice;
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
    // What the engine carries has no secrets in it; what code says may.
    let message = match &carried {
        Some(inner) if !inner.diagnostics.is_empty() => inner.message.within(error.message()),
        _ => Message::new(run.hide(error.message().to_owned())),
    };
    let hint = push_block(run, &mut failure, &message, &frames, is_own);
    match carried {
        Some(inner) if !inner.diagnostics.is_empty() => {
            failure.diagnostics.clone_from(&inner.diagnostics);
            for inner in failure.diagnostics.iter_mut().filter(|inner| is_placeless(inner)) {
                let placed = diagnostic(error.message(), frames.first().map(|frame| frame.1), None);
                inner.from = placed.from;
                if inner.path.is_none() {
                    inner.message = placed.message;
                }
            }
            failure.message.shows(inner.message.shown().iter().copied());
        }
        _ => failure.diagnostics.push(diagnostic(message.text(), frames.first().map(|frame| frame.1), hint)),
    }
    failure
}

/// The failure that a program could not even be run.
pub(crate) fn failure_of_syntax(run: &Run, errors: &[SyntaxError], is_own: &dyn Fn(Pos) -> bool) -> Failure {
    let mut failure = Failure::new("");
    for error in errors {
        let message = Message::new(&*error.message);
        let hint = push_block(run, &mut failure, &message, &[(None, error.pos)], is_own);
        let mut diagnostic = diagnostic(&error.message, Some(error.pos), hint);
        if let Some(advice) = advice::about_annotation(run, error) {
            failure.message.note(Note::Text(format!("    = hint: {advice}")));
            diagnostic.hints.push(advice);
        }
        failure.diagnostics.push(diagnostic);
    }
    failure
}

/// The error that carries a failure through a running program.
pub(crate) fn error_of_failure(failure: Failure) -> Error {
    Error::new(failure.message.text()).with_payload(Rc::new(failure))
}

/// Whether a diagnostic says nothing about where it comes from: the code that it passes does.
fn is_placeless(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error && diagnostic.from.is_none() && diagnostic.by.is_none()
}

fn diagnostic(message: &str, pos: Option<Pos>, hint: Option<&str>) -> Diagnostic {
    let first_line = message.lines().next().unwrap_or_default();
    let from = pos.filter(|pos| pos.is_known());
    let hints = hint.map(str::to_owned).into_iter().collect();
    Diagnostic { from, hints, ..Diagnostic::new(Severity::Error, Kind::Other, first_line) }
}

/// Appends the message with its notes and the calls, and tells the hint that it gave.
fn push_block(
    run: &Run,
    failure: &mut Failure,
    message: &Message,
    frames: &[(Option<String>, Pos)],
    is_own: &dyn Fn(Pos) -> bool,
) -> Option<&'static str> {
    let shown: Vec<_> = frames.iter().map(|(name, pos)| (name, *pos, run.show_line(*pos, is_own(*pos)))).collect();
    let hint = hint(message.text(), shown.iter().flat_map(|(_, _, lines)| lines));
    let out = &mut failure.message;
    let mut lines = message.lines();
    let (topic, notes) = lines.next().expect("every text has a first line");
    out.push_str(&format!("\n- {topic}"));
    if let Some(hint) = hint {
        out.push_str(&format!(" (hint: {hint})"));
    }
    notes.into_iter().for_each(|note| out.note(note.clone()));
    for (name, _, lines) in &shown {
        if lines.is_empty() {
            continue;
        }
        let indent = match name {
            Some(name) => {
                out.push_str(&format!("\n    in {name}"));
                "      "
            }
            None => "    ",
        };
        for line in lines {
            out.push_str(&format!("\n{indent}{line}"));
        }
    }
    for (number, (line, notes)) in lines.enumerate() {
        out.push_str(if number == 0 { "\n\n    reason:\n     " } else { "\n     " });
        out.push_str(line);
        notes.into_iter().for_each(|note| out.note(note.indented("     ")));
    }
    out.shows(shown.iter().filter(|(_, _, lines)| !lines.is_empty()).map(|(_, pos, _)| *pos));
    hint
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
