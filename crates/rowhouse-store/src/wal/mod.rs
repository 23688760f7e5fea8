//! The write-ahead log: one for the whole store, in segments. Its bytes are drawn in
//! `docs/formats/wal.md`.

mod record;
mod recovery;
mod segment;
mod writer;

pub(crate) use record::{Record, RecordBody};
pub(crate) use recovery::recover;
pub(crate) use writer::{Position, Wal};

/// The directory of the segments.
pub(crate) const WAL_DIR: &str = "wal";
