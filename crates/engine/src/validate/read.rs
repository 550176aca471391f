//! Parses the arguments of an annotation into rules.
//!
//! A rule is a keyword argument (`min=1`), a function, or a tuple of a description and a function;
//! `when=` makes all of them conditional. Errors have ytt's texts if ytt has them.

use std::rc::Rc;

use ytterby_diag::{Argument, Diagnostic, Failure, Help, Id, Part, Pos, Text};
use ytterby_starlark::Value;
use ytterby_text::Str;

use super::custom::{Custom, RuleForm};
use super::message::MessageTemplate;
use super::rules::{self, BadArgument, NamedRule, RuleRow, Subject};
use super::{Assertion, Rule, RuleCheck, Rules, formats};
use crate::annotation::{Annotation, Level};
use crate::run::Run;

impl Rules {
    /// Reads `@schema/validation`, `@assert/validate` and similar annotations.
    pub fn from_annotation(annotation: &Annotation, run: &Run) -> Result<Rules, Failure> {
        let reader = RulesReader { run, pos: annotation.pos, part: Part::Annotation, annotation: Some(annotation) };
        let invalid = |problem: ArgumentProblem| problem.about(annotation);
        if annotation.args.is_empty() && annotation.kwargs.is_empty() {
            let text = "expected annotation to have 2-tuple as argument(s), but found no arguments";
            let text = Text::new(text).then(" (by ").at(annotation.pos).then(")");
            return Err(invalid(ArgumentProblem {
                helps: run.is_beyond_ytt().then(|| FORMS.into()).into_iter().collect(),
                ..text.into()
            }));
        }
        reader.rules(&annotation.args, &annotation.kwargs).map_err(invalid)
    }

    /// Reads the arguments of `assert.validate()`.
    pub fn from_arguments(args: &[Value], kwargs: &[(Str, Value)], run: &Run, pos: Pos) -> Result<Rules, Failure> {
        let reader = RulesReader { run, pos, part: Part::Token, annotation: None };
        reader
            .rules(args, kwargs)
            .map_err(|problem| Diagnostic::error(Id::ANNOTATION_ARGUMENT, problem.text).helps(problem.helps).into())
    }
}

/// The forms of rules.
const FORMS: &str = "rules are named, as in min=1, functions, or tuples of a description and a function";

/// An error in the arguments.
struct ArgumentProblem {
    text: Text,
    /// The argument in question.
    part: Part,
    helps: Vec<Help>,
}

impl From<Text> for ArgumentProblem {
    fn from(text: Text) -> ArgumentProblem {
        ArgumentProblem { text, part: Part::Annotation, helps: Vec::new() }
    }
}

impl ArgumentProblem {
    /// `Invalid @schema/validation annotation - …`
    fn about(self, annotation: &Annotation) -> Failure {
        let name = annotation.canonical_name();
        let id = if name.starts_with("schema/") { Id::SCHEMA_INVALID } else { Id::ANNOTATION_ARGUMENT };
        let text = Text::new(format!("Invalid @{name} annotation - ")).join(self.text);
        Diagnostic::error(id, text).at(annotation.pos, self.part).helps(self.helps).into()
    }
}

/// A rule given by name.
struct Named {
    /// Its index in the table of rules.
    order: usize,
    rule: Rule,
    is_about_null: bool,
}

struct RulesReader<'a> {
    run: &'a Run,
    /// The position of the annotation or call, and the current argument.
    pos: Pos,
    part: Part,
    /// Contains where each argument was written; annotations may have been merged from several.
    annotation: Option<&'a Annotation>,
}

