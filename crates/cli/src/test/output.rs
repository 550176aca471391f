//! Writes the results of tests: text, JUnit, GitHub annotations, JSON lines.
//!
//! Results are written as soon as they exist, except JUnit, which is one document and needs the
//! number of failures first. An error of writing is kept and returned at the end.

use std::cell::Cell;
use std::sync::Arc;

use ytterby::Failure;
use ytterby_diag::render::{Rendering, Report, render};
use ytterby_diag::{Diagnostic, Severity, Sources};
use ytterby_text::gojson::{self, Html};
use ytterby_text::xml::escaped;

use super::case::Case;
use super::{TestFailure, TestResult};
use crate::host;
use crate::project::series;

/// Maximum lines of a diff.
const MAX_DIFF_LINES: usize = 200;

/// The output format.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TestFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One XML document.
    Junit,
    /// Text, and annotations in the files of a pull request.
    Github,
    /// One JSON object per test.
    Json,
}

/// Writes results immediately, except JUnit, which is written at the end.
pub struct Writer<'a> {
    format: TestFormat,
    program: &'a str,
    /// The format of problems in text.
    rich: Rendering,
    sources: &'a Arc<Sources>,
    /// Whether results go to standard error, because standard output is used for something else.
    is_aside: bool,
    /// The first error of writing.
    failure: Cell<Option<Failure>>,
    passed: usize,
    failed: usize,
    wrong: usize,
    /// JUnit suites: the file and its test cases.
    suites: Vec<(String, Vec<JunitCase>)>,
}

struct JunitCase {
    name: String,
    seconds: f64,
    /// `failure` or `error`, the message, and the text.
    problem: Option<(&'static str, String, String)>,
}

impl<'a> Writer<'a> {
    /// A writer for the results of a command.
    pub fn new(format: TestFormat, program: &'a str, rich: Rendering, sources: &'a Arc<Sources>) -> Writer<'a> {
        let (is_aside, failure) = (false, Cell::default());
        Writer { format, program, rich, sources, is_aside, failure, passed: 0, failed: 0, wrong: 0, suites: Vec::new() }
    }

