//! Everything that is stored of one column of a row, and why a read shows it or does not.

use std::fmt;

use crate::{Cell, CellKind, Timestamp};

/// What is stored of one column of a row, newest first: every version and marker, and the markers of the
/// family that lie in the row. It holds what a get would go by that is made at the same moment.
#[derive(Clone, Debug, PartialEq)]
pub struct CellHistory {
    /// The cells.
    pub entries: Vec<CellEntry>,
}

/// A cell that is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct CellEntry {
    /// The cell, with the sequence of the mutation that wrote it.
    pub cell: Cell,
    /// Where it lies.
    pub place: CellPlace,
    /// What a read makes of it.
    pub fate: CellFate,
}

/// Where a cell lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellPlace {
    /// In memory, and in the log unless its mutation wanted otherwise.
    Memory,
    /// In this file of the data directory.
    File(String),
}

/// What a read makes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellFate {
    /// It shows it.
    Visible,
    /// It is a delete marker, and covers what it names.
    Covers,
    /// It is a delete marker of another time than is asked for, and covers nothing there.
    CoversOtherTimes,
    /// A marker covers it.
    Deleted {
        /// What the marker covers.
        by: CellKind,
        /// Up to when, or at when.
        at: Timestamp,
        /// By which mutation the marker was written.
        sequence: u64,
    },
    /// It has outlived the TTL of its family.
    Expired {
        /// The last moment at which it lived.
        until: Timestamp,
    },
    /// It has outlived a TTL of its own.
    OwnTtlExpired {
        /// The last moment at which it lived.
        until: Timestamp,
    },
    /// There are enough newer versions.
    Surplus {
        /// Which version it would be, counted from 1.
        version: u32,
        /// How many are shown: as many as were asked for, or as the family keeps if those are fewer.
        versions: u32,
    },
    /// There were enough newer versions when something was deleted: where deletes go by sequence, what was
    /// surplus stays hidden.
    SurplusOnce,
    /// Its timestamp is not among those that are asked for.
    OutsideTimeRange,
    /// It was written again at the same timestamp.
    Overwritten {
        /// By which mutation.
        sequence: u64,
    },
}

impl fmt::Display for CellPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory"),
            Self::File(path) => f.write_str(path),
        }
    }
}

impl fmt::Display for CellFate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Visible => f.write_str("visible"),
            Self::Covers => f.write_str("covers what it names"),
            Self::CoversOtherTimes => f.write_str("covers nothing of the time asked for"),
            Self::Deleted { by, at, sequence } => {
                write!(f, "deleted by {by:?} at {at}, sequence {sequence}")
            }
            Self::Expired { until } => write!(f, "expired: the family's TTL ended at {until}"),
            Self::OwnTtlExpired { until } => write!(f, "expired: its own TTL ended at {until}"),
            Self::Surplus { version, versions } => {
                write!(f, "surplus: version {version}, shown are {versions}")
            }
            Self::SurplusOnce => f.write_str("surplus: enough were newer when one was deleted"),
            Self::OutsideTimeRange => f.write_str("outside the time range"),
            Self::Overwritten { sequence } => {
                write!(f, "overwritten at its timestamp, sequence {sequence}")
            }
        }
    }
}
