//! Running rules on values.

use std::borrow::Cow;

use ytterby_diag::{Diagnostic, Kind, Pos, Severity};
use ytterby_starlark::{Error, Eval, Value};

use super::custom::{BUDGET, Context, Custom, Verdict};
use super::message::Fields;
use super::origin::values_read;
use super::report::Line;
use super::{Block, Check, Report, Rule, Rules, Violation};
use crate::api::Failure;
use crate::node::{Document, Map, MapItem, Node, Scalar, key_text, to_value};
use crate::run::Run;

/// One check of a document: what it needs, and what it has found so far.
pub(crate) struct Checker<'a> {
    pub eval: &'a mut Eval,
    pub run: &'a Run,
    /// `ctx.root`.
    pub root: Option<&'a Node>,
    /// What kind of problem a violation is.
    pub kind: Kind,
    /// What follows every path: ` (document 0 at config.yml:1)`.
    pub suffix: String,
    /// The data values that templates read, where violations are to name them.
    pub values: Option<&'a Document>,
    /// Whether keys can be secrets: those of a schema are not, those that a template makes may be.
    pub hides_keys: bool,
    pub report: Report,
}

/// The way from the document to a value; written out only for values that are not valid.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Document,
    Key(&'a Path<'a>, &'a Scalar),
    Index(&'a Path<'a>, usize),
    /// Something that is no way through a document, shown as it is.
    Name(&'a str),
}

impl Path<'_> {
    fn write(&self, out: &mut String) {
        match self {
            Path::Document => {}
            Path::Name(name) => out.push_str(name),
            Path::Key(parent, key) => {
                parent.write(out);
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(&key_text(key));
            }
            Path::Index(parent, index) => {
                parent.write(out);
                out.push_str(&format!("[{index}]"));
            }
        }
    }

    /// `db.hosts[0]`; empty for the document.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// What violations show.
    pub fn shown(&self) -> String {
        match self {
            Path::Document => "(document)".to_owned(),
            path => path.text(),
        }
    }

    /// What `{key}` stands for.
    fn last_step(&self) -> Cow<'_, str> {
        match self {
            Path::Document => "0".into(),
            Path::Key(_, key) => key_text(key),
            Path::Index(_, index) => index.to_string().into(),
            Path::Name(name) => (*name).into(),
        }
    }
}

/// A value and where it is.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    pub value: &'a Node,
    /// `ctx.parent`.
    pub parent: Option<&'a Node>,
    pub path: &'a Path<'a>,
    pub pos: Pos,
    /// Whether the value must not be shown.
    pub secret: bool,
}

