//! What delete markers cover.

mod by_sequence;
mod by_time;

use rowhouse_model::{CellKind, CellRef};

use by_sequence::BySequence;
use by_time::ByTime;

/// A delete marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Marker {
    pub(crate) kind: CellKind,
    pub(crate) timestamp: i64,
    pub(crate) sequence: u64,
}

/// Why a put is covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cover {
    /// This marker covers it.
    Marker(Marker),
    /// So many newer versions were there at some moment that it was surplus, and it stays that.
    Surplus,
    /// It was written again at the same timestamp, with this sequence.
    Overwritten(u64),
}

/// The markers met in a row.
pub(super) enum Deletes {
    /// Each covers by timestamp alone, whatever was written when.
    ByTime(ByTime),
    /// Each covers what was written before it: NEW_VERSION_BEHAVIOR.
    BySequence(Box<BySequence>),
}

impl Deletes {
    /// Of a family that covers by time.
    pub(super) fn by_time() -> Self {
        Self::ByTime(ByTime::default())
    }

    /// Of a family that covers by sequence and keeps `versions_max` versions.
    pub(super) fn by_sequence(versions_max: u32) -> Self {
        Self::BySequence(Box::new(BySequence::new(versions_max)))
    }

    /// Forgets the row before.
    pub(super) fn begin_row(&mut self) {
        match self {
            Self::ByTime(deletes) => deletes.begin_row(),
            Self::BySequence(deletes) => deletes.begin_row(),
        }
    }

    /// Forgets the column before.
    pub(super) fn begin_column(&mut self) {
        match self {
            Self::ByTime(deletes) => deletes.begin_column(),
            Self::BySequence(deletes) => deletes.begin_column(),
        }
    }

    /// Whether the first put of any column is covered by nothing that was met in front of it; `false`
    /// is not certain.
    pub(super) fn cover_no_first_put(&self) -> bool {
        match self {
            Self::ByTime(deletes) => deletes.has_none_of_family(),
            // It must be counted.
            Self::BySequence(_) => false,
        }
    }

    /// Takes a marker into account.
    pub(super) fn add(&mut self, marker: Marker) {
        match self {
            Self::ByTime(deletes) => deletes.add(marker),
            Self::BySequence(deletes) => deletes.add(marker),
        }
    }

    /// What covers a put, if anything does. Each put must be asked about once, in cell order.
    pub(super) fn cover(&mut self, put: &CellRef<'_>) -> Option<Cover> {
        match self {
            Self::ByTime(deletes) => deletes.cover(put.key.timestamp).map(Cover::Marker),
            Self::BySequence(deletes) => deletes.cover(put.key.timestamp, put.sequence),
        }
    }
}

impl Marker {
    /// The marker that `cell` is.
    pub(super) fn of(cell: &CellRef<'_>) -> Self {
        Self { kind: cell.kind(), timestamp: cell.key.timestamp, sequence: cell.sequence }
    }

    /// Whether it covers every column of its family.
    pub(super) fn is_of_family(&self) -> bool {
        matches!(self.kind, CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
    }

    /// Whether it covers every timestamp up to its own, not its own alone.
    pub(crate) fn covers_older(&self) -> bool {
        matches!(self.kind, CellKind::DeleteColumn | CellKind::DeleteFamily)
    }
}
