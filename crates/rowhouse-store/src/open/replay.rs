//! Replays the log: inserts the cells that are in no file into the memstores.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc;

use rowhouse_model::{Cell, Error, ErrorKind, Result, compare, row_prefix};
use rowhouse_schema::QUEUE_FAMILY;

use crate::disk::Disk;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush::shrink_memory;
use crate::indexed::is_search_table;
use crate::manifest::{LogClosed, LogSynced, ManifestAge, ManifestState};
use crate::store::Background;
use crate::wal::{self, Commit, Known, LogEnd, LogScan, OpenLog};

/// The maximum cell bytes that are sorted at once.
const BATCH_BYTES_MAX: usize = 32 << 20;

/// How many sorted batches make up a full memstore. A memstore that holds half a batch takes no
/// more: inserts into a large memstore mostly wait for memory, while sorted cells are appended to a
/// new one.
const BATCHES_PER_MEMSTORE: u64 = 2;

/// How many cells are prefetched from memory together.
const CELLS_LOOKED_AT: usize = 32;

/// Replays the log into the memstores, flushing them when they fill up. One thread reads and sorts
/// while another inserts the batch before; under test a single thread does both, so that histories
/// are reproducible.
pub(super) fn recover(
    engine: &Arc<Engine>,
    state: &ManifestState,
    log: OpenLog,
    background: Background,
) -> Result<LogScan> {
    let mut replay = Replay::new(engine, state);
    let recovered = match background {
        Background::Threads => replay.on_two_threads(log)?,
        #[cfg(test)]
        Background::ByHand => replay.on_this_thread(log)?,
    };
    engine.timestamps.compare_with_stored(replay.newest_millis);
    engine.timestamps.continue_queues(replay.newest_queued_millis);
    engine.mvcc.restore(recovered.last_sequence);
    Ok(recovered)
}

/// Returns the facts about the log that are known before it is read. `age` is the manifest's age,
/// if it is undamaged.
pub(crate) fn log_known(
    disk: &dyn Disk,
    state: &ManifestState,
    age: Option<ManifestAge>,
    boot_id: [u8; 16],
) -> Result<Known> {
    let closed_at = state.log_closed.map(|LogClosed { segment, len, last_sequence }| LogEnd {
        segment,
        len,
        last_sequence,
    });
    let log_from = state.log_from;
    let synced_sequence = state.last_sequence();
    let synced = wal::read_synced(disk)?;
    let first_segment = state.log_segment;
    let reached = state.log_synced;
    Ok(Known { boot_id, log_from, synced_sequence, closed_at, synced, first_segment, reached, age })
}

/// Collects the cells from commits that are in no file.
struct Replay<'a> {
    engine: &'a Arc<Engine>,
    /// The state when the log was opened. Later flushes hold cells from this replay.
    state: &'a ManifestState,
    /// The newest timestamp of any cell in files or log.
    newest_millis: i64,
    /// The regions of full-text index tables.
    searched: BTreeSet<u64>,
    /// The newest timestamp in these regions' queues.
    newest_queued_millis: i64,
    waiting: Batch,
}

impl<'a> Replay<'a> {
    fn new(engine: &'a Arc<Engine>, state: &'a ManifestState) -> Self {
        let tables = state.tables.values().filter(|table| is_search_table(&table.descriptor));
        let searched: BTreeSet<u64> =
            tables.flat_map(|table| table.regions.keys().copied()).collect();
        let queues = state.files().filter(|file| {
            file.family == QUEUE_FAMILY.as_bytes() && searched.contains(&file.region_id)
        });
        let newest_queued_millis = queues.map(|file| file.meta.timestamp_max).max().unwrap_or(0);
        let newest_millis = state.newest_timestamp();
        let waiting = Batch::default();
        Self { engine, state, newest_millis, searched, newest_queued_millis, waiting }
    }

