//! Parses JSON and keeps the position of every value.
//!
//! Annotations are written by hand, so errors matter more than speed: each has its offset, Go's
//! text (compatibility mode repeats it exactly) and, for common mistakes, a hint.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use ytterby_text::gojson::{self, Build, JsonContext, JsonProblem, JsonReadError, JsonScalar};

use crate::value::Value;

/// Deeper nesting is rejected, so that no input exhausts the stack.
pub const MAX_DEPTH: usize = 256;

/// A value and its byte range.
#[derive(Clone, Debug)]
pub struct JsonNode {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The value.
    pub kind: JsonKind,
}

/// The kinds of JSON values.
#[derive(Clone, Debug)]
pub enum JsonKind {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A number, as written.
    Number(Box<str>),
    /// A string, unescaped.
    String(Box<str>),
    /// A list.
    Array(Vec<JsonNode>),
    /// Keys (always strings) and values, in order, including duplicates.
    Object(Vec<(JsonNode, JsonNode)>),
}

impl JsonNode {
    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            JsonKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The name of this kind of value in Go's errors.
    pub fn go_kind(&self) -> &'static str {
        match self.kind {
            JsonKind::Null => "null",
            JsonKind::Bool(_) => "bool",
            JsonKind::Number(_) => "number",
            JsonKind::String(_) => "string",
            JsonKind::Array(_) => "array",
            JsonKind::Object(_) => "object",
        }
    }

    /// The value without its positions.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            JsonKind::Null => Value::Null,
            JsonKind::Bool(value) => Value::Bool(*value),
            JsonKind::Number(text) => number(text),
            JsonKind::String(text) => Value::String(text.clone()),
            JsonKind::Array(items) => Value::Array(items.iter().map(JsonNode::to_value).collect()),
            JsonKind::Object(entries) => Value::Object(
                entries
                    .iter()
                    .map(|(key, value)| (key.as_str().unwrap_or_default().into(), value.to_value()))
                    .collect(),
            ),
        }
    }
}

/// A JSON syntax error. `Display` shows our message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonError {
    /// The byte offset at which the parser stopped.
    pub offset: usize,
    /// The typographic quote that is the cause, and its offset: often it is inside the string
    /// before.
    pub quote: Option<(usize, char)>,
    /// The character at which the parser stopped.
    found: Option<char>,
    error: JsonReadError,
}

impl JsonError {
    fn new(text: &str, error: JsonReadError) -> JsonError {
        let found = text.get(error.offset..).and_then(|rest| rest.chars().next());
        // An unexpected end is shown after the last token, not on a separate line.
        let offset = if found.is_none() { text.trim_end().len() } else { error.offset };
        let swallows = match error.problem {
            JsonProblem::Unexpected(_, JsonContext::AfterKey | JsonContext::AfterMember | JsonContext::String)
            | JsonProblem::End(_) => true,
            JsonProblem::Unexpected(..) | JsonProblem::Depth(_) | JsonProblem::Exceeded => false,
        };
        let here = found.filter(|&c| quote_name(c).is_some()).map(|c| (offset, c));
        let quote = here.or_else(|| {
            let last = text.get(error.last_string.clone()).filter(|_| swallows)?;
            let (at, c) = last.char_indices().find(|&(_, c)| quote_name(c).is_some())?;
            Some((error.last_string.start + at, c))
        });
        JsonError { offset, quote, found, error }
    }

    /// The text of the error in Go's `encoding/json`.
    pub fn go_text(&self) -> String {
        self.error.to_string()
    }

    /// The byte offset of the cause.
    pub fn cause(&self) -> usize {
        self.quote.map_or(self.offset, |(at, _)| at)
    }

