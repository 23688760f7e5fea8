//! What all regions of a store share.

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
use crate::mvcc::Mvcc;
use crate::settings::Settings;
use crate::space::Space;
use crate::split::Due;
use crate::store_file::{Files, SnapshotFiles};
use crate::tasks::Tasks;
use crate::wal::{self, Wal};
use crate::write::nonce::Nonces;
use crate::write::recent::RecentWrites;
use crate::write::row_lock::RowLocks;

/// The (region, family)s of a store, by region id and family name.
pub(crate) type Families = BTreeMap<(u64, Bytes), Arc<FamilyStore>>;

/// The shared parts.
pub(crate) struct Engine {
    pub(crate) settings: Settings,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) timestamps: TimestampSource,
    pub(crate) manifest: Manifest,
    /// Begun once the log that was there has been read.
    pub(crate) log: OnceLock<Wal>,
    pub(crate) mvcc: Mvcc,
    pub(crate) row_locks: RowLocks,
    /// Held for reading from reserving a sequence to publishing it, for writing to freeze a
    /// memstore, to stop serving a region, and to check and commit a transaction: a moment at which no
    /// other commit is half done.
    pub(crate) freeze_latch: RwLock<()>,
    pub(crate) memory: Memory,
    pub(crate) nonces: Nonces,
    pub(crate) recent_writes: RecentWrites,
    pub(crate) files: Arc<Files>,
    /// What the flushing thread has to do.
    pub(crate) queue: Queue,
    /// What nobody should wait for in the log.
    pub(crate) log_work: Queue,
    pub(crate) space: Space,
    /// What the compacting threads have to do.
    pub(crate) compactions: Compactions,
    pub(crate) tasks: Tasks,
    /// Regions that may have to be split.
    pub(crate) splits: Due,
    /// Nobody reads or writes any more.
    pub(crate) closing: AtomicBool,
    /// Nothing is flushed or merged any more.
    pub(crate) closed: AtomicBool,
    pub(crate) families: RwLock<Families>,
    /// The files of snapshots. Held by whoever takes, uses or deletes one.
    pub(crate) snapshots: Mutex<SnapshotFiles>,
    /// Held by a merge from the edit that takes files away until their family has let them go, and by whoever
    /// has others name the files of a family.
    pub(crate) replacing: Mutex<()>,
}

