//! The page of errors, by id.
//!
//! The page is embedded in the program, so `ytterby help ID` works offline and matches the version.
//! The page is Markdown for the web; this module converts a section to plain text for a terminal.

use crate::Id;

/// `docs/errors.md`: all errors and warnings with examples and remedies. It is included through a
/// link, so that the page is part of the package of this crate.
const PAGE: &str = include_str!("errors.txt");

/// The section about an id, with an example and a remedy, as text for a terminal.
pub fn help(id: Id) -> String {
    let mut out = format!("{id}\n");
    let mut in_code = false;
    for line in section(id.name()).unwrap_or(id.title()).lines() {
        match line.strip_prefix("```") {
            Some(info) => {
                in_code = !in_code;
                let name = info.split(' ').find_map(|word| word.strip_prefix("file="));
                if let Some(name) = name {
                    out.push_str(&format!("  {name}:\n"));
                }
            }
            None if in_code && !line.is_empty() => out.push_str(&format!("    {line}\n")),
            None => {
                out.push_str(&without_marks(line));
                out.push('\n');
            }
        }
    }
    out
}

/// The names and texts of all sections.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'))
}

fn section(name: &str) -> Option<&'static str> {
    sections().find(|(known, _)| *known == name).map(|(_, text)| text.trim_end())
}

/// A line without Markdown's marks; links become `text (page)`.
fn without_marks(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(link) = Link::first(rest) {
        out.push_str(&format!("{}{} ({})", link.before, link.text, link.page));
        rest = link.after;
    }
    out.push_str(rest);
    out.replace("**", "")
}

/// A link in a line, and the text around it.
struct Link<'a> {
    before: &'a str,
    text: &'a str,
    page: &'a str,
    after: &'a str,
}

impl Link<'_> {
    fn first(line: &str) -> Option<Link<'_>> {
        let (to_text, from_page) = line.split_once("](")?;
        let (before, text) = to_text.rsplit_once('[')?;
        let (page, after) = from_page.split_once(')')?;
        Some(Link { before, text, page, after })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_a_section_and_every_section_an_id() {
        let sections: Vec<&str> = sections().map(|(name, _)| name).collect();
        let ids: Vec<&str> = Id::all().iter().map(|id| id.name()).collect();
        assert_eq!(sections, ids);
    }

    #[test]
    fn every_section_has_a_remedy() {
        for (name, text) in sections() {
            assert!(text.contains("\n**Remedy:** "), "{name}");
        }
    }

    #[test]
    fn a_section_becomes_plain_text() {
        insta::assert_snapshot!(help(Id::SCHEMA_UNKNOWN_KEY));
        assert_eq!(without_marks("`a[0]` and [b](c.md#d)"), "`a[0]` and b (c.md#d)");
    }
}
