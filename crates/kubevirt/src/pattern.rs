//! Regular expressions of rules: PCRE2, searched anywhere in the text, with bounds on the work.

use pcre2::bytes::{Regex, RegexBuilder};

/// Bounds that every pattern gets: steps, depth of backtracking, kibibytes of heap. A pattern cannot raise them.
const LIMITS: &str = "(*LIMIT_MATCH=2000000)(*LIMIT_DEPTH=100000)(*LIMIT_HEAP=65536)";

/// Longer patterns are refused; compiling takes time and memory in proportion.
const MAX_LENGTH: usize = 64 * 1024;

/// What RE2 and PCRE do not read alike besides `$`.
pub(crate) const VERTICAL_TAB: &str = "`\\v` is one character here and any vertical space in PCRE";

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Box<str>,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern; the error says what is wrong and where in the pattern.
    pub fn new(text: &str) -> Result<Pattern, String> {
        if text.len() > MAX_LENGTH {
            return Err(format!("the regular expression is longer than {MAX_LENGTH} bytes"));
        }
        let regex = RegexBuilder::new().utf(true).build(&format!("{LIMITS}{text}")).map_err(|error| {
            let at = error.offset().map_or(String::new(), |at| {
                format!(" at position {}", at.saturating_sub(LIMITS.len()).min(text.len()) + 1)
            });
            let reason = error.to_string();
            // "PCRE2: error compiling pattern at offset 12: missing closing parenthesis"
            let reason = reason.rsplit_once(": ").map_or(reason.as_str(), |(_, reason)| reason);
            format!("the regular expression does not compile{at}: {reason}")
        })?;
        Ok(Pattern { text: text.into(), regex })
    }

    /// Whether the pattern is found in the text; an error if that took too much work.
    pub fn is_match(&self, text: &str) -> Result<bool, String> {
        self.regex.is_match(text.as_bytes()).map_err(|_| {
            format!("the regular expression {} takes too many steps on this value and was stopped", self.text)
        })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_perl_compatible_and_unanchored() {
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
            assert_eq!(Pattern::new(pattern).unwrap().is_match(text), Ok(expect), "{pattern}");
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
    fn catastrophes_are_stopped() {
        let started = std::time::Instant::now();
        let text = "a".repeat(5000) + "!";
        assert!(Pattern::new("^(a+)+$").unwrap().is_match(&text).unwrap_err().contains("too many steps"));
        assert!(Pattern::new("(*LIMIT_MATCH=4000000000)^(a|aa)+$").unwrap().is_match(&text).is_err());
        assert!(
            Pattern::new("(?R)?a{3}b").unwrap().is_match(&text).is_ok_and(|found| !found)
                || started.elapsed().as_secs() < 20
        );
    }
}
