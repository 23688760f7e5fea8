//! The file block cache: shared by all regions, bounded in bytes, and resistant to long scans.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use parking_lot::Mutex;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rowhouse_format::hfile::{BlockOutline, BloomChunk, DataBlock, Index};

/// A block's origin: file id and offset.
pub(crate) type BlockKey = (u64, u64);

/// A verified block. Clones share it.
#[derive(Clone)]
pub(crate) enum CachedBlock {
    Data(Arc<DataBlock>),
    Index(Arc<Index>),
    Bloom(Arc<CachedChunk>),
}

/// A file's direct reference to a bloom chunk while the cache holds the chunk.
pub(crate) type ChunkSlot = ArcSwapOption<BloomChunk>;

/// The cache's reference to a bloom chunk. When the cache evicts it, the file's slot is cleared.
pub(crate) struct CachedChunk {
    chunk: Arc<BloomChunk>,
    slot: Arc<ChunkSlot>,
}

impl CachedChunk {
    /// Stores `chunk` in `slot` for as long as the returned value lives.
    pub(crate) fn new(chunk: &Arc<BloomChunk>, slot: Arc<ChunkSlot>) -> Self {
        slot.store(Some(Arc::clone(chunk)));
        Self { chunk: Arc::clone(chunk), slot }
    }

    /// Returns how many bytes it takes in memory.
    fn memory_len(&self) -> usize {
        self.chunk.memory_len()
    }
}

impl Drop for CachedChunk {
    fn drop(&mut self) {
        // Another reader may have read the chunk and stored it again since.
        self.slot.compare_and_swap(&self.chunk, None);
    }
}

/// How a reader uses the cache for data blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Caching {
    /// Bypasses the cache and reads each block once, as compactions do.
    Past,
    /// Uses cached blocks, and adds none.
    LookOnly,
    /// Adds blocks to the blocks from other readers.
    #[default]
    Shared,
    /// Adds blocks to the IN_MEMORY families' blocks, which blocks from other families do not
    /// evict.
    InMemory,
}

/// The block cache.
pub(crate) struct BlockCache {
    blocks: Cache<BlockKey, CachedBlock, ByBytes>,
    bytes_max: u64,
    /// Blocks from IN_MEMORY families: a quarter of the capacity, as in HBase, from the first such
    /// block on.
    in_memory: OnceLock<Cache<BlockKey, CachedBlock, ByBytes>>,
    /// Outlines of blocks, by which gets read parts of them: a sixteenth of the capacity, from the
    /// first block on that a get reads while the cache is full, or without adding the block. While
    /// they fill their share it grows, up to a quarter: an outline takes about a sixtieth of its
    /// block's bytes, and spares a get most of the read.
    outlines: OnceLock<Cache<BlockKey, Arc<CachedOutline>, ByBytes>>,
    /// Held while another cache takes capacity from `blocks`.
    resizing: Mutex<()>,
}

/// The outline of a block.
pub(crate) struct CachedOutline {
    outline: BlockOutline,
    /// How many reads there were since the block was read as a whole.
    reads: AtomicU32,
}

impl CachedOutline {
    pub(crate) fn outline(&self) -> &BlockOutline {
        &self.outline
    }

    /// Counts a read of a row in the block. Returns true if it is to read and cache the whole
    /// block: every 32nd read does, so that blocks that are read often are soon cached.
    pub(crate) fn reads_block(&self) -> bool {
        self.reads.fetch_add(1, Ordering::Relaxed) % READS_PER_BLOCK == READS_PER_BLOCK - 1
    }
}

/// One in this many reads of rows in a block reads the whole block.
const READS_PER_BLOCK: u32 = 32;

/// The result of evicting blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evicted {
    /// The block count.
    pub blocks: u64,
    /// Their bytes in memory.
    pub bytes: u64,
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<BlockKey, CachedBlock> for ByBytes {
    fn weight(&self, _: &BlockKey, block: &CachedBlock) -> u64 {
        let bytes = match block {
            CachedBlock::Data(block) => block.memory_len(),
            CachedBlock::Index(block) => block.memory_len(),
            CachedBlock::Bloom(block) => block.memory_len(),
        };
        bytes as u64
    }
}

