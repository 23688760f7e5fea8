//! The cluster as clients see it: a master, region servers, and which region is where. It is one
//! process, but nothing here takes it that there is only one region server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::meta::MetaTable;
use rowhouse_model::{
    Error, ErrorKind, META_ENCODED_NAME, RegionInfo, Result, ServerName, TableName, TableState,
};
use rowhouse_store::{Region, Store};

use crate::backups::Backups;
use crate::maintenance::Maintenance;
use crate::metrics::Calls;
use crate::requests::Requests;
use crate::scanners::Scanners;
use crate::slow_log::SlowLog;

/// Everything that is served.
pub(crate) struct Cluster {
    pub(crate) store: Store,
    pub(crate) id: String,
    pub(crate) master: ServerName,
    pub(crate) backups: Arc<Backups>,
    region_servers: Vec<Arc<RegionServer>>,
    namespace_region: RegionInfo,
    /// The system tables as they were at a version of the store's catalog.
    system: Mutex<Option<(u64, SystemTables)>>,
    pub(crate) maintenance: Maintenance,
}

#[derive(Clone)]
struct SystemTables {
    meta: Arc<MetaTable>,
    namespace: Arc<MetaTable>,
}

/// One region server: its name, and what it keeps for its clients.
pub(crate) struct RegionServer {
    pub(crate) name: ServerName,
    pub(crate) scanners: Scanners,
    pub(crate) slow_log: SlowLog,
    pub(crate) requests: Requests,
    pub(crate) calls: Calls,
}

/// A region that a request named.
pub(crate) enum Served {
    /// One of the store's.
    Stored(Arc<Region>),
    /// One of `hbase:meta` or `hbase:namespace`, made from the manifest.
    System(TableName, Arc<MetaTable>),
}

impl Cluster {
    /// `slow` is how long a call and how many bytes an answer may take before it is logged as slow
    /// or large.
    pub(crate) fn new(
        store: Store,
        names: Vec<ServerName>,
        backups: Backups,
        slow: (Duration, u64),
    ) -> Self {
        let server = |name: ServerName| RegionServer {
            scanners: Scanners::new(name.start_code),
            slow_log: SlowLog::new(slow.0, slow.1),
            requests: Requests::new(Instant::now()),
            calls: Calls::default(),
            name,
        };
        let region_servers: Vec<_> = names.into_iter().map(|name| Arc::new(server(name))).collect();
        Self {
            id: store.cluster_id(),
            backups: Arc::new(backups),
            master: region_servers[0].name.clone(),
            namespace_region: store.namespace_region(),
            region_servers,
            store,
            system: Mutex::default(),
            maintenance: Maintenance::default(),
        }
    }

    pub(crate) fn region_servers(&self) -> &[Arc<RegionServer>] {
        &self.region_servers
    }

    /// The region server that has a region: the system's are on the first, the others are spread
    /// by their names.
    pub(crate) fn place(&self, region: &RegionInfo) -> &Arc<RegionServer> {
        if region.table.is_system() || self.region_servers.len() == 1 {
            return &self.region_servers[0];
        }
        let name = region.name();
        let sum =
            name.encoded.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31) + byte as usize);
        &self.region_servers[sum % self.region_servers.len()]
    }

    /// Where `hbase:meta` is.
    pub(crate) fn meta_server(&self) -> &Arc<RegionServer> {
        self.place(&RegionInfo::meta())
    }

    /// The region that a request to `server` names.
    ///
    /// # Errors
    /// `NotServingRegion` when it is not there.
    pub(crate) fn region(&self, server: &RegionServer, name: &RegionRef) -> Result<Served> {
        let found = match name {
            RegionRef::Full(full) => self.store.find_region(full),
            RegionRef::Encoded(_) => name
                .encoded_name()
                .ok()
                .and_then(|name| self.store.find_region_by_encoded_name(name)),
        };
        if let Some(region) = found {
            let here =
                self.region_servers.len() == 1 || self.place(region.info()).name == server.name;
            return if here { Ok(Served::Stored(region)) } else { Err(not_online(name, server)) };
        }
        let encoded = name.encoded_name()?;
        if encoded == META_ENCODED_NAME {
            return Ok(Served::System(TableName::meta(), self.system()?.meta));
        }
        if encoded == self.namespace_region.name().encoded {
            let name = self.namespace_region.table.clone();
            return Ok(Served::System(name, self.system()?.namespace));
        }
        Err(not_online(name, server))
    }

    /// What is known of the region that a request names.
    pub(crate) fn region_info(
        &self,
        server: &RegionServer,
        name: &RegionRef,
    ) -> Result<RegionInfo> {
        match self.region(server, name)? {
            Served::Stored(region) => Ok(region.info().clone()),
            Served::System(table, _) if table == TableName::meta() => Ok(RegionInfo::meta()),
            Served::System(..) => Ok(self.namespace_region.clone()),
        }
    }

    /// The regions of a server, the system's among them.
    pub(crate) fn regions_of(&self, server: &RegionServer) -> Vec<RegionInfo> {
        let system = [RegionInfo::meta(), self.namespace_region.clone()];
        let tables = self.store.tables();
        // Those of a disabled table are online nowhere.
        let enabled = tables.iter().filter(|table| table.state() == TableState::Enabled);
        let stored = enabled.flat_map(|table| table.regions());
        let all = system.into_iter().chain(stored.map(|region| region.info().clone()));
        all.filter(|region| self.place(region).name == server.name).collect()
    }

    fn system(&self) -> Result<SystemTables> {
        let mut cached = self.system.lock();
        let version = self.store.catalog_version();
        if let Some((of, tables)) = &*cached
            && *of == version
        {
            return Ok(tables.clone());
        }
        let meta = self.store.meta(|region| Some(self.place(region).name.clone()))?;
        let namespace = self.store.namespace_table()?;
        let tables = SystemTables { meta: Arc::new(meta), namespace: Arc::new(namespace) };
        *cached = Some((version, tables.clone()));
        Ok(tables)
    }
}

fn not_online(name: &RegionRef, server: &RegionServer) -> Error {
    Error::new(ErrorKind::NotServingRegion, format!("{name} is not online on {}", server.name))
}
