//! Code in text templates and templated strings: `(@ code @)`, `(@= value @)`, with `-` at either
//! end.

use super::{CodeRegion, RegionKind};
use crate::TextRange;
use crate::text::LineIndex;

/// The regions of code in a range. An unclosed one ends with its line.
pub(super) fn regions(text: &str, range: TextRange, lines: &LineIndex) -> Vec<CodeRegion> {
    let mut found = Vec::new();
    let mut at = range.start;
    while let Some(open) = text.get(at..range.end).and_then(|rest| rest.find("(@")) {
        let mut start = at + open + 2;
        let rest = &text[start..range.end];
        let rest = rest.strip_prefix('-').unwrap_or(rest);
        start = range.end - rest.len();
        let is_value = rest.starts_with('=');
        start += usize::from(is_value);
        let line = lines.line_of(start);
        let (end, next) = match text[start..range.end].find("@)") {
            Some(len) => {
                let body = &text[start..start + len];
                (start + body.strip_suffix('-').unwrap_or(body).len(), start + len + 2)
            }
            None => {
                let end = lines.range(text, line).end.min(range.end);
                (end, end)
            }
        };
        let kind = if is_value { RegionKind::TextValue } else { RegionKind::TextCode };
        let column = at + open - lines.start(lines.line_of(at + open));
        found.push(CodeRegion { kind, range: TextRange::new(start, end), line, column, tokens: 0..0 });
        at = next.max(start);
    }
    found
}
