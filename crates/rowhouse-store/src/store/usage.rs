//! Disk and memory in use, and the work that waits.

use super::Store;

/// The disk and memory that a store uses, and the work that waits, for monitoring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreUsage {
    /// Bytes in the log, without spare files. The next open after a crash reads them.
    pub log_bytes: u64,
    /// Bytes in unflushed memstores.
    pub memstore_bytes: u64,
    /// Bytes in the block cache.
    pub block_cache_bytes: u64,
    /// Block cache lookups that found the block, since the store was opened.
    pub block_cache_hits: u64,
    /// Block cache lookups that did not.
    pub block_cache_misses: u64,
    /// Bytes that the compactions due now would read.
    pub compaction_bytes_due: u64,
    /// Free bytes in the file system; `None` if they are not known.
    pub disk_bytes_available: Option<u64>,
}

impl Store {
    /// Returns the current use. Takes locks for a short time, so it suits a sample every
    /// few seconds, not every call.
    pub fn usage(&self) -> StoreUsage {
        let engine = self.engine();
        let blocks = &engine.files.blocks;
        let (hits, misses) = blocks.lookups();
        StoreUsage {
            log_bytes: engine.wal().bytes(),
            memstore_bytes: engine.memory.bytes(),
            block_cache_bytes: blocks.bytes(),
            block_cache_hits: hits,
            block_cache_misses: misses,
            compaction_bytes_due: engine.candidates().bytes_due(),
            disk_bytes_available: engine.disk.available_bytes().ok().filter(|it| *it < u64::MAX),
        }
    }
}
