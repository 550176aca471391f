//! Determines the type of a plain scalar.
//!
//! The first byte excludes most types: a scalar that begins with none of `yYnNtTfFoO~.+-0…9` is a
//! string. The forms are those of YAML 1.1 in the reference, together with Go's number syntax.

mod number;
mod timestamp;

use ytterby_text::Str;

use crate::Scalar;

/// The type of a scalar. Timestamps stay strings in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ImplicitType {
    Null,
    Bool,
    Int,
    Float,
    Timestamp,
    Str,
}

impl ImplicitType {
    /// The tag in messages.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            ImplicitType::Null => "!!null",
            ImplicitType::Bool => "!!bool",
            ImplicitType::Int => "!!int",
            ImplicitType::Float => "!!float",
            ImplicitType::Timestamp => "!!timestamp",
            ImplicitType::Str => "!!str",
        }
    }
}

/// The types that are possible by the first byte of a scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstByte {
    Str,
    Word,
    Point,
    Number,
}

const HINTS: [FirstByte; 256] = {
    let mut hints = [FirstByte::Str; 256];
    let words = b"yYnNtTfFoO~";
    let mut at = 0;
    while at < words.len() {
        hints[words[at] as usize] = FirstByte::Word;
        at += 1;
    }
    let numbers = b"+-0123456789";
    at = 0;
    while at < numbers.len() {
        hints[numbers[at] as usize] = FirstByte::Number;
        at += 1;
    }
    hints[b'.' as usize] = FirstByte::Point;
    hints
};

/// The scalar for a plain, untagged text.
///
/// ```
/// use ytterby_yaml::{Scalar, resolve};
/// assert_eq!(resolve(b"0x10"), Scalar::Int(16));
/// assert_eq!(resolve(b"on"), Scalar::Bool(true));
/// assert_eq!(resolve(b"1:30"), Scalar::from("1:30"));
/// ```
pub fn resolve(text: &[u8]) -> Scalar {
    if is_surely_string(text) {
        return Scalar::Str(Str::new(text));
    }
    resolve_common(text).unwrap_or_else(|| resolve_type(text).1)
}

/// The value of the common types that are not strings: short integers, booleans and null.
#[inline(always)]
pub(crate) fn resolve_common(text: &[u8]) -> Option<Scalar> {
    match HINTS[*text.first()? as usize] {
        FirstByte::Word => word(text),
        FirstByte::Number => number::decimal(text).map(Scalar::Int),
        FirstByte::Str | FirstByte::Point => None,
    }
}

/// Whether a text is a string by its length and a few of its bytes; most strings are.
#[inline(always)]
pub(crate) fn is_surely_string(text: &[u8]) -> bool {
    let (&[first, ..], &[.., last]) = (text, text) else { return false };
    match HINTS[first as usize] {
        FirstByte::Str => true,
        FirstByte::Word => text.len() > LONGEST_WORD || text.len() > 1 && !can_begin_word(first, text[1]),
        FirstByte::Point => false,
        // Sizes and durations such as 64Mi and 10s are no numbers.
        FirstByte::Number => !ENDS_NUMBERS[last as usize],
    }
}

/// Whether a word like `true`, `No` or `OFF` begins with these two letters.
#[inline(always)]
fn can_begin_word(first: u8, second: u8) -> bool {
    matches!(
        (first | 0x20, second | 0x20),
        (b'y' | b'n', b'e' | b'o' | b'u') | (b't', b'r') | (b'f', b'a') | (b'o', b'n' | b'f')
    )
}

