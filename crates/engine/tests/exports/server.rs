//! Sends 300 generated CRDs to a real API server, if `KUBE_APISERVER` and `ETCD` name its binaries.
//! Needs `curl` and `openssl`.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::crd::{definition, generated};
use crate::support::export;

#[path = "../../../../tests/api_server.rs"]
mod api_server;

const TOKEN: &str = "token";

/// Status and body of an answer; 0 if there is none.
fn ask(address: SocketAddr, path: &str, body: Option<&str>) -> (u16, String) {
    let mut curl = Command::new("curl");
    curl.args(["-sk", "-H", &format!("Authorization: Bearer {TOKEN}"), "-w", "\n%{http_code}"]);
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

fn start(binaries: &[String; 2], scratch: &Path) -> (SocketAddr, [api_server::Process; 2]) {
    let path = |name: &str| scratch.join(name).display().to_string();
    let key = path("accounts.key");
    let made = Command::new("openssl").args(["genrsa", "-out", &key, "2048"]).stderr(Stdio::null()).status();
    assert!(made.expect("openssl is installed").success());
    let identity = [
        format!("--cert-dir={}", path("certificates")),
        format!("--service-account-signing-key-file={key}"),
        format!("--service-account-key-file={key}"),
    ];
    let (address, processes) = api_server::start(binaries, scratch, TOKEN, &identity);
    let until = Instant::now() + Duration::from_secs(180);
    while ask(address, "/readyz", None).0 != 200 {
        assert!(Instant::now() < until, "waited in vain for an API server that is ready");
        std::thread::sleep(Duration::from_millis(300));
    }
    (address, processes)
}

#[test]
fn a_real_server_accepts_crds() {
    let Some(binaries) = api_server::binaries() else { return };
    let scratch = std::env::temp_dir().join(format!("ytterby-crds-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let (address, processes) = start(&binaries, &scratch);
    // Other seeds give other schemas.
    let mut seed = std::env::var("YTTERBY_SEED").map_or(1u64, |seed| seed.parse().expect("a number"));
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