impl RulesReader<'_> {
    fn rules(&self, args: &[Value], kwargs: &[(Str, Value)]) -> Result<Rules, ArgumentProblem> {
        let beyond_ytt = goes_beyond_ytt(args, kwargs);
        let arguments = if self.run.is_beyond_ytt() { Vec::new() } else { kwargs.to_vec() };
        let mut result = Rules { rules: Vec::new(), when: None, not_null: false, beyond_ytt, arguments };
        for (number, arg) in args.iter().enumerate() {
            let pos = self.annotation.map_or(self.pos, |annotation| annotation.arg_pos(number));
            let part = self.part_of(Argument::Position(number));
            let rule = RulesReader { pos, part, ..*self }.positional(arg)?;
            // ytt skips null before it calls a rule that was given by position.
            let is_about_null = matches!(&rule.check, RuleCheck::Named(named) if named.is_about_null());
            if is_about_null && self.run.is_beyond_ytt() {
                result.not_null = true;
                result.rules.insert(0, rule);
            } else {
                result.rules.push(rule);
            }
        }
        let mut named: Vec<Named> = Vec::with_capacity(kwargs.len());
        let mut given: Vec<(&'static str, &Str)> = Vec::new();
        for (number, (name, value)) in kwargs.iter().enumerate() {
            let name_text = name.to_str();
            let pos = self.annotation.map_or(self.pos, |annotation| annotation.kwarg_pos(number));
            let part = self.part_of(Argument::Named(name_text.clone().into_owned()));
            let reader = RulesReader { pos, part, ..*self };
            if name_text == "when" {
                result.when = Some(reader.when(value)?);
                continue;
            }
            let Some((order, entry)) = rules::find(&name_text, self.run.level) else {
                let quoted = ytterby_text::quote::quote(name);
                let problem = reader.at(format!("unknown keyword argument {}", quoted.to_str()));
                let help = rules::names::hint(&name_text, self.run.level);
                return Err(ArgumentProblem { helps: vec![help], ..problem });
            };
            if let Some((_, other)) = given.iter().find(|(canonical, _)| *canonical == entry.name) {
                let (first, second) = if *other < name { (*other, name) } else { (name, *other) };
                let text =
                    format!("keyword arguments \"{}\" and \"{}\" are the same rule", first.to_str(), second.to_str());
                return Err(reader.at(text));
            }
            given.push((entry.name, name));
            let (value, description) = reader.pair(entry, &name_text, value);
            let made = match (entry.make)(&value, Subject::Keyword(entry.name)) {
                // The reference reports this only when a value is checked: a schema that is only
                // shown is fine.
                Err(bad) if bad.not_yaml && !self.run.is_beyond_ytt() => {
                    let written = format!("{}={}", entry.name, value.repr().to_str());
                    Some(Rc::new(rules::Inapplicable { written, problem: bad.text }) as Rc<dyn NamedRule>)
                }
                made => made.map_err(|bad| reader.bad(bad))?,
            };
            if let Some(rule) = made {
                let is_about_null = rule.is_about_null();
                let rule = reader.named(rule, Id::of_rule(entry.name), description);
                named.push(Named { order, rule, is_about_null });
            }
        }
        for Named { rule, is_about_null, .. } in in_order(named) {
            if is_about_null {
                result.not_null = true;
                result.rules.insert(0, rule);
            } else {
                result.rules.push(rule);
            }
        }
        Ok(result)
    }

    /// The part of an annotation for an argument; arguments of calls have no separate position.
    fn part_of(&self, argument: Argument) -> Part {
        if self.annotation.is_some() { Part::Argument(argument) } else { self.part.clone() }
    }

    /// A problem with the position of the annotation in its text.
    fn at(&self, text: String) -> ArgumentProblem {
        let text = Text::new(text).then(" (at ").at(self.pos).then(")");
        ArgumentProblem { part: self.part.clone(), ..text.into() }
    }

    /// The same, in ytt's wording for positional arguments.
    fn by(&self, text: String) -> ArgumentProblem {
        let text = Text::new(text).then(" (by ").at(self.pos).then(")");
        ArgumentProblem { part: self.part.clone(), ..text.into() }
    }

    fn bad(&self, bad: BadArgument) -> ArgumentProblem {
        let problem = if bad.positioned { self.at(bad.text) } else { Text::new(bad.text).into() };
        ArgumentProblem { part: self.part.clone(), helps: bad.hint.into_iter().collect(), ..problem }
    }

    fn named(&self, rule: Rc<dyn NamedRule>, id: Id, description: Option<Str>) -> Rule {
        let must_be = description.map_or_else(|| rule.must_be(), |text| text.to_str().into_owned());
        Rule { must_be, check: RuleCheck::Named(rule), message: None, id, pos: self.pos, part: self.part.clone() }
    }

    fn when(&self, value: &Value) -> Result<Value, ArgumentProblem> {
        if value.is_callable() {
            return Ok(value.clone());
        }
        let text = format!("expected keyword argument \"when\" to be a function, but was {}", value.type_name());
        Err(self.at(text))
    }

    /// A rule given by position.
    fn positional(&self, arg: &Value) -> Result<Rule, ArgumentProblem> {
        let beyond_ytt = self.run.is_beyond_ytt();
        let Value::Tuple(tuple) = arg else {
            if beyond_ytt && let Some(rule) = self.bare(arg) {
                return Ok(rule);
            }
            let found = arg.repr();
            let text = "expected annotation to have 2-tuple as argument(s), but found:";
            let hint = match arg {
                Value::Str(_) => {
                    "a description needs a rule: (\"description\", lambda v: v > 0), or a named one, min=1"
                }
                _ => FORMS,
            };
            let helps = beyond_ytt.then(|| hint.into()).into_iter().collect();
            return Err(ArgumentProblem { helps, ..self.by(format!("{text} {}", found.to_str())) });
        };
        let parts: Vec<&Value> = tuple.iter().collect();
        let (name, form, message) = match parts[..] {
            [_, _] => ("2-tuple", RuleForm::Pair, None),
            [_, _, message] if beyond_ytt => ("3-tuple", RuleForm::Triple, Some(self.template(message)?)),
            _ => return Err(self.by(format!("expected 2-tuple, but found tuple with length {}", parts.len()))),
        };
        let Value::Str(description) = parts[0] else {
            let text = format!("expected first item in the {name} to be a string describing a valid value, but was");
            return Err(self.at(format!("{text} {}", parts[0].type_name())));
        };
        let must_be = description.to_str().into_owned();
        let (id, check) = match parts[1].downcast::<Assertion>() {
            Some(assertion) => (assertion.id, RuleCheck::Named(assertion.rule.clone())),
            None => {
                let custom = Custom::new(self.callable(parts[1], name)?, form, beyond_ytt);
                (Id::RULE_CUSTOM, RuleCheck::Custom(custom))
            }
        };
        Ok(Rule { must_be, check, message, id, pos: self.pos, part: self.part.clone() })
    }

    /// A rule without a description.
    fn bare(&self, arg: &Value) -> Option<Rule> {
        if let Some((rule, id)) = Assertion::rule_of(arg) {
            return Some(self.named(rule, id, None));
        }
        let function = match arg {
            function if function.is_callable() => function.clone(),
            Value::Host(_) => match check_attribute(arg) {
                Some(check) if check.is_callable() => check,
                _ => return None,
            },
            _ => return None,
        };
        let must_be = describe(&function, self.run);
        let check = RuleCheck::Custom(Custom::new(function, RuleForm::Bare, true));
        Some(Rule { must_be, check, message: None, id: Id::RULE_CUSTOM, pos: self.pos, part: self.part.clone() })
    }

    /// The function of a tuple: itself, or the `check` of an object.
    fn callable(&self, value: &Value, tuple: &str) -> Result<Value, ArgumentProblem> {
        if value.is_callable() {
            return Ok(value.clone());
        }
        let name = value.type_name();
        if !has_attributes(value) {
            let text = format!("expected second item in the {tuple} to be an assertion function, but was {name}");
            return Err(self.at(text));
        }
        match check_attribute(value) {
            None => {
                let text = "expected second item in tuple to be an assertion function or assertion object, but was a";
                Err(self.at(format!("{text} {name}")))
            }
            Some(check) if check.is_callable() => Ok(check),
            Some(check) => {
                Err(self.at(format!("expected struct with attribute check(), but was {}", check.type_name())))
            }
        }
    }

    fn template(&self, message: &Value) -> Result<MessageTemplate, ArgumentProblem> {
        let Value::Str(text) = message else {
            let text = "expected third item in the 3-tuple to be a string holding a violation message, but was";
            return Err(self.at(format!("{text} {}", message.type_name())));
        };
        MessageTemplate::parse(&text.to_str())
            .map_err(|field| self.at(format!("unknown field \"{field}\" in violation message")))
    }

    /// The value of a named rule and its description, if both are given as a tuple.
    fn pair(&self, entry: &RuleRow, name: &str, value: &Value) -> (Value, Option<Str>) {
        let whole = || (value.clone(), None);
        let Value::Tuple(tuple) = value else { return whole() };
        let parts: Vec<&Value> = tuple.iter().collect();
        let [first, second] = parts[..] else { return whole() };
        if !self.run.is_beyond_ytt() {
            return whole();
        }
        let is_list = |value: &Value| matches!(value, Value::List(_) | Value::Tuple(_));
        let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::BigInt(_) | Value::Float(_));
        let is_enumeration = entry.name == "one_of";
        let value_first = match (first, second) {
            (Value::List(_), Value::Str(_)) => true,
            (first, Value::Str(_)) if is_number(first) || matches!(first, Value::Bool(_)) => {
                if is_enumeration {
                    return whole();
                }
                true
            }
            (Value::Str(first), Value::Str(second)) if entry.name == "format" => {
                let is_format = |name: &Str| formats::find(&name.to_str()).is_some();
                is_format(first) && !is_format(second)
            }
            _ => entry.has_alias(name),
        };
        let (value_part, description) = if value_first { (first, second) } else { (second, first) };
        let Value::Str(description) = description else { return whole() };
        let fits = match entry.name {
            "one_of" => is_list(value_part),
            "one_not_null" => is_list(value_part) || matches!(value_part, Value::Bool(_)),
            _ => true,
        };
        if fits { (value_part.clone(), Some(description.clone())) } else { whole() }
    }
}

