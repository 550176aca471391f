//! `range(start, stop, step)`: lazily computed integers.

/// A sequence of integers.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub(crate) start: i64,
    pub(crate) stop: i64,
    pub(crate) step: i64,
    len: usize,
}

impl Range {
    /// The integers from `start` up to but not including `stop` in steps of `step`, which is not 0.
    /// All three have at most 32 bits in programs, so that sums of them do not overflow.
    pub(crate) fn new(start: i64, stop: i64, step: i64) -> Range {
        let len = if step > 0 && stop > start {
            (stop - 1 - start) / step + 1
        } else if step < 0 && start > stop {
            (start - 1 - stop) / -step + 1
        } else {
            0
        };
        Range { start, stop, step, len: len as usize }
    }

    /// The number of integers.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The integer at a valid index.
    #[inline]
    pub fn get(&self, index: usize) -> i64 {
        self.start.wrapping_add((index as i64).wrapping_mul(self.step))
    }

    /// The integer at an index, which is then incremented; `None` after the last.
    #[inline(always)]
    pub(crate) fn next(&self, index: &mut usize) -> Option<i64> {
        let at = *index;
        if at >= self.len {
            return None;
        }
        *index += 1;
        Some(self.get(at))
    }

    /// Whether it contains the integer.
    pub fn contains(&self, value: i64) -> bool {
        let Some(delta) = value.checked_sub(self.start) else { return false };
        let (quotient, remainder) = (delta / self.step, delta % self.step);
        remainder == 0 && quotient >= 0 && (quotient as u64) < self.len as u64
    }

    /// Whether both contain the same integers.
    pub(crate) fn equals(&self, other: &Range) -> bool {
        self.len == other.len
            && (self.len == 0 || self.start == other.start && (self.len == 1 || self.step == other.step))
    }

    pub(crate) fn slice(&self, start: i64, end: i64, step: i64) -> Range {
        let at = |index: i64| self.start.saturating_add(self.step.saturating_mul(index));
        Range::new(at(start), at(end), self.step.saturating_mul(step))
    }
}
