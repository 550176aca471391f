//! Analyses the groups and repeats of a regular expression without running it.
//!
//! This is not a full parser: it recognises groups, alternatives, classes and repeats, and treats
//! everything else as one character. That is enough to estimate the compiled size of a pattern, and
//! to find nested repeats with exponential backtracking. It does not find other causes (ambiguity
//! between neighbours, back references).

use std::ops::Range;

/// The approximate number of code units of a compiled pattern: counted repeats are expanded.
pub(crate) fn size(pattern: &str) -> u64 {
    shape(pattern).size
}

/// The part of a pattern that may take exponential time, if any: a repeat of a repeat that can
/// match the same text in many ways.
pub(crate) fn catastrophe(pattern: &str) -> Option<&str> {
    let at = shape(pattern).nested?;
    pattern.get(at)
}

/// The result of an analysis.
#[derive(Default)]
struct PatternShape {
    size: u64,
    /// The outer one of two nested repeats.
    nested: Option<Range<usize>>,
}

/// A group that is being parsed.
struct PatternGroup<'a> {
    start: usize,
    /// The size of all its alternatives.
    size: u64,
    /// Whether it does not backtrack: atomic and possessive groups, and lookarounds.
    is_atomic: bool,
    /// In the current alternative: the number of parts that must match, and of unbounded repeats
    /// among all parts.
    firm: usize,
    repeats: usize,
    /// Whether some alternative is a repeat and nothing else that must match.
    is_loose: bool,
    /// First characters of alternatives, to find two that can match the same text.
    firsts: Vec<&'a str>,
    is_first: bool,
    is_ambiguous: bool,
}

impl<'a> PatternGroup<'a> {
    fn new(start: usize, is_atomic: bool) -> PatternGroup<'a> {
        PatternGroup {
            start,
            size: 0,
            is_atomic,
            firm: 0,
            repeats: 0,
            is_loose: false,
            firsts: Vec::new(),
            is_first: true,
            is_ambiguous: false,
        }
    }

    fn end_alternative(&mut self) {
        self.is_loose |= self.repeats > 0 && self.firm == 0;
        (self.firm, self.repeats, self.is_first) = (0, 0, true);
    }

    fn part(&mut self, first: &'a str) {
        if std::mem::take(&mut self.is_first) {
            let is_same = |other: &&str| *other == first || *other == "." || first == ".";
            self.is_ambiguous |= self.firsts.iter().any(is_same);
            self.firsts.push(first);
        }
    }
}

fn shape(pattern: &str) -> PatternShape {
    let bytes = pattern.as_bytes();
    let mut shape = PatternShape::default();
    let mut groups = vec![PatternGroup::new(0, false)];
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'\\' => {
                at += if bytes.get(at + 1) == Some(&b'Q') {
                    pattern[at..].find("\\E").map_or(bytes.len() - at, |end| end + 2)
                } else {
                    1 + pattern[at + 1..].chars().next().map_or(0, char::len_utf8)
                };
            }
            b'[' => at = class_end(bytes, at),
            b'(' => {
                let head = &pattern[at + 1..];
                let is_atomic = ["?>", "?=", "?!", "?<=", "?<!", "*"].iter().any(|head_of| head.starts_with(head_of));
                if let Some(group) = groups.last_mut() {
                    group.is_first = false;
                }
                groups.push(PatternGroup::new(at, is_atomic));
                at += 1;
                if head.starts_with('?') {
                    at += head.find([':', '>', '=', '!', ')']).map_or(1, |end| end + 1);
                    at -= usize::from(bytes.get(at - 1) == Some(&b')'));
                }
                continue;
            }
            b')' if groups.len() > 1 => {
                let Some(mut group) = groups.pop() else { break };
                group.end_alternative();
                at += 1;
                let is_loose = !group.is_atomic && (group.is_loose || group.is_ambiguous);
                let Some(outer) = groups.last_mut() else { break };
                let repeat = repeat(pattern, at);
                if repeat.is_unbounded && !repeat.is_possessive && is_loose && shape.nested.is_none() {
                    shape.nested = Some(group.start..repeat.end);
                }
                at = repeat.end;
                outer.size = outer.size.saturating_add(group.size.max(1).saturating_mul(repeat.most));
                if is_loose || repeat.is_unbounded && !repeat.is_possessive {
                    outer.repeats += 1;
                } else if repeat.least > 0 {
                    outer.firm += 1;
                }
                continue;
            }
            b'|' => {
                if let Some(group) = groups.last_mut() {
                    group.end_alternative();
                }
                at += 1;
                continue;
            }
            b'^' | b'$' => {
                at += 1;
                continue;
            }
            _ => at += pattern[at..].chars().next().map_or(1, char::len_utf8),
        }
        let Some(group) = groups.last_mut() else { break };
        group.part(&pattern[start..at]);
        let repeat = repeat(pattern, at);
        at = repeat.end;
        group.size = group.size.saturating_add(repeat.most);
        if repeat.is_unbounded && !repeat.is_possessive {
            group.repeats += 1;
        } else if repeat.least > 0 {
            group.firm += 1;
        }
    }
    shape.size = groups.iter().fold(0_u64, |sum, group| sum.saturating_add(group.size));
    shape
}

