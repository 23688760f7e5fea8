//! The state that all regions in a store share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};
use rowhouse_model::{Bytes, Error, ErrorKind, Result, escape};

use crate::background::{Queue, Work};
use crate::clock::TimestampSource;
use crate::commits::{Nonces, RecentWrites, RowLocks, UnloggedCounters};
use crate::compaction_queue::{Candidates, Compactions};
use crate::disk::Disk;
use crate::family::{Families, FamilyStore};
use crate::followers::Followers;
use crate::heat::Heat;
use crate::id_queue::IdQueue;
use crate::index_memory::IndexMemory;
use crate::layout::file_path;
use crate::manifest::{Edit, EditKind, LogForgotten, LogSynced, Manifest};
use crate::memstore::Memstore;
use crate::mvcc::Mvcc;
use crate::read::ReadContext;
use crate::reader_memory::ReaderMemory;
use crate::settings::Settings;
use crate::space::{Need, Space};
use crate::store_file::{Files, SnapshotFiles};
use crate::tasks::{RunningTask, Tasks};
use crate::wal::{self, Hold, TableRecord, Wal};

/// Cells written between two checks whether the store is closing.
pub(crate) const CELLS_BETWEEN_CHECKS: u64 = 4096;

/// Whether the caller of [`Engine::log_table_changes`] holds the freeze latch exclusively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableChangeLatch {
    Free,
    Held,
}

/// The state that all regions in a store share.
pub(crate) struct Engine {
    pub(crate) settings: Settings,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) timestamps: TimestampSource,
    pub(crate) manifest: Manifest,
    /// Set once the existing log has been replayed.
    pub(crate) log: OnceLock<Wal>,
    /// How far it has been replayed.
    pub(crate) replayed: Mutex<Option<LogSynced>>,
    pub(crate) mvcc: Mvcc,
    pub(crate) row_locks: RowLocks,
    /// Held for reading from reserving a sequence number to publishing it. Held for writing to
    /// freeze a memstore, to stop serving a region, and to validate and commit a transaction: no
    /// other commit is then in progress.
    pub(crate) freeze_latch: RwLock<()>,
    pub(crate) memory: Memory,
    pub(crate) index_memory: Arc<IndexMemory>,
    pub(crate) reader_memory: Arc<ReaderMemory>,
    pub(crate) nonces: Nonces,
    pub(crate) recent_writes: RecentWrites,
    pub(crate) counters: UnloggedCounters,
    pub(crate) followers: Followers,
    pub(crate) files: Arc<Files>,
    pub(crate) heat: Heat,
    /// The flush thread's work.
    pub(crate) queue: Queue,
    /// Log maintenance that no caller has to wait for.
    pub(crate) log_work: Queue,
    /// Wakes the thread that logs counters: some are due earlier than it knows.
    pub(crate) counter_work: Queue,
    pub(crate) space: Space,
    /// The compaction threads' work.
    pub(crate) compactions: Compactions,
    pub(crate) tasks: Tasks,
    /// Regions that may have to be split.
    pub(crate) splits: IdQueue,
    /// Index tables that may lack entries.
    pub(crate) index_builds: IdQueue,
    /// How many rows were put into full-text index queues since the store was opened.
    pub(crate) rows_queued: AtomicU64,
    /// Set when reads and writes are refused.
    pub(crate) closing: AtomicBool,
    /// Set when flushes and compactions are refused.
    pub(crate) closed: AtomicBool,
    pub(crate) families: RwLock<Families>,
    /// The snapshots' files. The lock serializes taking, using and deleting them.
    pub(crate) snapshots: Mutex<SnapshotFiles>,
    /// Held by a compaction from the edit that removes files until their family has released them,
    /// and by operations that add references to a family's files (snapshots, backups).
    pub(crate) replacing: Mutex<()>,
}

