//! The admission webhook: `kubevirt serve`.
//!
//! [`start`] opens two ports, one for reviews and probes and one for metrics, and answers on its
//! own threads until [`stop`](RunningServer::stop); [`run`] does so until a signal.
//! [`crate::admission`] decides the answers; this module has the sockets, certificates, limits,
//! caches and counters around it. Nothing here runs unless one of them is called.

pub mod cluster;
mod guard;
mod http;
mod known;
mod listen;
pub mod log;
mod metrics;
mod queue;
mod signals;
mod tls;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::time::sleep;

use crate::admission::ReviewOptions;
use http::Port;
pub use known::{FileTemplate, KnownObjects};
use listen::{Listener, either};
use log::{Log, LogField};
use metrics::Metrics;
use queue::Queue;
use signals::Signals;
use tls::{Reload, Tls};

/// The configuration of the server.
#[derive(Debug)]
pub struct ServerConfig {
    /// The address of both ports.
    pub listen: IpAddr,
    /// The port for reviews; 0 for any.
    pub webhook_port: u16,
    /// The port for metrics; 0 for any.
    pub metrics_port: u16,
    /// The directory with `tls.crt` and `tls.key`; without one there is no TLS.
    pub cert_dir: Option<PathBuf>,
    /// The directory that may have `tls-config.json`.
    pub tls_options_dir: PathBuf,
    /// The interval for checking these directories.
    pub reload_every: Duration,
    /// How reviews are answered.
    pub policy: ReviewOptions,
    /// Limits for clients.
    pub limits: ClientLimits,
    /// Templates and instance types.
    pub known: KnownObjects,
    /// The log.
    pub log: Arc<Log>,
}

/// Maximum VMs with an instance type that are evaluated at the same time.
const EXPANSIONS: usize = 32;

/// Limits on the time and memory of clients.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClientLimits {
    /// Maximum bytes of a review.
    pub body: u64,
    /// Maximum bytes of all concurrent reviews.
    pub memory: usize,
    /// Maximum connections to each port.
    pub connections: usize,
    /// Time from the head of a request to its answer.
    pub request: Duration,
    /// Time for a handshake, for the head of a request, for reading an answer.
    pub client: Duration,
    /// Time between two requests.
    pub idle: Duration,
    /// Time for requests in progress when the server stops.
    pub drain: Duration,
}

impl Default for ClientLimits {
    fn default() -> ClientLimits {
        ClientLimits {
            // An update contains the object twice, and the API server accepts objects of 3 MiB.
            body: 8 << 20,
            memory: 128 << 20,
            connections: 1024,
            // The API server waits ten seconds and must get the answer before that.
            request: Duration::from_secs(9),
            client: Duration::from_secs(10),
            // Longer than the 90 seconds after which the API server closes an idle connection
            // itself.
            idle: Duration::from_secs(120),
            drain: Duration::from_secs(10),
        }
    }
}

/// The stages of stopping.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Serving,
    /// Still serving, but not ready for more.
    Leaving,
    /// Finishing requests in progress.
    Stopping,
}

/// State that all connections share.
struct ServerState {
    policy: ReviewOptions,
    limits: ClientLimits,
    known: KnownObjects,
    log: Arc<Log>,
    metrics: Metrics,
    /// The remaining bytes for reviews.
    memory: Semaphore,
    /// For most VMs. Reviews that turn out to be slow are moved to `heavy`.
    quick: Arc<Queue>,
    /// For large reviews and slow rules: on half of the processors, so that others have the
    /// rest.
    heavy: Arc<Queue>,
    /// For VMs with an instance type, which may have to wait for the cluster without delaying
    /// others.
    expansions: Arc<Queue>,
    /// Bytes of large reviews in `expansions`.
    expanding: Semaphore,
    stage: RwLock<Stage>,
    started: SystemTime,
}

impl ServerState {
    /// The reason that the server is not ready, if so.
    fn unready(&self) -> Option<String> {
        if self.is_leaving() {
            return Some("shutting down\n".to_owned());
        }
        self.known.unready()
    }

    fn is_leaving(&self) -> bool {
        *self.stage.read().unwrap_or_else(PoisonError::into_inner) != Stage::Serving
    }
}

/// A running server.
pub struct RunningServer {
    /// The address for reviews.
    pub webhook: SocketAddr,
    /// The address for metrics.
    pub metrics: SocketAddr,
    runtime: Runtime,
    shared: Arc<ServerState>,
    stage: watch::Sender<Stage>,
    ports: Vec<tokio::task::JoinHandle<()>>,
}

