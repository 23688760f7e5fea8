//! Blocks of files in memory: shared by all regions, bounded in bytes, and not emptied by one long
//! scan.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// Where a block comes from: file id and offset.
type BlockKey = (u64, u64);

/// The cache.
pub(crate) struct BlockCache {
    blocks: Cache<BlockKey, Arc<CachedBlock>, ByLength>,
}

/// A block that was read and checked.
pub(crate) enum CachedBlock {
    Data(rowhouse_format::hfile::DataBlock),
    Index(rowhouse_format::hfile::IndexBlock),
    Bloom(rowhouse_format::hfile::Block),
}
