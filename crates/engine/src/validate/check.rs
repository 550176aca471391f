//! Runs rules on values and collects the violations.
//!
//! Null is skipped, unless a rule is about null, and `when=` is evaluated first. A rule that cannot
//! be evaluated is an error in the rule and ends the whole check.

use ytterby_diag::{
    Diagnostic, Failure, Id, Label, Part, Path, Pos, REDACTED, Role, Step, Text, Violation, ViolationBlock,
    ViolationPath,
};
use ytterby_starlark::{Error, Eval, Value};
use ytterby_text::profile::{self, SpanKind};
use ytterby_text::{Str, budget};

use super::custom::{BUDGET, Custom, Validity, ValueContext};
use super::message::Fields;
use super::origin::values_read;
use super::{Rule, RuleCheck, Rules};
use crate::limits::working_at;
use crate::node::{Document, Map, MapItem, Node, Scalar, key_text, to_value};
use crate::path::Way;
use crate::run::Run;

/// Bytes of a violation beside its texts: a short template can break a rule a million times.
const VIOLATION: usize = 1 << 10;

/// One check of a document: its inputs, and the violations so far.
pub(crate) struct Checker<'a> {
    pub eval: &'a mut Eval,
    pub run: &'a Run,
    /// `ctx.root`.
    pub root: Option<&'a Node>,
    pub checked: DocumentKind,
    /// Added after every path: ` (document 0 at config.yml:1)`.
    pub suffix: Text,
    /// The data values that templates read, if violations should contain them.
    pub values: Option<&'a Document>,
    /// The violations.
    pub blocks: Vec<ViolationBlock>,
}

/// The kind of document that is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DocumentKind {
    /// Data values, or values that code checks.
    Values,
    /// Output documents.
    Output,
}

/// A value and its position.
#[derive(Clone, Copy)]
pub(crate) struct CheckedValue<'a> {
    pub value: &'a Node,
    /// `ctx.parent`.
    pub parent: Option<&'a Node>,
    pub way: &'a Way<'a>,
    pub pos: Pos,
    /// Whether the value is secret.
    pub secret: bool,
}

