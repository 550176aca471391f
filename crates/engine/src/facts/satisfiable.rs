//! Finds rules that are true, or false, for every value.
//!
//! Only the rules themselves are analysed: their limits, their lists, the type of the value. A
//! function is only analysed if it is a lambda that returns a constant. Anything uncertain is
//! ignored.

use std::rc::Rc;

use ytterby_starlark::Value;
use ytterby_starlark::ast::ExprKind;

use super::RuleFact;
use crate::node::{Node, Scalar};
use crate::schema::{ScalarType, Type};
use crate::validate::rules::{Bound, Limit, NamedRule, Quantity};
use crate::validate::{Rule, RuleCheck, Rules};

/// A fact about a rule that does not depend on the value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StaticVerdict {
    /// Every value of the type is valid.
    Holds,
    /// Every value that another rule accepts is valid; the text of that rule.
    ImpliedBy(String),
    /// No value is valid.
    Fails,
    /// No value that another rule accepts is valid; the text of that rule.
    Excludes(String),
}

/// Maximum integers that are tried one by one.
const TRIED: f64 = 2_000.0;

impl Rules {
    /// The rules whose result does not depend on the value.
    pub fn verdicts(&self, ty: &Type, allows_null: bool) -> Vec<RuleFact> {
        let mut found = Vec::new();
        let named: Vec<(usize, &Rc<dyn NamedRule>)> =
            self.rules.iter().enumerate().filter_map(|(at, rule)| Some((at, rule.named()?))).collect();
        for (at, rule) in self.rules.iter().enumerate() {
            let verdict = match rule.named() {
                None => rule.constant(),
                Some(own) => always(own, ty, allows_null).then_some(StaticVerdict::Holds).or_else(|| {
                    let implied = |other: usize, by: &Rc<dyn NamedRule>| {
                        other != at && implies(by, own) && !(other > at && implies(own, by))
                    };
                    let (by, _) = named.iter().find(|(other, by)| implied(*other, by))?;
                    Some(StaticVerdict::ImpliedBy(self.rules[*by].must_be.clone()))
                }),
            };
            let verdict = verdict.or_else(|| self.excludes(at, &named, ty));
            if let Some(verdict) = verdict {
                found.push(RuleFact { pos: rule.pos, part: rule.part.clone(), text: rule.must_be.clone(), verdict });
            }
        }
        found
    }

    /// Whether a rule rejects everything that the rules before it accept.
    fn excludes(&self, at: usize, named: &[(usize, &Rc<dyn NamedRule>)], ty: &Type) -> Option<StaticVerdict> {
        let own = self.rules[at].named()?;
        let is_integer = matches!(ty, Type::Scalar(ScalarType::Int));
        if let [.., last] = &own.limits()[..] {
            let is_negative =
                |limit: &Limit| matches!(limit, Limit::AtMost(Quantity::Length, most) if most.number < 0.0);
            if is_negative(last) {
                return Some(StaticVerdict::Fails);
            }
        }
        let text = |other: usize| self.rules[other].must_be.clone();
        for (other, rule) in named.iter().filter(|(other, _)| *other < at) {
            let limits = rule.limits();
            let own_limits = own.limits();
            if limits.iter().any(|limit| own_limits.iter().any(|own| conflict(limit, own, is_integer))) {
                return Some(StaticVerdict::Excludes(text(*other)));
            }
        }
        // The last of the rules about a list reports for all that no member is left.
        if named.last().is_some_and(|(last, _)| *last == at) {
            for (other, list) in named {
                for limit in list.limits() {
                    let Limit::OneOf(members) = limit else { continue };
                    let is_valid = |member: &Node| named.iter().all(|(_, rule)| rule.accepts(member));
                    if named.len() > 1 && !members.is_empty() && !members.iter().any(is_valid) {
                        let first = named.iter().map(|(at, _)| *at).find(|first| first != other);
                        let other = if *other == at { first.unwrap_or(*other) } else { *other };
                        return Some(StaticVerdict::Excludes(text(other)));
                    }
                }
            }
            if is_integer && named.len() > 1 && nothing_left(named) {
                return Some(StaticVerdict::Excludes(text(named[0].0)));
            }
        }
        None
    }
}

