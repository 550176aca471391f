//! `date`: RFC 3339 full-date, with real days of the month.

pub(super) fn accepts(text: &str) -> bool {
    matches!(full_date(text), Some(""))
}

/// Parses a date at the beginning; returns the rest.
pub(super) fn full_date(text: &str) -> Option<&str> {
    let (year, rest) = super::digits(text, 4)?;
    let (month, rest) = super::digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = super::digits(rest.strip_prefix('-')?, 2)?;
    (1..=days(year, month)).contains(&day).then_some(rest)
}

/// The number of days of a month; 0 if there is no such month.
fn days(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}
