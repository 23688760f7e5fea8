//! What a region keeps of one family: the memstore that takes writes, those being flushed, the
//! files. HBase calls it a Store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, Guard};
use parking_lot::{Mutex, RwLock};
use rowhouse_model::{BloomKind, Bytes, FamilyDescriptor, KeepDeletedCells, RowRange};

use crate::background::Work;
use crate::block_cache::Caching;
use crate::compact::{
    CompactionKind, Drops, FileFacts, Policy, Running, Situation, read_amplification,
};
use crate::engine::Engine;
use crate::memstore::Memstore;
use crate::newest::Newest;
use crate::oversized_rows::{OversizedRowLog, RowLimit};
use crate::read::Retention;
use crate::read::unexpired_from;
use crate::store_file::StoreFile;

/// One (region, family).
pub(crate) struct FamilyStore {
    region_id: u64,
    /// The rows of the region.
    range: RowRange,
    name: Bytes,
    declared: Newest<Declared>,
    oversized_rows: OversizedRowLog,
    super_version: ArcSwap<SuperVersion>,
    /// Held by whoever changes the parts.
    changing: Mutex<()>,
    /// Held by whoever flushes.
    pub(crate) flushing: Mutex<()>,
    /// Held by whoever merges files, together with others; alone by whoever wants no merge beside.
    pub(crate) compacting: RwLock<()>,
    /// The merges that run.
    pub(crate) merges: Running,
    flush_requested: AtomicBool,
    /// What the files cost their readers, as [`read_amplification`] counts.
    read_amplification: AtomicUsize,
    /// Since when a flush is put off.
    blocked_since: Mutex<Option<Instant>>,
    /// The region is going: a merge of its files is worth nothing.
    leaving: AtomicBool,
    /// The region is gone: what is in memory is not worth a file.
    dropped: AtomicBool,
}

/// What a family is declared to be, and what follows from it.
struct Declared {
    descriptor: FamilyDescriptor,
    policy: Policy,
    retention: Retention,
    bloom: BloomKind,
    caching: Caching,
    row_limit: Arc<RowLimit>,
}

