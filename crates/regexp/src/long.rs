//! Searches in long texts, which a limit of the run can interrupt.
//!
//! A search takes time in proportion to the length of the text, but the factor is the size of the
//! pattern: `[0-7][0-9a-f]{900}[g-z]` needs 6 s for a megabyte. The `regex` engines cannot be
//! interrupted, so long texts are searched byte by byte with its lazy automata here, and the budget
//! of the run is charged every few bytes. The result is the same.

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input, MatchKind, Span};
use ytterby_text::budget::{self, Exceeded};

/// Bytes between two charges.
const BLOCK: usize = 64;

/// States of the pattern that add a unit of work to each block: a step of a slow search visits all
/// of them.
const STATES_PER_UNIT: usize = 64;

/// Bytes times states that take the other engines less than half a second.
const SHORT_SEARCH: usize = 1 << 26;

/// The automata of a pattern.
#[derive(Clone, Debug)]
pub(crate) struct LongSearch {
    /// Finds where the leftmost match ends.
    forward: DFA,
    /// Finds where a match begins, given its end.
    reverse: DFA,
    /// Units of work of a block.
    units: usize,
}

/// Mutable memory of searches. One is enough for all searches with a pattern.
pub(crate) struct Caches {
    forward: Cache,
    reverse: Cache,
}

/// Why there is no result.
#[derive(Debug)]
pub(crate) enum Stopped {
    Limit(Exceeded),
    /// The automata cannot decide it; the other engines can.
    Unsupported,
}

impl From<Exceeded> for Stopped {
    fn from(exceeded: Exceeded) -> Stopped {
        Stopped::Limit(exceeded)
    }
}

impl LongSearch {
    /// The automata of a pattern in the syntax of `regex`, if it has any.
    pub fn new(pattern: &str, syntax: syntax::Config, size_limit: usize) -> Option<LongSearch> {
        let build = |reverse: bool, kind: MatchKind| {
            let nfa = thompson::Config::new().reverse(reverse).nfa_size_limit(Some(size_limit));
            let nfa = nfa.which_captures(thompson::WhichCaptures::None).shrink(false);
            let config = DFA::config().match_kind(kind).skip_cache_capacity_check(true);
            DFA::builder().configure(config).syntax(syntax).thompson(nfa).build(pattern).ok()
        };
        let forward = build(false, MatchKind::LeftmostFirst)?;
        let reverse = build(true, MatchKind::All)?;
        let units = 1 + forward.get_nfa().states().len() / STATES_PER_UNIT;
        Some(LongSearch { forward, reverse, units })
    }

    /// Whether a search may take long. The other engines are faster where a literal helps them.
    pub fn is_worth_it(&self, text: &str) -> bool {
        text.len().saturating_mul(self.units * STATES_PER_UNIT) > SHORT_SEARCH
    }

    pub fn caches(&self) -> Caches {
        Caches { forward: self.forward.create_cache(), reverse: self.reverse.create_cache() }
    }

    /// Whether there is a match.
    pub fn is_match(&self, text: &str) -> Result<bool, Stopped> {
        let input = Input::new(text).earliest(true);
        self.end(&mut self.forward.create_cache(), &input).map(|end| end.is_some())
    }

    /// The leftmost match in the range of the input.
    pub fn find(&self, caches: &mut Caches, input: &Input<'_>) -> Result<Option<Span>, Stopped> {
        let mut input = input.clone();
        loop {
            let Some(end) = self.end(&mut caches.forward, &input)? else { return Ok(None) };
            let start = self.start(&mut caches.reverse, input.haystack(), Span { start: input.start(), end })?;
            // An empty match inside of a character is none.
            if start < end || is_boundary(input.haystack(), end) {
                return Ok(Some(Span { start, end }));
            }
            if end >= input.end() {
                return Ok(None);
            }
            input.set_start(end + 1);
        }
    }

    /// Where the leftmost match ends. An automaton knows of a match one byte late, because what
    /// follows decides about `$` and `\b`.
    fn end(&self, cache: &mut Cache, input: &Input<'_>) -> Result<Option<usize>, Stopped> {
        let dfa = &self.forward;
        let bytes = input.haystack();
        let mut state = dfa.start_state_forward(cache, input).map_err(|_| Stopped::Unsupported)?;
        let mut found = None;
        for (at, &byte) in (input.start()..input.end()).zip(&bytes[input.start()..]) {
            state = next(dfa, cache, state, byte)?;
            if state.is_tagged() {
                if state.is_match() {
                    found = Some(at);
                    if input.get_earliest() {
                        return Ok(found);
                    }
                } else if state.is_dead() {
                    return Ok(found);
                } else if state.is_quit() {
                    return Err(Stopped::Unsupported);
                }
            }
            if at % BLOCK == 0 {
                budget::work(self.units)?;
            }
        }
        let last = dfa.next_eoi_state(cache, state).map_err(|_| Stopped::Unsupported)?;
        Ok(if last.is_match() { Some(input.end()) } else { found })
    }

    /// Where the match begins that ends at the end of the range.
    fn start(&self, cache: &mut Cache, bytes: &[u8], range: Span) -> Result<usize, Stopped> {
        let dfa = &self.reverse;
        let input = Input::new(bytes).span(range).anchored(Anchored::Yes);
        let mut state = dfa.start_state_reverse(cache, &input).map_err(|_| Stopped::Unsupported)?;
        let mut found = None;
        for at in (range.start..range.end).rev() {
            state = next(dfa, cache, state, bytes[at])?;
            if state.is_tagged() {
                if state.is_match() {
                    found = Some(at + 1);
                } else if state.is_dead() {
                    return found.ok_or(Stopped::Unsupported);
                } else if state.is_quit() {
                    return Err(Stopped::Unsupported);
                }
            }
            if at % BLOCK == 0 {
                budget::work(self.units)?;
            }
        }
        let last = match range.start.checked_sub(1) {
            Some(before) => next(dfa, cache, state, bytes[before])?,
            None => dfa.next_eoi_state(cache, state).map_err(|_| Stopped::Unsupported)?,
        };
        if last.is_match() {
            found = Some(range.start);
        }
        found.ok_or(Stopped::Unsupported)
    }
}

fn next(dfa: &DFA, cache: &mut Cache, state: LazyStateID, byte: u8) -> Result<LazyStateID, Stopped> {
    dfa.next_state(cache, state, byte).map_err(|_| Stopped::Unsupported)
}

/// Whether an offset of UTF-8 is between two characters.
fn is_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}