/// The last bytes of numbers and timestamps: digits, also those of base 16, `1.`, `1_`, `-.inf` and
/// a zone.
const ENDS_NUMBERS: [bool; 256] = {
    let mut ends = [false; 256];
    let mut at = 0;
    while at < 256 {
        ends[at] = matches!(at as u8, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' | b'.' | b'_' | b'Z');
        at += 1;
    }
    ends
};

/// Whether a plain, untagged text is a string.
pub(crate) fn is_plain_string(text: &[u8]) -> bool {
    is_surely_string(text) || !text.is_empty() && special(text).is_none()
}

#[inline]
pub(crate) fn resolve_type(text: &[u8]) -> (ImplicitType, Scalar) {
    if text.is_empty() {
        return (ImplicitType::Null, Scalar::Null);
    }
    if !is_surely_string(text)
        && let Some((kind, value)) = special(text)
    {
        return (kind, value.unwrap_or_else(|| Scalar::Str(Str::new(text))));
    }
    (ImplicitType::Str, Scalar::Str(Str::new(text)))
}

/// The type and value of a text that is not a string; a timestamp has no value.
fn special(text: &[u8]) -> Option<(ImplicitType, Option<Scalar>)> {
    match HINTS[text[0] as usize] {
        FirstByte::Str => None,
        FirstByte::Word => match word(text)? {
            Scalar::Null => Some((ImplicitType::Null, Some(Scalar::Null))),
            value => Some((ImplicitType::Bool, Some(value))),
        },
        FirstByte::Point => match text {
            b".nan" | b".NaN" | b".NAN" => Some((ImplicitType::Float, Some(Scalar::Float(f64::NAN)))),
            b".inf" | b".Inf" | b".INF" => Some((ImplicitType::Float, Some(Scalar::Float(f64::INFINITY)))),
            _ => number::pointed_float(text).map(|value| (ImplicitType::Float, Some(Scalar::Float(value)))),
        },
        FirstByte::Number => match number::decimal(text) {
            // Most numbers in configuration are short and plain: 8080, 3, 100.
            Some(value) => Some((ImplicitType::Int, Some(Scalar::Int(value)))),
            None if timestamp::is_timestamp(text) => Some((ImplicitType::Timestamp, None)),
            None => numeric(text).map(|value| (type_of(&value), Some(value))),
        },
    }
}

fn numeric(text: &[u8]) -> Option<Scalar> {
    match text {
        b"+.inf" | b"+.Inf" | b"+.INF" => Some(Scalar::Float(f64::INFINITY)),
        b"-.inf" | b"-.Inf" | b"-.INF" => Some(Scalar::Float(f64::NEG_INFINITY)),
        _ => number::number(text),
    }
}

fn type_of(number: &Scalar) -> ImplicitType {
    if matches!(number, Scalar::Float(_)) { ImplicitType::Float } else { ImplicitType::Int }
}

/// The length of `false`.
const LONGEST_WORD: usize = 5;

fn word(text: &[u8]) -> Option<Scalar> {
    if text.len() > LONGEST_WORD {
        return None;
    }
    Some(match text {
        b"y" | b"Y" | b"yes" | b"Yes" | b"YES" | b"true" | b"True" | b"TRUE" | b"on" | b"On" | b"ON" => {
            Scalar::Bool(true)
        }
        b"n" | b"N" | b"no" | b"No" | b"NO" | b"false" | b"False" | b"FALSE" | b"off" | b"Off" | b"OFF" => {
            Scalar::Bool(false)
        }
        b"~" | b"null" | b"Null" | b"NULL" => Scalar::Null,
        _ => return None,
    })
}

/// The value of a text with one of the tags `!!bool`, `!!int`, `!!float`, `!!null`, `!!timestamp`,
/// or why it is not valid.
pub(crate) fn resolve_tagged(text: &[u8], wanted: ImplicitType) -> Result<Scalar, String> {
    let (mut found, mut value) = resolve_type(text);
    // A text is a timestamp only if it has that tag or none.
    if found == ImplicitType::Timestamp && wanted != ImplicitType::Timestamp {
        (found, value) = match numeric(text) {
            Some(value) => (type_of(&value), value),
            None => (ImplicitType::Str, value),
        };
    }
    match (wanted, &value) {
        _ if wanted == found => Ok(value),
        (ImplicitType::Float, Scalar::Int(int)) => Ok(Scalar::Float(*int as f64)),
        _ => Err(format!("cannot decode {} `{}` as a {}", found.tag(), String::from_utf8_lossy(text), wanted.tag())),
    }
}

/// Whether YAML 1.1 would read `text` as a base-60 number (`1:30`). We read a string, but quote it
/// on output for other readers.
pub(crate) fn is_base60(text: &[u8]) -> bool {
    let text = text.strip_prefix(b"+").or_else(|| text.strip_prefix(b"-")).unwrap_or(text);
    if !text.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let digits_or_bars = |part: &[u8]| part.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_');
    let mut parts = text.split(|&byte| byte == b':');
    if !digits_or_bars(parts.next().unwrap_or_default()) {
        return false;
    }
    let mut seen = false;
    let mut fraction = false;
    for part in parts {
        let (digits, rest) = match part.iter().position(|&byte| byte == b'.') {
            Some(at) => (&part[..at], Some(&part[at + 1..])),
            None => (part, None),
        };
        let fits = match digits {
            [units] => units.is_ascii_digit(),
            [tens, units] => (b'0'..=b'5').contains(tens) && units.is_ascii_digit(),
            _ => false,
        };
        if fraction || !fits || !digits_or_bars(rest.unwrap_or_default()) {
            return false;
        }
        seen = true;
        fraction = rest.is_some();
    }
    seen
}

/// The value of a plain, untagged text in strict mode, or why it is refused.
pub(crate) fn resolve_strict(text: &[u8]) -> Result<Scalar, String> {
    let (found, value) = resolve_type(text);
    let plain = conservative(text, found)?;
    if plain != found {
        let shown = String::from_utf8_lossy(text);
        return Err(format!("Strict parsing: Found '{shown}' ambigious (could be {} or {})", plain.tag(), found.tag()));
    }
    Ok(value)
}

/// The type, if a text has the same one in every version of YAML.
fn conservative(text: &[u8], found: ImplicitType) -> Result<ImplicitType, String> {
    match text {
        b"" => return Ok(ImplicitType::Null),
        b"true" | b"false" => return Ok(ImplicitType::Bool),
        _ => {}
    }
    let shown = String::from_utf8_lossy(text);
    if let Some(form) = number::strict_form(text) {
        return match form {
            number::StrictForm::Int if found != ImplicitType::Int => {
                let reason = if text[0] == b'-' { "invalid syntax" } else { "value out of range" };
                Err(format!("Strict parsing: Parsing int '{shown}': strconv.ParseUint: parsing \"{shown}\": {reason}"))
            }
            number::StrictForm::Int => Ok(ImplicitType::Int),
            number::StrictForm::Float if found != ImplicitType::Float => Err(format!(
                "Strict parsing: Parsing float '{shown}': strconv.ParseFloat: parsing \"{shown}\": value out of range"
            )),
            number::StrictForm::Float => Ok(ImplicitType::Float),
        };
    }
    let what = if shown.contains(char::is_whitespace) {
        "whitespace"
    } else if shown.contains(':') {
        "colon"
    } else if shown.contains("---") {
        "triple-dash"
    } else {
        return Ok(ImplicitType::Str);
    };
    Err(format!("Strict parsing: Strings with {what} must be explicitly quoted: '{shown}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text of up to five characters of those that occur in words and numbers.
    #[test]
    fn texts_that_are_surely_strings_are_strings() {
        let check = |text: &[u8]| assert!(!is_surely_string(text) || special(text).is_none(), "{text:?}");
        for alphabet in [&b"yYeEsSnNoOuUlLtTrRaA"[..], b"0179-+._xobeE:Tinf", b"~fFaAlLsSeEoO.nN"] {
            for count in (1..=4u32).map(|len| alphabet.len().pow(len)) {
                let mut text = Vec::new();
                for number in 0..count {
                    text.clear();
                    let mut rest = number;
                    while text.is_empty() || rest > 0 {
                        text.push(alphabet[rest % alphabet.len()]);
                        rest /= alphabet.len();
                    }
                    check(&text);
                }
            }
        }
        for word in
            [&b"true"[..], b"False", b"FALSE", b"null", b"~", b"Yes", b"off", b"0x1F", b"1_000", b"-.INF", b"1."]
        {
            assert!(!is_surely_string(word) && special(word).is_some(), "{word:?}");
        }
        for text in [&b"2001-1-1T1:2:3Z"[..], b"2001-1-1 1:2:3,5", b"1e-5", b"0b-1", b"18446744073709551615"] {
            assert!(!is_surely_string(text) && special(text).is_some(), "{text:?}");
        }
        for text in [&b"name"[..], b"64Mi", b"10s", b"node", b"type", b"tag", b"-x"] {
            assert!(is_surely_string(text) == (text != b"node") && special(text).is_none(), "{text:?}");
        }
    }
}
