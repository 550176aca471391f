//! Regular expressions of rules: PCRE2, unanchored, with limited work.
//!
//! PCRE2 backtracks, so a pattern like `(a+)+$` takes exponential time on some texts. It accepts a
//! limit of steps, but does not report how many it took. So a pattern is tried with a small limit
//! first, then with larger ones, and the [`Budget`] is charged the limit of the attempt that
//! succeeded.

use std::sync::OnceLock;

use pcre2::bytes::{Regex, RegexBuilder};

use crate::budget::{Budget, Exhausted, STRIDE};

/// Limits of the attempts, in steps. Nearly all patterns of real rules need fewer than a hundred.
const ATTEMPTS: [u64; 4] = [300, 5_000, 100_000, 2_000_000];

/// The charge for an attempt with the first limit.
const USUAL: u64 = 100;

/// Longer patterns are rejected; compiling takes proportional time and memory.
const MAX_LENGTH: usize = 64 * 1024;

/// Differences between RE2 and PCRE besides `$`.
pub(crate) const VERTICAL_TAB: &str = "`\\v` is one character here and any vertical space in PCRE";

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Box<str>,
    /// One for each attempt; the first is always compiled, to find errors of the
    /// pattern.
    attempts: Box<[OnceLock<Regex>; ATTEMPTS.len()]>,
}

/// Steps, depth of backtracking, kibibytes of heap. A pattern cannot raise limits set at its
/// beginning.
fn limits(steps: u64) -> String {
    format!("(*LIMIT_MATCH={steps})(*LIMIT_DEPTH=100000)(*LIMIT_HEAP=65536)")
}

impl Pattern {
    /// Compiles a pattern; the error contains the problem and its offset.
    pub fn new(text: &str) -> Result<Pattern, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!("the regular expression is longer than {MAX_LENGTH} bytes"));
        }
        let before = limits(ATTEMPTS[0]).len();
        let regex = compile(text, ATTEMPTS[0]).map_err(|error| {
            let at = error
                .offset()
                .map_or(String::new(), |at| format!(" at position {}", at.saturating_sub(before).min(text.len()) + 1));
            let reason = error.to_string();
            // "PCRE2: error compiling pattern at offset 12: missing closing parenthesis"
            let reason = reason.rsplit_once(": ").map_or(reason.as_str(), |(_, reason)| reason);
            format!("the regular expression does not compile{at}: {reason}")
        })?;
        let attempts: Box<[OnceLock<Regex>; ATTEMPTS.len()]> = Box::default();
        attempts[0].get_or_init(|| regex);
        Ok(Pattern { text: text.into(), attempts })
    }

    /// Whether the pattern is found in the text; fails if that takes too much work.
    pub fn is_match(&self, text: &str, budget: &Budget<'_>) -> Result<bool, String> {
        // A step may scan the whole text.
        let weight = 1 + (text.len() / STRIDE) as u64;
        for (number, steps) in ATTEMPTS.into_iter().enumerate() {
            if number > 0 && budget.left() < steps.saturating_mul(weight) {
                // A larger budget may have another result, so this one counts as exhausted.
                let _ = budget.spend(budget.left());
                break;
            }
            let regex = match self.attempts[number].get() {
                Some(regex) => regex,
                None => match compile(&self.text, steps) {
                    Ok(regex) => self.attempts[number].get_or_init(|| regex),
                    Err(_) => break,
                },
            };
            let found = regex.is_match(text.as_bytes());
            let charge = if number == 0 && found.is_ok() { USUAL } else { steps };
            if budget.spend(charge.saturating_mul(weight)).is_err() && found.is_err() {
                return Err(Exhausted::message());
            }
            if let Ok(found) = found {
                return Ok(found);
            }
        }
        Err(format!("the regular expression {} takes too many steps on this value and was stopped", self.text))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

fn compile(text: &str, steps: u64) -> Result<Regex, pcre2::Error> {
    RegexBuilder::new().utf(true).build(&format!("{}{text}", limits(steps)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_perl_compatible_and_unanchored() {
        for (pattern, text, expect) in [
            ("3", "q35", true),
            ("^q35$", "q35\n", true),
            ("(q)\\1", "qq", true),
            ("(?>q)35", "q35", true),
            ("q35\\Z", "q35", true),
            ("(?mi)^virtio|scsi$", "VIRTIO-foo", true),
            ("^.$", "é", true),
            ("^\\p{L}\\d+$", "q35", true),
            ("^ide$", "virtio", false),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().is_match(text, &Budget::default()), Ok(expect), "{pattern}");
        }
    }

    #[test]
    fn errors_have_positions() {
        assert_eq!(
            Pattern::new("ab(").unwrap_err(),
            "the regular expression does not compile at position 4: missing closing parenthesis"
        );
        assert!(Pattern::new(&"a".repeat(100_000)).is_err());
        assert!(Pattern::new("((a{1,1000}){1,1000}){1,1000}").is_err());
    }

    #[test]
    fn exponential_patterns_are_stopped() {
        let text = "a".repeat(5000) + "!";
        for pattern in ["^(a+)+$", "(*LIMIT_MATCH=4000000000)^(a|aa)+$"] {
            let budget = Budget::default();
            assert!(Pattern::new(pattern).unwrap().is_match(&text, &budget).unwrap_err().contains("too many steps"));
            assert!(budget.is_exhausted(), "{pattern}: {}", budget.taken());
        }
        // A few of these on short texts use up the budget of a review.
        let (budget, text) = (Budget::default(), "a".repeat(40) + "!");
        let pattern = Pattern::new("(a+)+$").unwrap();
        let tries = (0..100).take_while(|_| pattern.is_match(&text, &budget).is_err() && !budget.is_exhausted());
        assert!((4..=6).contains(&tries.count()));
    }

    #[test]
    fn usual_patterns_are_cheap() {
        let budget = Budget::default();
        for (pattern, text) in [
            ("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "rootdisk-of-the-vm-number-1"),
            ("^pc-q35-rhel\\d+\\.\\d+\\.\\d+$", "pc-q35-rhel9.4.0"),
            ("(?mi)^virtio|scsi$", "virtio"),
        ] {
            assert_eq!(Pattern::new(pattern).unwrap().is_match(text, &budget), Ok(true), "{pattern}");
        }
        assert_eq!(budget.taken(), 3 * USUAL);
    }
}
