//! Which of some names did the user mean?

/// The candidate nearest to `word`, if one is near enough: fewer edits than half of its letters. Case and underscores do
/// not count. Of equally near ones the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = folded(word);
    let mut best = None;
    let mut best_distance = word.len().div_ceil(2);
    for candidate in candidates {
        let other = folded(candidate);
        if word.len().abs_diff(other.len()) >= best_distance {
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

/// Bytes to insert, remove or replace to turn one into the other.
pub fn edit_distance(left: &[u8], right: &[u8]) -> usize {
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
}
