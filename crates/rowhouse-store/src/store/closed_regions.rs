//! Regions that are closed while their table changes, as HBase closes and reopens them.

use std::sync::Arc;

use parking_lot::MutexGuard;
use rowhouse_model::Result;

use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush;
use crate::region::{Region, serve_all};

/// Regions whose memstores were flushed. Reads and writes on them wait while this value lives. On
/// drop the regions that were serving serve again, unless they stay closed.
pub(super) struct ClosedRegions<'a> {
    engine: &'a Engine,
    served: Vec<&'a Region>,
    _moving: Vec<MutexGuard<'a, ()>>,
}

impl<'a> ClosedRegions<'a> {
    /// Closes regions. Does not flush memstores in families for which `is_retained` is false: they
    /// are about to be dropped.
    ///
    /// # Errors
    /// `Io` from a flush; the regions then serve as before.
    pub(super) fn close(
        engine: &'a Arc<Engine>,
        regions: &'a [Arc<Region>],
        is_retained: impl Fn(&FamilyStore) -> bool,
    ) -> Result<Self> {
        let families = regions.iter().flat_map(|region| region.families());
        let families: Vec<_> = families.filter(|family| is_retained(family)).collect();
        let flush = || families.iter().try_for_each(|family| flush::flush(engine, family));
        // Flushes most of the data while the regions still accept writes.
        flush()?;
        let topology_lock = regions.iter().map(|region| region.topology_lock.lock()).collect();
        let served = regions.iter().filter(|region| region.is_serving());
        let closed = Self {
            engine,
            served: served.map(|region| &**region).collect(),
            _moving: topology_lock,
        };
        closed.serve(false);
        flush()?;
        Ok(closed)
    }

    /// Keeps the regions closed after the drop.
    pub(super) fn keep_closed(mut self) {
        self.served.clear();
    }

    fn serve(&self, serving: bool) {
        serve_all(self.engine, self.served.iter().copied(), serving);
    }
}

impl Drop for ClosedRegions<'_> {
    fn drop(&mut self) {
        self.serve(true);
    }
}
