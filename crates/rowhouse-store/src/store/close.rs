//! Closes a store so that the next open finds all of it.

use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use rowhouse_model::Result;

use super::Store;
use super::handle::Inner;
use crate::flush;
use crate::manifest::{Edit, EditKind, LogClosed, LogForgotten, LogSynced};
use crate::wal::LogEnd;

impl Store {
    /// Closes the store: pending writes finish, later calls are refused, counters that are not in
    /// the log are logged, other data that is not in it is flushed, the log is synced, and the
    /// directory is unlocked. Remaining handles refuse every call.
    ///
    /// # Errors
    /// `Io` when something could not be written or synced, or the directory was removed or
    /// replaced; the store is closed regardless.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }

    /// Ends the store as a killed process does: without a sync.
    #[cfg(test)]
    pub(crate) fn abandon(self) {
        self.inner.engine.closing.store(true, Ordering::Release);
        self.inner.engine.closed.store(true, Ordering::Release);
        self.inner.engine.end_background();
        for worker in self.inner.workers.lock().drain(..) {
            worker.join().expect("the store's threads do not panic");
        }
        self.inner.engine.release_tables();
    }
}

impl Inner {
    fn close(&self) -> Result<()> {
        // A concurrent second caller waits until the store is closed.
        let _ending = self.ending.lock();
        if self.engine.closing.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.engine.memory.wake();
        // No commit is in progress once the latch has been held.
        drop(self.engine.freeze_latch.write());
        let logged = flush::log_counters_of(&self.engine, &self.engine.counters.regions());
        let flushed = logged.and(self.flush_unlogged());
        self.engine.closed.store(true, Ordering::Release);
        let workers = std::mem::take(&mut *self.workers.lock());
        self.engine.end_background();
        let panics = workers.into_iter().map(JoinHandle::join).filter(Result::is_err).count();
        // Flushes, compactions and table changes already in progress end before the directory is
        // unlocked; no new ones begin.
        let _changing = self.tables.changing.lock();
        let families: Vec<_> = self.engine.families.read().values().cloned().collect();
        for family in &families {
            drop(family.flushing.lock());
            drop(family.compacting.write());
        }
        // Nothing is appended after the sync, so that it reaches the log's end.
        self.engine.wal().close("the store is closed");
        let in_place = self.engine.wal().check_in_place();
        let synced = self.engine.wal().sync();
        if synced.is_ok() && self.note_end() {
            self.engine.wal().remove_synced_file();
        }
        self.engine.save_heat();
        self.engine.release_tables();
        *self.directory.lock() = None;
        if panics > 0 {
            tracing::error!(panics, "a thread of the store ended in a panic");
        }
        flushed.and(synced).and(in_place)
    }

    /// Flushes memstores with unlogged cells, which would not survive the process otherwise.
    fn flush_unlogged(&self) -> Result<()> {
        let families: Vec<_> = self.engine.families.read().values().cloned().collect();
        let unlogged = families.iter().filter(|family| family.has_unlogged());
        unlogged.map(|family| flush::flush(&self.engine, family)).fold(Ok(()), Result::and)
    }

    /// Records the log's end in the manifest, so that the next open can tell whether any part is
    /// missing, and does not look for the file that notes how far it was synced. Returns true if
    /// the edit was written.
    fn note_end(&self) -> bool {
        let wal = self.engine.wal();
        let kind = match wal.end() {
            Some(LogEnd { segment, len, last_sequence }) => {
                EditKind::LogClosed(LogClosed { segment, len, last_sequence })
            }
            // No segment with commits.
            None => EditKind::LogForgotten(LogForgotten::default()),
        };
        let log = Some(LogSynced { noted: false, ..wal.synced() });
        let noted = self.engine.manifest.append(&Edit { log, ..Edit::new(kind) });
        if let Err(error) = &noted {
            tracing::warn!(%error, "the end of the log could not be recorded");
        }
        noted.is_ok()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::error!(%error, "the store did not close cleanly");
        }
    }
}