impl Rule {
    fn named(&self) -> Option<&Rc<dyn NamedRule>> {
        match &self.check {
            RuleCheck::Named(named) => Some(named),
            RuleCheck::Custom(_) => None,
        }
    }

    /// The verdict of a lambda that returns a constant.
    fn constant(&self) -> Option<StaticVerdict> {
        let RuleCheck::Custom(custom) = &self.check else { return None };
        let Value::Function(function) = custom.function() else { return None };
        let (ast, body) = function.lambda()?;
        match &ast[ast.unparen(body)].kind {
            ExprKind::Ident(name) if *name == "True" => Some(StaticVerdict::Holds),
            ExprKind::Ident(name) if *name == "False" => Some(StaticVerdict::Fails),
            _ => None,
        }
    }
}

/// Whether a rule is true for every value of a type.
fn always(rule: &Rc<dyn NamedRule>, ty: &Type, allows_null: bool) -> bool {
    let is_full = |limit: &Limit| match limit {
        Limit::OneOf(members) if matches!(ty, Type::Scalar(ScalarType::Bool)) => {
            let has = |wanted: bool| {
                members.iter().any(|member| matches!(member, Node::Scalar(Scalar::Bool(value)) if *value == wanted))
            };
            has(true) && has(false)
        }
        _ => false,
    };
    rule.is_void() || rule.accepts_all() || (rule.is_about_null() && !allows_null) || rule.limits().iter().any(is_full)
}

/// Whether one rule accepts everything that another one accepts.
fn implies(other: &Rc<dyn NamedRule>, own: &Rc<dyn NamedRule>) -> bool {
    let (strong, weak) = (other.limits(), own.limits());
    let by_limits = !weak.is_empty() && weak.iter().all(|weak| strong.iter().any(|strong| strong.implies(weak)));
    let by_list = || match &strong[..] {
        [Limit::OneOf(members)] => {
            !members.is_empty() && !own.is_about_null() && members.iter().all(|member| own.accepts(member))
        }
        _ => false,
    };
    by_limits || by_list()
}

/// Whether two limits exclude each other.
fn conflict(one: &Limit, other: &Limit, is_integer: bool) -> bool {
    let empty = |least: &Bound, most: &Bound| {
        let (mut from, mut to) = (least.number, most.number);
        let (mut opens, mut closes) = (least.is_exclusive, most.is_exclusive);
        if is_integer {
            from = if opens { from.floor() + 1.0 } else { from.ceil() };
            to = if closes { to.ceil() - 1.0 } else { to.floor() };
            (opens, closes) = (false, false);
        }
        from > to || (from == to && (opens || closes))
    };
    match (one, other) {
        (Limit::AtLeast(of, least), Limit::AtMost(what, most))
        | (Limit::AtMost(what, most), Limit::AtLeast(of, least))
            if of == what =>
        {
            empty(least, most)
        }
        (Limit::OneOf(some), Limit::OneOf(others)) => {
            !some.iter().any(|value| others.iter().any(|other| crate::validate::rules::equal(other, value)))
        }
        _ => false,
    }
}

/// Whether no integer between the bounds of rules is valid; only for few integers.
fn nothing_left(named: &[(usize, &Rc<dyn NamedRule>)]) -> bool {
    let (mut from, mut to) = (f64::NEG_INFINITY, f64::INFINITY);
    for limit in named.iter().flat_map(|(_, rule)| rule.limits()) {
        match limit {
            Limit::AtLeast(Quantity::Value, bound) => from = from.max(bound.number.ceil()),
            Limit::AtMost(Quantity::Value, bound) => to = to.min(bound.number.floor()),
            _ => {}
        }
    }
    // `even` and `odd` have period two: without bounds, any two neighbours suffice.
    if from.is_infinite() && to.is_infinite() && named.iter().all(|(_, rule)| rule.has_period_two()) {
        (from, to) = (0.0, 1.0);
    }
    if !(from.abs() < 1e15 && to.abs() < 1e15 && to - from <= TRIED) {
        return false;
    }
    let is_valid = |number: i64| {
        let node = Node::Scalar(Scalar::Int(number));
        named.iter().all(|(_, rule)| rule.is_about_null() || rule.accepts(&node))
    };
    !(from as i64..=to as i64).any(is_valid)
}
