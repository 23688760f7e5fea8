//! Reading the part of a data block that a row lies in.
//!
//! While the block cache is full, each block that is added evicts another one. So most gets that do
//! not find a block in the cache read one or two of its 4 KiB chunks, verify these alone, and add
//! nothing. Where each row lies, and the checksums of the chunks, are kept from the time when the
//! block was read and verified as a whole.

use std::cell::RefCell;
use std::sync::Arc;

use rowhouse_format::hfile::{self, BlockHandle, BlockPart, DataBlock, RowPlace};
use rowhouse_model::Result;

use super::{FileTrace, StoreFile};
use crate::block_cache::{CachedOutline, Caching};

/// Where a reader of one row continues.
pub(super) enum RowBlock {
    /// In this block, which has all cells that the block in the file has.
    Whole(Arc<DataBlock>),
    /// In this copy of the row. `ends_block` is true if it is the last row in its block.
    Part { block: Arc<DataBlock>, ends_block: bool },
    /// In the next block: all rows in this one are before the row.
    Next,
    /// The file does not have the row.
    Absent,
}

impl StoreFile {
    /// Returns the part of a data block in which a reader finds the cells of `row`.
    pub(super) fn row_block(
        &self,
        opened: &hfile::FileMeta,
        handle: &BlockHandle,
        row: &[u8],
        caching: Caching,
        trace: Option<&FileTrace>,
    ) -> Result<RowBlock> {
        if let Some(block) = self.cached_block(handle, caching, trace) {
            return Ok(RowBlock::Whole(block));
        }
        // A reader skips delete markers over whole blocks.
        if !self.has_no_markers() || caching == Caching::Past {
            return self.read_block(opened, handle, caching, trace).map(RowBlock::Whole);
        }
        let key = (self.meta.file_id, handle.offset);
        let Some(cached) = self.files.blocks.outline(key) else {
            return self.read_outlined(opened, handle, caching, trace);
        };
        let part = match cached.outline().find_row(row) {
            RowPlace::Part(part) if !cached.reads_block() => part,
            RowPlace::After => return Ok(RowBlock::Next),
            RowPlace::Absent => return Ok(RowBlock::Absent),
            RowPlace::Part(_) | RowPlace::Block => {
                return self.read_block(opened, handle, caching, trace).map(RowBlock::Whole);
            }
        };
        match self.read_part(&cached, &part) {
            Some(block) => {
                if let Some(trace) = trace {
                    let len = (part.range.end - part.range.start) as u32;
                    trace.add_block(part.range.start, len, false);
                }
                Ok(RowBlock::Part { block: Arc::new(block), ends_block: part.ends_block })
            }
            // The whole block says what is wrong with it.
            None => self.read_block(opened, handle, caching, trace).map(RowBlock::Whole),
        }
    }

    /// Reads a whole block, and keeps its outline if the block will be evicted soon.
    fn read_outlined(
        &self,
        opened: &hfile::FileMeta,
        handle: &BlockHandle,
        caching: Caching,
        trace: Option<&FileTrace>,
    ) -> Result<RowBlock> {
        let (block, bytes) = self.read_block_and_bytes(opened, handle, caching, trace)?;
        let blocks = &self.files.blocks;
        if blocks.is_full(caching)
            && let Some(outline) = opened.outline(&block, &bytes)
        {
            blocks.insert_outline((self.meta.file_id, handle.offset), outline);
        }
        Ok(RowBlock::Whole(block))
    }

