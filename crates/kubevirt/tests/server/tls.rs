//! Certificates, TLS options, slow clients, probes, metrics, and stopping a server.

use std::path::Path;
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;

use super::client::{Client, trusting, trusting_in};
use super::verdicts::{VMS, create, rules, vm};
use super::{Scratch, serve, wait_for};

/// Writes a new certificate and its key into a directory.
pub fn certify(directory: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(directory.join("tls.crt"), made.cert.pem()).unwrap();
    std::fs::write(directory.join("tls.key"), made.signing_key.serialize_pem()).unwrap();
    made.cert.der().clone()
}

#[test]
fn reviews_and_metrics_come_over_tls() {
    let scratch = Scratch::new();
    let certificate = certify(&scratch.0);
    let (server, _) = serve(|config| config.cert_dir = Some(scratch.0.clone()));
    for versions in [&[&rustls::version::TLS13], &[&rustls::version::TLS12]] {
        let mut client = Client::tls(server.webhook, trusting_in(&certificate, versions)).unwrap();
        let response = client.post(VMS, create(&vm(1, Some(&rules(2)))));
        assert!(response.text().contains("\"code\":422"), "{}", response.text());
    }
    let metrics = Client::tls(server.metrics, trusting(&certificate)).unwrap().get("/metrics").text();
    assert!(metrics.contains("\nkubevirt_ssp_template_validator_rejected_total 2\n"), "{metrics}");
    // Clients without TLS get no answer and do not affect others.
    let mut plain = Client::plain(server.webhook);
    plain.send("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert!(plain.receive().is_err());
    assert_eq!(Client::tls(server.webhook, trusting(&certificate)).unwrap().get("/readyz").text(), "ok");
}

#[test]
fn new_certificates_are_loaded_unless_broken() {
    let scratch = Scratch::new();
    let old = certify(&scratch.0);
    let (server, log) = serve(|config| config.cert_dir = Some(scratch.0.clone()));
    let answers = |certificate: &CertificateDer<'static>| Client::tls(server.webhook, trusting(certificate)).is_ok();
    let mut kept = Client::tls(server.webhook, trusting(&old)).unwrap();
    let new = certify(&scratch.0);
    wait_for("the new certificate", || answers(&new));
    assert!(!answers(&old));
    assert_eq!(kept.get("/readyz").status, 200, "a connection outlives its certificate");
    for broken in ["", "nonsense", "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"] {
        let before = log.text().matches("failed to load certificate").count();
        std::fs::write(scratch.0.join("tls.crt"), broken).unwrap();
        wait_for("a complaint", || log.text().matches("failed to load certificate").count() > before);
        assert!(answers(&new));
    }
    // A key of another certificate.
    std::fs::write(scratch.0.join("tls.key"), rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    std::fs::remove_file(scratch.0.join("tls.crt")).unwrap();
    wait_for("a complaint", || log.text().contains("tls.crt: No such file"));
    assert!(answers(&new));
    let newest = certify(&scratch.0);
    wait_for("the newest certificate", || answers(&newest));
    assert!(!log.text().contains("PRIVATE KEY"), "{}", log.text());
}

#[cfg(unix)]
#[test]
fn swapped_links_of_kubernetes_volumes_are_noticed() {
    use std::os::unix::fs::symlink;
    let scratch = Scratch::new();
    let certificate_in = |name: &str| {
        std::fs::create_dir(scratch.0.join(name)).unwrap();
        certify(&scratch.0.join(name))
    };
    let old = certificate_in("..1");
    symlink("..1", scratch.0.join("..data")).unwrap();
    for file in ["tls.crt", "tls.key"] {
        symlink(format!("..data/{file}"), scratch.0.join(file)).unwrap();
    }
    let (server, _) = serve(|config| config.cert_dir = Some(scratch.0.clone()));
    assert!(Client::tls(server.webhook, trusting(&old)).is_ok());
    let new = certificate_in("..2");
    symlink("..2", scratch.0.join("..data_tmp")).unwrap();
    std::fs::rename(scratch.0.join("..data_tmp"), scratch.0.join("..data")).unwrap();
    std::fs::remove_dir_all(scratch.0.join("..1")).unwrap();
    wait_for("the new certificate", || Client::tls(server.webhook, trusting(&new)).is_ok());
}

#[test]
fn a_server_without_a_certificate_waits_for_one() {
    let scratch = Scratch::new();
    let (server, log) = serve(|config| config.cert_dir = Some(scratch.0.clone()));
    assert!(log.text().contains("connections are refused until it is fixed"), "{}", log.text());
    let mut client = Client::plain(server.webhook);
    assert!(client.is_closed());
    let certificate = certify(&scratch.0);
    wait_for("the certificate", || Client::tls(server.webhook, trusting(&certificate)).is_ok());
}

#[test]
fn options_limit_versions_and_ciphers() {
    let (scratch, options) = (Scratch::new(), Scratch::new());
    let certificate = certify(&scratch.0);
    let write = |text: &str| std::fs::write(options.0.join("tls-config.json"), text).unwrap();
    write(r#"{"minTLSVersion":"1.3","openSSLCipherNames":["NO-SUCH"]}"#);
    let (server, log) = serve(|config| {
        config.cert_dir = Some(scratch.0.clone());
        config.tls_options_dir = options.0.clone();
    });
    let old = || Client::tls(server.webhook, trusting_in(&certificate, &[&rustls::version::TLS12])).is_ok();
    assert!(!old());
    assert!(Client::tls(server.webhook, trusting(&certificate)).is_ok());
    assert!(log.text().contains("\"name\":\"NO-SUCH\""), "{}", log.text());
    write(r#"{"minTLSVersion":"1.2","openSSLCipherNames":["ECDHE-ECDSA-AES128-GCM-SHA256"]}"#);
    wait_for("TLS 1.2", old);
    write("{broken");
    wait_for("a complaint", || log.text().contains("tls-config.json: "));
    assert!(old());
}

#[test]
fn slow_clients_are_disconnected() {
    let (server, _) = serve(|config| {
        config.limits.client = Duration::from_millis(800);
        config.limits.request = Duration::from_millis(1000);
        config.limits.idle = Duration::from_millis(4000);
    });
    let began = Instant::now();
    // Sending one byte at a time does not help.
    let mut dripping = Client::plain(server.webhook);
    let until = Instant::now() + Duration::from_secs(20);
    while dripping.send("G").is_ok() {
        assert!(Instant::now() < until, "a dripping client is served for ever");
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut silent = Client::plain(server.webhook);
    assert!(silent.is_closed());
    // A request with a missing body is answered.
    let mut half = Client::plain(server.webhook);
    half.send(format!(
        "POST {VMS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
    ))
    .unwrap();
    let response = half.receive().unwrap();
    assert_eq!(response.status, 408);
    assert!(half.is_closed());
    // The timeout between requests is longer.
    let mut idle = Client::plain(server.webhook);
    assert_eq!(idle.get("/healthz").text(), "ok");
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(idle.get("/healthz").text(), "ok");
    assert!(idle.is_closed());
    assert!(began.elapsed() < Duration::from_secs(20));
    let metrics = Client::plain(server.metrics).get("/metrics").text();
    assert!(metrics.contains("ytterby_connections_closed_total{reason=\"slow\"} 2\n"), "{metrics}");
}

#[test]
fn handshakes_time_out() {
    let scratch = Scratch::new();
    let certificate = certify(&scratch.0);
    let (server, _) = serve(|config| {
        config.cert_dir = Some(scratch.0.clone());
        config.limits.client = Duration::from_millis(800);
        config.limits.connections = 2;
    });
    let mut silent: Vec<Client> = (0..2).map(|_| Client::plain(server.webhook)).collect();
    assert!(silent.iter_mut().all(Client::is_closed));
    // Connections during a handshake make room, too.
    let silent: Vec<Client> = (0..10).map(|_| Client::plain(server.webhook)).collect();
    assert_eq!(Client::tls(server.webhook, trusting(&certificate)).unwrap().get("/healthz").text(), "ok");
    drop(silent);
}

#[test]
fn idle_connections_make_room_for_new_ones() {
    let (server, _) = serve(|config| config.limits.connections = 2);
    let mut first = Client::plain(server.webhook);
    assert_eq!(first.get("/healthz").status, 200);
    let mut second = Client::plain(server.webhook);
    assert_eq!(second.get("/healthz").status, 200);
    let mut third = Client::plain(server.webhook);
    assert_eq!(third.get("/healthz").status, 200);
    assert!(first.is_closed(), "the one that was idle longest had to go");
    // A hundred silent connections do not block others.
    let silent: Vec<Client> = (0..100).map(|_| Client::plain(server.webhook)).collect();
    assert_eq!(Client::plain(server.webhook).get("/healthz").status, 200);
    drop(silent);
}

#[test]
fn metrics_count_answers() {
    let (server, _) = serve(|_| {});
    let mut client = Client::plain(server.webhook);
    client.post(VMS, create(&vm(1, Some(&rules(2)))));
    client.post(VMS, create(&vm(2, Some(&rules(2)))));
    client.post(VMS, create("7"));
    let response = Client::plain(server.metrics).get("/metrics");
    assert!(
        response.head.to_ascii_lowercase().contains("content-type: text/plain; version=0.0.4"),
        "{}",
        response.head
    );
    let text = response.text();
    for line in [
        "kubevirt_ssp_template_validator_rejected_total 1",
        "ytterby_admission_requests_total{webhook=\"virtualmachine\",verdict=\"allowed\"} 1",
        "ytterby_admission_requests_total{webhook=\"virtualmachine\",verdict=\"invalid\"} 1",
        "ytterby_admission_requests_total{webhook=\"virtualmachine\",verdict=\"malformed\"} 1",
        "ytterby_admission_warnings_total{webhook=\"virtualmachine\"} 2",
        "ytterby_admission_duration_seconds_count{webhook=\"virtualmachine\"} 3",
        "ytterby_admission_duration_seconds_bucket{webhook=\"virtualmachine\",le=\"+Inf\"} 3",
        "ytterby_connections 2",
    ] {
        assert!(text.lines().any(|got| got == line), "{line}\n{text}");
    }
    // Every line is a comment or a sample, and every sample has its family before it.
    let mut family = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            family = rest.split(' ').next().unwrap();
        } else if !line.starts_with("# HELP ") {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with(family) && value.parse::<f64>().is_ok(), "{line}");
        }
    }
}

#[test]
fn requests_in_progress_are_finished_before_stopping() {
    let (server, log) = serve(|_| {});
    let (webhook, body) = (server.webhook, create(&vm(1, Some(&rules(2)))));
    let mut probe = Client::plain(webhook);
    assert_eq!(probe.get("/readyz").text(), "ok");
    let mut idle = Client::plain(webhook);
    assert_eq!(idle.get("/healthz").text(), "ok");
    let mut half = Client::plain(webhook);
    let head = format!(
        "POST {VMS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    half.send(format!("{head}{}", &body[..10])).unwrap();
    let stopping = std::thread::spawn(move || server.stop(Duration::from_secs(2)));
    wait_for("readiness to end", || probe.get("/readyz").status == 503);
    assert_eq!(Client::plain(webhook).get("/readyz").text(), "shutting down\n", "others are served meanwhile");
    assert!(idle.is_closed(), "an idle connection is closed in the end");
    half.send(&body[10..]).unwrap();
    assert!(half.receive().unwrap().text().contains("\"code\":422"));
    stopping.join().unwrap();
    assert!(std::net::TcpStream::connect(webhook).is_err(), "nobody listens any more");
    assert!(log.text().contains("\"msg\":\"stopped\""));
}
