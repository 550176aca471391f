//! One test for each difference between the reference and us. `docs/kubevirt.md` (*Rules*) defines
//! the intended behaviour; `--compat ssp` has that of the reference.

use ytterby_kubevirt::evaluate::{RuleOutcome, Sizing, Status, complete_cpu, evaluate};
use ytterby_kubevirt::rules;
use ytterby_kubevirt::{compat, json};

const VM: &str = r#"{"spec":{"template":{"metadata":{"annotations":{"a.b/os":"linux"}},"spec":{
  "terminationGracePeriodSeconds":30,
  "domain":{"cpu":{"cores":4,"sockets":2,"dedicatedCpuPlacement":true},"machine":{"type":"q35"},"memory":{"guest":"1.5Gi"},
    "resources":{"requests":{"memory":"128M","cpu":"1500m"}},
    "devices":{"disks":[{"name":"root","disk":{"bus":"virtio"},"bootOrder":1},{"name":"größe","disk":{"bus":"sata"}}],
               "interfaces":[{"name":"default"}]}}}}}}"#;

const NO_CPU: &str = r#"{"spec":{"template":{"spec":{"domain":{"machine":{"type":"q35"},"devices":{}}}}}}"#;

fn outcomes(vm: &str, annotation: &str) -> Vec<RuleOutcome> {
    let mut vm = json::parse(vm).unwrap().to_value();
    complete_cpu(&mut vm);
    evaluate(&rules::parse(annotation).unwrap(), &vm, &Sizing::Own)
}

