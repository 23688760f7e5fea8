//! The state that all regions of a store share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, RwLock};
use rowhouse_model::{Bytes, Error, ErrorKind, Result};

use crate::background::{Queue, Work};
use crate::clock::TimestampSource;
use crate::compact::Compactions;
use crate::disk::Disk;
use crate::family::FamilyStore;
use crate::flush;
use crate::manifest::{Edit, EditKind, LogForgotten, Manifest};
use crate::memstore::Memstore;
use crate::mvcc::Mvcc;
use crate::observer::Observers;
use crate::read::ReaderMemory;
use crate::settings::Settings;
use crate::space::Space;
use crate::split::SplitQueue;
use crate::store_file::{Files, SnapshotFiles};
use crate::tasks::Tasks;
use crate::wal::{self, Wal};
use crate::write::nonce::Nonces;
use crate::write::recent::RecentWrites;
use crate::write::row_lock::RowLocks;

/// The families of all regions, by region id and family name.
pub(crate) type Families = BTreeMap<(u64, Bytes), Arc<FamilyStore>>;

/// The state that all regions of a store share.
pub(crate) struct Engine {
    pub(crate) settings: Settings,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) timestamps: TimestampSource,
    pub(crate) manifest: Manifest,
    /// Set once the existing log has been replayed.
    pub(crate) log: OnceLock<Wal>,
    pub(crate) mvcc: Mvcc,
    pub(crate) row_locks: RowLocks,
    /// Held for reading from reserving a sequence number to publishing it. Held for writing to
    /// freeze a memstore, to stop serving a region, and to validate and commit a transaction: no
    /// other commit is then in progress.
    pub(crate) freeze_latch: RwLock<()>,
    pub(crate) memory: Memory,
    pub(crate) reader_memory: Arc<ReaderMemory>,
    pub(crate) nonces: Nonces,
    pub(crate) recent_writes: RecentWrites,
    pub(crate) observers: Observers,
    pub(crate) files: Arc<Files>,
    /// Work of the flush thread.
    pub(crate) queue: Queue,
    /// Log maintenance that no caller has to wait for.
    pub(crate) log_work: Queue,
    pub(crate) space: Space,
    /// Work of the compaction threads.
    pub(crate) compactions: Compactions,
    pub(crate) tasks: Tasks,
    /// Regions that may have to be split.
    pub(crate) splits: SplitQueue,
    /// Set when reads and writes are refused.
    pub(crate) closing: AtomicBool,
    /// Set when flushes and compactions are refused.
    pub(crate) closed: AtomicBool,
    pub(crate) families: RwLock<Families>,
    /// The files of snapshots. The lock serializes taking, using and deleting them.
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
        self.compactions.close();
        self.splits.close();
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

    /// Appends a manifest edit that removes regions or families.
    ///
    /// # Errors
    /// As [`Manifest::append`]. If the edit may have taken effect despite the error, the store
    /// refuses writes until it is reopened: they would be lost with the removed regions or
    /// families.
    pub(crate) fn append_removal(&self, edit: EditKind) -> Result<()> {
        let appended = self.manifest.append(&Edit::new(edit));
        if appended.is_err() && self.manifest.check_writable().is_err() {
            self.wal().close("MANIFEST could not be written; reopen the store");
        }
        appended
    }

    /// Returns the family of a region, if it has not been dropped.
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

    /// Removes a dropped family from the map.
    pub(crate) fn forget_family(&self, family: &FamilyStore) {
        self.families.write().remove(&(family.region_id(), family.name().clone()));
    }

    /// Counts memstores that the super version no longer has as held by readers instead of as live.
    pub(crate) fn leave_to_readers<'m>(&self, memstores: impl Iterator<Item = &'m Arc<Memstore>>) {
        let bytes = memstores.map(|memstore| memstore.leave_to_readers(&self.reader_memory)).sum();
        self.memory.free(bytes);
    }

    /// Deletes the log segments whose contents are all in files.
    pub(crate) fn release_flushed_segments(&self) -> Result<()> {
        let keep_from = {
            // Exclude commits that are in the log but not yet in a memstore.
            let _latch = self.freeze_latch.write();
            let families = self.families.read();
            let oldest = families.values().filter_map(|family| family.first_unflushed()).min();
            oldest.unwrap_or_else(|| self.mvcc.reserved() + 1)
        };
        let wal = self.wal();
        if let Some(forgettable) = wal.releasable_below(keep_from) {
            // The remaining log must record where it begins.
            wal.sync()?;
            // Record the new start in the manifest before deleting: a power failure can restore
            // deleted names without their contents, which must not be taken for a gap in the log.
            self.name_first_segment(forgettable.log_from, forgettable.first_left)?;
            wal.forget(&forgettable)?;
        }
        if wal.pressure(self.settings.wal_bytes_max).is_some() {
            self.queue.push(Work::RelieveLog);
        }
        Ok(())
    }

    /// Records in the manifest where the log begins: the first sequence number that counts and the
    /// first segment that exists.
    pub(crate) fn name_first_segment(&self, below_sequence: u64, first_segment: u64) -> Result<()> {
        let edit = LogForgotten { below_sequence, first_segment };
        self.manifest.append(&Edit::new(EditKind::LogForgotten(edit)))
    }

    /// Starts a new log segment, and deletes those whose contents are all in files.
    pub(crate) fn roll_log(&self) -> Result<()> {
        self.wal().roll_now()?;
        self.log_work.push(Work::TidyLog);
        self.release_flushed_segments()
    }

    /// Flushes the families that keep the oldest log segment alive.
    pub(crate) fn shrink_log(self: &Arc<Self>) -> Result<()> {
        let Some(up_to) = self.wal().pressure(self.settings.wal_bytes_max) else { return Ok(()) };
        let families: Vec<_> = self.families.read().values().cloned().collect();
        for family in families {
            if family.first_unflushed().is_some_and(|first| first <= up_to) {
                flush::flush(self, &family)?;
            }
        }
        self.release_flushed_segments()
    }

    /// Flushes the largest memstores until memory is below three quarters of the limit: many small
    /// memstores can fill it together.
    pub(crate) fn shrink_memory(self: &Arc<Self>) -> Result<()> {
        let families: Vec<_> = self.families.read().values().cloned().collect();
        while self.memory.bytes() > self.settings.memstore_bytes_max / 4 * 3 {
            // A family that already has too many files gets another only for twice the memory.
            let worth = |family: &Arc<FamilyStore>| {
                family.memstore_bytes() / if family.is_blocked() { 2 } else { 1 }
            };
            match families.iter().max_by_key(|family| worth(family)) {
                Some(largest) if largest.memstore_bytes() > 0 => flush::flush(self, largest)?,
                _ => break,
            }
        }
        if self.log.get().is_some() { self.release_flushed_segments() } else { Ok(()) }
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
