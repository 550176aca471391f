//! Parses and formats limits as people write them: `10s`, `1GiB`, `none`.

use std::time::Duration;

const TIMES: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

const SIZES: [(&str, u64); 18] = [
    ("", 1),
    ("b", 1),
    ("k", 1_000),
    ("kb", 1_000),
    ("ki", 1 << 10),
    ("kib", 1 << 10),
    ("m", 1_000_000),
    ("mb", 1_000_000),
    ("mi", 1 << 20),
    ("mib", 1 << 20),
    ("g", 1_000_000_000),
    ("gb", 1_000_000_000),
    ("gi", 1 << 30),
    ("gib", 1 << 30),
    ("t", 1_000_000_000_000),
    ("tb", 1_000_000_000_000),
    ("ti", 1 << 40),
    ("tib", 1 << 40),
];

/// A time: `500ms`, `10s`, `1m30s`, `1.5h`, or `none` for no limit.
///
/// ```
/// use std::time::Duration;
/// use ytterby_text::budget::parse_time;
/// assert_eq!(parse_time("1m30s"), Some(Duration::from_secs(90)));
/// assert_eq!(parse_time("none"), Some(Duration::MAX));
/// assert_eq!(parse_time("10"), None);
/// ```
pub fn parse_time(text: &str) -> Option<Duration> {
    if text == "none" {
        return Some(Duration::MAX);
    }
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (number, after) = split_number(rest)?;
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let unit = TIMES.iter().find(|(name, _)| *name == unit)?.1;
        total = total.checked_add(times(number, unit)?)?;
        rest = next;
    }
    (total > 0).then(|| Duration::from_nanos(total))
}

/// A size: `1GiB`, `1Gi`, `400MB`, `65536`, or `none` for no limit.
///
/// ```
/// use ytterby_text::budget::parse_size;
/// assert_eq!(parse_size("1.5GiB"), Some(3 << 29));
/// assert_eq!(parse_size("10parsecs"), None);
/// ```
pub fn parse_size(text: &str) -> Option<u64> {
    if text == "none" {
        return Some(u64::MAX);
    }
    let (number, unit) = split_number(text)?;
    let unit = unit.trim_start().to_ascii_lowercase();
    let unit = SIZES.iter().find(|(name, _)| *name == unit)?.1;
    times(number, unit).filter(|size| *size > 0)
}

/// A count: `1000`, `2_000_000`, or `none` for no limit.
///
/// ```
/// use ytterby_text::budget::parse_count;
/// assert_eq!(parse_count("2_000"), Some(2000));
/// assert_eq!(parse_count("-5"), None);
/// ```
pub fn parse_count(text: &str) -> Option<u64> {
    if text == "none" {
        return Some(u64::MAX);
    }
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    text.replace(['_', ','], "").parse().ok().filter(|count| *count > 0)
}

/// The number at the beginning of a text, and the rest.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((number.parse().ok()?, rest))
}

fn times(number: f64, unit: u64) -> Option<u64> {
    let product = number * unit as f64;
    // More than nine exabytes or 300 years is a mistake.
    (product < (1u64 << 63) as f64).then_some(product as u64)
}

/// Formats a time so that [`parse_time`] reads it back.
pub fn shown_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if time == Duration::MAX {
        "none".to_owned()
    } else if seconds < 1.0 {
        format!("{}ms", (seconds * 1e6).round() / 1e3)
    } else if seconds < 120.0 {
        format!("{}s", (seconds * 10.0).round() / 10.0)
    } else {
        format!("{}m", (seconds / 6.0).round() / 10.0)
    }
}

/// Formats a size so that [`parse_size`] reads it back.
pub fn shown_size(bytes: u64) -> String {
    if bytes == u64::MAX {
        return "none".to_owned();
    }
    let units = [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{}{name}", (bytes as f64 / *unit as f64 * 10.0).round() / 10.0),
        None => format!("{bytes} bytes"),
    }
}
