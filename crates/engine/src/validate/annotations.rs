//! Annotations with rules: their arguments, and rules that were mistaken for annotations.

use ytterby_text::Str;

use super::rules;
use crate::annotation::{Ann, Level, split_own, suggest};

/// Whether two arguments of an annotation mean the same; rules have aliases.
pub(crate) fn is_same_rule(ann: Ann, one: &Str, other: &Str) -> bool {
    let rule = |name: &Str| rules::find(&name.to_str(), Level::Ytterby).map(|(_, entry)| entry.name);
    ann.takes_rules() && rule(one).is_some() && rule(one) == rule(other)
}

/// The probable meaning of an unknown name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Meant {
    /// Another annotation.
    Name(&'static str),
    /// Something that has another syntax.
    Advice(String),
}

/// The probable meaning of an unknown name; for a rule, how to write it.
pub(crate) fn meant_by_unknown(name: &str, level: Level) -> Option<Meant> {
    if let Some(rule) = rule_as_annotation(name, level) {
        return Some(Meant::Advice(rule));
    }
    suggest(name).map(Meant::Name)
}

fn rule_as_annotation(name: &str, level: Level) -> Option<String> {
    let (_, local) = split_own(name).filter(|(namespace, _)| matches!(*namespace, "schema" | "assert"))?;
    let known = rules::find(local, level).map(|_| format!("{local}="));
    let meant = known.or_else(|| rules::names::meant(local, level).filter(|meant| meant.contains('=')))?;
    let value = if meant.ends_with('=') { "…" } else { "" };
    let holder = if name.starts_with("assert/") { "assert/validate" } else { "schema/validation" };
    Some(format!("a rule is written @{holder} {meant}{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_arguments() {
        let hint = |name| rule_as_annotation(name, Level::Ytterby);
        assert_eq!(hint("schema/min").as_deref(), Some("a rule is written @schema/validation min=…"));
        assert_eq!(hint("schema/email").as_deref(), Some("a rule is written @schema/validation format=\"email\""));
        assert_eq!(hint("assert/minLength").as_deref(), Some("a rule is written @assert/validate min_len=…"));
        assert_eq!(hint("schema/xyzzyxyzzy"), None);
        assert_eq!(hint("overlay/min"), None);
    }
}
