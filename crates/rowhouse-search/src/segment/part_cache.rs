//! The segment parts that were read last.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rowhouse_model::Bytes;

/// How many part bytes are retained.
const BYTES_MAX: u64 = 64 << 20;

/// A part's average size, in bytes, by which the cache is laid out.
const PART_BYTES_USUAL: u64 = 256 << 10;

/// The segment parts that were read last, from all indexes that an engine serves. A search reads
/// many small ranges in a few parts: a lookup here costs a tenth of a get.
pub(crate) struct PartCache {
    parts: Cache<PartKey, Bytes, ByBytes>,
}

/// A part: the table, the segment, the file's position in it, and the part number.
pub(super) type PartKey = (u64, u64, usize, usize);

#[derive(Clone)]
struct ByBytes;

impl Weighter<PartKey, Bytes> for ByBytes {
    fn weight(&self, _: &PartKey, part: &Bytes) -> u64 {
        part.len().max(1) as u64
    }
}

impl PartCache {
    pub(crate) fn new() -> Self {
        let count = (BYTES_MAX / PART_BYTES_USUAL) as usize;
        Self { parts: Cache::with_weighter(count, BYTES_MAX, ByBytes) }
    }

    pub(super) fn get(&self, key: &PartKey) -> Option<Bytes> {
        self.parts.get(key)
    }

    pub(super) fn insert(&self, key: PartKey, part: Bytes) {
        self.parts.insert(key, part);
    }
}