impl Engine {
    /// Returns an error if the store is closing.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closing.load(Ordering::Acquire) { Err(closed()) } else { Ok(()) }
    }

    /// Returns an error if flushes and compactions are refused.
    pub(crate) fn check_working(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) { Err(closed()) } else { Ok(()) }
    }

    /// Stops the store's threads and wakes their waiters.
    pub(crate) fn end_background(&self) {
        self.queue.close();
        self.log_work.close();
        self.counter_work.close();
        self.compactions.close();
        self.splits.close();
        self.index_builds.close();
        self.files.damage.close();
        self.memory.wake();
    }

    /// Returns the log for writing.
    pub(crate) fn wal(&self) -> &Wal {
        self.log.get().expect("the log is begun before a store is handed out")
    }

    /// Syncs the log, so that everything logged so far survives a power failure.
    pub(crate) fn sync_log(&self) -> Result<()> {
        match self.log.get() {
            Some(wal) => wal.sync(),
            None => wal::sync_segments(&*self.disk),
        }
    }

    /// Appends an edit to the manifest. It is on disk when this returns, and records how far the
    /// log was then; the log records that the manifest has it.
    ///
    /// # Errors
    /// As [`Manifest::append`].
    pub(crate) fn append_edit(&self, kind: EditKind) -> Result<()> {
        let retired = self.manifest.read(|state| state.retired_by(&kind));
        let synced = self.log.get().map_or(0, |wal| wal.synced().last_sequence);
        self.followers.retire(retired, self.mvcc.reserved(), synced)?;
        let Some(wal) = self.log.get() else {
            let log = *self.replayed.lock();
            self.manifest.append(&Edit { log, ..Edit::new(kind) })?;
            return Ok(());
        };
        let age = self.manifest.append(&Edit { log: Some(wal.synced()), ..Edit::new(kind) })?;
        wal.note_manifest(age, || self.mvcc.reserved());
        self.tend_log(true);
        Ok(())
    }

    /// Logs the changes of tables as a whole that an edit makes, on the disk, for followers. They
    /// do not read beyond until the returned hold is dropped, which must be after the change is
    /// visible. `None` if the edit makes none.
    ///
    /// # Errors
    /// Errors from the log, which leave nothing to undo.
    pub(crate) fn log_table_changes(
        &self,
        kind: &EditKind,
        latch: TableChangeLatch,
    ) -> Result<Option<Hold<'_>>> {
        let changes = self.manifest.read(|state| state.whole_changes_by(kind));
        if changes.is_empty() {
            return Ok(None);
        }
        let wal = self.wal();
        let hold = wal.hold();
        let millis = self.timestamps.now_millis();
        for (table_id, table, kind) in changes {
            let record = TableRecord { kind, table_id, millis, table };
            let _latch = (latch == TableChangeLatch::Free).then(|| self.freeze_latch.read());
            let (sequence, logged) = wal.append_table(&record, || self.mvcc.reserve());
            self.mvcc.publish(sequence);
            self.tend_log(logged.is_ok());
            logged?;
        }
        wal.sync()?;
        Ok(Some(hold))
    }

    /// Returns the time for a record, if there are followers.
    #[inline]
    pub(crate) fn time_for_followers(&self) -> Option<i64> {
        self.followers.is_active().then(|| self.timestamps.now_millis())
    }

    /// Requests the work that the log needs after an attempt to append to it.
    pub(crate) fn tend_log(&self, is_appended: bool) {
        if self.wal().needs_maintenance() {
            self.log_work.push(Work::TidyLog);
        }
        if is_appended && self.wal().needs_sync() {
            self.log_work.push(Work::SyncLog);
        }
    }

    /// Appends a manifest edit that removes regions or families.
    ///
    /// # Errors
    /// As [`Manifest::append`]. If the edit may have taken effect despite the error, the store
    /// refuses writes until it is reopened: they would be lost with the removed regions or
    /// families.
    pub(crate) fn append_removal(&self, edit: EditKind) -> Result<()> {
        let appended = self.append_edit(edit);
        if appended.is_err() && self.manifest.check_writable().is_err() {
            self.wal().close("MANIFEST could not be written; reopen the store");
        }
        appended
    }

    /// Returns the parts that reads use.
    #[inline]
    pub(crate) fn read_context(&self) -> ReadContext<'_> {
        ReadContext {
            timestamps: &self.timestamps,
            mvcc: &self.mvcc,
            reader_memory: &self.reader_memory,
            age_max: self.settings.scan_age_max,
        }
    }

    /// Returns the families that compactions choose from.
    pub(crate) fn candidates(&self) -> Candidates<'_> {
        Candidates {
            families: &self.families,
            settings: &self.settings,
            timestamps: &self.timestamps,
        }
    }

    /// Removes a finished file that no edit names.
    pub(crate) fn remove_unnamed(&self, id: u64) {
        // The next open removes it otherwise.
        let _ = self.disk.remove(&file_path(id));
    }

    /// Returns a region's family, if it has not been dropped.
    pub(crate) fn find_family(&self, region: u64, name: &Bytes) -> Option<Arc<FamilyStore>> {
        self.families.read().get(&(region, name.clone())).cloned()
    }

    /// Returns a family that existed when the store was opened. Panics if there is none.
    pub(crate) fn family(&self, region: u64, name: &Bytes) -> Arc<FamilyStore> {
        self.find_family(region, name).expect("families are opened before their regions")
    }

    pub(crate) fn add_family(&self, family: FamilyStore) -> Arc<FamilyStore> {
        let family = Arc::new(family);
        let key = (family.region_id(), family.name().clone());
        self.families.write().insert(key, Arc::clone(&family));
        family
    }

    /// Removes a dropped family from the map. The caller holds the freeze latch exclusively.
    pub(crate) fn forget_family(&self, family: &FamilyStore) {
        self.counters.discard(family.region_id(), family.name());
        self.families.write().remove(&(family.region_id(), family.name().clone()));
    }

    /// Lists a task until the returned guard is dropped.
    pub(crate) fn begin_task(&self, description: String, status: String) -> RunningTask<'_> {
        self.tasks.begin(description, status, self.timestamps.now_millis())
    }

    /// Lists a task on a family, such as `Flushing`.
    pub(crate) fn begin_family_task(
        &self,
        what: &str,
        family: &FamilyStore,
        status: String,
    ) -> RunningTask<'_> {
        let region = self.manifest.read(|state| {
            let mut tables = state.tables.values();
            let region = tables.find_map(|table| table.regions.get(&family.region_id()));
            region.map(|region| region.info.name().to_string())
        });
        let family = escape(family.name());
        let region = region.unwrap_or_default();
        self.begin_task(format!("{what} {family} in {region}"), status)
    }

    /// Keeps the tables' heat within bounds, and writes it to disk if that is due.
    pub(crate) fn keep_heat(&self) {
        if self.heat.keep() {
            self.save_heat();
        }
    }

    /// Writes the tables' heat to disk, unless the disk is full.
    pub(crate) fn save_heat(&self) {
        if self.space.check(&*self.disk, Need::Room).is_ok() {
            self.heat.save(&*self.disk);
        }
    }

    /// Returns the names of the expired snapshots, unless their cleanup is switched off.
    pub(crate) fn expired_snapshots(&self) -> Vec<String> {
        let now_millis = self.timestamps.now_millis();
        self.manifest.read(|state| {
            if state.switches.snapshot_cleanup_off {
                return Vec::new();
            }
            let entries = state.snapshots.values();
            let expired = entries.filter(|entry| entry.snapshot.is_expired(now_millis));
            expired.map(|entry| entry.snapshot.name().to_owned()).collect()
        })
    }

    /// Counts the bytes that were added to a memstore. Requests a flush of the family if the
    /// memstore is full, or of the largest memstores if memory is short.
    pub(crate) fn after_insert(&self, family: &FamilyStore, memstore: &Memstore, added: u64) {
        if let Some(in_memory) = family.in_memory() {
            memstore.count(added);
            if in_memory.is_rewrite_due(memstore.bytes()) {
                family.request_flush(&self.queue);
            }
            return;
        }
        self.memory.add(added);
        if memstore.bytes() >= self.settings.memstore_flush_bytes {
            family.request_flush(&self.queue);
        } else if self.memory.bytes() > self.settings.memstore_bytes_max / 4 * 3 {
            self.queue.push(Work::RelieveMemory);
        }
    }

    /// Discards a family's memstores and marks its files for deletion.
    pub(crate) fn discard(&self, family: &FamilyStore) {
        let dropped = family.drop_all();
        // The bytes of an index in memory count as such while a reader holds them.
        if family.in_memory().is_none() {
            self.leave_to_readers(dropped.frozen.iter().chain([&dropped.active]));
        }
        // Memory without readers is free now; readers holding the rest are requested to release it.
        drop(dropped);
        self.reader_memory.free();
    }

    /// Counts memstores that the super version no longer has as held by readers instead of as live.
    pub(crate) fn leave_to_readers<'m>(&self, memstores: impl Iterator<Item = &'m Arc<Memstore>>) {
        let bytes = memstores.map(|memstore| memstore.leave_to_readers(&self.reader_memory)).sum();
        self.memory.free(bytes);
    }

    /// Records in the manifest where the log begins: the first sequence number that counts and the
    /// first segment that exists.
    pub(crate) fn name_first_segment(&self, below_sequence: u64, first_segment: u64) -> Result<()> {
        let edit = LogForgotten { below_sequence, first_segment };
        self.append_edit(EditKind::LogForgotten(edit))
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::ServerNotRunning, "the store is closed")
}

/// Counts the bytes of all memstores that are not flushed yet.
#[derive(Default)]
pub(crate) struct Memory {
    bytes: AtomicU64,
    lock: Mutex<()>,
    freed: Condvar,
}

impl Memory {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn free(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.wake();
    }

    /// Makes the waiters check their condition again.
    pub(crate) fn wake(&self) {
        let _lock = self.lock.lock();
        self.freed.notify_all();
    }

    /// Waits until fewer than `max` bytes are in use; returns `false` if `wait` passes first.
    pub(crate) fn wait_below(&self, max: u64, wait: Duration) -> bool {
        self.wait_until(|| self.bytes() < max, wait)
    }

    /// Waits until `ready`, which flushes and compactions bring about; returns `false` if `wait`
    /// passes first.
    pub(crate) fn wait_until(&self, ready: impl Fn() -> bool, wait: Duration) -> bool {
        let deadline = Instant::now() + wait;
        let mut lock = self.lock.lock();
        while !ready() {
            if self.freed.wait_until(&mut lock, deadline).timed_out() {
                return ready();
            }
        }
        true
    }
}
