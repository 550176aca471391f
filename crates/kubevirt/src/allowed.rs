//! The values allowed at a path, for forms that show a range or a list of choices.

use ytterby_text::Decimal;

use crate::rules::{Check, EntryState, RuleArgument, Rules};

/// Values that all rules on one path allow together. Bounds that depend on the VM are only counted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Allowed {
    /// The highest minimum.
    pub min: Option<Decimal>,
    /// The lowest maximum.
    pub max: Option<Decimal>,
    /// The highest minimum length.
    pub min_length: Option<Decimal>,
    /// The lowest maximum length.
    pub max_length: Option<Decimal>,
    /// The values that all enumerations allow; `None` if there is no enumeration.
    pub values: Option<Vec<String>>,
    /// Patterns that must all match.
    pub patterns: Vec<String>,
    /// Names of the rules on the path.
    pub rules: Vec<String>,
    /// The number of arguments that depend on the VM.
    pub depends: usize,
}

/// Values that the rules, except warnings, allow at a path such as `.spec.domain.cpu.cores`.
pub fn allowed(rules: &Rules, path: &str) -> Allowed {
    let path = path.strip_prefix(crate::jsonpath::PREFIX).unwrap_or(path);
    let path = path.strip_prefix('$').unwrap_or(path);
    let mut all = Allowed::default();
    for entry in &rules.entries {
        let EntryState::Rule(rule) = &entry.state else { continue };
        if rule.just_warning || *rule.path.text != *path {
            continue;
        }
        all.rules.push(entry.label());
        let mut depends = 0;
        let mut tighten =
            |place: &mut Option<Decimal>, argument: &Option<RuleArgument<Decimal>>, upper: bool| match argument {
                Some(RuleArgument::Literal(value)) => {
                    let tighter = place.as_ref().is_none_or(|old| if upper { value < old } else { value > old });
                    if tighter {
                        *place = Some(value.clone());
                    }
                }
                Some(RuleArgument::Path(_)) => depends += 1,
                None => {}
            };
        match &rule.check {
            Check::Integer(range) => {
                tighten(&mut all.min, &range.min, false);
                tighten(&mut all.max, &range.max, true);
            }
            Check::String(range) => {
                tighten(&mut all.min_length, &range.min, false);
                tighten(&mut all.max_length, &range.max, true);
            }
            Check::Enum(values) => {
                let literal = |value: &RuleArgument<Box<str>>| match value {
                    RuleArgument::Literal(text) => Some(text.to_string()),
                    RuleArgument::Path(_) => None,
                };
                let listed: Vec<String> = values.iter().filter_map(literal).collect();
                depends = values.len() - listed.len();
                if depends == 0 {
                    all.values = Some(match all.values.take() {
                        None => listed,
                        Some(before) => before.into_iter().filter(|value| listed.contains(value)).collect(),
                    });
                }
            }
            Check::Regex(Some(RuleArgument::Literal(Ok(pattern)))) => all.patterns.push(pattern.as_str().to_owned()),
            Check::Regex(Some(RuleArgument::Path(_))) => depends = 1,
            Check::Regex(_) => {}
        }
        all.depends += depends;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_on_one_path_are_combined() {
        let rules = crate::rules::parse(
            r#"[{"name":"a","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":1,"max":8},
                {"name":"b","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":2},
                {"name":"c","rule":"enum","path":"jsonpath::.spec.domain.machine.type","message":"m","values":["q35",4]},
                {"name":"w","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","max":4,"justWarning":true}]"#,
        )
        .unwrap();
        let cores = allowed(&rules, ".spec.domain.cpu.cores");
        assert_eq!((cores.min, cores.max), (Some(2i64.into()), Some(8i64.into())));
        assert_eq!(cores.rules, ["a", "b"]);
        let machine = allowed(&rules, "jsonpath::.spec.domain.machine.type");
        assert_eq!(machine.values.unwrap(), ["q35", "4"]);
        assert_eq!(allowed(&rules, ".spec.x"), Allowed::default());
    }
}
