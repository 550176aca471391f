//! Times and durations: parsing, printing, and the parts of a date.

use ytterby_text::calendar::{days_in_month, days_since_epoch};

/// The result of `string()` for a duration: seconds with as many digits as needed.
pub(crate) fn duration_text(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let (seconds, rest) = (nanos.unsigned_abs() / 1_000_000_000, nanos.unsigned_abs() % 1_000_000_000);
    if rest == 0 {
        return format!("{sign}{seconds}s");
    }
    let fraction = format!("{rest:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}

/// Parses an RFC 3339 time to seconds since 1970 and nanoseconds.
pub(crate) fn timestamp(text: &str) -> Option<(i64, u32)> {
    let bytes = text.as_bytes();
    let number = |from: usize, len: usize| -> Option<i64> {
        let digits = bytes.get(from..from + len)?;
        digits.iter().all(u8::is_ascii_digit).then(|| digits.iter().fold(0, |n, d| n * 10 + i64::from(d - b'0')))
    };
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| bytes.get(*at) != Some(mark)) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let is_date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut at = 19;
    let mut nanos = 0u32;
    if bytes.get(at) == Some(&b'.') {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        for place in 0..9 {
            let digit = bytes.get(at + 1 + place).filter(|_| place < digits).map_or(0, |byte| byte - b'0');
            nanos = nanos * 10 + u32::from(digit);
        }
        at += 1 + digits;
    }
    let offset = match bytes.get(at..)? {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (number(at + 1, 2)?, number(at + 4, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    Some((days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset, nanos))
}

/// The result of `string()` for a time.
pub(crate) fn timestamp_text(seconds: i64, nanos: u32) -> String {
    let date = Date::of(seconds);
    let fraction = format!("{nanos:09}");
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let Date { year, month, day, hour, minute, second, .. } = date;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{point}{fraction}Z")
}

/// The parts of a date.
pub(crate) struct Date {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    /// From 0.
    pub day_of_year: i64,
    /// Sunday is 0.
    pub day_of_week: i64,
}

impl Date {
    pub fn of(seconds: i64) -> Date {
        let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Date {
            year,
            month,
            day,
            hour: rest / 3600,
            minute: rest / 60 % 60,
            second: rest % 60,
            day_of_year: days - days_since_epoch(year, 1, 1),
            day_of_week: (days + 4).rem_euclid(7),
        }
    }
}

/// The offset of a time zone that needs no database: `UTC`, `+02:00`.
pub(crate) fn zone_offset(zone: &str) -> Option<i64> {
    if zone == "UTC" || zone == "GMT" || zone.is_empty() {
        return Some(0);
    }
    let (negative, rest) = match zone.as_bytes()[0] {
        b'-' => (true, &zone[1..]),
        b'+' => (false, &zone[1..]),
        _ => (false, zone),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = hours * 3600 + minutes * 60;
    Some(if negative { -seconds } else { seconds })
}
