//! Describes rules in words.

use crate::amount;
use crate::evaluate::CPU_COUNTS;
use crate::jsonpath::JsonPath;
use crate::rules::{Check, EntryState, NumberRange, RuleArgument, RuleEntry};
use crate::schema::{self, PathTarget, VmField};
use crate::value::quoted;
use ytterby_text::Decimal;

/// The requirements of a rule in full sentences.
pub fn sentences(entry: &RuleEntry) -> Vec<String> {
    let rule = match &entry.state {
        EntryState::Rule(rule) => rule,
        EntryState::UnknownKind { kind, .. } => {
            return vec![format!("Its kind {} is not known, so the rule is ignored.", quoted(kind))];
        }
        EntryState::Broken { faults, .. } => {
            let faults: Vec<&str> = faults.iter().map(|fault| fault.message.as_str()).collect();
            return vec![format!("The rule cannot be evaluated: {}.", faults.join("; "))];
        }
    };
    let field = match rule.path.steps().map(schema::target) {
        Some(PathTarget::Field(field)) => Some(field),
        _ => None,
    };
    let every = if rule.path.fields().is_some() { "The value at" } else { "Every value at" };
    let wanted = match &rule.check {
        Check::Integer(range) => format!("must be a whole number{}", range_text(range, field, "")),
        Check::String(range) => format!("must be a string{}", range_text(range, None, " characters long")),
        Check::Enum(values) => {
            let values: Vec<String> = values.iter().map(|value| argument(value, |text| quoted(text))).collect();
            match values.as_slice() {
                [] => "is never allowed, because no values are listed".to_owned(),
                [one] => format!("must be {one}"),
                many => format!("must be one of {}", many.join(", ")),
            }
        }
        Check::Regex(None) => "may be anything, because no regular expression is given".to_owned(),
        Check::Regex(Some(RuleArgument::Literal(Ok(pattern)))) => {
            format!("must contain a match of the regular expression {}", pattern.as_str())
        }
        Check::Regex(Some(RuleArgument::Literal(Err(fault)))) => format!("cannot be checked: {}", fault.message),
        Check::Regex(Some(RuleArgument::Path(path))) => {
            format!("must contain a match of the regular expression at {}", path.text)
        }
    };
    let mut sentences = vec![format!("{every} {} {wanted}.", rule.path.text)];
    if let Some(valid) = &rule.valid {
        sentences.push(format!("Where {} does not exist, the rule does not apply.", valid.text));
    }
    let failure = if rule.just_warning { "the rule gives a warning" } else { "the rule is in error" };
    let is_unknown = matches!(rule.path.steps().map(schema::target), Some(PathTarget::Unknown { .. }));
    sentences.push(unset(&rule.path, rule.valid.as_ref(), failure));
    sentences.push(match (rule.just_warning, is_unknown) {
        (true, true) => String::new(),
        (true, false) => "Breaking it is only worth a warning.".to_owned(),
        (false, true) => "So every VM with this rule is invalid, unless the rule does not apply.".to_owned(),
        (false, false) => "A VM that breaks it is invalid.".to_owned(),
    });
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// The meaning of an unset value for a rule that applies.
fn unset(path: &JsonPath, valid: Option<&JsonPath>, failure: &str) -> String {
    // If the rule applies, the value or its parent exists.
    if valid.is_some_and(|valid| valid.text == path.text) {
        return String::new();
    }
    let holds = |parent: &str| valid.is_some_and(|valid| &*valid.text == parent);
    match path.steps().map(schema::target) {
        Some(PathTarget::Field(field)) if CPU_COUNTS.contains(&field.path) && holds(".spec.domain.cpu") => {
            "Where it is not set, it counts as 1.".to_owned()
        }
        Some(PathTarget::Field(field)) if CPU_COUNTS.contains(&field.path) => {
            "Where it is not set, it counts as 1, or as 0 in a VM without `cpu`.".to_owned()
        }
        Some(PathTarget::Field(field)) if field.has_default() && path.fields().is_some() => {
            let value = crate::jsonpath::eval::default(field).map_or(String::new(), |value| value.to_string());
            format!("Where it is not set, it counts as {value}.")
        }
        Some(PathTarget::Field(_)) if path.fields().is_some() => format!("Where it is not set, {failure}."),
        Some(PathTarget::Field(_)) => format!("Where there is no such value, {failure}."),
        Some(PathTarget::Unknown { name, .. }) => {
            format!("VMs have no field `{name}`: where the rule applies, {failure}.")
        }
        Some(PathTarget::Open) | None => String::new(),
    }
}

fn argument<T>(argument: &RuleArgument<T>, show: impl Fn(&T) -> String) -> String {
    match argument {
        RuleArgument::Literal(value) => show(value),
        RuleArgument::Path(path) => format!("the value at {}", path.text),
    }
}

/// Example: `1 character long`, `2 characters long`.
fn counted(number: String, unit: &str) -> String {
    if number == "1" { format!("1{}", unit.replacen("characters", "character", 1)) } else { number + unit }
}

fn range_text(range: &NumberRange, field: Option<&VmField>, unit: &str) -> String {
    let show = |bound: &RuleArgument<Decimal>| argument(bound, |number| amount::shown(number, field));
    match (&range.min, &range.max) {
        (None, None) => String::new(),
        (Some(min), None) => format!(", at least {}", counted(show(min), unit)),
        (None, Some(max)) => format!(", at most {}", counted(show(max), unit)),
        (Some(min), Some(max)) => format!(", {} to {}", show(min), counted(show(max), unit)),
    }
}
