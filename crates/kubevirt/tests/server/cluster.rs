//! Rules and dependents from a cluster that is not always reachable.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use ytterby_kubevirt::instancetype::Instancetypes;
use ytterby_kubevirt::server::cluster::{Cluster, Connection, Pauses, find};
use ytterby_kubevirt::server::{KnownObjects, RunningServer};
use ytterby_kubevirt::value::{Value, quoted};

use super::api::{self, Api, nobody, resolver};
use super::client::Client;
use super::verdicts::{TEMPLATES, VMS, create, review, rules, vm};
use super::{Lines, Scratch, serve, wait_for};

/// As in a cluster, but in milliseconds; only a watch cannot be shorter than a second.
pub const PAUSES: Pauses = Pauses {
    first: Duration::from_millis(10),
    most: Duration::from_millis(50),
    absent: Duration::from_millis(50),
    watch: Duration::from_secs(240),
    grace: Duration::from_secs(10),
    stale: Duration::from_secs(120),
};

pub fn connection(cluster: &str, user: &str) -> Connection {
    let scratch = Scratch::new();
    let path = scratch.0.join("config");
    let text = format!(
        "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\nclusters: [{{name: k, cluster: {cluster}}}]\nusers: [{{name: u, user: {user}}}]\n"
    );
    std::fs::write(&path, text).unwrap();
    find(Some(&path), &|_| None, resolver).unwrap().unwrap()
}

pub fn plain(address: SocketAddr) -> Connection {
    connection(&format!("{{server: 'http://{address}'}}"), "{token: secret-token}")
}

fn start(connection: Connection, compat: bool) -> (RunningServer, Lines) {
    serve(|config| {
        config.policy.compat = compat;
        config.known = KnownObjects::new(Vec::new(), Instancetypes::default(), Some(Cluster::new(connection, PAUSES)));
    })
}

pub fn template(cores: u32) -> String {
    format!(
        r#","labels":{{"template.kubevirt.io/type":"base"}},"annotations":{{"validations":{}}}"#,
        quoted(&rules(cores))
    )
}

const REFERS: &str = r#","labels":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template.namespace":"ns"}"#;

pub fn is_ready(server: &RunningServer) -> bool {
    Client::plain(server.webhook).get("/readyz").status == 200
}

/// Whether a VM with this many cores, without own rules, is admitted.
pub fn admits(server: &RunningServer, cores: u32) -> bool {
    let response = Client::plain(server.webhook).post(VMS, create(&vm(cores, None))).review();
    response.get("allowed") == Some(&Value::Bool(true))
}

#[test]
fn rules_follow_the_templates_of_the_cluster() {
    let api = Api::start(None);
    api.put(api::TEMPLATES, "ns", "t", Some(&template(2)));
    for number in 0..5 {
        // More than one page of a list.
        api.put(api::TEMPLATES, "ns", &format!("other-{number}"), Some(""));
    }
    let (server, log) = start(plain(api.address), false);
    wait_for("the caches", || is_ready(&server));
    assert!(!admits(&server, 1) && admits(&server, 2));
    assert!(api.count("continue=4") > 0, "lists are read in parts");
    assert!(api.count("authorization: Bearer secret-token") > 0, "{:?}", api.state().requests);
    assert!(api.count("as=PartialObjectMetadataList") > 0 && api.count("as=PartialObjectMetadata;") > 0);

    api.put(api::TEMPLATES, "ns", "t", Some(&template(4)));
    wait_for("a change", || !admits(&server, 3));
    assert!(admits(&server, 4));
    api.put(api::TEMPLATES, "ns", "t", None);
    wait_for("a deletion", || admits(&server, 1));
    let response = Client::plain(server.webhook).post(VMS, create(&vm(1, None))).review().to_string();
    assert!(response.contains("no rules were checked: its template ns/t does not exist"), "{response}");
    api.put(api::TEMPLATES, "ns", "t", Some(&template(2)));
    wait_for("an addition", || !admits(&server, 1));

    // A bookmark advances the version; a closed watch loses nothing.
    api.say(api::TEMPLATES, r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"VERSION"}}}"#);
    let lists = api.count(&format!("GET {}?limit", api::TEMPLATES));
    let watches = api.count(&format!("GET {}?watch", api::TEMPLATES));
    std::thread::sleep(Duration::from_millis(50));
    api.cut(api::TEMPLATES);
    wait_for("another watch", || api.count(&format!("GET {}?watch", api::TEMPLATES)) > watches);
    assert_eq!(api.count(&format!("GET {}?limit", api::TEMPLATES)), lists, "nothing is listed again");
    let newest = api.state().requests.iter().rfind(|head| head.contains("templates?watch")).unwrap().clone();
    assert!(newest.contains("resourceVersion=10"), "it goes on from the bookmark: {newest}");

    // Missed events require a new list.
    api.forget(api::TEMPLATES);
    wait_for("a new list", || api.count(&format!("GET {}?limit", api::TEMPLATES)) > lists);
    api.put(api::TEMPLATES, "ns", "t", Some(&template(8)));
    wait_for("what is new", || !admits(&server, 7));
    // The same in the middle of a watch, then nonsense.
    api.say(api::TEMPLATES, r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"gone"}}"#);
    api.put(api::TEMPLATES, "ns", "t", Some(&template(3)));
    wait_for("a new list", || admits(&server, 3));
    api.state().requests.clear();
    api.say(api::TEMPLATES, "nonsense");
    wait_for("a complaint", || log.text().contains("an event of the API server cannot be read"));
    assert!(is_ready(&server), "what was read stays");
    assert!(!log.text().contains("secret-token"));
    let metrics = Client::plain(server.metrics).get("/metrics").text();
    assert!(metrics.contains("ytterby_cache_objects{cache=\"templates\"} 6\n"), "{metrics}");
    assert!(metrics.contains("ytterby_cache_synced{cache=\"virtualmachines\"} 1\n"), "{metrics}");
}

