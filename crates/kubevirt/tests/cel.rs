//! `export cel` and `evaluate` agree on generated VMs.

use std::collections::BTreeSet;

use cel::extractors::This;
use cel::{Context, Program, Value as Cel};
use proptest::prelude::*;
use ytterby_kubevirt::evaluate::{Sizing, Status, complete_cpu, evaluate};
use ytterby_kubevirt::select::{self, RulesSource};
use ytterby_kubevirt::selection::{AnnotationOwner, selection};
use ytterby_kubevirt::value::Value;
use ytterby_kubevirt::{cel as export, rules};
use ytterby_text::quantity;

/// The rules of the windows templates, and one of each other kind.
const RULES: &str = r#"[
  {"name": "minimal-required-memory", "path": "jsonpath::.spec.domain.memory.guest", "rule": "integer",
   "message": "This VM requires more memory.", "min": 2147483648},
  {"name": "windows-virtio-bus", "path": "jsonpath::.spec.domain.devices.disks[*].disk.bus",
   "valid": "jsonpath::.spec.domain.devices.disks[*].disk.bus", "rule": "enum",
   "message": "virtio disk bus type has better performance", "values": ["virtio"], "justWarning": true},
  {"name": "windows-disk-bus", "path": "jsonpath::.spec.domain.devices.disks[*].disk.bus",
   "valid": "jsonpath::.spec.domain.devices.disks[*].disk.bus", "rule": "enum",
   "message": "disk bus has to be either virtio or sata or scsi", "values": ["virtio", "sata", "scsi"]},
  {"name": "windows-cd-bus", "path": "jsonpath::.spec.domain.devices.disks[*].cdrom.bus",
   "valid": "jsonpath::.spec.domain.devices.disks[*].cdrom.bus", "rule": "enum",
   "message": "cd bus has to be sata", "values": ["sata"]},
  {"name": "cores", "path": "jsonpath::.spec.domain.cpu.cores", "rule": "integer", "message": "m", "min": 1, "max": 4},
  {"name": "cores-if-cpu", "path": "jsonpath::.spec.domain.cpu.cores", "valid": "jsonpath::.spec.domain.cpu",
   "rule": "integer", "message": "m", "min": 1.5},
  {"name": "machine", "path": "jsonpath::.spec.domain.machine.type", "rule": "regex", "message": "m", "regex": "^(q35|pc.*)$"},
  {"name": "names", "path": "jsonpath::.spec.domain.devices.disks[*].name", "rule": "string", "message": "m", "minLength": 2, "maxLength": 4},
  {"name": "first", "path": "jsonpath::.spec.domain.devices.disks[0].bootOrder", "rule": "integer", "message": "m", "max": 2},
  {"name": "requests", "path": "jsonpath::.spec.domain.resources.requests.memory",
   "valid": "jsonpath::.spec.domain.resources.requests.memory", "rule": "integer", "message": "m", "max": "2Gi"},
  {"name": "selector", "path": "jsonpath::.spec.nodeSelector.a\\.b/c", "valid": "jsonpath::.spec.nodeSelector",
   "rule": "enum", "message": "m", "values": ["x", 4]},
  {"name": "dedicated", "path": "jsonpath::.spec.domain.cpu.dedicatedCpuPlacement", "rule": "enum", "message": "m", "values": [true]},
  {"name": "ports", "path": "jsonpath::.spec.domain.devices.interfaces[*].ports[*].port", "rule": "integer", "message": "m", "min": 1}
]"#;

fn object(members: Vec<(&str, Option<Value>)>) -> Value {
    let given = members.into_iter().filter_map(|(key, value)| Some((key.into(), value?)));
    Value::Object(given.collect())
}

fn maybe(strategy: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Option<Value>> {
    prop_oneof![1 => Just(None), 3 => strategy.prop_map(Some)].boxed()
}

fn text(choices: &'static [&'static str]) -> impl Strategy<Value = Value> {
    proptest::sample::select(choices).prop_map(Value::from)
}

fn int(range: std::ops::Range<i64>) -> impl Strategy<Value = Value> {
    range.prop_map(|value| Value::Int(i128::from(value)))
}

fn amount() -> impl Strategy<Value = Value> {
    prop_oneof![
        text(&["512Mi", "2Gi", "1.5Gi", "2.5Gi", "1500m", "3000M", "2147483648", "0.5", "4e9", "2147483647500m"]),
        int(0..5_000_000_000),
    ]
}

