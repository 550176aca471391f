//! Many requests: how many a second, how long the slowest take, and whether memory grows.
//!
//! By hand: `cargo test -p ytterby-kubevirt --features server --test server -- --ignored --nocapture load`.

use std::time::{Duration, Instant};

use super::client::{Client, trusting};
use super::tls::certify;
use super::verdicts::{VMS, create, rules, vm};
use super::{Scratch, serve};

const THREADS: usize = 8;
const REQUESTS: usize = 100_000;

fn resident(client: &mut Client) -> u64 {
    let text = client.get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix("process_resident_memory_bytes "));
    line.and_then(|bytes| bytes.parse().ok()).expect("metrics tell of the memory")
}

#[test]
#[ignore = "takes a while; run it by hand"]
fn load() {
    let scratch = Scratch::new();
    let certificate = certify(&scratch.0);
    let (server, _) = serve(|config| {
        config.cert_dir = Some(scratch.0.clone());
        config.log = std::sync::Arc::new(ytterby_kubevirt::server::log::Log::to(Box::new(std::io::sink()), 0));
    });
    let mut metrics = Client::tls(server.metrics, trusting(&certificate)).unwrap();
    // One in ten is refused.
    let bodies: Vec<String> = (0..10).map(|number| create(&vm(1 + number, Some(&rules(2))))).collect();
    let round = |requests: usize| {
        let began = Instant::now();
        let times: Vec<Duration> = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        let mut client = Client::tls(server.webhook, trusting(&certificate)).unwrap();
                        let mut times = Vec::new();
                        for number in 0..requests / THREADS {
                            let began = Instant::now();
                            assert_eq!(client.post(VMS, &bodies[number % bodies.len()]).status, 200);
                            times.push(began.elapsed());
                        }
                        times
                    })
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        (times, began.elapsed())
    };
    round(REQUESTS / 10);
    let before = resident(&mut metrics);
    let (mut times, took) = round(REQUESTS);
    let after = resident(&mut metrics);
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    eprintln!(
        "{REQUESTS} reviews on {THREADS} connections: {:.0}/s, p50 {:?}, p99 {:?}, slowest {:?}; memory {} KiB before, {} KiB after",
        times.len() as f64 / took.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0),
        before / 1024,
        after / 1024
    );
    assert!(after < before + (32 << 20), "memory grew from {before} to {after} bytes");
}