impl Weighter<BlockKey, Arc<CachedOutline>> for ByBytes {
    fn weight(&self, _: &BlockKey, outline: &Arc<CachedOutline>) -> u64 {
        (size_of::<AtomicU32>() + outline.outline.memory_len()) as u64
    }
}

/// The usual size of an outline, for the estimate of how many entries there are.
const OUTLINE_BYTES_USUAL: u64 = 1 << 10;

/// The block size by which the cache estimates how many entries it has.
const BLOCK_BYTES_USUAL: u64 = 64 << 10;

impl BlockCache {
    /// Returns a cache of up to `bytes_max` bytes.
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self {
            blocks: cache(bytes_max, BLOCK_BYTES_USUAL),
            bytes_max,
            in_memory: OnceLock::new(),
            outlines: OnceLock::new(),
            resizing: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, key: BlockKey) -> Option<CachedBlock> {
        self.blocks.get(&key).or_else(|| self.in_memory.get()?.get(&key))
    }

    pub(crate) fn insert(&self, key: BlockKey, block: CachedBlock) {
        self.blocks.insert(key, block);
    }

    /// Adds a block if the reader's caching mode says so.
    pub(crate) fn insert_by(&self, caching: Caching, key: BlockKey, block: CachedBlock) {
        match caching {
            Caching::Past | Caching::LookOnly => {}
            Caching::Shared => self.insert(key, block),
            Caching::InMemory => self.in_memory().insert(key, block),
        }
    }

    /// Returns true if a further block evicts another, or is not added at all.
    pub(crate) fn is_full(&self, caching: Caching) -> bool {
        let cache = match caching {
            Caching::Past | Caching::LookOnly => return true,
            Caching::Shared => &self.blocks,
            Caching::InMemory => self.in_memory(),
        };
        // The shards fill unevenly.
        cache.weight() >= cache.capacity() / 8 * 7
    }

    /// Adds the outline of a block, by which gets read parts of the block.
    pub(crate) fn insert_outline(&self, key: BlockKey, outline: BlockOutline) {
        let cached = CachedOutline { outline, reads: AtomicU32::new(0) };
        let outlines = self.outlines();
        outlines.insert(key, Arc::new(cached));
        let step = self.bytes_max / OUTLINES_SHARE;
        let may_grow = || {
            // The shards fill unevenly, and what is left of each has no room for an outline.
            let is_full = outlines.weight() >= outlines.capacity() / 4 * 3;
            is_full && outlines.capacity() < step * OUTLINES_STEPS_MAX
        };
        if may_grow() {
            let _resizing = self.resizing.lock();
            if may_grow() {
                self.shrink_blocks(step);
                outlines.set_capacity(outlines.capacity() + step);
            }
        }
    }

    /// Returns a block's outline.
    pub(crate) fn outline(&self, key: BlockKey) -> Option<Arc<CachedOutline>> {
        self.outlines.get()?.get(&key)
    }

    /// Returns the bytes that cached blocks take.
    pub(crate) fn bytes(&self) -> u64 {
        let outlines = self.outlines.get().map_or(0, Cache::weight);
        self.caches().map(Cache::weight).sum::<u64>() + outlines
    }

    /// Returns the maximum bytes that cached blocks may take.
    pub(crate) fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Returns how many lookups found a block, and how many did not.
    pub(crate) fn lookups(&self) -> (u64, u64) {
        let hits = self.caches().map(Cache::hits).sum();
        // A block that the first cache lacks is looked up in the second.
        let found_second = self.in_memory.get().map_or(0, Cache::hits);
        (hits, self.blocks.misses().saturating_sub(found_second))
    }

