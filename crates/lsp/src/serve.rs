//! Runs a server on a pair of streams: one thread reads, two do slow work, this one answers.
//!
//! All messages that have arrived are handled before slow work begins, because only the last
//! keystroke counts. The reader also notes cancellations, which take effect before the requests
//! that they cancel are looked at.

use std::collections::HashSet;
use std::io::{BufRead, Write};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Done, Job, Server, SessionFlow};
use crate::wire;

/// Stack size for deeply nested templates; pages are committed on first use.
const STACK: usize = 512 << 20;

/// An event for the main thread.
enum Event {
    Message(Value),
    Malformed(String),
    Done(Box<Done>),
    /// A check has finished.
    Checked(Box<Done>),
    /// There was no message for a while.
    Quiet,
    End,
}

/// Serves until the client sends `exit` or its stream ends. Returns the exit code.
pub fn serve(mut server: Server, mut input: impl BufRead + Send + 'static, output: &mut impl Write) -> i32 {
    let (events, receiver) = mpsc::channel();
    let cancelled: Arc<Mutex<HashSet<String>>> = Arc::default();
    let (sender, noted) = (events.clone(), cancelled.clone());
    thread::spawn(move || read_all(&mut input, &sender, &noted));
    // Two workers: a check of a large project must not delay the analysis after the next keystroke.
    let (Some(jobs), Some(checks)) = (worker("runs", &events, Event::Done), worker("checks", &events, Event::Checked))
    else {
        return 1;
    };
    drop(events);
    let (mut is_busy, mut is_checking) = (false, false);
    let started = Instant::now();
    loop {
        // Handle all pending messages before slow work begins: the last keystroke counts.
        let event = match receiver.try_recv() {
            Ok(event) => event,
            Err(_) => {
                if is_busy || is_checking {
                    server.stop_outdated();
                }
                if !is_busy && let Some(job) = server.next_job() {
                    is_busy = jobs.send(job).is_ok();
                }
                if flush(&mut server, output).is_err() {
                    return 1;
                }
                match next(&receiver, &mut server, started, is_busy || is_checking) {
                    Some(event) => event,
                    None => return 1,
                }
            }
        };
        let flow = match event {
            Event::Message(message) => handle(&mut server, message, &cancelled),
            Event::Malformed(why) => {
                let error = json!({"code": -32700, "message": why});
                server.send(json!({"jsonrpc": "2.0", "id": null, "error": error}));
                SessionFlow::Continue
            }
            Event::Done(done) => {
                is_busy = false;
                server.done(*done);
                SessionFlow::Continue
            }
            Event::Checked(done) => {
                is_checking = false;
                server.done(*done);
                SessionFlow::Continue
            }
            Event::Quiet => {
                if !is_checking && let Some(job) = server.next_check() {
                    is_checking = checks.send(job).is_ok();
                }
                SessionFlow::Continue
            }
            Event::End => SessionFlow::Exit(1),
        };
        if flush(&mut server, output).is_err() {
            return 1;
        }
        if let SessionFlow::Exit(code) = flow {
            return code;
        }
    }
}

/// The time without messages before the server sends requests or checks a project; also the longest
/// time before its first requests.
const QUIET: Duration = Duration::from_millis(300);
const LATEST: Duration = Duration::from_millis(1500);

/// Waits for the next event; `None` if there can be none.
fn next(receiver: &Receiver<Event>, server: &mut Server, started: Instant, is_busy: bool) -> Option<Event> {
    let waits = server.has_to_introduce() || !is_busy && server.has_to_check();
    if !waits {
        return receiver.recv().ok();
    }
    let wait = match server.has_to_introduce() {
        true => QUIET.min(LATEST.saturating_sub(started.elapsed())),
        false => QUIET,
    };
    match receiver.recv_timeout(wait) {
        Ok(event) => Some(event),
        Err(RecvTimeoutError::Timeout) => {
            if server.has_to_introduce() {
                server.introduce();
            }
            Some(Event::Quiet)
        }
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// Handles a message; a panic becomes an error response.
fn handle(server: &mut Server, message: Value, cancelled: &Mutex<HashSet<String>>) -> SessionFlow {
    let id = message.get("id").cloned();
    let is_request = id.is_some() && message.get("method").is_some();
    if let Some(id) = id.as_ref().filter(|_| is_request)
        && cancelled.lock().is_ok_and(|mut cancelled| cancelled.remove(&id.to_string()))
    {
        let error = json!({"code": -32800, "message": "cancelled"});
        server.send(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        return SessionFlow::Continue;
    }
    let result = panic::catch_unwind(AssertUnwindSafe(|| server.handle(message)));
    result.unwrap_or_else(|_| {
        if let Some(id) = id.filter(|_| is_request) {
            let error = json!({"code": -32603, "message": "internal error; please report it with the file"});
            server.send(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        SessionFlow::Continue
    })
}

fn flush(server: &mut Server, output: &mut impl Write) -> std::io::Result<()> {
    for message in server.take_messages() {
        wire::write(output, message.as_bytes())?;
    }
    Ok(())
}

fn read_all(input: &mut impl BufRead, events: &Sender<Event>, cancelled: &Mutex<HashSet<String>>) {
    loop {
        let event = match wire::read(input) {
            Ok(Some(body)) => match serde_json::from_slice::<Value>(&body) {
                Ok(message) => {
                    note_cancelled(&message, cancelled);
                    Event::Message(message)
                }
                Err(error) => Event::Malformed(error.to_string()),
            },
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Event::Malformed(error.to_string()),
            Ok(None) | Err(_) => Event::End,
        };
        let is_end = matches!(event, Event::End);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

/// Remembers cancelled requests in the queue, which then need no answer.
fn note_cancelled(message: &Value, cancelled: &Mutex<HashSet<String>>) {
    const MAX_NOTED: usize = 10_000;
    if message.get("method").and_then(Value::as_str) == Some("$/cancelRequest")
        && let Some(id) = message.pointer("/params/id")
        && let Ok(mut cancelled) = cancelled.lock()
    {
        if cancelled.len() > MAX_NOTED {
            cancelled.clear();
        }
        cancelled.insert(id.to_string());
    }
}

/// Starts a thread that runs jobs one by one.
fn worker(name: &str, events: &Sender<Event>, event: fn(Box<Done>) -> Event) -> Option<Sender<Job>> {
    let (jobs, queue) = mpsc::channel::<Job>();
    let events = events.clone();
    let work = move || {
        for job in queue {
            let failed = job.failed();
            let done = panic::catch_unwind(AssertUnwindSafe(|| job.run())).unwrap_or(failed);
            if events.send(event(Box::new(done))).is_err() {
                return;
            }
        }
    };
    let thread = thread::Builder::new().name(name.to_owned()).stack_size(STACK);
    thread.spawn(work).ok()?;
    Some(jobs)
}