#[test]
fn readiness_reports_what_is_missing() {
    let api = Api::start(None);
    api.fail(api::TEMPLATES, Some(403));
    api.put(api::TEMPLATES, "ns", "t", Some(&template(2)));
    let (server, log) = start(plain(api.address), false);
    let not_ready = || Client::plain(server.webhook).get("/readyz");
    wait_for("the reason", || {
        not_ready().text().contains("the templates of the cluster cannot be read: the API server says 403: it says 403")
    });
    assert_eq!(not_ready().status, 503);
    assert_eq!(Client::plain(server.webhook).get("/healthz").text(), "ok");
    // No VM is admitted unchecked; VMs that need no template are answered.
    let response = Client::plain(server.webhook).post(VMS, create(&vm(1, None))).review();
    assert_eq!(response.at(&["status", "code"]), Some(&Value::Int(503)), "{response}");
    let response = Client::plain(server.webhook).post(VMS, create(&vm(2, Some(&rules(2))))).review();
    assert_eq!(response.get("allowed"), Some(&Value::Bool(true)));
    api.fail(api::TEMPLATES, None);
    wait_for("readiness", || is_ready(&server));
    assert!(!admits(&server, 1));
    assert_eq!(log.text().matches("cannot read from the cluster").count(), 1, "the same failure is told once");
    // Later failures keep what was read.
    api.fail(api::TEMPLATES, Some(500));
    wait_for("a complaint", || log.text().matches("cannot read from the cluster").count() > 1);
    assert!(is_ready(&server) && !admits(&server, 1));
}

#[test]
fn templates_may_be_installed_later() {
    for compat in [false, true] {
        let api = Api::start(None);
        api.fail(api::TEMPLATES, Some(404));
        let (server, log) = start(plain(api.address), compat);
        wait_for("readiness", || is_ready(&server));
        assert!(admits(&server, 1));
        assert!(log.text().contains("the cluster has no such API"));
        api.put(api::TEMPLATES, "ns", "t", Some(&template(2)));
        api.fail(api::TEMPLATES, None);
        wait_for("the API", || !admits(&server, 1));
        let lists = api.count(&format!("GET {}?limit", api::TEMPLATES));
        api.fail(api::TEMPLATES, Some(404));
        wait_for("its end", || admits(&server, 1));
        assert!(api.count(&format!("GET {}?limit", api::TEMPLATES)) >= lists + 3, "once is not enough");
    }
}

#[test]
fn a_repeatedly_failing_watch_restarts_with_a_list() {
    let api = Api::start(None);
    api.put(api::TEMPLATES, "ns", "t", Some(&template(2)));
    let (server, _log) = start(plain(api.address), false);
    wait_for("the caches", || is_ready(&server));
    // As after a cluster was restored: the version never existed.
    api.fail_watches(api::TEMPLATES, 504);
    api.put(api::TEMPLATES, "ns", "t", Some(&template(4)));
    wait_for("a new list", || !admits(&server, 3));
    assert!(is_ready(&server) && admits(&server, 4));
}

#[test]
fn an_api_server_may_start_later() {
    let (server, _) = start(plain(nobody()), false);
    wait_for("the reason", || {
        Client::plain(server.webhook)
            .get("/readyz")
            .text()
            .contains("the virtualmachines of the cluster cannot be read: 127.0.0.1")
    });
}

