//! Validations: rules on data values and on output documents.
//!
//! An annotation is parsed once into [`Rules`]: named rules become checks on nodes, functions stay
//! Starlark. The [`Checker`] walks from root to leaf and collects every violation; paths and texts
//! are built only for invalid values.
//!
//! [`values`] walks data values along their schema, [`output`] the documents of a library run.
//! Neither knows how a report is formatted.

pub(crate) mod annotations;
mod assertion;
pub(crate) mod cel;
mod check;
mod custom;
pub(crate) mod formats;
mod message;
mod origin;
pub(crate) use origin::values_read;
pub(crate) mod output;
mod read;
pub(crate) mod rules;

use std::rc::Rc;

use ytterby_diag::{Cause, Failure, Id, Part, Pos, ViolationBlock};
use ytterby_starlark::{Eval, Value};
use ytterby_text::Str;

pub(crate) use assertion::{Assertion, judge};
pub(crate) use check::{CheckedValue, Checker, DocumentKind};
pub(crate) use read::describe;

use crate::node::Node;
use crate::run::Run;
use custom::Custom;
use message::MessageTemplate;
use rules::NamedRule;
pub(crate) use rules::{
    ExportTarget, FreeKeys, ItemTypes, Keyword, Limit, MapNodeType, Most, NodeType, Quantity, Want,
};

/// The requirements of one annotation, or of one call of `assert.validate()`.
#[derive(Debug)]
pub(crate) struct Rules {
    /// In execution order.
    pub rules: Vec<Rule>,
    when: Option<Value>,
    /// Whether null is checked instead of being skipped.
    not_null: bool,
    /// Whether ytt would refuse these rules.
    pub beyond_ytt: bool,
    /// The named arguments as given. Kept only in the mode compatible with ytt, for its OpenAPI
    /// document.
    pub arguments: Vec<(Str, Value)>,
}

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The description of a valid value, for violations and documentation.
    pub must_be: String,
    pub check: RuleCheck,
    /// A custom message.
    message: Option<MessageTemplate>,
    /// The id of its violations.
    id: Id,
    /// Where it was written: an annotation or a call, and the argument.
    pub pos: Pos,
    pub part: Part,
}

#[derive(Debug)]
pub(crate) enum RuleCheck {
    Named(Rc<dyn NamedRule>),
    Custom(Custom),
}

/// Each rule, and whether a value satisfies it. A rule that cannot be evaluated counts as violated.
pub(crate) fn verdicts(
    rules: &Rules,
    eval: &mut Eval,
    run: &Run,
    spot: &CheckedValue<'_>,
    root: &Node,
) -> Vec<(Id, String, bool)> {
    let mut checker = Checker::new(eval, run, Some(root), DocumentKind::Values);
    let outcome = checker.check(rules, spot);
    let broken: Vec<&ytterby_diag::Violation> = checker.blocks.iter().flat_map(|block| &block.violations).collect();
    let holds = |rule: &Rule| {
        let is_broken = broken.iter().any(|one| one.id == rule.id && *one.must_be.plain() == *rule.must_be);
        !is_broken && (outcome.is_ok() || matches!(rule.check, RuleCheck::Named(_)))
    };
    rules.rules.iter().filter(|rule| !rule.is_void()).map(|rule| (rule.id, rules.text(rule), holds(rule))).collect()
}

/// The failure for violations; `None` if there are none.
pub(crate) fn failure_of(blocks: Vec<ViolationBlock>) -> Option<Failure> {
    (!blocks.is_empty()).then(|| Failure::of(Cause::Violations(blocks)))
}

/// The level of detail about rules.
#[derive(Clone, Copy)]
pub(crate) enum Detail<'a> {
    Texts,
    /// Also the code of functions, to detect changes.
    Sources(&'a Run),
}

/// The documentation of one rule.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    /// The id of its violations; `None` if only its text is known.
    pub id: Option<Id>,
    /// Its argument.
    pub argument: Option<Node>,
    /// The must-be text, with the suffix of conditional rules.
    pub text: String,
    /// The hint of its format if it has one.
    pub hint: Option<String>,
    /// The requirement: equal for rules with the same requirement, regardless of their
    /// descriptions.
    pub meaning: String,
    pub limits: Vec<Limit>,
    /// The meaning of a conditional rule without its condition.
    pub without_condition: Option<String>,
}

/// One rule in an export.
#[derive(Debug)]
pub(crate) struct Exported {
    /// The must-be text, with the suffix of conditional rules.
    pub text: String,
    /// Its keywords in the target; empty if only the text can express it.
    pub keywords: Vec<Keyword>,
    /// The function of a custom rule, which CRDs may translate.
    pub function: Option<Value>,
}

impl Rules {
    /// The must-be text, with a suffix for conditional rules.
    fn text(&self, rule: &Rule) -> String {
        match self.when {
            Some(_) => format!("{} (conditional)", rule.must_be),
            None => rule.must_be.clone(),
        }
    }

