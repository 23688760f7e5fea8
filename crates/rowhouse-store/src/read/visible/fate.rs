//! What becomes of a cell in a read or a merge: why, and what follows for those behind it.

use super::Marker;

/// What to do with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is part of the answer.
    Include,
    /// It is part of the answer, and nothing behind it in its column is.
    IncludeLast,
    /// It is not.
    Skip,
    /// It is not, nor is anything behind it in its column.
    NextColumn,
}

/// Why a cell is part of the answer or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is part of the answer; perhaps nothing behind it in its column is.
    Included { last: bool },
    /// It has outlived the TTL of the family, and is not among the least versions.
    Expired,
    /// It has outlived the TTL that it carries itself.
    OwnExpired,
    /// It is a marker, and is minded.
    Marker,
    /// It is a marker of another time than is asked for, and covers nothing there.
    UnmindedMarker,
    /// It says what the marker in front of it says.
    MarkerAgain,
    /// It is a marker older than every put.
    SpentMarker,
    /// A marker covers it.
    Deleted(Marker),
    /// It is newer than what is asked for.
    TooNew,
    /// It is older than what is asked for.
    TooOld,
    /// Its column is not asked for.
    NotAsked,
    /// It was written again at its timestamp, with this sequence.
    Overwritten(u64),
    /// Enough newer versions are part of the answer: it would be the one of this number.
    Surplus(u32),
    /// It was surplus at some moment.
    SurplusOnce,
}

impl Fate {
    /// What to do with the cell. Where deletes cover `by_sequence`, a deleted cell says nothing of older ones.
    #[inline]
    pub(super) fn verdict(self, by_sequence: bool) -> Verdict {
        match self {
            Self::Included { last: false } => Verdict::Include,
            Self::Included { last: true } => Verdict::IncludeLast,
            Self::Deleted(marker) if marker.covers_older() && !by_sequence => Verdict::NextColumn,
            Self::Expired
            | Self::SpentMarker
            | Self::TooOld
            | Self::NotAsked
            | Self::Surplus(_) => Verdict::NextColumn,
            Self::OwnExpired
            | Self::Marker
            | Self::UnmindedMarker
            | Self::MarkerAgain
            | Self::Deleted(_)
            | Self::TooNew
            | Self::Overwritten(_)
            | Self::SurplusOnce => Verdict::Skip,
        }
    }
}
