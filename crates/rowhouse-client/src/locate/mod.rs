//! Locates the region that holds a row, the server that holds a region, and the active master.
//!
//! `registry` finds the cluster, `meta` reads `hbase:meta`, and `cache` stores the results.

mod cache;
mod meta;
mod other_port;
mod registry;
mod zookeeper;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use rowhouse_format::rpc::CellReader;
use rowhouse_format::{convert, rpc};
use rowhouse_model::{Error, ErrorKind, RegionInfo, TableName, escape};
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, timeout_at};

use crate::connection::{Address, CallRequest, Connections, lock};
use crate::retry::Failure;
use crate::{Settings, Target};

use cache::RegionCache;
pub(crate) use meta::{TableRegions, table_state};
pub(crate) use other_port::explained;
use registry::Registry;

/// Selects a region in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RegionTarget<'a> {
    /// The region that contains this row.
    Row(&'a [u8]),
    /// The region that contains the last row before this one; the last region if it is empty.
    Before(&'a [u8]),
}

/// A region and the server that holds it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) region: RegionInfo,
    /// The region's full name.
    pub(crate) name: Bytes,
    pub(crate) server: Address,
}

impl Located {
    fn new(region: RegionInfo, server: Address) -> Self {
        Self { name: region.name().full, region, server }
    }

    /// Returns the region's name for requests.
    pub(crate) fn as_region_ref(&self) -> convert::region::RegionRef {
        convert::region::RegionRef::Full(self.name.clone())
    }

    pub(crate) fn is_meta(&self) -> bool {
        self.region.table == TableName::meta()
    }
}

/// Locates regions and the master, and caches the results until a call shows that they are wrong.
pub(crate) struct Locator {
    connections: Arc<Connections>,
    registry: Registry,
    regions: Mutex<RegionCache>,
    /// Serializes the lookups for a table: a later caller uses an earlier caller's result.
    lookups: Mutex<HashMap<TableName, Weak<AsyncMutex<()>>>>,
    meta: AsyncMutex<Option<Arc<Located>>>,
    master: AsyncMutex<Option<Address>>,
}

impl Locator {
    pub(crate) fn new(
        target: &Target,
        connections: Arc<Connections>,
        settings: Arc<Settings>,
    ) -> Self {
        Self {
            registry: Registry::new(target, connections.clone(), settings),
            connections,
            regions: Mutex::default(),
            lookups: Mutex::default(),
            meta: AsyncMutex::default(),
            master: AsyncMutex::default(),
        }
    }

    /// Returns the cluster's id.
    pub(crate) async fn cluster_id(&self, deadline: Instant) -> Result<String, Failure> {
        self.registry.cluster_id(deadline).await
    }

    /// Returns the cluster's id as it is announced to everybody, before a user is proved.
    pub(crate) async fn announced_cluster_id(&self, deadline: Instant) -> Result<String, Failure> {
        self.registry.announced_cluster_id(deadline).await
    }

    /// Returns the active master.
    pub(crate) async fn master(&self, deadline: Instant) -> Result<Address, Failure> {
        let mut master = locked(&self.master, deadline).await?;
        if let Some(master) = &*master {
            return Ok(master.clone());
        }
        let address = self.registry.active_master(deadline).await?;
        tracing::debug!(%address, "found the active master");
        *master = Some(address.clone());
        Ok(address)
    }

    /// Forgets the master if the cached address is `address`.
    pub(crate) fn forget_master(&self, address: &Address) {
        // A lookup that holds the lock replaces the address.
        if let Ok(mut master) = self.master.try_lock() {
            master.take_if(|master| master == address);
        }
    }

    /// Returns the region in `table` at `place`.
    pub(crate) async fn locate(
        &self,
        table: &TableName,
        place: RegionTarget<'_>,
        deadline: Instant,
    ) -> Result<Arc<Located>, Failure> {
        if *table == TableName::meta() {
            return self.meta(deadline).await;
        }
        if let Some(located) = self.cached(table, place) {
            return Ok(located);
        }
        let lookup = self.lookup_lock(table);
        let _alone = locked(&lookup, deadline).await?;
        if let Some(located) = self.cached(table, place) {
            return Ok(located);
        }
        let located = self.look_up(table, place, deadline).await?;
        tracing::debug!(region = %escape(&located.name), server = %located.server, "located");
        Ok(located)
    }

