//! The data that a run is working on, to report a limit there.
//!
//! Code knows its own position when a limit ends it. Readers, walks over nodes and exports do not;
//! they note here, for a file or a node at a time, what they are working on.

use std::cell::Cell;

/// A source and an offset in it, as in `ytterby_diag::Pos`.
pub(super) type SourceOffset = (u32, u32);

/// The source of nodes that no source contains.
const UNKNOWN: u32 = u32::MAX;

/// What a run is working on.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct WorkPosition {
    /// The data that is being worked on.
    pub current: Option<(u32, u32)>,
    /// The data that was noted last, even if the work on it is done.
    pub last: Option<(u32, u32)>,
}

thread_local! {
    static POSITION: Cell<WorkPosition> =
        const { Cell::new(WorkPosition { current: None, last: None }) };
}

/// Until it is dropped, a position is the one that is being worked on.
pub struct WorkingAt {
    around: Option<SourceOffset>,
}

/// Notes the position of the data that is being worked on, until the guard is dropped. An unknown
/// position changes nothing.
#[must_use]
pub fn working_at(file: u32, offset: u32) -> WorkingAt {
    let position = POSITION.get();
    if file != UNKNOWN {
        POSITION.set(WorkPosition { current: Some((file, offset)), last: Some((file, offset)) });
    }
    WorkingAt { around: position.current }
}

impl Drop for WorkingAt {
    fn drop(&mut self) {
        POSITION.set(WorkPosition { current: self.around, ..POSITION.get() });
    }
}

/// What this thread is working on.
pub(super) fn position() -> WorkPosition {
    POSITION.get()
}

/// Until it is dropped, a run inside another one has positions of its own: its sources may be
/// others.
pub(super) struct Separate {
    around: WorkPosition,
}

pub(super) fn separate() -> Separate {
    Separate { around: POSITION.take() }
}

impl Drop for Separate {
    fn drop(&mut self) {
        POSITION.set(self.around);
    }
}
