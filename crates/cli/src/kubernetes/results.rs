//! Writes a result for each resource, in kubeconform's formats.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use ytterby_diag::{PlaceNames, Severity, Sources};
use ytterby_kubernetes::{Checked, State};
use ytterby_text::xml::escaped_line as escaped;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ResultFormat {
    Text,
    Json,
    Junit,
    Tap,
    Sarif,
}

impl ResultFormat {
    pub const NAMES: [&'static str; 5] = ["text", "json", "junit", "tap", "sarif"];

    pub fn find(name: &str) -> Option<ResultFormat> {
        const ALL: [ResultFormat; 5] =
            [ResultFormat::Text, ResultFormat::Json, ResultFormat::Junit, ResultFormat::Tap, ResultFormat::Sarif];
        ResultFormat::NAMES.iter().position(|known| *known == name).map(|at| ALL[at])
    }
}

/// The verdict on a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    Valid,
    Invalid,
    /// It cannot be parsed.
    Error,
    Skipped,
}

impl Status {
    /// The name in JSON.
    fn name(self) -> &'static str {
        match self {
            Status::Valid => "statusValid",
            Status::Invalid => "statusInvalid",
            Status::Error => "statusError",
            Status::Skipped => "statusSkipped",
        }
    }
}

/// The result for one resource, or for a file that cannot be read.
pub(super) struct ResourceResult {
    file: String,
    kind: String,
    name: String,
    version: String,
    status: Status,
    /// Paths and messages.
    errors: Vec<(String, String)>,
}

impl ResourceResult {
    pub fn of(file: &str, checked: &Checked) -> ResourceResult {
        let sources = Sources::new();
        let errors: Vec<(String, String)> = checked
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .map(|finding| {
                let path = finding.path.as_ref().map(|path| path.to_string()).unwrap_or_default();
                (path, finding.message.shown(&sources, PlaceNames::Full))
            })
            .collect();
        let status = match checked.state {
            _ if !errors.is_empty() => Status::Invalid,
            State::Checked => Status::Valid,
            _ => Status::Skipped,
        };
        ResourceResult {
            file: file.to_owned(),
            kind: checked.kind.clone(),
            name: checked.name.clone(),
            version: checked.api_version.clone(),
            status,
            errors,
        }
    }

    pub fn failed(file: &str, message: String) -> ResourceResult {
        ResourceResult {
            file: file.to_owned(),
            kind: String::new(),
            name: String::new(),
            version: String::new(),
            status: Status::Error,
            errors: vec![(String::new(), message)],
        }
    }

    /// All errors in one line.
    fn message(&self) -> String {
        let each = |(path, message): &(String, String)| {
            if path.is_empty() { message.clone() } else { format!("{path}: {message}") }
        };
        self.errors.iter().map(each).collect::<Vec<_>>().join("; ")
    }
}

/// The numbers of valid, invalid, unreadable and skipped resources.
fn counts(outcomes: &[ResourceResult]) -> [usize; 4] {
    let count = |status: Status| outcomes.iter().filter(|outcome| outcome.status == status).count();
    [count(Status::Valid), count(Status::Invalid), count(Status::Error), count(Status::Skipped)]
}

/// One line that summarizes all resources.
pub(super) fn summary(outcomes: &[ResourceResult]) -> String {
    let files: BTreeSet<&str> = outcomes.iter().map(|outcome| &*outcome.file).collect();
    let [valid, invalid, errors, skipped] = counts(outcomes);
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!(
        "Summary: {} found in {} - Valid: {valid}, Invalid: {invalid}, Errors: {errors}, Skipped: {skipped}\n",
        plural(outcomes.len(), "resource"),
        plural(files.len(), "file"),
    )
}

pub(super) fn write(format: ResultFormat, outcomes: &[ResourceResult], verbose: bool, with_summary: bool) -> String {
    match format {
        ResultFormat::Text | ResultFormat::Sarif => text(outcomes, verbose, with_summary),
        ResultFormat::Json => json(outcomes, verbose, with_summary),
        ResultFormat::Junit => junit(outcomes),
        ResultFormat::Tap => tap(outcomes),
    }
}

fn text(outcomes: &[ResourceResult], verbose: bool, with_summary: bool) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        let ResourceResult { file, kind, name, .. } = outcome;
        let line = match outcome.status {
            Status::Valid if verbose => format!("{file} - {kind} {name} is valid\n"),
            Status::Skipped if verbose => format!("{file} - {kind} {name} skipped\n"),
            Status::Valid | Status::Skipped => continue,
            Status::Invalid => format!("{file} - {kind} {name} is invalid: {}\n", outcome.message()),
            Status::Error => format!("{file} - failed validation: {}\n", outcome.message()),
        };
        out.push_str(&line);
    }
    if with_summary {
        out.push_str(&summary(outcomes));
    }
    out
}

