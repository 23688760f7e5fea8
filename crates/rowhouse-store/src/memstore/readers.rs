//! Scanners and read points that hold a memstore when it is flushed. They continue in the file that
//! it was flushed to.

use std::sync::{Arc, OnceLock};

use super::Memstore;
use crate::reader_memory::{CountedBytes, ReaderMemory};
use crate::retention::Retention;
use crate::store_file::StoreFile;

/// The result of flushing one or several memstores together.
pub(crate) struct FlushResult {
    /// `None` if no cell was worth keeping.
    pub(crate) file: Option<Arc<StoreFile>>,
    /// The lowest sequence at which no dropped cell is visible.
    pub(crate) readable_from: u64,
    /// The time in milliseconds against which expired cells were dropped.
    pub(crate) now_millis: i64,
    /// The retention by which other cells were dropped.
    pub(crate) retention: Retention,
}

/// The flush result for the memstore's readers.
#[derive(Default)]
pub(super) struct Readers {
    flushed: OnceLock<Arc<FlushResult>>,
    /// The memstore's bytes, once only readers hold it.
    held: OnceLock<CountedBytes>,
}

impl Memstore {
    /// Returns the flush result; `None` before the flush.
    pub(crate) fn flushed(&self) -> Option<&Arc<FlushResult>> {
        self.readers.flushed.get()
    }

    /// Records the flush result, once.
    pub(crate) fn set_flushed(&self, flushed: Arc<FlushResult>) {
        let _ = self.readers.flushed.set(flushed);
    }

    /// Notes that only readers hold it from now on: the bytes are counted with `memory` until it is
    /// dropped. Nobody writes to it any more. Returns these bytes, the first time.
    pub(crate) fn leave_to_readers(&self, memory: &Arc<ReaderMemory>) -> u64 {
        let mut bytes = 0;
        self.readers.held.get_or_init(|| {
            bytes = self.bytes();
            memory.count(bytes)
        });
        bytes
    }

    /// The memstore's bytes, if only readers hold it.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.readers.held.get().map_or(0, CountedBytes::bytes)
    }
}
