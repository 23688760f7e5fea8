//! One family's data in one region: the active memstore, the memstores being flushed and the files.
//! HBase's Store.

mod in_memory;
mod running;
mod steady;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, Guard};
use parking_lot::{Mutex, RwLock};
use rowhouse_model::{BloomKind, Bytes, FamilyDescriptor, KeepDeletedCells, RowRange};

pub(crate) use in_memory::InMemory;
use running::Running;
use steady::Steady;
pub(crate) use steady::{DropLimits, Inputs, LoadGuard, SteadyGuard};

use crate::background::{Queue, Work};
use crate::block_cache::Caching;
use crate::compaction_policy::{CompactionKind, Drops, Policy, PolicyInput, read_amplification};
use crate::heat::SharedLoad;
use crate::memstore::Memstore;
use crate::newest::Current;
use crate::oversized_rows::{OversizedRowLog, RowLimit};
use crate::retention::Retention;
use crate::store_file::{FileSummary, StoreFile};

/// The fewest bytes of new cells for which the memstores of a BUFFERED family are compacted.
const MEMORY_COMPACTION_BYTES_MIN: u64 = 1 << 20;

/// The families in all regions, by region id and family name.
pub(crate) type Families = BTreeMap<(u64, Bytes), Arc<FamilyStore>>;

/// One family's data in one region.
pub(crate) struct FamilyStore {
    region_id: u64,
    /// The region's rows.
    range: RowRange,
    name: Bytes,
    declared: Current<Declared>,
    oversized_rows: OversizedRowLog,
    super_version: ArcSwap<SuperVersion>,
    /// Serializes changes to the super version.
    changing: Mutex<()>,
    /// Serializes flushes.
    pub(crate) flushing: Mutex<()>,
    /// Held for reading by each compaction, which may run beside others; held for writing to
    /// exclude them all.
    pub(crate) compacting: RwLock<()>,
    /// The running compactions.
    pub(crate) merges: Running,
    steady: Steady,
    flush_requested: AtomicBool,
    memory_compaction_requested: AtomicBool,
    /// The files' read amplification, as [`read_amplification`] counts it.
    read_amplification: AtomicUsize,
    /// Requests since the store was opened; all 0 if it keeps no heat.
    pub(crate) requests: SharedLoad,
    /// Since when a flush has been postponed.
    blocked_since: Mutex<Option<Instant>>,
    /// The region is about to be dropped: compacting the files is useless.
    leaving: AtomicBool,
    /// The region is dropped: the memstores need no flush.
    dropped: AtomicBool,
    /// Set if the cells are in memory alone.
    in_memory: OnceLock<InMemory>,
}

/// A family's descriptor and the values derived from it.
struct Declared {
    descriptor: FamilyDescriptor,
    policy: Policy,
    retention: Retention,
    bloom: BloomKind,
    caching: Caching,
    buffered: Option<Duration>,
    row_limit: Arc<RowLimit>,
}

/// The memstores and files that one read merges: a snapshot. A reader holds it while it reads, so
/// flushes and compactions do not affect what it sees.
#[derive(Clone)]
pub(crate) struct SuperVersion {
    pub(crate) active: Arc<Memstore>,
    /// Memstores being flushed, oldest first.
    pub(crate) frozen: Vec<Arc<Memstore>>,
    /// Oldest first; their sequence ranges do not overlap.
    pub(crate) files: Vec<Arc<StoreFile>>,
    /// The lowest sequence at which this super version can be read: flushes and compactions have
    /// dropped cells that only readers below it could see.
    pub(crate) readable_from: u64,
}

impl SuperVersion {
    /// Returns one without cells, readable at every sequence.
    pub(crate) fn empty() -> Self {
        Self { active: Arc::default(), frozen: Vec::new(), files: Vec::new(), readable_from: 0 }
    }
}

impl Declared {
    fn new(descriptor: FamilyDescriptor, policy: Policy, row_limit: Arc<RowLimit>) -> Self {
        let bloom = descriptor.bloom();
        let caching = match (descriptor.block_cache(), descriptor.in_memory()) {
            (false, _) => Caching::LookOnly,
            (true, true) => Caching::InMemory,
            (true, false) => Caching::Shared,
        };
        Self {
            retention: Retention::from(&descriptor),
            bloom,
            caching,
            buffered: descriptor.buffered(),
            descriptor,
            policy,
            row_limit,
        }
    }
}

