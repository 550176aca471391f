//! How an error in a template's code is told: the message, then the calls with their source lines.

use std::rc::Rc;

use ytterby_diag::{Diagnostic, Kind, Message, Note, Pos, Severity};
use ytterby_starlark::{Error, Frame, SyntaxError};

use super::lines::ShownLine;
use super::syntax_hint;
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
    let calls = Calls::of(error, is_named);
    let mut failure = Failure::new("");
    // What the engine carries has no secrets in it; what code says may.
    let message = match &carried {
        Some(inner) if !inner.diagnostics.is_empty() => inner.message.within(error.message()),
        _ => Message::new(run.hide(error.message().to_owned())),
    };
    let hint = push_block(run, &mut failure, &message, &calls, error.hint(), is_own);
    let place = calls.list.first().map(|call| call.pos);
    match carried {
        Some(inner) if !inner.diagnostics.is_empty() => {
            failure.diagnostics.clone_from(&inner.diagnostics);
            for inner in failure.diagnostics.iter_mut().filter(|inner| is_placeless(inner)) {
                let placed = diagnostic(error.message(), place, Vec::new());
                inner.from = placed.from;
                if inner.path.is_none() {
                    inner.message = placed.message;
                }
            }
            failure.message.shows(inner.message.shown().iter().copied());
        }
        _ => {
            let hints = hint.map(str::to_owned).into_iter().chain(error.hint().map(str::to_owned));
            failure.diagnostics.push(diagnostic(message.text(), place, hints.collect()));
        }
    }
    failure
}

