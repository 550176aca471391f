//! Generates texts that a regular expression matches.
//!
//! The syntax tree is walked once per text; the number of unbounded repetitions determines its
//! length. Assertions (`^`, `\b`) are assumed to hold, so the caller must check the text against
//! the expression.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use ytterby_regexp::Regexp;

use super::random::Random;

/// Maximum length of a text.
const MAX_BYTES: usize = 10_000;

/// A parsed pattern.
pub(super) struct ParsedPattern(Hir);

impl ParsedPattern {
    /// Parses a pattern; `None` if it is too large.
    pub fn read(regexp: &Regexp) -> Option<ParsedPattern> {
        let mut parser = ParserBuilder::new().nest_limit(10_000).build();
        parser.parse(regexp.translated()).ok().map(ParsedPattern)
    }

    /// A text in which unbounded repetitions repeat `extra` times more than necessary.
    pub fn text(&self, random: &mut Random, extra: u32) -> String {
        let mut text = Vec::new();
        write(&self.0, random, extra, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

fn write(hir: &Hir, random: &mut Random, extra: u32, out: &mut Vec<u8>) {
    if out.len() > MAX_BYTES {
        return;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.extend_from_slice(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges: Vec<(char, char)> = class.iter().map(|range| (range.start(), range.end())).collect();
            if let Some(c) = character(&ranges, random) {
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        HirKind::Class(Class::Bytes(class)) => {
            if let Some(range) = class.iter().next() {
                out.push(range.start());
            }
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(u32::MAX);
            let count = repetition.min.saturating_add(extra).min(most).min(MAX_BYTES as u32);
            for _ in 0..count {
                if out.len() > MAX_BYTES {
                    break;
                }
                crate::deep(|| write(&repetition.sub, random, extra, out));
            }
        }
        HirKind::Capture(capture) => crate::deep(|| write(&capture.sub, random, extra, out)),
        HirKind::Concat(parts) => parts.iter().for_each(|part| crate::deep(|| write(part, random, extra, out))),
        HirKind::Alternation(parts) => {
            if let Some(part) = random.pick(parts) {
                crate::deep(|| write(part, random, extra, out));
            }
        }
    }
}

/// A character of a class, printable if possible.
fn character(ranges: &[(char, char)], random: &mut Random) -> Option<char> {
    let readable =
        |&(start, end): &(char, char)| (start.max('!') <= end.min('~')).then(|| (start.max('!'), end.min('~')));
    let plain: Vec<(char, char)> = ranges.iter().filter_map(readable).collect();
    let ranges = if plain.is_empty() { ranges } else { &plain };
    let &(start, end) = random.pick(ranges)?;
    let code = random.between(i64::from(u32::from(start)), i64::from(u32::from(end)));
    // A range may contain the surrogates.
    u32::try_from(code).ok().and_then(char::from_u32).or(Some(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_match_their_pattern() {
        let mut random = Random::new(1);
        for pattern in [
            "^[a-z]{3}-[0-9]+$",
            r"^(0|[1-9]\d*)\.(\d+)$",
            "^(?:a|b|cd)*x?$",
            r"^[^a-z\s]+\.(com|org)$",
            r"^\pL+$",
            "abc",
            "(?i)^shop$",
            r"^\w{2,5}$",
        ] {
            let regexp = Regexp::new(pattern.as_bytes()).expect("a pattern of Go's");
            let read = ParsedPattern::read(&regexp).expect("a readable pattern");
            for extra in 0..5 {
                let text = read.text(&mut random, extra);
                assert!(regexp.is_match_in(&text), "{pattern}: {text:?}");
            }
        }
    }
}
