//! Blocks of files in memory: shared by all regions, bounded in bytes, and not emptied by one long
//! scan.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rowhouse_format::hfile::{BloomChunk, DataBlock, Index};

/// Where a block comes from: file id and offset.
pub(crate) type BlockKey = (u64, u64);

/// A block that was read and checked. Cloning it shares it.
#[derive(Clone)]
pub(crate) enum CachedBlock {
    Data(Arc<DataBlock>),
    Index(Arc<Index>),
    Bloom(Arc<BloomChunk>),
}

/// The cache.
pub(crate) struct BlockCache {
    blocks: Cache<BlockKey, CachedBlock, ByBytes>,
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

/// What a block is taken to weigh when the cache plans its room.
const BLOCK_BYTES_USUAL: u64 = 64 << 10;

impl BlockCache {
    /// A cache of up to `bytes_max` bytes.
    pub(crate) fn new(bytes_max: u64) -> Self {
        let blocks = usize::try_from(bytes_max / BLOCK_BYTES_USUAL).unwrap_or(usize::MAX);
        Self { blocks: Cache::with_weighter(blocks.max(16), bytes_max, ByBytes) }
    }

    pub(crate) fn get(&self, key: BlockKey) -> Option<CachedBlock> {
        self.blocks.get(&key)
    }

    pub(crate) fn insert(&self, key: BlockKey, block: CachedBlock) {
        self.blocks.insert(key, block);
    }
}