impl<'a> Checker<'a> {
    pub fn new(eval: &'a mut Eval, run: &'a Run, root: Option<&'a Node>, kind: Kind) -> Checker<'a> {
        Checker {
            eval,
            run,
            root,
            kind,
            suffix: String::new(),
            values: None,
            hides_keys: false,
            report: Report::default(),
        }
    }

    /// Checks a value; violations go to the report. An error is one that ends the whole check.
    pub fn check(&mut self, rules: &Rules, spot: &Spot<'_>) -> Result<(), Failure> {
        if spot.value.is_null() && !rules.not_null {
            return Ok(());
        }
        if let Some(when) = &rules.when
            && !self.applies(when, rules, spot)?
        {
            return Ok(());
        }
        let mut violations = Vec::new();
        let mut below: Vec<Block> = Vec::new();
        for rule in &rules.rules {
            match &rule.check {
                Check::Named(named) => {
                    if named.accepts(spot.value) {
                        continue;
                    }
                    let found = named.found(spot.value).into_text();
                    let mut violation = self.violation(rule, self.run.hide(found.clone()));
                    violation.message = self.own_message(rule, spot, &found);
                    if !named.suits(spot.value) {
                        let (kind, by) = (spot.value.type_name(), self.run.locate(rule.pos));
                        violation.hints.push(format!("the rule at {by} holds for no value of type {kind}"));
                    }
                    violations.push(violation);
                    if named.is_about_null() {
                        break;
                    }
                }
                Check::Custom(custom) => self.custom(rule, custom, spot, &mut violations, &mut below)?,
            }
        }
        if !violations.is_empty() {
            let line = self.line(spot.pos, spot.secret);
            let block = self.block(spot.path.shown(), spot.pos, line, violations);
            self.report.blocks.push(block);
        }
        self.report.blocks.append(&mut below);
        Ok(())
    }

    /// Adds a violation that is not a rule's: a value that must be given, a number of keys.
    pub fn add(&mut self, path: String, from: Pos, violations: Vec<Violation>) {
        let line = self.line(from, false);
        let block = self.block(path, from, line, violations);
        self.report.blocks.push(block);
    }

    /// How the line of a value may be shown; that of a secret not at all, because a value can be written in many ways.
    pub fn line(&self, pos: Pos, secret: bool) -> Line {
        if secret {
            return Line::Hidden;
        }
        let may_show_secrets = self.run.options.rich && self.run.has_secrets();
        let line = if may_show_secrets { self.run.excerpt_without_secrets(pos) } else { None };
        line.map_or(Line::AsItIs, Line::Redacted)
    }

    /// A path as it may be shown.
    fn shown(&self, path: String) -> String {
        if self.hides_keys { self.run.hide(path) } else { path }
    }

    fn block(&self, path: String, from: Pos, line: Line, violations: Vec<Violation>) -> Block {
        let path = self.shown(path);
        let reads = self.values.map(|values| values_read(self.run, from, values)).unwrap_or_default();
        Block { path, suffix: self.suffix.clone(), from, line, reads, violations }
    }

    fn violation(&self, rule: &Rule, found: String) -> Violation {
        // Rules of a schema are written before there are values; those of templates may be made of secrets.
        let must_be = match self.kind {
            Kind::Output => self.run.hide(rule.must_be.clone()),
            _ => rule.must_be.clone(),
        };
        Violation {
            kind: self.kind,
            must_be,
            found,
            message: None,
            by: rule.pos,
            by_line: self.line(rule.pos, false),
            reasons: Vec::new(),
            hints: rule.hint().into_iter().collect(),
        }
    }

    /// Whether `when=` says yes.
    fn applies(&mut self, when: &Value, rules: &Rules, spot: &Spot<'_>) -> Result<bool, Failure> {
        let context = Context { parent: spot.parent, root: self.root };
        let value = to_value(spot.value);
        let by = rules.rules.first().map_or(Pos::UNKNOWN, |rule| rule.pos);
        let result = match param_count(when) {
            1 => self.eval.call_within(BUDGET, when, &[value]),
            2 => self.eval.call_within(BUDGET, when, &[value, context.value()]),
            count => {
                let text = format!("function must accept 1 or 2 arguments ({count} given)");
                return Err(self.broken(spot, by, format!("Failed to evaluate when=: {text}")));
            }
        };
        let text = match result {
            Ok(Value::Bool(answer)) => return Ok(answer),
            Ok(other) => format!("want when= to be bool, got {}", other.type_name()),
            Err(error) => format!("Failure evaluating when=: {}", self.told(&error, by)),
        };
        Err(self.broken(spot, by, text))
    }

    fn custom(
        &mut self,
        rule: &Rule,
        custom: &Custom,
        spot: &Spot<'_>,
        violations: &mut Vec<Violation>,
        below: &mut Vec<Block>,
    ) -> Result<(), Failure> {
        let context = Context { parent: spot.parent, root: self.root };
        let verdict = custom.judge(self.eval, spot.value, &context);
        match verdict.map_err(|error| self.stopped(&error, rule, spot))? {
            Verdict::Valid => {}
            Verdict::Invalid { found, failure } => {
                let found = self.run.hide(found);
                let mut violation = self.violation(rule, found);
                violation.message = self.own_message(rule, spot, &failure);
                violations.push(violation);
            }
            Verdict::Below(problems) => {
                for (path, message) in problems {
                    let found = self.run.hide(message.clone());
                    let mut violation = self.violation(rule, found);
                    violation.message = self.own_message(rule, spot, &message);
                    // Values that code made have no place of their own.
                    let from = find_below(spot.value, &path).filter(|pos| pos.is_known()).unwrap_or(spot.pos);
                    let path = match &*path {
                        "" => spot.path.shown(),
                        below => joined(&spot.path.text(), &self.run.hide(below.to_owned())),
                    };
                    let path = self.shown(path);
                    match below.last_mut() {
                        Some(block) if block.path == path => block.violations.push(violation),
                        _ => {
                            let line = self.line(from, spot.secret);
                            below.push(self.block(path, from, line, vec![violation]));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A rule that was stopped: by a limit, or because the host asked for it.
    fn stopped(&self, error: &Error, rule: &Rule, spot: &Spot<'_>) -> Failure {
        let told = self.told(error, rule.pos);
        self.broken(spot, rule.pos, format!("Evaluating rule '{}': {told}", rule.must_be))
    }

    /// Rules that cannot be told to hold or not: the end of the whole check.
    fn broken(&self, spot: &Spot<'_>, by: Pos, text: String) -> Failure {
        let known = |pos: Pos| pos.is_known().then_some(pos);
        let (path, shown) = (self.shown(spot.path.text()), self.shown(spot.path.shown()));
        let text = self.run.hide(text);
        let mut failure = Failure::new(format!("Validating {path}: {text}"));
        // Without an excerpt, rich messages would show the line of the value, which may be a secret.
        let excerpt = self.line(by, false).note(by).filter(|_| self.run.options.rich);
        let from = known(spot.pos).filter(|_| !spot.secret || excerpt.is_some() || !self.run.options.rich);
        excerpt.into_iter().for_each(|note| failure.message.note(note));
        failure.diagnostics.push(Diagnostic {
            path: Some(shown.clone()),
            from,
            by: known(by),
            ..Diagnostic::new(Severity::Error, Kind::Other, format!("{shown}: {text}"))
        });
        failure
    }

    /// The message of an error; one about a limit says where the code was stopped.
    fn told<'e>(&self, error: &'e Error, by: Pos) -> Cow<'e, str> {
        match error.frames().first() {
            Some(frame) if error.is_fatal() => {
                let (at, by) = (self.run.locate(frame.pos), self.run.locate(by));
                format!("{} at {at} (by: {by})", error.message()).into()
            }
            _ => error.message().into(),
        }
    }

    fn own_message(&self, rule: &Rule, spot: &Spot<'_>, failure: &str) -> Option<String> {
        let template = rule.message.as_ref()?;
        let value = match spot.secret {
            true => "<redacted>".to_owned(),
            false => to_value(spot.value).repr().to_str().into_owned(),
        };
        let key = spot.path.last_step();
        let fields = Fields { key: &key, value: &value, desc: &rule.must_be, failure };
        Some(self.run.hide(template.render(&fields)))
    }
}

/// How many parameters a function declares; a built-in one is taken to have one.
fn param_count(function: &Value) -> usize {
    match function {
        Value::Function(function) => function.param_names().len() + usize::from(function.max_positional().is_none()),
        _ => 1,
    }
}

/// `a.b` and `c`, or `a` and `[0]`.
fn joined(path: &str, below: &str) -> String {
    match path {
        "" => below.to_owned(),
        path if below.starts_with('[') => format!("{path}{below}"),
        path => format!("{path}.{below}"),
    }
}

/// The position of the item at a path below a value: `hosts[0].name`.
fn find_below(value: &Node, path: &str) -> Option<Pos> {
    let mut value = value;
    let mut rest = path;
    let mut pos = None;
    while !rest.is_empty() {
        if let Some(tail) = rest.strip_prefix('[') {
            let (index, tail) = tail.split_once(']')?;
            let item = value.as_array()?.items.get(index.parse::<usize>().ok()?)?;
            (value, pos, rest) = (&item.value, Some(item.pos), tail.strip_prefix('.').unwrap_or(tail));
        } else {
            let (item, tail) = step(value.as_map()?, rest)?;
            (value, pos, rest) = (&item.value, Some(item.pos), tail.strip_prefix('.').unwrap_or(tail));
        }
    }
    pos
}

/// The item whose key begins the path, and what follows. A key may hold dots and brackets itself: the longest wins.
fn step<'m, 'p>(map: &'m Map, path: &'p str) -> Option<(&'m MapItem, &'p str)> {
    let ends = path.match_indices(['.', '[']).map(|(at, _)| at).chain([path.len()]);
    let found = |end: usize| {
        let key = &path[..end];
        let item = map.get_str(key).or_else(|| map.iter().find(|item| key_text(&item.key) == key));
        item.map(|item| (item, &path[end..]))
    };
    ends.filter_map(found).last()
}
