//! Answers to well-formed reviews.

use std::sync::Arc;

use ytterby_kubevirt::admission::ReviewOptions;
use ytterby_kubevirt::instancetype::Instancetypes;
use ytterby_kubevirt::server::{FileTemplate, KnownObjects};
use ytterby_kubevirt::value::{Value, quoted};

use super::client::Client;
use super::serve;

pub const VMS: &str = "/virtualmachine-validate";
pub const TEMPLATES: &str = "/template-validate";

/// Requires this many cores, and has a remark on the machine.
pub fn rules(cores: u32) -> String {
    format!(
        r#"[{{"name":"cores","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"too few cores","min":{cores}}},
            {{"name":"machine","rule":"enum","path":"jsonpath::.spec.domain.machine.type","message":"old machine","values":["q35"],"justWarning":true}}]"#
    )
}

/// A VM with this many cores and these rules; without rules, it names a template.
pub fn vm(cores: u32, rules: Option<&str>) -> String {
    let metadata = match rules {
        Some(rules) => format!(r#""annotations":{{"vm.kubevirt.io/validations":{}}}"#, quoted(rules)),
        None => r#""labels":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template.namespace":"ns"}"#.to_owned(),
    };
    format!(
        r#"{{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{{"name":"web","namespace":"shop",{metadata}}},
            "spec":{{"template":{{"spec":{{"domain":{{"cpu":{{"cores":{cores}}},"machine":{{"type":"pc"}},"devices":{{}}}},
            "volumes":[{{"name":"c","cloudInitNoCloud":{{"userData":"password: hunter2"}}}}]}}}}}}}}"#
    )
}

/// A review of a VM.
pub fn review(operation: &str, object: &str, old: &str) -> String {
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u-1","operation":"{operation}",
            "resource":{{"group":"kubevirt.io","version":"v1","resource":"virtualmachines"}},"name":"web","namespace":"shop","object":{object},"oldObject":{old}}}}}"#
    )
}

pub fn create(object: &str) -> String {
    review("CREATE", object, "null")
}

