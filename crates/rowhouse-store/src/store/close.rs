//! Ending a store, so that the next open finds all of it.

use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use rowhouse_model::Result;

use super::Store;
use super::handle::Inner;
use crate::flush;
use crate::manifest::{Edit, EditKind, LogClosed};
use crate::wal::LogEnd;

impl Store {
    /// Ends the store: writes under way are finished, later calls refused, what is in no log is in
    /// files, the log is synced, the directory is free. Handles that are left refuse everything.
    ///
    /// # Errors
    /// Something could not be brought to the disk; the store is closed all the same.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }

    /// Ends the store as a killed process does: nothing is synced.
    #[cfg(test)]
    pub(crate) fn abandon(self) {
        self.inner.engine.closing.store(true, Ordering::Release);
        self.inner.engine.closed.store(true, Ordering::Release);
        self.inner.engine.end_background();
        for worker in self.inner.workers.lock().drain(..) {
            worker.join().expect("the store's threads do not panic");
        }
    }
}

impl Inner {
    fn close(&self) -> Result<()> {
        // Whoever closes it a second time waits until it is closed.
        let _ending = self.ending.lock();
        if self.engine.closing.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.engine.memory.wake();
        // No commit is half done once the gate has been held.
        drop(self.engine.freeze_latch.write());
        let flushed = self.flush_unlogged();
        self.engine.closed.store(true, Ordering::Release);
        let workers = std::mem::take(&mut *self.workers.lock());
        self.engine.end_background();
        let panics = workers.into_iter().map(JoinHandle::join).filter(Result::is_err).count();
        // Flushes, merges and changes of tables that others have begun end before the directory
        // is let go; none begins any more.
        let _changing = self.tables.changing.lock();
        let families: Vec<_> = self.engine.families.read().values().cloned().collect();
        for family in &families {
            drop(family.flushing.lock());
            drop(family.compacting.write());
        }
        let synced = self.engine.wal().sync();
        self.engine.wal().close("the store is closed");
        if synced.is_ok() && self.note_end() {
            self.engine.wal().end_synced();
        }
        *self.directory.lock() = None;
        if panics > 0 {
            tracing::error!(panics, "a thread of the store ended in a panic");
        }
        flushed.and(synced)
    }

    /// Brings to files what is in no log: it has nothing else to survive the process by.
    fn flush_unlogged(&self) -> Result<()> {
        let families: Vec<_> = self.engine.families.read().values().cloned().collect();
        let unlogged = families.iter().filter(|family| family.has_unlogged());
        unlogged.map(|family| flush::flush(&self.engine, family)).fold(Ok(()), Result::and)
    }

    /// Notes where the log ends, so that the next open can tell if any of it has gone. Returns whether
    /// that is noted.
    fn note_end(&self) -> bool {
        let Some(end) = self.engine.wal().end() else { return true };
        let LogEnd { segment, len, last_sequence } = end;
        let edit = LogClosed { segment, len, last_sequence };
        let noted = self.engine.manifest.append(&Edit::new(EditKind::LogClosed(edit)));
        if let Err(error) = &noted {
            tracing::warn!(%error, "where the log ends could not be noted");
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
