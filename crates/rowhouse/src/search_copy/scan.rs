//! Copies the searched cells in rows, region by region.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rowhouse_model::{
    Bytes, Cell, CellKind, Durability, KeyValue, Mutation, Put, Result, Row, RowRange, Scan,
    TableName,
};
use rowhouse_store::Store;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinSet;

use super::declared::Declared;
use crate::backend::blocking;
use crate::table::Table;

/// Cells in a part of a row: a row may be larger than memory.
const PART_CELLS: u32 = 10_000;
/// The most puts that are written together.
const PUTS_MAX: usize = 1_000;
/// Cell bytes at which puts are written, even if they are fewer.
const PUT_BYTES_MAX: usize = 1 << 20;
/// The most keys that a build reports because they do not fit the template.
const MISFITS_REPORTED: usize = 10;

/// What the scans have done.
#[derive(Default)]
pub(super) struct Counts {
    /// Rows with cells in the copy.
    pub(super) rows: AtomicU64,
    /// Rows whose keys do not fit the template.
    pub(super) misfits: AtomicU64,
    /// The first such keys that were found.
    pub(super) first_misfits: Mutex<Vec<Bytes>>,
    /// Regions that are copied.
    pub(super) regions_done: AtomicU64,
    /// All regions.
    pub(super) regions: AtomicU64,
}

/// Copies table rows.
#[derive(Clone)]
pub(super) struct Copier {
    pub(super) source: Table,
    pub(super) into: Store,
    /// The table that gets the rows.
    pub(super) table: TableName,
    pub(super) declared: Arc<Declared>,
    pub(super) counts: Arc<Counts>,
    pub(super) alone: Alone,
}

/// Held while a database builds a copy, also by work that goes on when the build is dropped.
pub(super) type Alone = Arc<OwnedMutexGuard<()>>;

/// Runs a piece of a build on a blocking thread.
pub(super) async fn working<T: Send + 'static>(
    alone: &Alone,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let alone = Arc::clone(alone);
    let work = move || {
        let done = work();
        drop(alone);
        done
    };
    blocking(work).await
}

impl Copier {
    /// Copies all rows, from at most `regions_at_once` regions at the same time.
    pub(super) async fn copy(&self, regions_at_once: usize) -> Result<()> {
        let mut ranges: Vec<_> = self.source.regions().await?;
        self.counts.regions.store(ranges.len() as u64, Ordering::Relaxed);
        ranges.reverse();
        let mut running = JoinSet::new();
        loop {
            while running.len() < regions_at_once
                && let Some(region) = ranges.pop()
            {
                let copier = self.clone();
                running.spawn(async move { copier.copy_range(region.range).await });
            }
            let Some(done) = running.join_next().await else { return Ok(()) };
            match done.map_err(tokio::task::JoinError::try_into_panic) {
                Ok(copied) => copied?,
                Err(Ok(panic)) => std::panic::resume_unwind(panic),
                Err(Err(_)) => unreachable!("only a drop of the set cancels its tasks"),
            }
            self.counts.regions_done.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn copy_range(&self, range: RowRange) -> Result<()> {
        let mut scan = Scan::new(range);
        scan.columns = self.declared.reads();
        scan.batch = Some(PART_CELLS);
        scan.cache_blocks = false;
        let mut parts = self.source.scan(scan).await?;
        let mut puts = Vec::new();
        let mut bytes = 0;
        let mut last = Bytes::new();
        while let Some(part) = parts.next().await? {
            let Some(put) = self.put_of(&part, &mut last)? else { continue };
            bytes += put.cells().iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
            puts.push(Mutation::from(put));
            if puts.len() >= PUTS_MAX || bytes >= PUT_BYTES_MAX {
                self.write(std::mem::take(&mut puts)).await?;
                bytes = 0;
            }
        }
        self.write(puts).await
    }

    /// Returns the put with a part's searched cells, if there are any. Counts the row, unless it is
    /// `last`, the row that was counted before.
    fn put_of(&self, part: &Row, last: &mut Bytes) -> Result<Option<Put>> {
        let key = part.key();
        let counts = &self.counts;
        let is_first = *last != *key;
        if self.declared.key.decode_into(key, &mut Vec::new()).is_err() {
            if is_first {
                *last = Bytes::copy_from_slice(key);
                counts.misfits.fetch_add(1, Ordering::Relaxed);
                let mut first = counts.first_misfits.lock().unwrap_or_else(PoisonError::into_inner);
                if first.len() < MISFITS_REPORTED {
                    first.push(last.clone());
                }
            }
            return Ok(None);
        }
        let is_searched = |cell: &KeyValue<'_>| {
            self.declared.columns.find(cell.family(), cell.qualifier()).is_some()
        };
        // Without tags: a time to live is the source's.
        let copy = |cell: KeyValue<'_>| {
            let family = cell.family_bytes();
            let qualifier = cell.qualifier_bytes();
            let at = cell.timestamp();
            let value = cell.value_bytes();
            Cell::new(cell.row_bytes(), family, qualifier, at, CellKind::Put, value)
        };
        let cells = part.cells().filter(is_searched).map(copy).collect::<Result<Vec<_>>>()?;
        let Some(first) = cells.first() else { return Ok(None) };
        let mut put = Put::of_cells(first.row_bytes(), cells)?;
        if is_first {
            *last = put.row().clone();
            counts.rows.fetch_add(1, Ordering::Relaxed);
        }
        // The build flushes them before anyone sees the table.
        put.durability = Durability::SkipWal;
        Ok(Some(put))
    }

    async fn write(&self, puts: Vec<Mutation>) -> Result<()> {
        let table = self.into.table(&self.table)?;
        let outcomes = working(&self.alone, move || table.batch(puts)).await;
        outcomes.into_iter().try_for_each(|outcome| outcome.map(|_| ()))
    }
}