impl FamilyStore {
    pub(crate) fn new(
        region_id: u64,
        range: RowRange,
        descriptor: FamilyDescriptor,
        policy: Policy,
        row_limit: Arc<RowLimit>,
        mut files: Vec<Arc<StoreFile>>,
    ) -> Self {
        files.sort_by_key(|file| (file.sequence_max(), file.id()));
        let read_amplification = AtomicUsize::new(read_amplification_of(&files, &range));
        // A caller that passes flushed or compacted files sets the lowest readable sequence
        // afterwards.
        let super_version = SuperVersion { files, ..SuperVersion::empty() };
        Self {
            region_id,
            range,
            name: descriptor.name().clone(),
            declared: Current::new(Declared::new(descriptor, policy, row_limit)),
            oversized_rows: OversizedRowLog::default(),
            super_version: ArcSwap::from_pointee(super_version),
            changing: Mutex::default(),
            flushing: Mutex::default(),
            compacting: RwLock::default(),
            merges: Running::default(),
            steady: Steady::default(),
            flush_requested: AtomicBool::new(false),
            memory_compaction_requested: AtomicBool::new(false),
            read_amplification,
            requests: SharedLoad::default(),
            blocked_since: Mutex::default(),
            leaving: AtomicBool::new(false),
            dropped: AtomicBool::new(false),
            in_memory: OnceLock::new(),
        }
    }

    pub(crate) fn region_id(&self) -> u64 {
        self.region_id
    }

    /// Returns the region's rows.
    pub(crate) fn range(&self) -> &RowRange {
        &self.range
    }

    pub(crate) fn descriptor(&self) -> &FamilyDescriptor {
        &self.declared.get().descriptor
    }

    pub(crate) fn name(&self) -> &Bytes {
        &self.name
    }

    /// Returns how long the family's cells are retained.
    pub(crate) fn retention(&self) -> Retention {
        self.declared.get().retention
    }

    /// Whether reads can return older versions of a cell.
    pub(crate) fn has_versions(&self) -> bool {
        self.declared.get().retention.has_versions()
    }

    /// Returns the Bloom filter kind for new files.
    pub(crate) fn bloom(&self) -> BloomKind {
        self.declared.get().bloom
    }

    /// Returns how readers use the block cache for data blocks.
    pub(crate) fn caching(&self) -> Caching {
        self.declared.get().caching
    }

    /// Returns how long increments may stay out of the log; `None` to log each.
    #[inline]
    pub(crate) fn buffered(&self) -> Option<Duration> {
        self.declared.get().buffered
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.declared.get().policy
    }

    /// Returns the size from which rows are logged as oversized.
    pub(crate) fn row_limit(&self) -> &RowLimit {
        &self.declared.get().row_limit
    }

    /// Logs once that `row` has `len` bytes in one file.
    pub(crate) fn log_oversized_row(&self, row: &[u8], len: u64) {
        self.oversized_rows.log(self.row_limit(), self.region_id, &self.name, row, len);
    }

    /// Replaces the declaration for reads, flushes and compactions that begin from now on.
    pub(crate) fn declare(
        &self,
        descriptor: FamilyDescriptor,
        policy: Policy,
        row_limit: Arc<RowLimit>,
    ) {
        debug_assert_eq!(descriptor.name(), &self.name);
        self.declared.replace(Declared::new(descriptor, policy, row_limit));
    }

    /// Returns the super version for a reader at `sequence`. Returns `None` if a flush or
    /// compaction has since dropped cells visible there: the reader must take a newer sequence. A
    /// reader that loads first the sequence and then the super version gets `None` only if an
    /// entire flush or compaction, including the first time it loads the sequence, ran between the
    /// two.
    pub(crate) fn super_version_at(&self, sequence: u64) -> Option<Guard<Arc<SuperVersion>>> {
        let super_version = self.super_version.load();
        (super_version.readable_from <= sequence).then_some(super_version)
    }