    /// Evicts all blocks from these files.
    pub(crate) fn evict(&self, files: &BTreeSet<u64>) -> Evicted {
        let blocks = Cell::new(0);
        let bytes = Cell::new(0);
        for cache in self.caches() {
            cache.retain(|key, block| {
                let keeps = !files.contains(&key.0);
                if !keeps {
                    blocks.set(blocks.get() + 1);
                    bytes.set(bytes.get() + ByBytes.weight(key, block));
                }
                keeps
            });
        }
        if let Some(outlines) = self.outlines.get() {
            outlines.retain(|key, outline| {
                let keeps = !files.contains(&key.0);
                if !keeps {
                    bytes.set(bytes.get() + ByBytes.weight(key, outline));
                }
                keeps
            });
        }
        Evicted { blocks: blocks.get(), bytes: bytes.get() }
    }

    fn caches(&self) -> impl Iterator<Item = &Cache<BlockKey, CachedBlock, ByBytes>> {
        [Some(&self.blocks), self.in_memory.get()].into_iter().flatten()
    }

    fn in_memory(&self) -> &Cache<BlockKey, CachedBlock, ByBytes> {
        self.added(&self.in_memory, IN_MEMORY_SHARE, BLOCK_BYTES_USUAL)
    }

    fn outlines(&self) -> &Cache<BlockKey, Arc<CachedOutline>, ByBytes> {
        self.added(&self.outlines, OUTLINES_SHARE, OUTLINE_BYTES_USUAL)
    }

    /// Returns the cache in `place`. The first call creates it, with one in `share` bytes of the
    /// capacity.
    fn added<'a, T: Clone>(
        &self,
        place: &'a OnceLock<Cache<BlockKey, T, ByBytes>>,
        share: u64,
        entry_bytes: u64,
    ) -> &'a Cache<BlockKey, T, ByBytes>
    where
        ByBytes: Weighter<BlockKey, T>,
    {
        if let Some(cache) = place.get() {
            return cache;
        }
        let _resizing = self.resizing.lock();
        place.get_or_init(|| {
            let bytes = self.bytes_max / share;
            self.shrink_blocks(bytes);
            cache(bytes, entry_bytes)
        })
    }

    /// Takes capacity from `blocks` for another cache. The caller holds `resizing`.
    fn shrink_blocks(&self, bytes: u64) {
        self.blocks.set_capacity(self.blocks.capacity().saturating_sub(bytes));
    }
}

/// The share of IN_MEMORY families.
const IN_MEMORY_SHARE: u64 = 4;
/// The share of outlines at first, and how many of these they have at most.
const OUTLINES_SHARE: u64 = 16;
const OUTLINES_STEPS_MAX: u64 = 4;

