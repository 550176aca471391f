//! The list of cases that are known to fail: `tests/known-failures.txt`.
//!
//! A line is `<case> <level> <reason>`. The list may only shrink: a listed case that passes fails
//! the run.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use crate::Outcome;

/// The header of the list.
const HEAD: &str = "\
# Cases that are known to fail: name, the level that they fail at (L1: result, L2: error text only), reason.
# A listed case that passes fails the test run: take it off. YTTERBY_BLESS=known-failures writes the list anew.
";

/// The list, and the results of this run.
pub struct KnownFailures {
    listed: BTreeMap<String, Entry>,
    found: Mutex<BTreeMap<String, &'static str>>,
    is_blessing: bool,
}

struct Entry {
    level: String,
    reason: String,
}

impl KnownFailures {
    /// Reads the list; it may be missing.
    pub fn read(path: &Path) -> KnownFailures {
        let text = fs::read_to_string(path).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let listed = lines.map(|line| {
            let mut pieces = line.splitn(3, ' ').map(str::to_owned);
            let (name, level, reason) = (pieces.next(), pieces.next(), pieces.next());
            let (Some(name), Some(level), Some(reason)) = (name, level, reason) else {
                panic!("{}: expected `<case> <level> <reason>`: {line}", path.display())
            };
            (name, Entry { level, reason })
        });
        let is_blessing = std::env::var("YTTERBY_BLESS").is_ok_and(|what| what == "known-failures");
        KnownFailures { listed: listed.collect(), found: Mutex::default(), is_blessing }
    }

    /// Whether to rewrite the list.
    pub fn is_blessing(&self) -> bool {
        self.is_blessing
    }

    /// Complains about listed cases that do not exist.
    pub fn check_names<'a>(&self, names: impl Iterator<Item = &'a str>) {
        let names: HashSet<_> = names.collect();
        let gone: Vec<_> = self.listed.keys().filter(|name| !names.contains(name.as_str())).collect();
        assert!(gone.is_empty() || self.is_blessing, "known-failures.txt names cases that do not exist: {gone:?}");
    }

    /// Whether the result of a case matches the list.
    pub fn judge(&self, name: &str, outcome: Outcome) -> Result<(), String> {
        let (level, details) = match outcome {
            Outcome::Passed => (None, String::new()),
            Outcome::FailedL1(details) => (Some("L1"), details),
            Outcome::FailedL2(details) => (Some("L2"), details),
        };
        if self.is_blessing {
            let mut found = self.found.lock().expect("judging does not panic");
            found.extend(level.map(|level| (name.to_owned(), level)));
            return Ok(());
        }
        match (self.listed.get(name), level) {
            (None, None) => Ok(()),
            (None, Some(level)) => Err(format!("fails at {level}:\n{details}")),
            (Some(entry), Some(level)) if entry.level == level => Ok(()),
            (Some(entry), Some(level)) => {
                Err(format!("is listed in known-failures.txt at {} but fails at {level}:\n{details}", entry.level))
            }
            (Some(_), None) => Err("passes: take it off known-failures.txt".into()),
        }
    }

    /// Writes the results of this run. Existing reasons are kept.
    pub fn write(&self, path: &Path) {
        let found = self.found.lock().expect("judging does not panic");
        let mut text = HEAD.to_owned();
        for (name, level) in found.iter() {
            let reason = self.listed.get(name).map_or("not there yet", |entry| entry.reason.as_str());
            text.push_str(&format!("{name} {level} {reason}\n"));
        }
        fs::write(path, text).expect("the list can be written");
    }
}