    /// Our message.
    pub fn message(&self) -> String {
        if let Some((_, c)) = self.quote {
            let name = quote_name(c).unwrap_or_default();
            return format!("typographic quote {c} (U+{:04X} {name}) where JSON needs the straight quote \"", c as u32);
        }
        let place = match self.error.problem {
            JsonProblem::Unexpected(_, place) => place,
            JsonProblem::End(_) => {
                return "the JSON ends too early: a bracket, a brace or a quote is not closed".to_owned();
            }
            JsonProblem::Depth(_) => return format!("arrays and objects are nested deeper than {MAX_DEPTH}"),
            JsonProblem::Exceeded => return self.error.to_string(),
        };
        match (self.found.unwrap_or_default(), place) {
            ('\u{feff}', _) => "there is a byte order mark (U+FEFF) before the JSON".to_owned(),
            (']' | '}', JsonContext::Value | JsonContext::Key) => {
                "there is a comma before the closing bracket".to_owned()
            }
            ('"', JsonContext::AfterMember | JsonContext::AfterItem) => {
                "a comma is missing before this string".to_owned()
            }
            ('{', JsonContext::AfterItem) => "a comma is missing between two rules".to_owned(),
            ('/' | '#', _) => "JSON has no comments".to_owned(),
            (c, JsonContext::String) => {
                format!("control character U+{:04X} in a string; write it as an escape", c as u32)
            }
            (c, place) => format!("unexpected {} {place}", shown(c)),
        }
    }

