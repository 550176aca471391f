//! `export cel`: writes rules as ValidatingAdmissionPolicies with their bindings.
//!
//! A policy selects the VMs to which `validate` and the webhook apply the same rules: those that
//! have the rules as an annotation of their own, and those without rules that name a template with
//! these rules. Equal annotations share one policy.

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use ytterby_text::cel;

use super::args::KubevirtArgs;
use super::load::LoadedFile;
use super::world::{LoadedInputs, place};
use super::{BROKEN, Failure, Host, OK, UNREADABLE, usage};
use ytterby_diag::Id;
use ytterby_kubevirt::cel::{Exported, Refused, Validation, export};
use ytterby_kubevirt::objects::{Objects, RulesAnnotation};
use ytterby_kubevirt::select::SKIP;
use ytterby_kubevirt::selection::{AnnotationOwner, selection};
use ytterby_kubevirt::value::quoted;

/// The API server rejects longer names.
const MAX_NAME: usize = 253;

/// Room for a suffix such as `-12345-warn`.
const SUFFIXES: usize = 16;

/// Rules with the same text, and the VMs that they apply to.
struct RuleGroup<'a> {
    annotation: &'a RulesAnnotation,
    file: &'a LoadedFile,
    /// The name of the first object that has them.
    name: &'a str,
    /// Whether VMs have the annotation themselves, or get it when a template is processed.
    is_own: bool,
    /// Namespace (may be empty) and name of each template whose VMs without rules use these.
    templates: BTreeSet<(&'a str, &'a str)>,
}

pub(super) fn run(
    args: &KubevirtArgs,
    host: &dyn Host,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    let world = LoadedInputs::load(args, host)?;
    let mut code = OK;
    let mut groups: Vec<RuleGroup<'_>> = Vec::new();
    let mut by_text: HashMap<&str, usize> = HashMap::new();
    for file in &world.files {
        let Some(objects) = file.readable(stderr)? else {
            code = UNREADABLE;
            continue;
        };
        for found in found(objects, file) {
            let text = match found.annotation.readable() {
                Ok(text) => text,
                Err(problem) => {
                    let at = place(found.annotation, file, problem.offset());
                    writeln!(stderr, "{at}: {}", problem.message())?;
                    code = UNREADABLE;
                    continue;
                }
            };
            match by_text.get(text) {
                Some(&number) => groups[number].join(found),
                None => {
                    by_text.insert(text, groups.len());
                    groups.push(found);
                }
            }
        }
    }
    if args.name.is_some() && groups.len() > 1 {
        let text = format!("--name needs rules of one text, found {} texts", groups.len());
        return Err(usage(Id::FLAG_VALUE, text));
    }
    let mut rules_seen = 0;
    let mut names = PolicyNames::default();
    let mut out = PolicyWriter { out: stdout, is_first: true };
    for group in &groups {
        let _working = group.file.working_at(group.annotation.key);
        let rules = match group.annotation.rules() {
            Ok(rules) => rules,
            Err(problem) => {
                let at = place(group.annotation, group.file, problem.offset());
                writeln!(stderr, "{at}: {}", problem.message())?;
                code = UNREADABLE;
                continue;
            }
        };
        if rules.entries.is_empty() {
            continue;
        }
        rules_seen += rules.entries.len();
        let owner = if group.is_own { AnnotationOwner::Vms } else { AnnotationOwner::Templates };
        let Some(selection) = selection(&group.annotation.text, &group.templates, owner) else {
            let at = place(group.annotation, group.file, 0);
            writeln!(stderr, "{at}: all rules are left out: the text is too long to select VMs by")?;
            code = code.max(BROKEN);
            continue;
        };
        let exported = export(&rules);
        report(&exported, group.annotation, group.file, stderr)?;
        if !exported.refused.is_empty() || args.fail_on_warn && !exported.ignored.is_empty() {
            code = code.max(BROKEN);
        }
        let base = args.name.clone().unwrap_or_else(|| format!("{}-validations", group.name));
        policies(&selection, &exported, &names.unused(&base), &mut out)?;
    }
    if rules_seen == 0 && code == OK {
        writeln!(stderr, "There are no rules in the input")?;
        code = BROKEN;
    }
    Ok(code)
}

/// The rules of all VMs and templates of a file.
fn found<'a>(objects: &'a Objects, file: &'a LoadedFile) -> Vec<RuleGroup<'a>> {
    let mut found = Vec::new();
    for vm in &objects.vms {
        if let Some(annotation) = &vm.rules {
            let templates = BTreeSet::new();
            found.push(RuleGroup { annotation, file, name: &vm.name, is_own: true, templates });
        }
    }
    for template in &objects.templates {
        // VMs made from the template get the annotation of the VM inside it; the template's own
        // annotation applies to VMs without one.
        if let Some(annotation) = template.rules.as_ref().or(template.vm_rules.as_ref()) {
            let templates = BTreeSet::from([(&*template.namespace, &*template.name)]);
            let templates = if template.name.is_empty() { BTreeSet::new() } else { templates };
            found.push(RuleGroup {
                annotation,
                file,
                name: &template.name,
                is_own: template.rules.is_none(),
                templates,
            });
        }
    }
    found
}

