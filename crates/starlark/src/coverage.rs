//! Records which statements ran.
//!
//! A program compiled with a [`StatementCoverage`] has an additional instruction before each
//! statement; other programs have none and no cost. Several threads can share a record.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ytterby_diag::Pos;

/// The statements of programs, and whether each one ran.
#[derive(Debug, Default)]
pub struct StatementCoverage(Mutex<HashMap<Pos, bool>>);

impl StatementCoverage {
    /// Adds a statement.
    pub(crate) fn declare(&self, pos: Pos) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(pos).or_default();
    }

    /// Records that a statement runs.
    pub(crate) fn reach(&self, pos: Pos) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(pos, true);
    }

    /// All statements in any order, and whether each one ran.
    pub fn statements(&self) -> Vec<(Pos, bool)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(|(pos, ran)| (*pos, *ran)).collect()
    }
}
