//! The account of the run on this thread: what it may use and what it has used.
//!
//! Charges count down two numbers of the thread ([`Unspent`]), which is cheap. Only when one
//! of them reaches zero, the account checks the memory, the clock and the cancellation token, and
//! grants more.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::limits::{Cancellation, Exceeded, Limits, Meter};
use super::position::{self, Separate, WorkPosition};

/// What may be charged before the account is asked.
pub(super) struct Unspent {
    /// Bytes before the memory is checked again.
    pub room: Cell<u64>,
    /// Units of work before the clock is checked again; 0 only after a limit was reached.
    pub fuel: Cell<u64>,
}

impl Unspent {
    fn take_room(&self, bytes: u64) -> bool {
        let rest = self.room.get().checked_sub(bytes);
        self.room.set(rest.unwrap_or(self.room.get()));
        rest.is_some()
    }

    fn take_fuel(&self, units: u64) -> bool {
        let rest = self.fuel.get().checked_sub(units).filter(|rest| *rest > 0);
        self.fuel.set(rest.unwrap_or(self.fuel.get()));
        rest.is_some()
    }
}

thread_local! {
    /// One variable, because finding it is half of the cost of a charge.
    pub(super) static UNSPENT: Unspent = const { Unspent { room: Cell::new(u64::MAX), fuel: Cell::new(u64::MAX) } };
    static ACCOUNT: RefCell<Option<Account>> = const { RefCell::new(None) };
}

/// Number of threads with an open budget in this process.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);

/// Units of work between two checks: 0.1 ms, or 10 ms where a unit is slow.
const UNITS_PER_LOOK: u64 = 4096;

/// Maximum bytes between two checks of the process memory. Charges underestimate the real usage
/// where collections double or small allocations are rounded up, so this keeps the error small.
const BYTES_PER_LOOK: u64 = 16 << 20;

/// Time between two checks of the process memory if nothing is charged. They find memory that is
/// allocated in blocks too small to be charged.
const TIME_PER_MEASUREMENT: Duration = Duration::from_millis(2);

/// Maximum number of code positions in the time profile; programs are shorter than that.
const MAX_PLACES: usize = 10_000;

struct Account {
    limits: Limits,
    cancellation: Option<Cancellation>,
    meter: Option<Arc<dyn Meter>>,
    /// Bytes of input read.
    input: u64,
    output: u64,
    steps: u64,
    /// Bytes charged, up to the room granted last.
    charged: u64,
    /// The room granted last.
    room: u64,
    started: Duration,
    /// The clock at the last check.
    looked: Duration,
    /// The clock when a check of the clock also measured the memory.
    measured: Duration,
    /// Nanoseconds by code position; units of work if there is no clock.
    hot: HashMap<(u32, u32), u64>,
    /// Time since the last noted code position, in the unit of `hot`.
    pending: u64,
    exceeded: Option<Exceeded>,
    /// The data that was being worked on when the limit was exceeded.
    exceeded_at: WorkPosition,
    /// The end of the enclosing run.
    around: Option<Deadline>,
}

/// When the time of a run is used up; the runs inside it end with it.
#[derive(Clone)]
struct Deadline {
    meter: Arc<dyn Meter>,
    at: Duration,
    limit: Duration,
    /// Whether input of inner runs postpones it, because the limit is the default.
    grows: bool,
}

/// A run with a budget. Dropping it ends the budget and restores that of the enclosing run, if any.
/// A run inside another one ends when the time of that is used up.
pub struct BudgetGuard {
    around: Option<Box<(Option<Account>, u64, u64)>>,
    _position: Separate,
}

