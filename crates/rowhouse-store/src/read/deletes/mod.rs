//! Tracks delete markers and the cells they cover.

mod by_sequence;
mod by_time;

use rowhouse_model::{CellKind, CellRef};

use by_sequence::SequenceDeletes;
use by_time::TimestampDeletes;

/// A delete marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) kind: CellKind,
    pub(crate) timestamp: i64,
    pub(crate) sequence: u64,
}

/// The reason why a put is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    /// A marker covers it.
    Marker(Marker),
    /// At some time so many newer versions existed that it was surplus; it stays hidden.
    Surplus,
    /// It was overwritten at the same timestamp by a write with this sequence.
    Overwritten(u64),
}

/// The markers seen in a row.
pub(super) enum Deletes {
    /// Each marker covers by timestamp, regardless of the write order.
    TimestampDeletes(TimestampDeletes),
    /// Each marker covers writes before it: NEW_VERSION_BEHAVIOR.
    SequenceDeletes(Box<SequenceDeletes>),
}

impl Deletes {
    /// Creates a tracker for a family whose deletes cover by time.
    pub(super) fn by_time() -> Self {
        Self::TimestampDeletes(TimestampDeletes::default())
    }

    /// Creates a tracker for a family whose deletes cover by sequence and that keeps `versions_max`
    /// versions.
    pub(super) fn by_sequence(versions_max: u32) -> Self {
        Self::SequenceDeletes(Box::new(SequenceDeletes::new(versions_max)))
    }

    /// Begins a row.
    pub(super) fn begin_row(&mut self) {
        match self {
            Self::TimestampDeletes(deletes) => deletes.begin_row(),
            Self::SequenceDeletes(deletes) => deletes.begin_row(),
        }
    }

    /// Begins a column.
    pub(super) fn begin_column(&mut self) {
        match self {
            Self::TimestampDeletes(deletes) => deletes.begin_column(),
            Self::SequenceDeletes(deletes) => deletes.begin_column(),
        }
    }

    /// Whether no marker seen so far covers the first put in any column; `false` is not certain.
    pub(super) fn cover_no_first_put(&self) -> bool {
        match self {
            Self::TimestampDeletes(deletes) => deletes.has_none_of_family(),
            // Every put must be counted.
            Self::SequenceDeletes(_) => false,
        }
    }

    /// Adds a marker.
    pub(super) fn add(&mut self, marker: Marker) {
        match self {
            Self::TimestampDeletes(deletes) => deletes.add(marker),
            Self::SequenceDeletes(deletes) => deletes.add(marker),
        }
    }

    /// Returns why a put is covered, if it is. Must be called once per put, in cell order.
    pub(super) fn cover(&mut self, put: &CellRef<'_>) -> Option<Cover> {
        match self {
            Self::TimestampDeletes(deletes) => deletes.cover(put.key.timestamp).map(Cover::Marker),
            Self::SequenceDeletes(deletes) => deletes.cover(put.key.timestamp, put.sequence),
        }
    }
}

impl Marker {
    /// Returns the marker in `cell`.
    pub(super) fn of(cell: &CellRef<'_>) -> Self {
        Self { kind: cell.kind(), timestamp: cell.key.timestamp, sequence: cell.sequence }
    }

    /// Whether it covers every column in the family.
    pub(super) fn is_of_family(&self) -> bool {
        matches!(self.kind, CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
    }

    /// Whether it covers every timestamp up to the marker's own, rather than only that one.
    pub(crate) fn covers_older(&self) -> bool {
        matches!(self.kind, CellKind::DeleteColumn | CellKind::DeleteFamily)
    }
}