/// Evaluates one rule; its path is relative to `.spec`, other members are given as they are.
fn check(vm: &str, kind: &str, path: &str, members: &str, status: Status, detail: &str) {
    let comma = if members.is_empty() { "" } else { "," };
    let rule =
        format!(r#"[{{"name":"n","message":"m","rule":"{kind}","path":"jsonpath::.spec{path}"{comma}{members}}}]"#);
    let outcome = &outcomes(vm, &rule)[0];
    assert_eq!((outcome.status, outcome.detail.as_str()), (status, detail), "{rule}");
}

use Status::{Error, Ok, Skipped, Violation, Warning};

#[test]
fn paths_start_at_the_template() {
    check(VM, "integer", ".domain.cpu.cores", r#""min":4"#, Ok, "4 is at least 4");
    check(
        VM,
        "integer",
        ".template.spec.domain.cpu.cores",
        r#""min":4"#,
        Error,
        "path not found in VM: .spec.template.spec.domain.cpu.cores: .spec has no field `template`",
    );
}

#[test]
fn unknown_kinds_are_ignored_with_a_warning() {
    check(
        VM,
        "float",
        ".domain.cpu.cores",
        r#""min":9"#,
        Warning,
        "unknown kind of rule \"float\"; the rule is ignored",
    );
    check(
        VM,
        "Integer",
        ".domain.cpu.cores",
        r#""min":9"#,
        Warning,
        "unknown kind of rule \"Integer\"; the rule is ignored",
    );
}

#[test]
fn keys_are_case_sensitive() {
    check(VM, "integer", ".domain.cpu.cores", r#""MIN":9,"extra":{}"#, Ok, "4 is allowed");
}

#[test]
fn missing_required_keys_are_errors() {
    for key in ["name", "rule", "path", "message"] {
        let members: Vec<String> =
            [("name", "n"), ("rule", "integer"), ("path", "jsonpath::.spec.domain.cpu.cores"), ("message", "m")]
                .iter()
                .filter(|(name, _)| *name != key)
                .map(|(name, value)| format!("\"{name}\":\"{value}\""))
                .collect();
        let good =
            r#"{"name":"good","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":1}"#;
        let all = outcomes(VM, &format!("[{{{},\"min\":1}},{good}]", members.join(",")));
        assert_eq!(all[0].status, Error, "{key}");
        assert_eq!(all[0].detail, format!("the mandatory key `{key}` is missing"));
        assert_eq!(all[0].rule, if key == "name" { "#1" } else { "n" });
        assert_eq!(all[1].status, Ok, "the other rule is still evaluated");
    }
}

#[test]
fn later_duplicates_fail() {
    let rule = r#"{"name":"n","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":1,"justWarning":true}"#;
    let all = outcomes(VM, &format!("[{rule},{rule}]"));
    assert_eq!((all[0].status, all[1].status), (Ok, Error));
    assert_eq!(all[1].detail, "rule 1 has this name already; this rule is not evaluated");
}

#[test]
fn just_warning_never_fails() {
    check(
        VM,
        "integer",
        ".domain.cpu.cores",
        r#""min":9,"justWarning":true"#,
        Warning,
        "value 4 is lower than the minimum 9",
    );
    let missing = "path not found in VM: .spec.domain.nope: .spec.domain has no field `nope`";
    check(VM, "integer", ".domain.nope", r#""min":9,"justWarning":true"#, Warning, missing);
    check(
        VM,
        "regex",
        ".domain.machine.type",
        r#""regex":"(","justWarning":true"#,
        Warning,
        "the regular expression does not compile at position 2: missing closing parenthesis",
    );
}

#[test]
fn lengths_count_characters() {
    check(
        VM,
        "string",
        ".domain.devices.disks[1].name",
        r#""minLength":5,"maxLength":5"#,
        Ok,
        "\"größe\" is between 5 and 5 characters long",
    );
    check(
        VM,
        "string",
        ".domain.devices.disks[1].name",
        r#""minLength":6"#,
        Violation,
        "\"größe\" has 5 characters, fewer than 6",
    );
}

#[test]
fn regexes_are_pcre() {
    check(VM, "regex", ".domain.machine.type", r#""regex":"(?<=q)3(?=5)""#, Ok, "\"q35\" matches (?<=q)3(?=5)");
    check(VM, "regex", ".domain.machine.type", r#""regex":"^35""#, Violation, "\"q35\" does not match ^35");
    let vm = VM.replace("q35", &("a".repeat(3000) + "!"));
    let rule =
        r#"[{"name":"n","message":"m","rule":"regex","path":"jsonpath::.spec.domain.machine.type","regex":"^(a+)+$"}]"#;
    let outcome = &outcomes(&vm, rule)[0];
    assert_eq!(outcome.status, Error);
    assert!(outcome.detail.contains("takes too many steps"), "{}", outcome.detail);
}

#[test]
fn scalars_are_compared_as_text() {
    check(VM, "enum", ".domain.cpu.cores", r#""values":["4"]"#, Ok, "\"4\" is among \"4\"");
    check(
        VM,
        "enum",
        ".domain.cpu.cores",
        r#""values":[4, true, 2.50]"#,
        Ok,
        "\"4\" is among \"4\", \"true\", \"2.5\"",
    );
    check(VM, "enum", ".domain.cpu.dedicatedCpuPlacement", r#""values":["true"]"#, Ok, "\"true\" is among \"true\"");
    check(VM, "enum", ".domain.memory.guest", r#""values":["1536Mi"]"#, Violation, "\"1.5Gi\" is not among \"1536Mi\"");
    check(VM, "enum", ".domain.devices", r#""values":["x"]"#, Error, "expected a scalar, found an object");
    check(VM, "string", ".domain.cpu.cores", r#""minLength":1"#, Violation, "expected a string, found a number 4");
}

#[test]
fn arguments_may_be_paths() {
    check(
        VM,
        "integer",
        ".domain.cpu.cores",
        r#""max":"jsonpath::.spec.domain.cpu.sockets""#,
        Violation,
        "value 4 is higher than the maximum 2",
    );
    check(
        VM,
        "regex",
        ".domain.machine.type",
        r#""regex":"jsonpath::.spec.domain.machine.type""#,
        Ok,
        "\"q35\" matches q35",
    );
    check(
        VM,
        "enum",
        ".domain.devices.disks[0].name",
        r#""values":"jsonpath::.spec.domain.devices.disks[*].name""#,
        Ok,
        "\"root\" is among \"root\", \"größe\"",
    );
    check(
        VM,
        "integer",
        ".domain.cpu.cores",
        r#""max":"jsonpath::.spec.domain.devices.disks[*].name""#,
        Error,
        "the argument .spec.domain.devices.disks[*].name must give one value, found 2",
    );
    check(
        VM,
        "integer",
        ".domain.cpu.cores",
        r#""max":"jsonpath::.spec.domain.machine.type""#,
        Error,
        "the argument .spec.domain.machine.type must be a number, found the string \"q35\"",
    );
}

#[test]
fn absent_values_do_not_exist() {
    let valid = |path: &str| format!(r#""min":1,"valid":"jsonpath::.spec{path}""#);
    check(
        NO_CPU,
        "integer",
        ".domain.cpu.cores",
        &valid(".domain.cpu"),
        Skipped,
        ".spec.domain.cpu does not exist in this VM",
    );
    check(
        NO_CPU,
        "integer",
        ".domain.cpu.cores",
        &valid(".domain.cpu.cores"),
        Skipped,
        ".spec.domain.cpu.cores does not exist in this VM",
    );
    check(VM, "integer", ".domain.cpu.threads", &valid(".domain.cpu.threads"), Ok, "1 is at least 1");
    check(
        VM,
        "string",
        ".domain.devices.interfaces[*].model",
        r#""maxLength":0,"valid":"jsonpath::.spec.domain.devices.interfaces[*].model""#,
        Ok,
        "\"\" is at most 0 characters long",
    );
    check(
        VM,
        "enum",
        ".domain.devices.disks[*].cdrom.bus",
        r#""values":["sata"],"valid":"jsonpath::.spec.domain.devices.disks[?(@.cdrom)].name""#,
        Skipped,
        ".spec.domain.devices.disks[?(@.cdrom)].name does not exist in this VM",
    );
}

#[test]
fn scalars_have_defaults() {
    check(
        NO_CPU,
        "integer",
        ".domain.cpu.cores",
        r#""min":1"#,
        Violation,
        "value 0 is lower than the minimum 1 (.spec.domain.cpu is not set)",
    );
    check(NO_CPU, "integer", ".domain.cpu.cores", r#""min":0"#, Ok, "0 is at least 0 (.spec.domain.cpu is not set)");
    check(
        NO_CPU,
        "integer",
        ".domain.memory.guest",
        r#""min":0"#,
        Error,
        "path not found in VM: .spec.domain.memory is not set",
    );
    check(
        VM,
        "enum",
        ".domain.devices.disks[*].cdrom.bus",
        r#""values":["sata"]"#,
        Error,
        "path not found in VM: nothing has .spec.domain.devices.disks[*].cdrom.bus",
    );
    check(
        VM,
        "integer",
        ".domain.cpu.coress",
        r#""min":0"#,
        Error,
        "path not found in VM: .spec.domain.cpu.coress: .spec.domain.cpu has no field `coress`; did you mean `cores`?",
    );
}

#[test]
fn empty_lists_have_no_items() {
    check(
        NO_CPU,
        "enum",
        ".domain.devices.disks[*].disk.bus",
        r#""values":["x"]"#,
        Error,
        ".spec.domain.devices.disks[*].disk.bus has no values in this VM: the list is empty (add `valid` to skip the rule then)",
    );
}

#[test]
fn integers_and_quantities_are_exact() {
    check(
        VM,
        "integer",
        ".domain.memory.guest",
        r#""min":1610612736,"max":1610612736"#,
        Ok,
        "1.5Gi is between 1.5Gi and 1.5Gi",
    );
    check(
        VM,
        "integer",
        ".domain.memory.guest",
        r#""min":1610612737"#,
        Violation,
        "value 1.5Gi (1610612736) is lower than the minimum 1610612737",
    );
    check(
        VM,
        "integer",
        ".domain.resources.requests.cpu",
        r#""min":1"#,
        Violation,
        "value 1500m (1.5) is not a whole number",
    );
    check(VM, "integer", ".terminationGracePeriodSeconds", r#""min":30"#, Ok, "30 is at least 30");
    check(VM, "integer", ".domain.devices.disks[*].bootOrder", r#""max":1"#, Ok, "1 is at most 1");
}

#[test]
fn values_that_are_not_numbers_are_violations() {
    check(
        VM,
        "integer",
        ".domain.machine.type",
        r#""min":1"#,
        Violation,
        "expected an integer, found the string \"q35\"",
    );
    check(
        VM,
        "integer",
        ".domain.machine.type",
        r#""min":1,"justWarning":true"#,
        Warning,
        "expected an integer, found the string \"q35\"",
    );
    check(VM, "integer", ".domain.cpu", r#""min":1"#, Violation, "expected an integer, found an object");
}

#[test]
fn arguments_are_optional() {
    check(VM, "integer", ".domain.cpu.cores", "", Ok, "4 is allowed");
    check(VM, "regex", ".domain.machine.type", "", Ok, "\"q35\" is allowed");
    check(VM, "enum", ".domain.machine.type", "", Violation, "\"q35\" is not allowed: no values are allowed");
}

#[test]
fn bounds_are_exact() {
    check(VM, "integer", ".domain.cpu.cores", r#""max":9007199254740993"#, Ok, "4 is at most 9007199254740993");
    check(VM, "integer", ".domain.cpu.cores", r#""max":1e30"#, Ok, "4 is at most 1000000000000000000000000000000");
    check(VM, "integer", ".domain.cpu.cores", r#""min":3.5"#, Ok, "4 is at least 3.5");
    check(
        VM,
        "integer",
        ".domain.memory.guest",
        r#""min":"2Gi""#,
        Violation,
        "value 1.5Gi is lower than the minimum 2Gi",
    );
    check(
        VM,
        "integer",
        ".domain.cpu.cores",
        r#""min":"many""#,
        Error,
        "`min` must be a number or a `jsonpath::` path, found the string \"many\"",
    );
}

#[test]
fn an_empty_range_is_evaluated() {
    check(VM, "integer", ".domain.cpu.cores", r#""min":9,"max":1"#, Violation, "value 4 is lower than the minimum 9");
}

#[test]
fn a_vm_without_template_is_invalid() {
    let rule = r#"[{"name":"n","message":"m","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","valid":"jsonpath::.spec"}]"#;
    for vm in ["{}", "{\"spec\":{}}", "{\"spec\":{\"template\":null}}"] {
        let all = outcomes(vm, rule);
        assert_eq!((all.len(), all[0].status), (1, Error));
    }
    assert!(outcomes("{}", "[]").is_empty());
}

#[test]
fn sizes_of_instance_types_are_skipped() {
    let rules = rules::parse(
        r#"[{"name":"memory","message":"m","rule":"integer","path":"jsonpath::.spec.domain.memory.guest","min":1},
            {"name":"machine","message":"m","rule":"enum","path":"jsonpath::.spec.domain.machine.type","values":["q35"]}]"#,
    )
    .unwrap();
    let vm = json::parse(NO_CPU).unwrap().to_value();
    let all = evaluate(&rules, &vm, &Sizing::Instancetype("u1.small".to_owned()));
    assert_eq!((all[0].status, all[0].notable, all[1].status), (Skipped, true, Ok));
    assert!(all[0].detail.contains("u1.small"));
}

#[test]
fn names_and_messages_are_literal() {
    let rule = r#"[{"name":"jsonpath::.spec","message":"jsonpath::.spec","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","min":9}]"#;
    let outcome = &outcomes(VM, rule)[0];
    assert_eq!((outcome.rule.as_str(), outcome.message.as_str()), ("jsonpath::.spec", "jsonpath::.spec"));
}

#[test]
fn go_names_are_for_the_reference_only() {
    check(
        VM,
        "string",
        ".domain.Machine.Type",
        r#""minLength":1"#,
        Error,
        "path not found in VM: .spec.domain.Machine.Type: .spec.domain has no field `Machine`; did you mean `machine`?",
    );
    let rules = compat::parse(
        r#"[{"name":"n","message":"m","rule":"string","path":"jsonpath::.spec.domain.Machine.Type","minLength":1}]"#,
    )
    .unwrap();
    let vm = json::parse(VM).unwrap().to_value();
    assert!(!compat::evaluate(&rules, &vm)[0].refuses());
}

#[test]
fn rules_can_be_shared_among_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&rules::parse("[]").unwrap());
}
