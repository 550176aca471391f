//! kubectl's JSONPath dialect, as the `jsonpath::` paths of rules use it.
//!
//! It is not RFC 9535: a path is a template of literal text and `{…}` expressions, appended to
//! `{.spec.template`; dots in keys are escaped by a backslash; filters have exactly one comparison.
//! [`JsonPath::parse`] parses one; `eval` evaluates it.

pub mod eval;
mod parse;

pub use parse::{PathError, parse_template};

/// The prefix that turns a string of a rule into a path.
pub const PREFIX: &str = "jsonpath::";

/// The prefix of every expression: paths start at the VM's `.spec.template`.
pub(crate) const GLUE: &str = "{.spec.template";

/// A parsed path.
#[derive(Clone, Debug)]
pub struct JsonPath {
    /// The path without `jsonpath::` and one leading `$`, for messages.
    pub text: Box<str>,
    /// Text and expressions in order.
    pub parts: Vec<TemplatePart>,
}

/// A piece of a template.
#[derive(Clone, PartialEq, Debug)]
pub enum TemplatePart {
    /// Text outside braces; it is a separate result.
    Text(String),
    /// An expression, evaluated from the VM.
    Expression(Vec<JsonPathStep>),
}

/// One step of an expression.
#[derive(Clone, PartialEq, Debug)]
pub enum JsonPathStep {
    /// `.name`, `['name']`.
    Field(String),
    /// `.*`.
    Wildcard,
    /// `..`.
    Recursive,
    /// `[1]`, `[1:3]`, `[::2]`, `[*]`.
    Slice(Slice),
    /// `[0,2]`, `['a','b']`.
    Union(Vec<Vec<JsonPathStep>>),
    /// `[?(@.name=='x')]`.
    Filter(Filter),
    /// A literal: it replaces the previous results.
    Literal(Literal),
    /// A word without a dot, such as kubectl's `range` and `end`, which are useless in rules.
    Identifier(String),
}

/// Bounds of a slice.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Slice {
    /// First index; negative from the end.
    pub start: Option<i64>,
    /// One past the last index.
    pub end: Option<i64>,
    /// Whether it is a single index, so that `end` is derived from `start`.
    pub single: bool,
    /// Distance between selected items.
    pub step: Option<i64>,
}

/// A filter: one comparison, or a test of existence.
#[derive(Clone, PartialEq, Debug)]
pub struct Filter {
    /// Left side.
    pub left: Vec<JsonPathStep>,
    /// `==`, `<`, …; `exists` without a right side. Any run of `!<>=` parses, as in kubectl.
    pub operator: String,
    /// Right side.
    pub right: Vec<JsonPathStep>,
}

/// A literal of an expression.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// An integer.
    Int(i64),
    /// A number with a point.
    Float(f64),
    /// `true`, `false`.
    Bool(bool),
    /// A quoted string.
    Text(String),
}

impl JsonPath {
    /// Parses a string of a rule; it must begin with [`PREFIX`].
    pub fn parse(text: &str) -> Result<JsonPath, PathError> {
        let Some(rest) = text.strip_prefix(PREFIX) else {
            return Err(PathError { offset: 0, go: "invalid JSONPath".to_owned() });
        };
        let rest = rest.strip_prefix('$').unwrap_or(rest);
        let parts = parse_template(&format!("{GLUE}{rest}}}")).map_err(|error| {
            let in_rest = error.offset.saturating_sub(GLUE.len()).min(rest.len());
            PathError { offset: text.len() - rest.len() + in_rest, ..error }
        })?;
        Ok(JsonPath { text: rest.into(), parts })
    }

    /// The steps below `.spec.template`, if the path is a single expression below it.
    pub fn steps(&self) -> Option<&[JsonPathStep]> {
        match self.parts.as_slice() {
            [TemplatePart::Expression(steps)] => match steps.as_slice() {
                [JsonPathStep::Field(spec), JsonPathStep::Field(template), rest @ ..]
                    if spec == "spec" && template == "template" =>
                {
                    Some(rest)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The names on a path that consists of fields only.
    pub fn fields(&self) -> Option<Vec<&str>> {
        self.steps()?
            .iter()
            .map(|step| match step {
                JsonPathStep::Field(name) => Some(name.as_str()),
                _ => None,
            })
            .collect()
    }
}
