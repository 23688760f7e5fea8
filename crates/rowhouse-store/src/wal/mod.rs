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

pub(crate) use follow::{Hold, LogReader, Logged, begin_of, check_continues, remove_unneeded};
#[cfg(feature = "fuzzing")]
pub(crate) use record::reencode;
pub(crate) use record::{Commit, Record, RecordBody, SealedRecord, TableRecord};
pub(crate) use recovery::{Known, LogScan, OpenLog, scan, sync_segments};
pub(crate) use salvage::read_readable;
pub(crate) use segment::LogEnd;
pub(crate) use segments::{ClosedSegment, Epochs, RetainedSegment, Segments};
pub(crate) use synced::read as read_synced;
pub(crate) use writer::{Limits, Position, Wal};

/// Returns true if a file in the directory belongs to the log: a segment that is not a spare, or
/// the note on how far it is synced.
pub(crate) fn is_part(name: &str) -> bool {
    segment::number(name).is_some() || name == synced::NAME
}
