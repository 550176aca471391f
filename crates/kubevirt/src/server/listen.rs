//! Accepts a limited number of connections, and closes them when the server stops.
//!
//! When all slots are taken, the connection that has been idle for the longest time is closed, so
//! clients that keep connections open cannot lock others out. A connection with a request is left
//! alone.

use std::any::Any;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::guard::{Guarded, Pace, Patience};
use super::http::{Answered, Port, answer, failed};
use super::log::LogField;
use super::tls::Tls;
use super::{ServerState, Stage};

/// Maximum size of a request's head.
const HEAD: usize = 64 << 10;

/// Interval before accepting again when the system has no more files or memory.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// A port.
pub(super) struct Listener {
    pub socket: TcpListener,
    pub port: Port,
    pub tls: Option<Arc<Tls>>,
    pub shared: Arc<ServerState>,
}

/// The idle connections of one port, in the order in which they became idle.
#[derive(Default)]
struct Idle {
    next: AtomicU64,
    waiting: Mutex<BTreeMap<u64, Arc<Notify>>>,
    /// Notified when there is one more.
    added: Notify,
}

/// A connection's entry among the idle ones.
struct Seat {
    idle: Arc<Idle>,
    /// Requests it to close.
    close: Arc<Notify>,
    number: Mutex<Option<u64>>,
}

impl Seat {
    /// The entry of an idle connection.
    fn new(idle: &Arc<Idle>) -> Seat {
        let seat = Seat { idle: Arc::clone(idle), close: Arc::default(), number: Mutex::default() };
        seat.take();
        seat
    }

    /// The connection is idle now.
    fn take(&self) {
        let number = self.idle.next.fetch_add(1, Relaxed);
        if let Ok(mut waiting) = self.idle.waiting.lock() {
            waiting.insert(number, Arc::clone(&self.close));
        }
        if let Ok(mut place) = self.number.lock() {
            *place = Some(number);
        }
        self.idle.added.notify_one();
    }

    /// It has a request, or has ended.
    fn leave(&self) {
        if let Some(number) = self.number.lock().ok().and_then(|mut place| place.take())
            && let Ok(mut waiting) = self.idle.waiting.lock()
        {
            waiting.remove(&number);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Idle {
    /// Closes the connection that is idle for the longest time; returns whether there is one.
    fn evict(&self) -> bool {
        let first = self.waiting.lock().ok().and_then(|mut waiting| waiting.pop_first());
        first.map(|(_, close)| close.notify_one()).is_some()
    }

    /// A free slot, taken from an idle connection if necessary.
    async fn slot(&self, slots: &Arc<Semaphore>, shared: &ServerState) -> OwnedSemaphorePermit {
        loop {
            if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
                return slot;
            }
            if self.evict() {
                shared.metrics.evicted.fetch_add(1, Relaxed);
            }
            if let Either::First(Ok(slot)) = either(Arc::clone(slots).acquire_owned(), self.added.notified()).await {
                return slot;
            }
        }
    }
}

/// Serves a port until the server stops; returns when its connections have ended.
pub(super) async fn serve(listener: Listener, mut stage: watch::Receiver<Stage>) {
    let shared = listener.shared;
    let most = shared.limits.connections;
    let slots = Arc::new(Semaphore::new(most));
    let idle = Arc::new(Idle::default());
    loop {
        let accepted = match either(stopping(&mut stage), listener.socket.accept()).await {
            Either::First(()) => break,
            Either::Second(accepted) => accepted,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                let error = error.to_string();
                shared.log.error("cannot accept connections", &[("error", (&error).into())]);
                sleep(AFTER_FAILURE).await;
                continue;
            }
        };
        let slot = match either(stopping(&mut stage), idle.slot(&slots, &shared)).await {
            Either::First(()) => break,
            Either::Second(slot) => slot,
        };
        let visit = Visit { port: listener.port, shared: Arc::clone(&shared), seat: Seat::new(&idle) };
        let (tls, stage) = (listener.tls.clone(), stage.clone());
        tokio::spawn(async move {
            let shared = Arc::clone(&visit.shared);
            shared.metrics.connections.fetch_add(1, Relaxed);
            visit.connection(stream, from, tls, stage).await;
            shared.metrics.connections.fetch_sub(1, Relaxed);
            drop(slot);
        });
    }
    drop(listener.socket);
    // When all slots are free, every connection has ended.
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    let _ = timeout(shared.limits.drain, slots.acquire_many(all)).await;
}

/// The context of a connection.
struct Visit {
    port: Port,
    shared: Arc<ServerState>,
    seat: Seat,
}

impl Visit {
    async fn connection(
        self,
        stream: TcpStream,
        from: SocketAddr,
        tls: Option<Arc<Tls>>,
        stage: watch::Receiver<Stage>,
    ) {
        let shared = &self.shared;
        // Each answer is one write; waiting for more would only add delay.
        let _ = stream.set_nodelay(true);
        let Some(tls) = tls else { return self.requests(stream, stage).await };
        let Some(config) = tls.config() else {
            shared.metrics.handshake_failures.fetch_add(1, Relaxed);
            return;
        };
        let handshake = timeout(shared.limits.client, TlsAcceptor::from(config).accept(stream));
        match either(handshake, self.seat.close.notified()).await {
            Either::First(Ok(Ok(stream))) => self.requests(stream, stage).await,
            Either::First(Ok(Err(error))) => {
                shared.metrics.handshake_failures.fetch_add(1, Relaxed);
                let (from, error) = (from.to_string(), error.to_string());
                shared.log.detail(1, "TLS handshake failed", &[("from", (&from).into()), ("error", (&error).into())]);
            }
            Either::First(Err(_)) => {
                shared.metrics.slow.fetch_add(1, Relaxed);
            }
            Either::Second(()) => {}
        }
    }