fn disk() -> impl Strategy<Value = Value> {
    let target = || maybe(text(&["virtio", "sata", "scsi", "ide", ""])).prop_map(|bus| object(vec![("bus", bus)]));
    (maybe(text(&["a", "root", "größe", "longer"])), maybe(target()), maybe(target()), maybe(int(0..4))).prop_map(
        |(name, disk, cdrom, order)| {
            object(vec![("name", name), ("disk", disk), ("cdrom", cdrom), ("bootOrder", order)])
        },
    )
}

fn interface() -> impl Strategy<Value = Value> {
    let port = maybe(int(0..3)).prop_map(|port| object(vec![("port", port)]));
    maybe(proptest::collection::vec(port, 0..3).prop_map(Value::Array)).prop_map(|ports| object(vec![("ports", ports)]))
}

fn vm() -> impl Strategy<Value = Value> {
    let cpu = (maybe(int(0..7)), maybe(any::<bool>().prop_map(Value::Bool)))
        .prop_map(|(cores, dedicated)| object(vec![("cores", cores), ("dedicatedCpuPlacement", dedicated)]));
    let memory = maybe(amount()).prop_map(|guest| object(vec![("guest", guest)]));
    let machine = maybe(text(&["q35", "q35\n", "pc-i440fx", "virt"])).prop_map(|kind| object(vec![("type", kind)]));
    let requests =
        maybe(amount()).prop_map(|memory| object(vec![("requests", Some(object(vec![("memory", memory)])))]));
    let devices = (
        maybe(proptest::collection::vec(disk(), 0..4).prop_map(Value::Array)),
        maybe(proptest::collection::vec(interface(), 0..3).prop_map(Value::Array)),
    )
        .prop_map(|(disks, interfaces)| object(vec![("disks", disks), ("interfaces", interfaces)]));
    let domain = (maybe(cpu), maybe(memory), maybe(machine), maybe(requests), maybe(devices)).prop_map(
        |(cpu, memory, machine, resources, devices)| {
            object(vec![
                ("cpu", cpu),
                ("memory", memory),
                ("machine", machine),
                ("resources", resources),
                ("devices", devices),
            ])
        },
    );
    let selector = maybe(text(&["x", "4", "y"])).prop_map(|value| object(vec![("a.b/c", value)]));
    (domain, maybe(selector)).prop_map(|(domain, selector)| {
        let spec = object(vec![("domain", Some(domain)), ("nodeSelector", selector)]);
        object(vec![("spec", Some(object(vec![("template", Some(object(vec![("spec", Some(spec))])))])))])
    })
}

fn to_cel(value: &Value) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(value) => Cel::Bool(*value),
        Value::Int(value) => Cel::Int(*value as i64),
        Value::Float(value) => Cel::Float(*value),
        Value::String(text) => Cel::from(text.to_string()),
        Value::Array(items) => Cel::from(items.iter().map(to_cel).collect::<Vec<_>>()),
        Value::Object(entries) => Cel::from(
            entries
                .iter()
                .map(|(key, value)| (key.to_string(), to_cel(value)))
                .collect::<std::collections::HashMap<_, _>>(),
        ),
    }
}

/// Kubernetes' additions to CEL, with quantities kept as text.
fn context(vm: &Value) -> Context<'static, 'static> {
    let exact = |text: &str| quantity(text).unwrap_or_else(|| panic!("{text} is no quantity"));
    let mut context = Context::default();
    context.add_variable_from_value("object", to_cel(vm));
    context.add_function("quantity", |text: std::sync::Arc<String>| text.to_string()).unwrap();
    context
        .add_function("compareTo", move |This(this): This<std::sync::Arc<String>>, other: std::sync::Arc<String>| {
            exact(&this).cmp(&exact(&other)) as i64
        })
        .unwrap();
    // As in Go, fractions and long numbers are not integers.
    context
        .add_function("isInteger", move |This(this): This<std::sync::Arc<String>>| {
            !this.contains('.') && !this.ends_with('m') && exact(&this).to_i64().is_some()
        })
        .unwrap();
    context
        .add_function("asApproximateFloat", move |This(this): This<std::sync::Arc<String>>| {
            exact(&this).to_string().parse::<f64>().unwrap()
        })
        .unwrap();
    context
        .add_function("join", |This(this): This<std::sync::Arc<Vec<Cel>>>, between: std::sync::Arc<String>| {
            let texts = this.iter().map(|item| match item {
                Cel::String(text) => text.to_string(),
                other => panic!("{other:?} is no text"),
            });
            texts.collect::<Vec<_>>().join(&between)
        })
        .unwrap();
    context
}

