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

/// Building a finder takes quadratic time (54 % of a run with 8,000 secrets was spent on it), so it
/// gets no more than this.
const SECRETS_PER_FINDER: usize = 1_000;

/// The texts of all secrets of a run.
#[derive(Default, Debug)]
pub struct Secrets {
    /// Longest first.
    searched: BTreeSet<(Reverse<usize>, String)>,
    short: BTreeSet<String>,
    finders: OnceLock<Vec<AhoCorasick>>,
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
        self.finders.take();
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

    /// The ranges of secrets in a text; they do not overlap.
    pub fn places(&self, text: &[u8]) -> Vec<Range<usize>> {
        let finders = self.finders();
        let found = finders.iter().flat_map(|finder| finder.find_iter(text).map(|found| found.range()));
        let mut found: Vec<Range<usize>> = found.collect();
        if finders.len() < 2 {
            return found;
        }
        found.sort_by_key(|place| (place.start, Reverse(place.end)));
        let mut places: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for place in found {
            match places.last_mut() {
                Some(last) if place.start < last.end => last.end = last.end.max(place.end),
                _ => places.push(place),
            }
        }
        places
    }

    /// Each finds the longest of its secrets at the first position with one, in one pass.
    fn finders(&self) -> &[AhoCorasick] {
        self.finders.get_or_init(|| {
            let texts: Vec<&String> = self.searched.iter().map(|(_, text)| text).collect();
            let build = |texts: &[&String]| {
                let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts);
                finder.expect("the secrets fit into memory, and so does their index")
            };
            texts.chunks(SECRETS_PER_FINDER).map(build).collect()
        })
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

    #[test]
    fn thousands_of_secrets_are_hidden() {
        let texts: Vec<String> = (0..3_000).map(|number| format!("secret-{number}-x")).collect();
        let secrets = secrets(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let text = "first secret-0-x, secret-2999-x and secret-12-xsecret-1500-x; not secret-3000-x";
        let expected = "first <redacted>, <redacted> and <redacted><redacted>; not secret-3000-x";
        assert_eq!(secrets.hidden(text).as_deref(), Some(expected));
    }
}
