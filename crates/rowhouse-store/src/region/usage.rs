//! A region's usage: requests and size.

use std::sync::Arc;

use rowhouse_model::{Bytes, Cell, Columns, Mutation, Row};

use super::Region;
use crate::family::FamilyStore;
use crate::heat::Load;
use crate::read::RegionCounts;

/// Requests to one region, or the sum for several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionRequests {
    /// Rows returned.
    pub reads: u64,
    /// Rows read but not returned: a filter removed all their cells, or no cell was visible.
    pub filtered_reads: u64,
    /// Mutations, with those that observers and indexes add to others.
    pub writes: u64,
    /// Cell bytes returned; 0 if [`Settings::heat`](crate::Settings::heat) is off.
    pub read_bytes: u64,
    /// Cell bytes in mutations; 0 if [`Settings::heat`](crate::Settings::heat) is off.
    pub written_bytes: u64,
}

impl RegionRequests {
    /// Returns a region's counts so far.
    pub(crate) fn of(counts: &RegionCounts) -> Self {
        let Load { reads, writes, read_bytes, written_bytes } = counts.requests();
        let filtered_reads = counts.filtered();
        Self { reads, filtered_reads, writes, read_bytes, written_bytes }
    }

    /// Adds another region's requests.
    pub fn add(&mut self, other: &Self) {
        self.reads += other.reads;
        self.filtered_reads += other.filtered_reads;
        self.writes += other.writes;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
    }
}

/// Requests to a family of a region since the store was opened, or since the region was split off
/// or merged. All counts are 0 if [`Settings::heat`](crate::Settings::heat) is off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FamilyRequests {
    /// The family's name.
    pub family: Bytes,
    /// Rows returned with cells of the family. A row that a scan returns in parts may count for
    /// each.
    pub reads: u64,
    /// Mutations with cells of the family.
    pub writes: u64,
    /// The family's cell bytes returned.
    pub read_bytes: u64,
    /// The family's cell bytes in mutations.
    pub written_bytes: u64,
}

/// The size of a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegionSize {
    /// Column families (HBase's stores).
    pub stores: usize,
    /// HFiles.
    pub files: usize,
    /// HFile bytes.
    pub file_bytes: u64,
    /// Uncompressed HFile bytes; for a file not read since the store was opened, its bytes on disk.
    pub uncompressed_bytes: u64,
    /// Index bytes for the HFiles read since the store was opened.
    pub index_bytes: u64,
    /// Bloom filter bytes for the HFiles read since the store was opened.
    pub bloom_bytes: u64,
    /// Memstore bytes.
    pub memstore_bytes: u64,
}

impl RegionSize {
    /// Adds another region's size.
    pub fn add(&mut self, other: &Self) {
        self.stores += other.stores;
        self.files += other.files;
        self.file_bytes += other.file_bytes;
        self.uncompressed_bytes += other.uncompressed_bytes;
        self.index_bytes += other.index_bytes;
        self.bloom_bytes += other.bloom_bytes;
        self.memstore_bytes += other.memstore_bytes;
    }
}

impl Region {
    /// Returns the counts for rows read and mutations received since the store was opened, or since
    /// the region replaced another one. [`Store::requests`](crate::Store::requests) has the counts
    /// for whole tables.
    pub fn requests(&self) -> RegionRequests {
        RegionRequests::of(&self.counts)
    }

    /// Returns the counts of each family, by name.
    pub fn family_requests(&self) -> Vec<FamilyRequests> {
        let of = |family: &Arc<FamilyStore>| {
            let Load { reads, writes, read_bytes, written_bytes } = family.requests.get();
            let name = family.name().clone();
            FamilyRequests { family: name, reads, writes, read_bytes, written_bytes }
        };
        self.families().iter().map(of).collect()
    }

    /// Returns the region's size in memory and on disk.
    pub fn size(&self) -> RegionSize {
        let mut sum = RegionSize::default();
        self.families().iter().for_each(|family| sum.add(&size_of_family(family)));
        sum
    }

    /// Returns the size of each family in memory and on disk, by name.
    pub fn family_sizes(&self) -> Vec<(Bytes, RegionSize)> {
        let families = self.families();
        families.iter().map(|family| (family.name().clone(), size_of_family(family))).collect()
    }

    /// Counts a row read; `read` is the returned row, if any.
    #[inline]
    pub(crate) fn count_read(&self, row: &[u8], columns: Option<&Columns>, read: Option<&Row>) {
        self.counts.add_read(self.families(), row, columns, read);
    }

    /// Counts mutations.
    pub(crate) fn count_writes(&self, mutations: &[Mutation]) {
        let writes = mutations.iter().map(|mutation| (mutation.row(), mutation.cells()));
        self.counts.add_writes(self.families(), writes);
    }

    /// Counts a mutation by the cells that it wrote.
    pub(crate) fn count_written(&self, cells: &[Cell]) {
        if let Some(first) = cells.first() {
            let row = first.row_bytes();
            self.counts.add_writes(self.families(), std::iter::once((&row, cells)));
        }
    }
}

fn size_of_family(family: &FamilyStore) -> RegionSize {
    let super_version = family.super_version();
    let mut size = RegionSize {
        stores: 1,
        files: super_version.files.len(),
        memstore_bytes: family.memstore_bytes(),
        ..RegionSize::default()
    };
    for file in &super_version.files {
        let blocks = file.block_sizes();
        size.file_bytes += file.share_len();
        size.uncompressed_bytes += blocks.uncompressed;
        size.index_bytes += blocks.index;
        size.bloom_bytes += blocks.bloom;
    }
    size
}
