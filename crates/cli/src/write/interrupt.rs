//! Interrupts while files are written.
//!
//! Whoever writes files asks [`Watch::check`] before each step and takes back what it did. When nothing is written, an
//! interrupt ends the program at once, as it does with every other program.

use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// As long as this lives, interrupts are only noted.
pub(super) struct Watch(Signals);

#[derive(Clone, Default)]
struct Signals {
    /// The last one that came, or zero.
    noted: Arc<AtomicUsize>,
    /// Nobody writes files any more.
    over: Arc<AtomicBool>,
}

/// Once connected, they stay so until the program ends.
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

    /// Whether to go on.
    pub(super) fn check(&self) -> Result<(), String> {
        match self.0.noted.load(Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err("Interrupted; nothing was changed".into()),
        }
    }

    /// The same for what cannot be taken back, but can be left for later.
    pub(super) fn go_on(&self) -> io::Result<()> {
        match self.0.noted.load(Ordering::SeqCst) {
            0 => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted; the next run deletes the rest")),
        }
    }

    /// One that no signal is connected to.
    #[cfg(test)]
    pub(super) fn alone() -> Rc<Watch> {
        Rc::new(Watch(Signals::default()))
    }

    /// As if a signal had come.
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
        // Where that fails, the signal ends the program at once, which is what it did before.
        let _ = signal_hook::flag::register_conditional_default(signal, Arc::clone(&signals.over));
        let _ = signal_hook::flag::register_usize(signal, Arc::clone(&signals.noted), signal as usize);
    }
}

#[cfg(not(unix))]
fn connect(_: &Signals) {}

/// Ends the program by the signal that came while files were written, so that whoever started it sees what it died of.
pub fn end_if_interrupted() {
    #[cfg(unix)]
    if let Some(signals) = CONNECTED.get()
        && let Ok(signal @ 1..) = i32::try_from(signals.noted.load(Ordering::SeqCst))
    {
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    }
}

/// The signals that whoever started us wants ignored (`nohup`, jobs in the background of a script), one bit each. Only
/// Linux tells.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
