//! Python's regular expressions, as far as the corpora use them.

use regex::Regex;

/// The same pattern for our engine: `$` without `(?m)` also matches before a final line feed, and
/// any character can be escaped.
pub fn compile(python: &str) -> Regex {
    let is_multi_line = python.starts_with("(?m") || python.starts_with("(?sm");
    let mut pattern = String::with_capacity(python.len());
    let mut chars = python.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('Z') => pattern.push_str(r"\z"),
                Some(c @ ('<' | '>')) => pattern.push(c),
                Some(c) => pattern.extend(['\\', c]),
                None => pattern.push('\\'),
            },
            '$' if chars.peek().is_none() && !is_multi_line => pattern.push_str(r"\n?\z"),
            _ => pattern.push(c),
        }
    }
    Regex::new(&pattern).unwrap_or_else(|error| panic!("{python}: {error}"))
}
