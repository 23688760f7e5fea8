//! What a user tunes.

use std::time::Duration;

use rowhouse_model::{Error, Result};

/// Sizes and limits of a store. The defaults suit a laptop.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes a memstore of one (region, family) may hold before it is flushed. Default 32 MiB.
    pub memstore_flush_bytes: u64,
    /// Bytes all memstores together may hold. Above it writers wait for flushes, up to
    /// [`Settings::busy_wait`], then are refused with `RegionTooBusy`. Default 128 MiB.
    pub memstore_bytes_max: u64,
    /// Bytes of flushed memstores that read points and open scanners may hold together; they do not
    /// count as memstores, so that readers do not stop writers. Above it readers go on in files,
    /// the oldest first, and those that cannot end: their next use is refused with `ScannerReset`
    /// or, of a read point, `UnknownScanner`. One memstore is always allowed. Default `None`:
    /// [`Settings::memstore_bytes_max`].
    pub reader_memstore_bytes_max: Option<u64>,
    /// Bytes of data and index blocks kept in memory. Default 128 MiB.
    pub block_cache_bytes: u64,
    /// Bytes of cells of one mutation, or of several that are one, at most, as they lie in the log; 16 MiB to
    /// 1 GiB. A larger one is refused with `InvalidRequest`. A reader of a log needs no setting. Default 256 MiB.
    pub mutation_bytes_max: usize,
    /// Bytes of a cell that grows by appends, at most; `hbase.server.keyvalue.maxsize`. Default 10 MiB.
    pub cell_bytes_max: usize,
    /// Bytes of a log segment before the next is begun. Default 64 MiB.
    pub wal_segment_bytes: u64,
    /// Bytes of all log segments together before the memstores that pin the oldest are flushed.
    /// Default 1 GiB.
    pub wal_bytes_max: u64,
    /// How long a write that does not ask for a sync may wait for one: what a power cut can take at
    /// most. Default 1 s.
    pub wal_sync_interval: Duration,
    /// Bytes of the disk that writes leave free, so that flushes, compactions, deletes and a clean
    /// stop have room when it is full. Writes that would come into it are refused with
    /// `RegionTooBusy`, deletes at half of it. Default 256 MiB.
    pub disk_reserve_bytes: u64,
    /// HFiles kept open at most, each a file descriptor. Default 512.
    pub open_files_max: usize,
    /// How long a file that an open moved to `aside/` stays there. Default 30 days.
    pub aside_age_max: Duration,
    /// Bytes of files in `aside/` above which an open removes the oldest. What it moved there itself stays until the
    /// next open. Default 10 GiB.
    pub aside_bytes_max: u64,
    /// When files are merged, and how fast.
    pub compaction: CompactionSettings,
    /// When regions are split by themselves.
    pub split: SplitSettings,
    /// How long a writer waits for memory, or for files to be merged, before it is refused.
    /// Default 10 s.
    pub busy_wait: Duration,
    /// How long a scan of a region may take. It sees what was there when it was opened, and for that
    /// keeps files and memstores that everybody else is done with. An older one is refused with
    /// `UnknownScanner`, within 64 rows, and lets go of them; HBase's clients then go on with a new
    /// scanner by themselves. Default 1 h; `Duration::MAX` sets no limit.
    pub scan_age_max: Duration,
}

