//! The options for opening a store, and the steps that open it, in order.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Mutex, RwLock};
use rowhouse_model::{Error, Namespace, Result, TableName, TableState};
use rowhouse_schema::IndexSchema;

use super::replay::{log_known, recover};
use super::settle::{missing_file, prepare, reconcile_files};
use crate::aside;
use crate::background::Queue;
use crate::catalog::Catalog;
use crate::clock::{Clock, SystemClock, TimestampSource};
use crate::commits::{Nonces, RecentWrites, RowLocks, UnloggedCounters};
use crate::compaction_policy::Policy;
use crate::compaction_queue::Compactions;
use crate::directory::{self, Directory, HolderState};
use crate::disk::{Disk, RealDisk};
use crate::engine::{Engine, Memory};
use crate::family::{Families, FamilyStore};
use crate::followers::Followers;
use crate::heat::Heat;
use crate::id_queue::IdQueue;
use crate::index_memory::IndexMemory;
use crate::indexed::opened;
use crate::manifest::{Edit, EditKind, Manifest, ManifestState, NamespaceChanged, StoreCreated};
use crate::mvcc::Mvcc;
use crate::oversized_rows::RowLimit;
use crate::reader_memory::ReaderMemory;
use crate::region::Region;
use crate::settings::Settings;
use crate::space::Space;
use crate::store::{Background, Store};
use crate::store_file::{Files, SnapshotFiles, StoreFile};
use crate::table::Table;
use crate::tasks::Tasks;
use crate::wal::{self, Epochs, Limits, LogScan, OpenLog, Segments, Wal};

/// The options for opening a store.
pub struct Builder {
    path: PathBuf,
    settings: Settings,
    clock: Arc<dyn Clock>,
    disk: Option<Arc<dyn Disk>>,
    boot_id: Option<[u8; 16]>,
    epochs: Epochs,
    background: Background,
    only_existing: bool,
    for_server: bool,
}

impl Store {
    /// Opens the store in `dir`, or creates one where there is none.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        Self::builder(dir).open()
    }

    /// Returns a builder for opening with other settings or parts.
    pub fn builder(dir: impl AsRef<Path>) -> Builder {
        Builder::new(dir)
    }
}

