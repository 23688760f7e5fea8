//! The stored cells of one column of a row, and the reason a read returns or hides each.

use std::fmt;

use crate::{Cell, CellKind, Timestamp};

/// The stored cells of one column of a row, newest first: all versions and markers, and the row's
/// markers of the family. It covers everything that a get at the same read point would consult.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistory {
    /// The cells.
    pub entries: Vec<CellEntry>,
}

/// A stored cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellEntry {
    /// The cell, with the sequence number of the mutation that wrote it.
    pub cell: Cell,
    /// Its location.
    pub place: CellLocation,
    /// A read's treatment of it.
    pub fate: CellStatus,
}

/// The location of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellLocation {
    /// In the memstore, and in the log unless its mutation skipped the log.
    Memory,
    /// In this file of the data directory.
    File(String),
}

/// A read's treatment of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellStatus {
    /// The read returns it.
    Visible,
    /// It is a delete marker that covers cells.
    Covers,
    /// It is a delete marker outside the read's time range; it covers nothing in that range.
    CoversOtherTimes,
    /// A delete marker covers it.
    Deleted {
        /// The marker's kind.
        by: CellKind,
        /// The marker's timestamp.
        at: Timestamp,
        /// Sequence number of the mutation that wrote the marker.
        sequence: u64,
    },
    /// The family's TTL has expired it.
    Expired {
        /// The last time at which it was live.
        until: Timestamp,
    },
    /// Its own TTL has expired it.
    OwnTtlExpired {
        /// The last time at which it was live.
        until: Timestamp,
    },
    /// It exceeds the number of versions to return.
    Surplus {
        /// Its version number, from 1 for the newest.
        version: u32,
        /// The number of versions returned: the requested number, or the number the family keeps if
        /// that is less.
        versions: u32,
    },
    /// It exceeded the number of versions at the time of a delete. Where deletes apply by sequence
    /// number, such a version stays hidden.
    SurplusAtDelete,
    /// Its timestamp is outside the read's time range.
    OutsideTimeRange,
    /// A later write at the same timestamp replaced it.
    Overwritten {
        /// Sequence number of the later mutation.
        sequence: u64,
    },
}

impl fmt::Display for CellLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::File(path) => f.write_str(path),
        }
    }
}

impl fmt::Display for CellStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible => f.write_str("visible"),
            Self::Covers => f.write_str("covers the cells that it names"),
            Self::CoversOtherTimes => f.write_str("covers nothing in the requested time range"),
            Self::Deleted { by, at, sequence } => {
                write!(f, "deleted by {by:?} at {at}, sequence {sequence}")
            }
            Self::Expired { until } => write!(f, "expired: the family's TTL ended at {until}"),
            Self::OwnTtlExpired { until } => write!(f, "expired: its own TTL ended at {until}"),
            Self::Surplus { version, versions } => {
                write!(f, "surplus: version {version}, shown: {versions}")
            }
            Self::SurplusAtDelete => f.write_str(
                "surplus: enough versions were newer when one \
                                                  was deleted",
            ),
            Self::OutsideTimeRange => f.write_str("outside the time range"),
            Self::Overwritten { sequence } => {
                write!(f, "overwritten at its timestamp, sequence {sequence}")
            }
        }
    }
}