#[test]
fn violations_are_causes_and_warnings() {
    let (server, log) = serve(|_| {});
    let mut client = Client::plain(server.webhook);
    let response = client.post(VMS, create(&vm(1, Some(&rules(2)))));
    assert_eq!(response.status, 200);
    assert!(response.head.to_ascii_lowercase().contains("content-type: application/json\r\n"), "{}", response.head);
    assert_eq!(
        response.text(),
        concat!(
            r#"{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-1","allowed":false,"#,
            r#""status":{"metadata":{},"message":"too few cores: value 1 is lower than the minimum 2","reason":"Invalid","#,
            r#""details":{"causes":[{"reason":"FieldValueInvalid","message":"too few cores: value 1 is lower than the minimum 2","#,
            r#""field":".spec.domain.cpu.cores"}]},"code":422},"warnings":["old machine: \"pc\" is not among \"q35\""]}}"#
        )
    );
    // The same connection can be used again.
    let response = client.post(VMS, create(&vm(2, Some(&rules(2)))));
    assert_eq!(
        response.review().to_string(),
        r#"{"uid":"u-1","allowed":true,"warnings":["old machine: \"pc\" is not among \"q35\""]}"#
    );
    let text = log.text();
    let refusal = text.lines().find(|line| line.contains("review refused")).unwrap();
    for part in [r#""uid":"u-1""#, r#""object":"shop/web""#, r#""verdict":"invalid""#, r#""rules":["cores"]"#] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn ratcheting_compares_whole_values() {
    let (server, _) = serve(|config| config.policy = ReviewOptions { compat: false, ratchet: true });
    let rule =
        r#"[{"name":"r","rule":"regex","path":"jsonpath::.spec.domain.machine.type","message":"m","regex":"^ok$"}]"#;
    let typed = |end: &str| vm(1, Some(rule)).replace("\"pc\"", &quoted(&format!("{}{end}", "a".repeat(300))));
    let mut client = Client::plain(server.webhook);
    for (new, is_allowed) in [("old", true), ("new", false)] {
        let response = client.post(VMS, review("UPDATE", &typed(new), &typed("old"))).review();
        assert_eq!(response.get("allowed"), Some(&Value::Bool(is_allowed)), "{response}");
    }
}

#[test]
fn answers_stay_small_however_large_values_are() {
    let rule = |number| {
        format!(
            r#"{{"name":"r{number}","rule":"regex","path":"jsonpath::.spec.domain.machine.type","message":"m","regex":"^q$"}}"#
        )
    };
    let rules = format!("[{}]", (0..50).map(rule).collect::<Vec<_>>().join(","));
    let vm = vm(1, Some(&rules)).replace("\"pc\"", &quoted(&"<".repeat(300_000)));
    for (compat, most) in [(false, 200_000), (true, 12_000_000)] {
        let (server, _log) = serve(|config| config.policy.compat = compat);
        let response = Client::plain(server.webhook).post(VMS, create(&vm));
        assert_eq!(response.review().at(&["status", "code"]), Some(&Value::Int(422)));
        assert!(response.text().len() < most, "{compat}: {}", response.text().len());
    }
}

#[test]
fn unreadable_rules_are_located() {
    let (server, _) = serve(|_| {});
    let mut client = Client::plain(server.webhook);
    let response = client.post(VMS, create(&vm(1, Some("[\n {\"name\" 1}]")))).review();
    assert_eq!(response.at(&["status", "code"]), Some(&Value::Int(400)));
    let message = response.at(&["status", "message"]).and_then(Value::as_str).unwrap();
    assert!(message.contains("line 2, column 10 of the annotation"), "{message}");
}

fn with_template(compat: bool) -> (super::RunningServer, super::Lines) {
    serve(|config| {
        let template = FileTemplate {
            name: "t".to_owned(),
            namespace: "ns".to_owned(),
            rules: Some(Arc::from(rules(4).as_str())),
        };
        config.known = KnownObjects::new(vec![template], Instancetypes::default(), None);
        config.policy.compat = compat;
    })
}

#[test]
fn templates_from_files_are_used() {
    for compat in [false, true] {
        let (server, _) = with_template(compat);
        let mut client = Client::plain(server.webhook);
        let response = client.post(VMS, create(&vm(1, None))).review();
        assert_eq!(response.get("allowed"), Some(&Value::Bool(false)), "{response}");
        assert_eq!(client.post(VMS, create(&vm(4, None))).review().get("allowed"), Some(&Value::Bool(true)));
        // Another template is unknown: the VM is admitted with a warning.
        let other = client.post(VMS, create(&vm(1, None).replace("\"t\"", "\"u\""))).review();
        assert_eq!(other.get("allowed"), Some(&Value::Bool(true)));
        assert_eq!(other.get("warnings").is_some(), !compat, "{other}");
    }
}

#[test]
fn updates_are_checked_as_a_whole_unless_ratcheting() {
    let rules = rules(4);
    let (broken, worse, fine) = (vm(2, Some(&rules)), vm(1, Some(&rules)), vm(4, Some(&rules)));
    for ratchet in [false, true] {
        let (server, _) = serve(|config| config.policy = ReviewOptions { compat: false, ratchet });
        let mut client = Client::plain(server.webhook);
        let mut allowed = |new: &str, old: &str| {
            let response = client.post(VMS, review("UPDATE", new, old)).review();
            (response.get("allowed") == Some(&Value::Bool(true)), response.to_string())
        };
        let (is_allowed, text) = allowed(&broken, &broken);
        assert_eq!(is_allowed, ratchet, "{text}");
        assert_eq!(text.contains("(as before this update)"), ratchet, "{text}");
        assert!(!allowed(&worse, &broken).0, "another value is another violation");
        assert!(!allowed(&broken, &fine).0, "a new violation");
        assert!(allowed(&fine, &broken).0);
        // An invalid rule is not the VM's fault, but an update cannot introduce it.
        let no_path = vm(4, Some(r#"[{"name":"a","rule":"integer","message":"m"}]"#));
        assert!(!allowed(&no_path, &no_path).0);
    }
}

#[test]
fn deletions_and_subresources_are_admitted() {
    let (server, _) = serve(|_| {});
    let mut client = Client::plain(server.webhook);
    let broken = vm(1, Some(&rules(2)));
    for body in [
        review("DELETE", "null", &broken),
        create(&broken)
            .replace("\"name\":\"web\",\"namespace\":\"shop\",\"object\"", "\"subResource\":\"status\",\"object\""),
        create(
            &broken.replace("\"name\":\"web\",", "\"name\":\"web\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\","),
        ),
        create(&broken.replace("validations\":", "validations\":\"[]\",\"vm.kubevirt.io/skip-validations\":")),
    ] {
        let response = client.post(VMS, &body).review();
        assert_eq!(response.to_string(), r#"{"uid":"u-1","allowed":true}"#, "{body}");
    }
}

#[test]
fn without_a_cluster_templates_cannot_be_deleted() {
    let template = r#"{"metadata":{"name":"t","namespace":"ns","labels":{"template.kubevirt.io/type":"base"},"annotations":{"validations":"[]"}}}"#;
    let body = |operation: &str, resource: &str| {
        review(operation, "null", template)
            .replace("virtualmachines", resource)
            .replace("kubevirt.io\",\"v", "template.openshift.io\",\"v")
    };
    let (server, _) = serve(|_| {});
    let mut client = Client::plain(server.webhook);
    let response = client.post(TEMPLATES, body("DELETE", "templates")).review().to_string();
    assert!(response.starts_with(r#"{"uid":"u-1","allowed":true,"warnings":["#), "{response}");
    let response = client.post(TEMPLATES, body("UPDATE", "templates")).review().to_string();
    assert_eq!(response, r#"{"uid":"u-1","allowed":true}"#);
    let response = client.post(TEMPLATES, body("DELETE", "secrets")).review().to_string();
    assert!(response.contains("to be 'templates'") && response.contains("\"code\":400"), "{response}");
}

#[test]
fn the_answer_has_the_version_of_the_review() {
    let (server, _) = serve(|_| {});
    let mut client = Client::plain(server.webhook);
    let body = create(&vm(2, Some(&rules(2)))).replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
    let response = client.post(VMS, body).json();
    assert_eq!(response.get("apiVersion").and_then(Value::as_str), Some("admission.k8s.io/v1beta1"));
}
