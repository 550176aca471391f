//! Runs work on all cores and collects results on one thread.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::progress::Progress;

/// Stack size of a thread, for deeply nested input. Pages are committed on first use.
const STACK: usize = 256 << 20;

/// The number of threads for a number of jobs; `wanted` is the user's choice, if any.
pub fn threads(wanted: Option<usize>, pieces: usize) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    wanted.unwrap_or_else(cores).clamp(1, pieces.max(1))
}

/// Calls `work` for every number below `pieces` on several threads, each with its own state, and
/// passes each result to `take` on this thread, in order of completion. The queue of results is
/// short: many large ones need not fit into memory.
pub fn each<S: Default, T: Send>(
    pieces: usize,
    threads: usize,
    progress: &mut Progress,
    work: impl Fn(&mut S, usize) -> T + Sync,
    mut take: impl FnMut(usize, T, &mut Progress),
) {
    if threads <= 1 {
        let mut state = S::default();
        for number in 0..pieces {
            take(number, work(&mut state, number), progress);
            progress.step(number + 1, pieces);
        }
        progress.clear();
        return;
    }
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(threads * 2);
        let mut started = 0;
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let run = move || {
                let mut state = S::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= pieces || sender.send((number, work(&mut state, number))).is_err() {
                        return;
                    }
                }
            };
            started += usize::from(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).is_ok());
        }
        drop(sender);
        let mut done = 0;
        while done < pieces && started > 0 {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok((number, result)) => {
                    done += 1;
                    take(number, result, progress);
                    progress.step(done, pieces);
                }
                Err(RecvTimeoutError::Timeout) => progress.step(done, pieces),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // If no thread could be started, this thread does all the work.
        let left = if started > 0 { pieces } else { 0 };
        let mut state = S::default();
        for number in left..pieces {
            take(number, work(&mut state, number), progress);
        }
    });
    progress.clear();
}
