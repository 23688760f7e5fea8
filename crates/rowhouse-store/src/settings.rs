//! Settings of a store.

use std::time::Duration;

use rowhouse_model::{Error, Result};

/// A store's sizes and limits. The defaults suit a laptop.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes that a memstore of one (region, family) may hold before it is flushed. Default 32 MiB.
    pub memstore_flush_bytes: u64,
    /// Bytes all memstores together may hold. Above it writers wait for flushes, up to
    /// [`Settings::busy_wait`], then are refused with `RegionTooBusy`. Default 128 MiB.
    pub memstore_bytes_max: u64,
    /// Flushed memstore bytes that read points and open scanners may hold together; they do not
    /// count as memstores, so that readers do not stop writers. Above it readers go on in files,
    /// the oldest first, and those that cannot end: their next use is refused with `ScannerReset`
    /// or, for a read point, `UnknownScanner`. One memstore is always allowed. Default `None`:
    /// [`Settings::memstore_bytes_max`].
    pub reader_memstore_bytes_max: Option<u64>,
    /// Data and index block bytes held in memory. Default 128 MiB.
    pub block_cache_bytes: u64,
    /// The maximum cell bytes, as encoded in the log, in one mutation or in several mutations that
    /// apply atomically; 16 MiB to 1 GiB. A larger mutation is refused with `InvalidRequest`. Log
    /// readers need no setting. Default 256 MiB.
    pub mutation_bytes_max: usize,
    /// The maximum bytes in a cell that grows by appends; `hbase.server.keyvalue.maxsize`. Default
    /// 10 MiB.
    pub cell_bytes_max: usize,
    /// Bytes in a log segment before the log rolls to the next one. Default 64 MiB.
    pub wal_segment_bytes: u64,
    /// Bytes in all log segments together above which the memstores that pin the oldest segment are
    /// flushed. Default 1 GiB.
    pub wal_bytes_max: u64,
    /// How long a write that does not ask for a sync may stay unsynced: the most that a power cut
    /// can lose. Default 1 s.
    pub wal_sync_interval: Duration,
    /// Bytes of log segments that are retained for followers alone; beyond it the oldest are
    /// removed, and followers that need them have lost their place. Default 8 GiB.
    pub followers_bytes_max: u64,
    /// How long a log segment is retained for followers alone. Default 3 days.
    pub followers_age_max: Duration,
    /// Disk bytes that writes leave free, so that flushes, compactions, deletes and a clean stop
    /// have room when the disk is full. Writes that would use this reserve are refused with
    /// `RegionTooBusy`; deletes are refused at half of it. Default 256 MiB.
    pub disk_reserve_bytes: u64,
    /// The maximum number of HFiles held open, each a file descriptor. Default 512.
    pub open_files_max: usize,
    /// How long a file that was moved to `aside/` stays there. Default 30 days.
    pub aside_age_max: Duration,
    /// Bytes of files in `aside/` above which an open removes the oldest, and so does moving a
    /// damaged file. Files that were moved there at this time stay. Default 10 GiB.
    pub aside_bytes_max: u64,
    /// Bytes of a table, in files and memory, up to which the indexes are built anew as soon as
    /// their data is found damaged; indexes on larger tables are built anew by
    /// [`Store::request_index_repair`](crate::Store::request_index_repair). Default 1 GiB.
    pub index_rebuild_bytes_max: u64,
    /// Bytes that all indexes in memory may hold together. An index that would need more is off,
    /// and the memory is freed. Default 256 MiB.
    pub index_memory_bytes_max: u64,
    /// When compactions run, and how fast.
    pub compaction: CompactionSettings,
    /// When regions are split automatically.
    pub split: SplitSettings,
    /// How long a writer waits for memory, or for compactions to reduce the file count, before it
    /// is refused. Default 10 s.
    pub busy_wait: Duration,
    /// How long a scan over a region may take. A scan reads the state as of its opening and
    /// therefore keeps files and memstores that nothing else needs. An older scan is refused with
    /// `UnknownScanner` within 64 rows and releases them; HBase's clients then continue with a new
    /// scanner on their own. Default 1 h; `Duration::MAX` sets no limit.
    pub scan_age_max: Duration,
    /// Whether the store keeps the table heat: requests by time and key range, and the hottest
    /// rows. See [`Table::heat`](crate::Table::heat). It takes at most 16 MiB in memory, and as
    /// much on disk. Default `true`.
    pub heat: bool,
}

