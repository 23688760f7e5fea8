//! Replaying the log: cells that are in no file go back into the memstores.

use std::sync::Arc;

use rowhouse_model::{Cell, Result, compare};

use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::manifest::{LogClosed, ManifestState};
use crate::wal::{self, Commit, Known, LogEnd, LogScan};

/// Bytes of cells that are sorted before they go into their memstores: neighbours find their places
/// in memory that was looked at a moment ago.
const REPLAY_BYTES: usize = 16 << 20;

/// Reads the log into the memstores, flushing when they fill up.
pub(super) fn recover(
    engine: &Arc<Engine>,
    state: &ManifestState,
    boot_id: [u8; 16],
) -> Result<LogScan> {
    let known = log_known(state, boot_id);
    let mut replay = Replay::new(engine, state);
    let mut recovered = wal::scan(&*engine.disk, &known, |commit| replay.commit(commit))?;
    replay.settle();
    engine.timestamps.compare_with_stored(replay.newest_millis);
    engine.mvcc.restore(recovered.last_sequence);
    recovered.repair(&*engine.disk)?;
    Ok(recovered)
}

/// What the manifest knows of the log.
pub(crate) fn log_known(state: &ManifestState, boot_id: [u8; 16]) -> Known {
    let closed_at = state.log_closed.map(|LogClosed { segment, len, last_sequence }| LogEnd {
        segment,
        len,
        last_sequence,
    });
    let (log_from, synced_sequence) = (state.log_from, state.last_sequence());
    Known { boot_id, log_from, synced_sequence, closed_at }
}

/// Puts the cells of commits that are in no file back into their memstores.
struct Replay<'a> {
    engine: &'a Arc<Engine>,
    /// Of what was when the log was opened: what was flushed since came from here.
    state: &'a ManifestState,
    /// The newest timestamp of any cell in files or log.
    newest_millis: i64,
    waiting: Vec<(Arc<FamilyStore>, Vec<Cell>)>,
    waiting_bytes: usize,
}

impl<'a> Replay<'a> {
    fn new(engine: &'a Arc<Engine>, state: &'a ManifestState) -> Self {
        let newest_millis = state.newest_timestamp();
        Self { engine, state, newest_millis, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// Takes a commit. Regions and families that are gone need theirs no more.
    fn commit(&mut self, commit: Commit) -> Result<()> {
        commit.nonces.iter().for_each(|nonce| self.engine.nonces.take(*nonce));
        for (region, family, cells) in commit.groups {
            let times = cells.iter().map(|cell| cell.timestamp().as_millis());
            self.newest_millis = times.fold(self.newest_millis, i64::max);
            self.state.check_known(region)?;
            let Some(store) = self.engine.find_family(region, &family) else { continue };
            if !self.state.is_flushed(region, &family, commit.sequence) {
                self.take(store, cells);
            }
        }
        self.engine.mvcc.restore(commit.sequence);
        if self.waiting_bytes > REPLAY_BYTES {
            self.settle();
            // Not more of the log in memory than of writes.
            if self.engine.memory.bytes() > self.engine.settings.memstore_bytes_max / 4 * 3 {
                self.engine.relieve_memory()?;
            }
        }
        Ok(())
    }

    fn take(&mut self, store: Arc<FamilyStore>, cells: Vec<Cell>) {
        self.waiting_bytes += cells.iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
        match self.waiting.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &store)) {
            Some((_, waiting)) => waiting.extend(cells),
            None => self.waiting.push((store, cells)),
        }
    }

    /// Puts what waits into the memstores.
    fn settle(&mut self) {
        self.waiting_bytes = 0;
        for (store, mut cells) in self.waiting.drain(..) {
            // Stable: of the same cell put twice by one mutation the last one counts.
            cells.sort_by(|a, b| compare(&a.view(), &b.view()));
            let memstore = store.active();
            let inserted =
                cells.iter().map(|cell| memstore.insert(cell.as_bytes(), cell.sequence()));
            self.engine.memory.add(inserted.sum());
        }
    }
}