#[test]
fn messages_contain_value_and_bound() {
    let exported = export::export(&rules::parse(RULES).unwrap());
    let vm = r#"{"spec":{"template":{"spec":{"domain":{"memory":{"guest":"1.5Gi"},"cpu":{"cores":9},"machine":{"type":"virt"},
        "devices":{"disks":[{"name":"a","disk":{"bus":"virtio"}},{"name":"root","disk":{"bus":"ide"}},{"name":"longer","disk":{"bus":"usb"}}]}}}}}}"#;
    let context = context(&ytterby_kubevirt::json::parse(vm).unwrap().to_value());
    let message = |rule: &str| {
        let validation = exported.validations.iter().find(|validation| validation.rule == rule).unwrap();
        let text = validation.message_expression.as_ref().unwrap();
        match Program::compile(text).unwrap().execute(&context) {
            Ok(Cel::String(text)) => text.to_string(),
            other => panic!("{text}: {other:?}"),
        }
    };
    for (rule, expect) in [
        ("minimal-required-memory", "This VM requires more memory.: found 1.5Gi, expected at least 2Gi"),
        (
            "windows-disk-bus",
            "disk bus has to be either virtio or sata or scsi: found ide, usb, expected virtio or sata or scsi",
        ),
        ("cores", "m: found 9, expected 1 to 4"),
        ("names", "m: found a, longer, expected 2 to 4 characters"),
        ("machine", "m: found virt, expected a match of ^(q35|pc.*)$"),
    ] {
        assert_eq!(message(rule), expect);
    }
}

#[test]
fn every_kind_of_rule_is_exported() {
    let exported = export::export(&rules::parse(RULES).unwrap());
    assert_eq!(exported.refused, []);
    assert_eq!(exported.validations.len(), 13);
}

#[test]
fn inexpressible_rules_are_refused() {
    let rules = rules::parse(
        r#"[{"name":"a","rule":"enum","path":"jsonpath::..bus","message":"m","values":["x"]},
            {"name":"b","rule":"regex","path":"jsonpath::.spec.domain.machine.type","message":"m","regex":"(?=q)"},
            {"name":"c","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","max":"jsonpath::.spec.domain.cpu.sockets"},
            {"name":"d","rule":"integer","path":".spec","message":"m"},
            {"name":"e","rule":"float","path":"jsonpath::.spec","message":"m"},
            {"name":"f","rule":"integer","path":"jsonpath::.spec.domain.nothing","message":"m","min":1}]"#,
    )
    .unwrap();
    let exported = export::export(&rules);
    let refused: Vec<&str> = exported.refused.iter().map(|refused| refused.rule.as_str()).collect();
    assert_eq!(refused, ["a", "b", "c", "d", "f"]);
    assert!(exported.validations.is_empty());
}

