//! `export cel`: writes rules as ValidatingAdmissionPolicies with their bindings.

use std::io::{self, Write};

use ytterby_text::cel;

use super::args::Args;
use super::load::File;
use super::world::{World, place};
use super::{BROKEN, Failure, Host, OK, UNREADABLE};
use crate::cel::{Exported, Validation, export};
use crate::objects::{Annotation, Vm};
use crate::rules;
use crate::select::SKIP;
use crate::value::quoted;

/// Longer names are refused by the API server.
const MAX_NAME: usize = 253;

pub(super) fn run(
    args: &Args,
    host: &dyn Host,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<i32, Failure> {
    let world = World::load(args, host)?;
    let mut code = OK;
    let mut first = true;
    let count = world
        .files
        .iter()
        .filter_map(|file| file.objects.as_ref().ok())
        .map(|objects| objects.vms.len())
        .sum::<usize>();
    if args.name.is_some() && count > 1 {
        return Err(Failure::Usage(format!("--name needs exactly one object with rules, found {count}")));
    }
    for file in &world.files {
        let Some(objects) = file.readable(stderr)? else {
            code = UNREADABLE;
            continue;
        };
        for vm in &objects.vms {
            let enclosing = vm.template.and_then(|index| objects.templates[index].rules.as_ref());
            let Some(annotation) = vm.rules.as_ref().or(enclosing) else { continue };
            match rules::parse(&annotation.text) {
                Err(problem) => {
                    let at = place(annotation, file, problem.offset());
                    writeln!(stderr, "{at}: {}", problem.message())?;
                    code = UNREADABLE;
                }
                Ok(rules) => {
                    let exported = export(&rules);
                    if refuse(&exported, annotation, file, stderr)? {
                        code = code.max(BROKEN);
                    }
                    policies(vm, &exported, args.name.as_deref(), &mut first, stdout)?;
                }
            }
        }
    }
    Ok(code)
}

/// Reports what was left out; whether there was anything.
fn refuse(exported: &Exported, annotation: &Annotation, file: &File, stderr: &mut dyn Write) -> io::Result<bool> {
    for refused in &exported.refused {
        let at = place(annotation, file, refused.offset);
        writeln!(stderr, "{at}: rule {} is left out: {}", refused.rule, refused.reason)?;
    }
    Ok(!exported.refused.is_empty())
}

fn policies(
    vm: &Vm,
    exported: &Exported,
    name: Option<&str>,
    first: &mut bool,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let base = name.map_or_else(|| format!("{}-validations", vm.name), str::to_owned);
    let base = dns_name(&base);
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
    let label = cel::quoted("vm.kubevirt.io/template");
    // VMs of a template carry its name; a VM that has rules of its own is meant alone.
    let selected = if vm.template.is_some() {
        let named = |place: &str| {
            let labels = format!("object.metadata.{place}");
            format!("has({labels}) && {label} in {labels} && {labels}[{label}] == {}", cel::quoted(&vm.name))
        };
        format!("({}) || ({})", named("labels"), named("annotations"))
    } else {
        format!("object.metadata.name == {}", cel::quoted(&vm.name))
    };
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
        writeln!(out, "  # {}", validation.rule.replace(['\n', '\r'], " "))?;
        writeln!(out, "  - expression: {}", quoted(&validation.expression))?;
        writeln!(out, "    message: {}", quoted(&validation.message))?;
    }
    writeln!(out, "---\napiVersion: admissionregistration.k8s.io/v1")?;
    writeln!(out, "kind: ValidatingAdmissionPolicyBinding")?;
    writeln!(out, "metadata:\n  name: {}", quoted(name))?;
    writeln!(out, "spec:\n  policyName: {}\n  validationActions: {actions}", quoted(name))
}

/// A name that the API server accepts: lower-case letters, digits, dashes and dots.
fn dns_name(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.' { c } else { '-' })
        .take(MAX_NAME - "-warn".len())
        .collect();
    let trimmed = clean.trim_matches(['-', '.']);
    if trimmed.is_empty() { "validations".to_owned() } else { trimmed.to_owned() }
}