impl Builder {
    pub(crate) fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            settings: Settings::default(),
            clock: Arc::new(SystemClock),
            disk: None,
            boot_id: None,
            epochs: Epochs::Random,
            background: Background::Threads,
            only_existing: false,
            for_server: false,
        }
    }

    /// Sets sizes and limits.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets a clock other than the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets a disk other than the directory. It is not locked against other processes.
    #[must_use]
    pub fn with_disk(mut self, disk: impl Disk) -> Self {
        self.disk = Some(Arc::new(disk));
        self
    }

    /// Refuses a directory without a store and does not create one.
    #[must_use]
    pub fn only_existing(mut self) -> Self {
        self.only_existing = true;
        self
    }

    /// Records that this process is going to serve clients: until it has called
    /// [`Store::set_address`], other processes see it as [`Holder::is_starting`](crate::Holder).
    #[must_use]
    pub fn for_server(mut self) -> Self {
        self.for_server = true;
        self
    }

    /// Sets a boot id other than the machine's. It decides whether unsynced data can have been
    /// lost.
    #[cfg(test)]
    pub(crate) fn with_boot_id(mut self, boot_id: [u8; 16]) -> Self {
        self.boot_id = Some(boot_id);
        self
    }

    /// Makes the test do the background work and derives all randomness from `seed`, so that a
    /// history is reproducible.
    #[cfg(test)]
    pub(crate) fn by_hand(mut self, seed: u64) -> Self {
        self.background = Background::ByHand;
        self.epochs = Epochs::seeded(seed);
        self
    }

    /// Opens the store, or creates one where there is none.
    ///
    /// # Errors
    /// `InUse`, with the holder, when another process has it open; `Corruption`, with file and
    /// offset, but not for a damaged or missing index file, which is built anew; `Unsupported` for
    /// a store from a newer version.
    pub fn open(self) -> Result<Store> {
        let started = Instant::now();
        self.settings.check()?;
        let (disk, directory) = match self.disk {
            Some(disk) => (disk, None),
            None => {
                let state =
                    if self.for_server { HolderState::Starting } else { HolderState::Embedded };
                let directory = if self.only_existing {
                    Directory::hold_existing(&self.path, state)?
                } else {
                    Directory::hold(&self.path, state)?
                };
                let disk = RealDisk::new(&self.path);
                // Another process could lock another file with this name.
                disk.watch(directory::LOCK).map_err(|source| {
                    Error::io(format_args!("cannot open {}", directory::LOCK), source)
                })?;
                (Arc::new(disk) as Arc<dyn Disk>, Some(directory))
            }
        };
        let boot_id = self.boot_id.unwrap_or_else(directory::boot_id);
        prepare(&*disk)?;
        let now = self.clock.now_millis();
        let manifest = Manifest::open(&disk, boot_id, || first_edits(now))?;
        let state = manifest.state();
        let known = log_known(&*disk, &state, Some(manifest.age_read()), boot_id)?;
        // Before anything is changed.
        let log = OpenLog::open(&*disk, known)?;
        let missing = reconcile_files(&*disk, &manifest, &state, now)?;
        let Settings { block_cache_bytes, .. } = self.settings;
        let open_files_max = open_files_max(self.settings.open_files_max);
        let files = Files::new(Arc::clone(&disk), open_files_max, block_cache_bytes);
        let files = Arc::new(files);
        for id in missing {
            let _ = files.damage.note_file(id, missing_file(id, ""));
        }
        let (families, snapshots) = open_families(&files, &self.settings, &state);
        let reader_memory = ReaderMemory::new(self.settings.reader_memory_limit());
        let reader_memory = Arc::new(reader_memory);
        let followers = Followers::open(Arc::clone(&disk), now)?;
        let index_memory = Arc::new(IndexMemory::new(self.settings.index_memory_bytes_max));
        let heat = Heat::new(self.settings.heat, &self.clock);
        let engine = Arc::new(Engine {
            files,
            heat,
            space: Space::new(self.settings.disk_reserve_bytes),
            settings: self.settings,
            disk,
            timestamps: TimestampSource::new(self.clock),
            mvcc: Mvcc::new(state.last_sequence()),
            manifest,
            log: OnceLock::new(),
            replayed: Mutex::default(),
            row_locks: RowLocks::new(),
            freeze_latch: RwLock::default(),
            memory: Memory::default(),
            index_memory,
            reader_memory,
            nonces: Nonces::new(),
            recent_writes: RecentWrites::default(),
            queue: Queue::default(),
            log_work: Queue::default(),
            counter_work: Queue::default(),
            counters: UnloggedCounters::default(),
            followers,
            compactions: Compactions::default(),
            splits: IdQueue::default(),
            index_builds: IdQueue::default(),
            rows_queued: AtomicU64::new(0),
            tasks: Tasks::default(),
            closing: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            families: RwLock::new(families),
            snapshots: Mutex::new(snapshots),
            replacing: Mutex::default(),
        });
        let recovered = recover(&engine, &state, log, self.background)?;
        if let Some(wrong) = &recovered.note_wrong {
            tracing::warn!(%wrong, "the log is complete as far as the rest shows");
        }
        tracing::info!(
            records = recovered.records,
            bytes = recovered.bytes,
            cut_bytes = recovered.cut.as_ref().map_or(0, |cut| cut.bytes),
            last_sequence = engine.mvcc.reserved(),
            took = ?started.elapsed(),
            "store opened"
        );
        begin_log(&engine, boot_id, self.epochs, recovered)?;
        let catalog = Catalog::new(&engine);
        let tables = state.tables.iter().map(|(&table_id, entry)| {
            let is_enabled = entry.state == TableState::Enabled;
            let descriptor = opened(&entry.descriptor);
            let regions = entry.regions.iter().map(|(&id, region)| {
                let families = region.families.keys();
                let families = families.map(|name| engine.family(id, name)).collect();
                let table = &descriptor;
                let info = region.info.clone();
                let serving = is_enabled && region.assignment.in_service;
                let engine = Arc::clone(&engine);
                let effects = Arc::clone(catalog.effects());
                let opened = Region::new(id, info, families, table, serving, engine, effects);
                Arc::new(opened.assigned(region.assignment))
            });
            let regions = regions.collect();
            Arc::new(Table::new(table_id, descriptor, regions, entry.state))
        });
        catalog.replace(tables);
        Store::start(engine, catalog, directory, self.background)
    }
}