/// The failure that a program could not even be run.
pub(crate) fn failure_of_syntax(run: &Run, errors: &[SyntaxError], is_own: &dyn Fn(Pos) -> bool) -> Failure {
    let mut failure = Failure::new("");
    for error in errors {
        let message = Message::new(&*error.message);
        let advice = syntax_hint::advise(run, error);
        let calls = Calls::one(Call { name: None, pos: error.pos, place: advice.place });
        let hint = push_block(run, &mut failure, &message, &calls, advice.hint.as_deref(), is_own);
        let hints = hint.map(str::to_owned).into_iter().chain(advice.hint);
        failure.diagnostics.push(diagnostic(&error.message, Some(advice.place), hints.collect()));
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

fn diagnostic(message: &str, pos: Option<Pos>, hints: Vec<String>) -> Diagnostic {
    let first_line = message.lines().next().unwrap_or_default();
    let from = pos.filter(|pos| pos.is_known());
    Diagnostic { from, hints, ..Diagnostic::new(Severity::Error, Kind::Other, first_line) }
}

/// The calls that messages list, innermost first.
struct Calls {
    list: Vec<Call>,
    /// How many were left out, and in front of which one.
    omitted: usize,
    omitted_before: usize,
}

/// One call.
struct Call {
    /// Its function; none where there is no call, but a place.
    name: Option<String>,
    /// The place that the reference shows.
    pos: Pos,
    /// Where it really is.
    place: Pos,
}

impl Calls {
    fn one(call: Call) -> Calls {
        Calls { list: vec![call], omitted: 0, omitted_before: 0 }
    }

    /// Those of an error, without some that need not be shown.
    fn of(error: &Error, is_named: impl Fn(Pos) -> bool) -> Calls {
        let (inner, omitted, outer) = error.calls();
        let calls = |frames: &[Frame]| -> Vec<Call> {
            let frames = frames.iter().filter(|frame| !is_named(frame.pos));
            let call =
                |frame: &Frame| Call { name: Some(frame.name.to_str().into_owned()), pos: frame.pos, place: frame.pos };
            frames.map(call).collect()
        };
        let mut list = calls(inner);
        let omitted_before = list.len();
        list.extend(calls(outer));
        Calls { list, omitted, omitted_before }
    }

    /// From a call on, those that repeat the first one or the first few: how many make up the pattern, and how many
    /// there are that need not be shown again.
    fn repetition(&self, from: usize, shown: &[Vec<ShownLine>]) -> Option<(usize, usize)> {
        let rest = || self.list.iter().zip(shown).map(|(call, lines)| (&call.name, lines)).skip(from);
        (1..=LONGEST_PATTERN).find_map(|length| {
            let same = rest().zip(rest().skip(length)).take_while(|(a, b)| a == b).count();
            let repeated = same - same % length;
            (repeated >= FOLDED).then_some((length, repeated))
        })
    }
}

/// How many functions may call each other in turn for their calls to be folded.
const LONGEST_PATTERN: usize = 4;

/// How many calls have to repeat the ones before to be folded.
const FOLDED: usize = 3;

/// Appends the message with its notes and the calls, and tells the hint that it gave. `remedy` is one that the
/// reference does not have.
fn push_block(
    run: &Run,
    failure: &mut Failure,
    message: &Message,
    calls: &Calls,
    remedy: Option<&str>,
    is_own: &dyn Fn(Pos) -> bool,
) -> Option<&'static str> {
    let show = |call: &Call| run.show_line(call.pos, is_own(call.pos));
    let shown: Vec<Vec<ShownLine>> = calls.list.iter().map(show).collect();
    let hint = hint(message.text(), shown.iter().flatten().map(|line| &line.text));
    let out = &mut failure.message;
    let mut lines = message.lines();
    let (topic, notes) = lines.next().expect("every text has a first line");
    out.push_str(&format!("\n- {topic}"));
    if let Some(hint) = hint {
        out.push_str(&format!(" (hint: {hint})"));
    }
    notes.into_iter().for_each(|note| out.note(note.clone()));
    // A place is followed by what to try; calls can be many, so it comes first.
    let is_place = calls.list.iter().all(|call| call.name.is_none());
    let mut remedy = remedy.map(|remedy| Note::Text(format!("    = hint: {}", run.hide(remedy.to_owned()))));
    if !is_place && let Some(remedy) = remedy.take() {
        out.note(remedy);
    }
    push_calls(run, out, calls, &shown);
    if let Some(remedy) = remedy {
        out.note(remedy);
    }
    for (number, (line, notes)) in lines.enumerate() {
        out.push_str(if number == 0 { "\n\n    reason:\n     " } else { "\n     " });
        out.push_str(line);
        notes.into_iter().for_each(|note| out.note(note.indented("     ")));
    }
    let is_shown = |(call, lines): (&Call, &Vec<ShownLine>)| (!lines.is_empty()).then_some([call.pos, call.place]);
    out.shows(calls.list.iter().zip(&shown).filter_map(is_shown).flatten());
    hint
}

/// Lists the calls with their lines. In the rich rendering, repeated ones are folded.
fn push_calls(run: &Run, out: &mut Message, calls: &Calls, shown: &[Vec<ShownLine>]) {
    // Up to which call there is nothing to show.
    let mut folded_to = 0;
    // From which call on that is so, and what is said instead.
    let mut fold: Option<(usize, String)> = None;
    for (at, (call, lines)) in calls.list.iter().zip(shown).enumerate() {
        if at >= folded_to
            && fold.is_none()
            && let Some((length, repeated)) = calls.repetition(at, shown)
        {
            let start = at + length;
            folded_to = start + repeated;
            let is_inside = (start..folded_to).contains(&calls.omitted_before);
            let count = (repeated + if is_inside { calls.omitted } else { 0 }) / length;
            let what = if length == 1 { "the same".to_owned() } else { format!("the same {length} calls") };
            fold = Some((start, format!("      … {what} {} times more", with_commas(count))));
        }
        let is_folded = fold.as_ref().is_some_and(|(start, _)| at >= *start) && at < folded_to;
        if calls.omitted > 0 && at == calls.omitted_before {
            out.push_str(&format!("\n    … {} calls more", with_commas(calls.omitted)));
            if is_folded {
                out.note(Note::Instead(String::new()));
            }
        }
        let said_instead = match &mut fold {
            Some((start, text)) if *start == at => std::mem::take(text),
            _ => String::new(),
        };
        push_call(run, out, call, lines, is_folded.then_some(said_instead));
        if at + 1 >= folded_to {
            fold = None;
        }
    }
}

/// One call with its lines; `instead` is what the rich rendering has for it if it is folded.
fn push_call(run: &Run, out: &mut Message, call: &Call, lines: &[ShownLine], instead: Option<String>) {
    if lines.is_empty() {
        return;
    }
    let mut indent = "    ";
    if let Some(name) = &call.name {
        out.push_str(&format!("\n    in {name}"));
        if let Some(text) = &instead {
            out.note(Note::Instead(text.clone()));
        }
        indent = "      ";
    }
    let real = if call.place == call.pos { Vec::new() } else { run.show_line(call.place, true) };
    for (number, line) in lines.iter().enumerate() {
        out.push_str(&format!("\n{indent}{}", line.text));
        let full = match (&instead, real.first()) {
            (Some(_), _) => Some(String::new()),
            (None, Some(real)) if number == 0 => Some(format!("{indent}{}", real.full())),
            (None, Some(_)) => Some(String::new()),
            (None, None) => line.full.as_ref().map(|full| format!("{indent}{full}")),
        };
        if let Some(full) = full {
            out.note(Note::Instead(run.hide(full)));
        }
    }
}

/// A number with its thousands apart.
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
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
