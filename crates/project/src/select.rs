//! Selects targets by name and by shard.

use ytterby_diag::{Diagnostic, Id};
use ytterby_text::spelling;

use crate::project::{ProjectFile, Target};

/// The targets that the words name, in the order of the file; all if there are no words. A word is
/// the name of a target, of a whole matrix (`all`), or of a part of one (`all[region=eu]`).
///
/// # Errors
/// If a word names no target.
pub fn select<'a>(project: &'a ProjectFile, words: &[String]) -> Result<Vec<&'a Target>, Box<Diagnostic>> {
    let mut chosen = vec![words.is_empty(); project.targets.len()];
    for word in words {
        let mut is_known = false;
        for (target, chosen) in project.targets.iter().zip(&mut chosen) {
            if is_named(target, word) {
                (*chosen, is_known) = (true, true);
            }
        }
        if !is_known {
            return Err(Box::new(unknown(project, word)));
        }
    }
    Ok(project.targets.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(target, _)| target).collect())
}

/// Whether a word names a target.
pub(crate) fn is_named(target: &Target, word: &str) -> bool {
    if target.name == word || target.group == word {
        return true;
    }
    let Some((group, pairs)) = word.strip_suffix(']').and_then(|word| word.split_once('[')) else { return false };
    let has = |pair: &str| {
        let pair = pair.split_once('=');
        pair.is_some_and(|(name, text)| target.choices.iter().any(|(key, choice)| key == name && choice == text))
    };
    target.group == group && !target.choices.is_empty() && pairs.split(',').all(has)
}

/// The problem of an unknown target.
pub(crate) fn unknown(project: &ProjectFile, word: &str) -> Diagnostic {
    let mut names: Vec<&str> = project.targets.iter().map(|target| &*target.group).collect();
    names.dedup();
    let message = format!("unknown target \"{word}\"");
    let hint = match spelling::closest(word, names.iter().copied(), spelling::tolerance(word).max(2)) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if names.is_empty() => "the project file has no targets".to_owned(),
        None if names.len() > 10 => format!("targets are {} and {} more", names[..10].join(", "), names.len() - 10),
        None => format!("targets are {}", names.join(", ")),
    };
    Diagnostic::error(Id::PROJECT_TARGET, message.clone()).reference(format!("{message}\n    hint: {hint}")).help(hint)
}

/// A part of the work: `2/3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Shard {
    /// Parses `I/N`, with I from 1 to N.
    ///
    /// ```
    /// use ytterby_project::Shard;
    /// assert!(Shard::parse("2/3").is_some());
    /// assert!(Shard::parse("0/3").is_none() && Shard::parse("4/3").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Shard> {
        let (index, count) = text.split_once('/')?;
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
        let (index, count) = (number(index)?, number(count)?);
        (1..=count).contains(&index).then_some(Shard { index, count })
    }

    /// Whether the item of this name belongs to the shard. The result is the same on every machine
    /// and in every version of the program.
    pub fn contains(self, name: &str) -> bool {
        hash(name) % self.count == self.index - 1
    }
}

/// FNV-1a with a final mix, so that similar short names are distributed evenly.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let mut hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_stable_across_versions() {
        // Users who shard over machines with different versions rely on these.
        assert_eq!(hash(""), 17_058_014_651_485_797_458);
    }

    #[test]
    fn shards_have_similar_sizes() {
        let names: Vec<String> = (0..10_000).map(|number| format!("all[n={number}]")).collect();
        for part in 1..=7 {
            let shard = Shard::parse(&format!("{part}/7")).unwrap();
            let size = names.iter().filter(|name| shard.contains(name)).count();
            assert!((1200..1700).contains(&size), "{part}: {size}");
        }
    }

    #[test]
    fn invalid_shards_are_rejected() {
        for wrong in ["", "1", "1/", "/2", "0/2", "3/2", "-1/2", "1/0", "a/b", "1/2/3", "+1/2"] {
            assert_eq!(Shard::parse(wrong), None, "{wrong}");
        }
    }
}
