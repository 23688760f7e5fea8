//! The cluster that clients see: a master, region servers, and each region's location, in one
//! process.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::meta::MetaTable;
use rowhouse_format::rpc::FRAME_LEN_MAX;
use rowhouse_model::{
    Error, ErrorKind, META_ENCODED_NAME, RegionInfo, Result, TableName, TableState,
};
use rowhouse_search::{Matches, PinnedViews, SearchEngine};
use rowhouse_store::{Assignment, Region, Store};
use tokio::task::JoinSet;

use crate::Options;
use crate::access::Access;
use crate::backups::Backups;
use crate::bulk_loads::BulkLoads;
use crate::change_waits::ChangeWaits;
use crate::faults::Faults;
use crate::index_checks::IndexChecks;
use crate::limits::{FRAME_SLACK_BYTES, SEARCH_VIEWS_MAX};
use crate::listener::Listener;
use crate::load_meter::LoadMeter;
use crate::maintenance::Maintenance;
use crate::members::Members;
use crate::memory::CallMemory;
use crate::region_server::RegionServer;
use crate::stop_request::StopRequest;

/// The whole served cluster: what the region servers share, and the region servers.
pub(crate) struct Cluster {
    pub(crate) store: Store,
    pub(crate) id: String,
    /// The port that answers for the master: the master's own, or the only region server's.
    pub(crate) master: Arc<RegionServer>,
    pub(crate) members: Members,
    pub(crate) load: LoadMeter,
    pub(crate) backups: Arc<Backups>,
    pub(crate) index_checks: Arc<IndexChecks>,
    /// Client bulk loads.
    pub(crate) bulk_loads: BulkLoads,
    /// Lets clients stop the server.
    pub(crate) stop_request: StopRequest,
    /// Rules by which calls fail, if clients may make some.
    pub(crate) faults: Option<Faults>,
    /// Maximum bytes in a call.
    pub(crate) frame_len_max: usize,
    /// The memory for calls to all ports.
    pub(crate) call_memory: Arc<CallMemory>,
    pub(crate) options: Options,
    /// How clients may connect.
    pub(crate) access: Access,
    /// Begins to serve a region server's port.
    pub(crate) serve_port: ServePort,
    /// The tasks that serve ports.
    pub(crate) tasks: Mutex<JoinSet<()>>,
    namespace_region: RegionInfo,
    /// The system tables, built for this cluster version.
    system: Mutex<Option<(Version, SystemTables)>>,
    pub(crate) maintenance: Maintenance,
    pub(crate) search: Arc<SearchEngine>,
    /// Searches by which clients continue rows by score.
    pub(crate) searches: PinnedViews<Matches>,
    pub(crate) changes_waits: ChangeWaits,
}

/// Begins to serve a region server's or the master's port.
pub(crate) type ServePort = fn(&Arc<Cluster>, Listener, &Arc<RegionServer>);

/// A number that differs after each change to tables and regions, and one for region servers.
pub(crate) type Version = (u64, u64);

#[derive(Clone)]
struct SystemTables {
    meta: Arc<MetaTable>,
    namespace: Arc<MetaTable>,
}

/// A region named by a request.
pub(crate) enum ServedRegion {
    /// A region in the store.
    Stored(Arc<Region>),
    /// A region in `hbase:meta` or `hbase:namespace`, generated from the manifest.
    System(TableName, Arc<MetaTable>),
}

impl Cluster {
    /// Creates a cluster with at least one region server. Regions on servers that are not there go
    /// to the others in turn.
    ///
    /// # Errors
    /// As [`BulkLoads::begin`] and [`Store::set_region_servers`].
    pub(crate) fn new(
        (store, search): (Store, Arc<SearchEngine>),
        access: Access,
        master: Arc<RegionServer>,
        region_servers: Vec<Arc<RegionServer>>,
        serve_port: ServePort,
        options: &Options,
    ) -> Result<Self> {
        let members = Members::new(region_servers);
        let live = members.live_numbers();
        let moved = store.set_region_servers(&live, |server| live.contains(&server))?;
        if moved > 0 {
            tracing::info!(moved, "regions of servers that are not there were moved");
        }
        Ok(Self {
            id: store.cluster_id(),
            backups: Arc::new(Backups::new(options.backups.clone())),
            index_checks: Arc::default(),
            bulk_loads: BulkLoads::begin(options, master.name.start_code)?,
            stop_request: StopRequest::new(options.allow_shutdown),
            faults: options.allow_faults.then(Faults::default),
            // Fits the largest mutation and the surrounding message.
            frame_len_max: FRAME_LEN_MAX
                .max(options.settings.mutation_bytes_max + FRAME_SLACK_BYTES),
            master,
            members,
            load: LoadMeter::default(),
            call_memory: Arc::new(CallMemory::new(
                options.call_memory_bytes,
                options.connection_memory_bytes,
            )),
            options: options.clone(),
            access,
            serve_port,
            tasks: Mutex::default(),
            namespace_region: store.namespace_region(),
            store,
            system: Mutex::default(),
            maintenance: Maintenance::default(),
            search,
            searches: PinnedViews::new(SEARCH_VIEWS_MAX),
            changes_waits: ChangeWaits::default(),
        })
    }

