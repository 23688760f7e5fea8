//! Builds and repairs indexes in the background, while writers go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{Bytes, Error, ErrorKind, Filter, Result, RowRange, Scan, TableState};
use rowhouse_schema::{IndexOf, IndexState};

use super::handle::Tables;
use crate::background::{Failed, guard};
use crate::damage::is_unreadable;
use crate::family::InMemory;
use crate::indexed::{IndexedTables, MaintainedIndex, is_search_table};
use crate::table::Table;
use crate::write::index_fill::{Mending, ROWS_AT_ONCE, mend};
use crate::write::index_scan::{Added, Scanned, add_scanned};

/// The time between two notes on how far a build has come.
const NOTE_INTERVAL: Duration = Duration::from_secs(5);

/// How many rows an index state names if the index cannot be built.
const REASONS_MAX: usize = 10;

/// The time after which a build that failed is tried again.
pub(super) const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The most threads that build one index in memory.
const THREADS_MAX: usize = 8;

/// Ranges per thread, so that threads end at about the same time.
const PARTS_PER_THREAD: usize = 4;

/// An index to build or repair.
struct Build {
    base: Arc<Table>,
    entries: Arc<Table>,
    maintained: MaintainedIndex,
    state: IndexState,
}

/// The outcome of a sweep.
enum Swept {
    Whole,
    /// The entries cannot be read, for this reason.
    Unreadable(Error),
}

impl Tables {
    /// Requests builds for all indexes that are not ready, except indexes that are off for another
    /// reason than damage.
    pub(super) fn request_index_builds(&self) {
        for table in self.catalog.entries().tables.values() {
            let is_index = IndexOf::of_table(table.descriptor()).is_ok_and(|of| of.is_some());
            let is_due = match IndexState::of_table(table.descriptor()) {
                Ok(IndexState::Ready) | Err(_) => false,
                Ok(IndexState::Off(_)) => self.find_damaged(table.id()).is_some(),
                // Full-text indexes are built by the crate that searches them.
                Ok(_) => !is_search_table(table.descriptor()),
            };
            if is_index && is_due {
                self.engine.index_builds.request(table.id());
            }
        }
    }

    /// Builds indexes until the store is closed.
    pub(super) fn build_indexes(&self) {
        while let Some(table_id) = self.engine.index_builds.next() {
            if !self.build_index(table_id) {
                std::thread::sleep(RETRY_AFTER);
                self.engine.index_builds.request(table_id);
            }
        }
    }

    /// Builds the index whose entries are in this table. Returns `false` if that failed and is to
    /// be tried again.
    pub(super) fn build_index(&self, table_id: u64) -> bool {
        match guard(|| self.try_build(table_id)) {
            Ok(()) => true,
            Err(Failed::Error(error)) if error.kind() == ErrorKind::ServerNotRunning => true,
            Err(error) => {
                tracing::error!(%error, table_id, "an index was not built");
                // Repeating a panic would not help.
                matches!(error, Failed::Panic(_))
            }
        }
    }

    fn try_build(&self, table_id: u64) -> Result<()> {
        if let Some((base, _)) = self.find_damaged(table_id) {
            let _reindexing = base.reindexing.lock();
            if let Some((base, entries)) = self.find_damaged(table_id) {
                return self.rebuild_index(&base, &entries, None);
            }
        }
        let Some(build) = self.find_build(table_id)? else { return Ok(()) };
        let _reindexing = build.base.reindexing.lock();
        // It may have been built meanwhile.
        self.build_now(table_id)
    }

    /// Builds or repairs an index, if it is not ready. The caller holds `reindexing` on the base
    /// table.
    pub(super) fn build_now(&self, table_id: u64) -> Result<()> {
        let Some(build) = self.find_build(table_id)? else { return Ok(()) };
        let name = build.entries.name().to_string();
        let task = self.engine.begin_task(format!("Building index {name}"), String::new());
        let next_row = match &build.state {
            IndexState::Building { next_row } => next_row.clone(),
            _ => Bytes::new(),
        };
        if build.state == IndexState::Repairing && build.maintained.index.is_copy() {
            return self.rebuild_index(&build.base, &build.entries, None);
        }
        if build.state == IndexState::Repairing {
            // First, so that stale entries do not take unique values.
            let progress = |entries| task.set_status(format!("{entries} entries checked"));
            if let Swept::Unreadable(error) = self.sweep(&build, progress)? {
                tracing::warn!(%error, index = name, "an index is built anew, not repaired");
                return self.rebuild_index(&build.base, &build.entries, Some(&error));
            }
        }
        let progress = |rows| task.set_status(format!("{rows} rows"));
        let reasons = if build.maintained.index.is_in_memory() {
            match self.fill_memory(&build, progress)? {
                None => return Ok(()),
                Some(reasons) => reasons,
            }
        } else {
            self.fill(&build, next_row, progress)?
        };
        if build.maintained.index.is_in_memory() && !reasons.is_empty() {
            let _changing = self.changing.lock();
            return self.set_off_in_memory(&build.entries, reasons.join("; "));
        }
        let state = if reasons.is_empty() {
            IndexState::Ready
        } else {
            IndexState::Off(reasons.join("; "))
        };
        self.note(&build, &state)?;
        tracing::info!(index = name, %state, "index built");
        Ok(())
    }

