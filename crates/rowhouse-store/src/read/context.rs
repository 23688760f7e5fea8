//! The parts of a store that reads use.

use std::sync::Arc;
use std::time::Duration;

use crate::clock::TimestampSource;
use crate::mvcc::Mvcc;
use crate::reader_memory::ReaderMemory;

/// The parts of a store that reads use.
#[derive(Clone, Copy)]
pub(crate) struct ReadContext<'a> {
    /// Decides which cells have expired.
    pub(crate) timestamps: &'a TimestampSource,
    /// Gives the current read point.
    pub(crate) mvcc: &'a Mvcc,
    /// Bounds the flushed memstores that readers hold.
    pub(crate) reader_memory: &'a Arc<ReaderMemory>,
    /// How long a scanner or read point may be used.
    pub(crate) age_max: Duration,
}
