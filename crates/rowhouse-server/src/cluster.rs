//! The cluster that clients see: a master, region servers, and the location of each region. It is
//! one process, but this module does not assume a single region server.

use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::meta::MetaTable;
use rowhouse_format::rpc::FRAME_LEN_MAX;
use rowhouse_model::{
    Error, ErrorKind, META_ENCODED_NAME, RegionInfo, Result, ServerName, TableName, TableState,
};
use rowhouse_store::{Region, Store};

use crate::Options;
use crate::backups::Backups;
use crate::bulk_loads::BulkLoads;
use crate::limits::FRAME_SLACK_BYTES;
use crate::maintenance::Maintenance;
use crate::region_server::RegionServer;
use crate::server::StopRequest;

/// The whole served cluster: what its region servers share, and the region servers.
pub(crate) struct Cluster {
    pub(crate) store: Store,
    pub(crate) id: String,
    pub(crate) master: ServerName,
    pub(crate) backups: Arc<Backups>,
    /// The bulk loads of clients.
    pub(crate) bulk_loads: BulkLoads,
    /// Lets clients stop the server.
    pub(crate) stop_request: StopRequest,
    /// Maximum bytes of a call.
    pub(crate) frame_len_max: usize,
    region_servers: Vec<Arc<RegionServer>>,
    namespace_region: RegionInfo,
    /// The system tables, built for this version of the store's catalog.
    system: Mutex<Option<(u64, SystemTables)>>,
    pub(crate) maintenance: Maintenance,
}

#[derive(Clone)]
struct SystemTables {
    meta: Arc<MetaTable>,
    namespace: Arc<MetaTable>,
}

/// A region named by a request.
pub(crate) enum ServedRegion {
    /// A region of the store.
    Stored(Arc<Region>),
    /// A region of `hbase:meta` or `hbase:namespace`, generated from the manifest.
    System(TableName, Arc<MetaTable>),
}

impl Cluster {
    /// Creates a cluster of at least one region server.
    ///
    /// # Errors
    /// Those of [`BulkLoads::begin`].
    pub(crate) fn new(
        store: Store,
        region_servers: Vec<Arc<RegionServer>>,
        options: &Options,
    ) -> Result<Self> {
        let master = region_servers[0].name.clone();
        Ok(Self {
            id: store.cluster_id(),
            backups: Arc::new(Backups::new(options.backups.clone())),
            bulk_loads: BulkLoads::begin(&options.data, master.start_code)?,
            stop_request: StopRequest::new(options.allow_shutdown),
            // Fits the largest mutation and its surrounding message.
            frame_len_max: FRAME_LEN_MAX
                .max(options.settings.mutation_bytes_max + FRAME_SLACK_BYTES),
            master,
            namespace_region: store.namespace_region(),
            region_servers,
            store,
            system: Mutex::default(),
            maintenance: Maintenance::default(),
        })
    }

    pub(crate) fn region_servers(&self) -> &[Arc<RegionServer>] {
        &self.region_servers
    }

    /// Returns the region server of a region. System regions are on the first server; the others
    /// are distributed by a hash of their names.
    pub(crate) fn place(&self, region: &RegionInfo) -> &Arc<RegionServer> {
        if region.table.is_system() || self.region_servers.len() == 1 {
            return &self.region_servers[0];
        }
        let name = region.name();
        let sum =
            name.encoded.bytes().fold(0usize, |sum, byte| sum.wrapping_mul(31) + byte as usize);
        &self.region_servers[sum % self.region_servers.len()]
    }

    /// Returns the region server of `hbase:meta`.
    pub(crate) fn meta_server(&self) -> &Arc<RegionServer> {
        self.place(&RegionInfo::meta())
    }

    /// Returns the region that a request to `server` names.
    ///
    /// # Errors
    /// `NotServingRegion` if `server` does not serve it.
    pub(crate) fn region(&self, server: &RegionServer, name: &RegionRef) -> Result<ServedRegion> {
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
            return if here {
                Ok(ServedRegion::Stored(region))
            } else {
                Err(not_online(name, server))
            };
        }
        let encoded = name.encoded_name()?;
        if encoded == META_ENCODED_NAME {
            return Ok(ServedRegion::System(TableName::meta(), self.system()?.meta));
        }
        if encoded == self.namespace_region.name().encoded {
            let name = self.namespace_region.table.clone();
            return Ok(ServedRegion::System(name, self.system()?.namespace));
        }
        Err(not_online(name, server))
    }

    /// Returns the description of the region that a request names.
    pub(crate) fn region_info(
        &self,
        server: &RegionServer,
        name: &RegionRef,
    ) -> Result<RegionInfo> {
        match self.region(server, name)? {
            ServedRegion::Stored(region) => Ok(region.info().clone()),
            ServedRegion::System(table, _) if table == TableName::meta() => Ok(RegionInfo::meta()),
            ServedRegion::System(..) => Ok(self.namespace_region.clone()),
        }
    }

    /// Returns the regions of a server, including system regions.
    pub(crate) fn regions_of(&self, server: &RegionServer) -> Vec<RegionInfo> {
        let system = [RegionInfo::meta(), self.namespace_region.clone()];
        let tables = self.store.tables();
        // Regions of a disabled table are online nowhere.
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
