//! Handles interrupts while files are written.
//!
//! Code that writes files calls [`Watch::check`] before each step and undoes its work if that
//! fails. While nothing is written, an interrupt ends the program at once, as usual.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// While this value exists, interrupts are only recorded.
pub(super) struct Watch(Signals);

#[derive(Clone, Default)]
struct Signals {
    /// The last signal, or zero.
    noted: Arc<AtomicUsize>,
    /// Whether no files are being written.
    over: Arc<AtomicBool>,
}

/// Handlers stay registered until the program ends.
static CONNECTED: OnceLock<Signals> = OnceLock::new();

impl Watch {
    pub(super) fn start() -> Rc<Watch> {
        let signals = CONNECTED.get_or_init(|| {
            let signals = Signals::default();
            connect(&signals);
            signals
        });
        signals.over.store(false, Ordering::SeqCst);
        Rc::new(Watch(signals.clone()))
    }

    /// Fails if an interrupt was recorded.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.0.noted.load(Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err("Interrupted; nothing was changed".into()),
        }
    }

    /// Like [`Watch::check`], for steps that cannot be undone but can be postponed.
    pub(super) fn go_on(&self) -> io::Result<()> {
        match self.0.noted.load(Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted; the next run deletes the rest")),
        }
    }

    /// A watch without registered signals.
    #[cfg(test)]
    pub(super) fn alone() -> Rc<Watch> {
        Rc::new(Watch(Signals::default()))
    }

    /// Simulates a signal.
    #[cfg(test)]
    pub(super) fn interrupt(&self) {
        self.0.noted.store(2, Ordering::SeqCst);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

#[cfg(unix)]
fn connect(signals: &Signals) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = ignored();
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0) {
        // If this fails, the signal ends the program at once, as before.
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&signals.over));
        let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signals.noted), signal as usize);
    }
}

#[cfg(not(unix))]
fn connect(_: &Signals) {}

/// Ends the program by the recorded signal, if any, so that the parent process sees it.
pub fn end_if_interrupted() {
    #[cfg(unix)]
    if let Some(signals) = CONNECTED.get()
        && let Ok(signal @ 1..) = i32::try_from(signals.noted.load(Ordering::SeqCst))
    {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}

/// The signals that the parent process set to be ignored (`nohup`, background jobs of a script),
/// one bit each. Only known on Linux.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
