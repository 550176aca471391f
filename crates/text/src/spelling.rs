//! Suggestions for misspelled names: finds the candidate that the user probably meant.
//!
//! Time and memory grow with the product of two lengths, so very long words are not compared.

use std::collections::HashMap;

use crate::budget;

/// Maximum number of letter pairs when comparing two words: 32 MB and some milliseconds.
const MOST_PAIRS: usize = 1 << 22;

/// Letter pairs that take as long as a unit of work.
const PAIRS_PER_UNIT: usize = 8;

/// Longest misspelling, in bytes, that [`closest`] considers.
const LONGEST: usize = 200;

/// Longest word, in bytes, that is compared at all.
const LONGEST_WORD: usize = 10_000;

/// The candidate nearest to `word`, if it needs fewer edits than half of its letters. Case and
/// underscores are ignored. If several are equally near, the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let word = folded(word);
    let mut best = None;
    let mut best_distance = word.len().div_ceil(2);
    for candidate in candidates {
        let other = folded(candidate);
        if word.len().abs_diff(other.len()) >= best_distance || pairs(word.len(), other.len()).is_none() {
            continue;
        }
        let distance = edit_distance(&word, &other);
        if distance < best_distance {
            best_distance = distance;
            best = Some(candidate);
        }
    }
    best
}

/// Number of bytes to insert, remove or replace to turn one into the other.
fn edit_distance(left: &[u8], right: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let cost = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}

fn folded(word: &str) -> Vec<u8> {
    let mut out = String::with_capacity(word.len());
    out.extend(word.chars().filter(|&c| c != '_').flat_map(char::to_lowercase));
    out.into_bytes()
}

/// The Damerau–Levenshtein distance of two words: the number of characters to insert, delete,
/// replace, or swap with their neighbour to get from one to the other. `None` if they are too long
/// to compare.
pub fn distance(a: &str, b: &str) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let pairs = pairs(a.len(), b.len())?;
    let far = a.len() + b.len();
    let width = b.len() + 1;
    let at = |row: usize, column: usize| row * width + column;
    let mut cost = vec![0; pairs];
    for row in 0..=a.len() {
        cost[at(row, 0)] = row;
    }
    for column in 0..=b.len() {
        cost[at(0, column)] = column;
    }
    // The last row in which each character of `a` was seen.
    let mut last_row: HashMap<char, usize> = HashMap::new();
    for row in 1..=a.len() {
        let mut last_column = 0;
        for column in 1..=b.len() {
            let swap_row = last_row.get(&b[column - 1]).copied().unwrap_or(0);
            let swap_column = last_column;
            let same = a[row - 1] == b[column - 1];
            if same {
                last_column = column;
            }
            let replaced = cost[at(row - 1, column - 1)] + usize::from(!same);
            let inserted = cost[at(row, column - 1)] + 1;
            let deleted = cost[at(row - 1, column)] + 1;
            let swapped = match (swap_row, swap_column) {
                (0, _) | (_, 0) => far,
                _ => cost[at(swap_row - 1, swap_column - 1)] + (row - swap_row) + (column - swap_column) - 1,
            };
            cost[at(row, column)] = replaced.min(inserted).min(deleted).min(swapped);
        }
        last_row.insert(a[row - 1], row);
    }
    Some(cost[at(a.len(), b.len())])
}

/// The size of the table for two words of these lengths, if it is within the limit. Charges the
/// comparison: thousands of unknown names may be compared with thousands of known ones.
fn pairs(left: usize, right: usize) -> Option<usize> {
    let pairs = (left + 1).checked_mul(right + 1).filter(|pairs| *pairs <= MOST_PAIRS)?;
    budget::work(1 + pairs / PAIRS_PER_UNIT).ok()?;
    Some(pairs)
}

/// Whether one word may be a misspelling of the other: nobody types very long words by hand.
pub fn is_comparable(a: &str, b: &str) -> bool {
    a.len() <= LONGEST && b.len() <= LONGEST
}

/// The candidate with the smallest [`distance`] to `word`, if it is comparable and at most `limit`
/// away. If several are equally near, the first wins.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, limit: usize) -> Option<&'a str> {
    let length = word.chars().count();
    candidates
        .into_iter()
        .filter(|candidate| is_comparable(word, candidate) && candidate.chars().count().abs_diff(length) <= limit)
        .filter_map(|candidate| Some((distance(word, candidate)?, candidate)))
        .filter(|&(away, _)| away <= limit)
        .min_by_key(|&(away, _)| away)
        .map(|(_, candidate)| candidate)
}

/// Maximum distance of a misspelling: a third of the word's letters, but at least two.
pub fn tolerance(word: &str) -> usize {
    (word.chars().count() / 3).max(2)
}

/// The same for names that can be very short, such as keys: at most half of their letters may be
/// wrong.
pub fn tolerance_of_short(word: &str) -> usize {
    tolerance(word).min(word.chars().count() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_likely_name() {
        assert_eq!(nearest("foobaz", ["foobar", "other"]), Some("foobar"));
        assert_eq!(nearest("has_prefix", ["hasPrefix"]), Some("hasPrefix"));
        assert_eq!(nearest("x", ["y", "z"]), None);
        assert_eq!(nearest("removeprefix", ["replace", "partition"]), None);
        assert_eq!(nearest("abc", ["abd", "abc"]), Some("abc"));
    }

    #[test]
    fn counts_edits() {
        assert_eq!(edit_distance(b"kitten", b"sitting"), 3);
        assert_eq!(edit_distance(b"", b"abc"), 3);
    }

    #[test]
    fn counts_edits_and_swaps() {
        for (a, b, away) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "abc", 0),
            ("hostnam", "hostname", 1),
            ("validatoin", "validation", 1),
            ("ca", "abc", 2),
            ("kitten", "sitting", 3),
            ("übung", "ubung", 1),
        ] {
            assert_eq!(distance(a, b), Some(away), "{a} {b}");
            assert_eq!(distance(b, a), Some(away), "{b} {a}");
        }
    }

    #[test]
    fn closest_is_the_first_of_equals_within_the_limit() {
        assert_eq!(closest("a", ["xyz", "b", "c"], 2), Some("b"));
        assert_eq!(closest("strin", ["string"], tolerance("strin")), Some("string"));
        assert_eq!(closest("a", ["xyz"], 2), None);
        assert_eq!(closest("z", ["a"], tolerance_of_short("z")), None);
        assert_eq!(closest("evn", ["env", "evil"], tolerance_of_short("evn")), Some("env"));
    }

    #[test]
    fn long_words_are_not_compared() {
        let (long, longer) = ("a".repeat(2_000), "a".repeat(1_000_000));
        assert_eq!(distance(&long, &long), Some(0));
        assert_eq!(distance(&long, &longer), None);
        assert_eq!(nearest(&long, [&*long]), Some(&*long));
        assert_eq!(nearest(&longer, [&*longer]), None);
        assert_eq!(closest(&long, [&*long], 2), None);
    }
}
