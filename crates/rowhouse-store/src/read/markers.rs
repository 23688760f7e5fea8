//! Detects delete marker runs in a row that are worth skipping together.

use rowhouse_model::{CellKind, Result};

use crate::cells::Cells;

/// Markers matched one by one before a skip is tried, which costs a block lookup in a file and a
/// search in a memstore.
const BEFORE_PASSING: usize = 8;

/// Maximum markers matched between two tries after a try that skipped nothing.
const BETWEEN_TRIES_MAX: usize = 512;

/// The current delete marker run.
pub(super) struct MarkersSeen {
    count: usize,
    /// The run length after which a skip is tried again.
    try_at: usize,
    /// Markers to match after the last try that skipped nothing.
    pause: usize,
}

impl Default for MarkersSeen {
    fn default() -> Self {
        Self { count: 0, try_at: BEFORE_PASSING, pause: 0 }
    }
}

impl MarkersSeen {
    /// Ends the run: another cell came.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.count > 0 {
            *self = Self::default();
        }
    }

    /// Counts a cell that is not returned. Returns true if it is a marker and the run is long
    /// enough to try a skip.
    #[inline]
    pub(super) fn count(&mut self, kind: u8) -> bool {
        if kind == CellKind::Put.code() {
            self.end();
            return false;
        }
        self.count += 1;
        self.count > self.try_at
    }

    /// Skips markers after the current one, if possible; returns true if it did.
    #[cold]
    pub(super) fn pass(&mut self, from: &mut impl Cells) -> Result<bool> {
        let passed = from.skip_markers()?;
        self.pause = if passed { 0 } else { (2 * self.pause + 1).min(BETWEEN_TRIES_MAX) };
        self.try_at = self.count + self.pause;
        Ok(passed)
    }
}
