//! `#! ytterby: ignore ID` comments.

use ytterby_diag::{Diagnostic, Severity, Sources};

const MARK: &str = "ytterby: ignore ";

/// Whether a comment above a warning suppresses it. Errors cannot be suppressed.
///
/// The comment is on the line above. Other such comments and annotations may be in between, because several of them can
/// belong to one node.
pub fn is_ignored(finding: &Diagnostic, sources: &Sources) -> bool {
    if finding.severity == Severity::Error {
        return false;
    }
    let Some(span) = finding.primary().and_then(|label| label.span(sources)) else { return false };
    let Some(source) = sources.get(span.file) else { return false };
    let mut line = source.line(span.start);
    while line > 1 {
        line -= 1;
        let Some(text) = source.line_text(line) else { return false };
        let text = text.trim();
        match ids_of(text) {
            Some(ids) if ids.split([',', ' ']).any(|id| id == finding.id.name()) => return true,
            Some(_) => {}
            None if is_annotation(text) => {}
            None => return false,
        }
    }
    false
}

fn ids_of(line: &str) -> Option<&str> {
    let comment = line.strip_prefix('#')?;
    comment.strip_prefix('!').unwrap_or(comment).trim_start().strip_prefix(MARK)
}

fn is_annotation(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("#@") else { return false };
    rest.split(' ').next().is_some_and(|name| name.contains('/') && !name.starts_with('/'))
}
