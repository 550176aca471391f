//! Finds mistakes in the rules themselves.
//!
//! What can be found is in the table [`crate::lints`], with the severities. A finding is a
//! diagnostic from the start; the caller adds the position, because an annotation does not know its
//! file.

use ytterby_diag::{Diagnostic, Help};
use ytterby_regexp::Regexp;

use crate::jsonpath::{JsonPath, TemplatePart};
use crate::lints::Lint;
use crate::pattern::VERTICAL_TAB;
use crate::rules::{self, Check, EntryState, NumberRange, Rule, RuleArgument, RuleEntry, Unreadable};
use crate::schema::{self, FieldKind, PathTarget};
use crate::shape;
use crate::value::quoted;

/// A mistake.
#[derive(Clone, PartialEq, Debug)]
pub struct LintFinding {
    /// The kind of mistake.
    pub lint: Lint,
    /// The rule's name; empty if the finding is about the whole annotation.
    pub rule: String,
    /// The byte offset in the annotation.
    pub offset: usize,
    /// The problem, its severity and how to fix it. Only the caller knows the file of the
    /// annotation, so it has no position.
    pub diagnostic: Diagnostic,
}

impl LintFinding {
    /// A finding about a rule, or about the whole annotation if `rule` is empty.
    pub fn new(lint: Lint, rule: String, offset: usize, message: String, hint: Option<String>) -> LintFinding {
        let diagnostic = Diagnostic::new(lint.severity(), lint.diagnostic_id(), message);
        LintFinding { lint, rule, offset, diagnostic: diagnostic.helps(hint.map(Help::from)) }
    }
}

/// The result of linting one annotation.
#[derive(Clone, Debug)]
pub struct Linted {
    /// In order of their offsets.
    pub findings: Vec<LintFinding>,
    /// Whether the text could be parsed as rules.
    pub readable: bool,
}

/// Finds mistakes in the text of an annotation.
pub fn lint(text: &str) -> Linted {
    let (rules, strangers) = match rules::parse_each(text) {
        Ok(parsed) => parsed,
        Err(problem) => return Linted { findings: vec![unreadable(&problem)], readable: false },
    };
    let mut findings: Vec<LintFinding> = strangers.iter().map(unreadable).collect();
    for entry in &rules.entries {
        Linter { entry, findings: &mut findings }.entry();
    }
    findings.sort_by_key(|finding| finding.offset);
    Linted { findings, readable: strangers.is_empty() }
}

/// The finding for an annotation that cannot be parsed.
pub fn unreadable(problem: &Unreadable) -> LintFinding {
    let quote = matches!(problem, Unreadable::Json(error) if error.quote.is_some());
    let lint = if quote { Lint::TypographicQuotes } else { Lint::Unreadable };
    LintFinding::new(lint, String::new(), problem.offset(), problem.message(), problem.hint())
}

struct Linter<'a> {
    entry: &'a RuleEntry,
    findings: &'a mut Vec<LintFinding>,
}

