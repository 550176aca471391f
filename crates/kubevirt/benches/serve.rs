//! Measures reviews per second, their latency, and the growth of memory.
//!
//! Run with `cargo bench -p ytterby-kubevirt --features server --bench serve`. Prints a line; no
//! time is asserted, because machines differ.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use client::Client;
use ytterby_kubevirt::admission::ReviewOptions;
use ytterby_kubevirt::server::log::Log;
use ytterby_kubevirt::server::{ClientLimits, KnownObjects, ServerConfig, start};
use ytterby_kubevirt::value::quoted;

#[path = "../tests/server/client.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod client;

const THREADS: usize = 8;
const REVIEWS: usize = 100_000;

/// A review of a VM that must have two cores.
fn review(cores: usize) -> String {
    let rules =
        r#"[{"name":"cores","rule":"integer","path":"jsonpath::.spec.domain.cpu.cores","message":"m","min":2}]"#;
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE",
            "resource":{{"group":"kubevirt.io","version":"v1","resource":"virtualmachines"}},
            "object":{{"metadata":{{"name":"web","annotations":{{"vm.kubevirt.io/validations":{}}}}},
            "spec":{{"template":{{"spec":{{"domain":{{"cpu":{{"cores":{cores}}}}}}}}}}}}}}}}}"#,
        quoted(rules)
    )
}

fn resident(metrics: SocketAddr) -> u64 {
    let text = Client::plain(metrics).get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    line.and_then(|bytes| bytes.parse().ok()).expect("metrics tell of the memory")
}

/// A VM of 78 kB whose 500 patterns take exponential time on each of its 50 disks.
fn attack() -> String {
    let rule = |name: usize| {
        format!(
            r#"{{"name":"r{name}","rule":"regex","path":"jsonpath::.spec.domain.devices.disks[*].name","message":"m","regex":"(a+)+$"}}"#
        )
    };
    let rules = format!("[{}]", (0..500).map(rule).collect::<Vec<_>>().join(","));
    let disks = vec![format!(r#"{{"name":"{}b"}}"#, "a".repeat(30)); 50].join(",");
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","operation":"CREATE","dryRun":true,
            "namespace":"evil","userInfo":{{"username":"mallory"}},
            "resource":{{"group":"kubevirt.io","version":"v1","resource":"virtualmachines"}},
            "object":{{"metadata":{{"name":"web","annotations":{{"vm.kubevirt.io/validations":{}}}}},
            "spec":{{"template":{{"spec":{{"domain":{{"devices":{{"disks":[{disks}]}}}}}}}}}}}}}}}}"#,
        quoted(&rules)
    )
}

/// The latency of other clients' reviews while this many clients attack.
fn under_attack(server: SocketAddr, attackers: usize) -> (Vec<Duration>, usize) {
    let (is_over, attacks) = (AtomicBool::new(false), AtomicUsize::new(0));
    let body = attack();
    let times = std::thread::scope(|scope| {
        for _ in 0..attackers {
            scope.spawn(|| {
                let mut client = Client::plain(server);
                while !is_over.load(Relaxed) {
                    client.post("/virtualmachine-validate", &body);
                    attacks.fetch_add(1, Relaxed);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(1));
        let (mut client, fine) = (Client::plain(server), review(2));
        let take = |_| {
            std::thread::sleep(Duration::from_millis(5));
            let began = Instant::now();
            assert_eq!(client.post("/virtualmachine-validate", &fine).status, 200);
            began.elapsed()
        };
        let mut times: Vec<Duration> = (0..1000).map(take).collect();
        is_over.store(true, Relaxed);
        times.sort();
        times
    });
    (times, attacks.into_inner())
}

/// The latency of this many reviews, sorted.
fn round(server: SocketAddr, reviews: usize) -> Vec<Duration> {
    // One in ten is refused.
    let bodies: Vec<String> = (1..=10).map(review).collect();
    let worker = || {
        let mut client = Client::plain(server);
        let take = |number: usize| {
            let began = Instant::now();
            assert_eq!(client.post("/virtualmachine-validate", &bodies[number % bodies.len()]).status, 200);
            began.elapsed()
        };
        (0..reviews / THREADS).map(take).collect::<Vec<_>>()
    };
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker goes through")).collect()
    });
    times.sort();
    times
}

fn main() {
    let server = start(ServerConfig {
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        webhook_port: 0,
        metrics_port: 0,
        cert_dir: None,
        tls_options_dir: "/nowhere".into(),
        reload_every: Duration::from_secs(1),
        policy: ReviewOptions::default(),
        limits: ClientLimits::default(),
        known: KnownObjects::default(),
        log: Arc::new(Log::to(Box::new(std::io::sink()), 0)),
    })
    .expect("the server starts");
    round(server.webhook, REVIEWS / 10);
    let before = resident(server.metrics);
    let began = Instant::now();
    let times = round(server.webhook, REVIEWS);
    let rate = times.len() as f64 / began.elapsed().as_secs_f64();
    let after = resident(server.metrics);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{} reviews on {THREADS} connections: {rate:.0}/s, p50 {:?}, p99 {:?}", times.len(), at(50), at(99));
    for attackers in [4, 32] {
        let (times, attacks) = under_attack(server.webhook, attackers);
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        println!(
            "{attackers} attackers ({attacks} reviews of {} kB): others p50 {:?}, p99 {:?}, max {:?}",
            attack().len() / 1000,
            at(50),
            at(99),
            at(100)
        );
    }
    println!("memory: {} KiB before, {} KiB after", before / 1024, after / 1024);
}
