//! JSON to Starlark values: numbers become floats and keys are sorted, as in the reference.

use std::borrow::Cow;
use std::ops::Range;

use ytterby_starlark::Value;
use ytterby_text::gojson::{self, Build, JsonScalar};
use ytterby_text::{Str, budget};

/// Decodes a text. The error is the reference's message.
pub(super) fn read(text: &[u8]) -> Result<Value, String> {
    let mut values = ValueBuilder { out_of_range: None };
    let value = gojson::read(text, gojson::MAX_DEPTH, &mut values).map_err(|error| error.to_string())?;
    match values.out_of_range {
        // Go checks the whole text before it converts single values.
        Some(number) => Err(format!("json: cannot unmarshal number {number} into Go value of type float64")),
        None => Ok(value),
    }
}

struct ValueBuilder {
    /// The first number that a float cannot represent.
    out_of_range: Option<String>,
}

impl Build for ValueBuilder {
    type Value = Value;
    type Key = Str;

    fn scalar(&mut self, scalar: JsonScalar<'_>, _: Range<usize>) -> Value {
        match scalar {
            JsonScalar::Null => Value::None,
            JsonScalar::Bool(value) => Value::Bool(value),
            JsonScalar::Number(digits) => {
                let number: f64 = digits.parse().expect("JSON numbers are numbers of Rust");
                if number.is_infinite() {
                    self.out_of_range.get_or_insert_with(|| digits.to_owned());
                }
                Value::Float(number)
            }
            JsonScalar::String(text) => Value::Str(Str::from(text)),
        }
    }

    fn key(&mut self, text: Cow<'_, str>, _: Range<usize>) -> Str {
        Str::from(text)
    }

    fn array(&mut self, items: Vec<Value>, _: Range<usize>) -> Value {
        // If a limit is reached, the reader stops by itself.
        let _ = budget::memory(64);
        Value::list(items)
    }

    /// The last of duplicate keys wins.
    fn object(&mut self, mut members: Vec<(Str, Value)>, _: Range<usize>) -> Value {
        if !budget::may_go_on(128 + 64 * members.len()) {
            return Value::None;
        }
        members.sort_by(|a, b| a.0.cmp(&b.0));
        Value::dict(members.into_iter().map(|(key, value)| (Value::Str(key), value))).expect("strings can be hashed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = match read(text.as_bytes()) {
            Ok(value) => value.repr().to_str().into_owned(),
            Err(message) => message,
        };
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn reads_values() {
        check(" [1, -0, 1.5e3, null, true, false] ", "[1, -0, 1500, None, True, False]");
        check(r#"{"b": {}, "a": [], "b": [{}]}"#, r#"{"a": [], "b": [{}]}"#);
        check(r#""x\u00e9\ud83d\ude00\/\"\\\b""#, r#""xé😀/\"\\\b""#);
        check("[1,]", "invalid character ']' looking for beginning of value");
    }

    #[test]
    fn numbers_out_of_range_are_reported_last() {
        check("[1e999]", "json: cannot unmarshal number 1e999 into Go value of type float64");
        check("[1e998, -1e999]", "json: cannot unmarshal number 1e998 into Go value of type float64");
        check("[1e999", "unexpected end of JSON input");
    }

    #[test]
    fn depth_is_limited() {
        check(&"[".repeat(20_000), "invalid character '[' exceeded max depth");
        let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
        assert!(read(deep.as_bytes()).is_ok());
    }
}