#[test]
fn a_template_with_vms_cannot_be_deleted() {
    let api = Api::start(None);
    api.put(api::VMS, "shop", "web", Some(REFERS));
    api.put(api::VMS, "shop", "db", Some(REFERS));
    api.put(api::VMS, "shop", "own", Some(&format!(r#"{REFERS},"annotations":{{"vm.kubevirt.io/validations":"[]"}}"#)));
    api.put(api::VMS, "shop", "free", Some(""));
    let (server, _) = start(plain(api.address), false);
    wait_for("the caches", || is_ready(&server));
    let template = format!(r#"{{"metadata":{{"name":"t","namespace":"ns"{}}}}}"#, template(2));
    let body = review("DELETE", "null", &template).replace("virtualmachines", "templates");
    let told = || Client::plain(server.webhook).post(TEMPLATES, &body).review();
    let response = told().to_string();
    assert!(response.contains(r#""message":"Template cannot be deleted, because the following VMs are referencing it for validation: shop/db, shop/web","reason":"Forbidden","code":403"#), "{response}");
    api.put(api::VMS, "shop", "web", None);
    // A VM that gets its own rules no longer needs the template.
    api.put(api::VMS, "shop", "db", Some(&format!(r#"{REFERS},"annotations":{{"vm.kubevirt.io/validations":"[]"}}"#)));
    wait_for("no more VMs", || told().get("allowed") == Some(&Value::Bool(true)));
}

#[test]
fn instance_types_are_filled_in_by_the_cluster() {
    let api = Api::start(None);
    let (server, _) = start(plain(api.address), false);
    let sized = vm(1, Some(&rules(4)))
        .replace("\"cpu\":{\"cores\":1},", "")
        .replace("\"spec\":{\"template\"", "\"spec\":{\"instancetype\":{\"name\":\"u1\"},\"template\"");
    let told = || Client::plain(server.webhook).post(VMS, create(&sized)).review().to_string();
    let response = told();
    assert!(response.contains("rule cores was skipped") && response.contains("\"allowed\":true"), "{response}");
    for (cores, allowed) in [(2, false), (4, true)] {
        api.state().expanded = Some(vm(cores, Some(&rules(4))));
        let response = told();
        assert_eq!(response.contains("\"allowed\":true"), allowed, "{response}");
    }
    assert!(api.count("PUT /apis/subresources.kubevirt.io/v1/namespaces/shop/expand-vm-spec") == 3);
}

#[test]
fn vms_do_not_wait_for_instance_types_of_others() {
    let api = Api::start(None);
    api.state().expansion = Duration::from_secs(2);
    let (server, _log) = start(plain(api.address), false);
    wait_for("the caches", || is_ready(&server));
    let answered = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let vm = vm(1, Some(&rules(2))).replacen(
                    "\"spec\":{",
                    "\"spec\":{\"instancetype\":{\"name\":\"large\"},",
                    1,
                );
                Client::plain(server.webhook).post(VMS, create(&vm)).review();
                answered.fetch_add(1, Ordering::SeqCst);
            });
        }
        wait_for("questions", || api.count("expand-vm-spec") >= 20);
        let response = Client::plain(server.webhook).post(VMS, create(&vm(1, Some(&rules(2))))).review();
        assert_eq!(response.at(&["status", "code"]), Some(&Value::Int(422)), "{response}");
        assert!(answered.load(Ordering::SeqCst) < 10, "most of the others still wait");
    });
}

#[test]
fn an_api_server_with_tls_is_trusted_by_its_authority_only() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let api = Api::start(Some(Arc::new(config)));
    let scratch = Scratch::new();
    let (authority, token) = (scratch.0.join("ca.crt"), scratch.0.join("token"));
    std::fs::write(&authority, made.cert.pem()).unwrap();
    std::fs::write(&token, "first\n").unwrap();
    let cluster = format!("{{server: 'https://{}', certificate-authority: '{}'}}", api.address, authority.display());
    let (server, _) = start(connection(&cluster, &format!("{{tokenFile: '{}'}}", token.display())), false);
    wait_for("the caches", || is_ready(&server));
    assert!(api.count("authorization: Bearer first\r\n") > 0);
    // A replaced token is used.
    std::fs::write(&token, "second\n").unwrap();
    wait_for("the new token", || {
        // The watch may not have begun yet.
        api.cut(api::VMS);
        api.count("authorization: Bearer second\r\n") > 0
    });

    let stranger = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(&authority, stranger.cert.pem()).unwrap();
    let (server, _) = start(connection(&cluster, "{}"), false);
    wait_for("the reason", || {
        Client::plain(server.webhook).get("/readyz").text().contains("TLS to the API server: invalid peer certificate")
    });
}

#[test]
fn a_real_api_server_is_read() {
    let Some(server) = std::env::var("KUBE_APISERVER").ok().filter(|server| server.starts_with("http")) else {
        eprintln!("SKIPPED: KUBE_APISERVER is no address of an API server");
        return;
    };
    let user = std::env::var("KUBE_TOKEN").map_or("{}".to_owned(), |token| format!("{{token: '{token}'}}"));
    let authority = std::env::var("KUBE_CA").map_or(String::new(), |path| format!(", certificate-authority: '{path}'"));
    let (server, log) = start(connection(&format!("{{server: '{server}'{authority}}}"), &user), false);
    wait_for("the caches", || is_ready(&server));
    assert!(admits(&server, 1), "{}", log.text());
}