fn json_text(text: &str) -> String {
    let mut out = Vec::new();
    ytterby_text::gojson::string_into(&mut out, text.as_bytes(), ytterby_text::gojson::Html::Keep);
    String::from_utf8_lossy(&out).into_owned()
}

fn json(outcomes: &[ResourceResult], verbose: bool, with_summary: bool) -> String {
    let mut out = String::from("{\n  \"resources\": [");
    let shown = outcomes.iter().filter(|outcome| verbose || matches!(outcome.status, Status::Invalid | Status::Error));
    for (at, outcome) in shown.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(
            out,
            "{comma}\n    {{\n      \"filename\": {},\n      \"kind\": {},\n      \"name\": {},\n      \"version\": {},\n      \"status\": {},\n      \"msg\": {}",
            json_text(&outcome.file),
            json_text(&outcome.kind),
            json_text(&outcome.name),
            json_text(&outcome.version),
            json_text(outcome.status.name()),
            json_text(&outcome.message()),
        )
        .expect("a string takes all");
        if outcome.status == Status::Invalid {
            out.push_str(",\n      \"validationErrors\": [");
            for (at, (path, message)) in outcome.errors.iter().enumerate() {
                let comma = if at > 0 { "," } else { "" };
                let (path, message) = (json_text(path), json_text(message));
                write!(out, "{comma}\n        {{\"path\": {path}, \"msg\": {message}}}").expect("a string takes all");
            }
            out.push_str("\n      ]");
        }
        out.push_str("\n    }");
    }
    out.push_str(if out.ends_with('[') { "]" } else { "\n  ]" });
    if with_summary {
        let [valid, invalid, errors, skipped] = counts(outcomes);
        write!(
            out,
            ",\n  \"summary\": {{\n    \"valid\": {valid},\n    \"invalid\": {invalid},\n    \"errors\": {errors},\n    \"skipped\": {skipped}\n  }}"
        )
        .expect("a string takes all");
    }
    out.push_str("\n}\n");
    out
}

fn junit(outcomes: &[ResourceResult]) -> String {
    let [_, invalid, errors, skipped] = counts(outcomes);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let tests = outcomes.len();
    writeln!(
        out,
        "<testsuites name=\"ytterby\" tests=\"{tests}\" failures=\"{invalid}\" errors=\"{errors}\" disabled=\"{skipped}\">"
    )
    .expect("a string takes all");
    let mut files: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if files.last() != Some(&&*outcome.file) && !files.contains(&&*outcome.file) {
            files.push(&outcome.file);
        }
    }
    for file in files {
        let of_file: Vec<&ResourceResult> = outcomes.iter().filter(|outcome| outcome.file == file).collect();
        let count = |status: Status| of_file.iter().filter(|outcome| outcome.status == status).count();
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            escaped(file),
            of_file.len(),
            count(Status::Invalid),
            count(Status::Error),
            count(Status::Skipped),
        )
        .expect("a string takes all");
        for outcome in of_file {
            let name = escaped(&outcome.name);
            let class = escaped(&format!("{}@{}", outcome.kind, outcome.version));
            write!(out, "    <testcase name=\"{name}\" classname=\"{class}\"").expect("a string takes all");
            let message = escaped(&outcome.message());
            match outcome.status {
                Status::Valid => out.push_str("/>\n"),
                Status::Skipped => out.push_str("><skipped/></testcase>\n"),
                Status::Invalid => {
                    writeln!(out, "><failure message=\"{message}\"/></testcase>").expect("a string takes all");
                }
                Status::Error => {
                    writeln!(out, "><error message=\"{message}\"/></testcase>").expect("a string takes all");
                }
            }
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn tap(outcomes: &[ResourceResult]) -> String {
    let mut out = String::from("TAP version 13\n");
    for (at, outcome) in outcomes.iter().enumerate() {
        let number = at + 1;
        let ResourceResult { file, kind, name, version, .. } = outcome;
        let what = format!("{file} ({version}/{kind}//{name})");
        let line = match outcome.status {
            Status::Valid => format!("ok {number} - {what}\n"),
            Status::Skipped => format!("ok {number} - {what} # skip\n"),
            Status::Invalid => format!("not ok {number} - {what}: {}\n", outcome.message().replace('\n', " ")),
            Status::Error => format!("not ok {number} - {file}: {}\n", outcome.message().replace('\n', " ")),
        };
        out.push_str(&line);
    }
    writeln!(out, "1..{}", outcomes.len()).expect("a string takes all");
    out
}
