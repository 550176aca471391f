//! Fixes problems with only one solution: typographic quotes and missing `jsonpath::` prefixes.

use crate::json::{self, JsonKind, JsonNode, quote_name};
use crate::jsonpath::PREFIX;

/// A replacement in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextReplacement {
    /// The byte offset.
    pub offset: usize,
    /// The current text.
    pub old: String,
    /// The new text.
    pub new: String,
}

/// The edits that fix an annotation; empty if nothing is wrong or nothing can be fixed.
pub fn edits(text: &str) -> Vec<TextReplacement> {
    let quotes = if json::parse(text).is_ok() { Vec::new() } else { straighten(text) };
    let straight = applied(text, &quotes);
    let Ok(root) = json::parse(&straight) else { return Vec::new() };
    let mut edits = quotes;
    if let JsonKind::Array(rules) = &root.kind {
        let members = rules.iter().filter_map(|rule| match &rule.kind {
            JsonKind::Object(members) => Some(members),
            _ => None,
        });
        let prefixes: Vec<usize> = members.flatten().filter_map(|(key, value)| bare_path(key, value)).collect();
        let back = Back::new(&edits);
        edits.extend(prefixes.into_iter().map(|offset| TextReplacement {
            offset: back.original(offset),
            old: String::new(),
            new: PREFIX.to_owned(),
        }));
        edits.sort_by_key(|edit| edit.offset);
    }
    edits
}

/// Applies edits, which are in order and do not overlap.
pub fn applied(text: &str, edits: &[TextReplacement]) -> String {
    let mut out = String::with_capacity(text.len() + 16 * edits.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(&text[at..edit.offset]);
        out.push_str(&edit.new);
        at = edit.offset + edit.old.len();
    }
    out.push_str(&text[at..]);
    out
}

/// The offset of a path without prefix, inside its quotes.
fn bare_path(key: &JsonNode, value: &JsonNode) -> Option<usize> {
    let key = key.as_str()?;
    let text = value.as_str()?;
    (matches!(key, "path" | "valid") && text.starts_with(['.', '$'])).then_some(value.start + 1)
}

/// Replaces typographic quotes around strings, but not inside them.
fn straighten(text: &str) -> Vec<TextReplacement> {
    let mut edits = Vec::new();
    let mut in_string = false;
    let mut chars = text.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        if in_string && c == '\\' {
            chars.next();
            continue;
        }
        if c == '"' {
            in_string = !in_string;
            continue;
        }
        if quote_name(c).is_none() {
            continue;
        }
        // Inside a string, a quote only ends it where a string may end.
        let after = text[offset + c.len_utf8()..].trim_start().chars().next();
        if !in_string || matches!(after, None | Some(':' | ',' | ']' | '}')) {
            in_string = !in_string;
            edits.push(TextReplacement { offset, old: c.to_string(), new: "\"".to_owned() });
        }
    }
    edits
}

/// Maps offsets in an edited text back to the original.
struct Back {
    /// Offsets after each edit: edited, original.
    points: Vec<(usize, usize)>,
}

impl Back {
    fn new(edits: &[TextReplacement]) -> Back {
        let mut shift = 0isize;
        let points = edits.iter().map(|edit| {
            let behind = edit.offset + edit.old.len();
            shift += edit.new.len() as isize - edit.old.len() as isize;
            ((behind as isize + shift) as usize, behind)
        });
        Back { points: points.collect() }
    }

    fn original(&self, offset: usize) -> usize {
        match self.points.partition_point(|&(changed, _)| changed <= offset).checked_sub(1) {
            Some(index) => self.points[index].1 + (offset - self.points[index].0),
            None => offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(applied(text, &edits(text)), expect, "{text}");
    }

    #[test]
    fn quotes_are_straightened() {
        check("[{\u{201c}a\u{201d}: \u{201c}b\u{201d}}]", "[{\"a\": \"b\"}]");
        check("[{\"path\u{201d}: \".spec\", \"m\u{201d}: 1}]", "[{\"path\": \"jsonpath::.spec\", \"m\": 1}]");
        check("[{\"m\": \"say \u{201c}no\u{201d} to it\"}]", "[{\"m\": \"say \u{201c}no\u{201d} to it\"}]");
        check("[{\u{201c}m\u{201d}: \u{201c}it\u{2019}s\u{201d}}]", "[{\"m\": \"it\u{2019}s\"}]");
    }

    #[test]
    fn prefixes_are_added() {
        check(
            "[{\"path\": \".a\", \"valid\":\"$.b\", \"message\": \".c\"}]",
            "[{\"path\": \"jsonpath::.a\", \"valid\":\"jsonpath::$.b\", \"message\": \".c\"}]",
        );
        check("[{\"path\": \"jsonpath::.a\"}]", "[{\"path\": \"jsonpath::.a\"}]");
    }

    #[test]
    fn unfixable_texts_are_unchanged() {
        check("[{\u{201c}a\u{201d}: }]", "[{\u{201c}a\u{201d}: }]");
        check("", "");
    }
}
