//! The stored cells in one column and row, and the reason a read returns or hides each.

use std::fmt;

use crate::{Cell, CellKind, Timestamp};

/// The stored cells in one column and row, newest first: all versions and markers, and the row's
/// family markers. It covers everything that a get at the same read point would consult.
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
    /// Where it is stored.
    pub place: CellLocation,
    /// How a read treats it.
    pub fate: CellStatus,
}

/// Where a cell is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellLocation {
    /// In the memstore, and in the log unless the mutation skipped the log.
    Memory,
    /// In this file in the data directory.
    File(String),
}

/// How a read treats a cell.
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
        /// The marker's sequence number, from the mutation that wrote it.
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
    /// It exceeds the version count to return.
    Surplus {
        /// The version number, from 1 for the newest.
        version: u32,
        /// How many versions are returned: as many as requested, or as many as the family retains
        /// if that is less.
        versions: u32,
    },
    /// It exceeded the version count when a delete was written. Where deletes apply by sequence
    /// number, such a version stays hidden.
    SurplusAtDelete,
    /// The timestamp is outside the read's time range.
    OutsideTimeRange,
    /// A later write at the same timestamp replaced it.
    Overwritten {
        /// The later mutation's sequence number.
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
