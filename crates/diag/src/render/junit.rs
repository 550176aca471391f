//! A JUnit report: each problem is a failed test.
//!
//! A warning is a passed test that printed something, because the run succeeds in spite of it. A
//! run without problems is one passed test, since many readers reject a report without tests.

use ytterby_text::xml::escaped;

use super::Report;
use super::resolved::Resolved;
use crate::Severity;

pub(super) fn render(report: &Report<'_>) -> String {
    let problems = report.resolved();
    let failures = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", problems.len().max(1));
    let program = escaped(report.program);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"{program}\" {counts}>\n"));
    out.push_str(&format!("  <testsuite name=\"{program}\" {counts} skipped=\"0\">\n"));
    if problems.is_empty() {
        out.push_str(&format!("    <testcase classname=\"{program}\" name=\"no problems\"/>\n"));
    }
    problems.iter().for_each(|problem| push_case(&mut out, problem, &program));
    if !report.printed.is_empty() {
        out.push_str(&format!("    <system-err>{}</system-err>\n", escaped(report.printed)));
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn push_case(out: &mut String, problem: &Resolved, program: &str) {
    let message = escaped(&problem.message);
    let id = problem.id.name();
    let (class, place) = match problem.range() {
        Some(range) => (escaped(&range.file), format!(" line=\"{}\"", range.start.line)),
        None => (program.to_owned(), String::new()),
    };
    // The attributes `file` and `line` are not in the first JUnit formats; GitLab, Jenkins and
    // others use them.
    let file = if place.is_empty() { String::new() } else { format!(" file=\"{class}\"") };
    out.push_str(&format!("    <testcase classname=\"{class}\" name=\"{id}: {message}\"{file}{place}>\n"));
    let text = escaped(&text(problem));
    out.push_str(&match problem.severity {
        Severity::Error => format!("      <failure type=\"{id}\" message=\"{message}\">{text}</failure>\n"),
        Severity::Warning | Severity::Note => format!("      <system-out>{text}</system-out>\n"),
    });
    out.push_str("    </testcase>\n");
}

/// The position, the message, and the advice.
fn text(problem: &Resolved) -> String {
    let mut out = String::new();
    if let Some(range) = problem.range() {
        out.push_str(&format!("{}:{}:{}: ", range.file, range.start.line, range.start.column));
    }
    out.push_str(&problem.message);
    for (name, words) in problem.remarks() {
        out.push_str(&format!("\n{name}: {words}"));
    }
    out
}
