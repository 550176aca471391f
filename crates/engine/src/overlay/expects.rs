//! The number of matches that an overlay expects: `expects=`, `missing_ok=`, `when=`.
//!
//! By default exactly one item must match. `expects=` takes a number, a text such as `1+`, a list
//! of these, or a function.

use num_traits::ToPrimitive;
use ytterby_diag::{Argument, Diagnostic, Failure, Help, Id, Part, Pos, Text};
use ytterby_starlark::{Error, Eval, Value};

use crate::annotation::{Ann, Annotation};
use crate::node::Annotated;

/// The keyword arguments of `@overlay/match` or `@overlay/match-child-defaults` about the number of
/// matches.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Expects<'r> {
    pub expects: Option<&'r Value>,
    pub missing_ok: Option<&'r Value>,
    pub when: Option<&'r Value>,
}

const YES: Value = Value::Bool(true);

/// Why a number of matches is not accepted.
pub(super) enum Unmet {
    /// It differs from the expected number.
    Count(Text),
    /// The expectation is invalid, or its function failed.
    Error(Error),
}

impl<'r> Expects<'r> {
    /// Sets a keyword argument; returns false if it is not one of these.
    pub fn set(&mut self, name: &[u8], value: &'r Value) -> bool {
        let place = match name {
            b"expects" => &mut self.expects,
            b"missing_ok" => &mut self.missing_ok,
            b"when" => &mut self.when,
            _ => return false,
        };
        *place = Some(value);
        true
    }

    /// The same with missing arguments from `defaults`.
    pub fn or(self, defaults: Expects<'r>) -> Expects<'r> {
        Expects {
            expects: self.expects.or(defaults.expects),
            missing_ok: self.missing_ok.or(defaults.missing_ok),
            when: self.when.or(defaults.when),
        }
    }

    /// If nothing is specified and `adds` is true, no match is required.
    pub fn or_adding(self, adds: bool) -> Expects<'r> {
        match self {
            Expects { expects: None, missing_ok: None, when: None } if adds => {
                Expects { missing_ok: Some(&YES), ..self }
            }
            _ => self,
        }
    }

    /// The expectation for the children of a node.
    pub fn for_children(self, item: &'r impl Annotated) -> Result<Expects<'r>, Failure> {
        let Some(annotation) = item.annotation(Ann::OverlayMatchChildDefaults) else {
            return Ok(self.or_adding(item.policy().adds_children));
        };
        let mut own = Expects::default();
        for (name, value) in &annotation.kwargs {
            if !own.set(name, value) {
                return Err(unknown_argument(annotation, name));
            }
        }
        Ok(own.or(self))
    }

    /// Checks the number of matches.
    pub fn check(&self, eval: &mut Eval, matches: MatchingItems<'_>) -> Result<(), Unmet> {
        let only_one = |a, b| {
            Err(Unmet::Error(Error::new(format!("Expected only one of keyword arguments ('{a}', '{b}') specified"))))
        };
        match (self.expects, self.missing_ok, self.when) {
            (Some(_), Some(_), _) => only_one("missing_ok", "expects"),
            (_, Some(_), Some(_)) => only_one("missing_ok", "when"),
            (Some(_), _, Some(_)) => only_one("when", "expects"),
            (None, None, None) => check_count(1, matches),
            (None, Some(Value::Bool(true)), None) if matches.count == 0 => Ok(()),
            (None, Some(Value::Bool(_)), None) => check_count(1, matches),
            (None, Some(_), None) => {
                Err(Unmet::Error(Error::new("Expected keyword argument 'missing_ok' to be a boolean")))
            }
            (None, None, Some(when)) => check_value(eval, when, "when", matches),
            (Some(expects), None, None) => check_value(eval, expects, "expects", matches),
        }
    }
}

/// Maximum number of positions in a message.
const MAX_PLACES: usize = 1000;

/// The number of matching items, and their positions if needed.
#[derive(Clone, Copy)]
pub(super) struct MatchingItems<'a> {
    pub count: usize,
    pub places: &'a dyn Fn() -> Vec<Pos>,
}

impl MatchingItems<'_> {
    fn unmet(self, expected: impl std::fmt::Display) -> Unmet {
        let text = format!("Expected number of matched nodes to be {expected}, but was {}", self.count);
        let mut places = (self.places)();
        let text = Text::new(text);
        if places.is_empty() {
            return Unmet::Count(text);
        }
        let end = match places.len().saturating_sub(MAX_PLACES) {
            0 => ")".to_owned(),
            more => format!(" and {more} more)"),
        };
        places.truncate(MAX_PLACES);
        Unmet::Count(text.then(" (lines: ").at_all(places).then(end))
    }
}

fn check_count(expected: i64, matches: MatchingItems<'_>) -> Result<(), Unmet> {
    if matches.count.to_i64() == Some(expected) { Ok(()) } else { Err(matches.unmet(expected)) }
}

fn check_value(eval: &mut Eval, value: &Value, argument: &str, matches: MatchingItems<'_>) -> Result<(), Unmet> {
    let error = |text: String| Err(Unmet::Error(Error::new(text)));
    match value {
        Value::Int(expected) => check_count(*expected, matches),
        Value::BigInt(expected) => Err(matches.unmet(expected)),
        Value::Str(text) => {
            let text = text.to_str();
            match text.strip_suffix('+').and_then(|number| number.parse::<i64>().ok()) {
                Some(least) if matches.count.to_i64().is_some_and(|count| count >= least) => Ok(()),
                Some(least) => Err(matches.unmet(format!(">= {least}"))),
                None => error(format!("Expected '{text}' to be in format 'i+' where i is an integer")),
            }
        }
        Value::List(list) => {
            let mut last = Ok(());
            for value in list.to_vec() {
                last = match check_value(eval, &value, argument, matches) {
                    Ok(()) => return Ok(()),
                    Err(Unmet::Error(error)) if error.is_fatal() => return Err(Unmet::Error(error)),
                    unmet => unmet,
                };
            }
            last
        }
        function if function.is_callable() => {
            match eval.call(function, &[Value::from(matches.count)], &[]).map_err(Unmet::Error)? {
                Value::Bool(true) => Ok(()),
                Value::Bool(false) => Err(Unmet::Count("Expectation of number of matched nodes failed".into())),
                _ => error(format!("Expected keyword argument '{argument}' to have a function that returns a boolean")),
            }
        }
        other => error(format!(
            "Expected 'overlay/match' annotation keyword argument '{argument}' to be either int, string or function, \
             but was {}",
            crate::args::go_type(other)
        )),
    }
}

/// The error for an unknown argument of an annotation.
pub(super) fn unknown_argument(annotation: &Annotation, name: &ytterby_text::Str) -> Failure {
    let ann = annotation.ann.expect("the arguments of known annotations are read");
    let text = format!("Unknown '{}' annotation keyword argument '{name}'", ann.name());
    let known = ann.keywords();
    let name = name.to_str();
    let part = Part::Argument(Argument::Named(name.clone().into_owned()));
    let problem = Diagnostic::error(Id::ANNOTATION_ARGUMENT, text).at(annotation.pos, part.clone());
    match ytterby_text::spelling::nearest(&name, known.iter().copied()) {
        Some(near) => problem.help(Help::rename_argument(format!("did you mean {near}=?"), &name, near)).into(),
        None if known.is_empty() => problem.into(),
        None => problem.help(format!("its keyword arguments are {}", known.join(", "))).into(),
    }
}
