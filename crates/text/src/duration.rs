//! Go's durations: `1h15m30.918s`, as 64 bits of nanoseconds.
//!
//! The results are those of Go's `time.ParseDuration`, its rounding of fractions included.

/// Parses a duration to nanoseconds: `-1.5h`, `300ms`, `0`.
pub fn parse(text: &str) -> Option<i64> {
    let (is_negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let total = if unsigned == "0" { 0 } else { nanoseconds(unsigned)? };
    match is_negative {
        true => 0i64.checked_sub_unsigned(total),
        false => i64::try_from(total).ok(),
    }
}

/// One more than the largest duration.
const LIMIT: u64 = 1 << 63;

fn nanoseconds(mut text: &str) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !text.is_empty() {
        let (whole, rest) = digits(text);
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => digits(rest),
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

/// The digits at the start of a text, and the rest.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_as_go_does() {
        assert_eq!(parse("1h2m3.5s"), Some(3_723_500_000_000));
        assert_eq!((parse("-1s"), parse("1"), parse("0"), parse("+0")), (Some(-1_000_000_000), None, Some(0), Some(0)));
        assert_eq!((parse(""), parse("-"), parse("1.2.3s"), parse(".s")), (None, None, None, None));
        assert_eq!((parse(".5s"), parse("5.s")), (Some(500_000_000), Some(5_000_000_000)));
        assert_eq!((parse("9223372036854775807ns"), parse("9223372036854775808ns")), (Some(i64::MAX), None));
        assert_eq!((parse("-9223372036854775808ns"), parse("-9223372036854775809ns")), (Some(i64::MIN), None));
    }
}
