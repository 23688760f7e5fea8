//! The rule of a run.

use rowhouse_model::{CellKind, Key, equal_bytes};

/// What the cell that comes next is to a run of markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Whether it becomes the run's target: no marker in front of it covers anything there or behind.
    pub is_target: bool,
    /// Whether the run ends in front of it.
    pub ends: bool,
}

impl Follow {
    /// What `next` is to a run whose target so far, at first its first marker, is `target`.
    #[inline]
    pub fn of(target: &Key<'_>, next: &Key<'_>) -> Self {
        let same_row = equal_bytes(next.row, target.row);
        let same_column = same_row && equal_bytes(next.qualifier, target.qualifier);
        if !same_row || !is_column_marker(next.kind) {
            return Self { is_target: !same_column, ends: true };
        }
        // Of several at one timestamp the first may be the only one that covers: others may have expired.
        let goes_with_it = same_column
            && (target.kind == CellKind::DeleteColumn.code() || target.timestamp == next.timestamp);
        Self { is_target: !goes_with_it, ends: false }
    }
}

/// Whether a cell of this kind is a marker of a single column.
#[inline]
pub(in crate::hfile) fn is_column_marker(kind: u8) -> bool {
    kind == CellKind::DeleteColumn.code() || kind == CellKind::DeleteVersion.code()
}
