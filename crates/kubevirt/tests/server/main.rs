//! The admission webhook over real connections on the loopback address.

mod api;
mod client;
mod cluster;
mod fairness;
mod faults;
mod real;
mod reference;
mod staleness;
mod tls;
mod verdicts;

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ytterby_kubevirt::admission::ReviewOptions;
use ytterby_kubevirt::server::log::Log;
use ytterby_kubevirt::server::{ClientLimits, KnownObjects, RunningServer, ServerConfig, start};

/// The log of a server.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A server without a cluster and without TLS on any free ports, with short
/// timeouts.
fn config() -> (ServerConfig, Lines) {
    let lines = Lines::default();
    let config = ServerConfig {
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        webhook_port: 0,
        metrics_port: 0,
        cert_dir: None,
        tls_options_dir: "/nowhere".into(),
        reload_every: Duration::from_millis(20),
        policy: ReviewOptions::default(),
        limits: ClientLimits::default(),
        known: KnownObjects::default(),
        log: Arc::new(Log::to(Box::new(lines.clone()), 2)),
    };
    (config, lines)
}

fn serve(change: impl FnOnce(&mut ServerConfig)) -> (RunningServer, Lines) {
    let (mut config, lines) = config();
    change(&mut config);
    (start(config).unwrap(), lines)
}

/// Waits until a condition is true.
fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < until, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A new directory, deleted at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("serve-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
