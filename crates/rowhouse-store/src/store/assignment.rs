//! Assigning regions to region servers, and taking them out of service.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::RwLock;
use rowhouse_model::{Bytes, Error, Result};

use super::Store;
use super::alter::release_flushed_segments;
use super::closed_regions::ClosedRegions;
use crate::flush;
use crate::indexed::refuse_in_memory;
use crate::manifest::{Assignment, EditKind, RegionAssigned};
use crate::region::Region;

impl Store {
    /// Takes a region out of service until it is assigned again or the table is enabled, also if
    /// the store is reopened meanwhile. Flushes the memstores.
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

    /// Assigns a region to the region server with this number, in service or not. The store does
    /// not know which servers there are: it only keeps the number.
    ///
    /// # Errors
    /// `UnknownRegion`; `Unsupported` for the region of an index in memory; `Io`, `ReadOnly`.
    pub fn move_region(&self, name: &[u8], server: u32) -> Result<()> {
        self.move_regions(&[(Bytes::copy_from_slice(name), server)])
    }

    /// As [`Store::move_region`] for several regions, in one manifest edit.
    ///
    /// # Errors
    /// As [`Store::move_region`]. No region has moved then.
    pub fn move_regions(&self, moves: &[(Bytes, u32)]) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let known = moves.iter().map(|(name, server)| {
            let region = self.known_region(name)?;
            let table = self.inner.tables.catalog.table(&region.info().table)?;
            refuse_in_memory(table.descriptor(), "moved")?;
            let assignment = Assignment { server: *server, ..region.assignment() };
            Ok((region, assignment))
        });
        self.record_all(known.collect::<Result<_>>()?)
    }

    /// Sets the servers for new regions, which get them in turn, and moves the regions on the
    /// servers that `keeps` rejects to these servers in turn, in one manifest edit. Returns how
    /// many regions have moved. A store that is opened has only server 0.
    ///
    /// # Errors
    /// `InvalidRequest` without a server; `Io`, `ReadOnly`. No region has moved then.
    pub fn set_region_servers(
        &self,
        servers: &[u32],
        keeps: impl Fn(u32) -> bool,
    ) -> Result<usize> {
        if servers.is_empty() {
            return Err(Error::invalid("regions need at least one region server"));
        }
        let tables = &self.inner.tables;
        let _changing = tables.changing.lock();
        self.inner.engine.check_open()?;
        let before = tables.region_servers.replace(servers.into());
        let mut in_turn = tables.region_servers.in_turn();
        let stored = self.tables();
        let regions = stored.iter().flat_map(|table| table.regions());
        let homeless = regions.filter(|region| !keeps(region.assignment().server));
        let moves = homeless.map(|region| {
            let server = in_turn.next().unwrap_or(servers[0]);
            (Arc::clone(region), Assignment { server, ..region.assignment() })
        });
        let moves: Vec<_> = moves.collect();
        let count = moves.len();
        if let Err(error) = self.record_all(moves) {
            tables.region_servers.replace(before);
            return Err(error);
        }
        Ok(count)
    }

    fn record(&self, region: &Arc<Region>, assignment: Assignment) -> Result<()> {
        self.record_all(vec![(Arc::clone(region), assignment)])
    }

    fn record_all(&self, mut assignments: Vec<(Arc<Region>, Assignment)>) -> Result<()> {
        assignments.retain(|(region, assignment)| *assignment != region.assignment());
        if assignments.is_empty() {
            return Ok(());
        }
        let regions: Vec<_> = assignments.iter().map(|(region, _)| region.id()).collect();
        flush::log_counters_of(&self.inner.engine, &regions)?;
        let edit = |(region, assignment): &(Arc<Region>, Assignment)| {
            EditKind::RegionAssigned(RegionAssigned::new(region.id(), *assignment))
        };
        let edits = assignments.iter().map(edit).collect();
        self.inner.engine.append_edit(EditKind::together(edits))?;
        assignments.iter().for_each(|(region, assignment)| region.assign(*assignment));
        self.changed();
        Ok(())
    }
}

/// The region servers that new regions are assigned to, in turn.
pub(super) struct ServersInTurn {
    servers: RwLock<Arc<[u32]>>,
    next: AtomicUsize,
}

impl Default for ServersInTurn {
    /// Server 0 alone.
    fn default() -> Self {
        Self { servers: RwLock::new([0].into()), next: AtomicUsize::new(0) }
    }
}

impl ServersInTurn {
    /// Replaces the servers; returns the previous ones.
    fn replace(&self, servers: Arc<[u32]>) -> Arc<[u32]> {
        std::mem::replace(&mut *self.servers.write(), servers)
    }

    /// Returns servers without end. The next call continues where this one stopped.
    pub(super) fn in_turn(&self) -> impl Iterator<Item = u32> + '_ {
        let servers = Arc::clone(&self.servers.read());
        std::iter::from_fn(move || {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            servers.get(next % servers.len()).copied()
        })
    }
}
