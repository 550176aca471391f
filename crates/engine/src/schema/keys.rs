//! `@schema/key`: which keys a map may have, and how many.
//!
//! An item with this annotation is either optional, or it is a pattern for any key that matches.

use std::fmt;

use ytterby_diag::{Failure, Pos, SchemaBlock as Block};
use ytterby_starlark::{Error, Eval, Value};
use ytterby_text::Str;

use super::Presence;
use super::placed;
use crate::annotation::Annotation;
use crate::node::{Node, Scalar, scalar_to_value};
use crate::run::Run;
use crate::validate::describe;
use crate::validate::rules::cel_literal;
use ytterby_regexp::Regexp;

/// A rule about the keys of a map.
#[derive(Debug)]
pub(crate) struct KeyRule {
    pub allowed: Option<AllowedKeys>,
    pub expects: Expects,
    /// The position of the annotation.
    pub pos: Pos,
}

/// Which keys a pattern accepts.
pub(crate) enum AllowedKeys {
    /// Every string.
    Any,
    /// Those that the regular expression matches as a whole; with its text.
    Matching(Regexp, Str),
    /// Those for which the function returns true.
    Function(KeyFunction),
}

/// How many items there must be.
#[derive(Clone)]
pub(crate) enum Expects {
    Exactly(i64),
    AtLeast(i64),
    Function(KeyFunction),
    AnyOf(Vec<Expects>),
}

impl fmt::Debug for AllowedKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Expects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// A function that decides about keys or numbers, and its name as rules show it.
#[derive(Clone)]
pub(crate) struct KeyFunction {
    value: Value,
    name: String,
}

impl KeyFunction {
    fn new(value: &Value, run: &Run) -> KeyFunction {
        let name = match value {
            // A lambda has no name, so its code is shown instead.
            Value::Function(function) if function.lambda().is_some() => describe(value, run),
            Value::Function(function) => function.name().to_string(),
            Value::Builtin(builtin) => builtin.name().to_string(),
            other => other.to_text().to_string(),
        };
        KeyFunction { value: value.clone(), name }
    }
}

impl Presence {
    /// Whether any number of items is allowed: a literal key may be present or absent.
    pub fn accepts_any_number(&self) -> bool {
        match self {
            Presence::Always | Presence::Removed(_) => true,
            Presence::Optional(rule) => (rule.expects.takes(0), rule.expects.takes(1)) == (Some(true), Some(true)),
            Presence::Pattern(rule) => matches!(rule.expects, Expects::AtLeast(0)),
        }
    }

    /// Whether it is a literal key that is required and has no default.
    pub fn must_be_given(&self) -> bool {
        match self {
            Presence::Optional(rule) => (rule.expects.takes(0), rule.expects.takes(1)) == (Some(false), Some(true)),
            _ => false,
        }
    }
}

impl AllowedKeys {
    /// A description of the keys: `a key matching "x-.*"`.
    pub fn keys(&self) -> String {
        match self {
            AllowedKeys::Any => "any key".to_owned(),
            AllowedKeys::Matching(_, text) => format!("a key matching {}", Value::Str(text.clone()).repr()),
            AllowedKeys::Function(function) => format!("a key accepted by {}", function.name),
        }
    }

    /// A CEL condition that is true if the key in the variable matches.
    pub fn cel(&self, variable: &str) -> Option<String> {
        match self {
            AllowedKeys::Any => Some("true".to_owned()),
            AllowedKeys::Matching(_, text) => {
                let pattern = Node::str(format!("^(?:{})$", text.as_str()?));
                Some(format!("{variable}.matches({})", cel_literal(&pattern)))
            }
            AllowedKeys::Function(_) => None,
        }
    }

    /// The text in lists of expected keys.
    pub fn text(&self) -> String {
        match self {
            AllowedKeys::Any => "/.*/".to_owned(),
            AllowedKeys::Matching(_, text) => format!("/{text}/"),
            AllowedKeys::Function(function) => format!("({})", function.name),
        }
    }
}

impl Expects {
    fn text(&self) -> String {
        match self {
            Expects::Exactly(1) => "1 item".to_owned(),
            Expects::Exactly(n) => format!("{n} items"),
            Expects::AtLeast(n) => format!("{n} or more items"),
            Expects::Function(function) => format!("a number of items accepted by {}", function.name),
            Expects::AnyOf(list) => {
                let one = |expects: &Expects| match expects {
                    Expects::Exactly(n) => n.to_string(),
                    Expects::AtLeast(n) => format!("{n} or more"),
                    Expects::Function(function) => format!("a number accepted by {}", function.name),
                    nested @ Expects::AnyOf(_) => nested.text(),
                };
                format!("{} items", list.iter().map(one).collect::<Vec<_>>().join(" or "))
            }
        }
    }