    /// Reads a row of a block; returns `None` if it cannot be read or is damaged.
    fn read_part(&self, cached: &CachedOutline, part: &BlockPart) -> Option<DataBlock> {
        thread_local! {
            /// Chunks are read into it, and rows copied out.
            static CHUNKS: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        let file = self.files.open(self.meta.file_id).ok()?;
        let len = (part.range.end - part.range.start) as usize;
        CHUNKS.with_borrow_mut(|chunks| {
            if chunks.len() < len {
                chunks.resize(len, 0);
            }
            let bytes = &mut chunks[..len];
            file.read_exact_at(bytes, part.range.start).ok()?;
            cached.outline().parse_part(part, bytes).ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rowhouse_model::{ErrorKind, FamilyDescriptor, Get, Put, TableDescriptor, TableName};

    use crate::disk::Disk;
    use crate::disk::simulated::SimulatedDisk;
    use crate::{Settings, Store, Table};

    const ROWS: u32 = 8_000;
    /// Some rows lie in one chunk, some in two.
    const LENS: [usize; 4] = [900, 1_500, 100, 3_300];

    fn key(row: u32) -> Vec<u8> {
        format!("row{row:06}").into_bytes()
    }

    fn value(row: u32) -> Vec<u8> {
        // More than a chunk has.
        let len = if row % 500 == 76 { 40_000 } else { LENS[row as usize / 2 % LENS.len()] };
        (0..len as u32).map(|at| (row * 31 + at * 7) as u8).collect()
    }

    /// Returns a table with one file, six times as large as the block cache.
    fn table(disk: &SimulatedDisk) -> (Store, Arc<Table>) {
        table_with_cache(disk, 1 << 20)
    }

    fn table_with_cache(disk: &SimulatedDisk, block_cache_bytes: u64) -> (Store, Arc<Table>) {
        let settings = Settings { block_cache_bytes, ..Settings::default() };
        let store = Store::builder("simulated").settings(settings).with_disk(disk.clone());
        let store = store.open().unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        // Every other row is missing.
        for row in (0..ROWS).step_by(2) {
            let put = Put::new(key(row)).unwrap().add("f", "a", value(row)).unwrap();
            table.mutate(&put.add("f", "b", "").unwrap().into()).unwrap();
        }
        table.flush().unwrap();
        (store, table)
    }

    fn outlines(table: &Table) -> usize {
        table.regions()[0].engine().files.blocks.outlines_cached()
    }

    /// Reads all rows in an arbitrary order, and returns how many could not be read.
    fn read_all(table: &Table) -> usize {
        let mut damaged = 0;
        for row in (0..ROWS).map(|at| at * 2_347 % ROWS) {
            let get = Get::new(key(row)).unwrap();
            let named = get.clone().column("f", "b");
            match (table.get(&get), table.get(&named)) {
                (Ok(whole), Ok(named)) => {
                    let expected = if row % 2 == 0 { vec![value(row), Vec::new()] } else { vec![] };
                    let values = whole.cells().map(|cell| cell.value().to_vec());
                    assert_eq!(values.collect::<Vec<_>>(), expected, "row {row}");
                    assert_eq!(named.len(), expected.len() / 2, "row {row}");
                }
                (whole, named) => {
                    for error in [whole.err(), named.err()].into_iter().flatten() {
                        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
                    }
                    damaged += 1;
                }
            }
        }
        damaged
    }

    #[test]
    fn parts_of_blocks_have_the_rows_of_whole_ones() {
        let disk = SimulatedDisk::default();
        let (store, table) = table(&disk);
        assert_eq!(outlines(&table), 0);
        for _ in 0..3 {
            assert_eq!(read_all(&table), 0);
        }
        assert!(outlines(&table) > 10, "{}", outlines(&table));
        assert!(store.usage().block_cache_bytes <= (1 << 20) + 4096);
    }

    #[test]
    fn outlines_that_fill_their_share_of_the_cache_get_more() {
        let disk = SimulatedDisk::default();
        let bytes_max = 512 << 10;
        let (store, table) = table_with_cache(&disk, bytes_max);
        for _ in 0..3 {
            assert_eq!(read_all(&table), 0);
        }
        let bytes = table.regions()[0].engine().files.blocks.outline_bytes();
        assert!((bytes_max / 10..=bytes_max / 4).contains(&bytes), "{bytes} of {bytes_max}");
        assert!(store.usage().block_cache_bytes <= bytes_max + 4096);
    }

    #[test]
    fn damage_in_a_part_is_reported() {
        let disk = SimulatedDisk::default();
        let (_store, table) = table(&disk);
        assert_eq!(read_all(&table), 0);
        let path = disk.paths().into_iter().find(|path| path.starts_with("files/")).unwrap();
        let file = disk.open(&path).unwrap();
        // Some of the blocks are in the cache.
        for offset in (100_003..5_000_000).step_by(500_000) {
            let mut byte = [0];
            file.read_exact_at(&mut byte, offset).unwrap();
            file.write_all_at(&[byte[0] ^ 4], offset).unwrap();
        }
        let damaged = read_all(&table);
        assert!((1..600).contains(&damaged), "{damaged} rows");
    }
}