impl Linter<'_> {
    fn add(&mut self, lint: Lint, offset: usize, message: String, hint: Option<String>) {
        self.findings.push(LintFinding::new(lint, self.entry.label(), offset, message, hint));
    }

    fn entry(&mut self) {
        for unknown in &self.entry.unknown_keys {
            let hint = unknown.nearest.map(|nearest| format!("did you mean `{nearest}`?"));
            let message = format!("unknown key {}; it is ignored", quoted(&unknown.key));
            self.add(Lint::UnknownKey, unknown.offset, message, hint);
        }
        match &self.entry.state {
            EntryState::Broken { faults, .. } => {
                for fault in faults {
                    self.add(fault.lint, fault.offset, fault.message.clone(), fault.hint.clone());
                }
            }
            EntryState::UnknownKind { kind, offset, .. } => {
                let kinds = ["integer", "string", "enum", "regex"];
                let hint = ytterby_text::spelling::nearest(kind, kinds).map(|kind| format!("did you mean `{kind}`?"));
                let message = format!("unknown kind of rule {}; the rule is ignored", quoted(kind));
                self.add(Lint::UnknownRuleKind, *offset, message, hint);
            }
            EntryState::Rule(rule) => self.rule(rule),
        }
    }

    fn rule(&mut self, rule: &Rule) {
        self.path(&rule.path, rule.path_offset);
        if let Some(valid) = &rule.valid {
            self.path(valid, rule.valid_offset);
            self.valid(valid, rule.valid_offset);
        }
        for path in crate::evaluate::argument_paths(&rule.check) {
            self.path(path, self.entry.offset);
        }
        self.kind(rule);
        self.arguments(rule);
        for (key, offset) in &rule.unused {
            let message = format!("`{key}` means nothing to a rule of kind `{}`", rule.check.kind());
            self.add(Lint::UnusedArgument, *offset, message, None);
        }
        for (offset, what) in &rule.extensions {
            let message = format!("{what} is an extension; the reference refuses all rules of the annotation then");
            self.add(Lint::NonPortable, *offset, message, None);
        }
    }

    /// Checks that a path can have results.
    fn path(&mut self, path: &JsonPath, offset: usize) {
        let text = path.text.trim_start();
        let root =
            |hint: String| (format!("{} does not start at a VM's .spec.template", quoted(&path.text)), Some(hint));
        if let Some(rest) = text.strip_prefix(".spec.template").filter(|rest| !rest.starts_with(char::is_alphanumeric))
        {
            let (message, hint) = root(format!("paths start there already: write `{rest}`"));
            return self.add(Lint::PathRoot, offset, message, hint);
        }
        if text.starts_with(".objects") {
            let (message, hint) = root("leave out everything up to `.spec.template`".to_owned());
            return self.add(Lint::PathRoot, offset, message, hint);
        }
        if !text.is_empty() && !text.starts_with(['.', '[', '}']) {
            let (message, hint) = root(format!("begin with a dot: `.{text}`"));
            return self.add(Lint::PathRoot, offset, message, hint);
        }
        if path.parts.len() > 1 || path.parts.iter().any(|part| matches!(part, TemplatePart::Text(_))) {
            let message = format!("{} contains more than one expression", quoted(&path.text));
            return self.add(Lint::SeveralExpressions, offset, message, None);
        }
        if let Some(PathTarget::Unknown { parent, name, nearest }) = path.steps().map(schema::target) {
            let elsewhere = schema::below(parent, &name);
            let parent = if parent.path.is_empty() { "a VM's template" } else { parent.path };
            let message = format!("{}: {parent} has no field `{name}`", path.text);
            let hint = elsewhere.map(|field| format!("`{name}` belongs to a VM's template at {}", field.path));
            let hint = nearest.map(|nearest| format!("did you mean `{nearest}`?")).or(hint);
            self.add(Lint::UnknownPath, offset, message, hint);
        }
    }

    fn valid(&mut self, valid: &JsonPath, offset: usize) {
        let Some(PathTarget::Field(field)) = valid.steps().map(schema::target) else { return };
        // These exist in every VM; the parents of other fields may be absent.
        let always = [".spec", ".spec.domain"].contains(&field.path)
            || field.has_default() && field.path.matches('.').count() == 2 && field.path.starts_with(".spec.");
        if always {
            let message = format!("`valid` has no effect: {} exists in every VM", valid.text);
            return self.add(Lint::ValidWithoutEffect, offset, message, None);
        }
        let plain = valid.fields().is_some();
        if plain && (field.pointer || !field.kind.is_scalar()) && field.path.matches('.').count() <= 3 {
            let message = format!("the reference takes an absent {} for present and evaluates the rule", valid.text);
            let hint = Some("name a field inside of it to skip the rule everywhere".to_owned());
            self.add(Lint::ValidInReference, offset, message, hint);
        }
    }

    /// Checks that the kind of rule fits the field.
    fn kind(&mut self, rule: &Rule) {
        let Some(PathTarget::Field(field)) = rule.path.steps().map(schema::target) else { return };
        let fits = match (&rule.check, field.kind) {
            (_, FieldKind::Object | FieldKind::Map | FieldKind::Array) => false,
            (Check::Integer(_), kind) => {
                matches!(kind, FieldKind::Integer | FieldKind::Quantity | FieldKind::IntOrString)
            }
            (Check::String(_), kind) => !matches!(kind, FieldKind::Integer | FieldKind::Boolean),
            (Check::Enum(_) | Check::Regex(_), _) => true,
        };
        if !fits {
            let message = format!(
                "a rule of kind `{}` cannot be satisfied by {}: it is {}",
                rule.check.kind(),
                rule.path.text,
                field.kind.what()
            );
            let hint = match (field.kind, field.item()) {
                (FieldKind::Array, Some(_)) => Some(format!("look at its items: `{}[*]`", rule.path.text)),
                _ => None,
            };
            self.add(Lint::WrongKind, rule.path_offset, message, hint);
        }
    }

    fn arguments(&mut self, rule: &Rule) {
        let at = self.entry.offset;
        let none =
            |keys: &str| (format!("a rule of kind `{}` without {keys} asks for nothing", rule.check.kind()), None);
        match &rule.check {
            Check::Integer(NumberRange { min: None, max: None }) => {
                let (message, hint) = none("`min` and `max`");
                self.add(Lint::RuleWithoutArguments, at, message, hint);
            }
            Check::String(NumberRange { min: None, max: None }) => {
                let (message, hint) = none("`minLength` and `maxLength`");
                self.add(Lint::RuleWithoutArguments, at, message, hint);
            }
            Check::Integer(range) | Check::String(range) => self.range(range),
            Check::Enum(values) if values.is_empty() => {
                let message = "a rule of kind `enum` without `values` allows nothing".to_owned();
                self.add(Lint::RuleWithoutArguments, at, message, None);
            }
            Check::Enum(_) => {}
            Check::Regex(None) => {
                let (message, hint) = none("`regex`");
                self.add(Lint::RuleWithoutArguments, at, message, hint);
            }
            Check::Regex(Some(RuleArgument::Literal(Err(fault)))) => {
                self.add(fault.lint, fault.offset, fault.message.clone(), None);
            }
            Check::Regex(Some(RuleArgument::Literal(Ok(pattern)))) => self.regex(pattern.as_str()),
            Check::Regex(Some(RuleArgument::Path(_))) => {}
        }
    }

    fn range(&mut self, range: &NumberRange) {
        if let (Some(RuleArgument::Literal(min)), Some(RuleArgument::Literal(max))) = (&range.min, &range.max)
            && min > max
        {
            let message = format!("nothing is between {min} and {max}: no value satisfies the rule");
            self.add(Lint::EmptyRange, self.entry.offset, message, None);
        }
    }

    fn regex(&mut self, pattern: &str) {
        let at = self.entry.offset;
        if let Some(repeat) = shape::catastrophe(pattern) {
            let message = format!(
                "`{repeat}` repeats what repeats: on some values the regular expression takes exponential time, \
                 and the rule ends in an error"
            );
            let hint = "let each part begin with a character that the one before cannot match, or make the group \
                        atomic: `(?>…)`";
            self.add(Lint::CatastrophicRegex, at, message, Some(hint.to_owned()));
        }
        match Regexp::new(pattern.as_bytes()) {
            Err(error) => {
                let reason = error.strip_prefix("error parsing regexp: ").unwrap_or(&error);
                let message =
                    format!("the regular expression is PCRE only; RE2 (the reference, CEL) refuses it: {reason}");
                self.add(Lint::RegexNotRe2, at, message, None);
            }
            Ok(re) => {
                if re.has_vertical_tab() {
                    let message = format!("RE2 reads the regular expression differently: {VERTICAL_TAB}");
                    self.add(Lint::RegexDiffersInRe2, at, message, None);
                }
                if !re.dollars().is_empty() {
                    let message = "`$` also matches before a final line feed; in RE2 (the reference, CEL) it does not";
                    let hint = Some("write `\\z` for the very end".to_owned());
                    self.add(Lint::RegexDiffersInRe2, at, message.to_owned(), hint);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: &str, expect: &[&str]) {
        let text = format!("[{{\"name\":\"n\",\"message\":\"m\",{rule}}}]");
        let ids: Vec<&str> = lint(&text).findings.iter().map(|finding| finding.lint.id()).collect();
        assert_eq!(ids, expect, "{rule}");
    }

    const CORES: &str = "\"path\":\"jsonpath::.spec.domain.cpu.cores\"";
    const MACHINE: &str = "\"path\":\"jsonpath::.spec.domain.machine.type\"";

    #[test]
    fn a_valid_rule_has_no_findings() {
        check(&format!("\"rule\":\"integer\",{CORES},\"min\":1,\"max\":8"), &[]);
        check(
            r#""rule":"enum","path":"jsonpath::.spec.domain.devices.disks[*].disk.bus","valid":"jsonpath::.spec.domain.devices.disks[*].disk.bus","values":["virtio"]"#,
            &[],
        );
    }

    #[test]
    fn each_mistake_has_its_id() {
        check(&format!("\"rule\":\"integer\",{CORES}"), &["rule-without-arguments"]);
        check(&format!("\"rule\":\"enum\",{MACHINE},\"values\":[]"), &["rule-without-arguments"]);
        check(&format!("\"rule\":\"integer\",{CORES},\"min\":9,\"max\":8"), &["empty-range"]);
        check(&format!("\"rule\":\"integer\",{CORES},\"mim\":9,\"max\":8"), &["unknown-key"]);
        check(&format!("\"rule\":\"integer\",{MACHINE},\"min\":9"), &["wrong-kind"]);
        check(&format!("\"rule\":\"string\",{CORES},\"minLength\":1"), &["wrong-kind"]);
        check(&format!("\"rule\":\"integer\",{CORES},\"min\":1,\"values\":[]"), &["unused-argument"]);
        check(&format!("\"rule\":\"integr\",{CORES},\"min\":1"), &["unknown-rule-kind"]);
        check(&format!("\"rule\":\"regex\",{MACHINE},\"regex\":\"(\""), &["bad-regex"]);
        check(&format!("\"rule\":\"regex\",{MACHINE},\"regex\":\"(?=q)\""), &["regex-not-re2"]);
        check(&format!("\"rule\":\"regex\",{MACHINE},\"regex\":\"^q35$\""), &["regex-differs-in-re2"]);
        check(&format!("\"rule\":\"regex\",{MACHINE},\"regex\":\"(a+)+b\""), &["catastrophic-regex"]);
        check(&format!("\"rule\":\"integer\",{CORES},\"min\":\"2Gi\""), &["non-portable"]);
        check(r#""rule":"integer","path":".spec.domain.cpu.cores","min":1"#, &["no-jsonpath-prefix"]);
        check(r#""rule":"integer","path":"jsonpath::.spec.domain.cpu.core","min":1"#, &["unknown-path"]);
        check(r#""rule":"integer","path":"jsonpath::.spec.template.spec.domain.cpu.cores","min":1"#, &["path-root"]);
        check(r#""rule":"integer","path":"jsonpath::spec.domain.cpu.cores","min":1"#, &["path-root"]);
        check(r#""rule":"integer","path":"jsonpath::.objects[0].spec","min":1"#, &["path-root"]);
        check(r#""rule":"enum","path":"jsonpath::.spec.domain.devices.disks","values":["x"]"#, &["wrong-kind"]);
        check(
            &format!("\"rule\":\"integer\",{CORES},\"min\":1,\"valid\":\"jsonpath::.spec.domain\""),
            &["valid-without-effect"],
        );
        check(
            &format!("\"rule\":\"integer\",{CORES},\"min\":1,\"valid\":\"jsonpath::.spec.domain.cpu\""),
            &["valid-in-reference"],
        );
        check(r#""rule":"integer""#, &["missing-key"]);
        assert_eq!(lint("[{\u{201c}a\u{201d}: 1}]").findings[0].lint.id(), "typographic-quotes");
        assert_eq!(lint("{}").findings[0].lint.id(), "unreadable");
        // An invalid rule does not hide problems of the others.
        let linted = lint("[{\"name\":\"a\"},null,7]");
        let ids: Vec<&str> = linted.findings.iter().map(|finding| finding.lint.id()).collect();
        assert_eq!(ids, ["missing-key", "missing-key", "missing-key", "unreadable", "unreadable"]);
        assert!(!linted.readable);
    }
}