    /// A short hint, if there is one.
    pub fn hint(&self) -> Option<String> {
        if self.quote.is_some() {
            return Some("replace it by \" (U+0022); `lint --fix` straightens all of them".to_owned());
        }
        match (self.error.problem, self.found) {
            (JsonProblem::Unexpected(..), Some('\'')) => Some("JSON strings need double quotes".to_owned()),
            (JsonProblem::Unexpected(..), Some('\u{feff}' | ']' | '}' | '/' | '#')) => Some("remove it".to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for JsonError {}

fn shown(c: char) -> String {
    if c.is_control() { format!("character U+{:04X}", c as u32) } else { format!("`{c}`") }
}

/// The name of a typographic double or single quote.
pub fn quote_name(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{201c}' => "left double quotation mark",
        '\u{201d}' => "right double quotation mark",
        '\u{201e}' => "double low-9 quotation mark",
        '\u{201f}' => "double high-reversed-9 quotation mark",
        '\u{2018}' => "left single quotation mark",
        '\u{2019}' => "right single quotation mark",
        '\u{201a}' => "single low-9 quotation mark",
        '\u{ab}' => "left-pointing double angle quotation mark",
        '\u{bb}' => "right-pointing double angle quotation mark",
        '\u{ff02}' => "fullwidth quotation mark",
        _ => return None,
    })
}

/// Parses one JSON value, surrounded by nothing but white space.
pub fn parse(text: &str) -> Result<JsonNode, JsonError> {
    gojson::read(text.as_bytes(), MAX_DEPTH, &mut Nodes).map_err(|error| JsonError::new(text, error))
}

/// Parses one JSON value without positions; invalid UTF-8 in strings is replaced. The error is Go's
/// text.
pub fn read(text: &[u8]) -> Result<Value, String> {
    gojson::read(text, MAX_DEPTH, &mut PlainBuilder).map_err(|error| error.to_string())
}

/// Builds values without positions.
struct PlainBuilder;

impl Build for PlainBuilder {
    type Value = Value;
    type Key = Box<str>;

    fn scalar(&mut self, scalar: JsonScalar<'_>, _: Range<usize>) -> Value {
        match scalar {
            JsonScalar::Null => Value::Null,
            JsonScalar::Bool(value) => Value::Bool(value),
            JsonScalar::Number(text) => number(text),
            JsonScalar::String(text) => Value::String(text.into()),
        }
    }

    fn key(&mut self, text: Cow<'_, str>, _: Range<usize>) -> Box<str> {
        text.into()
    }

    fn array(&mut self, items: Vec<Value>, _: Range<usize>) -> Value {
        Value::Array(items)
    }

    fn object(&mut self, members: Vec<(Box<str>, Value)>, _: Range<usize>) -> Value {
        Value::Object(members)
    }
}

/// A number as written; one with a fraction, an exponent or too many digits becomes a float.
fn number(text: &str) -> Value {
    text.parse().map_or_else(|_| Value::Float(text.parse().unwrap_or(f64::INFINITY)), Value::Int)
}

/// Builds nodes with positions.
struct Nodes;

fn node(Range { start, end }: Range<usize>, kind: JsonKind) -> JsonNode {
    JsonNode { start, end, kind }
}

impl Build for Nodes {
    type Value = JsonNode;
    type Key = JsonNode;

    fn scalar(&mut self, scalar: JsonScalar<'_>, span: Range<usize>) -> JsonNode {
        let kind = match scalar {
            JsonScalar::Null => JsonKind::Null,
            JsonScalar::Bool(value) => JsonKind::Bool(value),
            JsonScalar::Number(text) => JsonKind::Number(text.into()),
            JsonScalar::String(text) => JsonKind::String(text.into()),
        };
        node(span, kind)
    }

    fn key(&mut self, text: Cow<'_, str>, span: Range<usize>) -> JsonNode {
        node(span, JsonKind::String(text.into()))
    }

    fn array(&mut self, items: Vec<JsonNode>, span: Range<usize>) -> JsonNode {
        node(span, JsonKind::Array(items))
    }

    fn object(&mut self, members: Vec<(JsonNode, JsonNode)>, span: Range<usize>) -> JsonNode {
        node(span, JsonKind::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let got = match parse(text) {
            Ok(node) => node.to_value().to_string(),
            Err(error) => format!("{}: {}", error.offset, error.go_text()),
        };
        assert_eq!(got, expect, "{text}");
    }

    #[test]
    fn reads_json() {
        check(
            " [1, -2.5e3, \"a\\u00e9\\ud83d\\ude00\\n\", true, null, {\"k\": {}}] ",
            "[1,-2500,\"aé😀\\n\",true,null,{\"k\":{}}]",
        );
        check("\"\\ud800x\"", "\"\u{fffd}x\"");
        check("123456789012345678901234567890", "123456789012345678901234567890");
    }

    #[test]
    fn errors_are_those_of_go() {
        check("", "0: unexpected end of JSON input");
        check("[{", "2: unexpected end of JSON input");
        check("[1,]", "3: invalid character ']' looking for beginning of value");
        check("{\"a\":1,}", "7: invalid character '}' looking for beginning of object key string");
        check("[] x", "3: invalid character 'x' after top-level value");
        check("[{\u{201c}rule\u{201d}}]", "2: invalid character 'â' looking for beginning of object key string");
        check("\u{feff}[]", "0: invalid character 'ï' looking for beginning of value");
        check("tru3", "3: invalid character '3' in literal true (expecting 'e')");
        check("\"a\nb\"", "2: invalid character '\\n' in string literal");
        check("01", "1: invalid character '1' after top-level value");
        check("'a'", "0: invalid character '\\'' looking for beginning of value");
    }

    #[test]
    fn depth_is_bounded() {
        check(&"[".repeat(100_000), "256: invalid character '[' exceeded max depth");
        let ok = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(parse(&ok).is_ok());
    }

    #[test]
    fn common_mistakes_are_named() {
        for (text, part) in [
            ("[{\"a\u{201d}: \"b\"}]", "U+201D right double quotation mark"),
            ("[{\u{201c}a\": 1}]", "U+201C left double quotation mark"),
            ("[1,]", "comma before the closing bracket"),
            ("[{\"a\":1 \"b\":2}]", "comma is missing"),
            ("[1 // no\n]", "no comments"),
        ] {
            assert!(
                parse(text).unwrap_err().message().contains(part),
                "{text}: {}",
                parse(text).unwrap_err().message()
            );
        }
    }
}
