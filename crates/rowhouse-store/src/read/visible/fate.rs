//! The fate of a cell in a read or compaction: the reason, and the consequence for the cells after
//! it.

use super::Marker;

/// The consequence of matching a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Include the cell.
    Include,
    /// Include the cell and no later cell in the column.
    IncludeLast,
    /// Skip the cell.
    Skip,
    /// Skip the cell and all later cells in the column.
    NextColumn,
}

/// The reason why a cell is included in the result or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Included; with `last`, no later cell in the column is.
    Included { last: bool },
    /// Older than the family's TTL, and not retained by MIN_VERSIONS.
    Expired,
    /// Older than the TTL it carries itself.
    OwnExpired,
    /// A marker that affects the read.
    Marker,
    /// A marker outside the time range that covers nothing in it.
    IrrelevantMarker,
    /// Repeats the marker before it.
    RepeatedMarker,
    /// A marker older than every put.
    ObsoleteMarker,
    /// Covered by a marker.
    Deleted(Marker),
    /// Newer than the time range.
    TooNew,
    /// Older than the time range.
    TooOld,
    /// In a column that was not requested.
    NotRequested,
    /// Overwritten at the same timestamp by a write with this sequence.
    Overwritten(u64),
    /// Surplus: enough newer versions are included, and it would be the one with this number.
    Surplus(u32),
    /// Surplus at an earlier time, and therefore hidden for good.
    SurplusAtDelete,
}

impl Fate {
    /// Returns the consequence. Where deletes cover `by_sequence`, a deleted cell implies nothing
    /// about older ones.
    #[inline]
    pub(super) fn verdict(self, by_sequence: bool) -> Verdict {
        match self {
            Self::Included { last: false } => Verdict::Include,
            Self::Included { last: true } => Verdict::IncludeLast,
            Self::Deleted(marker) if marker.covers_older() && !by_sequence => Verdict::NextColumn,
            Self::Expired
            | Self::ObsoleteMarker
            | Self::TooOld
            | Self::NotRequested
            | Self::Surplus(_) => Verdict::NextColumn,
            Self::OwnExpired
            | Self::Marker
            | Self::IrrelevantMarker
            | Self::RepeatedMarker
            | Self::Deleted(_)
            | Self::TooNew
            | Self::Overwritten(_)
            | Self::SurplusAtDelete => Verdict::Skip,
        }
    }
}