    /// Writes to standard error instead.
    #[must_use]
    pub fn aside(self) -> Writer<'a> {
        Writer { is_aside: true, ..self }
    }

    /// Whether no file was wrong so far.
    pub fn is_good(&self) -> bool {
        self.wrong == 0
    }

    /// Reports a test file, or a project, that cannot be used.
    pub fn wrong(&mut self, path: &str, problems: &[Diagnostic]) {
        self.wrong += 1;
        match self.format {
            TestFormat::Text => {
                let name = if path.is_empty() { String::new() } else { format!("ERROR {path}\n") };
                self.print(&format!("{name}{}\n", self.drawn(problems, self.rich)));
            }
            TestFormat::Github => self.print(&self.drawn(problems, Rendering::Github)),
            TestFormat::Json => {
                let problems = self.json(problems);
                self.print(&format!("{{\"file\":{},\"outcome\":\"error\",\"problems\":[{problems}]}}\n", quoted(path)));
            }
            TestFormat::Junit => {
                let message = self.messages(problems);
                let text = self.drawn(problems, PLAIN);
                let problem = Some(("error", message, text));
                let name = if path.is_empty() { "project" } else { path };
                self.suite(name).push(JunitCase { name: "the file can be read".to_owned(), seconds: 0.0, problem });
            }
        }
    }

    /// Reports the result of a test.
    pub fn tested(&mut self, case: &Case, verdict: &TestResult, seconds: f64) {
        let (outcome, problems): (&str, Vec<Diagnostic>) = match verdict {
            TestResult::Passed => ("passed", Vec::new()),
            TestResult::Failed(problems) => {
                ("failed", problems.iter().map(|problem| problem.diagnostic.clone()).collect())
            }
            TestResult::Wrong(problems) => ("error", problems.clone()),
        };
        match verdict {
            TestResult::Passed => self.passed += 1,
            TestResult::Failed(_) => self.failed += 1,
            TestResult::Wrong(_) => self.wrong += 1,
        }
        let diffs = diffs(verdict);
        let word = match verdict {
            TestResult::Passed => "ok   ",
            TestResult::Failed(_) => "FAIL ",
            TestResult::Wrong(_) => "ERROR",
        };
        let line = format!("{word} {}\n", case.id());
        match self.format {
            TestFormat::Text | TestFormat::Github if problems.is_empty() => self.print(&line),
            TestFormat::Text => {
                let drawn = self.drawn(&problems, self.rich);
                self.print(&format!("{line}{}{}\n", indented(&drawn), indented(&diffs)));
            }
            TestFormat::Github => {
                let marks = self.drawn(&problems, Rendering::Github);
                self.print(&format!("{line}{}{marks}", indented(&diffs)));
            }
            TestFormat::Json => {
                let place = self.sources.line(case.test.name.pos);
                let mut out = format!(
                    "{{\"name\":{},\"file\":{},\"line\":{place},\"outcome\":\"{outcome}\",\"seconds\":{seconds:.6}",
                    quoted(&case.test.name.value),
                    quoted(&case.path)
                );
                if !case.target.name.is_empty() {
                    out.push_str(&format!(",\"target\":{}", quoted(&case.target.name)));
                }
                if !problems.is_empty() {
                    out.push_str(&format!(",\"problems\":[{}]", self.json(&problems)));
                }
                if !diffs.is_empty() {
                    out.push_str(&format!(",\"diff\":{}", quoted(&diffs)));
                }
                self.print(&(out + "}\n"));
            }
            TestFormat::Junit => {
                let kind = if outcome == "error" { "error" } else { "failure" };
                let problem = (!problems.is_empty())
                    .then(|| (kind, self.messages(&problems), format!("{}{diffs}", self.drawn(&problems, PLAIN))));
                let name = case.test.name.value.clone();
                self.suite(&case.path).push(JunitCase { name, seconds, problem });
            }
        }
    }

    /// Reports a warning about the tests as a whole.
    pub fn warning(&mut self, warning: &Diagnostic) {
        let warnings = std::slice::from_ref(warning);
        let rendering = match self.format {
            TestFormat::Text => self.rich,
            TestFormat::Github => Rendering::Github,
            TestFormat::Json => Rendering::Json,
            TestFormat::Junit => return,
        };
        self.print(&self.drawn(warnings, rendering));
    }

    /// Reports that there are no tests to run.
    pub fn nothing(&mut self, text: &str) {
        match self.format {
            TestFormat::Text | TestFormat::Github => self.print(&format!("{text}\n")),
            TestFormat::Json | TestFormat::Junit => host::write_error(&format!("{text}\n")),
        }
    }

    /// Writes the remaining output and returns the exit code.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn finish(self) -> Result<i32, Failure> {
        let (passed, failed, wrong) = (self.passed, self.failed, self.wrong);
        match self.format {
            TestFormat::Text | TestFormat::Github if passed + failed + wrong > 0 => {
                let mut parts = vec![format!("{passed} passed")];
                if failed > 0 {
                    parts.push(format!("{failed} failed"));
                }
                if wrong > 0 {
                    parts.push(format!("{wrong} invalid {}", if wrong == 1 { "file" } else { "files" }));
                }
                self.print(&format!("{}\n", parts.join(", ")));
            }
            TestFormat::Text | TestFormat::Github => {}
            TestFormat::Json => {
                let counts = format!("\"passed\":{passed},\"failed\":{failed},\"errors\":{wrong}");
                self.print(&format!("{{\"summary\":{{{counts}}}}}\n"));
            }
            TestFormat::Junit => self.print(&self.junit()),
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        Ok(match (wrong, failed) {
            (0, 0) => 0,
            (0, _) => 1,
            _ => 2,
        })
    }

    fn print(&self, text: &str) {
        if self.is_aside {
            return host::write_error(text);
        }
        let failure = self.failure.take();
        self.failure.set(failure.or_else(|| host::write_output(text.as_bytes()).err()));
    }

    fn drawn(&self, problems: &[Diagnostic], rendering: Rendering) -> String {
        let (errors, warnings): (Vec<Diagnostic>, Vec<Diagnostic>) =
            problems.iter().cloned().partition(|problem| problem.severity == Severity::Error);
        let failure = (!errors.is_empty()).then(|| series(errors));
        render(&Report::new(self.program, failure.as_ref(), &warnings, self.sources), rendering)
    }

    /// Problems as JSON objects, separated by commas.
    fn json(&self, problems: &[Diagnostic]) -> String {
        self.drawn(problems, Rendering::Json).trim_end().replace('\n', ",")
    }

    fn messages(&self, problems: &[Diagnostic]) -> String {
        let all: Vec<String> = problems.iter().map(|problem| problem.sentence(self.sources)).collect();
        all.join("; ")
    }

    fn suite(&mut self, name: &str) -> &mut Vec<JunitCase> {
        let at = match self.suites.iter().position(|(file, _)| file == name) {
            Some(at) => at,
            None => {
                self.suites.push((name.to_owned(), Vec::new()));
                self.suites.len() - 1
            }
        };
        &mut self.suites[at].1
    }

    fn junit(&self) -> String {
        let counts = |cases: &[&JunitCase]| {
            let of =
                |kind: &str| cases.iter().filter(|case| case.problem.as_ref().is_some_and(|p| p.0 == kind)).count();
            let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
            let (failures, errors) = (of("failure"), of("error"));
            format!("tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.6}\"", cases.len())
        };
        let all: Vec<&JunitCase> = self.suites.iter().flat_map(|(_, cases)| cases).collect();
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        out.push_str(&format!("<testsuites name=\"{}\" {}>\n", escaped(self.program), counts(&all)));
        for (file, cases) in &self.suites {
            let file = escaped(file);
            let refs: Vec<&JunitCase> = cases.iter().collect();
            out.push_str(&format!("  <testsuite name=\"{file}\" {}>\n", counts(&refs)));
            for case in cases {
                let name = escaped(&case.name);
                let seconds = case.seconds;
                out.push_str(&format!(
                    "    <testcase classname=\"{file}\" name=\"{name}\" file=\"{file}\" time=\"{seconds:.6}\""
                ));
                match &case.problem {
                    None => out.push_str("/>\n"),
                    Some((kind, message, text)) => out.push_str(&format!(
                        ">\n      <{kind} message=\"{}\">{}</{kind}>\n    </testcase>\n",
                        escaped(message),
                        escaped(text)
                    )),
                }
            }
            out.push_str("  </testsuite>\n");
        }
        out + "</testsuites>\n"
    }
}

/// The rich format without colours, for files.
const PLAIN: Rendering =
    Rendering::Rich(ytterby_diag::render::RichOptions { colour: ytterby_diag::render::Colour::Off, width: None });

fn diffs(verdict: &TestResult) -> String {
    let TestResult::Failed(problems) = verdict else { return String::new() };
    let text: String = problems.iter().map(|TestFailure { diff, .. }| diff.as_str()).collect();
    let lines = text.lines().count();
    if lines <= MAX_DIFF_LINES {
        return text;
    }
    let mut shown: String = text.lines().take(MAX_DIFF_LINES).map(|line| format!("{line}\n")).collect();
    shown.push_str(&format!("… and {} more lines\n", lines - MAX_DIFF_LINES));
    shown
}

/// Indents each line that is not empty by four blanks.
fn indented(text: &str) -> String {
    text.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") }).collect()
}

fn quoted(text: &str) -> String {
    let mut out = Vec::new();
    gojson::string_into(&mut out, text.as_bytes(), Html::Keep);
    String::from_utf8_lossy(&out).into_owned()
}
