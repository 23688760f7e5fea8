//! The segment parts that were read last.

use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rowhouse_model::{Bytes, Result};

use super::stop::Stop;

/// How many part bytes are retained for searches.
const BYTES_MAX: u64 = 64 << 20;

/// How many part bytes are retained for a merge.
const MERGE_BYTES_MAX: u64 = 64 << 20;

/// A part's average size, in bytes, by which the cache is laid out.
const PART_BYTES_USUAL: u64 = 256 << 10;

/// The segment parts that were read last, from all indexes that an engine serves. A search reads
/// many small ranges in a few parts: a lookup here costs a tenth of a get.
pub(crate) struct PartCache {
    parts: Cache<PartKey, Bytes, ByBytes>,
    /// Ends the merge for which parts are read; `None` for searches.
    stop: Option<Stop>,
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
    /// Creates one for searches.
    pub(crate) fn new() -> Self {
        Self::with_bytes(BYTES_MAX, None)
    }

    /// Creates one for a merge, which reads every part once: it takes no place from the parts and
    /// blocks that searches read.
    pub(crate) fn for_merge(stop: Stop) -> Self {
        Self::with_bytes(MERGE_BYTES_MAX, Some(stop))
    }

    fn with_bytes(bytes_max: u64, stop: Option<Stop>) -> Self {
        let count = (bytes_max / PART_BYTES_USUAL) as usize;
        Self { parts: Cache::with_weighter(count, bytes_max, ByBytes), stop }
    }

    pub(super) fn is_for_searches(&self) -> bool {
        self.stop.is_none()
    }

    /// Returns an error if the merge is to end.
    pub(super) fn check(&self) -> Result<()> {
        self.stop.as_ref().map_or(Ok(()), Stop::check)
    }

    pub(super) fn get(&self, key: &PartKey) -> Option<Bytes> {
        self.parts.get(key)
    }

    pub(super) fn insert(&self, key: PartKey, part: Bytes) {
        self.parts.insert(key, part);
    }
}
