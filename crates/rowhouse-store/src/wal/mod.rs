//! The write-ahead log: one for the whole store, in segments. `docs/formats/wal.md` draws the
//! bytes.

mod follow;
mod moment;
mod reader;
mod record;
mod recovery;
mod salvage;
mod segment;
mod segments;
mod synced;
mod writer;

pub(crate) use follow::{Hold, LogReader, Logged, RetainedSegment, begin_of, remove_unneeded};
#[cfg(feature = "fuzzing")]
pub(crate) use record::reencode;
pub(crate) use record::{Commit, Record, RecordBody, SealedRecord, TableRecord};
pub(crate) use recovery::{Known, LogScan, OpenLog, scan, sync_segments};
pub(crate) use salvage::read_readable;
pub(crate) use segments::{ClosedSegment, Epochs, Segments};
pub(crate) use synced::read as read_synced;
pub(crate) use writer::{Limits, Position, Wal};

/// Returns true if a file in the directory belongs to the log: a segment that is not a spare, or
/// the note on how far it is synced.
pub(crate) fn is_part(name: &str) -> bool {
    segment::number(name).is_some() || name == synced::NAME
}

/// A position where the log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogEnd {
    pub(crate) segment: u64,
    /// Bytes of that segment's header and records.
    pub(crate) len: u64,
    pub(crate) last_sequence: u64,
}