    /// Removes the cached locations that a failed call disproves: the region, or all regions on a
    /// server that could not be reached.
    pub(crate) fn forget(&self, located: &Arc<Located>, failure: &Failure) {
        if !failure.is_misplaced() {
            return;
        }
        if located.is_meta() {
            // As in `forget_master`.
            if let Ok(mut meta) = self.meta.try_lock() {
                meta.take_if(|meta| Arc::ptr_eq(meta, located));
            }
            return;
        }
        let mut regions = lock(&self.regions);
        match failure.error.kind() {
            ErrorKind::Connection | ErrorKind::ServerNotRunning => {
                regions.remove_server(&located.server);
            }
            _ => regions.remove(located),
        }
    }

    /// Forgets all regions in a table.
    pub(crate) fn forget_table(&self, table: &TableName) {
        lock(&self.regions).remove_table(table);
    }

    fn cached(&self, table: &TableName, place: RegionTarget<'_>) -> Option<Arc<Located>> {
        lock(&self.regions).find(table, place)
    }

    fn lookup_lock(&self, table: &TableName) -> Arc<AsyncMutex<()>> {
        let mut lookups = lock(&self.lookups);
        if let Some(lookup) = lookups.get(table).and_then(Weak::upgrade) {
            return lookup;
        }
        lookups.retain(|_, lookup| lookup.strong_count() > 0);
        let lookup = Arc::new(AsyncMutex::new(()));
        lookups.insert(table.clone(), Arc::downgrade(&lookup));
        lookup
    }

    /// Returns the single `hbase:meta` region.
    async fn meta(&self, deadline: Instant) -> Result<Arc<Located>, Failure> {
        let mut meta = locked(&self.meta, deadline).await?;
        if let Some(meta) = &*meta {
            return Ok(meta.clone());
        }
        let server = self.registry.meta_server(deadline).await?;
        tracing::debug!(address = %server, "found hbase:meta");
        let located = Arc::new(Located::new(RegionInfo::meta(), server));
        *meta = Some(located.clone());
        Ok(located)
    }

    /// Reads `hbase:meta`, and also caches the other regions in the answer.
    async fn look_up(
        &self,
        table: &TableName,
        place: RegionTarget<'_>,
        deadline: Instant,
    ) -> Result<Arc<Located>, Failure> {
        let meta = self.meta(deadline).await?;
        let scan = meta::lookup(meta.as_region_ref(), table, place);
        let answer = self.scan_meta(&meta, scan, deadline).await;
        if let Err(failure) = &answer {
            self.forget(&meta, failure);
        }
        let (answer, mut cells) = answer?;
        let entries = meta::regions(answer, &mut cells)?;
        let target = meta::choose(&entries, table, place)?;
        let mut regions = lock(&self.regions);
        // Insert the nearest last, so that it remains if two regions overlap.
        for located in entries.into_iter().rev().filter_map(|region| region.located(table)) {
            regions.insert(Arc::new(located));
        }
        let target = Arc::new(target);
        regions.insert(target.clone());
        Ok(target)
    }

    async fn scan_meta(
        &self,
        meta: &Located,
        scan: convert::scan::ScanCall,
        deadline: Instant,
    ) -> Result<(<rowhouse_format::proto::ScanRequest as rpc::Call>::Answer, CellReader), Failure>
    {
        let request =
            CallRequest { message: scan.to_proto(), cells: &[], is_meta_call: true, deadline };
        self.connections.call(&meta.server, request).await
    }
}

/// Locks a mutex that may be held during calls to servers.
async fn locked<T>(
    mutex: &AsyncMutex<T>,
    deadline: Instant,
) -> Result<tokio::sync::MutexGuard<'_, T>, Failure> {
    timeout_at(deadline, mutex.lock()).await.map_err(|_| {
        let message = "no time left to look up a location: another lookup is running";
        Failure::before(Error::new(ErrorKind::Timeout, message))
    })
}
