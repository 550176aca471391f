//! Against a real API server: where `KUBE_APISERVER` and `ETCD` name binaries, both are started for
//! the test.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use ytterby_kubevirt::admission::{self, ParentTemplate, ReviewOptions, Surroundings, UnknownReason};
use ytterby_kubevirt::instancetype::Instancetypes;
use ytterby_kubevirt::selection::{AnnotationOwner, selection};
use ytterby_kubevirt::server::KnownObjects;
use ytterby_kubevirt::server::cluster::Cluster;
use ytterby_kubevirt::value::{Value, quoted};
use ytterby_kubevirt::{cel, json, rules};

use super::client::{Client, trusting};
use super::cluster::{PAUSES, connection};
use super::verdicts::{create, rules as rules_of};
use super::{Scratch, serve};

#[path = "../../../../tests/api_server.rs"]
mod api_server;

/// An API server with its store.
struct RealCluster {
    address: SocketAddr,
    certificate: CertificateDer<'static>,
    authority: PathBuf,
    _processes: [api_server::Process; 2],
}

const TOKEN: &str = "a-token-for-the-test";

impl RealCluster {
    fn start(binaries: &[String; 2], scratch: &Path) -> RealCluster {
        let path = |name: &str| scratch.join(name).display().to_string();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let accounts = rcgen::KeyPair::generate().unwrap();
        for (name, text) in [
            ("api.crt", made.cert.pem()),
            ("api.key", made.signing_key.serialize_pem()),
            ("accounts.key", accounts.serialize_pem()),
            ("accounts.pub", accounts.public_key_pem()),
        ] {
            std::fs::write(scratch.join(name), text).unwrap();
        }
        let identity = [
            format!("--tls-cert-file={}", path("api.crt")),
            format!("--tls-private-key-file={}", path("api.key")),
            format!("--service-account-signing-key-file={}", path("accounts.key")),
            format!("--service-account-key-file={}", path("accounts.pub")),
        ];
        let (address, processes) = api_server::start(binaries, scratch, TOKEN, &identity);
        let certificate = made.cert.der().clone();
        let cluster = RealCluster { address, certificate, authority: scratch.join("api.crt"), _processes: processes };
        cluster.wait("an API server that is ready", || cluster.status("GET", "/readyz", "") == 200);
        cluster
    }

