//! A real API server as the judge of exported CRDs: where `KUBE_APISERVER` and `ETCD` name binaries, both are started, and
//! 300 generated definitions are sent to the server. Needs `curl` and `openssl`.

use std::io::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::crd::{definition, generated};
use crate::support::export;

/// A process that ends with the test.
struct Process(Child);

impl Process {
    fn start(program: &str, args: &[String]) -> Process {
        let child = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Process(child.unwrap_or_else(|error| panic!("{program}: {error}")))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// Status and body of an answer; 0 if nobody answers.
fn ask(address: SocketAddr, path: &str, body: Option<&str>) -> (u16, String) {
    let mut curl = Command::new("curl");
    curl.args(["-sk", "-H", "Authorization: Bearer token", "-w", "\n%{http_code}"]);
    if body.is_some() {
        curl.args(["-H", "Content-Type: application/json", "--data-binary", "@-"]);
    }
    curl.arg(format!("https://{address}{path}")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = curl.spawn().expect("curl is installed");
    child.stdin.take().unwrap().write_all(body.unwrap_or_default().as_bytes()).unwrap();
    let output = String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned();
    let (text, status) = output.rsplit_once('\n').unwrap_or(("", "0"));
    (status.parse().unwrap_or(0), text.to_owned())
}

fn start(apiserver: &str, etcd: &str, scratch: &Path) -> (SocketAddr, [Process; 2]) {
    let (store, peers, address) = (free_address(), free_address(), free_address());
    let path = |name: &str| scratch.join(name).display().to_string();
    let store_process = Process::start(
        etcd,
        &[
            format!("--data-dir={}", path("etcd")),
            format!("--listen-client-urls=http://{store}"),
            format!("--advertise-client-urls=http://{store}"),
            format!("--listen-peer-urls=http://{peers}"),
            format!("--initial-advertise-peer-urls=http://{peers}"),
            format!("--initial-cluster=default=http://{peers}"),
        ],
    );
    let key = path("accounts.key");
    let made = Command::new("openssl").args(["genrsa", "-out", &key, "2048"]).stderr(Stdio::null()).status();
    assert!(made.expect("openssl is installed").success());
    std::fs::write(scratch.join("tokens.csv"), "token,admin,1,system:masters\n").unwrap();
    let server = Process::start(
        apiserver,
        &[
            format!("--etcd-servers=http://{store}"),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", address.port()),
            format!("--cert-dir={}", path("certificates")),
            "--service-account-issuer=https://localhost".to_owned(),
            format!("--service-account-signing-key-file={key}"),
            format!("--service-account-key-file={key}"),
            format!("--token-auth-file={}", path("tokens.csv")),
            "--authorization-mode=RBAC".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        ],
    );
    let until = Instant::now() + Duration::from_secs(180);
    while ask(address, "/readyz", None).0 != 200 {
        assert!(Instant::now() < until, "waited in vain for an API server that is ready");
        std::thread::sleep(Duration::from_millis(300));
    }
    (address, [server, store_process])
}

#[test]
fn a_real_server_accepts_crds() {
    let (Ok(apiserver), Ok(etcd)) = (std::env::var("KUBE_APISERVER"), std::env::var("ETCD")) else {
        return println!("skipped: KUBE_APISERVER and ETCD name no binaries");
    };
    if apiserver.starts_with("https://") {
        return println!("skipped: KUBE_APISERVER names a server, not a binary");
    }
    let scratch = std::env::temp_dir().join(format!("ytterby-crds-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let (address, processes) = start(&apiserver, &etcd, &scratch);
    let mut seed = 1u64;
    let mut refused = Vec::new();
    for _ in 0..300 {
        let bytes: Vec<u8> = (0..200)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 56) as u8
            })
            .collect();
        let schema = generated(&bytes);
        let body = definition(&export(&schema, "crd")["openAPIV3Schema"]).to_string();
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict";
        let (status, answer) = ask(address, path, Some(&body));
        if status != 201 {
            refused.push(format!("{status} {answer}\n{schema}\n{body}"));
        }
    }
    drop(processes);
    std::fs::remove_dir_all(&scratch).unwrap();
    assert!(refused.is_empty(), "{} of 300 refused, the first:\n{}", refused.len(), refused[0]);
}
