//! How the cluster is.

use rowhouse_format::convert::names;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_model::{Result, TableName, TableState};
use rowhouse_store::Region;

use crate::cluster::RegionServer;
use crate::server::Context;

/// The version of HBase whose protocol is spoken. Clients look at it to choose how to speak.
const HBASE_VERSION: &str = "2.6.4";
const MEBIBYTE: u64 = 1 << 20;

pub(crate) fn is_running(
    _: &Context,
    _: proto::IsMasterRunningRequest,
) -> Result<proto::IsMasterRunningResponse> {
    Ok(proto::IsMasterRunningResponse { is_master_running: true })
}

pub(crate) fn security(
    _: &Context,
    _: proto::SecurityCapabilitiesRequest,
) -> Result<proto::SecurityCapabilitiesResponse> {
    use proto::security_capabilities_response::Capability;
    let capabilities = vec![Capability::SimpleAuthentication.into()];
    Ok(proto::SecurityCapabilitiesResponse { capabilities })
}

pub(crate) fn normalizer(
    _: &Context,
    _: proto::IsNormalizerEnabledRequest,
) -> Result<proto::IsNormalizerEnabledResponse> {
    Ok(proto::IsNormalizerEnabledResponse { enabled: false })
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
    // No options at all means everything.
    let wants =
        |part: Part| request.options.is_empty() || request.options.contains(&i32::from(part));
    let mut status = proto::ClusterStatus::default();
    if wants(Part::HbaseVersion) {
        let version = HBASE_VERSION.to_owned();
        status.hbase_version = Some(proto::HBaseVersionFileContent { version });
    }
    if wants(Part::ClusterId) {
        status.cluster_id = Some(proto::ClusterId { cluster_id: cluster.id.clone() });
    }
    if wants(Part::LiveServers) {
        let servers = cluster.region_servers().iter();
        status.live_servers = servers.map(|server| live_server(context, server)).collect();
    }
    if wants(Part::Master) {
        status.master = Some(names::server_to_proto(&cluster.master));
    }
    if wants(Part::BalancerOn) {
        status.balancer_on = Some(cluster.is_balancer_on());
    }
    if wants(Part::ServersName) {
        let servers = cluster.region_servers().iter();
        status.servers_name = servers.map(|server| names::server_to_proto(&server.name)).collect();
    }
    if wants(Part::TableToRegionsCount) {
        status.table_region_states_count = region_counts(context);
    }
    Ok(proto::GetClusterStatusResponse { cluster_status: status })
}

fn live_server(context: &Context, server: &RegionServer) -> proto::LiveServerInfo {
    proto::LiveServerInfo {
        server: names::server_to_proto(&server.name),
        server_load: proto::ServerLoad {
            region_loads: region_loads(context, server, |_| true),
            report_start_time: Some(server.name.start_code),
            report_end_time: Some(server.name.start_code),
            ..Default::default()
        },
    }
}

/// The loads of the regions of `server` that belong to a table that `wanted` names.
pub(crate) fn region_loads(
    context: &Context,
    server: &RegionServer,
    wanted: impl Fn(&TableName) -> bool,
) -> Vec<proto::RegionLoad> {
    let regions = context.cluster.regions_of(server).into_iter();
    regions
        .filter(|region| wanted(&region.table))
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
    let (size, (reads, writes)) = (region.size(), region.requests());
    let mebibytes = |bytes: u64| u32::try_from(bytes / MEBIBYTE).unwrap_or(u32::MAX);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    proto::RegionLoad {
        stores: Some(count(size.stores)),
        storefiles: Some(count(size.files)),
        store_uncompressed_size_mb: Some(mebibytes(size.file_bytes)),
        storefile_size_mb: Some(mebibytes(size.file_bytes)),
        mem_store_size_mb: Some(mebibytes(size.memstore_bytes)),
        read_requests_count: Some(reads),
        write_requests_count: Some(writes),
        data_locality: Some(1.0),
        ..Default::default()
    }
}

fn region_counts(context: &Context) -> Vec<proto::TableRegionStatesCount> {
    let tables = context.cluster.store.tables();
    let stored = tables.iter().map(|table| {
        let total = u32::try_from(table.regions().len()).unwrap_or(u32::MAX);
        let open = if table.state() == TableState::Enabled { total } else { 0 };
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