    fn note(&self, build: &Build, state: &IndexState) -> Result<()> {
        let _changing = self.changing.lock();
        self.finish_index(&build.entries, &build.state, state)
    }

    /// Returns the index to build, if the base table is enabled.
    fn find_build(&self, table_id: u64) -> Result<Option<Build>> {
        let tables = self.catalog.entries();
        let Some(entries) = tables.tables.values().find(|table| table.id() == table_id) else {
            return Ok(None);
        };
        let Some(of) = IndexOf::of_table(entries.descriptor())? else { return Ok(None) };
        let state = IndexState::of_table(entries.descriptor())?;
        if matches!(state, IndexState::Ready | IndexState::Off(_)) {
            return Ok(None);
        }
        let base = self.catalog.table(&of.table)?;
        if base.state() == TableState::Disabled {
            return Ok(None);
        }
        let indexed = IndexedTables::of_table(&self.engine, &of.table)?;
        let maintained = indexed.and_then(|indexed| indexed.find(&of.index).cloned());
        let Some(maintained) = maintained.filter(|maintained| maintained.index.search().is_none())
        else {
            return Ok(None);
        };
        Ok(Some(Build { base, entries: Arc::clone(entries), maintained, state }))
    }

    /// Writes the entries for all rows from `next_row` on. Returns why rows could not be indexed.
    fn fill(
        &self,
        build: &Build,
        mut next_row: Bytes,
        progress: impl Fn(u64),
    ) -> Result<Vec<String>> {
        let Build { base, maintained, state, .. } = build;
        let mut reasons = Vec::new();
        let mut rows_done = 0;
        let mut noted = Instant::now();
        loop {
            // Also rows that show nothing now: a delete marker that expires uncovers cells.
            let rows = row_keys(base, &next_row, true)?;
            let Some(last) = rows.last() else { return Ok(reasons) };
            next_row = RowRange::row(last).stop;
            add_entries(base, maintained, &rows, &mut reasons)?;
            if reasons.len() >= REASONS_MAX {
                return Ok(reasons);
            }
            rows_done += rows.len() as u64;
            progress(rows_done);
            // A build with rows that cannot be indexed begins anew after a restart, to name them.
            let is_build = matches!(state, IndexState::Building { .. }) && reasons.is_empty();
            if is_build && noted.elapsed() > NOTE_INTERVAL {
                self.note(build, &IndexState::Building { next_row: next_row.clone() })?;
                noted = Instant::now();
            }
        }
    }

