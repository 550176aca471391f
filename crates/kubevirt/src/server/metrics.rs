//! Metrics in Prometheus' text format.
//!
//! The reference's only counter keeps its name, so that existing alerts continue to work; the
//! others are ours.

use std::fmt::Write;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::admission::{Answer, Verdict};

/// The webhooks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Webhook {
    VirtualMachine,
    Template,
}

impl Webhook {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Webhook::VirtualMachine => "virtualmachine",
            Webhook::Template => "template",
        }
    }
}

/// The results of [`Verdict::as_str`].
const VERDICTS: [&str; 5] = ["allowed", "invalid", "forbidden", "malformed", "error"];

/// Upper bounds of the histogram, in seconds; the API server waits for 10 by default.
const BOUNDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];

/// Counts since the start.
#[derive(Default)]
pub(super) struct Metrics {
    virtual_machine: Requests,
    template: Requests,
    /// Reviews that were moved to the queue for slow ones.
    pub deferred: AtomicU64,
    pub connections: AtomicI64,
    /// Connections that were closed because their client was too slow.
    pub slow: AtomicU64,
    /// Connections that were closed while idle, to make room.
    pub evicted: AtomicU64,
    pub handshake_failures: AtomicU64,
    pub reloads: AtomicU64,
    pub reload_failures: AtomicU64,
}

#[derive(Default)]
struct Requests {
    verdicts: [AtomicU64; VERDICTS.len()],
    warnings: AtomicU64,
    buckets: [AtomicU64; BOUNDS.len()],
    judged: AtomicU64,
    nanos: AtomicU64,
}

/// The metrics of a cache.
pub(super) struct CacheFigures {
    pub name: &'static str,
    pub objects: usize,
    pub is_synced: bool,
    /// Time since it last matched the cluster.
    pub age: Option<Duration>,
}

impl Metrics {
    /// Counts an answer, and its duration if the review was evaluated.
    pub(super) fn count(&self, webhook: Webhook, answer: &Answer, took: Option<Duration>) {
        let requests = match webhook {
            Webhook::VirtualMachine => &self.virtual_machine,
            Webhook::Template => &self.template,
        };
        let verdict = VERDICTS.iter().position(|name| *name == answer.verdict.as_str()).unwrap_or(VERDICTS.len() - 1);
        requests.verdicts[verdict].fetch_add(1, Relaxed);
        requests.warnings.fetch_add(answer.warnings.len() as u64, Relaxed);
        let Some(took) = took else { return };
        requests.judged.fetch_add(1, Relaxed);
        requests.nanos.fetch_add(took.as_nanos() as u64, Relaxed);
        if let Some(bucket) = BOUNDS.iter().position(|bound| took.as_secs_f64() <= *bound) {
            requests.buckets[bucket].fetch_add(1, Relaxed);
        }
    }

    /// The number of VMs that were refused because of violated rules.
    fn rejected(&self) -> u64 {
        let name = Verdict::Invalid(Vec::new()).as_str();
        VERDICTS
            .iter()
            .zip(&self.virtual_machine.verdicts)
            .filter(|(known, _)| **known == name)
            .map(|(_, n)| n.load(Relaxed))
            .sum()
    }

