//! The signals that stop the server.
//!
//! They are registered before the ports open: until then a signal ends the process as usual, from
//! then on it never cuts a review short.

use std::io;

use tokio::runtime::Runtime;

/// The request that a signal makes.
pub(super) enum Stop {
    /// `SIGTERM`: the cluster removes the pod and needs time to react.
    Terminate,
    /// Ctrl-C: someone at a terminal waits for the end.
    Interrupt,
}

/// The registered signals.
pub(super) struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(super) fn register(runtime: &Runtime) -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let _context = runtime.enter();
        Ok(Signals { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> Stop {
        use super::listen::{Either, either};
        match either(self.terminate.recv(), self.interrupt.recv()).await {
            Either::First(_) => Stop::Terminate,
            Either::Second(_) => Stop::Interrupt,
        }
    }
}

/// Other systems only have the interrupt.
#[cfg(not(unix))]
impl Signals {
    pub(super) fn register(_: &Runtime) -> io::Result<Signals> {
        Ok(Signals {})
    }

    pub(super) async fn next(&mut self) -> Stop {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Stop::Interrupt
    }
}
