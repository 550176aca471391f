//! Writes results: text for people, JSON, SARIF, JUnit and GitHub's workflow commands for machines.

use std::io::{self, Write};

use super::args::Format;
use super::report::{Checked, Located, Place, Report};
use crate::evaluate::Status;
use crate::value::{Value, quoted};

/// Something to show at a place; what SARIF and GitHub have in common for all commands.
pub(super) struct Issue {
    /// The rule or lint that found it.
    pub id: String,
    pub level: Level,
    pub at: Place,
    pub text: String,
}

/// How bad an issue is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// Writes a report in a format.
pub(super) fn write(report: &Report, format: Format, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => text(report, out),
        Format::Json => json(report, out),
        Format::Sarif => sarif(&issues(report), out),
        Format::Junit => junit(report, out),
        Format::Github => github(&issues(report), out),
    }
}

fn text(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for object in &report.objects {
        let verdict = match (object.unreadable, object.valid(), object.results.is_empty()) {
            (true, _, _) => "cannot be read",
            (_, false, _) => "invalid",
            (_, true, true) => "valid (no rules)",
            (_, true, false) => "valid",
        };
        writeln!(out, "{}:{}: {}: {verdict}", object.file, object.line, object.label())?;
        for Located { outcome, at } in &object.results {
            if outcome.status == Status::Ok || outcome.status == Status::Skipped && !outcome.notable {
                continue;
            }
            let rule = [outcome.rule.as_str(), outcome.path.as_str()].join(" ");
            let about = match (rule.trim(), outcome.message.as_str()) {
                ("", message) => message.to_owned(),
                (rule, "") => rule.to_owned(),
                (rule, message) => format!("{rule}: {message}"),
            };
            writeln!(out, "  {}: {about}", outcome.status.as_str())?;
            writeln!(out, "    {}", outcome.detail)?;
            if let Some(place) = at.as_ref().filter(|_| !object.unreadable) {
                writeln!(out, "    rule at {place}")?;
            }
        }
    }
    let count = |status| report.objects.iter().map(|object| object.count(status)).sum::<usize>();
    let invalid = report.objects.iter().filter(|object| !object.valid()).count();
    let objects = counted(report.objects.len(), "object");
    let verdict = if invalid == 0 { "all valid".to_owned() } else { format!("{invalid} invalid") };
    let mut parts = vec![format!("{} ok", count(Status::Ok))];
    for (status, word) in [(Status::Violation, "violation"), (Status::Error, "error"), (Status::Warning, "warning")] {
        if count(status) > 0 {
            parts.push(counted(count(status), word));
        }
    }
    if count(Status::Skipped) > 0 {
        parts.push(format!("{} skipped", count(Status::Skipped)));
    }
    writeln!(out, "{objects}: {verdict} ({})", parts.join(", "))
}

pub(super) fn counted(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    // By hand, so that ten thousand VMs need no second tree.
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
        for (i, Located { outcome, .. }) in object.results.iter().enumerate() {
            write!(
                out,
                "{}\n        {{\"rule\": {}, \"status\": \"{}\", \"path\": {}, \"message\": {}, \"detail\": {}}}",
                if i == 0 { "" } else { "," },
                quoted(&outcome.rule),
                outcome.status.as_str(),
                quoted(&outcome.path),
                quoted(&outcome.message),
                quoted(&outcome.detail),
            )?;
        }
        let end = if object.results.is_empty() { "]" } else { "\n      ]" };
        write!(out, "{end}\n    }}")?;
    }
    let end = if report.objects.is_empty() { "]" } else { "\n  ]" };
    writeln!(out, "{end}\n}}")
}

