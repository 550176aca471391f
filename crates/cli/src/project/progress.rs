//! A progress line for slow work, on terminals only.

use std::time::{Duration, Instant};

use crate::host;

/// Faster work shows no line.
const PATIENCE: Duration = Duration::from_millis(500);

/// The minimum time between updates.
const INTERVAL: Duration = Duration::from_millis(100);

/// The progress line. It is shown only if standard error is a terminal.
#[derive(Debug)]
pub struct Progress {
    /// Example: `Building targets`.
    title: &'static str,
    is_on: bool,
    is_shown: bool,
    started: Instant,
    last: Option<Instant>,
}

impl Progress {
    /// A line that begins with `title`.
    pub fn new(title: &'static str) -> Progress {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Progress { title, is_on: host::is_terminal() && !is_dumb, is_shown: false, started: Instant::now(), last: None }
    }

    /// Updates the line, unless the last update was just before.
    pub fn step(&mut self, done: usize, all: usize) {
        let is_due = self.last.is_none_or(|last| last.elapsed() >= INTERVAL);
        if !self.is_on || self.started.elapsed() < PATIENCE || !is_due {
            return;
        }
        self.last = Some(Instant::now());
        self.is_shown = true;
        host::write_error(&format!("\r\x1b[K{}: {done} of {all}", self.title));
    }

    /// Erases the line before other text is written.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            host::write_error("\r\x1b[K");
            self.last = None;
        }
    }
}
