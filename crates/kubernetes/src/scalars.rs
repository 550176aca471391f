//! Scalars with a special syntax: quantities, times, base64, durations, and the formats of schemas.
//!
//! The servers are written in Go, so these accept what Go's libraries accept, not what a standard
//! says: padding, line ends and letter case differ. `has_format` is the entry for schemas; an
//! unknown format allows everything, as on a server.

use std::sync::OnceLock;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use ytterby_regexp::Regexp;
use ytterby_text::calendar::{days_in_month, days_since_epoch};

/// The problem with a quantity, if any.
pub(crate) fn quantity_fault(text: &str) -> Option<&'static str> {
    // The server trims blanks before it parses, but checks for an empty text before that.
    let trimmed = text.trim_matches(' ');
    let is_shape = quantity_shape(trimmed);
    if !is_shape {
        return Some("is no quantity: write a number with one of the suffixes n u m k M G T P E Ki Mi Gi Ti Pi Ei");
    }
    if ytterby_text::quantity(trimmed).is_none() {
        return Some("has an unknown suffix: those of quantities are n u m k M G T P E Ki Mi Gi Ti Pi Ei");
    }
    None
}

/// Matches `^[+-]?[0-9.]+[eEinumkKMGTP]*[-+]?[0-9]*$`, with at most one point.
fn quantity_shape(text: &str) -> bool {
    let rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = rest.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, rest) = rest.split_at(number);
    let has_digit = number.bytes().any(|byte| byte.is_ascii_digit());
    let rest = rest.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    has_digit && number.matches('.').count() <= 1 && rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// Like Go, allows trailing bits.
const STANDARD: GeneralPurpose =
    GeneralPurpose::new(&base64::alphabet::STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Decodes base64 like Go: skips line ends, requires padding.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    if text.contains(['\n', '\r']) {
        return STANDARD.decode(text.replace(['\n', '\r'], "")).ok();
    }
    STANDARD.decode(text).ok()
}

/// A point in time: seconds since 1970 and nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Instant {
    pub seconds: i64,
    pub nanos: u32,
}

/// Parses an RFC 3339 time like Go; `micros` requires exactly six fractional digits.
pub(crate) fn time(text: &str, micros: bool) -> Option<Instant> {
    let bytes = text.as_bytes();
    let number = |from: usize, len: usize| -> Option<i64> {
        let digits = bytes.get(from..from + len)?;
        digits.iter().all(u8::is_ascii_digit).then(|| digits.iter().fold(0, |n, d| n * 10 + i64::from(d - b'0')))
    };
    let is_at = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let marks = is_at(4, b'-') && is_at(7, b'-') && is_at(10, b'T') && is_at(13, b':') && is_at(16, b':');
    if !marks {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 2)?, number(8, 2)?);
    let (hour, minute, second) = (number(11, 2)?, number(14, 2)?, number(17, 2)?);
    let is_valid = (1..=12).contains(&month)
        && (1..=days_in_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    let mut at = 19;
    let mut nanos = 0u32;
    if is_at(at, b'.') || is_at(at, b',') {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || (micros && digits != 6) {
            return None;
        }
        for place in 0..9 {
            let digit = bytes.get(at + 1 + place).filter(|_| place < digits).map_or(0, |byte| byte - b'0');
            nanos = nanos * 10 + u32::from(digit);
        }
        at += 1 + digits;
    } else if micros {
        return None;
    }
    let offset = match bytes.get(at..)? {
        b"Z" => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes) = (number(at + 1, 2)?, number(at + 4, 2)?);
            if hours > 24 || minutes > 60 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            if *sign == b'-' { -seconds } else { seconds }
        }
        _ => return None,
    };
    let seconds = days_since_epoch(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    is_valid.then_some(Instant { seconds, nanos })
}

/// Whether a text matches a format of schemas; unknown formats allow everything.
pub(crate) fn has_format(text: &str, format: &str) -> bool {
    match format.replace('-', "").as_str() {
        "datetime" => time(text, false).is_some() || is_loose_time(text),
        "date" => text.len() == 10 && time(&format!("{text}T00:00:00Z"), false).is_some(),
        "duration" => is_duration(text),
        "ipv4" => text.parse::<std::net::Ipv4Addr>().is_ok(),
        "ipv6" => text.contains(':') && text.parse::<std::net::Ipv6Addr>().is_ok(),
        "cidr" => crate::names::cidr(text).is_some(),
        "mac" => is_mac(text),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some(b'3')),
        "uuid4" => is_uuid(text, Some(b'4')) && b"89abAB".contains(&uuid_variant(text)),
        "uuid5" => is_uuid(text, Some(b'5')) && b"89abAB".contains(&uuid_variant(text)),
        "byte" => is_byte(text),
        "hostname" => is_hostname(text),
        "uri" => is_uri(text),
        "email" => is_email(text),
        "hexcolor" => is_hex_color(text),
        "rgbcolor" => is_rgb_color(text),
        "ssn" => is_shape(text, "ddd-dd-dddd") || is_shape(text, "ddd dd dddd"),
        "creditcard" => is_credit_card(text),
        "isbn" => is_isbn(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "bsonobjectid" => text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "k8sshortname" => crate::names::dns_label(text).is_none(),
        "k8slongname" => crate::names::dns_subdomain(text).is_none(),
        _ => true,
    }
}