    /// Writes the entries for all rows to an index in memory, several ranges at once. Returns why
    /// rows could not be indexed; `None` if there is nothing left to do for this table of entries.
    fn fill_memory(
        &self,
        build: &Build,
        progress: impl Fn(u64) + Sync,
    ) -> Result<Option<Vec<String>>> {
        let Build { base, entries, maintained, .. } = build;
        let families = entries.regions_now().into_iter().flat_map(|region| region.families());
        if !families.filter_map(|family| family.in_memory()).all(InMemory::begin_build) {
            // An earlier build was interrupted: it has entries that would be added again.
            return self.rebuild_index(base, entries, None).map(|()| None);
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let fill = MemoryFill {
            base,
            maintained,
            parts: Mutex::new(parts(base, threads)?.into_iter()),
            rows_done: AtomicU64::new(0),
            reasons: Mutex::default(),
            progress,
        };
        let filled = std::thread::scope(|scope| {
            let more: Vec<_> = (1..threads).map(|_| scope.spawn(|| fill.work(self))).collect();
            let filled = fill.work(self);
            let joined = more.into_iter().map(|thread| match thread.join() {
                Ok(filled) => filled,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.fold(filled, Result::and)
        });
        match filled {
            Ok(()) => Ok(Some(fill.reasons.into_inner())),
            Err(error) => {
                // If there was no memory, it is off now, and its table is another one.
                self.engine.files.damage.settle()?;
                let families = entries.regions_now().into_iter().flat_map(|it| it.families());
                if families.into_iter().any(|family| family.is_dropped()) {
                    return Ok(None);
                }
                Err(error)
            }
        }
    }

    /// Removes the entries that no row has.
    fn sweep(&self, build: &Build, progress: impl Fn(u64)) -> Result<Swept> {
        let Build { base, maintained, .. } = build;
        let mut next_entry = Bytes::new();
        let mut checked = 0;
        loop {
            let entries = match row_keys(&maintained.table, &next_entry, false) {
                Err(error) if is_unreadable(&error) => return Ok(Swept::Unreadable(error)),
                entries => entries?,
            };
            let Some(last) = entries.last() else { return Ok(Swept::Whole) };
            next_entry = RowRange::row(last).stop;
            checked += entries.len() as u64;
            let by_row = match maintained.by_row(entries) {
                Ok(by_row) => by_row,
                Err(error) => return Ok(Swept::Unreadable(error)),
            };
            let rows: Vec<_> = by_row.keys().cloned().collect();
            mend(base, maintained, &rows, Mending::Sweep(&by_row))?;
            progress(checked);
        }
    }
}

/// A build of an index in memory, whose threads take ranges of the base table in turn.
struct MemoryFill<'a, P> {
    base: &'a Arc<Table>,
    maintained: &'a MaintainedIndex,
    parts: Mutex<std::vec::IntoIter<RowRange>>,
    rows_done: AtomicU64,
    reasons: Mutex<Vec<String>>,
    progress: P,
}

impl<P: Fn(u64) + Sync> MemoryFill<'_, P> {
    /// Fills the ranges that no other thread has taken. After an error none is left.
    fn work(&self, tables: &Tables) -> Result<()> {
        loop {
            let Some(part) = self.parts.lock().next() else { return Ok(()) };
            if let Err(error) = self.fill(tables, part) {
                self.parts.lock().by_ref().for_each(drop);
                return Err(error);
            }
        }
    }

    fn fill(&self, tables: &Tables, mut range: RowRange) -> Result<()> {
        let Self { base, maintained, .. } = self;
        loop {
            tables.engine.check_open()?;
            let mut added = match add_scanned(base, maintained, &range) {
                Ok(Scanned::Added(added)) => added,
                Ok(Scanned::Timed) => {
                    let rows = row_keys_in(base, range.clone(), true)?;
                    let next_row = rows.last().map(|last| RowRange::row(last).stop);
                    Added { rows: rows.len() as u64, refused: rows, next_row }
                }
                Err(error) => return Err(error),
            };
            let mut reasons = Vec::new();
            for rows in std::mem::take(&mut added.refused).chunks(ROWS_AT_ONCE) {
                add_entries(base, maintained, rows, &mut reasons)?;
                if reasons.len() >= REASONS_MAX {
                    break;
                }
            }
            let rows_done = self.rows_done.fetch_add(added.rows, Ordering::Relaxed) + added.rows;
            (self.progress)(rows_done);
            let mut all_reasons = self.reasons.lock();
            all_reasons.extend(reasons);
            if all_reasons.len() >= REASONS_MAX {
                all_reasons.truncate(REASONS_MAX);
                self.parts.lock().by_ref().for_each(drop);
                return Ok(());
            }
            drop(all_reasons);
            match added.next_row {
                Some(next_row) => range.start = next_row,
                None => return Ok(()),
            }
        }
    }
}

/// Returns ranges that together hold a table's rows, some for each thread.
fn parts(table: &Table, threads: usize) -> Result<Vec<RowRange>> {
    let regions = table.regions_now();
    let each = (PARTS_PER_THREAD * threads).div_ceil(regions.len().max(1));
    let depth = if threads == 1 { 0 } else { each.next_power_of_two().ilog2() };
    let parts = regions.into_iter().map(|region| region.parts(depth));
    Ok(parts.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Writes the entries for rows. Adds to `reasons` why some could not be indexed, up to
/// [`REASONS_MAX`].
fn add_entries(
    base: &Table,
    maintained: &MaintainedIndex,
    rows: &[Bytes],
    reasons: &mut Vec<String>,
) -> Result<()> {
    match mend(base, maintained, rows, Mending::Fill) {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::InvalidRequest => {}
        Err(error) => return Err(error),
    }
    for row in rows {
        match mend(base, maintained, std::slice::from_ref(row), Mending::Fill) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::InvalidRequest => {
                reasons.push(error.message().to_owned());
            }
            Err(error) => return Err(error),
        }
        if reasons.len() >= REASONS_MAX {
            break;
        }
    }
    Ok(())
}

/// Returns the keys of the first rows in a table from a row on: rows that have any cells or markers
/// if `raw`, otherwise rows that show cells.
pub(super) fn row_keys(table: &Arc<Table>, from: &Bytes, raw: bool) -> Result<Vec<Bytes>> {
    row_keys_in(table, RowRange::new(from.clone(), Bytes::new()), raw)
}

/// As [`row_keys`], for the rows in a range.
fn row_keys_in(table: &Arc<Table>, range: RowRange, raw: bool) -> Result<Vec<Bytes>> {
    let mut scan = Scan::new(range);
    scan.limit = Some(ROWS_AT_ONCE as u64);
    scan.raw = raw;
    scan.filter = Some(Box::new(Filter::FirstKeyOnly));
    let mut rows = table.scan_uncounted(scan)?;
    let mut keys = Vec::with_capacity(ROWS_AT_ONCE);
    while let Some(row) = rows.next()? {
        keys.push(Bytes::copy_from_slice(row.key()));
    }
    Ok(keys)
}
