//! Reports the cluster status.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use rowhouse_format::convert::names;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_model::{CompactionState, MasterSwitch, Result, ServerTask, TableName, TableState};
use rowhouse_schema::SERVER_MAINTAINER;
use rowhouse_store::Region;

use crate::context::Context;
use crate::region_server::RegionServer;

/// The HBase version announced to clients, which choose their protocol features by it.
const HBASE_VERSION: &str = "2.6.4";
const KIBIBYTE: u64 = 1 << 10;
const MEBIBYTE: u64 = 1 << 20;

pub(crate) fn is_running(
    _: &Context,
    _: proto::IsMasterRunningRequest,
) -> Result<proto::IsMasterRunningResponse> {
    Ok(proto::IsMasterRunningResponse { is_master_running: true })
}

pub(crate) fn security(
    context: &Context,
    _: proto::SecurityCapabilitiesRequest,
) -> Result<proto::SecurityCapabilitiesResponse> {
    use proto::security_capabilities_response::Capability;
    let is_secure = !context.cluster.access.users.sources.claimed;
    let capability =
        if is_secure { Capability::SecureAuthentication } else { Capability::SimpleAuthentication };
    let capabilities = vec![capability.into()];
    Ok(proto::SecurityCapabilitiesResponse { capabilities })
}

pub(crate) fn maintenance(
    _: &Context,
    _: proto::IsInMaintenanceModeRequest,
) -> Result<proto::IsInMaintenanceModeResponse> {
    Ok(proto::IsInMaintenanceModeResponse { in_maintenance_mode: false })
}

pub(crate) fn cluster_status(
    context: &Context,
    request: proto::GetClusterStatusRequest,
) -> Result<proto::GetClusterStatusResponse> {
    use proto::Option as Part;
    let cluster = &context.cluster;
    // No options means all parts.
    let is_requested =
        |part: Part| request.options.is_empty() || request.options.contains(&i32::from(part));
    let mut status = proto::ClusterStatus::default();
    if is_requested(Part::HbaseVersion) {
        let version = HBASE_VERSION.to_owned();
        status.hbase_version = Some(proto::HBaseVersionFileContent { version });
    }
    if is_requested(Part::ClusterId) {
        status.cluster_id = Some(proto::ClusterId { cluster_id: cluster.id.clone() });
    }
    if is_requested(Part::LiveServers) {
        let servers = cluster.region_servers();
        status.live_servers = servers.iter().map(|server| live_server(context, server)).collect();
    }
    if is_requested(Part::DeadServers) {
        status.dead_servers = cluster.members.dead().iter().map(names::server_to_proto).collect();
    }
    if is_requested(Part::Master) {
        status.master = Some(names::server_to_proto(&cluster.master.name));
    }
    if is_requested(Part::MasterCoprocessors) {
        // A client that keeps indexes where nobody does leaves them to this server.
        let name = SERVER_MAINTAINER.to_owned();
        status.master_coprocessors = vec![proto::Coprocessor { name }];
    }
    if is_requested(Part::BalancerOn) {
        status.balancer_on = Some(cluster.store.master_switch(MasterSwitch::Balancer));
    }
    if is_requested(Part::ServersName) {
        let servers = cluster.region_servers();
        status.servers_name =
            servers.iter().map(|server| names::server_to_proto(&server.name)).collect();
    }
    if is_requested(Part::TableToRegionsCount) {
        status.table_region_states_count = region_counts(context);
    }
    Ok(proto::GetClusterStatusResponse { cluster_status: status })
}

fn live_server(context: &Context, server: &RegionServer) -> proto::LiveServerInfo {
    let store = &context.cluster.store;
    // What a heap holds in HBase: the memstores, including memstores that only readers hold and
    // indexes in memory, and the block cache.
    let parts = [
        store.memstore_bytes(),
        store.reader_memstore_bytes(),
        store.index_memory_bytes(),
        store.block_cache_bytes(),
    ];
    let (used_bytes, max_bytes) = parts
        .iter()
        .fold((0, 0u64), |(used, max), part| (used + part.0, max.saturating_add(part.1)));
    let is_first = context.cluster.meta_server().number == server.number;
    let tasks = if is_first { store.tasks() } else { Vec::new() };
    proto::LiveServerInfo {
        server: names::server_to_proto(&server.name),
        server_load: proto::ServerLoad {
            number_of_requests: Some(server.requests.per_second(Instant::now())),
            total_number_of_requests: Some(server.requests.total()),
            // HBase reports the heap here, which holds the memstores and the block cache.
            used_heap_mb: Some(rounded(used_bytes, MEBIBYTE)),
            max_heap_mb: Some(rounded(max_bytes, MEBIBYTE)),
            region_loads: region_loads(context, server, |_| true),
            report_start_time: Some(server.name.start_code),
            report_end_time: Some(now_millis()),
            info_server_port: server.web_port.map(u32::from),
            // They are the store's: one server reports them.
            tasks: tasks.into_iter().map(server_task).collect(),
            repl_load_sink: Some(server.replication_sink.load(server.name.start_code)),
            ..Default::default()
        },
    }
}

