//! `time`: RFC 3339 full-time; the offset is required, and a leap second is only at 23:59:60 UTC.

pub(super) fn accepts(text: &str) -> bool {
    full_time(text).is_some()
}

/// Whether the whole text is a time of day with its offset.
pub(super) fn full_time(text: &str) -> Option<()> {
    let (hour, rest) = super::digits(text, 2)?;
    let (minute, rest) = super::digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = super::digits(rest.strip_prefix(':')?, 2)?;
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => super::digit_run(fraction)?.1,
        None => rest,
    };
    let offset = offset_minutes(rest)?;
    let utc_minute = (hour as i32 * 60 + minute as i32 - offset).rem_euclid(24 * 60);
    let last_second = if utc_minute == 24 * 60 - 1 { 60 } else { 59 };
    (hour < 24 && minute < 60 && second <= last_second).then_some(())
}

/// `Z` or `±hh:mm`, and nothing after it.
fn offset_minutes(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'Z' | b'z' if text.len() == 1 => return Some(0),
        b'+' => (1, &text[1..]),
        b'-' => (-1, &text[1..]),
        _ => return None,
    };
    let (hour, rest) = super::digits(rest, 2)?;
    let (minute, rest) = super::digits(rest.strip_prefix(':')?, 2)?;
    (hour < 24 && minute < 60 && rest.is_empty()).then_some(sign * (hour * 60 + minute) as i32)
}
