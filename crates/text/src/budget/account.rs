//! The account of the run on this thread.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::limits::{Cancellation, Exceeded, Limits, Meter};

thread_local! {
    /// Bytes that may be charged until the memory is looked at.
    pub(super) static ROOM: Cell<u64> = const { Cell::new(u64::MAX) };
    /// Units of work until the clock is looked at; 0 once a limit was reached, and never before.
    pub(super) static FUEL: Cell<u64> = const { Cell::new(u64::MAX) };
    static ACCOUNT: RefCell<Option<Account>> = const { RefCell::new(None) };
}

/// How many budgets are open in this process.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Units of work between two looks: 0.1 ms, or 10 ms where a unit is slow.
const UNITS_PER_LOOK: u64 = 4096;

/// Bytes between two looks at the memory of the process, at most. What is charged is less than what is used where
/// collections double or small allocations are rounded up, and such errors must stay small.
const BYTES_PER_LOOK: u64 = 16 << 20;

/// Samples are taken at so many places at most: programs are not that long.
const MAX_PLACES: usize = 10_000;

struct Account {
    limits: Limits,
    cancellation: Option<Cancellation>,
    meter: Option<Arc<dyn Meter>>,
    /// Bytes that were read.
    input: u64,
    output: u64,
    steps: u64,
    /// Bytes that were charged, up to the room that was given last.
    charged: u64,
    /// The room that was given last.
    room: u64,
    started: Duration,
    /// The clock at the last look.
    looked: Duration,
    /// Nanoseconds by the place of the code that ran; units of work without a clock.
    hot: HashMap<(u32, u32), u64>,
    /// Where code was last seen.
    place: Option<(u32, u32)>,
    exceeded: Option<Exceeded>,
}

/// A run that has a budget; the end of it ends the budget, and the one of a run around it goes on.
pub struct Running {
    around: Option<Box<(Option<Account>, u64, u64)>>,
}

/// Opens the budget of a run on this thread.
#[must_use]
pub fn begin(limits: Limits, cancellation: Option<Cancellation>, meter: Option<Arc<dyn Meter>>) -> Running {
    let started = meter.as_ref().and_then(|meter| meter.time()).unwrap_or_default();
    let mut account = Account {
        limits,
        cancellation,
        meter,
        input: 0,
        output: 0,
        steps: 0,
        charged: 0,
        room: 0,
        started,
        looked: started,
        hot: HashMap::new(),
        place: None,
        exceeded: None,
    };
    // The first look comes early enough for small limits, and not at all in small runs.
    let room = account.limits.memory_with(0).min(BYTES_PER_LOOK / 4);
    account.room = room;
    ACTIVE.fetch_add(1, Ordering::Relaxed);
    let around = (ACCOUNT.replace(Some(account)), ROOM.replace(room), FUEL.replace(UNITS_PER_LOOK));
    Running { around: Some(Box::new(around)) }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(around) = self.around.take() {
            ACTIVE.fetch_sub(1, Ordering::Relaxed);
            let (account, room, fuel) = *around;
            ACCOUNT.set(account);
            ROOM.set(room);
            FUEL.set(fuel);
        }
    }
}

impl Account {
    /// Refuses everything from now on.
    fn exceed(&mut self, exceeded: Exceeded) -> Exceeded {
        let first = *self.exceeded.get_or_insert(exceeded);
        ROOM.set(0);
        FUEL.set(0);
        first
    }

    /// Whether the memory suffices for so many bytes more; gives new room.
    fn more_memory(&mut self, bytes: u64) -> Result<(), Exceeded> {
        self.charged += self.room - ROOM.get().min(self.room);
        let limit = self.limits.memory_with(self.input);
        let measured = self.meter.as_ref().and_then(|meter| meter.memory());
        let used = match measured {
            // What others in the process use is not ours; what we were ever given is the most that we can have.
            Some(measured) if ACTIVE.load(Ordering::Relaxed) > 1 => measured.min(self.charged),
            Some(measured) => measured,
            None => self.charged,
        };
        let rest = match (self.limits.memory, measured) {
            (None, None) => u64::MAX,
            _ => limit.saturating_sub(used),
        };
        if bytes > rest {
            return Err(self.exceed(Exceeded::Memory(limit)));
        }
        self.charged = self.charged.saturating_add(bytes);
        // Half of what is left: charges are estimates.
        let mut room = rest - bytes;
        if measured.is_some() {
            room = (room / 2).min(BYTES_PER_LOOK);
        }
        self.room = room;
        ROOM.set(room);
        Ok(())
    }