/// Opens the budget of a run on this thread.
#[must_use]
pub fn begin(limits: Limits, cancellation: Option<Cancellation>, meter: Option<Arc<dyn Meter>>) -> BudgetGuard {
    let started = meter.as_ref().and_then(|meter| meter.time()).unwrap_or_default();
    let around = ACCOUNT.with_borrow(|account| account.as_ref().and_then(Account::deadline));
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
        measured: started,
        hot: HashMap::new(),
        pending: 0,
        exceeded: None,
        exceeded_at: WorkPosition::default(),
        around,
    };
    // The first check is early enough for small limits, and small runs never reach it.
    let room = account.limits.memory_with(0).min(BYTES_PER_LOOK / 4);
    account.room = room;
    let (around_room, around_fuel) =
        UNSPENT.with(|unspent| (unspent.room.replace(room), unspent.fuel.replace(UNITS_PER_LOOK)));
    let around = (ACCOUNT.replace(Some(account)), around_room, around_fuel);
    if around.0.is_none() {
        ACTIVE.fetch_add(1, Ordering::Relaxed);
    }
    BudgetGuard { around: Some(Box::new(around)), _position: position::separate() }
}

impl Drop for BudgetGuard {
    fn drop(&mut self) {
        if let Some(around) = self.around.take() {
            let (account, room, fuel) = *around;
            if account.is_none() {
                ACTIVE.fetch_sub(1, Ordering::Relaxed);
            }
            ACCOUNT.set(account);
            set_left(room, fuel);
        }
    }
}

impl Account {
    /// Refuses all further charges.
    fn exceed(&mut self, exceeded: Exceeded) -> Exceeded {
        if self.exceeded.is_none() {
            self.exceeded_at = position::position();
        }
        let first = *self.exceeded.get_or_insert(exceeded);
        set_left(0, 0);
        first
    }

    /// Checks whether `bytes` more are within the limit, and grants new room.
    fn more_memory(&mut self, bytes: u64) -> Result<(), Exceeded> {
        self.charged += self.room - UNSPENT.with(|unspent| unspent.room.get()).min(self.room);
        let limit = self.limits.memory_with(self.input);
        let measured = self.meter.as_ref().and_then(|meter| meter.memory());
        let used = match measured {
            // With several runs in the process, the measured memory includes that of the others.
            // This run cannot use more than it was granted.
            Some(measured) if ACTIVE.load(Ordering::Relaxed) > 1 => measured.min(self.charged),
            Some(measured) => measured,
            None => self.charged,
        };
        let rest = match (self.limits.memory, measured) {
            (None, None) => Some(u64::MAX),
            _ => limit.checked_sub(used),
        };
        let Some(rest) = rest.filter(|rest| bytes <= *rest) else {
            return Err(self.exceed(Exceeded::Memory(limit)));
        };
        self.charged = self.charged.saturating_add(bytes);
        // Half of the rest: charges are estimates.
        let mut room = rest - bytes;
        if measured.is_some() {
            room = (room / 2).min(BYTES_PER_LOOK);
        }
        self.room = room;
        UNSPENT.with(|unspent| unspent.room.set(room));
        Ok(())
    }

    /// Checks the clock and the cancellation token.
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
        self.pending = self.pending.saturating_add(took);
        let limit = self.limits.time_with(self.input);
        if now.is_some_and(|now| now.saturating_sub(self.started) >= limit) {
            return Err(self.exceed(Exceeded::Time(limit)));
        }
        if let Some(limit) = self.around.as_ref().and_then(|around| around.reached(self.input)) {
            return Err(self.exceed(Exceeded::Time(limit)));
        }
        UNSPENT.with(|unspent| unspent.fuel.set(UNITS_PER_LOOK));
        match now.filter(|now| now.saturating_sub(self.measured) >= TIME_PER_MEASUREMENT) {
            Some(now) => {
                self.measured = now;
                self.more_memory(0)
            }
            None => Ok(()),
        }
    }

    /// When this run ends, or the one around it if that is earlier.
    fn deadline(&self) -> Option<Deadline> {
        let limit = self.limits.time_with(self.input);
        let own = self.meter.as_ref().zip(self.started.checked_add(limit)).map(|(meter, at)| Deadline {
            meter: meter.clone(),
            at,
            limit,
            grows: self.limits.time.is_none(),
        });
        own.into_iter().chain(self.around.clone()).min_by_key(Deadline::left)
    }
}