/// Times that are accepted besides RFC 3339: no zone, minutes only, lower case, an offset without
/// colon.
fn is_loose_time(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    let zoned = |text: &str| time(text, false).is_some();
    if upper.len() < 16 || upper.len() > 40 || !upper.is_ascii() {
        return false;
    }
    // 2006-01-02T15:04, with or without seconds and zone.
    let with_seconds = if upper.as_bytes().get(16) == Some(&b':') {
        upper.clone()
    } else {
        format!("{}:00{}", &upper[..16], &upper[16..])
    };
    if with_seconds.len() < 19 {
        return false;
    }
    let (head, tail) = with_seconds.split_at(19);
    let fraction = tail.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(tail.len());
    let (fraction, zone) = tail.split_at(fraction);
    let zone = match zone.as_bytes() {
        [] => "Z".to_owned(),
        [b'+' | b'-', _, _, _, _] => format!("{}:{}", &zone[..3], &zone[3..]),
        _ => zone.to_owned(),
    };
    zoned(&format!("{head}{fraction}{zone}"))
}

/// Whether a text is a duration: Go's (`1h30m`), or numbers with words (`3d`, `2 weeks`).
fn is_duration(text: &str) -> bool {
    any_duration(text).is_some()
}

/// Units of durations besides Go's, in nanoseconds.
const UNITS: [(&[&str], i64); 8] = [
    (&["ns", "nano", "nanos"], 1),
    (&["us", "µs", "micro", "micros"], 1000),
    (&["ms", "milli", "millis"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000_000_000),
    (&["m", "min", "mins", "minute", "minutes"], 60_000_000_000),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600_000_000_000),
    (&["d", "day", "days"], 86_400_000_000_000),
    (&["w", "wk", "wks", "week", "weeks"], 604_800_000_000_000),
];

/// The nanoseconds of a duration of either form.
pub(crate) fn any_duration(text: &str) -> Option<i64> {
    if let Some(duration) = ytterby_text::duration::parse(text) {
        return Some(duration);
    }
    let mut rest = text.trim();
    let mut total = 0i64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: i64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let word = rest.bytes().take_while(|byte| byte.is_ascii_alphabetic() || *byte >= 0x80).count();
        let (_, scale) = UNITS.iter().find(|(names, _)| names.contains(&&rest[..word]))?;
        total = total.checked_add(number.checked_mul(*scale)?)?;
        rest = rest[word..].trim_start();
    }
    Some(total)
}

fn is_mac(text: &str) -> bool {
    [b':', b'-'].iter().any(|&mark| {
        let parts: Vec<&str> = text.split(char::from(mark)).collect();
        [6, 8, 20].contains(&parts.len())
            && parts.iter().all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }) || {
        let parts: Vec<&str> = text.split('.').collect();
        [3, 4, 10].contains(&parts.len())
            && parts.iter().all(|part| part.len() == 4 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }
}

/// Hexadecimal digits, with or without dashes at the usual places.
fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let plain: String = groups.concat();
    let is_grouped = lengths == [8, 4, 4, 4, 12] || lengths == [32];
    is_grouped
        && plain.bytes().all(|byte| byte.is_ascii_hexdigit())
        && version.is_none_or(|version| plain.as_bytes()[12] == version)
}

fn uuid_variant(text: &str) -> u8 {
    text.bytes().filter(|byte| *byte != b'-').nth(16).unwrap_or(0)
}

/// Unlike in built-in kinds, line ends and an empty text are not allowed.
fn is_byte(text: &str) -> bool {
    !text.is_empty() && !text.contains(['\n', '\r']) && base64(text).is_some()
}

/// One label with at most a dash after its first character, or several of which the last has only
/// letters.
fn is_hostname(text: &str) -> bool {
    static PATTERN: OnceLock<Regexp> = OnceLock::new();
    let pattern = PATTERN.get_or_init(|| {
        let inner = r"[a-zA-Z0-9\p{S}\p{L}]";
        let single = format!("{inner}((-?{inner}{{0,62}})?)");
        let several =
            format!(r"({inner}(([a-zA-Z0-9-\p{{S}}\p{{L}}]{{0,61}}{inner})?)(\.)){{1,}}([a-zA-Z\p{{L}}]){{2,63}}");
        Regexp::new(format!("^({single}|{several})$").as_bytes()).expect("the pattern is well-formed")
    });
    text.len() <= 255 && pattern.is_match_in(text) && text.split('.').all(|part| part.len() <= 63)
}

