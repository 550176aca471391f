//! Writes results: for each object and rule as text, JSON or JUnit; or only the problems, as
//! diagnostics.
//!
//! `ytterby_diag::render` lays out diagnostics, as for every command; this module converts results
//! to diagnostics.

use std::borrow::Cow;
use std::io::{self, Write};

use ytterby_diag::render::{Rendering, render};
use ytterby_diag::{Diagnostic, Id, Label, Part, Path, Role, Severity, Sources};
pub(super) use ytterby_text::xml::escaped_line as xml;

use super::args::{KubevirtArgs, OutputFormat};
use super::report::{CheckedObject, Located, Position, ValidationReport};
use ytterby_kubevirt::evaluate::Status;
use ytterby_kubevirt::trail::TrailStep;
use ytterby_kubevirt::value::quoted;

/// Writes a report in a format.
pub(super) fn write(
    report: &ValidationReport,
    args: &KubevirtArgs,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    match args.format {
        OutputFormat::Text => text(report, args.quiet, out),
        OutputFormat::Json => json(report, out),
        OutputFormat::Junit => junit(report, args.fail_on_warn, out),
        OutputFormat::Diagnostics(rendering) => diagnostics(problems(report), rendering, sources, out),
    }
}

/// Escapes control characters, so that a text fits on one line of a terminal: names and messages
/// come from untrusted files.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}' => out.push(' '),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn text(report: &ValidationReport, quiet: bool, out: &mut dyn Write) -> io::Result<()> {
    let is_shown = |object: &&CheckedObject| !quiet || !object.valid() || object.results.iter().any(Located::warns);
    for object in report.objects.iter().filter(is_shown) {
        if object.is_file() {
            for Located { outcome, .. } in &object.results {
                let line = format!("{}: {}: {}", outcome.status.as_str(), outcome.message, outcome.detail);
                writeln!(out, "{}", plain(&line))?;
            }
            continue;
        }
        let no_rules = object.results.iter().all(|result| result.outcome.rule.is_empty());
        let verdict = match (object.unreadable, object.valid(), object.exempt) {
            (true, _, _) => "cannot be read".to_owned(),
            (_, false, _) => "invalid".to_owned(),
            (_, true, Some(why)) => format!("valid ({why})"),
            (_, true, None) if no_rules => "valid (no rules)".to_owned(),
            (_, true, None) => "valid".to_owned(),
        };
        let head = format!("{}:{}: {}: {verdict}", object.file, object.line, object.label());
        writeln!(out, "{}", plain(&head))?;
        for Located { outcome, at, rule_at, .. } in &object.results {
            let is_hidden = match outcome.status {
                Status::Ok => true,
                Status::Skipped => !outcome.notable,
                Status::Note => quiet,
                Status::Violation | Status::Warning | Status::Error => false,
            };
            if is_hidden {
                continue;
            }
            let rule = [outcome.rule.as_str(), outcome.path.as_str()].join(" ");
            let about = match (rule.trim(), outcome.message.as_str()) {
                ("", message) => message.to_owned(),
                (rule, "") => rule.to_owned(),
                (rule, message) => format!("{rule}: {message}"),
            };
            writeln!(out, "  {}: {}", outcome.status.as_str(), plain(&about))?;
            writeln!(out, "    {}", plain(&outcome.detail))?;
            if let Some(place) = at {
                writeln!(out, "    at {place}")?;
            }
            if let Some(place) = rule_at.as_ref().filter(|_| !object.unreadable) {
                writeln!(out, "    rule at {place}")?;
            }
        }
    }
    if quiet { Ok(()) } else { summary(report, out) }
}

fn summary(report: &ValidationReport, out: &mut dyn Write) -> io::Result<()> {
    let objects = || report.objects.iter().filter(|object| !object.is_file());
    let count = |status| objects().map(|object| object.count(status)).sum::<usize>();
    let invalid = objects().filter(|object| !object.valid()).count();
    let total = objects().count();
    let mut line = format!("{}: ", counted(total, "object"));
    line += &match (total, invalid) {
        (0, _) => "nothing was checked".to_owned(),
        (_, 0) => "all valid".to_owned(),
        _ => format!("{invalid} invalid"),
    };
    let unread = report.objects.iter().filter(|object| object.is_file() && object.unreadable).count();
    if unread > 0 {
        line += &format!(", {} cannot be read", counted(unread, "file"));
    }
    if total > 0 {
        let mut parts = vec![format!("{} ok", count(Status::Ok))];
        for (status, word) in [(Status::Violation, "violation"), (Status::Error, "error"), (Status::Warning, "warning")]
        {
            if count(status) > 0 {
                parts.push(counted(count(status), word));
            }
        }
        if count(Status::Note) > 0 {
            parts.push(counted(count(Status::Note), "note"));
        }
        if count(Status::Skipped) > 0 {
            parts.push(format!("{} skipped", count(Status::Skipped)));
        }
        line += &format!(" ({})", parts.join(", "));
    }
    writeln!(out, "{line}")
}

