//! The rule of a run.

use rowhouse_model::{CellKind, Key, equal_bytes};

/// What the cell that comes next is to a run of markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// Not part of it.
    Ends,
    /// Part of it, and a marker in front may have its say here or behind.
    GoesOn,
    /// Part of it, and its target: no marker in front covers anything here or behind.
    Target,
}

impl Follow {
    /// What `next` is to a run whose target so far, at first its first marker, is `target`.
    #[inline]
    pub fn of(target: &Key<'_>, next: &Key<'_>) -> Self {
        if !is_column_marker(next.kind) || !equal_bytes(next.row, target.row) {
            return Self::Ends;
        }
        // Of several at one timestamp the first may be the only one that covers: others may have expired.
        let goes_with_it = equal_bytes(next.qualifier, target.qualifier)
            && (target.kind == CellKind::DeleteColumn.code() || target.timestamp == next.timestamp);
        if goes_with_it { Self::GoesOn } else { Self::Target }
    }
}

/// Whether a cell of this kind is a marker of a single column.
#[inline]
pub(in crate::hfile) fn is_column_marker(kind: u8) -> bool {
    kind == CellKind::DeleteColumn.code() || kind == CellKind::DeleteVersion.code()
}
