//! Recorded cases of the reference by the specification: the same verdict, but for the differences listed here.
//!
//! The cases live in `../shared/kubevirt/cases`; without that folder the test says so and passes.

use std::path::PathBuf;

use ytterby_kubevirt::evaluate::{Sizing, complete_cpu, evaluate, is_valid};
use ytterby_kubevirt::fields::misfits;
use ytterby_kubevirt::value::Value;
use ytterby_kubevirt::{json, rules};

/// Cases that end differently, and the row of the specification that says so.
const DIFFERENCES: &[(&str, &str)] = &[
    ("corpus/centos-stream9-desktop-tiny-arm64/as-shipped", "row 17"),
    ("corpus/centos-stream9-desktop-tiny-s390x/usb-disk-scsi-cd", "row 17"),
    ("corpus/centos-stream9-server-tiny/usb-disk-scsi-cd", "row 17"),
    ("corpus/rhel8-server-tiny/usb-disk-scsi-cd", "row 17"),
    ("corpus/rhel9-desktop-tiny-arm64/usb-disk-scsi-cd", "row 17"),
    ("corpus/rhel9-desktop-tiny-s390x/as-shipped", "row 17"),
    ("corpus/rhel9-desktop-tiny/usb-disk-scsi-cd", "row 17"),
    ("corpus/rhel9-server-tiny-s390x/usb-disk-scsi-cd", "row 17"),
    ("corpus/rhel9-server-tiny/usb-disk-scsi-cd", "row 17"),
    ("eval/fail with one malformed rule", "row 2"),
    ("eval/justWarning empty vm", "row 24"),
    ("eval/justWarning with incorrect path fails", "row 6"),
    ("eval/unappliable rules", "row 24"),
    ("probe/enum on bool", "row 9"),
    ("probe/enum on integer field", "row 9"),
    ("probe/enum on quantity", "row 9"),
    ("probe/integer on pointer int64", "row 17"),
    ("probe/justWarning number", "one bad rule does not spoil the others"),
    ("probe/justWarning string", "one bad rule does not spoil the others"),
    ("probe/max jsonpath missing in vm falls to reference", "row 14"),
    ("probe/message number", "one bad rule does not spoil the others"),
    ("probe/min numeric string", "row 20"),
    ("probe/min quantity string 2Gi", "row 20"),
    ("probe/minLength counts bytes", "row 7"),
    ("probe/missing name", "row 4"),
    ("probe/path bad syntax", "one bad rule does not spoil the others"),
    ("probe/path null", "row 4"),
    ("probe/path number", "one bad rule does not spoil the others"),
    ("probe/path without prefix", "one bad rule does not spoil the others"),
    ("probe/quantity huge", "row 17"),
    ("probe/regex \\z vs \\Z", "row 8"),
    ("probe/regex dollar before trailing newline (PCRE yes, RE2 no)", "row 8"),
    ("probe/regex on integer", "row 9"),
    ("probe/regex possessive/atomic (PCRE only)", "row 8"),
    ("probe/regex value with jsonpath prefix is literal", "row 11"),
    ("probe/rule kind case", "row 2"),
    ("probe/string length on integer field is of Go text", "row 9"),
    ("probe/string on integer field", "row 9"),
    ("probe/unknown rule kind", "row 2"),
    ("probe/valid bogus but duplicates/unknown checked first", "row 2"),
    ("probe/valid on nil pointer parent counts as existing", "row 13"),
    ("probe/valid without prefix", "one bad rule does not spoil the others"),
    ("probe/vm has no template", "row 24"),
    ("seed-example/04", "row 4"),
    ("spec/bogus rule", "row 2"),
];

#[test]
fn verdicts_differ_only_where_the_specification_says_so() {
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
            let found = misfits(vm);
            if !found.is_empty() {
                surprises.push(format!("{name}: {found:?}"));
            }
        }
    }
    surprises.sort();
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}
