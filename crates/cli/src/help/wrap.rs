//! Wraps text at a width.

use std::fmt::Write;

/// The width of help: that of the terminal, at most 100 columns; 80 without a terminal.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.map_or(80, |columns: usize| columns.clamp(40, 100))
}

/// Appends a text, wrapped at `width` characters. The first line begins with `first`, the others
/// with `others`. Words longer than a line stay whole.
pub fn push(out: &mut String, text: &str, first: &str, others: &str, width: usize) {
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > width {
            let _ = writeln!(out, "{}", line.trim_end());
            others.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}