fn server_task(task: ServerTask) -> proto::ServerTask {
    proto::ServerTask {
        description: task.description,
        status: task.status,
        state: proto::server_task::State::Running.into(),
        start_time: Some(task.started_millis.unsigned_abs()),
        completion_time: None,
    }
}

fn now_millis() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Converts bytes to a larger unit. As in HBase, only 0 bytes become 0: balancers treat 0 as a
/// region without data.
fn rounded(bytes: u64, unit: u64) -> u32 {
    let least = u64::from(bytes > 0);
    u32::try_from((bytes / unit).max(least)).unwrap_or(u32::MAX)
}

/// Returns the loads of `server`'s regions whose table satisfies `is_selected`.
pub(crate) fn region_loads(
    context: &Context,
    server: &RegionServer,
    is_selected: impl Fn(&TableName) -> bool,
) -> Vec<proto::RegionLoad> {
    let regions = context.cluster.regions_of(server).into_iter();
    regions
        .filter(|region| is_selected(&region.table))
        .map(|region| {
            let name = region.name().full;
            let stored = context.cluster.store.find_region(&name);
            proto::RegionLoad {
                region_specifier: RegionRef::Full(name).to_proto(),
                ..stored.map(|region| region_load(&region)).unwrap_or_default()
            }
        })
        .collect()
}

fn region_load(region: &Region) -> proto::RegionLoad {
    let size = region.size();
    let requests = region.requests();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mebibytes = |bytes| Some(rounded(bytes, MEBIBYTE));
    let kibibytes = |bytes| Some(rounded(bytes, KIBIBYTE));
    proto::RegionLoad {
        stores: Some(count(size.stores)),
        storefiles: Some(count(size.files)),
        store_uncompressed_size_mb: mebibytes(size.uncompressed_bytes),
        storefile_size_mb: mebibytes(size.file_bytes),
        mem_store_size_mb: mebibytes(size.memstore_bytes),
        storefile_index_size_kb: Some(u64::from(rounded(size.index_bytes, KIBIBYTE))),
        total_static_index_size_kb: kibibytes(size.index_bytes),
        total_static_bloom_size_kb: kibibytes(size.bloom_bytes),
        read_requests_count: Some(requests.reads),
        filtered_read_requests_count: Some(requests.filtered_reads),
        write_requests_count: Some(requests.writes),
        last_major_compaction_ts: region.last_major_compaction().map(i64::unsigned_abs),
        compaction_state: Some(compaction_state(region.compaction_state()).into()),
        region_size_mb: mebibytes(size.file_bytes),
        // All blocks are on this machine.
        data_locality: Some(1.0),
        blocks_local_weight: Some(size.file_bytes),
        blocks_total_weight: Some(size.file_bytes),
        ..Default::default()
    }
}

fn compaction_state(state: CompactionState) -> proto::region_load::CompactionState {
    use proto::region_load::CompactionState as State;
    match state {
        CompactionState::None => State::None,
        CompactionState::Minor => State::Minor,
        CompactionState::Major => State::Major,
        CompactionState::MajorAndMinor => State::MajorAndMinor,
    }
}

fn region_counts(context: &Context) -> Vec<proto::TableRegionStatesCount> {
    let tables = context.cluster.store.tables();
    let stored = tables.iter().map(|table| {
        let total = u32::try_from(table.regions().len()).unwrap_or(u32::MAX);
        let in_service = table.regions().iter().filter(|region| region.assignment().in_service);
        let open = match table.state() {
            TableState::Enabled => u32::try_from(in_service.count()).unwrap_or(u32::MAX),
            TableState::Disabled => 0,
        };
        region_count(table.name(), open, total)
    });
    let system = [TableName::meta(), TableName::namespace_table()];
    stored.chain(system.iter().map(|name| region_count(name, 1, 1))).collect()
}

fn region_count(table: &TableName, open: u32, total: u32) -> proto::TableRegionStatesCount {
    proto::TableRegionStatesCount {
        table_name: names::table_to_proto(table),
        region_states_count: proto::RegionStatesCount {
            open_regions: open,
            split_regions: 0,
            closed_regions: total - open,
            regions_in_transition: 0,
            total_regions: total,
        },
    }
}
