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
pub(crate) enum Type {
    Null,
    Bool,
    Int,
    Float,
    Timestamp,
    Str,
}

impl Type {
    /// The tag in messages.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Type::Null => "!!null",
            Type::Bool => "!!bool",
            Type::Int => "!!int",
            Type::Float => "!!float",
            Type::Timestamp => "!!timestamp",
            Type::Str => "!!str",
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
    resolve_type(text).1
}

/// Whether a plain, untagged text is a string.
pub(crate) fn is_plain_string(text: &[u8]) -> bool {
    match text.first() {
        None => false,
        Some(&first) => HINTS[first as usize] == FirstByte::Str || special(text).is_none(),
    }
}

#[inline]
pub(crate) fn resolve_type(text: &[u8]) -> (Type, Scalar) {
    let Some(&first) = text.first() else { return (Type::Null, Scalar::Null) };
    if HINTS[first as usize] != FirstByte::Str
        && let Some((kind, value)) = special(text)
    {
        return (kind, value.unwrap_or_else(|| Scalar::Str(Str::new(text))));
    }
    (Type::Str, Scalar::Str(Str::new(text)))
}

/// The type and value of a text that is not a string; a timestamp has no value.
fn special(text: &[u8]) -> Option<(Type, Option<Scalar>)> {
    match HINTS[text[0] as usize] {
        FirstByte::Str => None,
        FirstByte::Word => match word(text)? {
            Scalar::Null => Some((Type::Null, Some(Scalar::Null))),
            value => Some((Type::Bool, Some(value))),
        },
        FirstByte::Point => match text {
            b".nan" | b".NaN" | b".NAN" => Some((Type::Float, Some(Scalar::Float(f64::NAN)))),
            b".inf" | b".Inf" | b".INF" => Some((Type::Float, Some(Scalar::Float(f64::INFINITY)))),
            _ => number::pointed_float(text).map(|value| (Type::Float, Some(Scalar::Float(value)))),
        },
        FirstByte::Number if timestamp::is_timestamp(text) => Some((Type::Timestamp, None)),
        FirstByte::Number => numeric(text).map(|value| (type_of(&value), Some(value))),
    }
}

fn numeric(text: &[u8]) -> Option<Scalar> {
    match text {
        b"+.inf" | b"+.Inf" | b"+.INF" => Some(Scalar::Float(f64::INFINITY)),
        b"-.inf" | b"-.Inf" | b"-.INF" => Some(Scalar::Float(f64::NEG_INFINITY)),
        _ => number::number(text),
    }
}

fn type_of(number: &Scalar) -> Type {
    if matches!(number, Scalar::Float(_)) { Type::Float } else { Type::Int }
}

fn word(text: &[u8]) -> Option<Scalar> {
    if text.len() > 5 {
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
pub(crate) fn resolve_tagged(text: &[u8], wanted: Type) -> Result<Scalar, String> {
    let (mut found, mut value) = resolve_type(text);
    // A text is a timestamp only if it has that tag or none.
    if found == Type::Timestamp && wanted != Type::Timestamp {
        (found, value) = match numeric(text) {
            Some(value) => (type_of(&value), value),
            None => (Type::Str, value),
        };
    }
    match (wanted, &value) {
        _ if wanted == found => Ok(value),
        (Type::Float, Scalar::Int(int)) => Ok(Scalar::Float(*int as f64)),
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
fn conservative(text: &[u8], found: Type) -> Result<Type, String> {
    match text {
        b"" => return Ok(Type::Null),
        b"true" | b"false" => return Ok(Type::Bool),
        _ => {}
    }
    let shown = String::from_utf8_lossy(text);
    if let Some(form) = number::strict_form(text) {
        return match form {
            number::StrictForm::Int if found != Type::Int => {
                let reason = if text[0] == b'-' { "invalid syntax" } else { "value out of range" };
                Err(format!("Strict parsing: Parsing int '{shown}': strconv.ParseUint: parsing \"{shown}\": {reason}"))
            }
            number::StrictForm::Int => Ok(Type::Int),
            number::StrictForm::Float if found != Type::Float => Err(format!(
                "Strict parsing: Parsing float '{shown}': strconv.ParseFloat: parsing \"{shown}\": value out of range"
            )),
            number::StrictForm::Float => Ok(Type::Float),
        };
    }
    let what = if shown.contains(char::is_whitespace) {
        "whitespace"
    } else if shown.contains(':') {
        "colon"
    } else if shown.contains("---") {
        "triple-dash"
    } else {
        return Ok(Type::Str);
    };
    Err(format!("Strict parsing: Strings with {what} must be explicitly quoted: '{shown}'"))
}
