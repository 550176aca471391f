//! The groups of one match, found so that a limit of the run can interrupt it.
//!
//! The `regex` engines cannot be interrupted: the groups of `((\w{1,300})\s?)*` take 5 s for a
//! megabyte. They also reserve memory for all groups in each state of the pattern, which is
//! gigabytes for thousands of groups. Here only the groups that somebody asked for are followed,
//! and the budget of the run is charged before the memory is reserved and while states are visited.
//! The result is the same, but ordinary matches take longer, so this is for large ones only.

use regex_automata::Span;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;
use ytterby_text::budget::{self, Exceeded};

/// Visited states between two charges.
const BLOCK: usize = 256;

/// The value of a group's start or end that is not known.
const UNKNOWN: usize = usize::MAX;

/// Finds the groups `wanted` of the match at `span`, in their order; those that did not take part
/// in the match are `None`.
///
/// # Errors
/// If a limit of the run is reached.
pub(crate) fn find(nfa: &NFA, text: &[u8], span: Span, wanted: &[usize]) -> Result<Vec<Option<Span>>, Exceeded> {
    let slots = wanted.len() * 2;
    budget::memory_of(2 * nfa.states().len(), (slots + 2) * size_of::<usize>())?;
    let mut search = GroupSearch { nfa, text, wanted, slots: vec![UNKNOWN; slots], stack: Vec::new(), visited: 0 };
    let mut now = Threads::new(nfa.states().len(), slots);
    let mut next = Threads::new(nfa.states().len(), slots);
    let mut found = vec![UNKNOWN; slots];
    let matched = &text[..span.end];
    search.follow(&mut now, nfa.start_anchored(), span.start)?;
    for at in span.start..=span.end {
        if now.states.is_empty() {
            break;
        }
        let byte = matched.get(at).copied();
        for index in 0..now.states.len() {
            let state = now.states[index];
            let to = match (nfa.state(state), byte) {
                (State::Match { .. }, _) => {
                    found.copy_from_slice(now.slots(state));
                    // States after this one have a lower priority.
                    break;
                }
                (State::ByteRange { trans }, Some(byte)) if trans.matches_byte(byte) => Some(trans.next),
                (State::Sparse(transitions), Some(byte)) => transitions.matches_byte(byte),
                (State::Dense(transitions), Some(byte)) => transitions.matches_byte(byte),
                _ => None,
            };
            search.visit()?;
            if let Some(to) = to {
                search.slots.copy_from_slice(now.slots(state));
                search.follow(&mut next, to, at + 1)?;
            }
        }
        std::mem::swap(&mut now, &mut next);
        next.clear();
    }
    let group = |ends: &[usize]| match *ends {
        [start, end] if start != UNKNOWN && end != UNKNOWN => Some(Span { start, end }),
        _ => None,
    };
    Ok(found.chunks(2).map(group).collect())
}

/// The states that can be reached without a byte, in the order of their priority, each with the
/// groups on the way there.
struct Threads {
    states: Vec<StateID>,
    /// For each state of the pattern its index in `states`, if that index is valid and names it.
    index: Vec<usize>,
    table: Vec<usize>,
    width: usize,
}

impl Threads {
    fn new(states: usize, width: usize) -> Threads {
        Threads { states: Vec::new(), index: vec![0; states], table: vec![UNKNOWN; states * width], width }
    }

    fn clear(&mut self) {
        self.states.clear();
    }

    /// Adds a state; false if it was there.
    fn insert(&mut self, state: StateID) -> bool {
        let at = self.index[state];
        if self.states.get(at) == Some(&state) {
            return false;
        }
        self.index[state] = self.states.len();
        self.states.push(state);
        true
    }

    fn slots(&self, state: StateID) -> &[usize] {
        &self.table[state.as_usize() * self.width..][..self.width]
    }

    fn slots_mut(&mut self, state: StateID) -> &mut [usize] {
        &mut self.table[state.as_usize() * self.width..][..self.width]
    }
}

struct GroupSearch<'t> {
    nfa: &'t NFA,
    text: &'t [u8],
    wanted: &'t [usize],
    /// The groups on the way to the state that is visited.
    slots: Vec<usize>,
    stack: Vec<PendingStep>,
    /// States visited since the last charge.
    visited: usize,
}

/// Remaining work while states are followed.
enum PendingStep {
    Visit(StateID),
    /// All states after a group's start or end were visited: its value is what it was before.
    Restore(usize, usize),
}

impl GroupSearch<'_> {
    /// Adds the states that can be reached from `from` without a byte.
    fn follow(&mut self, threads: &mut Threads, from: StateID, at: usize) -> Result<(), Exceeded> {
        self.stack.push(PendingStep::Visit(from));
        while let Some(step) = self.stack.pop() {
            match step {
                PendingStep::Visit(state) => self.visit_from(threads, state, at)?,
                PendingStep::Restore(slot, value) => self.slots[slot] = value,
            }
        }
        Ok(())
    }

    fn visit_from(&mut self, threads: &mut Threads, mut state: StateID, at: usize) -> Result<(), Exceeded> {
        while threads.insert(state) {
            self.visit()?;
            match self.nfa.state(state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) | State::Match { .. } => {
                    threads.slots_mut(state).copy_from_slice(&self.slots);
                    return Ok(());
                }
                State::Fail => return Ok(()),
                State::Look { look, next } => {
                    if !self.nfa.look_matcher().matches(*look, self.text, at) {
                        return Ok(());
                    }
                    state = *next;
                }
                State::Union { alternates } => {
                    let Some((first, others)) = alternates.split_first() else { return Ok(()) };
                    self.stack.extend(others.iter().rev().map(|&other| PendingStep::Visit(other)));
                    state = *first;
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.stack.push(PendingStep::Visit(*alt2));
                    state = *alt1;
                }
                State::Capture { next, group_index, slot, .. } => {
                    if let Ok(index) = self.wanted.binary_search(&group_index.as_usize()) {
                        // Slots of a group alternate: its start, its end.
                        let own = 2 * index + slot.as_usize() % 2;
                        self.stack.push(PendingStep::Restore(own, self.slots[own]));
                        self.slots[own] = at;
                    }
                    state = *next;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn visit(&mut self) -> Result<(), Exceeded> {
        self.visited += 1;
        if self.visited < BLOCK {
            return Ok(());
        }
        self.visited = 0;
        budget::work(BLOCK * (1 + self.slots.len() / 8))
    }
}