/// Sorts ytt's own rules into the order in which ytt runs them, regardless of the order of the
/// arguments. They are sorted among their own places; other rules stay where they were given.
fn in_order(named: Vec<Named>) -> Vec<Named> {
    if named.is_sorted_by_key(|rule| rule.order) {
        return named;
    }
    let is_shipped = |rule: &Named| rules::is_of_ytt(rule.order);
    let places: Vec<bool> = named.iter().map(is_shipped).collect();
    let (mut shipped, beyond): (Vec<Named>, Vec<Named>) = named.into_iter().partition(is_shipped);
    shipped.sort_by_key(|rule| rule.order);
    let (mut shipped, mut beyond) = (shipped.into_iter(), beyond.into_iter());
    let next = |is_shipped: &bool| if *is_shipped { shipped.next() } else { beyond.next() };
    places.iter().filter_map(next).collect()
}

/// Whether values of this type have attributes in Go's Starlark.
fn has_attributes(value: &Value) -> bool {
    matches!(value, Value::Str(_) | Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Host(_))
}

fn check_attribute(value: &Value) -> Option<Value> {
    let Value::Host(host) = value else { return None };
    // Attributes of structs and modules do not depend on the evaluation.
    host.attr(&mut ytterby_starlark::Eval::new(), &Str::from("check")).ok().flatten()
}

