//! Writes a result for each resource, in kubeconform's formats.
//!
//! Results are collected and written at the end, because some formats begin with counts. Valid and
//! skipped resources are only counted, unless the format lists all of them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use ytterby_diag::{PlaceNames, Severity, Sources};
use ytterby_kubernetes::{CheckState, Checked};
use ytterby_text::xml::escaped_line as escaped;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultFormat {
    Text,
    Json,
    Junit,
    Tap,
    Sarif,
}

/// The verdict on a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Valid,
    Invalid,
    /// It cannot be parsed.
    Error,
    Skipped,
}

impl Verdict {
    /// The name in JSON.
    fn name(self) -> &'static str {
        match self {
            Verdict::Valid => "statusValid",
            Verdict::Invalid => "statusInvalid",
            Verdict::Error => "statusError",
            Verdict::Skipped => "statusSkipped",
        }
    }
}

/// The results for all resources.
pub(super) struct ResourceResults {
    shown: Vec<ResourceResult>,
    /// The numbers of valid, invalid, unreadable and skipped resources.
    counts: [usize; 4],
    files: BTreeSet<Rc<str>>,
    /// Whether valid and skipped resources are shown. Otherwise they are only counted, so that
    /// memory does not grow with their number.
    shows_all: bool,
}

impl ResourceResults {
    /// No results yet, to be written in a format.
    pub fn new(format: Option<ResultFormat>, verbose: bool) -> ResourceResults {
        let shows_all = match format {
            None | Some(ResultFormat::Sarif) => false,
            Some(ResultFormat::Text | ResultFormat::Json) => verbose,
            Some(ResultFormat::Junit | ResultFormat::Tap) => true,
        };
        ResourceResults { shown: Vec::new(), counts: [0; 4], files: BTreeSet::new(), shows_all }
    }

    pub fn add(&mut self, result: ResourceResult) {
        self.counts[result.status as usize] += 1;
        if !self.files.contains(&result.file) {
            self.files.insert(Rc::clone(&result.file));
        }
        if self.shows_all || matches!(result.status, Verdict::Invalid | Verdict::Error) {
            self.shown.push(result);
        }
    }

    fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// One line that summarizes all resources.
    pub fn summary(&self) -> String {
        let [valid, invalid, errors, skipped] = self.counts;
        let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        format!(
            "Summary: {} found in {} - Valid: {valid}, Invalid: {invalid}, Errors: {errors}, Skipped: {skipped}\n",
            plural(self.total(), "resource"),
            plural(self.files.len(), "file"),
        )
    }

    pub fn write(&self, format: ResultFormat, with_summary: bool) -> String {
        match format {
            ResultFormat::Text | ResultFormat::Sarif => text(self, with_summary),
            ResultFormat::Json => json(self, with_summary),
            ResultFormat::Junit => junit(self),
            ResultFormat::Tap => tap(self),
        }
    }
}

/// The result for one resource, or for a file that cannot be read.
pub(super) struct ResourceResult {
    file: Rc<str>,
    kind: String,
    name: String,
    version: String,
    status: Verdict,
    /// Paths and messages.
    errors: Vec<(String, String)>,
}