impl<'a> Checker<'a> {
    pub fn new(eval: &'a mut Eval, run: &'a Run, root: Option<&'a Node>, checked: DocumentKind) -> Checker<'a> {
        Checker { eval, run, root, checked, suffix: Text::default(), values: None, blocks: Vec::new() }
    }

    /// Checks a value; violations are added to `blocks`. An error ends the whole check.
    pub fn check(&mut self, rules: &Rules, spot: &CheckedValue<'_>) -> Result<(), Failure> {
        if spot.value.is_null() && !rules.not_null {
            return Ok(());
        }
        if let Some(when) = &rules.when
            && !self.applies(when, rules, spot)?
        {
            return Ok(());
        }
        let _working = working_at(spot.pos);
        let mut violations = Vec::new();
        let mut below: Vec<ViolationBlock> = Vec::new();
        for rule in &rules.rules {
            budget::work(weight(spot.value))?;
            let place = (rule.pos.file.0, rule.pos.offset);
            let _span = profile::span_at(SpanKind::Rule, place, || Str::from(rule.must_be.as_str()));
            match &rule.check {
                RuleCheck::Named(named) => {
                    if named.accepts(spot.value) {
                        continue;
                    }
                    let found = named.found(spot.value).into_text();
                    let mut violation = self.violation(rule, &found);
                    violation.message = own_message(rule, spot, &found);
                    if !named.suits(spot.value) {
                        let words = format!(" is never satisfied by a value of type {}", spot.value.type_name());
                        violation.helps.push(Text::new("the rule at ").at(rule.pos).then(words).into());
                    }
                    violations.push(violation);
                    if named.is_about_null() {
                        break;
                    }
                }
                RuleCheck::Custom(custom) => self.custom(rule, custom, spot, &mut violations, &mut below)?,
            }
        }
        if !violations.is_empty() {
            self.add(spot.way.of_violation(), spot.pos, Part::Value, violations);
        }
        self.blocks.append(&mut below);
        Ok(())
    }

    /// Adds the violations of one value.
    pub fn add(&mut self, path: ViolationPath, from: Pos, part: Part, violations: Vec<Violation>) {
        let block = self.block(path, from, part, violations);
        self.blocks.push(block);
    }

    fn block(&self, path: ViolationPath, from: Pos, part: Part, violations: Vec<Violation>) -> ViolationBlock {
        let reads = self.values.map(|values| values_read(self.run, from, values)).unwrap_or_default();
        ViolationBlock { path, suffix: self.suffix.clone(), from, part, reads, violations }
    }

    fn violation(&self, rule: &Rule, found: &str) -> Violation {
        budget::or_unwind(budget::text(VIOLATION + rule.must_be.len() + found.len()));
        Violation {
            id: if self.checked == DocumentKind::Output { Id::OUTPUT_RULE } else { rule.id },
            must_be: rule.must_be.clone().into(),
            found: found.to_owned().into(),
            message: None,
            by: rule.pos,
            by_part: rule.part.clone(),
            reasons: Vec::new(),
            helps: rule.hint().map(Into::into).into_iter().collect(),
        }
    }

    /// Whether `when=` is true.
    fn applies(&mut self, when: &Value, rules: &Rules, spot: &CheckedValue<'_>) -> Result<bool, Failure> {
        let context = ValueContext { parent: spot.parent, root: self.root };
        let value = to_value(spot.value);
        let by = rules.rules.first().map_or(Pos::UNKNOWN, |rule| rule.pos);
        let result = match param_count(when) {
            1 => self.eval.call_within(BUDGET, when, &[value]),
            2 => self.eval.call_within(BUDGET, when, &[value, context.value()]),
            count => {
                let text = format!("function must accept 1 or 2 arguments ({count} given)");
                let text = format!("Failed to evaluate when=: {text}");
                return Err(self.broken(Id::RULE_ERROR, spot, by, text.into()));
            }
        };
        let (id, text) = match result {
            Ok(Value::Bool(answer)) => return Ok(answer),
            Ok(other) => (Id::RULE_ERROR, Text::new(format!("want when= to be bool, got {}", other.type_name()))),
            Err(error) => (id_of(&error), Text::new("Failure evaluating when=: ").join(self.told(&error))),
        };
        Err(self.broken(id, spot, by, text))
    }

    fn custom(
        &mut self,
        rule: &Rule,
        custom: &Custom,
        spot: &CheckedValue<'_>,
        violations: &mut Vec<Violation>,
        below: &mut Vec<ViolationBlock>,
    ) -> Result<(), Failure> {
        let context = ValueContext { parent: spot.parent, root: self.root };
        let verdict = custom.judge(self.eval, spot.value, &context, &self.run.sources);
        match verdict.map_err(|error| self.stopped(&error, rule, spot))? {
            Validity::Valid => {}
            Validity::Invalid { found, failure, advice } => {
                let mut violation = self.violation(rule, &found);
                violation.helps.extend(advice.map(Into::into));
                violation.message = own_message(rule, spot, &failure);
                violations.push(violation);
            }
            Validity::Below(problems) => {
                for (path, message) in problems {
                    let mut violation = self.violation(rule, &message);
                    violation.message = own_message(rule, spot, &message);
                    let (steps, pos) = find_below(spot.value, &path);
                    // Values that code created have no position.
                    let from = pos.filter(|pos| pos.is_known()).unwrap_or(spot.pos);
                    let path = match spot.way {
                        _ if path.is_empty() => spot.way.of_violation(),
                        Way::Name(name) => ViolationPath::Name(format!("{name}{}", below_name(&path))),
                        way => ViolationPath::Path(way.path().join(&steps)),
                    };
                    match below.last_mut() {
                        Some(block) if block.path == path => block.violations.push(violation),
                        _ => below.push(self.block(path, from, Part::Value, vec![violation])),
                    }
                }
            }
        }
        Ok(())
    }

    /// The failure for a rule that was stopped: by a limit, or because the host cancelled it.
    fn stopped(&self, error: &Error, rule: &Rule, spot: &CheckedValue<'_>) -> Failure {
        let text = Text::new(format!("Evaluating rule '{}': ", rule.must_be)).join(self.told(error));
        self.broken(id_of(error), spot, rule.pos, text)
    }

    /// The failure for rules that cannot be evaluated; it ends the whole check.
    fn broken(&self, id: Id, spot: &CheckedValue<'_>, by: Pos, text: Text) -> Failure {
        let path = match spot.way {
            Way::Name(name) => (*name).to_owned(),
            way => way.path().to_string(),
        };
        let reference = Text::new(format!("Validating {path}: ")).join(text.clone());
        let problem = Diagnostic::error(id, text).reference(reference);
        let problem = problem.at(spot.pos, Part::Value).label(Label::new(Role::Rule, by, Part::Annotation));
        problem.path(spot.way.path()).into()
    }

    /// The message of an error; one about a limit includes where the code was stopped.
    fn told(&self, error: &Error) -> Text {
        let text = Text::new(error.text(&self.run.sources));
        match error.frames().first() {
            Some(frame) if error.is_fatal() => text.then(" at ").at(frame.pos),
            _ => text,
        }
    }
}

/// The work of a rule for a value: it may visit all of it.
fn weight(value: &Node) -> usize {
    match value {
        Node::Scalar(Scalar::Str(text)) => 1 + text.len() / 32,
        Node::Scalar(_) => 1,
        Node::Array(array) => 1 + array.items.len(),
        Node::Map(map) => 1 + map.len(),
    }
}

/// A limit that was reached keeps its id; anything else is a mistake in the rule.
fn id_of(error: &Error) -> Id {
    if error.is_fatal() { error.problem().id() } else { Id::RULE_ERROR }
}

/// The message of a rule with a custom message.
fn own_message(rule: &Rule, spot: &CheckedValue<'_>, failure: &str) -> Option<Text> {
    let template = rule.message.as_ref()?;
    let value = match spot.secret {
        true => REDACTED.to_owned(),
        false => to_value(spot.value).repr().to_str().into_owned(),
    };
    let key = spot.way.last_step();
    let fields = Fields { key: &key, value: &value, desc: &rule.must_be, failure };
    Some(template.render(&fields).into())
}

/// The number of parameters of a function; a built-in one counts as having one.
fn param_count(function: &Value) -> usize {
    match function {
        Value::Function(function) => function.param_names().len() + usize::from(function.max_positional().is_none()),
        _ => 1,
    }
}

/// A path from code, after a name: `.c`, `[0]`.
fn below_name(path: &str) -> String {
    if path.starts_with('[') { path.to_owned() } else { format!(".{path}") }
}

/// The steps of a path from code (`hosts[0].name`) below a value, and the position of the item
/// there. A key may contain dots and brackets: the longest existing one wins. A part that does not
/// exist is one step.
fn find_below(value: &Node, path: &str) -> (Path, Option<Pos>) {
    let mut steps = Path::document();
    let mut value = Some(value);
    let mut rest = path;
    let mut pos = None;
    while !rest.is_empty() {
        let index = rest.strip_prefix('[').and_then(|tail| {
            let (index, tail) = tail.split_once(']')?;
            Some((index.parse::<usize>().ok()?, tail))
        });
        let tail;
        if let Some((index, after)) = index {
            let item = value.and_then(Node::as_array).and_then(|array| array.items.get(index));
            steps.push(Step::Index(index));
            (value, pos, tail) = (item.map(|item| &item.value), item.map(|item| item.pos), after);
        } else if let Some((item, after)) = value.and_then(Node::as_map).and_then(|map| step(map, rest)) {
            steps.push(Step::Key(key_text(&item.key).into_owned()));
            (value, pos, tail) = (Some(&item.value), Some(item.pos), after);
        } else {
            let end = rest.find(['.', '[']).filter(|end| *end > 0).unwrap_or(rest.len());
            steps.push(Step::Key(rest[..end].to_owned()));
            (value, pos, tail) = (None, None, &rest[end..]);
        }
        rest = tail.strip_prefix('.').unwrap_or(tail);
    }
    (steps, pos)
}

/// The item whose key begins the path, and the rest of the path.
fn step<'m, 'p>(map: &'m Map, path: &'p str) -> Option<(&'m MapItem, &'p str)> {
    let ends = path.match_indices(['.', '[']).map(|(at, _)| at).chain([path.len()]);
    let found = |end: usize| {
        let key = &path[..end];
        let item = map.get_str(key).or_else(|| map.iter().find(|item| key_text(&item.key) == key));
        item.map(|item| (item, &path[end..]))
    };
    ends.filter_map(found).last()
}
