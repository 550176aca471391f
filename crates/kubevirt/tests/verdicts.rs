//! Recorded cases of the reference without compatibility mode: the same verdicts, except for the
//! differences listed here.
//!
//! The cases live in `../shared/kubevirt/cases`; without that folder the test says so and passes.

use std::path::PathBuf;

use ytterby_kubevirt::evaluate::{Sizing, complete_cpu, evaluate, is_valid};
use ytterby_kubevirt::fields;
use ytterby_kubevirt::value::Value;
use ytterby_kubevirt::{json, rules};

/// Cases with another verdict, and the test in `tests/specification.rs` or `src/rules.rs` that
/// shows the difference.
const DIFFERENCES: &[(&str, &str)] = &[
    ("corpus/centos-stream9-desktop-tiny-arm64/as-shipped", "integers_and_quantities_are_exact"),
    ("corpus/centos-stream9-desktop-tiny-s390x/usb-disk-scsi-cd", "integers_and_quantities_are_exact"),
    ("corpus/centos-stream9-server-tiny/usb-disk-scsi-cd", "integers_and_quantities_are_exact"),
    ("corpus/rhel8-server-tiny/usb-disk-scsi-cd", "integers_and_quantities_are_exact"),
    ("corpus/rhel9-desktop-tiny-arm64/usb-disk-scsi-cd", "integers_and_quantities_are_exact"),
    ("corpus/rhel9-desktop-tiny-s390x/as-shipped", "integers_and_quantities_are_exact"),
    ("corpus/rhel9-desktop-tiny/usb-disk-scsi-cd", "integers_and_quantities_are_exact"),
    ("corpus/rhel9-server-tiny-s390x/usb-disk-scsi-cd", "integers_and_quantities_are_exact"),
    ("corpus/rhel9-server-tiny/usb-disk-scsi-cd", "integers_and_quantities_are_exact"),
    ("eval/fail with one malformed rule", "unknown_kinds_are_ignored_with_a_warning"),
    ("eval/justWarning empty vm", "a_vm_without_template_is_invalid"),
    ("eval/justWarning with incorrect path fails", "just_warning_never_fails"),
    ("eval/unappliable rules", "a_vm_without_template_is_invalid"),
    ("probe/enum on bool", "scalars_are_compared_as_text"),
    ("probe/enum on integer field", "scalars_are_compared_as_text"),
    ("probe/enum on quantity", "scalars_are_compared_as_text"),
    ("probe/integer on pointer int64", "integers_and_quantities_are_exact"),
    ("probe/justWarning number", "one_invalid_rule_does_not_affect_the_others"),
    ("probe/justWarning string", "one_invalid_rule_does_not_affect_the_others"),
    ("probe/max jsonpath missing in vm falls to reference", "scalars_have_defaults"),
    ("probe/message number", "one_invalid_rule_does_not_affect_the_others"),
    ("probe/min numeric string", "bounds_are_exact"),
    ("probe/min quantity string 2Gi", "bounds_are_exact"),
    ("probe/minLength counts bytes", "lengths_count_characters"),
    ("probe/missing name", "missing_required_keys_are_errors"),
    ("probe/path bad syntax", "one_invalid_rule_does_not_affect_the_others"),
    ("probe/path null", "missing_required_keys_are_errors"),
    ("probe/path number", "one_invalid_rule_does_not_affect_the_others"),
    ("probe/path without prefix", "one_invalid_rule_does_not_affect_the_others"),
    ("probe/quantity huge", "integers_and_quantities_are_exact"),
    ("probe/regex \\z vs \\Z", "regexes_are_pcre"),
    ("probe/regex dollar before trailing newline (PCRE yes, RE2 no)", "regexes_are_pcre"),
    ("probe/regex on integer", "scalars_are_compared_as_text"),
    ("probe/regex possessive/atomic (PCRE only)", "regexes_are_pcre"),
    ("probe/regex value with jsonpath prefix is literal", "arguments_may_be_paths"),
    ("probe/rule kind case", "unknown_kinds_are_ignored_with_a_warning"),
    ("probe/string length on integer field is of Go text", "scalars_are_compared_as_text"),
    ("probe/string on integer field", "scalars_are_compared_as_text"),
    ("probe/unknown rule kind", "unknown_kinds_are_ignored_with_a_warning"),
    ("probe/valid bogus but duplicates/unknown checked first", "unknown_kinds_are_ignored_with_a_warning"),
    ("probe/valid on nil pointer parent counts as existing", "absent_values_do_not_exist"),
    ("probe/valid without prefix", "one_invalid_rule_does_not_affect_the_others"),
    ("probe/vm has no template", "a_vm_without_template_is_invalid"),
    ("seed-example/04", "missing_required_keys_are_errors"),
    ("spec/bogus rule", "unknown_kinds_are_ignored_with_a_warning"),
];

#[test]
fn verdicts_differ_only_in_listed_cases() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubevirt/cases");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return;
    };
    let mut surprises = Vec::new();
    for entry in entries {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let cases = json::parse(&std::fs::read_to_string(&path).unwrap()).unwrap().to_value();
        for case in cases.as_array().unwrap() {
            let name = case.get("name").unwrap().as_str().unwrap();
            let Some(annotation) = case.get("annotation").and_then(Value::as_str) else { continue };
            let expect = case.get("expect").unwrap();
            let reference = if expect.get("panic").is_some() {
                "crash"
            } else if expect.get("parseError").is_some() {
                "unreadable"
            } else if expect.get("valid") == Some(&Value::Bool(true)) {
                "valid"
            } else {
                "invalid"
            };
            let mut vm = case.get("vm").unwrap().clone();
            complete_cpu(&mut vm);
            let ours = match rules::parse(annotation) {
                Err(_) => "unreadable",
                Ok(rules) if is_valid(&evaluate(&rules, &vm, &Sizing::Own)) => "valid",
                Ok(_) => "invalid",
            };
            let listed = DIFFERENCES.iter().any(|(case, _)| *case == name);
            if (ours != reference) != listed {
                surprises.push(format!("{name}: reference {reference}, ours {ours}"));
            }
        }
    }
    surprises.sort();
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}

#[test]
fn fields_of_recorded_vms_are_known() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/kubevirt/cases");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("SKIPPED: {} is not there", folder.display());
        return;
    };
    let mut surprises = Vec::new();
    for path in
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|end| end == "json"))
    {
        let cases = json::parse(&std::fs::read_to_string(&path).unwrap()).unwrap().to_value();
        for case in cases.as_array().unwrap() {
            let name = case.get("name").unwrap().as_str().unwrap();
            let Some(vm) = case.get("vm") else { continue };
            let found = fields::problems(vm);
            if !found.is_empty() {
                surprises.push(format!("{name}: {found:?}"));
            }
        }
    }
    surprises.sort();
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}