impl ResourceResult {
    pub fn of(file: &Rc<str>, checked: &Checked) -> ResourceResult {
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
            _ if !errors.is_empty() => Verdict::Invalid,
            CheckState::Checked => Verdict::Valid,
            _ => Verdict::Skipped,
        };
        ResourceResult {
            file: Rc::clone(file),
            kind: checked.kind.clone(),
            name: checked.name.clone(),
            version: checked.api_version.clone(),
            status,
            errors,
        }
    }

    pub fn failed(file: &Rc<str>, message: String) -> ResourceResult {
        ResourceResult {
            file: Rc::clone(file),
            kind: String::new(),
            name: String::new(),
            version: String::new(),
            status: Verdict::Error,
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

fn text(results: &ResourceResults, with_summary: bool) -> String {
    let mut out = String::new();
    for result in &results.shown {
        let ResourceResult { file, kind, name, .. } = result;
        let line = match result.status {
            Verdict::Valid => format!("{file} - {kind} {name} is valid\n"),
            Verdict::Skipped => format!("{file} - {kind} {name} skipped\n"),
            Verdict::Invalid => format!("{file} - {kind} {name} is invalid: {}\n", result.message()),
            Verdict::Error => format!("{file} - failed validation: {}\n", result.message()),
        };
        out.push_str(&line);
    }
    if with_summary {
        out.push_str(&results.summary());
    }
    out
}

fn json_text(text: &str) -> String {
    let mut out = Vec::new();
    ytterby_text::gojson::string_into(&mut out, text.as_bytes(), ytterby_text::gojson::Html::Keep);
    String::from_utf8_lossy(&out).into_owned()
}

fn json(results: &ResourceResults, with_summary: bool) -> String {
    let mut out = String::from("{\n  \"resources\": [");
    for (at, result) in results.shown.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(
            out,
            "{comma}\n    {{\n      \"filename\": {},\n      \"kind\": {},\n      \"name\": {},\n      \"version\": {},\n      \"status\": {},\n      \"msg\": {}",
            json_text(&result.file),
            json_text(&result.kind),
            json_text(&result.name),
            json_text(&result.version),
            json_text(result.status.name()),
            json_text(&result.message()),
        )
        .expect("a string takes all");
        if result.status == Verdict::Invalid {
            out.push_str(",\n      \"validationErrors\": [");
            for (at, (path, message)) in result.errors.iter().enumerate() {
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
        let [valid, invalid, errors, skipped] = results.counts;
        write!(
            out,
            ",\n  \"summary\": {{\n    \"valid\": {valid},\n    \"invalid\": {invalid},\n    \"errors\": {errors},\n    \"skipped\": {skipped}\n  }}"
        )
        .expect("a string takes all");
    }
    out.push_str("\n}\n");
    out
}

fn junit(results: &ResourceResults) -> String {
    let [_, invalid, errors, skipped] = results.counts;
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let tests = results.total();
    writeln!(
        out,
        "<testsuites name=\"ytterby\" tests=\"{tests}\" failures=\"{invalid}\" errors=\"{errors}\" disabled=\"{skipped}\">"
    )
    .expect("a string takes all");
    // A file that was given twice is one suite.
    let mut by_file: Vec<(&str, Vec<&ResourceResult>)> = Vec::new();
    let mut positions: FxHashMap<&str, usize> = FxHashMap::default();
    for result in &results.shown {
        let at = *positions.entry(&result.file).or_insert(by_file.len());
        if at == by_file.len() {
            by_file.push((&result.file, Vec::new()));
        }
        by_file[at].1.push(result);
    }
    for (file, of_file) in by_file {
        let count = |status: Verdict| of_file.iter().filter(|result| result.status == status).count();
        writeln!(
            out,
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">",
            escaped(file),
            of_file.len(),
            count(Verdict::Invalid),
            count(Verdict::Error),
            count(Verdict::Skipped),
        )
        .expect("a string takes all");
        for result in of_file {
            let name = escaped(&result.name);
            let class = escaped(&format!("{}@{}", result.kind, result.version));
            write!(out, "    <testcase name=\"{name}\" classname=\"{class}\"").expect("a string takes all");
            let message = escaped(&result.message());
            match result.status {
                Verdict::Valid => out.push_str("/>\n"),
                Verdict::Skipped => out.push_str("><skipped/></testcase>\n"),
                Verdict::Invalid => {
                    writeln!(out, "><failure message=\"{message}\"/></testcase>").expect("a string takes all");
                }
                Verdict::Error => {
                    writeln!(out, "><error message=\"{message}\"/></testcase>").expect("a string takes all");
                }
            }
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn tap(results: &ResourceResults) -> String {
    let mut out = String::from("TAP version 13\n");
    for (at, result) in results.shown.iter().enumerate() {
        let number = at + 1;
        let ResourceResult { file, kind, name, version, .. } = result;
        let what = format!("{file} ({version}/{kind}//{name})");
        let line = match result.status {
            Verdict::Valid => format!("ok {number} - {what}\n"),
            Verdict::Skipped => format!("ok {number} - {what} # skip\n"),
            Verdict::Invalid => format!("not ok {number} - {what}: {}\n", result.message().replace('\n', " ")),
            Verdict::Error => format!("not ok {number} - {file}: {}\n", result.message().replace('\n', " ")),
        };
        out.push_str(&line);
    }
    writeln!(out, "1..{}", results.total()).expect("a string takes all");
    out
}
