//! `duration`: the syntax of Go's `time.ParseDuration`: `1h15m30.918s`, within 64 bits of
//! nanoseconds.

pub(super) fn accepts(text: &str) -> bool {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if unsigned == "0" {
        return true;
    }
    let limit = if negative { LIMIT } else { LIMIT - 1 };
    !unsigned.is_empty() && nanoseconds(unsigned).is_some_and(|total| total <= limit)
}

const LIMIT: u64 = 1 << 63;

fn nanoseconds(mut text: &str) -> Option<u64> {
    let mut total: u64 = 0;
    while !text.is_empty() {
        let (whole, rest) = super::digit_run(text).unwrap_or(("", text));
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => super::digit_run(rest).unwrap_or(("", rest)),
            None => ("", rest),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let unit = unit(name)?;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        total = total.checked_add(whole.checked_mul(unit)?)?.checked_add(part_of(unit, fraction))?;
        if total > LIMIT {
            return None;
        }
        text = rest;
    }
    Some(total)
}

fn unit(name: &str) -> Option<u64> {
    Some(match name {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// `unit` times `0.fraction`, truncated to an integer; in floats, to get Go's rounding near the
/// limit.
fn part_of(unit: u64, fraction: &str) -> u64 {
    // Go stops reading when 63 bits are full.
    let fits = |digits: usize| fraction[..digits].parse::<u64>().is_ok_and(|value| value < 1 << 63);
    let digits = (0..=fraction.len().min(19)).rev().find(|&digits| fits(digits)).unwrap_or(0);
    let value: u64 = fraction[..digits].parse().unwrap_or(0);
    (value as f64 * (unit as f64 / 10f64.powi(digits as i32))) as u64
}
