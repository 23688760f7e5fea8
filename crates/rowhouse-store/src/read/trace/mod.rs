//! Traces: what reads at a read point looked at and returned.

mod report;
mod source;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{Bytes, RegionInfo, Row, TableName};

pub use report::{FamilyReads, ReadReport, ReadTotals, RegionReads, TableReads};
pub(super) use source::TracedSource;

use super::merge::Source;
use crate::clock::thread_cpu_time;
use crate::family::FamilyStore;
use crate::store_file::{FileTrace, StoreFile};

/// What all reads at a read point looked at and returned: see [`ReadPoint::traced`].
///
/// [`ReadPoint::traced`]: super::ReadPoint::traced
#[derive(Debug, Default)]
pub struct ReadTrace {
    tables: Mutex<BTreeMap<TableName, Arc<TableTrace>>>,
    regions: Mutex<BTreeMap<u64, Arc<RegionTrace>>>,
}

/// The calls of a table.
#[derive(Debug, Default)]
pub(crate) struct TableTrace {
    gets: AtomicU64,
    scans: AtomicU64,
    elapsed_nanos: AtomicU64,
    cpu_nanos: AtomicU64,
}

/// The reads of a region.
#[derive(Debug)]
pub(crate) struct RegionTrace {
    info: RegionInfo,
    rows_read: AtomicU64,
    rows_returned: AtomicU64,
    families: Mutex<BTreeMap<Bytes, Arc<FamilyTrace>>>,
}

/// The reads of a family in a region.
#[derive(Debug, Default)]
pub(crate) struct FamilyTrace {
    memory_cells: Arc<AtomicU64>,
    cells_returned: AtomicU64,
    bytes_returned: AtomicU64,
    files: Mutex<BTreeMap<u64, Arc<FileTrace>>>,
}

impl ReadTrace {
    /// Returns the trace of a table's calls.
    pub(crate) fn table(&self, name: &TableName) -> Arc<TableTrace> {
        Arc::clone(self.tables.lock().entry(name.clone()).or_default())
    }

    /// Returns the trace of a region, which begins now unless it has begun.
    pub(crate) fn region(&self, id: u64, info: &RegionInfo) -> Arc<RegionTrace> {
        let begin = || {
            Arc::new(RegionTrace {
                info: info.clone(),
                rows_read: AtomicU64::new(0),
                rows_returned: AtomicU64::new(0),
                families: Mutex::default(),
            })
        };
        Arc::clone(self.regions.lock().entry(id).or_insert_with(begin))
    }

    /// Returns the trace of a family in a region whose trace has begun.
    pub(super) fn family(&self, family: &FamilyStore) -> Option<Arc<FamilyTrace>> {
        let region = self.find_region(family)?;
        Some(region.family(family.name()))
    }

    /// Adds a get's row, which may be empty, in a region with these families.
    pub(super) fn add_get(&self, families: &[Arc<FamilyStore>], row: &Row) {
        let Some(region) = families.first().and_then(|family| self.find_region(family)) else {
            return;
        };
        if !row.is_empty() {
            region.add_rows_read(1);
            region.add_row_returned();
            region.add_cells_returned(row);
        }
    }

    /// Returns the trace of a family's region, if it has begun.
    pub(super) fn find_region(&self, family: &FamilyStore) -> Option<Arc<RegionTrace>> {
        self.regions.lock().get(&family.region_id()).cloned()
    }
}

impl TableTrace {
    pub(crate) fn count_scan(&self) {
        self.scans.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_get(&self) {
        self.gets.fetch_add(1, Ordering::Relaxed);
    }

    /// Measures a call until the timer is dropped on the same thread.
    pub(crate) fn time(self: Arc<Self>) -> CallTimer {
        CallTimer { table: self, started: Instant::now(), cpu_start: thread_cpu_time() }
    }
}

/// Adds a call's time to the table's trace when it is dropped.
pub(crate) struct CallTimer {
    table: Arc<TableTrace>,
    started: Instant,
    cpu_start: Duration,
}

impl Drop for CallTimer {
    fn drop(&mut self) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let cpu = thread_cpu_time().saturating_sub(self.cpu_start);
        self.table.elapsed_nanos.fetch_add(nanos(self.started.elapsed()), Ordering::Relaxed);
        self.table.cpu_nanos.fetch_add(nanos(cpu), Ordering::Relaxed);
    }
}

impl RegionTrace {
    /// Adds rows that were read, whether they are returned or not.
    pub(crate) fn add_rows_read(&self, rows: u64) {
        self.rows_read.fetch_add(rows, Ordering::Relaxed);
    }

    /// Adds a row that is returned completely.
    pub(crate) fn add_row_returned(&self) {
        self.rows_returned.fetch_add(1, Ordering::Relaxed);
    }

    /// Adds the cells that are returned for a row, or for part of one.
    pub(crate) fn add_cells_returned(&self, row: &Row) {
        let mut cells = row.cells().peekable();
        while let Some(first) = cells.peek() {
            let name = first.family();
            let family = self.family(&Bytes::copy_from_slice(name));
            let mut count = 0;
            let mut bytes = 0;
            while let Some(cell) = cells.next_if(|cell| cell.family() == name) {
                count += 1;
                bytes += cell.as_bytes().len() as u64;
            }
            family.cells_returned.fetch_add(count, Ordering::Relaxed);
            family.bytes_returned.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn family(&self, name: &Bytes) -> Arc<FamilyTrace> {
        Arc::clone(self.families.lock().entry(name.clone()).or_default())
    }
}

impl FamilyTrace {
    /// Returns a memstore source that adds to the trace.
    pub(super) fn of_memory(&self, source: Source) -> Source {
        TracedSource::of_memory(source, &self.memory_cells)
    }

    /// Returns the trace of a file, which begins now unless it has begun.
    pub(super) fn file(&self, file: &StoreFile) -> Arc<FileTrace> {
        let mut files = self.files.lock();
        Arc::clone(files.entry(file.id()).or_insert_with(|| Arc::new(FileTrace::new(file.meta()))))
    }
}