    fn wait(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let until = Instant::now() + Duration::from_secs(120);
        while !is_so() {
            assert!(Instant::now() < until, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// Status, head and body of an answer; `None` if there is none.
    fn ask(&self, method: &str, path: &str, body: &str) -> Option<(u16, String, Value)> {
        let mut client = Client::tls(self.address, trusting(&self.certificate)).ok()?;
        let length = body.len();
        // HTTP 1.0 has no chunks: the answer ends with the connection.
        let request = format!(
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        client.send(request).ok()?;
        let text = client.rest();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some((status, head.to_owned(), json::read(body.as_bytes()).unwrap_or(Value::Null)))
    }

    fn status(&self, method: &str, path: &str, body: &str) -> u16 {
        self.ask(method, path, body).map_or(0, |(status, _, _)| status)
    }

    fn make(&self, path: &str, body: &str) {
        let (status, _, answer) = self.ask("POST", path, body).expect("the API server answers");
        assert_eq!(status, 201, "{path}: {answer}");
    }

    /// Tries to store a VM.
    fn try_vm(&self, vm: &str) -> (u16, String, String) {
        let path = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines?dryRun=All";
        let (status, head, answer) = self.ask("POST", path, vm).expect("the API server answers");
        (status, head, answer.get("message").and_then(Value::as_str).unwrap_or_default().to_owned())
    }
}

fn crd(group: &str, plural: &str, kind: &str, versions: &str) -> String {
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"{plural}.{group}"}},
            "spec":{{"group":"{group}","scope":"Namespaced","names":{{"plural":"{plural}","kind":"{kind}"}},"versions":[
            {{"name":"{versions}","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}]}}}}"#
    )
}

fn registration(url: &str, authority: &str) -> String {
    use base64::Engine;
    let authority = base64::engine::general_purpose::STANDARD.encode(authority);
    format!(
        r#"{{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration","metadata":{{"name":"vms"}},
            "webhooks":[{{"name":"virtualmachines.template-validator.kubevirt.io","clientConfig":{{"url":"{url}","caBundle":"{authority}"}},
            "rules":[{{"apiGroups":["kubevirt.io"],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["virtualmachines"]}}],
            "failurePolicy":"Fail","sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":10}}]}}"#
    )
}

/// A VM with this many cores and this metadata besides its name.
fn vm(number: usize, cores: usize, metadata: &str) -> String {
    let machine = if number.is_multiple_of(2) { "q35" } else { "pc" };
    format!(
        r#"{{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{{"name":"vm-{number}","namespace":"shop"{metadata}}},
            "spec":{{"template":{{"spec":{{"domain":{{"cpu":{{"cores":{cores}}},"machine":{{"type":"{machine}"}},"devices":{{}}}}}}}}}}}}"#
    )
}

/// All ways to name a template or to have rules.
fn metadata(number: usize) -> String {
    let [name, new, old] =
        ["vm.kubevirt.io/template", "vm.kubevirt.io/template.namespace", "vm.kubevirt.io/template-namespace"];
    let own = |text: &str| format!(r#","annotations":{{"vm.kubevirt.io/validations":{}}}"#, quoted(text));
    match number % 10 {
        0 => format!(r#","labels":{{"{name}":"t","{new}":"ns"}}"#),
        1 => format!(r#","annotations":{{"{name}":"t","{old}":"ns"}}"#),
        2 => format!(r#","labels":{{"{name}":"t"}}"#),
        3 => format!(r#","labels":{{"{name}":"t"}},"annotations":{{"{new}":"ns"}}"#),
        4 => format!(r#","labels":{{"{name}":"u","{new}":"ns"}},"annotations":{{"{name}":"t","{new}":"ns"}}"#),
        5 => format!(r#","labels":{{"{name}":"t","{new}":"ns"}}{}"#, own("[]")),
        6 => own(&rules_of(4)),
        7 => {
            format!(r#","labels":{{"{name}":"t","{new}":"ns"}},"annotations":{{"vm.kubevirt.io/skip-validations":""}}"#)
        }
        8 => format!(r#","labels":{{"{name}":"t","{new}":"other","{old}":"ns"}}"#),
        _ => String::new(),
    }
}

/// Knows the one template of the cluster.
struct Here;

impl Surroundings for Here {
    fn template(&self, namespace: &str, name: &str) -> ParentTemplate {
        if (namespace, name) == ("ns", "t") {
            ParentTemplate::Rules(rules_of(4).into())
        } else {
            ParentTemplate::Absent
        }
    }

    fn dependents(&self, _: &str, _: &str) -> Result<Vec<String>, UnknownReason> {
        Err(UnknownReason::NoCluster)
    }

    fn expand(&self, _: &mut Value) -> bool {
        false
    }
}

fn admits(vm: &str) -> bool {
    admission::virtual_machine(create(vm).as_bytes(), ReviewOptions::default(), &Here).verdict.code() == 200
}

/// The policy of the template's rules that deny, with its binding.
fn policy() -> [String; 2] {
    let exported = cel::export(&rules::parse(&rules_of(4)).unwrap());
    let selected = selection(&rules_of(4), &BTreeSet::from([("ns", "t")]), AnnotationOwner::Vms).unwrap();
    let skip =
        "!(has(object.metadata.annotations) && 'vm.kubevirt.io/skip-validations' in object.metadata.annotations)";
    let validations: Vec<String> = exported
        .validations
        .iter()
        .filter(|validation| !validation.just_warning)
        .map(|validation| {
            let message = validation.message_expression.as_ref().unwrap();
            format!(r#"{{"expression":{},"messageExpression":{}}}"#, quoted(&validation.expression), quoted(message))
        })
        .collect();
    let policy = format!(
        r#"{{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{{"name":"t"}},"spec":{{
            "failurePolicy":"Fail","matchConstraints":{{"resourceRules":[{{"apiGroups":["kubevirt.io"],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["virtualmachines"]}}]}},
            "matchConditions":[{{"name":"selected","expression":{}}},{{"name":"not-skipped","expression":{}}}],
            "validations":[{}]}}}}"#,
        quoted(&selected),
        quoted(skip),
        validations.join(",")
    );
    let binding = r#"{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"t"},"spec":{"policyName":"t","validationActions":["Deny"]}}"#;
    [policy, binding.to_owned()]
}

#[test]
fn webhook_and_policies_agree_in_a_real_cluster() {
    let Some(binaries) = api_server::binaries() else { return };
    let scratch = Scratch::new();
    let cluster = RealCluster::start(&binaries, &scratch.0);
    for namespace in ["shop", "ns"] {
        let body = format!(r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{namespace}"}}}}"#);
        cluster.make("/api/v1/namespaces", &body);
    }
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    cluster.make(crds, &crd("kubevirt.io", "virtualmachines", "VirtualMachine", "v1"));
    cluster.make(crds, &crd("template.openshift.io", "templates", "Template", "v1"));
    cluster.wait("the new kinds", || {
        cluster.status("GET", "/apis/kubevirt.io/v1/virtualmachines", "") == 200
            && cluster.status("GET", "/apis/template.openshift.io/v1/templates", "") == 200
    });
    let template = format!(
        r#"{{"apiVersion":"template.openshift.io/v1","kind":"Template","metadata":{{"name":"t","namespace":"ns","annotations":{{"validations":{}}}}}}}"#,
        quoted(&rules_of(4))
    );
    cluster.make("/apis/template.openshift.io/v1/namespaces/ns/templates", &template);

    // The server, with a certificate that will be replaced.
    let certificates = Scratch::new();
    let certify = || {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    };
    let place = |(certificate, key): &(String, String)| {
        std::fs::write(certificates.0.join("tls.crt"), certificate).unwrap();
        std::fs::write(certificates.0.join("tls.key"), key).unwrap();
    };
    let (first, second) = (certify(), certify());
    place(&first);
    let server =
        format!("{{server: 'https://{}', certificate-authority: '{}'}}", cluster.address, cluster.authority.display());
    let known = Cluster::new(connection(&server, &format!("{{token: {TOKEN}}}")), PAUSES);
    let (server, log) = serve(|config| {
        config.cert_dir = Some(certificates.0.clone());
        config.known = KnownObjects::new(Vec::new(), Instancetypes::default(), Some(known));
    });
    cluster.wait("the caches", || log.text().matches("\"msg\":\"read\"").count() >= 2);

    // Admitted, refused, warned.
    let url = format!("https://{}/virtualmachine-validate", server.webhook);
    let hooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    cluster.make(hooks, &registration(&url, &format!("{}{}", first.0, second.0)));
    let refused = vm(1, 1, &metadata(0));
    cluster.wait("the registration", || cluster.try_vm(&refused).0 == 422);
    let (_, head, message) = cluster.try_vm(&refused);
    assert!(message.contains("too few cores: value 1 is lower than the minimum 4"), "{message}");
    assert!(head.contains("old machine"), "{head}");
    let (status, head, _) = cluster.try_vm(&vm(1, 4, &metadata(0)));
    assert_eq!(status, 201);
    assert!(head.to_ascii_lowercase().contains("warning: 299"), "{head}");

    // The certificate is replaced without failed requests.
    place(&second);
    std::thread::sleep(Duration::from_millis(500));
    let webhook: Vec<u16> = (0..200).map(|n| cluster.try_vm(&vm(n, n % 7, &metadata(n))).0).collect();

    // The policies instead of the webhook.
    assert_eq!(cluster.status("DELETE", &format!("{hooks}/vms"), ""), 200);
    cluster.wait("its end", || cluster.try_vm(&refused).0 == 201);
    let [policy, binding] = policy();
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    cluster.make(policies, &policy);
    cluster.make(&policies.replace("policies", "policybindings"), &binding);
    cluster.wait("the policy", || cluster.try_vm(&refused).0 == 422);
    let (_, _, message) = cluster.try_vm(&refused);
    assert!(message.contains("too few cores: found 1, expected at least 4"), "{message}");
    let policies: Vec<u16> = (0..200).map(|n| cluster.try_vm(&vm(n, n % 7, &metadata(n))).0).collect();

    let mut refusals = 0;
    for number in 0..200 {
        let vm = vm(number, number % 7, &metadata(number));
        let expect = if admits(&vm) { 201 } else { 422 };
        refusals += usize::from(expect == 422);
        assert_eq!((webhook[number], policies[number]), (expect, expect), "{vm}");
    }
    assert!((20..180).contains(&refusals), "{refusals}");
}
