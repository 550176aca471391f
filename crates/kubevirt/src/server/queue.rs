//! A queue of reviews that is fair by namespace and user.
//!
//! A flow is everything that one user does in one namespace. Each flow has its own clock, which
//! advances by the time that its reviews took; the review with the lowest clock comes next
//! (start-time fair queueing). So a busy flow waits for its own requests, and one with few requests
//! hardly waits at all. A flow that was silent starts at the present, so that it cannot save up
//! time.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::admission::Sender;

/// The estimated cost of a review, in nanoseconds.
const GUESS: u64 = 50_000;

/// Maximum remembered flows; those that are not ahead of the present can be forgotten.
const REMEMBERED: usize = 1024;

/// Namespace and user.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Flow(Box<str>, Box<str>);

impl Flow {
    pub(super) fn of(sender: &Sender) -> Flow {
        Flow(sender.namespace.as_str().into(), sender.user.as_str().into())
    }
}

/// A number of slots, and those who wait for one.
pub(super) struct Queue(Mutex<QueueState>);

#[derive(Default)]
struct QueueState {
    free: usize,
    /// The start of the last review that got a slot.
    now: u64,
    /// When the next review of a flow may start.
    clocks: HashMap<Flow, u64>,
    /// By start, then in order of arrival.
    waiting: BTreeMap<(u64, u64), oneshot::Sender<()>>,
    arrivals: u64,
}

/// A slot. It becomes free when this is dropped.
pub(super) struct Permit {
    queue: Arc<Queue>,
    flow: Flow,
    start: u64,
    began: Instant,
}

impl Queue {
    pub(super) fn new(slots: usize) -> Arc<Queue> {
        Arc::new(Queue(Mutex::new(QueueState { free: slots, ..QueueState::default() })))
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a slot. Dropping the future leaves the queue.
    pub(super) async fn enter(self: &Arc<Queue>, flow: Flow) -> Permit {
        let waiter = {
            let mut state = self.state();
            let start = state.clocks.get(&flow).copied().unwrap_or_default().max(state.now);
            state.clocks.insert(flow.clone(), start.saturating_add(GUESS));
            if state.free > 0 {
                state.free -= 1;
                state.now = start;
                drop(state);
                return Permit { queue: Arc::clone(self), flow, start, began: Instant::now() };
            }
            state.arrivals += 1;
            let (granted, grant) = oneshot::channel();
            let key = (start, state.arrivals);
            state.waiting.insert(key, granted);
            Waiter { queue: self, flow, key, grant, is_served: false }
        };
        waiter.wait().await
    }

    /// The number of waiting reviews.
    pub(super) fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Adds the cost of a review to its flow, and lets the next one in.
    fn leave(&self, flow: &Flow, start: u64, took: Duration) {
        let mut state = self.state();
        let cost = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        if let Some(clock) = state.clocks.get_mut(flow) {
            *clock = clock.saturating_sub(GUESS).saturating_add(cost).max(start);
        }
        state.free += 1;
        while state.free > 0
            && let Some(((start, _), granted)) = state.waiting.pop_first()
        {
            state.now = state.now.max(start);
            // A waiter that has just left gets nothing.
            if granted.send(()).is_ok() {
                state.free -= 1;
            }
        }
        if state.clocks.len() > REMEMBERED {
            let now = state.now;
            state.clocks.retain(|_, clock| *clock > now);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.queue.leave(&self.flow, self.start, self.began.elapsed());
    }
}

/// A waiting review.
struct Waiter<'a> {
    queue: &'a Arc<Queue>,
    flow: Flow,
    key: (u64, u64),
    grant: oneshot::Receiver<()>,
    is_served: bool,
}

impl Waiter<'_> {
    async fn wait(mut self) -> Permit {
        // The sender stays in the queue until it is used.
        let _ = (&mut self.grant).await;
        self.is_served = true;
        let (queue, flow) = (Arc::clone(self.queue), self.flow.clone());
        Permit { queue, flow, start: self.key.0, began: Instant::now() }
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if self.is_served {
            return;
        }
        let was_waiting = self.queue.state().waiting.remove(&self.key).is_some();
        if !was_waiting {
            // The slot was granted at the moment of leaving.
            self.queue.leave(&self.flow, self.key.0, Duration::ZERO);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    fn flow(namespace: &str) -> Flow {
        Flow(namespace.into(), "user".into())
    }

    fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn quiet_flows_come_before_busy_ones() {
        let queue = Queue::new(1);
        let busy = poll(pin!(queue.enter(flow("a")))).expect("the first slot is free");
        let (mut second, mut third) = (Box::pin(queue.enter(flow("a"))), Box::pin(queue.enter(flow("a"))));
        assert!(poll(second.as_mut()).is_none() && poll(third.as_mut()).is_none());
        std::thread::sleep(Duration::from_millis(2));
        drop(busy);
        let busy = poll(second.as_mut()).expect("the slot is free again");
        let mut other = Box::pin(queue.enter(flow("b")));
        assert!(poll(other.as_mut()).is_none());
        assert_eq!(queue.waiting(), 2);
        drop(busy);
        assert!(poll(third.as_mut()).is_none(), "it came before, but its flow had its share");
        drop(poll(other.as_mut()).expect("the other flow is next"));
        assert!(poll(third.as_mut()).is_some());
    }

    #[test]
    fn cancelled_waiters_take_no_slot() {
        let queue = Queue::new(1);
        let busy = poll(pin!(queue.enter(flow("a")))).expect("the first slot is free");
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(queue.enter(flow("a")))).collect();
        assert!(waiting.iter_mut().all(|waiter| poll(waiter.as_mut()).is_none()));
        drop(waiting.remove(0));
        assert_eq!(queue.waiting(), 2);
        // This one gets the slot and leaves without noticing.
        drop(busy);
        drop(waiting.remove(0));
        assert!(poll(waiting[0].as_mut()).is_some());
        drop(waiting);
        assert!(poll(pin!(queue.enter(flow("b")))).is_some(), "all slots are free again");
    }
}
