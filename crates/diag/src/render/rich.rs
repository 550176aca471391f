//! ytt's text with excerpts of sources, hints and colour.

use std::collections::HashSet;

use super::text::warning_line;
use super::{Colour, Report};
use crate::{Diagnostic, Message, Note, Pos, Severity, layout};

pub(super) fn render(report: &Report<'_>, colour: Colour) -> String {
    let mut out = String::new();
    for warning in report.warnings() {
        let label = paint("Warning:", YELLOW, colour);
        out.push_str(&format!("{}: {label} {}\n", report.program, warning_line(warning, report.sources)));
        if let Some(pos) = warning.from {
            push_note(&mut out, &excerpt(warning, pos), report, colour);
        }
        for hint in &warning.hints {
            push_note(&mut out, &Note::Text(format!("    = hint: {hint}")), report, colour);
        }
    }
    if let Some(message) = report.failure {
        out.push_str(&format!("{}: {} ", report.program, paint("Error:", RED, colour)));
        push_message(&mut out, message, report, colour);
    }
    out
}

/// The message with its notes behind their lines. One without excerpts gets those of the errors at its end, unless its
/// text shows them.
fn push_message(out: &mut String, message: &Message, report: &Report<'_>, colour: Colour) {
    let text = layout::spread(message.text(), message.brackets());
    let added = layout::added_lines(message.text(), message.brackets());
    let mut notes = message.notes_by_line().map(|(line, note)| (line + added, note)).peekable();
    let mut has_excerpt = false;
    let lines: Vec<&str> = text.split('\n').collect();
    for (number, line) in lines.iter().enumerate() {
        let own: Vec<&Note> =
            std::iter::from_fn(|| notes.next_if(|(at, _)| *at <= number)).map(|(_, note)| note).collect();
        let (instead, behind): (Vec<&Note>, Vec<&Note>) =
            own.into_iter().partition(|note| matches!(note, Note::Instead(_)));
        match instead.last() {
            Some(instead) => out.push_str(&instead.lines(report.sources)),
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
        for note in behind {
            if let Note::Excerpt(pos) | Note::Redacted(pos, _) = note {
                has_excerpt = true;
                push_file_name(out, *pos, &lines[number.saturating_sub(2)..=number], report, colour);
            }
            push_note(out, note, report, colour);
        }
    }
    if has_excerpt {
        return;
    }
    let shown: HashSet<Pos> = message.shown().iter().copied().collect();
    for error in report.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
        if let Some(pos) = error.from.filter(|pos| !shown.contains(pos)) {
            push_file_name(out, pos, &lines[lines.len().saturating_sub(3)..], report, colour);
            push_note(out, &excerpt(error, pos), report, colour);
        }
    }
}

/// The line of a diagnostic, or what may be shown in its place.
fn excerpt(diagnostic: &Diagnostic, pos: Pos) -> Note {
    match &diagnostic.line {
        Some(line) => Note::Redacted(pos, line.clone()),
        None => Note::Excerpt(pos),
    }
}

/// The name of the file that an excerpt is from, unless the lines above it tell.
fn push_file_name(out: &mut String, pos: Pos, above: &[&str], report: &Report<'_>, colour: Colour) {
    let Some(source) = report.sources.get(pos.file) else { return };
    let place = format!("{}:{}", source.full_name(), source.line(pos.offset));
    if !above.iter().any(|line| names(line, &place)) {
        out.push_str(&paint(&format!("{}:", source.full_name()), BLUE, colour));
        out.push('\n');
    }
}

/// Whether a line names a place, and not one that only begins or ends like it.
fn names(line: &str, place: &str) -> bool {
    line.match_indices(place).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let behind = line[at + place.len()..].chars().next();
        !before.is_some_and(|c| c.is_alphanumeric() || "/._-".contains(c))
            && !behind.is_some_and(|c| c.is_ascii_digit())
    })
}

fn push_note(out: &mut String, note: &Note, report: &Report<'_>, colour: Colour) {
    for line in note.lines(report.sources).lines() {
        let style = match note {
            Note::Excerpt(_) | Note::Redacted(..) => BLUE,
            Note::Text(_) | Note::Instead(_) => CYAN,
        };
        out.push_str(&paint(line, style, colour));
        out.push('\n');
    }
}

const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const BLUE: &str = "34";
const CYAN: &str = "36";

fn paint(text: &str, style: &str, colour: Colour) -> String {
    match colour {
        Colour::Off => text.to_owned(),
        Colour::Ansi => format!("\x1b[{style}m{text}\x1b[0m"),
    }
}
