//! JSON-like values for VMs, templates and arguments of rules.
//!
//! Objects keep the order of their keys. Of duplicate keys the last counts, as in YAML and JSON
//! parsers. Values have no positions.

use std::borrow::Cow;
use std::fmt;

use ytterby_text::{Decimal, quote};

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A number with a fraction or exponent, or too large for an integer.
    Float(f64),
    /// Text.
    String(Box<str>),
    /// A list.
    Array(Vec<Value>),
    /// Keys and values in order.
    Object(Vec<(Box<str>, Value)>),
}

impl Value {
    /// The value of a key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(entries) => entries.iter().rev().find(|(name, _)| **name == *key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The mutable value of a key, if this is an object that has it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        match self {
            Value::Object(entries) => entries.iter_mut().rev().find(|(name, _)| **name == *key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The value at a path; `null` counts as absent.
    pub fn at(&self, keys: &[&str]) -> Option<&Value> {
        keys.iter().try_fold(self, |value, key| value.get(key)).filter(|value| !value.is_null())
    }

    /// Sets a key of an object; replaces any other value by an object with that key.
    pub fn set(&mut self, key: &str, value: Value) {
        if let Some(place) = self.get_mut(key) {
            *place = value;
        } else if let Value::Object(entries) = self {
            entries.push((key.into(), value));
        } else {
            *self = Value::Object(vec![(key.into(), value)]);
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if this is an array.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The exact number, if this is one.
    pub fn as_number(&self) -> Option<Decimal> {
        match self {
            Value::Int(value) => Some(Decimal::from(*value)),
            Value::Float(value) => Decimal::from_f64(*value),
            _ => None,
        }
    }

    /// A scalar as text: integers in decimal, floats in shortest form, `true`, `false`; `None` for
    /// `null`, arrays and objects.
    pub fn render(&self) -> Option<String> {
        match self {
            Value::Bool(value) => Some(value.to_string()),
            Value::Int(value) => Some(value.to_string()),
            Value::Float(value) => Some(value.to_string()),
            Value::String(text) => Some(text.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The name of this kind of value in errors of Go's `encoding/json`.
    pub fn go_kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "bool",
            Value::Int(_) | Value::Float(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// The type with an article, for messages.
    pub fn what(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(text.into())
    }
}

/// Writes compact JSON.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::String(text) => f.write_str(&quoted(text)),
            Value::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i == 0 { "" } else { "," })?;
                }
                f.write_str("]")
            }
            Value::Object(entries) => {
                f.write_str("{")?;
                for (i, (key, value)) in entries.iter().enumerate() {
                    write!(f, "{}{}:{value}", if i == 0 { "" } else { "," }, quoted(key))?;
                }
                f.write_str("}")
            }
            scalar => f.write_str(&scalar.render().unwrap_or_default()),
        }
    }
}

/// Maximum characters of a value in a message.
pub(crate) const BRIEF: usize = 200;

/// A text of a VM for a message: quoted, and truncated if very long.
pub fn brief(text: &str) -> String {
    quoted(&cut(text, BRIEF))
}

/// Truncates a text to this many characters.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => text.into(),
        Some((end, _)) => format!("{}…", &text[..end]).into(),
    }
}

/// A string as JSON. Escapes what YAML treats as a line break or rejects, so that it is valid YAML,
/// too.
pub fn quoted(text: &str) -> String {
    let special = |c: char| matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    quote::literal('"', text, |c| (c.is_control() || special(c)).then(|| quote::unicode_escape(c)))
}