/// When the files of a (region, family) are merged, and how fast. A table or family can set some of
/// these for itself, under the name that HBase has for it in its configuration.
#[derive(Clone, Debug)]
pub struct CompactionSettings {
    /// Files that are merged at once, at least; 2 is the least that counts, `usize::MAX` has files
    /// merged only when asked for. Default 3; `hbase.hstore.compaction.min`.
    pub files_min: usize,
    /// Files that are merged at once, at most, unless all are asked for. Default 10;
    /// `hbase.hstore.compaction.max`.
    pub files_max: usize,
    /// No file of a merge is larger than the others together times this. Default 1.2;
    /// `hbase.hstore.compaction.ratio`.
    pub ratio: f64,
    /// Files of fewer bytes together are merged whatever their ratio. Default `None`:
    /// [`Settings::memstore_flush_bytes`]; `hbase.hstore.compaction.min.size`.
    pub bytes_min: Option<u64>,
    /// Files of more bytes together are merged only when all are asked for. Default `u64::MAX`;
    /// `hbase.hstore.compaction.max.size`.
    pub bytes_max: u64,
    /// How old the oldest file gets before all are merged. Default 7 days; zero for never;
    /// `hbase.hregion.majorcompaction`, in milliseconds.
    pub major_period: Duration,
    /// The part of `major_period` by which it is longer or shorter from store to store, so that not
    /// all are merged at once. Default 0.5; `hbase.hregion.majorcompaction.jitter`.
    pub major_jitter: f64,
    /// Files that have a row between them from which on a full memstore is not flushed and its writers wait, up to
    /// [`Settings::busy_wait`], then are refused with `RegionTooBusy`. From three quarters of it on writers are
    /// slowed, to 32 MiB a second at last. Default 16;
    /// `hbase.hstore.blockingStoreFiles`, which counts all files; here eight that share no row are one.
    pub files_blocking: usize,
    /// How long a flush is put off for that before it is done all the same: merging may be what
    /// fails. Default 90 s, as HBase's `hbase.hstore.blockingWaitTime`.
    pub blocking_wait: Duration,
    /// Threads that merge, at least one; never two the same files. Where there are two or
    /// more, one of them does small merges only, so that they do not wait for a large one. Default 2.
    pub threads: usize,
    /// Bytes a second that merges in the background may write, together, while no store has more
    /// than a few files. It rises to twice that as the store with the most files goes half the way
    /// from `files_min` to `files_blocking`, and there is no limit from there. `None` for no limit
    /// ever. Default 50 MiB, so 50 to 100 as in HBase.
    pub bytes_per_second: Option<u64>,
    /// How often all stores are looked at for files that have come of age or whose cells have all
    /// expired, and snapshots for such as have. Default 1 min.
    pub check_period: Duration,
}

/// When a region has grown so large that it is split by itself: HBase's policies. A table declares which, and the
/// sizes, for itself (`SPLIT_POLICY`, `MAX_FILESIZE`, `MEMSTORE_FLUSHSIZE`, `SPLIT_ENABLED`).
#[derive(Clone, Debug)]
pub struct SplitSettings {
    /// Whether regions are split by themselves at all. Default `true`.
    pub automatic: bool,
    /// Bytes of files of a region's largest family above which it is split. Default 10 GiB;
    /// `hbase.hregion.max.filesize`.
    pub region_bytes_max: u64,
    /// The same for a table's only region. Default 256 MiB, twice what HBase flushes at;
    /// `hbase.increasing.policy.initial.size`.
    pub first_bytes: u64,
    /// The part of `region_bytes_max` by which it is more or less from region to region, so that regions which grow
    /// alike are not all split at once. Default 0.25, so 12.5 % either way; `hbase.hregion.max.filesize.jitter`.
    pub jitter: f64,
    /// Regions of the store from which on none is split by itself. Default 1000;
    /// `hbase.regionserver.regionSplitLimit`.
    pub regions_max: usize,
}

impl Settings {
    /// What [`Settings::mutation_bytes_max`] can be: a batch of small mutations fits one record of the log at
    /// least, and no record is longer than a reader takes.
    pub const MUTATION_BYTES: std::ops::RangeInclusive<usize> = 16 << 20..=1 << 30;

    /// Bytes of flushed memstores that readers may hold.
    pub(crate) fn reader_memstore_bytes_max(&self) -> u64 {
        let bytes = self.reader_memstore_bytes_max.unwrap_or(self.memstore_bytes_max);
        bytes.max(self.memstore_flush_bytes)
    }

    /// Checks that a store can be opened so.
    ///
    /// # Errors
    /// `InvalidRequest` for what is out of its bounds.
    pub(crate) fn check(&self) -> Result<()> {
        let (bytes, bounds) = (self.mutation_bytes_max, Self::MUTATION_BYTES);
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
            disk_reserve_bytes: 256 << 20,
            open_files_max: 512,
            aside_age_max: Duration::from_secs(30 * 24 * 3600),
            aside_bytes_max: 10 << 30,
            compaction: CompactionSettings::default(),
            split: SplitSettings::default(),
            busy_wait: Duration::from_secs(10),
            scan_age_max: Duration::from_secs(3600),
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