    /// The rules that no value of a type can satisfy, given samples of the type: their texts and
    /// positions.
    pub fn unfit<'r>(&'r self, samples: &'r [Node]) -> impl Iterator<Item = (&'r str, Pos, &'r Part)> {
        let suits = |rule: &Rule| match &rule.check {
            RuleCheck::Named(named) => samples.iter().any(|sample| named.suits(sample)),
            RuleCheck::Custom(_) => true,
        };
        self.rules.iter().filter(move |rule| !suits(rule)).map(|rule| (rule.must_be.as_str(), rule.pos, &rule.part))
    }

    /// Whether each rule can hold for values of a type, given samples of it. Rules under `when=`
    /// are excepted.
    pub fn suit(&self, samples: &[Node]) -> bool {
        samples.is_empty() || self.when.is_some() || self.unfit(samples).next().is_none()
    }

    /// The documentation of each rule.
    pub fn described(&self, detail: Detail<'_>) -> Vec<Described> {
        let source = |function: &Value| match detail {
            Detail::Texts => String::new(),
            Detail::Sources(run) => read::source(function, run),
        };
        let when = self.when.as_ref().map(|when| format!("\0{}", source(when))).unwrap_or_default();
        let described = self.rules.iter().filter(|rule| !rule.is_void()).map(|rule| {
            let (meaning, limits) = match &rule.check {
                RuleCheck::Named(named) => (named.must_be(), named.limits()),
                RuleCheck::Custom(custom) => (format!("{}\0{}", rule.must_be, source(custom.function())), Vec::new()),
            };
            let argument = match &rule.check {
                RuleCheck::Named(named) => named.argument(),
                RuleCheck::Custom(_) => None,
            };
            Described {
                id: Some(rule.id),
                argument,
                text: self.text(rule),
                hint: rule.hint(),
                meaning: format!("{meaning}{when}"),
                limits: if self.when.is_some() { Vec::new() } else { limits },
                without_condition: self.when.is_some().then_some(meaning),
            }
        });
        described.collect()
    }

    /// The export of each rule, in order. Rules under `when=` have only texts.
    pub fn exports(&self, target: ExportTarget, shape: &NodeType) -> Vec<Exported> {
        let keywords = |rule: &Rule| match (&rule.check, &self.when) {
            (RuleCheck::Named(named), None) => named.export(target, shape),
            _ => Vec::new(),
        };
        let function = |rule: &Rule| match (&rule.check, &self.when) {
            (RuleCheck::Custom(custom), None) => Some(custom.function().clone()),
            _ => None,
        };
        let exported = self.rules.iter().filter(|rule| !rule.is_void()).map(|rule| Exported {
            text: self.text(rule),
            keywords: keywords(rule),
            function: function(rule),
        });
        exported.collect()
    }

    /// Whether a value is valid by the rules that exports contain: not those under `when=`, and
    /// only those functions for which `translated` returns a result.
    pub fn hold_in_exports(&self, value: &Node, translated: impl Fn(&Value) -> Option<bool>) -> bool {
        if self.when.is_some() || (value.is_null() && !self.not_null) {
            return true;
        }
        self.rules.iter().all(|rule| match &rule.check {
            RuleCheck::Named(named) => named.accepts(value),
            RuleCheck::Custom(custom) => translated(custom.function()).unwrap_or(true),
        })
    }

    /// The maximum length of values, if a rule limits it.
    pub fn longest(&self) -> Option<i64> {
        let limits = self.rules.iter().filter(|_| self.when.is_none()).flat_map(|rule| match &rule.check {
            RuleCheck::Named(named) => named.limits(),
            RuleCheck::Custom(_) => Vec::new(),
        });
        let bounds = limits.filter_map(|limit| match limit {
            Limit::AtMost(rules::Quantity::Length, bound) => Some(bound.number as i64),
            _ => None,
        });
        bounds.min()
    }

    /// The limits of all named rules, including conditional ones: for generators of values.
    pub fn limits(&self) -> Vec<Limit> {
        self.named().flat_map(|named| named.limits()).collect()
    }

    /// The other requirements of named rules.
    pub fn wants(&self) -> Vec<Want<'_>> {
        self.named().filter_map(|named| named.wants()).collect()
    }

    fn named(&self) -> impl Iterator<Item = &Rc<dyn NamedRule>> {
        self.rules.iter().filter_map(|rule| match &rule.check {
            RuleCheck::Named(named) => Some(named),
            RuleCheck::Custom(_) => None,
        })
    }

    /// Whether a value by itself satisfies the rules; `None` if that depends on other values or on
    /// a condition.
    pub fn admit(&self, eval: &mut Eval, run: &Run, value: &Node) -> Option<bool> {
        if value.is_null() && !self.not_null {
            return Some(true);
        }
        let mut known = self.when.is_none();
        for rule in &self.rules {
            let holds = match &rule.check {
                RuleCheck::Named(named) => Some(named.accepts(value)),
                RuleCheck::Custom(custom) => custom.admits(eval, value, &run.sources),
            };
            match holds {
                Some(true) => {}
                Some(false) => return self.when.is_none().then_some(false),
                None => known = false,
            }
        }
        known.then_some(true)
    }

    /// Whether some rule is a function.
    pub fn has_code(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.check, RuleCheck::Custom(_)))
    }

    /// The must-be texts of the rules.
    pub fn texts(&self) -> Vec<String> {
        self.rules.iter().filter(|rule| !rule.is_void()).map(|rule| self.text(rule)).collect()
    }

    /// Whether null is always refused.
    pub fn refuses_null(&self) -> bool {
        self.not_null && self.when.is_none()
    }
}

impl Rule {
    fn is_void(&self) -> bool {
        matches!(&self.check, RuleCheck::Named(named) if named.is_void())
    }

    fn hint(&self) -> Option<String> {
        match &self.check {
            RuleCheck::Named(named) => named.hint(),
            RuleCheck::Custom(custom) => custom.hint(),
        }
    }
}

#[cfg(test)]
mod tests;