    /// Returns the current super version, for callers that do not read at a sequence.
    pub(crate) fn super_version(&self) -> Arc<SuperVersion> {
        self.super_version.load_full()
    }

    /// Returns the memstore that takes writes. It does not change while `Engine::freeze_latch` is
    /// held.
    pub(crate) fn active(&self) -> Arc<Memstore> {
        Arc::clone(&self.super_version.load().active)
    }

    /// Changes the super version for later readers.
    pub(crate) fn change(&self, change: impl FnOnce(&mut SuperVersion)) {
        let _changing = self.changing.lock();
        let mut changed = SuperVersion::clone(&self.super_version.load());
        change(&mut changed);
        self.read_amplification
            .store(read_amplification_of(&changed.files, &self.range), Ordering::Relaxed);
        self.super_version.store(Arc::new(changed));
    }

    /// Freezes the active memstore and starts an empty one. The caller must exclude writers.
    pub(crate) fn freeze_active(&self) {
        self.change(|super_version| {
            super_version.frozen.push(std::mem::take(&mut super_version.active));
        });
    }

    /// Replaces compacted files by the outcome, which holds all their cells except the cells that
    /// no reader at `readable_from` or later can see.
    pub(crate) fn replace_files(
        &self,
        merged: &[Arc<StoreFile>],
        outcome: Option<Arc<StoreFile>>,
        readable_from: u64,
    ) {
        self.change(|super_version| {
            let is_merged = |file: &Arc<StoreFile>| merged.iter().any(|old| old.id() == file.id());
            let at =
                super_version.files.iter().position(is_merged).unwrap_or(super_version.files.len());
            super_version.files.retain(|file| !is_merged(file));
            super_version.files.splice(at..at, outcome);
            super_version.readable_from = super_version.readable_from.max(readable_from);
        });
        for file in merged {
            file.release();
        }
    }