impl<'a> RuleGroup<'a> {
    /// Merges a group with the same text.
    fn join(&mut self, other: RuleGroup<'a>) {
        self.is_own |= other.is_own;
        self.templates.extend(other.templates);
        if self.name.is_empty() {
            self.name = other.name;
        }
    }
}

/// Names of policies, which must be unique because policies have no namespace, each with its last
/// number.
#[derive(Default)]
struct PolicyNames(HashMap<String, usize>);

impl PolicyNames {
    /// A unique name that begins with this text.
    fn unused(&mut self, text: &str) -> String {
        let base = dns_name(text);
        let mut name = base.clone();
        while let Some(last) = self.0.get(&name) {
            let number = last + 1;
            self.0.insert(base.clone(), number);
            name = format!("{base}-{number}");
        }
        self.0.insert(name.clone(), 1);
        name
    }
}

/// Reports rules that could not be exported.
fn report(
    exported: &Exported,
    annotation: &RulesAnnotation,
    file: &LoadedFile,
    stderr: &mut dyn Write,
) -> io::Result<()> {
    for (left_out, word) in [(&exported.refused, "left out"), (&exported.ignored, "ignored")] {
        for Refused { rule, offset, reason } in left_out {
            writeln!(stderr, "{}: rule {rule} is {word}: {reason}", place(annotation, file, *offset))?;
        }
    }
    Ok(())
}

/// Writes YAML documents, separated by `---`.
struct PolicyWriter<'a> {
    out: &'a mut dyn Write,
    is_first: bool,
}

fn policies(selection: &str, exported: &Exported, base: &str, documents: &mut PolicyWriter<'_>) -> io::Result<()> {
    for (warns, suffix, actions) in [(false, "", "[Deny]"), (true, "-warn", "[Warn, Audit]")] {
        let validations: Vec<&Validation> =
            exported.validations.iter().filter(|validation| validation.just_warning == warns).collect();
        if validations.is_empty() {
            continue;
        }
        if !std::mem::take(&mut documents.is_first) {
            writeln!(documents.out, "---")?;
        }
        policy(selection, &format!("{base}{suffix}"), &validations, actions, documents.out)?;
    }
    Ok(())
}

fn policy(
    selection: &str,
    name: &str,
    validations: &[&Validation],
    actions: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let skip = cel::quoted(SKIP);
    let not_skipped = format!("!(has(object.metadata.annotations) && {skip} in object.metadata.annotations)");
    let conditions = [
        ("selected", selection),
        ("not-skipped", &not_skipped),
        ("not-deleted", "!has(object.metadata.deletionTimestamp)"),
    ];
    writeln!(out, "apiVersion: admissionregistration.k8s.io/v1")?;
    writeln!(out, "kind: ValidatingAdmissionPolicy")?;
    writeln!(out, "metadata:\n  name: {}", quoted(name))?;
    writeln!(out, "spec:\n  failurePolicy: Fail\n  matchConstraints:\n    resourceRules:")?;
    writeln!(out, "    - apiGroups: [kubevirt.io]\n      apiVersions: [v1, v1alpha3]")?;
    writeln!(out, "      operations: [CREATE, UPDATE]\n      resources: [virtualmachines]")?;
    writeln!(out, "  matchConditions:")?;
    for (condition, expression) in &conditions {
        writeln!(out, "  - name: {condition}\n    expression: {}", quoted(expression))?;
    }
    writeln!(out, "  validations:")?;
    for validation in validations {
        writeln!(out, "  # {}", quoted(&validation.rule).trim_matches('"'))?;
        writeln!(out, "  - expression: {}", quoted(&validation.expression))?;
        writeln!(out, "    message: {}", quoted(&validation.message))?;
        if let Some(expression) = &validation.message_expression {
            writeln!(out, "    messageExpression: {}", quoted(expression))?;
        }
    }
    writeln!(out, "---\napiVersion: admissionregistration.k8s.io/v1")?;
    writeln!(out, "kind: ValidatingAdmissionPolicyBinding")?;
    writeln!(out, "metadata:\n  name: {}", quoted(name))?;
    writeln!(out, "spec:\n  policyName: {}\n  validationActions: {actions}", quoted(name))
}

/// Converts a text to a name that the API server accepts: lower-case letters, digits and dashes, in
/// parts separated by dots.
fn dns_name(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' { c } else { '-' })
        .take(MAX_NAME - SUFFIXES)
        .collect();
    let parts: Vec<&str> =
        clean.split('.').map(|part| part.trim_matches('-')).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "validations".to_owned() } else { parts.join(".") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_names_are_valid_and_unique() {
        for (text, expect) in [
            ("Windows 10 (x64)", "windows-10--x64"),
            ("a..b.-c-.d", "a.b.c.d"),
            ("-", "validations"),
            ("größe", "gr--e"),
        ] {
            assert_eq!(dns_name(text), expect, "{text}");
        }
        assert_eq!(dns_name(&"x".repeat(400)).len(), MAX_NAME - SUFFIXES);
        let mut names = PolicyNames::default();
        assert_eq!(["a", "A", "a"].map(|text| names.unused(text)), ["a", "a-2", "a-3"]);
    }
}
