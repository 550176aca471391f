//! Recognises timestamps, so that they can be quoted on output; they stay strings.

/// Whether `text` is a date (`2001-1-31`), a date and a time after spaces, or a date and a time
/// with zone after `T` or `t`.
pub(super) fn is_timestamp(text: &[u8]) -> bool {
    let year = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if year != 4 || text.get(4) != Some(&b'-') {
        return false;
    }
    let Some(rest) = date(text) else { return false };
    match rest.first() {
        None => true,
        Some(b'T' | b't') => clock(&rest[1..]).and_then(zone).is_some_and(<[u8]>::is_empty),
        Some(b' ') => {
            let spaces = rest.iter().take_while(|&&byte| byte == b' ').count();
            clock(&rest[spaces..]).is_some_and(<[u8]>::is_empty)
        }
        Some(_) => false,
    }
}

/// Parses year, month and day; returns the rest.
fn date(text: &[u8]) -> Option<&[u8]> {
    let year = text[..4].iter().fold(0u32, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    let (month, rest) = one_or_two_digits(&text[5..])?;
    let (day, rest) = one_or_two_digits(rest.strip_prefix(b"-")?)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=days).contains(&day).then_some(rest)
}

/// Parses hour, minute, second and an optional fraction; returns the rest.
fn clock(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = one_or_two_digits(text)?;
    let (minute, rest) = one_or_two_digits(rest.strip_prefix(b":")?)?;
    let (second, rest) = one_or_two_digits(rest.strip_prefix(b":")?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(match rest {
        [b'.' | b',', digit, ..] if digit.is_ascii_digit() => {
            &rest[1 + rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count()..]
        }
        _ => rest,
    })
}

/// Parses `Z` or `+hh:mm`; returns the rest.
fn zone(text: &[u8]) -> Option<&[u8]> {
    match text {
        [b'Z', rest @ ..] => Some(rest),
        [b'+' | b'-', h1, h2, b':', m1, m2, rest @ ..] => {
            let number = |tens: &u8, units: &u8| {
                (tens.is_ascii_digit() && units.is_ascii_digit()).then(|| (tens - b'0') * 10 + (units - b'0'))
            };
            // Go includes these two limits.
            (number(h1, h2)? <= 24 && number(m1, m2)? <= 60).then_some(rest)
        }
        _ => None,
    }
}

fn one_or_two_digits(text: &[u8]) -> Option<(u32, &[u8])> {
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    let first = digit(text.first()?)?;
    match text.get(1).and_then(digit) {
        Some(second) => Some((first * 10 + second, &text[2..])),
        None => Some((first, &text[1..])),
    }
}

#[cfg(test)]
mod tests {
    use super::is_timestamp;

    #[test]
    fn recognises_the_timestamps_of_go() {
        for text in [
            "2001-1-31",
            "2001-01-31",
            "2001-12-31",
            "2000-2-29",
            "2004-2-29",
            "2001-1-1T1:2:3Z",
            "2001-1-1t1:2:3Z",
            "2001-1-1T23:59:59Z",
            "2001-1-1T00:00:00.5Z",
            "2001-1-1T00:00:00,25Z",
            "2001-1-1T00:00:00+01:00",
            "2001-1-1T00:00:00-24:60",
            "2001-1-1 1:2:3",
            "2001-1-1   1:2:3.25",
        ] {
            assert!(is_timestamp(text.as_bytes()), "{text}");
        }
        for text in [
            "2001-13-01",
            "2001-0-1",
            "2001-2-29",
            "1900-2-29",
            "2001-4-31",
            "2001-1-0",
            "2001-1-32",
            "201-1-1",
            "20011-1-1",
            "2001-1",
            "2001-1-1x",
            "2001-1-1T1:2Z",
            "2001-1-1T1:2:3",
            "2001-1-1T24:00:00Z",
            "2001-1-1T00:60:00Z",
            "2001-1-1T00:00:60Z",
            "2001-1-1T00:00:00.Z",
            "2001-1-1T00:00:00+25:00",
            "2001-1-1T00:00:00+24:61",
            "2001-1-1T00:00:00+0x:00",
            "2001-1-1T00:00:00+x0:00",
            "2001-1-1T00:00:00+00:0x",
            "2001-1-1T00:00:00+0000",
            "2001-1-1T00:00:00Zx",
            "2001-1-1 1:2:3Z",
            "2001-1-1 1:2:3 x",
        ] {
            assert!(!is_timestamp(text.as_bytes()), "{text}");
        }
    }
}
