//! Finds where the manual explains a word that is not a topic itself: `required`, `json schema`,
//! `output-files`.
//!
//! Names, flags, titles and headings come first; the prose of pages is searched only if they do not
//! contain the word. Whole words are compared, so that a misspelt topic still gets the suggestion
//! of the nearest one.

use std::cmp::Reverse;

use ytterby_ide::reference as entries;

use super::{RENDER, pages};
use crate::commands::ROOT;
use crate::flags::Command;

/// Pages that are listed if only their prose contains the word.
const MOST_PAGES: usize = 5;

/// A topic of `ytterby help`, and what it has to do with the word.
pub type Mention = (String, String);

/// The topics that mention a word: the names that end with it, flags, titles and headings of pages.
pub fn mentions(word: &str) -> Vec<Mention> {
    let mut found = Vec::new();
    let name = word.trim_start_matches(['#', '@', '-']).to_lowercase();
    if name.is_empty() {
        return found;
    }
    let ends_with_it = |full: &str| full.rsplit(['/', '.']).next() == Some(&*name);
    for entry in entries::annotations().iter().filter(|entry| ends_with_it(&entry.name)) {
        found.push((format!("@{}", entry.name), first_sentence(&entry.text)));
    }
    let members = entries::modules().iter().flat_map(|module| &module.members);
    for entry in members.filter(|entry| ends_with_it(&entry.name)) {
        found.push((entry.name.clone(), first_sentence(&entry.text)));
    }
    push_flags(&mut found, &ROOT, RENDER, &name);
    for command in ROOT.commands.iter().filter(|command| !command.is_hidden() && command.name != "template") {
        push_flags(&mut found, command, command.name, &name);
    }
    let wanted: Vec<&str> = words(&name).collect();
    let pages = pages::all();
    // Guides such as "From Helm" come before pages with a section about it.
    let (titled, others): (Vec<_>, Vec<_>) = pages.iter().partition(|page| has_all(page.title(), &wanted));
    found.extend(titled.iter().map(|page| (page.name.clone(), page.title().to_owned())));
    for page in others {
        // Headings of annotations and functions were found above, by their names.
        let headings = headings(&page.text).filter(|heading| !heading.contains(['@', '.']));
        let headings: Vec<&str> = headings.filter(|heading| has_all(heading, &wanted)).collect();
        if !headings.is_empty() {
            found.push((page.name.clone(), headings.join("; ")));
        }
    }
    if found.is_empty() {
        let counted = pages.iter().map(|page| (prose(&page.text).filter(|line| has_all(line, &wanted)).count(), page));
        let mut counted: Vec<_> = counted.filter(|(count, _)| *count > 0).collect();
        counted.sort_by_key(|(count, _)| Reverse(*count));
        let best = counted.into_iter().take(MOST_PAGES);
        found.extend(best.map(|(_, page)| (page.name.clone(), page.title().to_owned())));
    }
    found
}

/// Adds the flag of this name, also those of subcommands.
fn push_flags(found: &mut Vec<Mention>, command: &Command, topic: &str, name: &str) {
    let mut flags = command.flags.iter().flat_map(|group| group.flags);
    // The same flag of several commands is mentioned once.
    let is_known = |about: &str| found.iter().any(|(_, known)| known == about);
    if let Some(flag) = flags.find(|flag| flag.name == name) {
        let about = format!("--{}: {}", flag.name, flag.help);
        if !is_known(&about) {
            found.push((topic.to_owned(), about));
        }
    }
    if topic != RENDER {
        for inner in command.commands {
            push_flags(found, inner, &format!("{topic} {}", inner.name), name);
        }
    }
}

/// The headings of a page below its title.
fn headings(text: &str) -> impl Iterator<Item = &str> {
    prose(text).filter(|line| line.starts_with("##")).map(|line| line.trim_start_matches('#').trim())
}

/// The lines of a page outside of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        is_code ^= line.starts_with("```");
        !is_code
    })
}

fn has_all(heading: &str, wanted: &[&str]) -> bool {
    let heading = heading.to_lowercase();
    !wanted.is_empty() && wanted.iter().all(|word| words(&heading).any(|own| own == *word))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn first_sentence(text: &str) -> String {
    text.split_once(". ").map_or_else(|| text.to_owned(), |(first, _)| format!("{first}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics(word: &str) -> Vec<String> {
        mentions(word).into_iter().map(|(topic, _)| topic).collect()
    }

    #[test]
    fn words_are_found_in_names_flags_and_headings() {
        assert!(topics("required").contains(&"@schema/required".to_owned()));
        assert!(topics("json-schema").contains(&"exports".to_owned()));
        assert!(topics("JSON schema").contains(&"exports".to_owned()));
        assert_eq!(topics("--fail-on"), ["schema diff"]);
        assert!(topics("encode").contains(&"toml.encode".to_owned()));
        assert!(topics("checksum").contains(&"cookbook/kubernetes".to_owned()));
        assert_eq!(topics("helm")[0], "guides/from-helm");
        assert_eq!(topics("ovrelays"), [""; 0]);
    }
}
