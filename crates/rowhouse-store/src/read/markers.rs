//! Delete markers that come one after the other in a row, and when to pass those behind them together.

use rowhouse_model::{CellKind, Result};

use crate::cells::Cells;

/// How many are judged before those behind them are passed together: a file has to look at a block for that once, a memstore
/// has to search.
const BEFORE_PASSING: usize = 8;

/// How many more are judged at most where there was nothing to pass.
const BETWEEN_TRIES_MAX: usize = 512;

/// How many, of those that could not be passed, are so many that a memstore is better written to a file, where they are
/// merged away: some 400 KB of it.
const MANY: usize = 4096;

/// The delete markers that a reader has gone through without anything else in between.
pub(super) struct MarkersSeen {
    count: usize,
    /// From how many on passing is tried again.
    try_at: usize,
    /// How many were judged since it was tried in vain.
    pause: usize,
}

impl Default for MarkersSeen {
    fn default() -> Self {
        Self { count: 0, try_at: BEFORE_PASSING, pause: 0 }
    }
}

impl MarkersSeen {
    /// Something else came.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.count > 0 {
            *self = Self::default();
        }
    }

    /// Counts a cell that is not shown; whether it is a marker, of so many that passing those behind it is to be tried.
    #[inline]
    pub(super) fn count(&mut self, kind: u8) -> bool {
        if kind == CellKind::Put.code() {
            self.end();
            return false;
        }
        self.count += 1;
        self.count > self.try_at
    }

    /// Passes markers behind the one here, if there are any to pass.
    #[cold]
    pub(super) fn pass(&mut self, from: &mut impl Cells) -> Result<bool> {
        if self.count > MANY {
            from.note_many_markers();
        }
        let passed = from.pass_markers()?;
        self.pause = if passed { 0 } else { (2 * self.pause + 1).min(BETWEEN_TRIES_MAX) };
        self.try_at = self.count + self.pause;
        Ok(passed)
    }
}
