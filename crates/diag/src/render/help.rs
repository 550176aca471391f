//! The page of errors, by id.
//!
//! The page is embedded in the program, so `ytterby help ID` works offline and matches the version.
//! It is Markdown; the host lays it out for a terminal.

use crate::Id;

/// `docs/errors.md`: all errors and warnings with examples and remedies. It is included through a
/// link, so that the page is part of the package of this crate.
const PAGE: &str = include_str!("errors.txt");

/// The section about an id, with an example and a remedy, in Markdown and without its heading.
pub fn help(id: Id) -> &'static str {
    sections().find(|(known, _)| *known == id.name()).map_or(id.title(), |(_, text)| text.trim())
}

/// The names and texts of all sections.
fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).filter_map(|section| section.split_once('\n'))
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
    fn a_section_is_found_by_its_id() {
        let text = help(Id::SCHEMA_UNKNOWN_KEY);
        assert!(text.starts_with("You set a value for a key that the schema does not declare."), "{text}");
    }
}
