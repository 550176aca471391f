//! Finds useless rules, defaults that violate rules, and schema annotations without effect.

use std::collections::HashMap;

use ytterby::facts::{RuleFact, SchemaFacts, StaticVerdict};
use ytterby_diag::{Diagnostic, Id, Label, Part, Pos, Role};

use crate::declared::TrackedValues;

/// Reports problems of a schema itself. If rules have defaults
/// (`@schema/validation-defaults-for-strings`), a rule without effect may revoke one of them.
pub(crate) fn check(facts: &SchemaFacts, rules_have_defaults: bool, out: &mut Vec<Diagnostic>) {
    for rule in &facts.rules {
        if rules_have_defaults && rule.verdict == StaticVerdict::Holds {
            continue;
        }
        out.push(judged(rule));
    }
}

fn judged(rule: &RuleFact) -> Diagnostic {
    let text = &rule.text;
    let finding = match &rule.verdict {
        StaticVerdict::Holds => {
            Diagnostic::warning(Id::LINT_RULE_ALWAYS_TRUE, format!("this rule can never fail: {text}"))
        }
        StaticVerdict::ImpliedBy(other) => {
            let text = format!("this rule can never fail: {text}, where another rule asks for {other}");
            Diagnostic::warning(Id::LINT_RULE_ALWAYS_TRUE, text)
        }
        StaticVerdict::Fails => {
            Diagnostic::warning(Id::LINT_RULE_NEVER_TRUE, format!("no value satisfies this rule: {text}"))
        }
        StaticVerdict::Excludes(other) => {
            let text = format!("no value keeps both rules: {other}, and {text}");
            Diagnostic::warning(Id::LINT_RULE_NEVER_TRUE, text)
        }
    };
    let help = match rule.verdict {
        StaticVerdict::Holds | StaticVerdict::ImpliedBy(_) => "remove it, or make it stricter",
        StaticVerdict::Fails | StaticVerdict::Excludes(_) => "change one of them",
    };
    finding.at(rule.pos, rule.part.clone()).help(help)
}

/// Reports defaults that violate rules. A null that a rule rejects is the usual way to declare a
/// required value.
pub(crate) fn defaults(facts: &SchemaFacts, table: &TrackedValues, out: &mut Vec<Diagnostic>) {
    if facts.broken_defaults.is_empty() {
        return;
    }
    // The first value of each position.
    let places: HashMap<Pos, usize> =
        table.values.iter().enumerate().rev().map(|(id, value)| (value.pos, id)).collect();
    for broken in &facts.broken_defaults {
        if broken.id == Id::RULE_NOT_NULL || broken.id == Id::RULE_ONE_NOT_NULL {
            continue;
        }
        let Some(problem) = broken.problem_label() else { continue };
        let declared = places.get(&problem.pos).map(|id| (*id, &table.values[*id]));
        if declared.is_some_and(|(_, value)| value.required) {
            continue;
        }
        let name = match (&declared, &broken.path) {
            (Some((0, _)), _) => "the document".to_owned(),
            (Some((id, _)), _) => table.path(*id),
            (None, Some(path)) => path.shown().to_string(),
            (None, None) => "this value".to_owned(),
        };
        let mut finding =
            Diagnostic::warning(Id::LINT_DEFAULT_BREAKS_RULE, format!("the default of {name} breaks a rule"))
                .at(problem.pos, Part::Value);
        if let Some(must_be) = &broken.must_be {
            finding = finding.expected(must_be.clone());
        }
        if let Some(rule) = broken.rule_label() {
            finding = finding.label(Label::new(Role::Rule, rule.pos, rule.part.clone()).text("the rule"));
        }
        out.push(finding.help("change the default, or annotate the value with @schema/required"));
    }
}
