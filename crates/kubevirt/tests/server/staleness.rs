//! Caches of a cluster that is hard to reach: stale ones are detected, reported, and read again.

use std::time::{Duration, Instant};

use ytterby_kubevirt::instancetype::Instancetypes;
use ytterby_kubevirt::server::cluster::{Cluster, Pauses};
use ytterby_kubevirt::server::{KnownObjects, RunningServer};

use super::api::{self, Api, Fault};
use super::client::Client;
use super::cluster::{PAUSES, admits, is_ready, plain, template};
use super::{Lines, serve, wait_for};

/// Watches last a second and may be late by half of one.
const SHORT: Pauses = Pauses {
    watch: Duration::from_secs(1),
    grace: Duration::from_millis(500),
    stale: Duration::from_millis(2500),
    ..PAUSES
};

/// A server that follows an API server with one template, which wants two cores.
fn following(pauses: Pauses) -> (Api, RunningServer, Lines) {
    let api = Api::start(None);
    api.put(api::TEMPLATES, "ns", "t", Some(&template(2)));
    let cluster = Cluster::new(plain(api.address), pauses);
    let (server, log) =
        serve(|config| config.known = KnownObjects::new(Vec::new(), Instancetypes::default(), Some(cluster)));
    wait_for("the caches", || is_ready(&server) && !admits(&server, 1));
    (api, server, log)
}

fn age(server: &RunningServer) -> f64 {
    let metrics = Client::plain(server.metrics).get("/metrics").text();
    let line = metrics.lines().find_map(|line| line.strip_prefix("ytterby_cache_age_seconds{cache=\"templates\"} "));
    line.unwrap_or_else(|| panic!("{metrics}")).parse().unwrap()
}

#[test]
fn a_half_open_watch_is_detected_and_reported() {
    let (api, server, log) = following(SHORT);
    wait_for("a watch", || api.count("templates?watch") > 0);
    api.state().fault = Fault::HalfOpen;
    let began = Instant::now();
    wait_for("a complaint", || log.text().contains("the watch did not end after 1 seconds: its connection is dead"));
    // With the default times that is 38 s.
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    wait_for("its age", || age(&server) > 1.5);
    wait_for("the end of readiness", || !is_ready(&server));
    let text = Client::plain(server.webhook).get("/readyz").text();
    // Both watches are dead; either may be detected first.
    assert!(text.contains(" of the cluster were last seen ") && text.contains(" seconds ago: "), "{text}");
    // The cached rules are still used.
    assert!(!admits(&server, 1));
    // Missed events are read when the cluster is reachable again.
    api.put(api::TEMPLATES, "ns", "t", Some(&template(4)));
    api.state().fault = Fault::None;
    wait_for("news", || !admits(&server, 3));
    wait_for("readiness", || is_ready(&server) && age(&server) < 1.5);
}

#[test]
fn by_default_a_half_open_watch_is_detected_within_40_seconds() {
    let pauses = Pauses::default();
    assert!(pauses.watch + pauses.grace < Duration::from_secs(40));
    assert!(pauses.stale > 2 * (pauses.watch + pauses.grace), "one lost watch is no reason to be unready");
}

#[test]
fn a_quiet_cluster_is_not_stale() {
    let (api, server, log) = following(SHORT);
    wait_for("watches that end in time", || api.state().whole_watches >= 5);
    assert!(!log.text().contains("cannot read from the cluster"), "{}", log.text());
    assert_eq!(api.count(&format!("GET {}?limit", api::TEMPLATES)), 1, "nothing is listed again");
    assert!(is_ready(&server) && age(&server) < 2.0);
    let text = Client::plain(server.webhook).get("/readyz?verbose").text();
    assert!(text.contains("templates: 1 objects, seen ") && text.ends_with("ok\n"), "{text}");
    assert_eq!(Client::plain(server.webhook).get("/readyz").text(), "ok");
}

#[test]
fn an_api_server_may_restart() {
    let (api, server, _log) = following(SHORT);
    for cores in [4, 6] {
        api.state().fault = Fault::Down;
        api.put(api::TEMPLATES, "ns", "t", Some(&template(cores)));
        std::thread::sleep(Duration::from_millis(100));
        assert!(is_ready(&server), "a moment is no reason to be unready");
        api.state().fault = Fault::None;
        wait_for("news", || !admits(&server, cores - 1) && admits(&server, cores));
    }
}

#[test]
fn truncated_answers_are_requested_again() {
    let (api, server, log) = following(SHORT);
    api.state().fault = Fault::Cut;
    wait_for("a complaint", || log.text().contains("reading from the API server"));
    assert!(!admits(&server, 1), "half of an event changes nothing");
    api.put(api::TEMPLATES, "ns", "t", Some(&template(4)));
    api.state().fault = Fault::None;
    wait_for("news", || !admits(&server, 3) && admits(&server, 4));
}

#[test]
fn retry_after_is_respected() {
    let (api, server, log) = following(SHORT);
    api.state().fault = Fault::Busy;
    api.cut(api::TEMPLATES);
    api.cut(api::VMS);
    wait_for("a complaint", || log.text().contains("the API server says 429"));
    let before = api.count("templates?");
    std::thread::sleep(Duration::from_millis(800));
    assert!(api.count("templates?") <= before + 1, "it is asked once a second, not every 10 ms");
    api.put(api::TEMPLATES, "ns", "t", Some(&template(4)));
    api.state().fault = Fault::None;
    wait_for("news", || !admits(&server, 3) && admits(&server, 4));
}

#[test]
fn slow_lists_are_read() {
    let api = Api::start(None);
    api.state().fault = Fault::Slow;
    for number in 0..20 {
        api.put(api::TEMPLATES, "ns", &format!("t{number}"), Some(&template(2)));
    }
    api.put(api::TEMPLATES, "ns", "t", Some(&template(2)));
    let cluster = Cluster::new(plain(api.address), SHORT);
    let (server, _log) =
        serve(|config| config.known = KnownObjects::new(Vec::new(), Instancetypes::default(), Some(cluster)));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!is_ready(&server), "a part of a list is not enough");
    wait_for("the caches", || is_ready(&server));
    assert!(!admits(&server, 1));
}