    /// Returns the live region servers, by number.
    pub(crate) fn region_servers(&self) -> Vec<Arc<RegionServer>> {
        self.members.live()
    }

    /// Returns the region servers, and the master if it has a separate port.
    pub(crate) fn ports(&self) -> Vec<Arc<RegionServer>> {
        let mut ports = self.region_servers();
        if !ports.iter().any(|server| Arc::ptr_eq(server, &self.master)) {
            ports.push(Arc::clone(&self.master));
        }
        ports
    }

    /// Returns the region servers, also those that were stopped, and the master if it has a
    /// separate port: counter sums do not fall.
    pub(crate) fn ports_ever(&self) -> Vec<Arc<RegionServer>> {
        let mut ports = self.members.all();
        if !ports.iter().any(|server| server.number == self.master.number) {
            ports.push(Arc::clone(&self.master));
        }
        ports
    }

    /// Returns the region server that serves the system regions.
    pub(crate) fn meta_server(&self) -> Arc<RegionServer> {
        self.members.first()
    }

    /// Returns the version of the tables, regions and servers that clients see.
    pub(crate) fn version(&self) -> Version {
        (self.store.catalog_version(), self.members.version())
    }

    /// Returns the region that a request to `server` names.
    ///
    /// # Errors
    /// `NotServingRegion` if `server` does not serve it.
    pub(crate) fn region(&self, server: &RegionServer, name: &RegionRef) -> Result<ServedRegion> {
        let stored = match name {
            RegionRef::Full(full) => self.store.find_region(full),
            RegionRef::Encoded(_) => name
                .encoded_name()
                .ok()
                .and_then(|name| self.store.find_region_by_encoded_name(name)),
        };
        if let Some(region) = stored {
            return if region.assignment().server == server.number {
                Ok(ServedRegion::Stored(region))
            } else {
                Err(not_online(name, server))
            };
        }
        let encoded = name.encoded_name()?;
        if server.number != self.meta_server().number {
            return Err(not_online(name, server));
        }
        if encoded == META_ENCODED_NAME {
            return Ok(ServedRegion::System(TableName::meta(), self.system()?.meta));
        }
        if encoded == self.namespace_region.name().encoded {
            let name = self.namespace_region.table.clone();
            return Ok(ServedRegion::System(name, self.system()?.namespace));
        }
        Err(not_online(name, server))
    }

    /// Checks that an open scanner may go on with a region on this server: its table may be
    /// disabled by now, or the region moved. A scanner whose region was split or merged meanwhile
    /// reads the old region to the end.
    ///
    /// # Errors
    /// `NotServingRegion`.
    pub(crate) fn check_scanned(&self, server: &RegionServer, region: &Region) -> Result<()> {
        if region.assignment().server != server.number {
            return Err(not_online(&RegionRef::Full(region.name().full.clone()), server));
        }
        region.check_scannable()
    }

    /// Returns the only region of a system table; `None` for another table.
    #[cfg(any(feature = "rest", feature = "thrift"))]
    pub(crate) fn system_region(&self, table: &TableName) -> Option<RegionInfo> {
        if *table == TableName::meta() {
            return Some(RegionInfo::meta());
        }
        (*table == self.namespace_region.table).then(|| self.namespace_region.clone())
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

    /// Returns the regions that a server serves, including system regions.
    pub(crate) fn regions_of(&self, server: &RegionServer) -> Vec<RegionInfo> {
        let system = [RegionInfo::meta(), self.namespace_region.clone()];
        let system = system.into_iter().filter(|_| server.number == self.meta_server().number);
        let tables = self.store.tables();
        // A disabled table's regions are online nowhere.
        let enabled = tables.iter().filter(|table| table.state() == TableState::Enabled);
        let here = Assignment { server: server.number, in_service: true };
        let stored = enabled.flat_map(|table| table.regions());
        let stored = stored.filter(|region| region.assignment() == here);
        system.chain(stored.map(|region| region.info().clone())).collect()
    }

    /// Returns how many table regions each server serves, by server number.
    pub(crate) fn served_regions(&self) -> HashMap<u32, usize> {
        let tables = self.store.tables();
        let enabled = tables.iter().filter(|table| table.state() == TableState::Enabled);
        let assignments = enabled.flat_map(|table| table.regions()).map(|it| it.assignment());
        let mut counts = HashMap::new();
        for assignment in assignments.filter(|assignment| assignment.in_service) {
            *counts.entry(assignment.server).or_default() += 1;
        }
        counts
    }

    fn system(&self) -> Result<SystemTables> {
        let mut cached = self.system.lock();
        let version = self.version();
        if let Some((of, tables)) = &*cached
            && *of == version
        {
            return Ok(tables.clone());
        }
        let meta_server = self.meta_server().name.clone();
        let name = |number: u32| self.members.live_number(number).map(|it| it.name.clone());
        let meta = self.store.meta(Some(&meta_server), name)?;
        let namespace = self.store.namespace_table()?;
        let tables = SystemTables { meta: Arc::new(meta), namespace: Arc::new(namespace) };
        *cached = Some((version, tables.clone()));
        Ok(tables)
    }
}

fn not_online(name: &RegionRef, server: &RegionServer) -> Error {
    Error::new(ErrorKind::NotServingRegion, format!("{name} is not online on {}", server.name))
}

#[cfg(test)]
mod tests {
    use rowhouse_format::convert::names;
    use rowhouse_format::proto;
    use rowhouse_model::{FamilyDescriptor, Get, ServerName, TableDescriptor};

