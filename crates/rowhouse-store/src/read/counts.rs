//! Request counts of a region, and the part that goes into the table's heat.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rowhouse_model::{Bytes, Cell, Columns, Row};

use crate::family::FamilyStore;
use crate::heat::{Load, SharedLoad, TableHeat};

/// A region's request counts, which the region's scanners add to.
#[derive(Default)]
pub(crate) struct RegionCounts {
    /// Requests; bytes only if the store keeps heat.
    all: SharedLoad,
    /// Rows not returned: a filter removed all their cells, or no cell was visible.
    filtered: AtomicU64,
    /// The table's heat; not set if the store keeps no heat.
    heat: OnceLock<Arc<TableHeat>>,
}

impl RegionCounts {
    /// Returns the requests so far.
    pub(crate) fn requests(&self) -> Load {
        self.all.get()
    }

    /// Returns how many rows were read but not returned.
    pub(crate) fn filtered(&self) -> u64 {
        self.filtered.load(Ordering::Relaxed)
    }

    pub(crate) fn heat(&self) -> Option<&Arc<TableHeat>> {
        self.heat.get()
    }

    /// Sets the table's heat, unless it is set.
    pub(crate) fn set_heat(&self, heat: &Arc<TableHeat>) {
        let _ = self.heat.set(Arc::clone(heat));
    }

    /// Counts a row read; `row` is the returned row, if any, and `columns` are the requested
    /// columns, unless the read only checked a condition.
    #[inline]
    pub(crate) fn add_read(
        &self,
        families: &[Arc<FamilyStore>],
        key: &[u8],
        columns: Option<&Columns>,
        row: Option<&Row>,
    ) {
        let nth = self.all.add_reads(1);
        let Some(heat) = self.heat.get() else { return };
        let bytes = row.map_or(0, Row::byte_len);
        if let Some(row) = row.filter(|_| bytes > 0) {
            self.all.add_read_bytes(bytes);
            let add = |family: &FamilyStore, bytes| {
                family.requests.add_reads(1);
                family.requests.add_read_bytes(bytes);
            };
            match families {
                [family] => add(family, bytes),
                families => {
                    for (name, bytes) in by_family(row) {
                        if let Some(family) = families.iter().find(|it| it.name()[..] == *name) {
                            add(family, bytes);
                        }
                    }
                }
            }
        }
        if let Some(weight) = heat.weight(nth) {
            heat.record(key, Load::of_reads(1, bytes), weight, true, columns);
        }
    }

    /// Counts mutations: for each the row and the cells.
    pub(crate) fn add_writes<'m>(
        &self,
        families: &[Arc<FamilyStore>],
        writes: impl ExactSizeIterator<Item = (&'m Bytes, &'m [Cell])>,
    ) {
        let first = self.all.add_writes(writes.len() as u64);
        let Some(heat) = self.heat.get() else { return };
        for (nth, (row, cells)) in (first..).zip(writes) {
            let len = |cell: &Cell| cell.as_bytes().len() as u64;
            let bytes = cells.iter().map(len).sum();
            self.all.add_written_bytes(bytes);
            for family in families {
                let of_family = || {
                    let is_of_it = |cell: &&Cell| cell.family() == &family.name()[..];
                    cells.iter().filter(is_of_it).map(len).sum()
                };
                let bytes = if families.len() == 1 { bytes } else { of_family() };
                if bytes > 0 {
                    family.requests.add_writes(1);
                    family.requests.add_written_bytes(bytes);
                }
            }
            if let Some(weight) = heat.weight(nth) {
                heat.record(row, Load::of_write(bytes), weight, true, None);
            }
        }
    }
}

/// Returns the families that have cells in a row, by name, each with the bytes of the cells.
fn by_family(row: &Row) -> impl Iterator<Item = (&[u8], u64)> {
    let mut cells = row.cells().peekable();
    std::iter::from_fn(move || {
        let name = cells.peek()?.family();
        let mut bytes = 0;
        while let Some(cell) = cells.next_if(|cell| cell.family() == name) {
            bytes += cell.as_bytes().len() as u64;
        }
        Some((name, bytes))
    })
}

