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
    /// How long a write that does not ask for a sync may wait for one: what a power cut can take at
    /// most. Default 1 s.
    pub wal_sync_interval: std::time::Duration,
    /// Bytes of the disk that writes leave free, so that flushes, compactions, deletes and a clean
    /// stop have room when it is full. Writes that would come into it are refused with
    /// `RegionTooBusy`, deletes at half of it. Default 256 MiB.
    pub disk_reserve_bytes: u64,
    /// HFiles kept open at most, each a file descriptor. Default 512.
    pub open_files_max: usize,
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
            wal_sync_interval: std::time::Duration::from_secs(1),
            disk_reserve_bytes: 256 << 20,
            open_files_max: 512,
            store_files_max: 4,
            busy_wait: std::time::Duration::from_secs(10),
        }
    }
}