    use super::*;
    use crate::context::Context;
    use crate::handle::{master, registry};

    /// Returns the contexts for a cluster with so many region servers over a directory.
    fn cluster(dir: &std::path::Path, servers: u16) -> Vec<Context> {
        let options = Options::new(dir);
        let names = (0..servers).map(|port| ServerName { host: "h".into(), port, start_code: 1 });
        let region_servers = (0..)
            .zip(names)
            .map(|(number, name)| Arc::new(RegionServer::new(number, name, (0, None), &options)));
        let store = Store::open(dir).unwrap();
        let region_servers: Vec<_> = region_servers.collect();
        let master = Arc::clone(&region_servers[0]);
        let search = Arc::new(SearchEngine::without_thread(&store));
        let access = Access::new(&Options::new("data")).unwrap();
        let store = (store, search);
        let cluster =
            Cluster::new(store, access, master, region_servers, |_, _, _| {}, &options).unwrap();
        let cluster = Arc::new(cluster);
        let servers = cluster.region_servers().into_iter();
        servers.map(|server| Context::new(Arc::clone(&cluster), server)).collect()
    }

    fn region(context: &Context) -> Arc<Region> {
        let table = context.cluster.store.table(&TableName::parse("t").unwrap()).unwrap();
        Arc::clone(&table.regions()[0])
    }

    /// Returns the ports on which servers serve the region, and the server that `hbase:meta` names.
    fn served_by(contexts: &[Context]) -> (Vec<u16>, String) {
        let full = region(&contexts[0]).name().full.clone();
        let name = RegionRef::Full(full.clone());
        let serves = |context: &&Context| context.cluster.region(&context.server, &name).is_ok();
        let serving = contexts.iter().filter(serves).map(|context| context.server.name.port);
        let meta = contexts[0].cluster.system().unwrap().meta;
        let row = meta.get(&Get::new(full).unwrap());
        let named = row.value("info", "server").unwrap();
        (serving.collect(), String::from_utf8(named.to_vec()).unwrap())
    }

    /// Returns how many regions the cluster's status has for each server.
    fn region_counts(context: &Context) -> Vec<usize> {
        let request = proto::GetClusterStatusRequest::default();
        let status = master::status::cluster_status(context, request).unwrap().cluster_status;
        let servers = status.live_servers.iter();
        servers.map(|server| server.server_load.region_loads.len()).collect()
    }

    #[test]
    fn a_region_is_where_it_was_moved_to_and_on_the_first_server_when_that_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let contexts = cluster(dir.path(), 2);
        let family = FamilyDescriptor::new("f").unwrap();
        let table = TableDescriptor::new(TableName::parse("t").unwrap()).family(family);
        contexts[0].cluster.store.create_table(table, &[]).unwrap();
        assert_eq!(served_by(&contexts), (vec![0], "h:0".to_owned()));
        assert_eq!(region_counts(&contexts[0]), [3, 0]);
        let moved = |server: Option<&ServerName>| proto::MoveRegionRequest {
            region: RegionRef::Full(region(&contexts[0]).name().full.clone()).to_proto(),
            dest_server_name: server.map(names::server_to_proto),
        };
        let second = contexts[1].server.name.clone();
        let unknown = ServerName { port: 7, ..second.clone() };
        master::region::move_to(&contexts[0], moved(Some(&unknown))).unwrap();
        assert_eq!(served_by(&contexts), (vec![0], "h:0".to_owned()));
        for to in [Some(&second), Some(&contexts[0].server.name), None] {
            master::region::move_to(&contexts[0], moved(to)).unwrap();
        }
        assert_eq!(served_by(&contexts), (vec![1], "h:1".to_owned()));
        assert_eq!(region_counts(&contexts[0]), [2, 1]);
        // System regions stay on the first server.
        let meta = RegionRef::Full(RegionInfo::meta().name().full);
        assert!(contexts[0].cluster.region(&contexts[0].server, &meta).is_ok());
        assert!(contexts[1].cluster.region(&contexts[1].server, &meta).is_err());
        let nodes = registry::bootstrap_nodes(&contexts[1], Default::default()).unwrap();
        assert_eq!(nodes.server_name.len(), 2);
        drop(contexts);
        let contexts = cluster(dir.path(), 2);
        assert_eq!(served_by(&contexts), (vec![1], "h:1".to_owned()));
        drop(contexts);
        let contexts = cluster(dir.path(), 1);
        assert_eq!(served_by(&contexts), (vec![0], "h:0".to_owned()));
        drop(contexts);
        let contexts = cluster(dir.path(), 2);
        assert_eq!(served_by(&contexts), (vec![0], "h:0".to_owned()));
    }
}
