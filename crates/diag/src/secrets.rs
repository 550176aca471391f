//! Values that no message may show.
//!
//! The engine never puts the value of a secret node into a diagnostic ([`crate::Piece::Value`] is
//! created only from nodes that are not secret). This module is the second safeguard, for texts
//! that code creates: `fail("no user for " + data.values.password)`. A secret of four or more
//! characters is replaced everywhere. A shorter one is replaced only if it is the whole value,
//! since `a` and `12` occur everywhere.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// The text that replaces a secret.
pub const REDACTED: &str = "<redacted>";

/// Secrets with fewer characters are replaced only if they are the whole value.
const SEARCHED: usize = 4;

/// The texts of all secrets of a run.
#[derive(Default, Debug)]
pub struct Secrets {
    /// Longest first.
    searched: BTreeSet<(Reverse<usize>, String)>,
    short: BTreeSet<String>,
    finder: OnceLock<Option<AhoCorasick>>,
}

impl Secrets {
    /// Adds a secret in one of its textual forms.
    pub fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if text.chars().count() < SEARCHED {
            self.short.insert(text.to_owned());
            return;
        }
        self.searched.insert((Reverse(text.len()), text.to_owned()));
        // A text of several lines can be shown in part.
        let lines = text.lines().map(str::trim).filter(|line| line.chars().count() >= SEARCHED);
        self.searched.extend(lines.map(|line| (Reverse(line.len()), line.to_owned())));
        self.finder.take();
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.searched.is_empty() && self.short.is_empty()
    }

    /// The text with secrets replaced; `None` if it contains none.
    pub fn hidden(&self, text: &str) -> Option<String> {
        if self.short.contains(text) {
            return Some(REDACTED.to_owned());
        }
        let places = self.places(text.as_bytes());
        if places.is_empty() {
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for place in places {
            out.push_str(&text[copied..place.start]);
            out.push_str(REDACTED);
            copied = place.end;
        }
        out.push_str(&text[copied..]);
        Some(out)
    }

    /// The same for a text that is a value: quoted or not.
    pub fn hidden_value(&self, text: &str) -> Option<String> {
        let bare = text.trim_matches(|c| matches!(c, '"' | '\''));
        if self.short.contains(bare) { Some(REDACTED.to_owned()) } else { self.hidden(text) }
    }

    /// The ranges of secrets in a text.
    pub fn places(&self, text: &[u8]) -> Vec<Range<usize>> {
        let Some(finder) = self.finder() else { return Vec::new() };
        finder.find_iter(text).map(|found| found.range()).collect()
    }

    /// Finds the longest secret at the first position with one: one pass, however many secrets
    /// there are.
    fn finder(&self) -> Option<&AhoCorasick> {
        let build = || {
            let texts = self.searched.iter().map(|(_, text)| text);
            let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
            (!self.searched.is_empty()).then(|| finder.expect("the secrets fit into memory, and so does their index"))
        };
        self.finder.get_or_init(build).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(texts: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        texts.iter().for_each(|text| secrets.add(text));
        secrets
    }

    #[test]
    fn long_secrets_are_hidden_everywhere() {
        let secrets = secrets(&["hush", "hush-hush", "é"]);
        assert_eq!(secrets.hidden("xhushy hush-hush").as_deref(), Some("x<redacted>y <redacted>"));
        assert_eq!(secrets.hidden("nothing here"), None);
    }

    #[test]
    fn short_secrets_are_hidden_only_as_whole_values() {
        let secrets = secrets(&["a", "12"]);
        assert_eq!(secrets.hidden("a cat of 12 years"), None);
        assert_eq!(secrets.hidden_value("\"a\"").as_deref(), Some(REDACTED));
        assert_eq!(secrets.hidden_value("12").as_deref(), Some(REDACTED));
        assert_eq!(secrets.hidden_value("123"), None);
    }

    #[test]
    fn lines_of_a_secret_are_hidden() {
        let secrets = secrets(&["first line\nsecond line\n"]);
        assert_eq!(secrets.hidden("got second line").as_deref(), Some("got <redacted>"));
    }
}