/// One past the end of a class: `[^]a-z[:digit:]\]]`.
fn class_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    at += usize::from(bytes.get(at) == Some(&b'^'));
    at += usize::from(bytes.get(at) == Some(&b']'));
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b']' => return at + 1,
            b'[' if bytes.get(at + 1) == Some(&b':') => {
                let rest = &bytes[at + 2..];
                at += rest.windows(2).position(|pair| pair == b":]").map_or(1, |end| end + 4);
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The bounds of a repeat.
struct Repeat {
    least: u64,
    /// The maximum, as expanded.
    most: u64,
    is_unbounded: bool,
    is_possessive: bool,
    end: usize,
}

fn repeat(pattern: &str, at: usize) -> Repeat {
    let bytes = pattern.as_bytes();
    let (least, most, is_unbounded, mut end) = match bytes.get(at) {
        Some(b'*') => (0, 1, true, at + 1),
        Some(b'+') => (1, 1, true, at + 1),
        Some(b'?') => (0, 1, false, at + 1),
        Some(b'{') => {
            let inner = pattern[at + 1..].split_once('}').map_or("", |(inner, _)| inner);
            let (low, high) = inner.split_once(',').unwrap_or((inner, inner));
            match (low.trim().parse::<u64>(), high.trim()) {
                (Ok(low), "") => (low, low.max(1), true, at + inner.len() + 2),
                (Ok(low), high) => match high.parse::<u64>() {
                    // From this number on, the number of ways explodes as if there were no bound.
                    Ok(high) => (low, high.max(1), high > low && high >= 10, at + inner.len() + 2),
                    Err(_) => (1, 1, false, at),
                },
                _ => (1, 1, false, at),
            }
        }
        _ => (1, 1, false, at),
    };
    let is_possessive = end > at && bytes.get(end) == Some(&b'+');
    end += usize::from(end > at && matches!(bytes.get(end), Some(b'+' | b'?')));
    Repeat { least, most, is_unbounded, is_possessive, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_explode_are_recognised() {
        for (pattern, expect) in [
            ("(a+)+$", Some("(a+)+")),
            ("^(a*)*$", Some("(a*)*")),
            ("^([a-z]+)*x", Some("([a-z]+)*")),
            ("((a+)?)+b", Some("((a+)?)+")),
            ("(a|a)*b", Some("(a|a)*")),
            ("(a|aa)+$", Some("(a|aa)+")),
            ("(.*,?)+;", Some("(.*,?)+")),
            ("(?:x{1,30})+y", Some("(?:x{1,30})+")),
            ("^([a-z0-9]+-)*[a-z0-9]+$", None),
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", None),
            ("(a|b)*c", None),
            ("([a-z]|\\d)*c", None),
            ("(?>a+)+$", None),
            ("(a++)+$", None),
            ("(a+)++$", None),
            ("(a+)?b", None),
            ("\\(a+\\)+", None),
            ("[(a+)+]", None),
            ("(\\d+\\.){3}\\d+", None),
            ("(?i)^virtio|scsi$", None),
        ] {
            assert_eq!(catastrophe(pattern), expect, "{pattern}");
        }
        // Invalid patterns must not cause a panic.
        for pattern in ["(", ")", "[", "a{", "a{1", "(?", "(?P<n", "\\", "|||", "(a+", "é+(é+)+", "\\é+", "[\\é"] {
            let _ = catastrophe(pattern);
        }
        assert_eq!(size("abc"), 3);
        assert_eq!(size("(?:a{1,999}){1,60}"), 999 * 60);
        assert_eq!(size("a{9999999999}{9999999999}b"), 9_999_999_999 + 12 + 1);
    }
}
