//! Direct access to a file's bloom chunks that are in the block cache, without a lookup in the
//! cache.
//!
//! Reading a missing row does little more than query one chunk. The cache lookup, with a lock and a
//! counter that all readers write, took a seventh of that time.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use arc_swap::Guard;
use rowhouse_format::hfile::BloomChunk;

use crate::block_cache::{CachedChunk, ChunkSlot};

/// A slot for each chunk in a file, by chunk number.
#[derive(Default)]
pub(super) struct BloomSlots(OnceLock<Box<[Arc<ChunkSlot>]>>);

/// One in this many readers still accesses the cache, so that the eviction policy sees the use.
const READS_PER_CACHE_ACCESS: u32 = 32;

impl BloomSlots {
    /// Returns chunk `number` of `chunks`, if it is cached.
    pub(super) fn get(&self, number: usize, chunks: usize) -> Guard<Option<Arc<BloomChunk>>> {
        self.place(number, chunks).load()
    }

    /// Stores a chunk in its slot for as long as the returned value lives.
    pub(super) fn keep(
        &self,
        number: usize,
        chunks: usize,
        chunk: &Arc<BloomChunk>,
    ) -> Arc<CachedChunk> {
        Arc::new(CachedChunk::new(chunk, Arc::clone(self.place(number, chunks))))
    }

    fn place(&self, number: usize, chunks: usize) -> &Arc<ChunkSlot> {
        &self.0.get_or_init(|| (0..chunks).map(|_| Arc::default()).collect())[number]
    }
}

/// Returns true if this read should access the cache.
pub(super) fn should_touch_cache() -> bool {
    thread_local! {
        static DRAWN: Cell<u32> = const { Cell::new(0x9E37_79B9) };
    }
    // Marsaglia's xorshift. With a counter, reads that query several files in turn would always
    // skip the same files.
    DRAWN.with(|drawn| {
        let mut draw = drawn.get();
        draw ^= draw << 13;
        draw ^= draw >> 17;
        draw ^= draw << 5;
        drawn.set(draw);
        draw.is_multiple_of(READS_PER_CACHE_ACCESS)
    })
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, Get, Put, RowRange, Scan, TableDescriptor, TableName};

    use super::*;
    use crate::disk::simulated::SimulatedDisk;
    use crate::store_file::StoreFile;
    use crate::{Settings, Store, Table};

    /// Returns a table with one file, whose bloom has one chunk, in a store with a small cache.
    fn table() -> (Store, Arc<Table>, Arc<StoreFile>) {
        let settings = Settings { block_cache_bytes: 64 << 10, ..Settings::default() };
        let disk = SimulatedDisk::default();
        let store = Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap().attribute("BLOCKSIZE", "1024");
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        for row in 0..200u32 {
            let put = Put::new(row.to_be_bytes().to_vec()).unwrap();
            table.mutate(&put.add("f", "q", [0; 1000]).unwrap().into()).unwrap();
        }
        table.flush().unwrap();
        let file = Arc::clone(&table.regions()[0].families()[0].super_version().files[0]);
        (store, table, file)
    }

    /// Queries the bloom.
    fn get_missing_row(table: &Table) {
        assert!(table.get(&Get::new(vec![0, 0, 0, 7, 0]).unwrap()).unwrap().is_empty());
    }

    fn cached(file: &StoreFile) -> Option<Arc<BloomChunk>> {
        file.bloom_places.get(0, 1).clone()
    }

    #[test]
    fn a_chunk_is_available_while_it_is_cached() {
        let (_store, table, file) = table();
        assert!(cached(&file).is_none());
        get_missing_row(&table);
        assert!(cached(&file).is_some());
        // Reads other blocks repeatedly until the chunk is evicted. Scans query no bloom.
        for row in (0..200u32).cycle().take(10_000) {
            let range = RowRange::new(row.to_be_bytes().to_vec(), b"".to_vec());
            for _ in 0..3 {
                table.scan(Scan::new(range.clone()).limit(1)).unwrap().next().unwrap();
            }
            if cached(&file).is_none() {
                break;
            }
        }
        assert!(cached(&file).is_none());
        get_missing_row(&table);
        assert!(cached(&file).is_some());
    }

    #[test]
    fn a_chunk_that_was_read_anew_is_not_lost_with_the_one_before() {
        let (_store, table, file) = table();
        get_missing_row(&table);
        let first = cached(&file).unwrap();
        let second = Arc::new(BloomChunk::clone(&first));
        let places = BloomSlots::default();
        let before = places.keep(1, 2, &first);
        let after = places.keep(1, 2, &second);
        drop(before);
        assert!(places.get(1, 2).as_ref().is_some_and(|chunk| Arc::ptr_eq(chunk, &second)));
        assert!(places.get(0, 2).is_none());
        drop(after);
        assert!(places.get(1, 2).is_none());
    }
}
