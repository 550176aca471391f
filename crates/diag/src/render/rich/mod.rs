//! The rendering for people at a terminal.
//!
//! A problem is a headline, excerpts of the sources with the ranges underlined, then notes and
//! advice:
//!
//! ```text
//! error[schema/type]: replicas: expected integer, found string
//!  --> values.yml:2:11
//!   |
//! 2 | replicas: many
//!   |           ^^^^ found string
//!   |
//!   = help: …
//! ```
//!
//! Everything about widths is in [`line`] and [`canvas`]; everything about which lines are shown is
//! in [`excerpt`].

mod calls;
mod canvas;
mod excerpt;
mod line;
mod names;
mod suggestion;

use super::resolved::Resolved;
use super::ytt::with_commas;
use super::{Report, RichOptions};
use crate::{Severity, Sources};
use canvas::{Canvas, TextStyle};

/// Maximum number of problems of each severity.
const MAX_SHOWN: usize = 100;

pub(super) fn render(report: &Report<'_>, options: RichOptions) -> String {
    let entries = report.entries();
    let mut out = String::new();
    for severity in [Severity::Note, Severity::Warning, Severity::Error] {
        let problems = entries.iter().filter(|entry| entry.severity == severity);
        for diagnostic in problems.clone().take(MAX_SHOWN) {
            out.push_str(&problem(&Resolved::new(diagnostic, report.sources), report.sources, options));
            out.push('\n');
        }
        match problems.count().saturating_sub(MAX_SHOWN) {
            0 => {}
            hidden => out.push_str(&format!("… and {}\n\n", counted(hidden, &format!("more {}", severity.name())))),
        }
    }
    if entries.len() > 1 {
        let totals = [Severity::Error, Severity::Warning, Severity::Note].map(|severity| {
            let number = entries.iter().filter(|entry| entry.severity == severity).count();
            (number > 0).then(|| counted(number, severity.name()))
        });
        let totals: Vec<String> = totals.into_iter().flatten().collect();
        out.push_str(&totals.join(", "));
        out.push('\n');
    } else {
        // Removes the blank line after the only problem.
        out.pop();
    }
    out
}

/// `1 error`, `2,000 errors`.
fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", with_commas(number))
}

fn problem(problem: &Resolved, sources: &Sources, options: RichOptions) -> String {
    let style = match problem.severity {
        Severity::Error => TextStyle::Error,
        Severity::Warning => TextStyle::Warning,
        Severity::Note => TextStyle::Note,
    };
    let mut canvas = Canvas::new(options, last_line(problem));
    canvas.headline(style, &format!("{}[{}]", problem.severity.name(), problem.id), &problem.message);
    let left_out = excerpt::draw(&mut canvas, problem, style, sources);
    let mut notes: Vec<Vec<String>> = Vec::new();
    if left_out > 0 {
        notes.push(vec![format!("and {}", counted(left_out, "more place"))]);
    }
    notes.push(calls::lines(&problem.frames, sources));
    notes.extend(problem.notes.iter().map(|note| lines(note)));
    notes.retain(|lines| !lines.is_empty());
    let has_remarks = !(notes.is_empty() && problem.helps.is_empty());
    if has_remarks && !problem.labels.is_empty() {
        canvas.ruler();
    }
    for lines in &notes {
        canvas.remark(TextStyle::Note, "note", lines);
    }
    for (number, help) in problem.helps.iter().enumerate() {
        if number > 0 && problem.helps[number - 1].fix.is_some() {
            canvas.ruler();
        }
        canvas.remark(TextStyle::Help, "help", &lines(&help.text));
        if let Some(fix) = &help.fix {
            suggestion::draw(&mut canvas, fix, sources);
        }
    }
    canvas.finish()
}

/// Maximum lines of a note.
const MAX_LINES: usize = 12;

fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().take(MAX_LINES).map(str::to_owned).collect();
    let hidden = text.lines().skip(MAX_LINES).count();
    if hidden > 0 {
        lines.push(format!("… and {}", counted(hidden, "more line")));
    }
    lines
}

/// The greatest line number of an excerpt, which sets the width of the left margin.
fn last_line(problem: &Resolved) -> u32 {
    let labels = problem.labels.iter().map(|label| label.range.end.line);
    let fixes = problem.helps.iter().filter_map(|help| help.fix.as_ref()).flat_map(|fix| &fix.edits);
    let edits = fixes.map(|(range, text)| range.end.line + text.matches('\n').count() as u32);
    labels.chain(edits).max().unwrap_or(1)
}
