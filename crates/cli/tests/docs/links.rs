//! Checks the links of a page to other files of the repository and to headings.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// Checks the links of a page. The error lists broken ones.
pub fn check(root: &Path, file: &Path) -> Result<(), String> {
    let text = fs::read_to_string(file).expect("the page can be read");
    let mut problems = String::new();
    for (line, target) in links(&text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let linked = match path {
            "" => file.to_owned(),
            path => file.parent().expect("a page is in a folder").join(path),
        };
        let problem = match linked.canonicalize() {
            Err(_) => "there is no such file",
            Ok(linked) if !linked.starts_with(root) => "that is outside of the repository",
            Ok(_) if anchor.is_empty() => continue,
            Ok(linked) if linked.is_dir() => "a folder has no headings",
            Ok(linked) => match anchors(&fs::read_to_string(linked).unwrap_or_default()).contains(anchor) {
                true => continue,
                false => "there is no such heading",
            },
        };
        problems.push_str(&format!("line {line}: {target}: {problem}\n"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// The lines outside of fenced blocks, with their numbers.
pub fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_code && !is_fence).then_some((number + 1, line))
    })
}

/// The targets in `](…)`, except in code spans.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let mut pieces = line.split("](");
        let mut before = pieces.next().unwrap_or_default().matches('`').count();
        for piece in pieces {
            if before % 2 == 0
                && let Some((target, _)) = piece.split_once(')')
            {
                found.push((number, target));
            }
            before += piece.matches('`').count();
        }
    }
    found
}

/// The anchors of headings: lower case, blanks as hyphens, without other punctuation, duplicates
/// numbered.
fn anchors(text: &str) -> HashSet<String> {
    let mut anchors = HashSet::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim();
        let slug: String = title
            .to_lowercase()
            .chars()
            .filter_map(|c| match c {
                ' ' => Some('-'),
                '-' | '_' => Some(c),
                c if c.is_alphanumeric() => Some(c),
                _ => None,
            })
            .collect();
        let repeated = (1..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone()).chain(repeated).find(|slug| !anchors.contains(slug));
        anchors.extend(free);
    }
    anchors
}
