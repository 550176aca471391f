//! Workflow commands of GitHub Actions, which annotate the changed files of a pull request.

use super::Report;
use super::resolved::Resolved;
use crate::Severity;

pub(super) fn render(report: &Report<'_>) -> String {
    report.resolved().iter().map(command).collect()
}

fn command(problem: &Resolved) -> String {
    let at = problem.range().map(|range| WorkflowPlace {
        file: &range.file,
        line: range.start.line,
        column: Some(range.start.column),
        // GitHub ignores the columns of a range over several lines.
        end_column: (range.end.line == range.start.line && range.end.column > range.start.column)
            .then_some(range.end.column),
    });
    let mut text = problem.message.clone();
    for (name, words) in problem.remarks() {
        text.push_str(&format!("\n{name}: {words}"));
    }
    let command = if problem.severity == Severity::Note { "notice" } else { problem.severity.name() };
    workflow_command(command, at, problem.id.name(), &text)
}

/// The position of a workflow command.
#[derive(Clone, Copy, Debug)]
pub struct WorkflowPlace<'a> {
    /// The path of the file, from the root of the repository.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: Option<u32>,
    /// One past the last column, on the same line.
    pub end_column: Option<u32>,
}

/// A line that GitHub Actions shows as an annotation:
/// `::error file=a.yml,line=3,title=schema/type::text`. `level` is `error`, `warning` or `notice`.
pub fn workflow_command(level: &str, at: Option<WorkflowPlace<'_>>, title: &str, text: &str) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut out = format!("::{level} ");
    if let Some(at) = at {
        out.push_str(&format!("file={},line={},", property(at.file), at.line));
        if let Some(column) = at.column {
            out.push_str(&format!("col={column},"));
        }
        if let Some(column) = at.end_column {
            out.push_str(&format!("endColumn={column},"));
        }
    }
    out + &format!("title={}::{}\n", property(title), data(text))
}
