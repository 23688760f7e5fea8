//! Trace reports.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rowhouse_model::{Bytes, RowRange, TableName};

use super::{FamilyTrace, ReadTrace, RegionTrace};
use crate::store_file::FileReads;

/// What reads looked at and returned, by table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadReport {
    /// The tables that were read, by name. Each index has its own table.
    pub tables: Vec<TableReads>,
}

/// The reads of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableReads {
    /// The table.
    pub table: TableName,
    /// How many gets there were.
    pub gets: u64,
    /// How many region scans there were.
    pub scans: u64,
    /// The time that the calls took, added up; calls on several threads may overlap.
    pub elapsed: Duration,
    /// The CPU time that these calls took on their own threads.
    pub cpu: Duration,
    /// The regions that were read, in key order.
    pub regions: Vec<RegionReads>,
}

/// The reads of a region.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegionReads {
    /// The region's rows.
    pub range: RowRange,
    /// How many rows were read, whether they were returned or not.
    pub rows_read: u64,
    /// How many rows were returned.
    pub rows_returned: u64,
    /// The families that were read, by name.
    pub families: Vec<FamilyReads>,
}

/// The reads of a family in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FamilyReads {
    /// The family.
    pub family: Bytes,
    /// How many cells, delete markers included, were looked at in memory.
    pub memory_cells: u64,
    /// How many cells were returned.
    pub cells_returned: u64,
    /// Bytes in the cells that were returned, with their keys.
    pub bytes_returned: u64,
    /// The family's files, oldest first.
    pub files: Vec<FileReads>,
}

impl FamilyReads {
    /// Returns how many cells, delete markers included, were looked at in memory and in files.
    pub fn cells_read(&self) -> u64 {
        self.memory_cells + self.files.iter().map(|file| file.cells_read).sum::<u64>()
    }
}

/// Sums over everything that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadTotals {
    /// Gets.
    pub gets: u64,
    /// Region scans.
    pub scans: u64,
    /// Regions in which something was read.
    pub regions: u64,
    /// Rows that were read.
    pub rows_read: u64,
    /// Rows that were returned.
    pub rows_returned: u64,
    /// Cells that were looked at.
    pub cells_read: u64,
    /// Cells that were returned.
    pub cells_returned: u64,
    /// Bytes in the cells that were returned.
    pub bytes_returned: u64,
    /// Files into which a read looked.
    pub files_read: u64,
    /// Files that were considered, and into which no read looked.
    pub files_left_out: u64,
    /// Blocks from the cache.
    pub blocks_cached: u64,
    /// Blocks from the disk.
    pub blocks_from_disk: u64,
    /// Bytes on disk for the blocks from the cache.
    pub bytes_cached: u64,
    /// Bytes in the blocks from the disk.
    pub bytes_from_disk: u64,
}

impl ReadTotals {
    /// Returns how many blocks came from the cache and from the disk.
    pub fn blocks(&self) -> u64 {
        self.blocks_cached + self.blocks_from_disk
    }

    fn add_family(&mut self, family: &FamilyReads) {
        self.cells_read += family.cells_read();
        self.cells_returned += family.cells_returned;
        self.bytes_returned += family.bytes_returned;
        for file in &family.files {
            let is_read = u64::from(file.reads > 0);
            self.files_read += is_read;
            self.files_left_out += 1 - is_read;
            self.blocks_cached += file.blocks_cached;
            self.blocks_from_disk += file.blocks_from_disk;
            self.bytes_cached += file.bytes_cached;
            self.bytes_from_disk += file.bytes_from_disk;
        }
    }
}

impl AddAssign for ReadTotals {
    fn add_assign(&mut self, other: Self) {
        self.gets += other.gets;
        self.scans += other.scans;
        self.regions += other.regions;
        self.rows_read += other.rows_read;
        self.rows_returned += other.rows_returned;
        self.cells_read += other.cells_read;
        self.cells_returned += other.cells_returned;
        self.bytes_returned += other.bytes_returned;
        self.files_read += other.files_read;
        self.files_left_out += other.files_left_out;
        self.blocks_cached += other.blocks_cached;
        self.blocks_from_disk += other.blocks_from_disk;
        self.bytes_cached += other.bytes_cached;
        self.bytes_from_disk += other.bytes_from_disk;
    }
}

impl TableReads {
    /// Returns the sums over the table's regions.
    pub fn total(&self) -> ReadTotals {
        let mut total = ReadTotals {
            gets: self.gets,
            scans: self.scans,
            regions: self.regions.len() as u64,
            ..ReadTotals::default()
        };
        for region in &self.regions {
            total.rows_read += region.rows_read;
            total.rows_returned += region.rows_returned;
            region.families.iter().for_each(|family| total.add_family(family));
        }
        total
    }
}

impl ReadReport {
    /// Returns the sums over all tables, index tables included.
    pub fn total(&self) -> ReadTotals {
        let mut total = ReadTotals::default();
        self.tables.iter().for_each(|table| total += table.total());
        total
    }

    /// Returns the reads of a table, if it was read.
    pub fn table(&self, name: &TableName) -> Option<&TableReads> {
        self.tables.iter().find(|table| table.table == *name)
    }
}

impl ReadTrace {
    /// Returns what the reads looked at and returned so far. A scanner's rows count as read when
    /// the scanner is dropped.
    pub fn report(&self) -> ReadReport {
        let mut regions = BTreeMap::<TableName, Vec<RegionReads>>::new();
        for region in self.regions.lock().values() {
            regions.entry(region.info.table.clone()).or_default().push(region.report());
        }
        let tables = self.tables.lock();
        let tables = tables.iter().map(|(name, table)| {
            let mut regions = regions.remove(name).unwrap_or_default();
            regions.sort_by(|a, b| a.range.start.cmp(&b.range.start));
            TableReads {
                table: name.clone(),
                gets: get(&table.gets),
                scans: get(&table.scans),
                elapsed: Duration::from_nanos(get(&table.elapsed_nanos)),
                cpu: Duration::from_nanos(get(&table.cpu_nanos)),
                regions,
            }
        });
        ReadReport { tables: tables.collect() }
    }
}

impl RegionTrace {
    fn report(&self) -> RegionReads {
        let families = self.families.lock();
        RegionReads {
            range: self.info.range.clone(),
            rows_read: get(&self.rows_read),
            rows_returned: get(&self.rows_returned),
            families: families.iter().map(|(name, family)| family.report(name)).collect(),
        }
    }
}

impl FamilyTrace {
    fn report(&self, name: &Bytes) -> FamilyReads {
        FamilyReads {
            family: name.clone(),
            memory_cells: get(&self.memory_cells),
            cells_returned: get(&self.cells_returned),
            bytes_returned: get(&self.bytes_returned),
            files: self.files.lock().values().map(|file| file.report()).collect(),
        }
    }
}

fn get(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
