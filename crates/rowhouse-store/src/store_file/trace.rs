//! Traces of a file: what reads looked at in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_model::Bytes;

use crate::layout::file_path;
use crate::manifest::FileMeta;

/// The number of parts of a file in [`FileReads::parts_read`].
pub const FILE_PARTS: usize = 64;

/// What reads looked at in one file of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileReads {
    /// The path in the data directory.
    pub path: String,
    /// Bytes on disk.
    pub len: u64,
    /// The first row in it.
    pub first_row: Bytes,
    /// The last row in it.
    pub last_row: Bytes,
    /// How many reads left the file out because it has none of their rows.
    pub left_out_by_rows: u64,
    /// How many reads left the file out because the bloom filter has none of their rows or columns.
    pub left_out_by_bloom: u64,
    /// How many reads left the file out because it has no versions in their time range.
    pub left_out_by_times: u64,
    /// How many reads left the file out because they had found a newer version of the only column
    /// that they requested.
    pub left_out_by_newer: u64,
    /// How many reads looked into the file.
    pub reads: u64,
    /// How many cells they looked at.
    pub cells_read: u64,
    /// How many data and index blocks came from the block cache. Bloom filters and the index root
    /// are part of the open file and do not count.
    pub blocks_cached: u64,
    /// How many blocks were read from the disk.
    pub blocks_from_disk: u64,
    /// Bytes on disk for the blocks that came from the block cache.
    pub bytes_cached: u64,
    /// Bytes in the blocks that were read from the disk.
    pub bytes_from_disk: u64,
    /// For each 64th of the file's blocks: whether any part was read.
    pub parts_read: [bool; FILE_PARTS],
}

impl FileReads {
    /// Returns how many reads considered the file and did not look into it.
    pub fn left_out(&self) -> u64 {
        self.left_out_by_rows
            + self.left_out_by_bloom
            + self.left_out_by_times
            + self.left_out_by_newer
    }
}

/// Why a file was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// It has none of the rows.
    Rows,
    /// The bloom filter does not contain the row or column.
    Bloom,
    /// It has no versions in the time range.
    Times,
    /// A version was found that is newer than all its cells.
    Newer,
}

/// The reads of a file.
#[derive(Debug)]
pub(crate) struct FileTrace {
    path: String,
    len: u64,
    /// Where the data blocks end.
    data_len: u64,
    first_row: Bytes,
    last_row: Bytes,
    left_out: [AtomicU64; 4],
    opened: AtomicU64,
    cells: Arc<AtomicU64>,
    blocks_cached: AtomicU64,
    blocks_from_disk: AtomicU64,
    bytes_cached: AtomicU64,
    bytes_from_disk: AtomicU64,
    /// One bit for each part of the data that was read.
    parts: AtomicU64,
}

impl FileTrace {
    pub(crate) fn new(meta: &FileMeta) -> Self {
        Self {
            path: file_path(meta.file_id),
            len: meta.len,
            data_len: meta.meta_offset.max(1),
            first_row: Bytes::copy_from_slice(&meta.first_row),
            last_row: Bytes::copy_from_slice(&meta.last_row),
            left_out: Default::default(),
            opened: AtomicU64::new(0),
            cells: Arc::default(),
            blocks_cached: AtomicU64::new(0),
            blocks_from_disk: AtomicU64::new(0),
            bytes_cached: AtomicU64::new(0),
            bytes_from_disk: AtomicU64::new(0),
            parts: AtomicU64::new(0),
        }
    }

    pub(crate) fn leave_out(&self, why: LeftOut) {
        self.left_out[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a read that looks into the file.
    pub(crate) fn open(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn cells(&self) -> &Arc<AtomicU64> {
        &self.cells
    }

    /// Counts an index or data block, with place and length on disk.
    pub(crate) fn add_block(&self, offset: u64, len: u32, is_cached: bool) {
        let len = u64::from(len);
        let (blocks, bytes) = if is_cached {
            (&self.blocks_cached, &self.bytes_cached)
        } else {
            (&self.blocks_from_disk, &self.bytes_from_disk)
        };
        blocks.fetch_add(1, Ordering::Relaxed);
        bytes.fetch_add(len, Ordering::Relaxed);
        let parts = FILE_PARTS as u128;
        let part = |at: u64| (u128::from(at) * parts / u128::from(self.data_len)).min(parts - 1);
        let first = part(offset);
        let last = part(offset + len.saturating_sub(1));
        let bits = (first..=last).fold(0, |bits, part| bits | 1_u64 << part);
        self.parts.fetch_or(bits, Ordering::Relaxed);
    }

    pub(crate) fn report(&self) -> FileReads {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let parts = get(&self.parts);
        FileReads {
            path: self.path.clone(),
            len: self.len,
            first_row: self.first_row.clone(),
            last_row: self.last_row.clone(),
            left_out_by_rows: get(&self.left_out[LeftOut::Rows as usize]),
            left_out_by_bloom: get(&self.left_out[LeftOut::Bloom as usize]),
            left_out_by_times: get(&self.left_out[LeftOut::Times as usize]),
            left_out_by_newer: get(&self.left_out[LeftOut::Newer as usize]),
            reads: get(&self.opened),
            cells_read: get(&self.cells),
            blocks_cached: get(&self.blocks_cached),
            blocks_from_disk: get(&self.blocks_from_disk),
            bytes_cached: get(&self.bytes_cached),
            bytes_from_disk: get(&self.bytes_from_disk),
            parts_read: std::array::from_fn(|part| parts >> part & 1 == 1),
        }
    }
}
