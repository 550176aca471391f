//! Generates strings: of given lengths, of formats, with the parts that rules require.
//!
//! `of_length` lists texts worth trying (bounds, and what often breaks templates), `draw` makes
//! random ones. The texts may break rules, so the caller checks them.

use super::pattern::ParsedPattern;
use super::random::Random;
use crate::node::{Node, Scalar};
use crate::validate::Want;

/// Texts of about these lengths in bytes, and others that often break templates.
pub(super) fn of_length(wants: &[Want<'_>], lengths: &[usize], random: &mut Random) -> Vec<String> {
    let mut texts = Vec::new();
    let formats: Vec<&'static crate::validate::formats::Format> = wants
        .iter()
        .filter_map(|want| match want {
            Want::Format(format) => Some(*format),
            _ => None,
        })
        .collect();
    for format in &formats {
        texts.extend(more_of(format.name).iter().map(|text| (*text).to_owned()));
        texts.extend(format.examples.iter().map(|text| (*text).to_owned()));
        if format.name == "hostname" {
            texts.push(format!("{}.{}", "a".repeat(63), "b".repeat(63)));
        }
    }
    let pattern = wants.iter().find_map(|want| match want {
        Want::Pattern(regexp) => ParsedPattern::read(regexp),
        _ => None,
    });
    match pattern {
        Some(pattern) => {
            for length in lengths {
                texts.extend(closest(&pattern, *length, random));
            }
        }
        None if formats.is_empty() => {
            texts.extend(lengths.iter().map(|length| composed(wants, *length, "a")));
            texts.extend(
                ["", "a", "Two words", "é", "123", "true", "a: b #c", "x\ny"].map(|middle| composed(wants, 0, middle)),
            );
        }
        None => {}
    }
    texts
}

/// A random text, of this length in bytes if rules allow it.
pub(super) fn draw(wants: &[Want<'_>], length: usize, random: &mut Random) -> String {
    for want in wants {
        match want {
            Want::Pattern(regexp) => {
                if let Some(pattern) = ParsedPattern::read(regexp) {
                    let extra = random.below(length.max(1) + 2) as u32;
                    return pattern.text(random, extra);
                }
            }
            Want::Format(format) => {
                return drawn_format(format.name, random)
                    .unwrap_or_else(|| random.pick(&format.examples).copied().unwrap_or_default().to_owned());
            }
            _ => {}
        }
    }
    let letters: String = (0..length).map(|_| char::from(b'a' + random.below(26) as u8)).collect();
    composed(wants, 0, &letters)
}

/// The prefix, the parts and the suffix that rules require, with a text in between, padded to a
/// length.
fn composed(wants: &[Want<'_>], length: usize, middle: &str) -> String {
    let (mut prefix, mut parts, mut suffix) = (String::new(), String::new(), String::new());
    for want in wants {
        match want {
            Want::Prefix(text) if text.as_bytes().len() > prefix.len() => prefix = text.to_string(),
            Want::Suffix(text) if text.as_bytes().len() > suffix.len() => suffix = text.to_string(),
            Want::Part(Node::Scalar(Scalar::Str(text))) => parts.push_str(&text.to_str()),
            _ => {}
        }
    }
    if length > 0 || middle == "a" {
        let room = length.saturating_sub(prefix.len() + parts.len() + suffix.len());
        return format!("{prefix}{}{parts}{suffix}", "a".repeat(room));
    }
    format!("{prefix}{middle}{parts}{suffix}")
}

/// Texts that a pattern matches, as close to a length as possible.
fn closest(pattern: &ParsedPattern, length: usize, random: &mut Random) -> Vec<String> {
    // The length grows with the repetitions, so use binary search.
    let (mut low, mut high) = (0u32, length as u32 + 1);
    let mut best: Option<String> = None;
    let mut texts = Vec::new();
    while low < high {
        let extra = low + (high - low) / 2;
        let text = pattern.text(random, extra);
        let distance = |text: &String| text.len().abs_diff(length);
        if best.as_ref().is_none_or(|best| distance(&text) < distance(best)) {
            best = Some(text.clone());
        }
        match text.len().cmp(&length) {
            std::cmp::Ordering::Equal => break,
            std::cmp::Ordering::Less => low = extra + 1,
            std::cmp::Ordering::Greater => high = extra,
        }
    }
    texts.extend(best);
    texts
}

/// Texts of a format besides its examples: bounds, and forms that are easily forgotten. Those that
/// the format rejects are harmless.
fn more_of(format: &str) -> &'static [&'static str] {
    match format {
        "date-time" => &["0001-01-01T00:00:00Z", "2024-02-29T23:59:59.999Z", "9999-12-31T23:59:59-12:00"],
        "time" => &["00:00:00Z", "23:59:59.999+14:00"],
        "date" => &["0001-01-01", "2024-02-29", "9999-12-31"],
        "email" => &["a@b", "first.last+tag@sub.example.org"],
        "hostname" => &["a", "a-b.example.com", "0.1.2.x"],
        "ip" => &["0.0.0.0", "255.255.255.255", "::", "fe80::1"],
        "ipv4" => &["0.0.0.0", "255.255.255.255", "10.1.2.3"],
        "ipv6" => &["::", "fe80::1", "2001:db8:0:0:0:0:0:1", "::ffff:10.0.0.1"],
        "uri" => &["http://a", "https://user@example.com:8443/p/q?r=s#t", "urn:a:b"],
        "uri-reference" => &["", "a", "//example.com/x", "?q=1", "#f", "../up"],
        "port" => &["0", "1", "80", "65535"],
        "percent" => &["0%", "1%", "99%"],
        "duration" => &["0s", "1ns", "1h30m", "1.5h", "100ms"],
        "iso-duration" | "duration-iso" => &["P1D", "PT1S", "P1Y2M3DT4H5M6S", "P1W"],
        "quantity" => &["0", "1", "100m", "1Gi", "1.5", "2e3", "128Mi"],
        _ => &[],
    }
}

/// A random text of a format; `None` if only fixed ones are known.
fn drawn_format(format: &str, random: &mut Random) -> Option<String> {
    let mut number = |low: i64, high: i64| random.between(low, high);
    Some(match format {
        "date-time" => format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
            number(1970, 2100),
            number(1, 12),
            number(1, 28),
            number(0, 23),
            number(0, 59),
            number(0, 59)
        ),
        "time" => format!("{:02}:{:02}:{:02}Z", number(0, 23), number(0, 59), number(0, 59)),
        "date" => format!("{:04}-{:02}-{:02}", number(1970, 2100), number(1, 12), number(1, 28)),
        "email" => format!("user{}@example.com", number(0, 9_999)),
        "hostname" => format!("host-{}.example.com", number(0, 9_999)),
        "ip" | "ipv4" => format!("{}.{}.{}.{}", number(0, 255), number(0, 255), number(0, 255), number(0, 255)),
        "ipv6" => format!("2001:db8::{:x}:{:x}", number(1, 65_535), number(1, 65_535)),
        "uri" | "uri-reference" => format!("https://example.com/{}", number(0, 9_999)),
        "port" => number(0, 65_535).to_string(),
        "percent" => format!("{}%", number(0, 100)),
        "duration" => format!("{}m{}s", number(0, 999), number(0, 59)),
        "quantity" => format!("{}Mi", number(1, 4_096)),
        _ => return None,
    })
}
