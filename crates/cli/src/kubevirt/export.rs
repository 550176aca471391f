//! `export cel`: writes rules as ValidatingAdmissionPolicies with their bindings.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use ytterby_text::cel;

use super::args::Args;
use super::load::File;
use super::world::{World, place};
use super::{BROKEN, Failure, Host, OK, UNREADABLE, usage};
use ytterby_diag::Id;
use ytterby_kubevirt::cel::{Exported, Refused, Validation, export};
use ytterby_kubevirt::objects::{Annotation, Objects, Vm};
use ytterby_kubevirt::select::{NAME, NAMESPACES, SKIP};
use ytterby_kubevirt::value::quoted;

/// Longer names are refused by the API server.
const MAX_NAME: usize = 253;

/// Room for `-12345-warn` behind a name.
const SUFFIXES: usize = 16;

pub(super) fn run(
    args: &Args,
    host: &dyn Host,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    let world = World::load(args, host)?;
    let mut code = OK;
    let mut first = true;
    let readable = world.files.iter().filter_map(|file| file.objects.as_ref().ok());
    let with_rules = |objects: &Objects| objects.vms.iter().filter(|vm| annotation(vm, objects).is_some()).count();
    let count = readable.map(with_rules).sum::<usize>();
    if args.name.is_some() && count > 1 {
        return Err(usage(Id::FLAG_VALUE, format!("--name needs exactly one object with rules, found {count}")));
    }
    let mut rules_seen = 0;
    let mut names = Names::default();
    for file in &world.files {
        let Some(objects) = file.readable(stderr)? else {
            code = UNREADABLE;
            continue;
        };
        // The VMs of a template share the rules on it.
        let mut seen = HashSet::new();
        for vm in &objects.vms {
            let Some(annotation) = annotation(vm, objects).filter(|annotation| seen.insert(annotation.key)) else {
                continue;
            };
            let rules = match annotation.rules() {
                Ok(rules) => rules,
                Err(problem) => {
                    let at = place(annotation, file, problem.offset());
                    writeln!(stderr, "{at}: {}", problem.message())?;
                    code = UNREADABLE;
                    continue;
                }
            };
            if rules.entries.is_empty() {
                continue;
            }
            rules_seen += rules.entries.len();
            if vm.name.is_empty() {
                let at = place(annotation, file, 0);
                writeln!(stderr, "{at}: all rules are left out: the {} has no name to select VMs by", vm.kind)?;
                code = code.max(BROKEN);
                continue;
            }
            let exported = export(&rules);
            report(&exported, annotation, file, stderr)?;
            if !exported.refused.is_empty() || args.fail_on_warn && !exported.ignored.is_empty() {
                code = code.max(BROKEN);
            }
            let base = args.name.clone().unwrap_or_else(|| format!("{}-validations", vm.name));
            policies(vm, &exported, &names.unused(&base), &mut first, stdout)?;
        }
    }
    if rules_seen == 0 && code == OK {
        writeln!(stderr, "There are no rules in the input")?;
        code = BROKEN;
    }
    Ok(code)
}

/// The rules of a VM or of the template around it.
fn annotation<'a>(vm: &'a Vm, objects: &'a Objects) -> Option<&'a Annotation> {
    vm.rules.as_ref().or_else(|| objects.templates[vm.template?].rules.as_ref())
}

/// Names of policies, which are not in namespaces: no two may be the same. With the last number behind each.
#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    /// A name like this one that no policy has yet.
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

/// Reports what was left out.
fn report(exported: &Exported, annotation: &Annotation, file: &File, stderr: &mut dyn Write) -> io::Result<()> {
    for (left_out, word) in [(&exported.refused, "left out"), (&exported.ignored, "ignored")] {
        for Refused { rule, offset, reason } in left_out {
            writeln!(stderr, "{}: rule {rule} is {word}: {reason}", place(annotation, file, *offset))?;
        }
    }
    Ok(())
}

fn policies(vm: &Vm, exported: &Exported, base: &str, first: &mut bool, out: &mut dyn Write) -> Result<(), Failure> {
    for (warns, suffix, actions) in [(false, "", "[Deny]"), (true, "-warn", "[Warn, Audit]")] {
        let validations: Vec<&Validation> =
            exported.validations.iter().filter(|validation| validation.just_warning == warns).collect();
        if validations.is_empty() {
            continue;
        }
        if !std::mem::take(first) {
            writeln!(out, "---")?;
        }
        policy(vm, &format!("{base}{suffix}"), &validations, actions, out)?;
    }
    Ok(())
}

fn policy(vm: &Vm, name: &str, validations: &[&Validation], actions: &str, out: &mut dyn Write) -> io::Result<()> {
    let selected = selection(vm);
    let skip = cel::quoted(SKIP);
    let conditions = [
        ("selected", selected),
        ("not-skipped", format!("!(has(object.metadata.annotations) && {skip} in object.metadata.annotations)")),
        ("not-deleted", "!has(object.metadata.deletionTimestamp)".to_owned()),
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
    }
    writeln!(out, "---\napiVersion: admissionregistration.k8s.io/v1")?;
    writeln!(out, "kind: ValidatingAdmissionPolicyBinding")?;
    writeln!(out, "metadata:\n  name: {}", quoted(name))?;
    writeln!(out, "spec:\n  policyName: {}\n  validationActions: {actions}", quoted(name))
}

/// True for the VMs that rules are meant for: those of a template carry its name, and its namespace if they are told where
/// it is; a VM that has rules of its own is meant alone.
fn selection(vm: &Vm) -> String {
    let namespace = cel::quoted(&vm.namespace);
    if vm.template.is_none() {
        let named = format!("object.metadata.name == {}", cel::quoted(&vm.name));
        let inside = format!(" && object.metadata.namespace == {namespace}");
        return if vm.namespace.is_empty() { named } else { named + &inside };
    }
    let [key, new, old] = [NAME, NAMESPACES[0], NAMESPACES[1]].map(cel::quoted);
    let named = |place: &str| {
        let at = format!("object.metadata.{place}");
        let named = format!("has({at}) && {key} in {at} && {at}[{key}] == {}", cel::quoted(&vm.name));
        let inside = format!(
            " && ({new} in {at} ? {at}[{new}] == {namespace} : !({old} in {at}) || {at}[{old}] == {namespace})"
        );
        if vm.namespace.is_empty() { named } else { named + &inside }
    };
    format!("({}) || ({})", named("labels"), named("annotations"))
}

/// A name that the API server accepts: lower-case letters, digits and dashes, in parts between dots.
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
    fn names_are_accepted_and_differ() {
        for (text, expect) in [
            ("Windows 10 (x64)", "windows-10--x64"),
            ("a..b.-c-.d", "a.b.c.d"),
            ("-", "validations"),
            ("größe", "gr--e"),
        ] {
            assert_eq!(dns_name(text), expect, "{text}");
        }
        assert_eq!(dns_name(&"x".repeat(400)).len(), MAX_NAME - SUFFIXES);
        let mut names = Names::default();
        assert_eq!(["a", "A", "a"].map(|text| names.unused(text)), ["a", "a-2", "a-3"]);
    }
}
