//! Records which items of overlays matched something, while a run applies them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ytterby_diag::Pos;

/// The overlays that runs applied: for each item whether it had an effect. Several runs can share
/// one; each has its own positions.
#[derive(Debug, Default)]
pub struct OverlayRecord(Mutex<BTreeMap<(u32, u32), bool>>);

impl OverlayRecord {
    /// Records that an overlay item was applied. Once it had an effect, that stays recorded.
    pub(crate) fn note(&self, pos: Pos, has_effect: bool) {
        if pos.is_known() {
            let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            *notes.entry((pos.file.0, pos.offset)).or_default() |= has_effect;
        }
    }

    /// The items that were applied, and whether they had an effect.
    pub fn items(&self) -> Vec<(Pos, bool)> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let item = |(&(file, offset), &has_effect)| (Pos::new(ytterby_diag::FileId(file), offset), has_effect);
        notes.iter().map(item).collect()
    }
}