    /// All metrics as text.
    pub(super) fn show(&self, caches: &[CacheFigures], queues: &[(&str, usize)], started: SystemTime) -> String {
        let mut out = String::with_capacity(4096);
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, f64)]| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in samples {
                let _ = writeln!(out, "{name}{labels} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value as f64)];
        family(
            "kubevirt_ssp_template_validator_rejected_total",
            "counter",
            "Virtual machines that were refused because they break rules",
            &one(self.rejected()),
        );
        let hooks = [(Webhook::VirtualMachine, &self.virtual_machine), (Webhook::Template, &self.template)];
        let mut samples = Vec::new();
        for (webhook, requests) in &hooks {
            for (verdict, count) in VERDICTS.iter().zip(&requests.verdicts) {
                let labels = format!("{{webhook=\"{}\",verdict=\"{verdict}\"}}", webhook.as_str());
                samples.push((labels, count.load(Relaxed) as f64));
            }
        }
        family("ytterby_admission_requests_total", "counter", "Admission reviews by what was answered", &samples);
        let warnings = hooks.iter().map(|(hook, requests)| {
            (format!("{{webhook=\"{}\"}}", hook.as_str()), requests.warnings.load(Relaxed) as f64)
        });
        let warnings: Vec<_> = warnings.collect();
        family("ytterby_admission_warnings_total", "counter", "Warnings in answers", &warnings);
        family(
            "ytterby_admission_deferred_total",
            "counter",
            "Reviews that were put off because they are large or their rules take long",
            &one(self.deferred.load(Relaxed)),
        );
        let waiting: Vec<_> = queues.iter().map(|(name, n)| (format!("{{queue=\"{name}\"}}"), *n as f64)).collect();
        family("ytterby_admission_waiting", "gauge", "Reviews that wait to be judged", &waiting);
        family(
            "ytterby_connections",
            "gauge",
            "Open connections",
            &[(String::new(), self.connections.load(Relaxed) as f64)],
        );
        let closed = [("slow", &self.slow), ("evicted", &self.evicted), ("handshake", &self.handshake_failures)]
            .map(|(reason, count)| (format!("{{reason=\"{reason}\"}}"), count.load(Relaxed) as f64));
        family("ytterby_connections_closed_total", "counter", "Connections that the server gave up, and why", &closed);
        let reloads = [("ok", &self.reloads), ("failed", &self.reload_failures)]
            .map(|(result, count)| (format!("{{result=\"{result}\"}}"), count.load(Relaxed) as f64));
        family(
            "ytterby_certificate_reloads_total",
            "counter",
            "Times that certificate or TLS options changed",
            &reloads,
        );
        let label = |cache: &CacheFigures| format!("{{cache=\"{}\"}}", cache.name);
        let objects: Vec<_> = caches.iter().map(|cache| (label(cache), cache.objects as f64)).collect();
        family("ytterby_cache_objects", "gauge", "Objects of the cluster that are known", &objects);
        let synced: Vec<_> = caches.iter().map(|cache| (label(cache), f64::from(u8::from(cache.is_synced)))).collect();
        family("ytterby_cache_synced", "gauge", "Whether the objects of the cluster have been read", &synced);
        let ages = caches.iter().filter_map(|cache| Some((label(cache), cache.age?.as_secs_f64())));
        let help = "Time since the objects were known to be those of the cluster";
        family("ytterby_cache_age_seconds", "gauge", help, &ages.collect::<Vec<_>>());
        let start = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        family("process_start_time_seconds", "gauge", "When the process started", &[(String::new(), start)]);
        if let Some(bytes) = resident() {
            family("process_resident_memory_bytes", "gauge", "Memory in use", &one(bytes));
        }
        let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        family("ytterby_build_info", "gauge", "The version that is running", &[(version, 1.0)]);
        let name = "ytterby_admission_duration_seconds";
        let _ = writeln!(out, "# HELP {name} Time from the whole request to the answer\n# TYPE {name} histogram");
        for (webhook, requests) in &hooks {
            let label = webhook.as_str();
            let mut sum = 0;
            for (bound, count) in BOUNDS.iter().zip(&requests.buckets) {
                sum += count.load(Relaxed);
                let _ = writeln!(out, "{name}_bucket{{webhook=\"{label}\",le=\"{bound}\"}} {sum}");
            }
            let count = requests.judged.load(Relaxed);
            let seconds = requests.nanos.load(Relaxed) as f64 / 1e9;
            let _ = writeln!(out, "{name}_bucket{{webhook=\"{label}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(out, "{name}_sum{{webhook=\"{label}\"}} {seconds}");
            let _ = writeln!(out, "{name}_count{{webhook=\"{label}\"}} {count}");
        }
        out
    }
}

/// Resident memory of this process in bytes, if known.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}