fn is_uri(text: &str) -> bool {
    let Ok(url) = ytterby_text::url::parse(text.as_bytes()) else { return false };
    !url.scheme().is_empty() || text.starts_with('/')
}

fn is_email(text: &str) -> bool {
    let address = match (text.rfind('<'), text.ends_with('>')) {
        (Some(at), true) => &text[at + 1..text.len() - 1],
        _ => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let is_atom = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
    !local.is_empty()
        && local.chars().all(is_atom)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
        && !domain.is_empty()
        && domain.chars().all(is_atom)
}

fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    [3, 6].contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_rgb_color(text: &str) -> bool {
    let inner = text.strip_prefix("rgb(").and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else { return false };
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u8>().is_ok() && !part.starts_with('+'))
}

fn is_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text
            .bytes()
            .zip(shape.bytes())
            .all(|(byte, mark)| if mark == b'd' { byte.is_ascii_digit() } else { byte == mark })
}

fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter(|c| !" -".contains(*c)).map(|c| c.to_digit(10).unwrap_or(99)).collect();
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { *digit } else { digit * 2 / 10 + digit * 2 % 10 })
        .sum();
    (13..=16).contains(&digits.len()) && digits.iter().all(|digit| *digit < 10) && sum.is_multiple_of(10)
}

fn isbn_digits(text: &str) -> String {
    text.chars().filter(|c| !" -".contains(*c)).collect()
}

fn is_isbn(text: &str) -> bool {
    is_isbn10(text) || is_isbn13(text)
}

fn is_isbn10(text: &str) -> bool {
    let text = isbn_digits(text);
    if text.len() != 10 {
        return false;
    }
    let mut sum = 0;
    for (at, byte) in text.bytes().enumerate() {
        let digit = match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'X' | b'x' if at == 9 => 10,
            _ => return false,
        };
        sum += digit * (10 - at as u32);
    }
    sum % 11 == 0
}

fn is_isbn13(text: &str) -> bool {
    let text = isbn_digits(text);
    let is_digits = text.len() == 13 && text.bytes().all(|byte| byte.is_ascii_digit());
    let weight = |at: usize| if at.is_multiple_of(2) { 1 } else { 3 };
    is_digits && text.bytes().enumerate().map(|(at, byte)| u32::from(byte - b'0') * weight(at)).sum::<u32>() % 10 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_recognised() {
        for good in ["1", "+1", "1.", ".5", "1e3", "1E3", "2Gi ", "1e400", "-5m", "100m", "0.5", "1Ei", "1E"] {
            assert_eq!(quantity_fault(good), None, "{good}");
        }
        for bad in ["", "Gi", "1K", "1ki", "1 Gi", "1GG", "1,5", "1..5", "1e", "5Mib", "1mi", "0x10", "--1"] {
            assert!(quantity_fault(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn times_are_recognised() {
        for good in ["2024-01-01T00:00:00Z", "2024-02-29T23:59:59.5+01:00", "1970-01-01T00:00:00-00:00"] {
            assert!(time(good, false).is_some(), "{good}");
        }
        for bad in ["", "now", "2024-01-01", "2023-02-29T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:00:00"] {
            assert!(time(bad, false).is_none(), "{bad}");
        }
        assert!(time("2024-01-01T00:00:00Z", true).is_none() && time("2024-01-01T00:00:00.000000Z", true).is_some());
        assert_eq!(time("1970-01-02T00:00:00Z", false).unwrap().seconds, 86_400);
        assert_eq!(time("2000-03-01T00:00:00Z", false).unwrap().seconds, 951_868_800);
    }

    #[test]
    fn formats_are_recognised() {
        for (format, good, bad) in [
            ("duration", "3d", "soon"),
            ("duration", "1h30m", "1x"),
            ("ipv4", "10.0.0.1", "010.0.0.1"),
            ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567"),
            ("hostname", "a", "a.b"),
            ("date", "2024-01-31", "2024-01-32"),
            ("mac", "00:11:22:33:44:55", "00:11:22:33:44"),
            ("byte", "aGk=", "aGk"),
            ("uri", "https://a.test/x", "a b"),
            ("email", "a@b.test", "a.b"),
            ("date-time", "2024-01-01T00:00:00Z", "tomorrow"),
        ] {
            assert!(has_format(good, format), "{format}: {good}");
            assert!(!has_format(bad, format), "{format}: {bad}");
        }
        assert!(has_format("anything", "x-unknown"));
    }
}
