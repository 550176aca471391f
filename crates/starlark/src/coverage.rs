//! Which statements ran.
//!
//! A program that is compiled with a [`Coverage`] has an instruction before each statement that notes it; any other
//! program has none, so nobody else pays for it. Several threads can share the notes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ytterby_diag::Pos;

/// The statements of programs, and whether each one ran.
#[derive(Debug, Default)]
pub struct Coverage(Mutex<HashMap<Pos, bool>>);

impl Coverage {
    /// Notes that there is a statement at a place.
    pub(crate) fn declare(&self, pos: Pos) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(pos).or_default();
    }

    /// Notes that the statement at a place runs.
    pub(crate) fn reach(&self, pos: Pos) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(pos, true);
    }

    /// All statements, in no particular order, and whether each one ran.
    pub fn statements(&self) -> Vec<(Pos, bool)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(pos, ran)| (*pos, *ran)).collect()
    }
}
