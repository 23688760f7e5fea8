//! The rule that defines a run and the run's target.

use rowhouse_model::{CellKind, Key, equal_bytes};

/// How the next cell relates to a marker run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRelation {
    /// The cell does not belong to the run.
    Ends,
    /// The cell belongs to the run, and an earlier marker may cover this cell or a later one.
    Continues,
    /// The cell belongs to the run and becomes its target: no earlier marker covers this cell or a
    /// later one.
    Target,
}

impl RunRelation {
    /// Returns how `next` relates to a run whose target so far is `target`. A run's first target is
    /// its first marker.
    #[inline]
    pub fn of(target: &Key<'_>, next: &Key<'_>) -> Self {
        if !is_column_marker(next.kind) || !equal_bytes(next.row, target.row) {
            return Self::Ends;
        }
        // Among several markers at one timestamp, the first may be the only effective one: the
        // others may have expired.
        let goes_with_it = equal_bytes(next.qualifier, target.qualifier)
            && (target.kind == CellKind::DeleteColumn.code() || target.timestamp == next.timestamp);
        if goes_with_it { Self::Continues } else { Self::Target }
    }
}

/// Returns true if cells of this kind are markers for a single column.
#[inline]
pub(in crate::hfile) fn is_column_marker(kind: u8) -> bool {
    kind == CellKind::DeleteColumn.code() || kind == CellKind::DeleteVersion.code()
}
