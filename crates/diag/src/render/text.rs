//! ytt's text: warnings line by line, then the error.

use super::Report;
use crate::message::one_line;
use crate::{Diagnostic, Sources, layout};

pub(super) fn render(report: &Report<'_>) -> String {
    let mut out = String::new();
    for warning in report.warnings() {
        out.push_str(&format!("{}: Warning: {}\n", report.program, warning_line(warning, report.sources)));
    }
    if let Some(message) = report.failure {
        out.push_str(&format!("{}: Error: ", report.program));
        layout::spread_into(&mut out, message.text(), message.brackets());
        out.push('\n');
    }
    out
}

/// The text of a warning and its position.
pub(super) fn warning_line(warning: &Diagnostic, sources: &Sources) -> String {
    let source = warning.from.and_then(|pos| Some((sources.get(pos.file)?, pos)));
    let message = one_line(&warning.message);
    match source {
        Some((source, pos)) => {
            format!("{message} ({}:{})", bare_name(source.full_name()), source.line(pos.offset))
        }
        None => message,
    }
}

/// `(data-value arg)` without its parentheses, which would stand in others here.
fn bare_name(name: &str) -> String {
    match name.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((inside, behind)) => format!("{inside}{behind}"),
        None => name.to_owned(),
    }
}
