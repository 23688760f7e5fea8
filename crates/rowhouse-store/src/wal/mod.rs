//! The write-ahead log: one for the whole store, in segments. `docs/formats/wal.md` draws its
//! bytes.

mod reader;
mod record;
mod recovery;
mod salvage;
mod segment;
mod segments;
mod synced;
mod writer;

#[cfg(feature = "fuzzing")]
pub(crate) use record::reencode;
pub(crate) use record::{Commit, RecordBody, SealedRecord};
pub(crate) use recovery::{Known, LogScan, scan, sync_segments};
pub(crate) use salvage::read_readable;
pub(crate) use segments::{Epochs, Segments};
pub(crate) use synced::read as read_synced;
pub(crate) use writer::{Limits, Position, Wal};

/// Returns whether a file of the directory is a segment of the log, and not a spare.
pub(crate) fn is_segment(name: &str) -> bool {
    segment::number(name).is_some()
}

/// Bytes of a segment that was begun and holds no commit: its header, and a first record whose
/// 17-byte body is padded to 24.
const EMPTY_LEN: u64 = (segment::HEADER_LEN + record::HEADER_LEN + 24) as u64;

/// A position where the log ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogEnd {
    pub(crate) segment: u64,
    /// Bytes of that segment's header and records.
    pub(crate) len: u64,
    pub(crate) last_sequence: u64,
}