/// What a scanner has read and not yet added to the region's counts.
pub(super) struct ScanCounts {
    counts: Arc<RegionCounts>,
    /// Those that the scan reads; none if the store keeps no heat.
    families: Vec<FamilyCounts>,
    /// The columns that the scan asks for; all if the store keeps no heat.
    columns: Columns,
    /// Rows returned to their end.
    rows: u64,
    bytes: u64,
    /// The first of these rows; empty if the store keeps no heat.
    first: Vec<u8>,
    /// Whether rows were added before.
    goes_on: bool,
    /// Filtered rows that were added.
    filtered: u64,
}

struct FamilyCounts {
    family: Arc<FamilyStore>,
    rows: u64,
    bytes: u64,
}

impl FamilyCounts {
    #[inline]
    fn add(&mut self, bytes: u64) {
        self.rows += 1;
        self.bytes += bytes;
    }
}

impl ScanCounts {
    /// Returns the counts for a scan over families in a region.
    pub(super) fn new<'f>(
        counts: &Arc<RegionCounts>,
        columns: &Columns,
        families: impl Iterator<Item = &'f Arc<FamilyStore>>,
    ) -> Self {
        let of = |family| FamilyCounts { family: Arc::clone(family), rows: 0, bytes: 0 };
        Self {
            counts: Arc::clone(counts),
            families: counts.heat().map(|_| families.map(of).collect()).unwrap_or_default(),
            columns: counts.heat().map(|_| columns.clone()).unwrap_or_default(),
            rows: 0,
            bytes: 0,
            first: Vec::new(),
            goes_on: false,
            filtered: 0,
        }
    }

    /// Counts a row that was returned completely.
    #[inline]
    pub(super) fn add_row(&mut self) {
        self.rows += 1;
    }

    /// Counts the cells that are returned for a row, or for part of one, and their bytes.
    #[inline]
    pub(super) fn add_cells(&mut self, key: &[u8], cells: &Row, bytes: u64) {
        match &mut self.families[..] {
            [] => return,
            [family] => family.add(bytes),
            families => {
                for (name, bytes) in by_family(cells) {
                    let family = families.iter_mut().find(|it| it.family.name()[..] == *name);
                    if let Some(family) = family {
                        family.add(bytes);
                    }
                }
            }
        }
        self.bytes += bytes;
        if self.first.is_empty() {
            self.first.extend_from_slice(key);
        }
    }

    /// Adds to the region's counts. `filtered` is the total number so far for rows that were not
    /// returned.
    pub(super) fn flush(&mut self, filtered: u64) {
        let more = filtered - std::mem::replace(&mut self.filtered, filtered);
        if more > 0 {
            self.counts.filtered.fetch_add(more, Ordering::Relaxed);
        }
        let rows = std::mem::take(&mut self.rows);
        let bytes = std::mem::take(&mut self.bytes);
        if rows == 0 && bytes == 0 {
            return;
        }
        let nth = self.counts.all.add_reads(rows);
        let goes_on = std::mem::replace(&mut self.goes_on, true);
        let Some(heat) = self.counts.heat.get() else { return };
        self.counts.all.add_read_bytes(bytes);
        for of in self.families.iter_mut().filter(|of| of.rows > 0) {
            of.family.requests.add_reads(std::mem::take(&mut of.rows));
            of.family.requests.add_read_bytes(std::mem::take(&mut of.bytes));
        }
        if let Some(weight) = heat.weight(nth) {
            let is_of_row = rows == 1 && !goes_on;
            let load = Load::of_reads(rows, bytes);
            heat.record(&self.first, load, weight, is_of_row, Some(&self.columns));
        }
        self.first.clear();
    }
}