impl Deadline {
    fn left(&self) -> Duration {
        self.at.saturating_sub(self.meter.time().unwrap_or_default())
    }

    /// The limit that an inner run reached that read `input` bytes.
    fn reached(&self, input: u64) -> Option<Duration> {
        let more = if self.grows { Duration::from_micros(input) } else { Duration::ZERO };
        let is_over = self.meter.time().is_some_and(|now| now >= self.at.saturating_add(more));
        is_over.then(|| self.limit + more)
    }
}

fn set_left(room: u64, fuel: u64) {
    UNSPENT.with(|unspent| {
        unspent.room.set(room);
        unspent.fuel.set(fuel);
    });
}

/// Calls `act` with the account of this thread; returns `otherwise` if there is none.
fn with<T>(otherwise: T, act: impl FnOnce(&mut Account) -> T) -> T {
    ACCOUNT.with_borrow_mut(|account| match account {
        Some(account) => act(account),
        None => {
            set_left(u64::MAX, u64::MAX);
            otherwise
        }
    })
}

/// Charges what is not left.
#[cold]
#[inline(never)]
pub(super) fn take(bytes: u64, units: u64) -> Result<(), Exceeded> {
    with(Ok(()), |account| {
        if let Some(exceeded) = account.exceeded {
            return Err(exceeded);
        }
        if !UNSPENT.with(|unspent| unspent.take_room(bytes)) {
            account.more_memory(bytes)?;
        }
        if UNSPENT.with(|unspent| unspent.take_fuel(units)) { Ok(()) } else { account.look(units) }
    })
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
    with((), |account| {
        let took = std::mem::take(&mut account.pending);
        if took > 0 && (account.hot.len() < MAX_PLACES || account.hot.contains_key(&place)) {
            *account.hot.entry(place).or_default() += took;
        }
    });
}

pub(super) fn code_begins() {
    with((), |account| account.pending = 0);
}

pub(super) fn steps_left() -> u64 {
    ACCOUNT.with_borrow(|account| match account {
        Some(account) => account.limits.steps.map_or(u64::MAX, |limit| limit.saturating_sub(account.steps)),
        None => u64::MAX,
    })
}

pub(super) fn used() -> (u64, u64) {
    ACCOUNT.with_borrow(|account| match account {
        Some(account) => {
            (account.steps, account.charged + account.room.saturating_sub(UNSPENT.with(|unspent| unspent.room.get())))
        }
        None => (0, 0),
    })
}

pub(super) fn output(bytes: u64) -> Result<(), Exceeded> {
    may_output(bytes)?;
    with((), |account| account.output = account.output.saturating_add(bytes));
    Ok(())
}

pub(super) fn may_output(bytes: u64) -> Result<(), Exceeded> {
    with(Ok(()), |account| {
        if let Some(exceeded) = account.exceeded {
            return Err(exceeded);
        }
        let limit = account.limits.output.unwrap_or(Limits::OUTPUT);
        match account.output.saturating_add(bytes) > limit {
            true => Err(account.exceed(Exceeded::Output(limit))),
            false => Ok(()),
        }
    })
}

pub(super) fn input(bytes: u64) {
    with((), |account| account.input = account.input.saturating_add(bytes));
}

pub(super) fn depth() -> Option<usize> {
    ACCOUNT.with_borrow(|account| account.as_ref().and_then(|account| account.limits.depth))
}

/// The data that was being worked on when the limit was exceeded.
pub fn exceeded_at() -> WorkPosition {
    ACCOUNT.with_borrow(|account| account.as_ref().map(|account| account.exceeded_at).unwrap_or_default())
}

/// The code positions that took most of the time, hottest first, each with its share in percent.
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
