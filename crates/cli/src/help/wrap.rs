//! Text in lines of a width.

use std::fmt::Write;

/// How wide help is: as the terminal, at most 100 columns; 80 where there is none.
pub fn width() -> usize {
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    columns.map_or(80, |columns: usize| columns.clamp(40, 100))
}

/// Adds the words of a text in lines of at most `width` characters. The first line begins with `first`, others with
/// `others`. Words that are longer than a line stay whole.
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