fn issues(report: &Report) -> Vec<Issue> {
    let issue = |object: &Checked, Located { outcome, at }: &Located| {
        let level = match outcome.status {
            Status::Violation | Status::Error => Level::Error,
            Status::Warning => Level::Warning,
            Status::Skipped if outcome.notable => Level::Warning,
            Status::Ok | Status::Skipped => return None,
        };
        let object_place = || Place { file: object.file.clone(), line: object.line, column: 1 };
        let message = if outcome.message.is_empty() { &outcome.path } else { &outcome.message };
        let text = format!("{}: {message}: {}", object.label(), outcome.detail);
        let id = if outcome.rule.is_empty() { "unreadable".to_owned() } else { outcome.rule.clone() };
        Some(Issue { id, level, at: at.clone().unwrap_or_else(object_place), text })
    };
    report.objects.iter().flat_map(|object| object.results.iter().filter_map(|result| issue(object, result))).collect()
}

/// Writes SARIF 2.1.0.
pub(super) fn sarif(issues: &[Issue], out: &mut dyn Write) -> io::Result<()> {
    let object = |members: Vec<(&str, Value)>| {
        Value::Object(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    };
    let text = |text: &str| object(vec![("text", Value::from(text))]);
    let mut ids: Vec<&str> = issues.iter().map(|issue| issue.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let rules = ids.iter().map(|id| object(vec![("id", Value::from(*id))])).collect();
    let result = |issue: &Issue| {
        let region = object(vec![
            ("startLine", Value::Int(i128::from(issue.at.line.max(1)))),
            ("startColumn", Value::Int(i128::from(issue.at.column.max(1)))),
        ]);
        let uri = issue.at.file.replace('\\', "/");
        let artifact = object(vec![("uri", Value::from(uri.as_str()))]);
        let place = object(vec![("artifactLocation", artifact), ("region", region)]);
        object(vec![
            ("ruleId", Value::from(issue.id.as_str())),
            ("level", Value::from(issue.level.as_str())),
            ("message", text(&issue.text)),
            ("locations", Value::Array(vec![object(vec![("physicalLocation", place)])])),
        ])
    };
    let driver = object(vec![
        ("name", Value::from("ytterby")),
        ("version", Value::from(env!("CARGO_PKG_VERSION"))),
        ("rules", Value::Array(rules)),
    ]);
    let run = object(vec![
        ("tool", object(vec![("driver", driver)])),
        ("results", Value::Array(issues.iter().map(result).collect())),
    ]);
    let log = object(vec![
        ("$schema", Value::from("https://json.schemastore.org/sarif-2.1.0.json")),
        ("version", Value::from("2.1.0")),
        ("runs", Value::Array(vec![run])),
    ]);
    writeln!(out, "{log}")
}

/// Writes GitHub's workflow commands, one per issue.
pub(super) fn github(issues: &[Issue], out: &mut dyn Write) -> io::Result<()> {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    for Issue { id, level, at, text } in issues {
        let command = if *level == Level::Note { "notice" } else { level.as_str() };
        let (file, title) = (property(&at.file), property(id));
        writeln!(out, "::{command} file={file},line={},col={},title={title}::{}", at.line, at.column, data(text))?;
    }
    Ok(())
}

/// Text as XML writes it; characters that XML cannot have are replaced.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn junit(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"ytterby kubevirt validate\">")?;
    for object in &report.objects {
        let class = xml(&object.label());
        writeln!(
            out,
            "  <testsuite name=\"{class}\" file=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            xml(&object.file),
            object.results.len(),
            object.count(Status::Violation),
            object.count(Status::Error),
            object.count(Status::Skipped),
        )?;
        for Located { outcome, .. } in &object.results {
            let name = if outcome.rule.is_empty() { "rules" } else { &outcome.rule };
            write!(out, "    <testcase classname=\"{class}\" name=\"{}\"", xml(name))?;
            let (message, detail) = (xml(&outcome.message), xml(&outcome.detail));
            match outcome.status {
                Status::Ok => writeln!(out, "/>")?,
                Status::Violation => {
                    writeln!(out, "><failure message=\"{message}\">{detail}</failure></testcase>")?;
                }
                Status::Error => writeln!(out, "><error message=\"{message}\">{detail}</error></testcase>")?,
                Status::Skipped => writeln!(out, "><skipped message=\"{detail}\"/></testcase>")?,
                Status::Warning => {
                    writeln!(out, "><system-out>warning: {message}: {detail}</system-out></testcase>")?;
                }
            }
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}
