//! Formats files like `ytterby fmt`.

use ytterby_diag::FileId;
use ytterby_yaml::{ReadOptions, parse};

use crate::TextRange;
use crate::file::File;
use crate::findings::TextEdit;
use crate::model::ModelKind;

/// The edits that format a file; empty if it cannot be parsed or is not YAML. Unchanged lines are
/// not touched.
pub fn format(file: &File) -> Vec<TextEdit> {
    if file.kind() != ModelKind::Yaml {
        return Vec::new();
    }
    let text = &*file.text;
    let Ok(tree) = parse(text.as_bytes(), FileId(0), &ReadOptions::default()) else { return Vec::new() };
    let mut formatted = ytterby_yaml::format_in_place(&tree);
    // Like the output of `fmt`, which is ytt's: most templates begin with a blank line.
    if ytterby_yaml::format(&tree).starts_with(b"\n") && !formatted.starts_with(b"\n") {
        formatted.insert(0, b'\n');
    }
    let Ok(mut new) = String::from_utf8(formatted) else { return Vec::new() };
    if text.contains("\r\n") {
        new = new.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    if new == text {
        return Vec::new();
    }
    // Replace only whole lines that differ, so that cursors and marks elsewhere stay.
    let same = |a: &str, b: &str| {
        a.split_inclusive('\n')
            .zip(b.split_inclusive('\n'))
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len())
            .sum::<usize>()
    };
    let before = same(text, &new);
    let (old_rest, new_rest) = (&text[before..], &new[before..]);
    let after: usize = old_rest
        .split_inclusive('\n')
        .rev()
        .zip(new_rest.split_inclusive('\n').rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len())
        .sum();
    let range = TextRange::new(before, text.len() - after);
    vec![TextEdit::new(&file.path, range, &new[before..new.len() - after])]
}