#[test]
fn unusual_rules_compile_in_cel() {
    let rules = rules::parse(
        r#"[{"name":"quotes","rule":"enum","path":"jsonpath::.spec.domain.machine.type","message":"m","values":["a'b","c\\d","e\nf","\u2028","\u0000"]},
            {"name":"regex","rule":"regex","path":"jsonpath::.spec.domain.machine.type","message":"m","regex":"^a\\.'b\"$"},
            {"name":"keys","rule":"string","path":"jsonpath::.metadata.labels.a\\.b/c-d","message":"m","minLength":1},
            {"name":"word","rule":"string","path":"jsonpath::.metadata.annotations.in","message":"m","minLength":1},
            {"name":"root","rule":"integer","path":"jsonpath::","message":"m","min":1},
            {"name":"time","rule":"regex","path":"jsonpath::.metadata.creationTimestamp","message":"m","regex":"Z"},
            {"name":"port","rule":"enum","path":"jsonpath::.spec.readinessProbe.httpGet.port","message":"m","values":[8080]},
            {"name":"fraction","rule":"integer","path":"jsonpath::.spec.domain.memory.guest","message":"m","min":0.5,"max":1e30},
            {"name":"never","rule":"integer","path":"jsonpath::.spec.domain.memory.guest","message":"m","min":1e30},
            {"name":"always","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","max":1e400}]"#,
    )
    .unwrap();
    let exported = export::export(&rules);
    assert_eq!(exported.refused, []);
    for validation in &exported.validations {
        let program = Program::compile(&validation.expression);
        assert!(program.is_ok(), "{}: {}", validation.rule, validation.expression);
    }
    let vm = ytterby_kubevirt::json::parse(r#"{"spec":{"template":{"spec":{"domain":{"memory":{"guest":"1Gi"}}}}}}"#);
    let context = context(&vm.unwrap().to_value());
    let holds = |rule: &str| {
        let validation = exported.validations.iter().find(|validation| validation.rule == rule).unwrap();
        Program::compile(&validation.expression).unwrap().execute(&context)
    };
    assert_eq!(holds("fraction"), Ok(Cel::Bool(true)));
    assert_eq!(holds("never"), Ok(Cel::Bool(false)));
    assert_eq!(holds("time"), Ok(Cel::Bool(false)));
}

/// Labels or annotations that may name a template, in part, and rules.
fn place() -> impl Strategy<Value = Value> {
    (
        maybe(text(&["t", "u", ""])),
        maybe(text(&["ns", "other", ""])),
        maybe(text(&["ns", "old"])),
        maybe(text(&["", "[]", "RULES", "OTHER"])),
        prop_oneof![4 => Just(None), 1 => Just(Some(Value::from("false")))],
    )
        .prop_map(|(name, namespace, old, rules, skip)| {
            object(vec![
                ("vm.kubevirt.io/template", name),
                ("vm.kubevirt.io/template.namespace", namespace),
                ("vm.kubevirt.io/template-namespace", old),
                ("vm.kubevirt.io/validations", rules),
                ("vm.kubevirt.io/skip-validations", skip),
            ])
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A policy for the text RULES, which the template ns/t has, and any template u.
    #[test]
    fn policies_select_the_vms_that_the_webhook_applies_the_rules_to(labels in maybe(place()), annotations in maybe(place())) {
        let vm = object(vec![("metadata", Some(object(vec![("labels", labels), ("annotations", annotations)])))]);
        let expect = match select::source(&vm) {
            RulesSource::Own(text) => text == "RULES",
            RulesSource::Template { namespace, name } => (namespace, name) == ("ns", "t") || name == "u",
            RulesSource::Skipped => return Ok(()), // The policy has a condition of its own for these.
            RulesSource::Deleted | RulesSource::None => false,
        };
        let templates = BTreeSet::from([("ns", "t"), ("", "u")]);
        let expression = selection("RULES", &templates, AnnotationOwner::Vms).unwrap();
        let said = Program::compile(&expression).unwrap().execute(&context(&vm));
        prop_assert_eq!(said.as_ref().ok(), Some(&Cel::Bool(expect)), "{}\n{}\n{:?}", vm, expression, said);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cel_and_evaluate_agree(vm in vm()) {
        let rules = rules::parse(RULES).unwrap();
        let exported = export::export(&rules);
        let mut completed = vm.clone();
        complete_cpu(&mut completed);
        let outcomes = evaluate(&rules, &completed, &Sizing::Own);
        let context = context(&vm);
        // A message that cannot be evaluated is replaced by the plain one; otherwise it contains
        // what was found.
        for validation in &exported.validations {
            let Some(text) = &validation.message_expression else { continue };
            if let Ok(message) = Program::compile(text).unwrap().execute(&context) {
                let Cel::String(message) = message else { panic!("{message:?}") };
                prop_assert!(message.starts_with(&format!("{}: found ", validation.message)), "{}", message);
            }
        }
        for (outcome, validation) in outcomes.iter().zip(&exported.validations) {
            let satisfied = matches!(outcome.status, Status::Ok | Status::Skipped);
            let program = Program::compile(&validation.expression).unwrap();
            let said = program.execute(&context);
            prop_assert_eq!(
                said.as_ref().ok(), Some(&Cel::Bool(satisfied)),
                "{}: {:?} {}\n{}\n{:?}\n{}", outcome.rule, outcome.status, outcome.detail, validation.expression, said, vm
            );
        }
    }
}