/// Begins a segment after the existing ones.
fn begin_log(
    engine: &Engine,
    boot_id: [u8; 16],
    epochs: Epochs,
    mut recovered: LogScan,
) -> Result<()> {
    // The process that wrote them may have been killed before it synced them.
    wal::sync_segments(&*engine.disk)?;
    let age = engine.manifest.begin(recovered.end())?;
    let now = engine.timestamps.now_millis();
    let live: Vec<u64> = recovered.segments.iter().map(|segment| segment.number).collect();
    engine.followers.note_opened(&recovered.emptied, &live, |it| recovered.has_released(it))?;
    let retained = engine.followers.retained();
    recovered.retain(|number| retained.iter().any(|it| it.segment.number == number));
    recovered.repair(&*engine.disk, now)?;
    wal::remove_unneeded(&engine.disk, &recovered.retained, &retained)?;
    aside::trim(&*engine.disk, &engine.settings, now);
    let segment_bytes = engine.settings.wal_segment_bytes;
    let number = recovered.next_number;
    let spares = recovered.spares;
    let disk = Arc::clone(&engine.disk);
    let segments = Segments::new(disk, boot_id, epochs, segment_bytes, number, spares)?;
    let last_sequence = engine.mvcc.reserved();
    let body_len_max = engine.settings.mutation_bytes_max;
    let limits = Limits { segment_bytes, body_len_max };
    let wal = Wal::start(segments, limits, last_sequence, age, recovered.segments, retained)?;
    let first_segment = wal.first_segment();
    assert!(engine.log.set(wal).is_ok(), "a log is begun once");
    engine.name_first_segment(0, first_segment)?;
    Ok(())
}

/// Returns how many files to keep open: `requested`, or half the process's limit if that is lower.
pub(crate) fn open_files_max(requested: usize) -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let limit = usize::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    if limit / 2 >= requested {
        return requested;
    }
    tracing::warn!(
        limit,
        wanted = requested,
        "too few file descriptors: fewer files are kept open than \
                                   requested"
    );
    limit / 2
}

fn first_edits(now_millis: i64) -> Vec<Edit> {
    let created = EditKind::StoreCreated(StoreCreated {
        cluster_id: uuid::Uuid::new_v4().to_string(),
        created_millis: now_millis,
        next_id: 1,
        last_sequence: 0,
    });
    let namespaces = [TableName::DEFAULT_NAMESPACE, TableName::SYSTEM_NAMESPACE].map(|name| {
        let namespace = Namespace::new(name).expect("HBase's own namespaces have legal names");
        EditKind::NamespaceChanged(NamespaceChanged::new(&namespace))
    });
    [created].into_iter().chain(namespaces).map(Edit::new).collect()
}

fn open_families(
    open: &Arc<Files>,
    settings: &Settings,
    state: &ManifestState,
) -> (Families, SnapshotFiles) {
    let mut families = Families::new();
    // A file that several regions share, or that is in a snapshot, is named several times.
    let mut opened: HashMap<u64, Arc<StoreFile>> = HashMap::new();
    for table in state.tables.values() {
        let row_limit = Arc::new(RowLimit::of(&table.descriptor));
        let indexes = IndexSchema::of_table(&table.descriptor).ok().flatten();
        for (&region_id, region) in &table.regions {
            for (name, files) in &region.families {
                let descriptor = table.descriptor.find_family(name);
                let descriptor = descriptor.expect("regions have the families of their table");
                let flushed = files.flushed_sequence;
                let files = files.files.values().map(|meta| match opened.entry(meta.file_id) {
                    Entry::Occupied(file) => file.get().share(),
                    Entry::Vacant(place) => {
                        let file = Arc::new(StoreFile::new(open, meta.clone()));
                        Arc::clone(place.insert(file))
                    }
                });
                let opened_files: Vec<Arc<StoreFile>> = files.collect();
                let policy = Policy::of_stored(settings, &table.descriptor, descriptor);
                let range = region.info.range.clone();
                let limit = Arc::clone(&row_limit);
                let descriptor = descriptor.clone();
                // Cells dropped when these files were written can no longer be read at older read
                // points.
                let newest = opened_files.iter().map(|file| file.sequence_max()).max();
                let readable_from = flushed.max(newest.unwrap_or(0));
                let family =
                    FamilyStore::new(region_id, range, descriptor, policy, limit, opened_files);
                family.change(|parts| parts.readable_from = readable_from);
                // Flushes during log replay must obey.
                family.set_steady(indexes.as_ref().is_some_and(|of| of.are_decided_by(name)));
                families.insert((region_id, name.clone()), Arc::new(family));
            }
        }
    }
    let mut snapshots = SnapshotFiles::default();
    for (name, entry) in &state.snapshots {
        snapshots.open(name, entry, open, &mut opened);
    }
    (families, snapshots)
}
