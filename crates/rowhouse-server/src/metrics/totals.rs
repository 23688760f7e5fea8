//! Sums over regions.

use std::sync::Arc;

use rowhouse_store::{Region, RegionSize};

/// Sums over the regions in one table or several. Their requests are in
/// [`Store::requests`](rowhouse_store::Store::requests): sums over regions fall.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) regions: usize,
    pub(crate) size: RegionSize,
}

impl Totals {
    /// Asks each region for its size, which takes locks.
    pub(crate) fn of<'a>(regions: impl IntoIterator<Item = &'a Arc<Region>>) -> Self {
        let mut totals = Self::default();
        for region in regions {
            totals.regions += 1;
            totals.size.add(&region.size());
        }
        totals
    }

    /// Returns the mean bytes per region, in files and in memory.
    pub(crate) fn region_bytes_mean(&self) -> u64 {
        (self.size.file_bytes + self.size.memstore_bytes) / (self.regions as u64).max(1)
    }
}
