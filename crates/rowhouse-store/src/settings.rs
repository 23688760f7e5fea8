//! What a user tunes.

/// Sizes and limits of a store. The defaults suit a laptop.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes a memstore of one (region, family) may hold before it is flushed. Default 32 MiB.
    pub memstore_flush_bytes: u64,
    /// Bytes all memstores together may hold. Above it writers wait for flushes, up to
    /// [`Settings::busy_wait`], then are refused with `RegionTooBusy`. Default 128 MiB.
    pub memstore_bytes_max: u64,
    /// Bytes of data and index blocks kept in memory. Default 128 MiB.
    pub block_cache_bytes: u64,
    /// Bytes of a log segment before the next is begun. Default 64 MiB.
    pub wal_segment_bytes: u64,
    /// Bytes of all log segments together before the memstores that pin the oldest are flushed.
    /// Default 1 GiB.
    pub wal_bytes_max: u64,
    /// Files a (region, family) may have before they are merged. Default 4.
    pub store_files_max: usize,
    /// How long a writer waits for memory before it is refused. Default 10 s.
    pub busy_wait: std::time::Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            memstore_flush_bytes: 32 << 20,
            memstore_bytes_max: 128 << 20,
            block_cache_bytes: 128 << 20,
            wal_segment_bytes: 64 << 20,
            wal_bytes_max: 1 << 30,
            store_files_max: 4,
            busy_wait: std::time::Duration::from_secs(10),
        }
    }
}
