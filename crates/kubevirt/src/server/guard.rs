//! A stream with timeouts, so that slow clients cannot occupy connections.
//!
//! A client has some seconds for the head of its first request, counted from the handshake, and for
//! each further head, counted from its first byte; between requests it may be silent for longer.
//! While a request is being answered, the time limit of the answer applies. A client that does not
//! read its answer is disconnected, too.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Bytes per read.
const BLOCK: usize = 16 << 10;

/// The event that a connection waits for, and since when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The head of the first request.
    Fresh(Instant),
    /// The rest of the head of a further request.
    Head(Instant),
    /// The first byte of the next request.
    Idle(Instant),
    /// Nothing: a request is being answered.
    Busy,
}

/// The phase of one connection, which the service and its stream share.
#[derive(Clone, Debug)]
pub(super) struct Pace(Arc<Mutex<PaceState>>);

#[derive(Debug)]
struct PaceState {
    phase: Phase,
    /// Of the task that waits for bytes. It must poll again when a phase with another deadline
    /// begins: hyper does not poll a stream again that returned `Pending`.
    waker: Option<Waker>,
    /// Whether the client was disconnected during a request.
    is_slow: bool,
}

impl Pace {
    pub(super) fn new() -> Pace {
        Pace(Arc::new(Mutex::new(PaceState { phase: Phase::Fresh(Instant::now()), waker: None, is_slow: false })))
    }

    /// For a connection with other timeouts.
    pub(super) fn busy() -> Pace {
        Pace(Arc::new(Mutex::new(PaceState { phase: Phase::Busy, waker: None, is_slow: false })))
    }

    /// A request has begun.
    pub(super) fn begin(&self) {
        self.set(Phase::Busy);
    }

    /// A request has been answered.
    pub(super) fn end(&self) {
        self.set(Phase::Idle(Instant::now()));
    }

    /// Whether there has been no request yet.
    pub(super) fn is_fresh(&self) -> bool {
        matches!(self.get(), Phase::Fresh(_))
    }

    /// Whether the client was disconnected during a request.
    pub(super) fn is_slow(&self) -> bool {
        self.0.lock().is_ok_and(|state| state.is_slow)
    }

    fn give_up(&self) -> io::Error {
        if let Ok(mut state) = self.0.lock() {
            state.is_slow = !matches!(state.phase, Phase::Idle(_));
        }
        ErrorKind::TimedOut.into()
    }

    fn get(&self) -> Phase {
        self.0.lock().map_or(Phase::Busy, |state| state.phase)
    }

    fn set(&self, phase: Phase) {
        let waker = self.0.lock().ok().and_then(|mut state| {
            state.phase = phase;
            state.waker.take()
        });
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn wake_later(&self, context: &Context<'_>) {
        if let Ok(mut state) = self.0.lock() {
            state.waker = Some(context.waker().clone());
        }
    }
}

/// Timeouts of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a head, or for reading some of an answer.
    pub client: Duration,
    /// Between requests.
    pub idle: Duration,
}

/// A stream with timeouts.
pub(super) struct Guarded<S> {
    stream: S,
    pace: Pace,
    patience: Patience,
    buffer: Box<[u8]>,
    reading: Timer,
    writing: Timer,
}

impl<S> Guarded<S> {
    pub(super) fn new(stream: S, pace: Pace, patience: Patience) -> Guarded<S> {
        let buffer = vec![0; BLOCK].into_boxed_slice();
        Guarded { stream, pace, patience, buffer, reading: Timer::default(), writing: Timer::default() }
    }

    /// The deadline of the client, if the server waits for it.
    fn until(&self) -> Option<Instant> {
        match self.pace.get() {
            Phase::Fresh(since) | Phase::Head(since) => Some(since + self.patience.client),
            Phase::Idle(since) => Some(since + self.patience.idle),
            Phase::Busy => None,
        }
    }
}

impl<S: AsyncRead + Unpin> Read for Guarded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let room = cursor.remaining().min(this.buffer.len());
        let mut buffer = ReadBuf::new(&mut this.buffer[..room]);
        match Pin::new(&mut this.stream).poll_read(context, &mut buffer) {
            Poll::Ready(result) => {
                result?;
                if matches!(this.pace.get(), Phase::Idle(_)) && !buffer.filled().is_empty() {
                    this.pace.set(Phase::Head(Instant::now()));
                }
                cursor.put_slice(buffer.filled());
                Poll::Ready(Ok(()))
            }
            Poll::Pending => {
                this.pace.wake_later(context);
                let until = this.until();
                ready!(this.reading.poll(context, until));
                Poll::Ready(Err(this.pace.give_up()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> Guarded<S> {
    /// The result of a write, or an error if the client is too slow.
    fn written<T>(&mut self, context: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.writing.until = None;
            return result;
        }
        let until = self.writing.until.unwrap_or_else(|| Instant::now() + self.patience.client);
        ready!(self.writing.poll(context, Some(until)));
        Poll::Ready(Err(self.pace.give_up()))
    }
}

impl<S: AsyncWrite + Unpin> Write for Guarded<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, result)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        self.written(context, result)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(context);
        self.written(context, result)
    }
}

/// A timer whose deadline can move.
#[derive(Default)]
struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    until: Option<Instant>,
}

impl Timer {
    /// Ready at the deadline; never ready without one.
    fn poll(&mut self, context: &mut Context<'_>, until: Option<Instant>) -> Poll<()> {
        let Some(until) = until else { return Poll::Pending };
        let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if self.until != Some(until) {
            self.until = Some(until);
            sleep.as_mut().reset(until);
        }
        sleep.as_mut().poll(context)
    }
}