    fn on_two_threads(&mut self, log: OpenLog) -> Result<LogScan> {
        let engine = self.engine;
        // One batch is inserted, one is queued and one is read, so memory is bounded.
        let (to_insert, batches) = mpsc::sync_channel::<Batch>(1);
        std::thread::scope(|scope| {
            let insert = move || batches.into_iter().try_for_each(|batch| batch.insert(engine));
            let inserting = std::thread::Builder::new()
                .name("rowhouse-replay".to_owned())
                .spawn_scoped(scope, insert)
                .map_err(|source| Error::io("cannot start a thread", source))?;
            let scanned = self.read(log, |batch| {
                // The inserting thread ended with an error, and that error is returned.
                to_insert.send(batch).map_err(|_| Error::new(ErrorKind::Io, "recovery ended early"))
            });
            drop(to_insert);
            match inserting.join() {
                Ok(inserted) => inserted.and(scanned),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    #[cfg(test)]
    fn on_this_thread(&mut self, log: OpenLog) -> Result<LogScan> {
        let engine = self.engine;
        self.read(log, |batch| batch.insert(engine))
    }

    /// Reads the log and hands the cells to `insert` in sorted batches.
    fn read(
        &mut self,
        log: OpenLog,
        mut insert: impl FnMut(Batch) -> Result<()>,
    ) -> Result<LogScan> {
        let batch_bytes = self.engine.settings.memstore_flush_bytes / BATCHES_PER_MEMSTORE;
        let batch_bytes = usize::try_from(batch_bytes).unwrap_or(usize::MAX).min(BATCH_BYTES_MAX);
        let scanned = log.read(|commit, end| {
            self.take(commit)?;
            self.waiting.end = Some(end);
            if self.waiting.bytes > batch_bytes { insert(self.sorted_batch()) } else { Ok(()) }
        })?;
        insert(self.sorted_batch())?;
        Ok(scanned)
    }

    /// Adds a commit. Skips cells in dropped regions and families.
    fn take(&mut self, commit: Commit) -> Result<()> {
        let sequence = commit.sequence;
        commit.nonces.iter().for_each(|nonce| self.engine.nonces.take(*nonce, sequence));
        for (region, family, cells) in commit.groups {
            let times = cells.iter().map(|cell| cell.timestamp().as_millis());
            let newest = times.max().unwrap_or(0);
            self.newest_millis = self.newest_millis.max(newest);
            if family == QUEUE_FAMILY.as_bytes() && self.searched.contains(&region) {
                self.newest_queued_millis = self.newest_queued_millis.max(newest);
            }
            self.state.check_known(region)?;
            let Some(store) = self.engine.find_family(region, &family) else { continue };
            if !self.state.is_flushed(region, &family, commit.sequence) {
                self.waiting.take(store, cells);
            }
        }
        self.waiting.last_sequence = commit.sequence;
        Ok(())
    }

    fn sorted_batch(&mut self) -> Batch {
        let mut batch = std::mem::take(&mut self.waiting);
        batch.cells.iter_mut().for_each(|(_, cells)| cells.sort());
        batch
    }
}

/// The cells of consecutive commits.
#[derive(Default)]
struct Batch {
    cells: Vec<(Arc<FamilyStore>, Cells)>,
    bytes: usize,
    last_sequence: u64,
    /// The position in the log after them.
    end: Option<LogSynced>,
}

impl Batch {
    fn take(&mut self, store: Arc<FamilyStore>, cells: Vec<Cell>) {
        self.bytes += cells.iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
        match self.cells.iter_mut().find(|(known, _)| Arc::ptr_eq(known, &store)) {
            Some((_, waiting)) => waiting.cells.extend(cells),
            None => self.cells.push((store, Cells { cells, order: Vec::new() })),
        }
    }

    /// Inserts the cells into their memstores.
    fn insert(self, engine: &Arc<Engine>) -> Result<()> {
        for (store, cells) in self.cells {
            if store.active().bytes()
                > engine.settings.memstore_flush_bytes / BATCHES_PER_MEMSTORE / 2
            {
                store.freeze_active();
                store.request_flush(&engine.queue);
            }
            engine.memory.add(store.active().insert_sorted(cells.in_order()));
        }
        // A flush claims every cell up to this sequence number.
        engine.mvcc.restore(self.last_sequence);
        *engine.replayed.lock() = self.end;
        // Replayed cells are limited to the same memory as writes.
        if engine.memory.bytes() > engine.settings.memstore_bytes_max / 4 * 3 {
            shrink_memory(engine)?;
        }
        Ok(())
    }
}

/// Cells from a family in log order, and their sorted order.
struct Cells {
    cells: Vec<Cell>,
    order: Vec<u32>,
}

impl Cells {
    /// Sorts the cells. Equal cells, which one mutation wrote twice, stay in log order.
    fn sort(&mut self) {
        let cells = &self.cells;
        let Some(first) = cells.first() else { return };
        let in_common =
            |row: &[u8]| row.iter().zip(first.row()).take_while(|(a, b)| a == b).count();
        let common = cells.iter().map(|cell| in_common(cell.row())).min().unwrap_or(0);
        let mut order: Vec<(u64, u32)> =
            cells.iter().map(|cell| row_prefix(&cell.row()[common..])).zip(0..).collect();
        order.sort_unstable_by(|a, b| {
            let cells = || compare(&cells[a.1 as usize].view(), &cells[b.1 as usize].view());
            a.0.cmp(&b.0).then_with(cells).then(a.1.cmp(&b.1))
        });
        self.order = order.into_iter().map(|(_, at)| at).collect();
    }

    /// Returns the cells in sorted order. It touches several cells before returning them one by
    /// one: they are scattered over memory, and several cache misses overlap.
    fn in_order(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let cell = |&at: &u32| &self.cells[at as usize];
        self.order.chunks(CELLS_LOOKED_AT).flat_map(move |chunk| {
            for bytes in chunk.iter().map(cell).map(Cell::as_bytes) {
                std::hint::black_box((bytes.first().copied(), bytes.last().copied()));
            }
            chunk.iter().map(cell).map(|cell| (&cell.as_bytes()[..], cell.sequence()))
        })
    }
}