    /// Looks at the clock and the token.
    fn look(&mut self, units: u64) -> Result<(), Exceeded> {
        if let Some(exceeded) = self.exceeded {
            return Err(exceeded);
        }
        if self.cancellation.as_ref().is_some_and(Cancellation::is_cancelled) {
            return Err(self.exceed(Exceeded::Cancelled));
        }
        let now = self.meter.as_ref().and_then(|meter| meter.time());
        let took = match now {
            Some(now) => {
                let took = now.saturating_sub(self.looked);
                self.looked = now;
                took.as_nanos() as u64
            }
            None => units,
        };
        if let Some(place) = self.place
            && (self.hot.len() < MAX_PLACES || self.hot.contains_key(&place))
        {
            *self.hot.entry(place).or_default() += took;
        }
        let limit = self.limits.time_with(self.input);
        if now.is_some_and(|now| now.saturating_sub(self.started) >= limit) {
            return Err(self.exceed(Exceeded::Time(limit)));
        }
        FUEL.set(UNITS_PER_LOOK);
        Ok(())
    }
}

/// Does something with the account of this thread; `otherwise` where there is none.
fn with<T>(otherwise: T, act: impl FnOnce(&mut Account) -> T) -> T {
    ACCOUNT.with_borrow_mut(|account| match account {
        Some(account) => act(account),
        None => {
            ROOM.set(u64::MAX);
            FUEL.set(u64::MAX);
            otherwise
        }
    })
}

#[cold]
#[inline(never)]
pub(super) fn more_memory(bytes: u64) -> Result<(), Exceeded> {
    with(Ok(()), |account| match account.exceeded {
        Some(exceeded) => Err(exceeded),
        None => account.more_memory(bytes),
    })
}

#[cold]
#[inline(never)]
pub(super) fn look(units: u64) -> Result<(), Exceeded> {
    with(Ok(()), |account| account.look(units))
}

#[inline(never)]
pub(super) fn steps(count: u64) -> Result<(), Exceeded> {
    let stepped = with(Ok(()), |account| {
        account.steps = account.steps.saturating_add(count);
        match account.limits.steps.filter(|limit| account.steps >= *limit) {
            Some(limit) => Err(account.exceed(Exceeded::Steps(limit))),
            None => Ok(()),
        }
    });
    stepped.and_then(|()| super::work(count as usize))
}

pub(super) fn at(place: (u32, u32)) {
    with((), |account| account.place = Some(place));
}

pub(super) fn steps_left() -> u64 {
    ACCOUNT.with_borrow(|account| match account {
        Some(account) => account.limits.steps.map_or(u64::MAX, |limit| limit.saturating_sub(account.steps)),
        None => u64::MAX,
    })
}

pub(super) fn output(bytes: u64) -> Result<(), Exceeded> {
    with(Ok(()), |account| {
        if let Some(exceeded) = account.exceeded {
            return Err(exceeded);
        }
        account.output = account.output.saturating_add(bytes);
        let limit = account.limits.output.unwrap_or(Limits::OUTPUT);
        if account.output > limit { Err(account.exceed(Exceeded::Output(limit))) } else { Ok(()) }
    })
}

pub(super) fn input(bytes: u64) {
    with((), |account| account.input = account.input.saturating_add(bytes));
}

pub(super) fn depth() -> Option<usize> {
    ACCOUNT.with_borrow(|account| account.as_ref().and_then(|account| account.limits.depth))
}

/// The places of code that took most of the time, the hottest first, each with its part of the time in percent. Where
/// code was last seen counts for the time since.
pub fn hottest() -> Vec<((u32, u32), u64)> {
    ACCOUNT.with_borrow(|account| {
        let Some(account) = account else { return Vec::new() };
        let all = match account.looked.saturating_sub(account.started).as_nanos() as u64 {
            0 => account.hot.values().sum::<u64>().max(1),
            elapsed => elapsed,
        };
        let mut places: Vec<_> = account.hot.iter().map(|(place, time)| (*place, time * 100 / all)).collect();
        places.sort_by_key(|(place, part)| (u64::MAX - part, *place));
        places
    })
}