/// Whether ytt 0.49 would refuse these rules, so that it has no report to match.
fn goes_beyond_ytt(args: &[Value], kwargs: &[(Str, Value)]) -> bool {
    let is_pair = |arg: &Value| matches!(arg, Value::Tuple(tuple) if tuple.len() == 2);
    let is_shipped = |name: &Str| *name == "when" || rules::find(&name.to_str(), Level::Ytt049).is_some();
    !args.iter().all(is_pair) || !kwargs.iter().all(|(name, _)| is_shipped(name))
}

/// The requirement of a function without a description: its docstring, its name, or the source of a
/// lambda.
pub(crate) fn describe(function: &Value, run: &Run) -> String {
    match function {
        Value::Function(function) if function.lambda().is_some() => {
            let span = function.span();
            let source = run.sources.get(span.file);
            let text = source.as_ref().and_then(|source| source.text().get(span.start as usize..span.end as usize));
            text.map_or_else(|| "lambda".to_owned(), |text| on_one_line(&String::from_utf8_lossy(text)))
        }
        Value::Function(function) => {
            let doc = function.doc().map(|doc| doc.to_str().into_owned()).unwrap_or_default();
            let line = doc.lines().map(str::trim).find(|line| !line.is_empty());
            line.map_or_else(|| function.name().to_str().into_owned(), str::to_owned)
        }
        Value::Builtin(builtin) => builtin.name().to_str().into_owned(),
        other => other.type_name().to_owned(),
    }
}

/// The code of a function, to detect changes.
pub(super) fn source(function: &Value, run: &Run) -> String {
    let Value::Function(function) = function else { return describe(function, run) };
    let span = function.span();
    let source = run.sources.get(span.file);
    let text = source.as_ref().and_then(|source| source.text().get(span.start as usize..span.end as usize));
    text.map(|text| on_one_line(&String::from_utf8_lossy(text))).unwrap_or_default()
}

/// A text in which each line break, and the blanks around it, is one blank.
fn on_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}
