//! Workflow commands of GitHub Actions: marks in the changed files of a pull request.

use super::Report;
use super::json::place;
use crate::message::one_line;

pub(super) fn render(report: &Report<'_>) -> String {
    let mut out = String::new();
    for entry in report.entries() {
        let at = entry.from.or(entry.by).and_then(|pos| place(pos, report.sources));
        let mut text = one_line(&entry.message);
        for hint in &entry.hints {
            text.push_str("\nhint: ");
            text.push_str(hint);
        }
        let at = at.as_ref().map(|(file, line)| WorkflowPlace { file, line: *line, column: None });
        out.push_str(&workflow_command(entry.severity.name(), at, entry.kind.name(), &text));
    }
    out
}

/// Where a workflow command puts its mark.
#[derive(Clone, Copy, Debug)]
pub struct WorkflowPlace<'a> {
    /// The path of the file, from the root of the repository.
    pub file: &'a str,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1.
    pub column: Option<u32>,
}

/// A line that GitHub Actions shows as a mark: `::error file=a.yml,line=3,title=type::text`. `level` is `error`, `warning` or
/// `notice`.
pub fn workflow_command(level: &str, at: Option<WorkflowPlace<'_>>, title: &str, text: &str) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut out = format!("::{level} ");
    if let Some(at) = at {
        out.push_str(&format!("file={},line={},", property(at.file), at.line));
        if let Some(column) = at.column {
            out.push_str(&format!("col={column},"));
        }
    }
    out + &format!("title={}::{}\n", property(title), data(text))
}