/// Serves until a signal to stop. After `SIGTERM` it serves for `delay` more, so that the cluster
/// can react. A second signal ends it at once.
pub fn run(config: ServerConfig, delay: Duration) -> io::Result<()> {
    let runtime = runtime()?;
    // Before anybody can know that the server runs: a signal from then on must not kill it.
    let mut signals = Signals::register(&runtime)?;
    let running = start_on(runtime, config)?;
    let delay = match running.runtime.block_on(signals.next()) {
        signals::Stop::Terminate => delay,
        signals::Stop::Interrupt => Duration::ZERO,
    };
    running.stop_or_hurry(delay, async move {
        signals.next().await;
    });
    Ok(())
}

/// Starts a server; it is ready to accept connections when this returns.
pub fn start(config: ServerConfig) -> io::Result<RunningServer> {
    start_on(runtime()?, config)
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8)
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(threads())
        .max_blocking_threads(threads() * 4 + EXPANSIONS)
        .thread_name("serve")
        .thread_stack_size(8 << 20)
        .enable_all()
        .build()
}

fn start_on(runtime: Runtime, config: ServerConfig) -> io::Result<RunningServer> {
    let threads = threads();
    let log = Arc::clone(&config.log);
    let tls = config.cert_dir.as_ref().map(|directory| Arc::new(Tls::new(directory, &config.tls_options_dir)));
    let shared = Arc::new(ServerState {
        policy: config.policy,
        limits: config.limits,
        known: config.known,
        log: config.log,
        metrics: Metrics::default(),
        memory: Semaphore::new(config.limits.memory),
        quick: Queue::new(threads * 2),
        heavy: Queue::new((threads / 2).max(1)),
        expansions: Queue::new(EXPANSIONS),
        expanding: Semaphore::new(config.limits.body.max(1 << 20) as usize),
        stage: RwLock::new(Stage::Serving),
        started: SystemTime::now(),
    });
    if let Some(tls) = &tls {
        tls.reload(&log);
    }
    let (stage, watched) = watch::channel(Stage::Serving);
    let mut ports = Vec::new();
    let mut addresses = Vec::new();
    for (port, number) in [(Port::Webhook, config.webhook_port), (Port::Metrics, config.metrics_port)] {
        let address = SocketAddr::new(config.listen, number);
        let named = |error: io::Error| io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"));
        let socket = runtime.block_on(TcpListener::bind(address)).map_err(named)?;
        let address = socket.local_addr().map_err(named)?;
        let scheme = if tls.is_some() { "HTTPS" } else { "HTTP" };
        let message = format!("serving {} over {scheme}", port.as_str());
        log.info(&message, &[("address", (&address.to_string()).into())]);
        addresses.push(address);
        let listener = Listener { socket, port, tls: tls.clone(), shared: Arc::clone(&shared) };
        ports.push(runtime.spawn(listen::serve(listener, watched.clone())));
    }
    shared.known.follow(runtime.handle(), &log);
    if let Some(tls) = tls {
        runtime.spawn(keep_certificates(tls, config.reload_every, Arc::clone(&shared)));
    }
    Ok(RunningServer { webhook: addresses[0], metrics: addresses[1], runtime, shared, stage, ports })
}

async fn keep_certificates(tls: Arc<Tls>, every: Duration, shared: Arc<ServerState>) {
    loop {
        sleep(every).await;
        let (tls, log) = (Arc::clone(&tls), Arc::clone(&shared.log));
        // Files may be on a network.
        let reload = tokio::task::spawn_blocking(move || tls.reload(&log)).await;
        let counter = match reload {
            Ok(Reload::Changed) => &shared.metrics.reloads,
            Ok(Reload::Failed) => &shared.metrics.reload_failures,
            Ok(Reload::Unchanged) | Err(_) => continue,
        };
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

impl RunningServer {
    /// Stops: reports not ready, serves for `delay`, and ends when requests in progress are done.
    pub fn stop(self, delay: Duration) {
        self.stop_or_hurry(delay, std::future::pending());
    }

    /// Stops as [`RunningServer::stop`] does, or at once when `hurry` is done.
    fn stop_or_hurry(self, delay: Duration, hurry: impl Future<Output = ()>) {
        self.shared.log.info("shutting down", &[("delaySeconds", LogField::Number(delay.as_secs() as i64))]);
        *self.shared.stage.write().unwrap_or_else(PoisonError::into_inner) = Stage::Leaving;
        self.stage.send_replace(Stage::Leaving);
        let RunningServer { runtime, stage, ports, shared, .. } = self;
        runtime.block_on(async {
            let end = async {
                sleep(delay).await;
                stage.send_replace(Stage::Stopping);
                for port in ports {
                    // A panic in there has ended it, too.
                    let _ = port.await;
                }
            };
            either(end, hurry).await;
        });
        // Reviews of disconnected clients must not delay the end.
        runtime.shutdown_background();
        shared.log.info("stopped", &[]);
    }
}