pub(super) fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn json(report: &ValidationReport, out: &mut dyn Write) -> io::Result<()> {
    // Written by hand, so that ten thousand VMs need no second tree.
    write!(out, "{{\n  \"valid\": {},\n  \"objects\": [", report.valid())?;
    for (i, object) in report.objects.iter().enumerate() {
        write!(out, "{}\n    {{", if i == 0 { "" } else { "," })?;
        for (key, value) in
            [("kind", &object.kind), ("name", &object.name), ("namespace", &object.namespace), ("file", &object.file)]
        {
            write!(out, "\n      \"{key}\": {},", quoted(value))?;
        }
        write!(out, "\n      \"line\": {},\n      \"valid\": {},", object.line, object.valid())?;
        write!(out, "\n      \"results\": [")?;
        for (i, Located { outcome, id, at, rule_at }) in object.results.iter().enumerate() {
            write!(
                out,
                "{}\n        {{\"rule\": {}, \"status\": \"{}\", \"path\": {}, \"message\": {}, \"detail\": {}",
                if i == 0 { "" } else { "," },
                quoted(&outcome.rule),
                outcome.status.as_str(),
                quoted(&outcome.path),
                quoted(&outcome.message),
                quoted(&outcome.detail),
            )?;
            if outcome.rule.is_empty() {
                write!(out, ", \"id\": \"{id}\"")?;
            }
            for (key, place) in [("at", at), ("ruleAt", rule_at)] {
                if let Some(Position { file, line, column, .. }) = place {
                    let file = quoted(file);
                    write!(out, ", \"{key}\": {{\"file\": {file}, \"line\": {line}, \"column\": {column}}}")?;
                }
            }
            write!(out, "}}")?;
        }
        let end = if object.results.is_empty() { "]" } else { "\n      ]" };
        write!(out, "{end}\n    }}")?;
    }
    let end = if report.objects.is_empty() { "]" } else { "\n  ]" };
    writeln!(out, "{end}\n}}")
}

/// The problems and notes of a report.
fn problems(report: &ValidationReport) -> impl Iterator<Item = Diagnostic> {
    let problem = |object: &CheckedObject, result: &Located| {
        let Located { outcome, at, rule_at, .. } = result;
        let severity = match outcome.status {
            Status::Violation | Status::Error => Severity::Error,
            Status::Warning => Severity::Warning,
            Status::Skipped if outcome.notable => Severity::Warning,
            Status::Note => Severity::Note,
            Status::Ok | Status::Skipped => return None,
        };
        let object_place = || Position::unread(object.file.clone(), object.line, 1);
        let about = match (outcome.rule.as_str(), outcome.message.as_str()) {
            (_, "") => outcome.path.clone(),
            ("", message) if !outcome.path.is_empty() => format!("{}: {message}", outcome.path),
            (_, message) => message.to_owned(),
        };
        let text = sentence(&about, &outcome.detail);
        let text = if object.is_file() { text } else { format!("{}: {text}", object.label()) };
        // The position of a problem is in the VM, or in the rule if nothing in the VM is
        // responsible.
        let (at, rule_at) = match (at, rule_at) {
            (Some(at), rule_at) => (at.clone(), rule_at.clone()),
            (None, Some(rule_at)) => (rule_at.clone(), None),
            (None, None) => (object_place(), None),
        };
        let is_rule =
            outcome.status == Status::Error && !outcome.rule.is_empty() || object.unreadable && !object.is_file();
        let id = match (object.is_file() && object.unreadable, is_rule) {
            (true, _) => Id::FILE_MISSING,
            (false, true) => Id::KUBEVIRT_RULE,
            (false, false) => Id::KUBEVIRT_INVALID,
        };
        let text = if result.id().is_empty() { text } else { format!("{}: {text}", result.id()) };
        let mut diagnostic = Diagnostic::new(severity, id, text);
        diagnostic.path = outcome.value.as_deref().map(path);
        let diagnostic = placed(diagnostic, &at);
        Some(match rule_at {
            Some(rule) => diagnostic.label(Label::new(Role::Rule, rule.pos, part(&rule)).text("the rule")),
            None => diagnostic,
        })
    };
    report
        .objects
        .iter()
        .flat_map(move |object| object.results.iter().filter_map(move |result| problem(object, result)))
}