/// When the files in a (region, family) are compacted, and how fast. A table or family can override
/// some settings under the names HBase has for them in the configuration.
#[derive(Clone, Debug)]
pub struct CompactionSettings {
    /// The minimum number of files per compaction; values below 2 count as 2, and `usize::MAX`
    /// allows compactions only on request. Default 3; `hbase.hstore.compaction.min`.
    pub files_min: usize,
    /// The maximum number of files per compaction, unless a compaction over all files is requested.
    /// Default 10; `hbase.hstore.compaction.max`.
    pub files_max: usize,
    /// No file in a compaction is larger than this ratio times the sum of the others. Default 1.2;
    /// `hbase.hstore.compaction.ratio`.
    pub ratio: f64,
    /// Files that together hold fewer bytes than this are compacted regardless of the ratio.
    /// Default `None`: [`Settings::memstore_flush_bytes`]; `hbase.hstore.compaction.min.size`.
    pub bytes_min: Option<u64>,
    /// Files that together hold more bytes than this are compacted only when a compaction over all
    /// files is requested. Default `u64::MAX`; `hbase.hstore.compaction.max.size`.
    pub bytes_max: u64,
    /// The age of the oldest file at which all files are compacted. Default 7 days; zero for never;
    /// `hbase.hregion.majorcompaction`, in milliseconds.
    pub major_period: Duration,
    /// The fraction of `major_period` by which the period varies from store to store, so that not
    /// all stores are compacted at once. Default 0.5; `hbase.hregion.majorcompaction.jitter`.
    pub major_jitter: f64,
    /// When this many files share a row, a full memstore is not flushed and writers to it wait, up
    /// to [`Settings::busy_wait`], and are then refused with `RegionTooBusy`. From three quarters
    /// of this number on writers are slowed, down to 32 MiB per second. Default 16;
    /// `hbase.hstore.blockingStoreFiles`, which counts all files; here eight files that share no
    /// row count as one.
    pub files_blocking: usize,
    /// How long a flush is delayed by `files_blocking` before it runs regardless: compaction may be
    /// failing. Default 90 s, as HBase's `hbase.hstore.blockingWaitTime`.
    pub blocking_wait: Duration,
    /// The number of compaction threads, at least one; no two of them compact the same files. With
    /// two or more, one thread runs only small compactions, so that these do not wait for a large
    /// one. Default 2.
    pub threads: usize,
    /// Bytes per second that all background compactions together may write while no store has more
    /// than a few files. The rate rises to twice this value as the store with the most files goes
    /// halfway from `files_min` to `files_blocking`, and is unlimited from there. `None` for no
    /// limit at all. Default 50 MiB, so 50 to 100 as in HBase.
    pub bytes_per_second: Option<u64>,
    /// How often all stores are checked for files that reached `major_period` or whose cells have
    /// all expired, and for expired snapshots. Default 1 min.
    pub check_period: Duration,
}

/// When a region has grown so large that it is split automatically: HBase's policies. A table
/// chooses the policy and the sizes with the attributes `SPLIT_POLICY`, `MAX_FILESIZE`,
/// `MEMSTORE_FLUSHSIZE` and `SPLIT_ENABLED`.
#[derive(Clone, Debug)]
pub struct SplitSettings {
    /// Whether regions are split automatically. Default `true`.
    pub automatic: bool,
    /// Bytes of files in a region's largest family above which the region is split. Default 10 GiB;
    /// `hbase.hregion.max.filesize`.
    pub region_bytes_max: u64,
    /// The same limit for a table's only region. Default 256 MiB, twice HBase's flush size;
    /// `hbase.increasing.policy.initial.size`.
    pub first_bytes: u64,
    /// The fraction of `region_bytes_max` by which the limit varies from region to region, so that
    /// regions that grow alike are not all split at once. Default 0.25, so 12.5 % either way;
    /// `hbase.hregion.max.filesize.jitter`.
    pub jitter: f64,
    /// When the store has this many regions, none is split automatically. Default 1000;
    /// `hbase.regionserver.regionSplitLimit`.
    pub regions_max: usize,
}

impl Settings {
    /// The allowed range for [`Settings::mutation_bytes_max`]. The lower bound fits a batch of
    /// small mutations into one log record; the upper bound is the longest record that a reader
    /// accepts.
    pub const MUTATION_BYTES: std::ops::RangeInclusive<usize> = 16 << 20..=1 << 30;

    /// Returns the limit on flushed memstore bytes that readers may hold.
    pub(crate) fn reader_memory_limit(&self) -> u64 {
        let bytes = self.reader_memstore_bytes_max.unwrap_or(self.memstore_bytes_max);
        bytes.max(self.memstore_flush_bytes)
    }

    /// Checks that every setting is within the bounds.
    ///
    /// # Errors
    /// `InvalidRequest` for a setting outside the bounds.
    pub fn check(&self) -> Result<()> {
        let bytes = self.mutation_bytes_max;
        let bounds = Self::MUTATION_BYTES;
        if bounds.contains(&bytes) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "mutation_bytes_max out of bounds: {bytes}, min={}, max={}",
            bounds.start(),
            bounds.end()
        )))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            memstore_flush_bytes: 32 << 20,
            memstore_bytes_max: 128 << 20,
            reader_memstore_bytes_max: None,
            block_cache_bytes: 128 << 20,
            mutation_bytes_max: 256 << 20,
            cell_bytes_max: 10 << 20,
            wal_segment_bytes: 64 << 20,
            wal_bytes_max: 1 << 30,
            wal_sync_interval: Duration::from_secs(1),
            followers_bytes_max: 8 << 30,
            followers_age_max: Duration::from_secs(3 * 24 * 3600),
            disk_reserve_bytes: 256 << 20,
            open_files_max: 512,
            aside_age_max: Duration::from_secs(30 * 24 * 3600),
            aside_bytes_max: 10 << 30,
            index_rebuild_bytes_max: 1 << 30,
            index_memory_bytes_max: 256 << 20,
            compaction: CompactionSettings::default(),
            split: SplitSettings::default(),
            busy_wait: Duration::from_secs(10),
            scan_age_max: Duration::from_secs(3600),
            heat: true,
        }
    }
}

impl Default for SplitSettings {
    fn default() -> Self {
        Self {
            automatic: true,
            region_bytes_max: 10 << 30,
            first_bytes: 256 << 20,
            jitter: 0.25,
            regions_max: 1000,
        }
    }
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            files_min: 3,
            files_max: 10,
            ratio: 1.2,
            bytes_min: None,
            bytes_max: u64::MAX,
            major_period: Duration::from_secs(7 * 24 * 3600),
            major_jitter: 0.5,
            files_blocking: 16,
            blocking_wait: Duration::from_secs(90),
            threads: 2,
            bytes_per_second: Some(50 << 20),
            check_period: Duration::from_secs(60),
        }
    }
}
