//! `#! ytterby: ignore ID` comments.

use std::collections::HashMap;
use std::rc::Rc;

use ytterby_diag::{Diagnostic, FileId, Id, Severity, Source, Sources};
use ytterby_text::budget;

const MARK: &str = "ytterby: ignore ";

/// Removes the warnings that comments above suppress. Errors cannot be suppressed.
///
/// The comment is on the line above. Other such comments and annotations may be in between, because
/// several of them can belong to one node.
pub(crate) fn drop_ignored(findings: &mut Vec<Diagnostic>, sources: &Sources) {
    let mut comments = Comments::default();
    findings.retain(|finding| !comments.ignore(finding, sources));
}

/// The comments of lines that were looked at.
#[derive(Default)]
struct Comments {
    /// The ids that the comments above a line suppress. Lines without such comments are absent.
    above: HashMap<(FileId, u32), Rc<[Id]>>,
}

impl Comments {
    fn ignore(&mut self, finding: &Diagnostic, sources: &Sources) -> bool {
        if finding.severity == Severity::Error {
            return false;
        }
        let Some(span) = finding.primary().and_then(|label| label.span(sources)) else { return false };
        let Some(source) = sources.get(span.file) else { return false };
        let ids = self.above(&source, span.file, source.line(span.start));
        ids.contains(&finding.id)
    }

    /// The ids that the comments above a line suppress.
    fn above(&mut self, source: &Source, file: FileId, line: u32) -> Rc<[Id]> {
        // Up to a line that is known, or belongs to something else; then down again.
        let mut first = line;
        let mut ids: Rc<[Id]> = Rc::default();
        while first > 1 {
            if let Some(known) = self.above.get(&(file, first)) {
                ids = known.clone();
                break;
            }
            if !source.line_text(first - 1).is_some_and(|text| belongs_below(text.trim())) {
                break;
            }
            first -= 1;
        }
        budget::or_unwind(budget::work((line - first) as usize));
        for below in first + 1..=line {
            let text = source.line_text(below - 1).unwrap_or_default();
            if let Some(more) = ids_of(text.trim()) {
                let more = more.split([',', ' ']).filter_map(Id::find).filter(|id| !ids.contains(id));
                let more: Vec<Id> = more.collect();
                if !more.is_empty() {
                    ids = ids.iter().copied().chain(more).collect();
                }
            }
            self.above.insert((file, below), ids.clone());
        }
        ids
    }
}

fn belongs_below(line: &str) -> bool {
    ids_of(line).is_some() || is_annotation(line)
}

fn ids_of(line: &str) -> Option<&str> {
    let comment = line.strip_prefix('#')?;
    comment.strip_prefix('!').unwrap_or(comment).trim_start().strip_prefix(MARK)
}

fn is_annotation(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("#@") else { return false };
    rest.split(' ').next().is_some_and(|name| name.contains('/') && !name.starts_with('/'))
}
