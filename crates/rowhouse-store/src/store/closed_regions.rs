//! Regions that are closed for a change of their table, as HBase closes and reopens them.

use std::sync::Arc;

use parking_lot::MutexGuard;
use rowhouse_model::Result;

use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush;
use crate::region::Region;

/// Regions whose memstores are in files. Reads and writes of them wait as long as this lives; then those that
/// were served are served again, unless they stay closed.
pub(super) struct ClosedRegions<'a> {
    served: Vec<&'a Region>,
    _moving: Vec<MutexGuard<'a, ()>>,
}

impl<'a> ClosedRegions<'a> {
    /// Closes regions. Memstores of families that are not `kept` are left alone: they are about to be dropped.
    ///
    /// # Errors
    /// `Io` of a flush; then the regions are served as before.
    pub(super) fn close(
        engine: &Arc<Engine>,
        regions: &'a [Arc<Region>],
        kept: impl Fn(&FamilyStore) -> bool,
    ) -> Result<Self> {
        let families = regions.iter().flat_map(|region| region.families());
        let families: Vec<_> = families.filter(|family| kept(family)).collect();
        let flush = || families.iter().try_for_each(|family| flush::flush(engine, family));
        // Most of what is in memory, while the regions still take writes.
        flush()?;
        let moving = regions.iter().map(|region| region.moving.lock()).collect();
        let served = regions.iter().filter(|region| region.is_serving());
        let closed = Self { served: served.map(|region| &**region).collect(), _moving: moving };
        closed.serve(false);
        flush()?;
        Ok(closed)
    }

    /// Leaves the regions closed.
    pub(super) fn stay_closed(mut self) {
        self.served.clear();
    }

    fn serve(&self, serving: bool) {
        self.served.iter().for_each(|region| region.serve(serving));
    }
}

impl Drop for ClosedRegions<'_> {
    fn drop(&mut self) {
        self.serve(true);
    }
}