    /// Returns the compaction policy's input.
    pub(crate) fn situation<'a>(
        &self,
        files: &'a [FileSummary<'a>],
        busy: usize,
        now_millis: i64,
        requested: Option<CompactionKind>,
    ) -> PolicyInput<'a> {
        let declared = self.declared.get();
        let family = &declared.descriptor;
        // A file does not record whether it holds versions that MIN_VERSIONS keeps past their TTL.
        let expires = family.versions_min() == 0;
        let unexpired_from =
            if expires { declared.retention.unexpired_from(now_millis) } else { i64::MIN };
        let drops = Drops {
            markers: family.keep_deleted_cells() == KeepDeletedCells::False,
            older_versions: family.versions_max() == 1 && family.versions_min() == 0,
        };
        PolicyInput { files, busy, now_millis, unexpired_from, drops, requested }
    }

    /// Whether there are so many files that flushing full memstores is postponed.
    pub(crate) fn is_blocked(&self) -> bool {
        self.read_amplification() >= self.policy().files_blocking
    }

    /// Returns the read amplification: how many files every read has to consult.
    pub(crate) fn read_amplification(&self) -> usize {
        self.read_amplification.load(Ordering::Relaxed)
    }

    /// Whether it has files with rows from other regions, as a split leaves them until they are
    /// compacted.
    pub(crate) fn has_wider_files(&self) -> bool {
        self.super_version().files.iter().any(|file| file.is_wider_than(&self.range))
    }

    /// Returns the files' total bytes.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.super_version().files.iter().map(|file| file.share_len()).sum()
    }

    /// Whether writers must wait until files are compacted; `flush_bytes` is the size of a full
    /// memstore.
    pub(crate) fn holds_writers(&self, flush_bytes: u64) -> bool {
        self.is_blocked() && self.active().bytes() >= flush_bytes
    }

    /// Whether to postpone a flush, for at most `wait` in all, until files are compacted.
    pub(crate) fn postpones_flush(&self, wait: Duration) -> bool {
        let mut since = self.blocked_since.lock();
        if !self.is_blocked() {
            *since = None;
            return false;
        }
        if since.is_none() {
            tracing::warn!(
                region = self.region_id,
                family = %rowhouse_model::escape(self.name()),
                files = self.read_amplification(),
                ?wait,
                "too many files: a flush waits for a compaction"
            );
        }
        if since.get_or_insert_with(Instant::now).elapsed() < wait {
            return true;
        }
        *since = None;
        false
    }

    /// Whether memory holds mutations that are not in the log.
    pub(crate) fn has_unlogged(&self) -> bool {
        let super_version = self.super_version();
        super_version
            .frozen
            .iter()
            .chain([&super_version.active])
            .any(|memstore| memstore.is_unlogged())
    }

    /// Returns the lowest sequence that is in the log and not in a file.
    pub(crate) fn first_unflushed(&self) -> Option<u64> {
        if self.in_memory().is_some() {
            return None;
        }
        let super_version = self.super_version();
        let memstores = super_version.frozen.iter().chain([&super_version.active]);
        memstores.filter_map(|memstore| memstore.first_sequence()).min()
    }

    /// Returns the memstores' total bytes.
    pub(crate) fn memstore_bytes(&self) -> u64 {
        let super_version = self.super_version();
        super_version
            .frozen
            .iter()
            .chain([&super_version.active])
            .map(|memstore| memstore.bytes())
            .sum()
    }

    /// Requests a background flush; requests made before it begins are combined.
    pub(crate) fn request_flush(&self, queue: &Queue) {
        if !self.flush_requested.swap(true, Ordering::Relaxed) {
            queue.push(Work::Flush { region: self.region_id, family: self.name().clone() });
        }
    }

    /// Marks that a requested flush begins: later requests count again.
    pub(crate) fn flush_begins(&self) {
        self.flush_requested.store(false, Ordering::Relaxed);
    }

    /// Requests that the memstores are compacted in memory if old versions of counters may make up
    /// half of them.
    pub(crate) fn request_memory_compaction(&self, queue: &Queue) {
        // A steady family drops cells within limits that only a flush respects.
        if self.is_steady() {
            return;
        }
        let super_version = self.super_version.load();
        let frozen: u64 = super_version.frozen.iter().map(|memstore| memstore.bytes()).sum();
        if super_version.active.bytes() > frozen.max(MEMORY_COMPACTION_BYTES_MIN)
            && !self.memory_compaction_requested.swap(true, Ordering::Relaxed)
        {
            let family = self.name().clone();
            queue.push(Work::CompactMemory { region: self.region_id, family });
        }
    }

    /// Marks that a requested compaction in memory begins: later requests count again.
    pub(crate) fn memory_compaction_begins(&self) {
        self.memory_compaction_requested.store(false, Ordering::Relaxed);
    }

    /// Stops running compactions and prevents new ones because the region is about to be dropped;
    /// `false` allows them again.
    pub(crate) fn set_closing(&self, leaving: bool) {
        self.leaving.store(leaving, Ordering::Release);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.leaving.load(Ordering::Acquire) || self.is_dropped()
    }

    /// Refuses all further writes. The caller must exclude writers; a mutation drafted earlier and
    /// committed later is refused.
    pub(crate) fn set_dropped(&self) {
        self.dropped.store(true, Ordering::Release);
    }

    /// Discards the memstores, which the returned super version still has, and marks the files for
    /// deletion.
    pub(crate) fn drop_all(&self) -> Arc<SuperVersion> {
        self.set_dropped();
        let super_version = self.super_version();
        self.change(|super_version| {
            super_version.active = Arc::default();
            super_version.frozen.clear();
            for file in super_version.files.drain(..) {
                file.release();
            }
        });
        super_version
    }

    /// Releases the files, which the replacing regions reference. Later readers get
    /// `NotServingRegion` and find the replacements.
    pub(crate) fn release_files(&self) {
        self.change(|super_version| {
            super_version.readable_from = u64::MAX;
            for file in super_version.files.drain(..) {
                file.release();
            }
        });
    }

    pub(crate) fn is_dropped(&self) -> bool {
        self.dropped.load(Ordering::Acquire)
    }
}

fn read_amplification_of(files: &[Arc<StoreFile>], range: &RowRange) -> usize {
    read_amplification(&files.iter().map(|file| file.facts(range)).collect::<Vec<_>>())
}