/// Converts keys to a path of diagnostics.
fn path(keys: &[TrailStep]) -> Path {
    keys.iter().fold(Path::document(), |path, key| match key {
        TrailStep::Name(name) => path.key(name.to_string()),
        TrailStep::Index(index) => path.index(*index),
    })
}

/// Joins a message and its detail, with a colon unless the message ends a sentence.
fn sentence(message: &str, detail: &str) -> String {
    let message = message.trim_end();
    let ended = message.is_empty() || message.ends_with(['.', '!', '?', ':', ';', ',', '…']);
    format!("{message}{}{detail}", if ended { " " } else { ": " }).trim_start().to_owned()
}

/// Writes errors and warnings in a format that every command has. Notes are left out: the other
/// commands have none.
pub(super) fn diagnostics(
    problems: impl Iterator<Item = Diagnostic>,
    rendering: Rendering,
    sources: &Sources,
    out: &mut dyn Write,
) -> io::Result<()> {
    let diagnostics: Vec<Diagnostic> = problems.filter(|problem| problem.severity != Severity::Note).collect();
    let report = ytterby_diag::render::Report::new("ytterby", None, &diagnostics, sources);
    out.write_all(render(&report, rendering).as_bytes())
}

/// The diagnostic at a position.
pub(super) fn placed(diagnostic: Diagnostic, at: &Position) -> Diagnostic {
    let diagnostic = diagnostic.at(at.pos, part(at));
    match &at.path {
        Some(path) => diagnostic.note(format!("at {path}")),
        None => diagnostic,
    }
}

/// The range to mark at a position: the rest of its line, unless the file is one long line.
fn part(place: &Position) -> Part {
    if place.is_on_long_line { Part::Bytes(1) } else { Part::Line }
}

fn junit(report: &ValidationReport, fail_on_warn: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"ytterby kubevirt validate\">")?;
    for object in &report.objects {
        let class = xml(&object.label());
        let fails = |result: &&Located| result.outcome.status == Status::Violation || fail_on_warn && result.warns();
        let skips = |result: &&Located| result.outcome.status == Status::Skipped && !fails(result);
        writeln!(
            out,
            "  <testsuite name=\"{class}\" file=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            xml(&object.file),
            object.results.len(),
            object.results.iter().filter(fails).count(),
            object.count(Status::Error),
            object.results.iter().filter(skips).count(),
        )?;
        for result in &object.results {
            let Located { outcome, at, rule_at, .. } = result;
            write!(out, "    <testcase classname=\"{class}\" name=\"{}\"", xml(result.id()))?;
            if let Some(Position { file, line, .. }) = at.as_ref().or(rule_at.as_ref()) {
                write!(out, " file=\"{}\" line=\"{line}\"", xml(file))?;
            }
            let place = |word: &str, place: &Option<Position>| {
                place.as_ref().map_or(String::new(), |place| format!("\n{word} {place}"))
            };
            let places = place("at", at) + &place("rule at", rule_at);
            let message = if outcome.message.is_empty() { &outcome.path } else { &outcome.message };
            let (message, body) = (xml(message), xml(&format!("{}{places}", outcome.detail)));
            match outcome.status {
                _ if fails(&result) => writeln!(out, "><failure message=\"{message}\">{body}</failure></testcase>")?,
                Status::Ok => writeln!(out, "/>")?,
                Status::Error => writeln!(out, "><error message=\"{message}\">{body}</error></testcase>")?,
                Status::Skipped => {
                    writeln!(out, "><skipped message=\"{}\"/></testcase>", xml(&outcome.detail))?;
                }
                Status::Note => writeln!(out, "><system-out>note: {message}: {body}</system-out></testcase>")?,
                Status::Warning | Status::Violation => {
                    writeln!(out, "><system-out>warning: {message}: {body}</system-out></testcase>")?;
                }
            }
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}
