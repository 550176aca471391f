//! `kubevirt serve` as a process: ports, signals, the log, the deployment.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{Scratch, run};

/// A running server and its log so far.
struct Server {
    child: Child,
    log: BufReader<std::process::ChildStderr>,
    webhook: String,
    metrics: String,
}

impl Server {
    fn start(scratch: &Scratch, args: &[&str]) -> Server {
        let fixed = ["kubevirt", "serve", "--listen=127.0.0.1", "--webhook-port=0", "--metrics-port", "0"];
        let mut command = scratch.command(&[&fixed[..], args].concat());
        for name in ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HOME"] {
            command.env_remove(name);
        }
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let (mut webhook, mut metrics) = (String::new(), String::new());
        while metrics.is_empty() {
            let mut line = String::new();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "it ended");
            let event: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            let address = event["address"].as_str().unwrap_or_default().to_owned();
            match event["msg"].as_str().unwrap() {
                "serving webhook over HTTP" => webhook = address,
                "serving metrics over HTTP" => metrics = address,
                _ => {}
            }
        }
        Server { child, log, webhook, metrics }
    }

    fn end(mut self, signal: Signal) -> (i32, String) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

fn request(address: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let length = body.len();
    write!(stream, "{head} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn it_serves_until_a_signal() {
    let scratch = Scratch::with(&[(
        "t.yaml",
        "apiVersion: template.openshift.io/v1\nkind: Template\nmetadata:\n  name: t\n  annotations:\n    validations: |\n      [{\"name\":\"cores\",\"rule\":\"integer\",\"path\":\"jsonpath::.spec.domain.cpu.cores\",\"message\":\"few\",\"min\":2}]\nobjects: []\n",
    )]);
    for (signal, delay) in [(Signal::TERM, "0"), (Signal::INT, "60")] {
        let server = Server::start(&scratch, &["-t", "t.yaml", "--shutdown-delay", delay]);
        assert!(request(&server.webhook, "GET /readyz", "").ends_with("\r\n\r\nok"));
        let vm = r#"{"metadata":{"name":"v","namespace":"n","labels":{"vm.kubevirt.io/template":"t","vm.kubevirt.io/template.namespace":"x"}},"spec":{"template":{"spec":{"domain":{"cpu":{"cores":1}}}}}}"#;
        let body = format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE","resource":{{"group":"kubevirt.io","version":"v1","resource":"virtualmachines"}},"object":{vm}}}}}"#
        );
        let response = request(&server.webhook, "POST /virtualmachine-validate", &body);
        assert!(response.contains("few: value 1 is lower than the minimum 2"), "{response}");
        assert!(
            request(&server.metrics, "GET /metrics", "")
                .contains("\nkubevirt_ssp_template_validator_rejected_total 1\n")
        );
        let (code, log) = server.end(signal);
        assert_eq!(code, 0, "{log}");
        assert!(log.contains(r#""msg":"review refused","webhook":"virtualmachine","uid":"u","operation":"CREATE","object":"n/v","user":"","dryRun":false,"verdict":"invalid","code":422,"rules":["cores"]}"#), "{log}");
        assert!(log.lines().last().unwrap().contains(r#""msg":"stopped""#), "{log}");
    }
}

#[test]
fn failures_to_start_are_explained() {
    let scratch = Scratch::with(&[("broken.yaml", "a: [")]);
    let first = Server::start(&scratch, &[]);
    let port = first.webhook.rsplit_once(':').unwrap().1;
    let taken = ["kubevirt", "serve", "--no-cluster", "--listen", "127.0.0.1", "--webhook-port", port];
    let (code, _, log) = scratch.run(&taken);
    assert!(code == 2 && log.contains(&format!("cannot listen on 127.0.0.1:{port}: Address already in use")), "{log}");
    let (code, _, log) = scratch.run(&["kubevirt", "serve", "--no-cluster", "-t", "broken.yaml"]);
    assert!(code == 2 && log.contains("broken.yaml:1:"), "{log}");
    let (code, _, log) = scratch.run(&["kubevirt", "serve", "--kubeconfig", "missing"]);
    assert!(code == 2 && log.contains("missing: No such file"), "{log}");
    let (code, _, log) = scratch.run(&["kubevirt", "serve", "--wait"]);
    assert!(code == 2 && log.contains("unknown flag: --wait"), "{log}");
    assert!(run(&["kubevirt", "serve", "-V"]).1.starts_with(&format!("ytterby version {}", env!("CARGO_PKG_VERSION"))));
    first.end(Signal::INT);
}

/// The files in `deploy` are those that the templates render.
#[test]
fn the_rendered_deployments_are_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let templates = root.join("examples/kubevirt/webhook");
    let openshift = [
        "--data-value-yaml=monitoring.enabled=true",
        "--data-value-yaml=monitoring.dashboard=true",
        "--data-value=monitoring.namespace=openshift-monitoring",
    ];
    for (folder, values) in
        [("openshift", &openshift[..]), ("cert-manager", &["--data-value=certificates=cert-manager"])]
    {
        let image = "--data-value=image=registry.example.com/ytterby:0.1.0";
        let args = [&["-f", templates.to_str().unwrap(), image][..], values].concat();
        let path = root.join("deploy/kubevirt-webhook").join(folder).join("webhook.yaml");
        let is_same = run(&args).1 == std::fs::read_to_string(&path).unwrap();
        assert!(is_same, "render it again: ytterby {} > {}", args.join(" "), path.display());
    }
}

#[test]
fn monitoring_can_be_added() {
    let documents = deployment(&["monitoring={enabled: true, dashboard: true}"]);
    let of = |kind: &str| documents.iter().find(|document| document["kind"] == kind).unwrap();
    assert_eq!(of("ServiceMonitor")["spec"]["endpoints"][0]["port"], "metrics");
    // Alerts and panels use existing metrics.
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubevirt/src/server/metrics.rs");
    let known = std::fs::read_to_string(known).unwrap();
    let maps: Vec<_> = documents.iter().filter(|document| document["kind"] == "ConfigMap").collect();
    let dashboard = maps.iter().find_map(|map| map["data"]["ytterby-validator.json"].as_str()).unwrap();
    let dashboard: Value = serde_json::from_str(dashboard).unwrap();
    let texts = format!("{}{dashboard}", of("PrometheusRule"));
    let names = regex::Regex::new("(ytterby|kubevirt_ssp|process)_[a-z_]+").unwrap();
    let mut count = 0;
    for name in names.find_iter(&texts) {
        let name = name.as_str().trim_end_matches("_bucket");
        assert!(known.contains(&format!("\"{name}\"")), "{name}");
        count += 1;
    }
    assert!(count > 12, "{count}");
}

/// The documents of the example deployment.
fn deployment(values: &[&str]) -> Vec<Value> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kubevirt/webhook");
    let mut args = vec!["-f", example.to_str().unwrap(), "-v", "image=x", "-o", "json"];
    args.extend(values.iter().flat_map(|value| ["--data-value-yaml", *value]));
    let (code, out, err) = run(&args);
    assert_eq!(code, 0, "{err}");
    serde_json::Deserializer::from_str(&out).into_iter().map(Result::unwrap).collect()
}

#[test]
fn the_deployment_fits_the_server() {
    for (certificates, kinds) in [("service-ca", 9), ("cert-manager", 11), ("secret", 9)] {
        let values = [&*format!("certificates={certificates}"), "ca_certificate=PEM", "ratchet=true"];
        let documents = deployment(&values);
        assert_eq!(documents.len(), kinds, "{certificates}");
        let of = |kind: &str| documents.iter().find(|document| document["kind"] == kind).unwrap();
        let pod = &of("Deployment")["spec"]["template"]["spec"];
        // The server accepts the arguments.
        let container = &pod["containers"][0];
        let words = |key: &str| {
            container[key].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let command = [&words("command")[1..], &words("args"), &["--version".to_owned()]].concat();
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let (code, _, err) = run(&command);
        assert_eq!(code, 0, "{command:?}: {err}");
        // Objects refer to each other by existing names.
        let name = &of("ServiceAccount")["metadata"]["name"];
        assert_eq!(&pod["serviceAccountName"], name);
        assert_eq!(&of("ClusterRoleBinding")["subjects"][0]["name"], name);
        assert_eq!(of("Service")["spec"]["selector"], of("Deployment")["spec"]["template"]["metadata"]["labels"]);
        let hooks = of("ValidatingWebhookConfiguration")["webhooks"].as_array().unwrap();
        let paths: Vec<_> =
            hooks.iter().map(|hook| hook["clientConfig"]["service"]["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["/virtualmachine-validate", "/template-validate"]);
        assert_eq!(&hooks[0]["clientConfig"]["service"]["name"], &of("Service")["metadata"]["name"]);
        assert_eq!(hooks[0]["clientConfig"]["caBundle"].is_string(), certificates == "secret");
        let secret = &pod["volumes"][0]["secret"]["secretName"];
        match certificates {
            "service-ca" => assert_eq!(
                &of("Service")["metadata"]["annotations"]["service.beta.openshift.io/serving-cert-secret-name"],
                secret
            ),
            "cert-manager" => assert_eq!(&of("Certificate")["spec"]["secretName"], secret),
            _ => {}
        }
    }
}
