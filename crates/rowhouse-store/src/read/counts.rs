//! Counts of a region's reads.

use std::sync::atomic::AtomicU64;

/// Counts of a region's reads, which its scanners add to.
#[derive(Debug, Default)]
pub(crate) struct ReadCounts {
    /// Rows returned.
    pub(crate) rows: AtomicU64,
    /// Rows not returned: a filter removed all their cells, or no cell was visible.
    pub(crate) filtered: AtomicU64,
}