/// What a read has to merge, at one moment. A reader holds it as long as it reads: whatever becomes
/// of the store meanwhile, it goes on seeing this.
#[derive(Clone)]
pub(crate) struct SuperVersion {
    pub(crate) active: Arc<Memstore>,
    /// Being written to files, oldest first.
    pub(crate) frozen: Vec<Arc<Memstore>>,
    /// Oldest first: their sequences do not overlap.
    pub(crate) files: Vec<Arc<StoreFile>>,
    /// The lowest sequence at which these parts can be read: flushes and merges have dropped what
    /// only readers below it could see.
    pub(crate) readable_from: u64,
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
        // Who has files that were flushed or merged says from where on they can be read.
        let super_version =
            SuperVersion { active: Arc::default(), frozen: Vec::new(), files, readable_from: 0 };
        Self {
            region_id,
            range,
            name: descriptor.name().clone(),
            declared: Newest::new(Declared::new(descriptor, policy, row_limit)),
            oversized_rows: OversizedRowLog::default(),
            super_version: ArcSwap::from_pointee(super_version),
            changing: Mutex::default(),
            flushing: Mutex::default(),
            compacting: RwLock::default(),
            merges: Running::default(),
            flush_requested: AtomicBool::new(false),
            read_amplification,
            blocked_since: Mutex::default(),
            leaving: AtomicBool::new(false),
            dropped: AtomicBool::new(false),
        }
    }

    pub(crate) fn region_id(&self) -> u64 {
        self.region_id
    }

    /// The rows of the region.
    pub(crate) fn range(&self) -> &RowRange {
        &self.range
    }

    pub(crate) fn descriptor(&self) -> &FamilyDescriptor {
        &self.declared.get().descriptor
    }

    pub(crate) fn name(&self) -> &Bytes {
        &self.name
    }

    /// How long its cells are kept.
    pub(crate) fn retention(&self) -> Retention {
        self.declared.get().retention
    }

    /// Whether older versions of a cell are seen.
    pub(crate) fn has_versions(&self) -> bool {
        self.declared.get().retention.has_versions()
    }

    /// What the blooms of its new files are over.
    pub(crate) fn bloom(&self) -> BloomKind {
        self.declared.get().bloom
    }

    /// What its readers do with data blocks.
    pub(crate) fn caching(&self) -> Caching {
        self.declared.get().caching
    }

    pub(crate) fn policy(&self) -> &Policy {
        &self.declared.get().policy
    }

    /// How large its rows may be before they are told.
    pub(crate) fn row_limit(&self) -> &RowLimit {
        &self.declared.get().row_limit
    }

    /// Tells of a row that a file has so many bytes of, once.
    pub(crate) fn log_oversized_row(&self, row: &[u8], len: u64) {
        self.oversized_rows.log(self.row_limit(), self.region_id, &self.name, row, len);
    }

    /// Declares it anew, for reads, flushes and merges that begin from now on.
    pub(crate) fn declare(
        &self,
        descriptor: FamilyDescriptor,
        policy: Policy,
        row_limit: Arc<RowLimit>,
    ) {
        debug_assert_eq!(descriptor.name(), &self.name);
        self.declared.replace(Declared::new(descriptor, policy, row_limit));
    }

    /// What a reader at `sequence` has to merge. `None` when a flush or a merge has dropped since
    /// what it could see: it must take a newer sequence. A reader that takes its sequence and then its parts is
    /// told so only if a whole flush or merge, from its first look at the sequence on, fell between the two.
    pub(crate) fn super_version_at(&self, sequence: u64) -> Option<Guard<Arc<SuperVersion>>> {
        let super_version = self.super_version.load();
        (super_version.readable_from <= sequence).then_some(super_version)
    }

    /// Everything there is, for whoever does not read at a sequence.
    pub(crate) fn super_version(&self) -> Arc<SuperVersion> {
        self.super_version.load_full()
    }

    /// The memstore that takes writes. It stays the one while `Engine::freeze_latch` is held.
    pub(crate) fn active(&self) -> Arc<Memstore> {
        Arc::clone(&self.super_version.load().active)
    }

    /// Changes the parts for all readers that come after.
    pub(crate) fn change(&self, change: impl FnOnce(&mut SuperVersion)) {
        let _changing = self.changing.lock();
        let mut changed = SuperVersion::clone(&self.super_version.load());
        change(&mut changed);
        self.read_amplification
            .store(read_amplification_of(&changed.files, &self.range), Ordering::Relaxed);
        self.super_version.store(Arc::new(changed));
    }

    /// Takes the memstore out of the way of writers; nobody may be writing.
    pub(crate) fn set_aside_active(&self) {
        self.change(|super_version| {
            super_version.frozen.push(std::mem::take(&mut super_version.active))
        });
    }

    /// Puts the outcome of a merge in the place of the files that were merged, whose cells it holds
    /// but for what no reader at `readable_from` or behind can see.
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

    /// What matters in choosing what to merge.
    pub(crate) fn situation<'a>(
        &self,
        files: &'a [FileFacts<'a>],
        busy: usize,
        now_millis: i64,
        asked: Option<CompactionKind>,
    ) -> Situation<'a> {
        let family = self.descriptor();
        // Of versions that are kept however old they are a file does not say whether it has any.
        let expires = family.versions_min() == 0;
        let unexpired_from = if expires { unexpired_from(family, now_millis) } else { i64::MIN };
        let drops = Drops {
            markers: family.keep_deleted_cells() == KeepDeletedCells::False,
            behind: family.versions_max() == 1 && family.versions_min() == 0,
        };
        Situation { files, busy, now_millis, unexpired_from, drops, asked }
    }

    /// Whether there are so many files that a full memstore is not flushed for now.
    pub(crate) fn is_blocked(&self) -> bool {
        self.read_amplification() >= self.policy().files_blocking
    }

    /// What the files cost their readers, in files that every read looks into.
    pub(crate) fn read_amplification(&self) -> usize {
        self.read_amplification.load(Ordering::Relaxed)
    }

    /// Whether it has files that hold rows of other regions: what a split leaves until they are merged.
    pub(crate) fn has_wider_files(&self) -> bool {
        self.super_version().files.iter().any(|file| file.is_wider_than(&self.range))
    }

    /// Bytes of files.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.super_version().files.iter().map(|file| file.share_len()).sum()
    }

    /// Whether writers have to wait until files are merged.
    pub(crate) fn holds_writers(&self, engine: &Engine) -> bool {
        self.is_blocked() && self.active().bytes() >= engine.settings.memstore_flush_bytes
    }

    /// Whether a flush is to be put off, for `wait` at most, until files are merged.
    pub(crate) fn puts_off_flush(&self, wait: Duration) -> bool {
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
                "too many files: a flush is put off until some are merged"
            );
        }
        if since.get_or_insert_with(Instant::now).elapsed() < wait {
            return true;
        }
        *since = None;
        false
    }

    /// Whether anything in memory is in no log.
    pub(crate) fn has_unlogged(&self) -> bool {
        let super_version = self.super_version();
        super_version
            .frozen
            .iter()
            .chain([&super_version.active])
            .any(|memstore| memstore.is_unlogged())
    }

    /// The lowest sequence that is in no file yet.
    pub(crate) fn first_unflushed(&self) -> Option<u64> {
        let super_version = self.super_version();
        let memstores = super_version.frozen.iter().chain([&super_version.active]);
        memstores.filter_map(|memstore| memstore.first_sequence()).min()
    }

    /// Bytes in memory.
    pub(crate) fn memstore_bytes(&self) -> u64 {
        let super_version = self.super_version();
        super_version
            .frozen
            .iter()
            .chain([&super_version.active])
            .map(|memstore| memstore.bytes())
            .sum()
    }

    /// After cells were put into its memstore: has it flushed, or others, where memory is short.
    pub(crate) fn took(&self, engine: &Engine, memstore: &Memstore) {
        if memstore.bytes() >= engine.settings.memstore_flush_bytes {
            self.request_flush(engine);
        } else if engine.memory.bytes() > engine.settings.memstore_bytes_max / 4 * 3 {
            engine.queue.push(Work::RelieveMemory);
        }
    }

    /// Has the background flush this, once for however many ask.
    pub(crate) fn request_flush(&self, engine: &Engine) {
        if !self.flush_requested.swap(true, Ordering::Relaxed) {
            engine.queue.push(Work::Flush { region: self.region_id, family: self.name().clone() });
        }
    }

    /// A requested flush begins: the next request counts again.
    pub(crate) fn flush_begins(&self) {
        self.flush_requested.store(false, Ordering::Relaxed);
    }

    /// Ends a merge that runs, and keeps others from beginning: the region is to be dropped, or is
    /// not after all.
    pub(crate) fn set_leaving(&self, leaving: bool) {
        self.leaving.store(leaving, Ordering::Release);
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire) || self.is_dropped()
    }

    /// Has no more be written to it. Nobody may be writing: what was drafted before and comes later is
    /// refused.
    pub(crate) fn set_dropped(&self) {
        self.dropped.store(true, Ordering::Release);
    }

    /// Gives up what is in memory and marks the files for removal.
    pub(crate) fn drop_all(&self, engine: &Engine) {
        self.set_dropped();
        engine.memory.free(self.memstore_bytes());
        self.change(|super_version| {
            super_version.active = Arc::default();
            super_version.frozen.clear();
            for file in super_version.files.drain(..) {
                file.release();
            }
        });
    }

    /// Lets its files go, which those that came in its place have. Whoever comes to read it is told that it
    /// is not served, and finds them.
    pub(crate) fn give_up_files(&self) {
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
