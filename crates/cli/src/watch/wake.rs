//! Waits for changes on disk.
//!
//! On Linux, inotify reports that something happened in a directory, and only then files are
//! checked. Elsewhere, and when the limit of watches is reached, they are checked every 50 ms.
//! [`super::fingerprint`] decides whether something really changed, so superfluous events do no
//! harm; once a second it is compared without any event, in case one was lost.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Interval between checks with events.
const WITH_EVENTS: Duration = Duration::from_secs(1);

/// Interval between checks without events.
const WITHOUT_EVENTS: Duration = Duration::from_millis(50);

/// Wakes the thread that waits for changes.
pub struct Alarm {
    events: Option<Events>,
}

impl Alarm {
    /// An alarm without directories.
    pub fn new() -> Alarm {
        Alarm { events: Events::new() }
    }

    /// Watches these directories, too. Repeating a directory is harmless.
    pub fn listen(&mut self, directories: &BTreeSet<PathBuf>) {
        let heard = self.events.as_mut().is_some_and(|events| directories.iter().all(|path| events.add(path)));
        if !heard {
            self.events = None;
        }
    }

    /// Waits until the files should be checked.
    pub fn wait(&self) {
        match &self.events {
            Some(events) => match events.receiver.recv_timeout(WITH_EVENTS) {
                Ok(()) | Err(RecvTimeoutError::Timeout) => while events.receiver.try_recv().is_ok() {},
                Err(RecvTimeoutError::Disconnected) => thread::sleep(WITHOUT_EVENTS),
            },
            None => thread::sleep(WITHOUT_EVENTS),
        }
    }
}

/// Events from inotify.
struct Events {
    receiver: Receiver<()>,
    #[cfg(target_os = "linux")]
    inotify: std::sync::Arc<std::fs::File>,
}

#[cfg(target_os = "linux")]
impl Events {
    fn new() -> Option<Events> {
        use rustix::fs::inotify::{CreateFlags, init};
        use std::io::Read;
        let inotify = std::sync::Arc::new(std::fs::File::from(init(CreateFlags::CLOEXEC).ok()?));
        let (sender, receiver) = mpsc::sync_channel(1);
        let reader = std::sync::Arc::clone(&inotify);
        let read = move || {
            let mut buffer = [0; 64 << 10];
            // The content of events does not matter. A full channel already has a wake-up.
            while (&*reader).read(&mut buffer).is_ok_and(|count| count > 0) {
                if let Err(mpsc::TrySendError::Disconnected(())) = sender.try_send(()) {
                    return;
                }
            }
        };
        thread::Builder::new().spawn(read).ok()?;
        Some(Events { receiver, inotify })
    }

    fn add(&mut self, directory: &std::path::Path) -> bool {
        use rustix::fs::inotify::{WatchFlags, add_watch};
        let events = WatchFlags::CLOSE_WRITE
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MODIFY
            | WatchFlags::MOVE
            | WatchFlags::MOVE_SELF
            | WatchFlags::DELETE_SELF;
        // The removal of a directory is reported by its parent.
        match add_watch(&*self.inotify, directory, events) {
            Ok(_) => true,
            Err(error) => error == rustix::io::Errno::NOENT || error == rustix::io::Errno::NOTDIR,
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Events {
    fn new() -> Option<Events> {
        let (_, receiver) = mpsc::sync_channel(1);
        drop(Events { receiver });
        None
    }

    fn add(&mut self, _: &std::path::Path) -> bool {
        false
    }
}
