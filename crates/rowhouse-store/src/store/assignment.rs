//! Assigning regions to region servers, and taking them out of service.

use std::sync::Arc;

use rowhouse_model::Result;

use super::Store;
use super::alter::release_flushed_segments;
use super::closed_regions::ClosedRegions;
use crate::manifest::{Assignment, Edit, EditKind, RegionAssigned};
use crate::region::Region;

impl Store {
    /// Takes a region out of service until it is assigned again or its table is enabled, also if
    /// the store is reopened meanwhile. Flushes its memstores.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `Io` and `ReadOnly`, after which the region serves as
    /// before.
    pub fn unassign_region(&self, name: &[u8]) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let region = self.known_region(name)?;
        self.inner.tables.catalog.table(&region.info().table)?.check_enabled()?;
        let engine = &self.inner.engine;
        let closed = ClosedRegions::close(engine, std::slice::from_ref(&region), |_| true)?;
        self.record(&region, Assignment { in_service: false, ..region.assignment() })?;
        closed.keep_closed();
        release_flushed_segments(engine);
        Ok(())
    }

    /// Makes a region serve reads and writes again.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `Io`, `ReadOnly`.
    pub fn assign_region(&self, name: &[u8]) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let region = self.known_region(name)?;
        self.inner.tables.catalog.table(&region.info().table)?.check_enabled()?;
        self.record(&region, Assignment { in_service: true, ..region.assignment() })?;
        region.serve(true);
        Ok(())
    }

    /// Assigns a region to the region server of this number, in service or not. The store does not
    /// know which servers there are: it only keeps the number.
    ///
    /// # Errors
    /// `UnknownRegion`; `Io`, `ReadOnly`.
    pub fn move_region(&self, name: &[u8], server: u32) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let region = self.known_region(name)?;
        self.record(&region, Assignment { server, ..region.assignment() })
    }

    fn record(&self, region: &Arc<Region>, assignment: Assignment) -> Result<()> {
        if assignment == region.assignment() {
            return Ok(());
        }
        let edit = RegionAssigned::new(region.id(), assignment);
        self.inner.engine.manifest.append(&Edit::new(EditKind::RegionAssigned(edit)))?;
        region.assign(assignment);
        self.changed();
        Ok(())
    }
}