    async fn requests<S>(&self, stream: S, mut stage: watch::Receiver<Stage>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Visit { port, shared, seat } = self;
        let pace = Pace::new();
        let service = service_fn(|request| {
            pace.begin();
            seat.leave();
            let pace = &pace;
            async move {
                let response = guarded(answer(request, *port, shared), shared).await;
                pace.end();
                seat.take();
                Ok::<_, Infallible>(response)
            }
        });
        let patience = Patience { client: shared.limits.client, idle: shared.limits.idle };
        let mut builder = http1::Builder::new();
        // A client that has closed its side still expects its answer.
        builder.header_read_timeout(None).max_buf_size(HEAD).half_close(true);
        let mut served = pin!(builder.serve_connection(Guarded::new(stream, pace.clone(), patience), service));
        let asked = either(seat.close.notified(), stopping(&mut stage));
        // The error of a connection that ended was already reported.
        match either(served.as_mut(), asked).await {
            Either::First(_) => {}
            // No request has begun, and there may never be one.
            Either::Second(_) if pace.is_fresh() => return,
            Either::Second(_) => {
                served.as_mut().graceful_shutdown();
                let _ = served.await;
            }
        }
        if pace.is_slow() {
            shared.metrics.slow.fetch_add(1, Relaxed);
            shared.log.detail(1, "gave up a slow client", &[("port", LogField::Text(port.as_str()))]);
        }
    }
}

/// An answer even after a panic.
async fn guarded(answer: impl Future<Output = Answered>, shared: &ServerState) -> Answered {
    caught(answer).await.unwrap_or_else(|panic| failed(&*panic, shared))
}

/// The result of a task, or its panic.
async fn caught<F: Future>(task: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut task = pin!(task);
    let polled = poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(context)));
        polled.map_or_else(|panic| Poll::Ready(Err(panic)), |polled| polled.map(Ok))
    });
    polled.await
}

/// Waits until the server stops accepting requests.
async fn stopping(stage: &mut watch::Receiver<Stage>) {
    // A dropped sender means that the server is stopping.
    let _ = stage.wait_for(|stage| *stage == Stage::Stopping).await;
}

/// The first of two results.
pub(super) enum Either<A, B> {
    First(A),
    Second(B),
}

/// Waits for the first of two; the other is dropped.
pub(super) async fn either<A: Future, B: Future>(a: A, b: B) -> Either<A::Output, B::Output> {
    let (mut a, mut b) = (pin!(a), pin!(b));
    poll_fn(|context| {
        if let Poll::Ready(result) = a.as_mut().poll(context) {
            return Poll::Ready(Either::First(result));
        }
        b.as_mut().poll(context).map(Either::Second)
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_whenever_it_comes() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let late = async {
            sleep(Duration::from_millis(1)).await;
            panic!("late");
        };
        let panic = runtime.block_on(caught(late)).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"late"));
        assert_eq!(runtime.block_on(caught(async { 7 })).unwrap(), 7);
    }
}