impl Engine {
    /// Refuses when the store is closing.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.closing.load(Ordering::Acquire) { Err(closed()) } else { Ok(()) }
    }

    /// Refuses when nothing is to be flushed or merged any more.
    pub(crate) fn check_working(&self) -> Result<()> {
        if self.closed.load(Ordering::Acquire) { Err(closed()) } else { Ok(()) }
    }

    /// Has the threads of the store end, and whoever waits for them wait no more.
    pub(crate) fn end_background(&self) {
        self.queue.close();
        self.log_work.close();
        self.compactions.close();
        self.splits.close();
        self.memory.wake();
    }

    /// The log, to be written.
    pub(crate) fn wal(&self) -> &Wal {
        self.log.get().expect("the log is begun before a store is handed out")
    }

    /// Makes everything logged so far survive a power cut.
    pub(crate) fn sync_log(&self) -> Result<()> {
        match self.log.get() {
            Some(wal) => wal.sync(),
            None => wal::sync_segments(&*self.disk),
        }
    }

    /// Appends an edit that takes regions or families away.
    ///
    /// # Errors
    /// As [`Manifest::append`]. Where it may be true all the same, the store takes no more writes until it is opened
    /// again: they would be lost with what has gone.
    pub(crate) fn append_removal(&self, edit: EditKind) -> Result<()> {
        let appended = self.manifest.append(&Edit::new(edit));
        if appended.is_err() && self.manifest.check_writable().is_err() {
            self.wal().close("MANIFEST could not be written; reopen the store");
        }
        appended
    }

    /// The (region, family), if it has not been dropped.
    pub(crate) fn find_family(&self, region: u64, name: &Bytes) -> Option<Arc<FamilyStore>> {
        self.families.read().get(&(region, name.clone())).cloned()
    }

    /// The (region, family) that was there when the store was opened.
    pub(crate) fn family(&self, region: u64, name: &Bytes) -> Arc<FamilyStore> {
        self.find_family(region, name).expect("families are opened before their regions")
    }

    pub(crate) fn add_family(&self, family: FamilyStore) -> Arc<FamilyStore> {
        let family = Arc::new(family);
        let key = (family.region_id(), family.name().clone());
        self.families.write().insert(key, Arc::clone(&family));
        family
    }

    /// Forgets a (region, family) that has been dropped.
    pub(crate) fn forget_family(&self, family: &FamilyStore) {
        self.families.write().remove(&(family.region_id(), family.name().clone()));
    }

    /// Removes the log segments that hold nothing that is not in files.
    pub(crate) fn forget_flushed(&self) -> Result<()> {
        let keep_from = {
            // A commit between log and memstore would be missed.
            let _latch = self.freeze_latch.write();
            let families = self.families.read();
            let oldest = families.values().filter_map(|family| family.first_unflushed()).min();
            oldest.unwrap_or_else(|| self.mvcc.reserved() + 1)
        };
        let wal = self.wal();
        if let Some(forgettable) = wal.forgettable_below(keep_from) {
            // What is left of the log must be able to say where it begins.
            wal.sync()?;
            // First on the disk: a power cut can bring removed names back, without what was in
            // them, and they must not be taken for a gap in the log.
            self.name_first_segment(forgettable.log_from, forgettable.first_left)?;
            wal.forget(&forgettable)?;
        }
        if wal.pressure(self.settings.wal_bytes_max).is_some() {
            self.queue.push(Work::RelieveLog);
        }
        Ok(())
    }

    /// Has the manifest say where the log begins: which sequence counts, and which segment is there.
    pub(crate) fn name_first_segment(&self, below_sequence: u64, first_segment: u64) -> Result<()> {
        let edit = LogForgotten { below_sequence, first_segment };
        self.manifest.append(&Edit::new(EditKind::LogForgotten(edit)))
    }

    /// Begins a new log segment, and removes those that hold nothing that is not in files.
    pub(crate) fn roll_log(&self) -> Result<()> {
        self.wal().roll_now()?;
        self.log_work.push(Work::TidyLog);
        self.forget_flushed()
    }

    /// Flushes whatever keeps the oldest log segment alive.
    pub(crate) fn relieve_log(self: &Arc<Self>) -> Result<()> {
        let Some(up_to) = self.wal().pressure(self.settings.wal_bytes_max) else { return Ok(()) };
        let families: Vec<_> = self.families.read().values().cloned().collect();
        for family in families {
            if family.first_unflushed().is_some_and(|first| first <= up_to) {
                flush::flush(self, &family)?;
            }
        }
        self.forget_flushed()
    }

    /// Flushes the largest memstores until there is room: many small ones can fill the memory
    /// together.
    pub(crate) fn relieve_memory(self: &Arc<Self>) -> Result<()> {
        let families: Vec<_> = self.families.read().values().cloned().collect();
        while self.memory.bytes() > self.settings.memstore_bytes_max / 4 * 3 {
            // One more file where there are too many already, only for twice the room.
            let worth = |family: &Arc<FamilyStore>| {
                family.memstore_bytes() / if family.is_blocked() { 2 } else { 1 }
            };
            match families.iter().max_by_key(|family| worth(family)) {
                Some(largest) if largest.memstore_bytes() > 0 => flush::flush(self, largest)?,
                _ => break,
            }
        }
        if self.log.get().is_some() { self.forget_flushed() } else { Ok(()) }
    }
}

fn closed() -> Error {
    Error::new(ErrorKind::ServerNotRunning, "the store is closed")
}

/// Bytes of all memstores.
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

    /// Has those who wait look again.
    pub(crate) fn wake(&self) {
        let _lock = self.lock.lock();
        self.freed.notify_all();
    }

    /// Waits until fewer than `max` bytes are in use; `false` when they are not in time.
    pub(crate) fn wait_below(&self, max: u64, wait: Duration) -> bool {
        self.wait_until(|| self.bytes() < max, wait)
    }

    /// Waits until `ready`, which flushes and merges bring about; `false` when it is not in time.
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