    /// Whether this number of items is allowed.
    ///
    /// # Errors
    /// If a function fails or does not return a bool.
    pub fn accepts(&self, eval: &mut Eval, count: usize) -> Result<bool, Error> {
        let number = count as i64;
        match self {
            Expects::Exactly(n) => Ok(number == *n),
            Expects::AtLeast(n) => Ok(number >= *n),
            Expects::Function(function) => match eval.call(&function.value, &[Value::Int(number)], &[])? {
                Value::Bool(answer) => Ok(answer),
                other => Err(Error::new(format!(
                    "Expected expects= function of @schema/key to return bool, but was {}",
                    other.type_name()
                ))),
            },
            Expects::AnyOf(list) => {
                for expects in list {
                    if expects.accepts(eval, count)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    /// Whether every number between the bounds is allowed.
    pub fn is_between_bounds(&self) -> bool {
        match (self, self.bounds()) {
            (Expects::Function(_), _) => false,
            (Expects::AnyOf(list), (Some(lowest), Some(highest))) => {
                let is_listed = |n| list.iter().any(|one| matches!(one, Expects::Exactly(number) if *number == n));
                // Avoids walking over long lists.
                highest - lowest < 1000 && (lowest..=highest).all(is_listed)
            }
            (Expects::AnyOf(_), _) => false,
            (Expects::Exactly(_) | Expects::AtLeast(_), _) => true,
        }
    }

    /// Whether this number of items is allowed; `None` if a function decides.
    fn takes(&self, count: i64) -> Option<bool> {
        match self {
            Expects::Exactly(n) => Some(count == *n),
            Expects::AtLeast(n) => Some(count >= *n),
            Expects::Function(_) => None,
            Expects::AnyOf(list) => {
                let answers: Vec<Option<bool>> = list.iter().map(|one| one.takes(count)).collect();
                match answers.contains(&Some(true)) {
                    true => Some(true),
                    false if answers.contains(&None) => None,
                    false => Some(false),
                }
            }
        }
    }

    /// The lowest and the highest number, if known.
    pub fn bounds(&self) -> (Option<i64>, Option<i64>) {
        match self {
            Expects::Exactly(n) => (Some(*n), Some(*n)),
            Expects::AtLeast(n) => (Some(*n), None),
            Expects::Function(_) => (None, None),
            Expects::AnyOf(list) => {
                let numbers: Option<Vec<i64>> =
                    list.iter().map(|one| if let Expects::Exactly(n) = one { Some(*n) } else { None }).collect();
                let numbers = numbers.unwrap_or_default();
                (numbers.iter().min().copied(), numbers.iter().max().copied())
            }
        }
    }
}

impl KeyRule {
    /// Whether a key matches the pattern whose key in the schema is `written`.
    ///
    /// # Errors
    /// If a function fails or does not return a bool.
    pub fn accepts(&self, eval: &mut Eval, key: &Scalar, written: &Scalar) -> Result<bool, Error> {
        match (&self.allowed, key) {
            (None, _) => Ok(false),
            (Some(AllowedKeys::Any), key) => Ok(key.as_str().is_some()),
            (Some(AllowedKeys::Matching(regexp, _)), Scalar::Str(text)) => Ok(regexp.is_match(text)),
            (Some(AllowedKeys::Matching(..)), _) => Ok(false),
            (Some(AllowedKeys::Function(function)), key) => {
                let both = [scalar_to_value(key), scalar_to_value(written)];
                let takes_one = matches!(&function.value, Value::Function(f) if f.max_positional() == Some(1));
                match eval.call(&function.value, if takes_one { &both[..1] } else { &both }, &[])? {
                    Value::Bool(answer) => Ok(answer),
                    other => Err(Error::new(format!(
                        "Expected allowed= function of @schema/key to return bool, but was {}",
                        other.type_name()
                    ))),
                }
            }
        }
    }

    /// The requirement that a wrong number of items violates: `1 or more items with any key`.
    pub fn must_be(&self, written: &Scalar) -> String {
        let which = match &self.allowed {
            None => format!("the key {}", scalar_to_value(written).repr()),
            Some(allowed) => allowed.keys(),
        };
        format!("{} with {which}", self.expects.text())
    }
}

/// Reads `@schema/key`, `@schema/any-key` and `@schema/key-may-be-present`. `None` for an ordinary
/// item.
pub(crate) fn read(run: &Run, ann: &Annotation, node: Pos) -> Result<Option<KeyRule>, Failure> {
    let block = |found: String, expected: &'static str| {
        Block::at(node, placed(found, "by", ann.pos), expected).annotation(ann.pos)
    };
    let unknown = |found: &str, expected: &'static str| {
        block(found.to_owned(), expected).under("Invalid schema - unknown argument of @schema/key")
    };
    let bare = |rule: KeyRule| match (ann.args.first(), ann.kwargs.first()) {
        (None, None) => Ok(Some(rule)),
        (Some(value), _) => Err(unknown(&value.repr().to_str(), "no arguments")),
        (None, Some((name, _))) => Err(unknown(&format!("{name}="), "no arguments")),
    };
    if ann.name == "schema/any-key" {
        return bare(KeyRule { allowed: Some(AllowedKeys::Any), expects: Expects::AtLeast(0), pos: ann.pos });
    }
    if ann.name == "schema/key-may-be-present" {
        return bare(KeyRule { allowed: None, expects: either_way(), pos: ann.pos });
    }
    const ARGUMENTS: &str = "allowed=, expects= or missing_ok=";
    if let Some(value) = ann.args.first() {
        return Err(unknown(&value.repr().to_str(), ARGUMENTS));
    }
    let (mut allowed, mut expects, mut missing_ok) = (None, None, None);
    let mut pos = ann.pos;
    for (number, (name, value)) in ann.kwargs.iter().enumerate() {
        match &*name.to_str() {
            "allowed" => allowed = Some(read_allowed(run, ann, node, value)?),
            "expects" => match read_expects(run, value) {
                Some(read) => {
                    expects = Some(read);
                    pos = ann.kwarg_pos(number);
                }
                None => {
                    let expected = "an integer, a string like \"1+\", a function or a list of these";
                    let title = "Invalid schema - wrong expects= in @schema/key";
                    return Err(block(value.repr().to_string(), expected).under(title));
                }
            },
            "missing_ok" => match value {
                Value::Bool(value) => missing_ok = Some(*value),
                other => {
                    let title = "Invalid schema - wrong missing_ok= in @schema/key";
                    return Err(block(other.repr().to_string(), "True or False").under(title));
                }
            },
            other => return Err(unknown(&format!("{other}="), ARGUMENTS)),
        }
    }
    if expects.is_some() && missing_ok.is_some() {
        let title = "Invalid schema - expects= and missing_ok= cannot be combined in @schema/key";
        return Err(block("both".into(), "one of them").under(title));
    }
    let expects = match (expects, missing_ok, &allowed) {
        (Some(expects), _, _) => expects,
        (None, Some(true), Some(_)) => Expects::AtLeast(0),
        (None, Some(true), None) => either_way(),
        (None, _, _) => Expects::Exactly(1),
    };
    if allowed.is_none() && matches!(expects, Expects::Exactly(1)) {
        return Ok(None);
    }
    Ok(Some(KeyRule { allowed, expects, pos }))
}

/// A literal key that is optional.
fn either_way() -> Expects {
    Expects::AnyOf(vec![Expects::Exactly(0), Expects::Exactly(1)])
}

fn read_allowed(run: &Run, ann: &Annotation, node: Pos, value: &Value) -> Result<AllowedKeys, Failure> {
    match value {
        Value::Str(text) if *text == "any" => Ok(AllowedKeys::Any),
        Value::Str(text) => {
            let whole = format!("^(?:{text})$");
            // The text itself must be a valid regular expression; a stray `)` could be valid in the
            // whole.
            let compiled = Regexp::new(text.as_bytes()).and_then(|_| Regexp::new(whole.as_bytes()));
            compiled.map(|regexp| AllowedKeys::Matching(regexp, text.clone())).map_err(|problem| {
                let title = "Invalid schema - allowed= is not a valid regular expression";
                Block::at(node, placed(problem.to_string(), "by", ann.pos), "a regular expression (RE2)")
                    .annotation(ann.pos)
                    .under(title)
            })
        }
        function if function.is_callable() => Ok(AllowedKeys::Function(KeyFunction::new(function, run))),
        other => {
            let title = "Invalid schema - wrong allowed= in @schema/key";
            let expected = "\"any\", a regular expression or a function";
            let found = placed(other.repr().to_string(), "by", ann.pos);
            Err(Block::at(node, found, expected).annotation(ann.pos).under(title))
        }
    }
}

fn read_expects(run: &Run, value: &Value) -> Option<Expects> {
    match value {
        Value::List(list) if !list.is_empty() => {
            let read: Option<Vec<Expects>> = list.to_vec().iter().map(|item| read_number(run, item)).collect();
            read.map(Expects::AnyOf)
        }
        other => read_number(run, other),
    }
}

fn read_number(run: &Run, value: &Value) -> Option<Expects> {
    match value {
        Value::Int(n) if *n >= 0 => Some(Expects::Exactly(*n)),
        Value::Str(text) => {
            let text = text.to_str();
            let number: u32 = text.strip_suffix('+')?.parse().ok()?;
            Some(Expects::AtLeast(number.into()))
        }
        function if function.is_callable() => Some(Expects::Function(KeyFunction::new(function, run))),
        _ => None,
    }
}