/// Returns a cache of up to `bytes_max` bytes, for entries of about `entry_bytes`.
fn cache<T: Clone>(bytes_max: u64, entry_bytes: u64) -> Cache<BlockKey, T, ByBytes>
where
    ByBytes: Weighter<BlockKey, T>,
{
    let entries = usize::try_from(bytes_max / entry_bytes).unwrap_or(usize::MAX);
    Cache::with_weighter(entries.max(16), bytes_max, ByBytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rowhouse_model::{FamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName};

    use super::*;
    use crate::disk::simulated::SimulatedDisk;
    use crate::{Settings, Store, Table};

    const ROWS: u32 = 200;

    impl BlockCache {
        /// Returns how many outlines are cached.
        pub(crate) fn outlines_cached(&self) -> usize {
            self.outlines.get().map_or(0, Cache::len)
        }

        /// Returns the bytes that outlines take.
        pub(crate) fn outline_bytes(&self) -> u64 {
            self.outlines.get().map_or(0, Cache::weight)
        }

        /// Returns how many data blocks from a file are cached.
        fn data_blocks_of(&self, file: u64) -> usize {
            let blocks = self.caches().flat_map(Cache::iter);
            blocks
                .filter(|(key, block)| key.0 == file && matches!(block, CachedBlock::Data(_)))
                .count()
        }
    }

    /// Returns a store with a small cache, and a table whose families have 200 kB each in 200
    /// blocks.
    fn table(families: [FamilyDescriptor; 2]) -> (Store, Arc<Table>) {
        let settings = Settings { block_cache_bytes: 256 << 10, ..Settings::default() };
        let disk = SimulatedDisk::default();
        let store = Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap();
        let name = TableName::parse("t").unwrap();
        let mut descriptor = TableDescriptor::new(name.clone());
        for family in families {
            descriptor = descriptor.family(family.attribute("BLOCKSIZE", "1024"));
        }
        store.create_table(descriptor, &[]).unwrap();
        let table = store.table(&name).unwrap();
        for row in 0..ROWS {
            let put = Put::new(row.to_be_bytes().to_vec()).unwrap();
            let put = put.add("a", "q", [0; 1000]).unwrap().add("b", "q", [0; 1000]).unwrap();
            table.mutate(&put.into()).unwrap();
        }
        table.flush().unwrap();
        (store, table)
    }

    fn family(name: &str) -> FamilyDescriptor {
        FamilyDescriptor::new(name.to_owned()).unwrap()
    }

    fn read(table: &Arc<Table>, scan: Scan) {
        let mut scanner = table.scan(scan).unwrap();
        while scanner.next().unwrap().is_some() {}
    }

    /// Returns how many blocks from a family are cached.
    fn cached_blocks(table: &Table, family: &str) -> usize {
        let region = &table.regions()[0];
        let store = region.families().iter().find(|have| have.name() == family.as_bytes()).unwrap();
        let file = store.super_version().files[0].id();
        region.engine().files.blocks.data_blocks_of(file)
    }

    #[test]
    fn blocks_of_families_in_memory_are_not_pushed_out_by_others() {
        let in_memory = family("a").attribute("IN_MEMORY", "true");
        let (_store, table) = table([in_memory, family("b")]);
        read(&table, Scan::all().family("a"));
        let before = cached_blocks(&table, "a");
        assert!((20..100).contains(&before), "a quarter of the cache: {before} blocks");
        (0..3).for_each(|_| read(&table, Scan::all().family("b")));
        assert_eq!(cached_blocks(&table, "a"), before);
        assert!(cached_blocks(&table, "b") > 100, "{}", cached_blocks(&table, "b"));
    }

    #[test]
    fn a_lookup_is_a_hit_or_a_miss_once_also_where_there_are_two_caches() {
        let (store, table) = table([family("a").attribute("IN_MEMORY", "true"), family("b")]);
        let region = &table.regions()[0];
        let get = Get::new(vec![0, 0, 0, 1]).unwrap().family("a");
        table.get(&get).unwrap();
        let blocks = &region.engine().files.blocks;
        let (hits, misses) = blocks.lookups();
        assert!(misses > 0, "{hits} {misses}");
        table.get(&get).unwrap();
        let (more_hits, more_misses) = blocks.lookups();
        assert!(
            more_hits > hits && more_misses == misses,
            "{hits}→{more_hits} {misses}→{more_misses}"
        );
        let usage = store.usage();
        assert_eq!((usage.block_cache_hits, usage.block_cache_misses), (more_hits, more_misses));
        assert!(usage.log_bytes > 0 && usage.memstore_bytes == 0, "{usage:?}");
        assert_eq!(usage.block_cache_bytes, store.block_cache_bytes().0);
    }

    #[test]
    fn uncached_reads_add_no_blocks() {
        let uncached = family("b").attribute("BLOCKCACHE", "false");
        let (_store, table) = table([family("a"), uncached]);
        read(&table, Scan::all().family("b"));
        assert_eq!(cached_blocks(&table, "b"), 0);
        read(&table, Scan { cache_blocks: false, ..Scan::all() }.family("a"));
        assert_eq!(cached_blocks(&table, "a"), 0);
        read(&table, Scan::all().family("a"));
        assert!(cached_blocks(&table, "a") > 100);
    }
}
