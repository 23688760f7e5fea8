//! Cluster discovery over RPC.

use rowhouse_format::convert::{names, region};
use rowhouse_format::proto;
use rowhouse_model::{RegionInfo, Result};

use crate::context::Context;

pub(crate) fn cluster_id(
    context: &Context,
    _: proto::GetClusterIdRequest,
) -> Result<proto::GetClusterIdResponse> {
    Ok(proto::GetClusterIdResponse { cluster_id: Some(context.cluster.id.clone()) })
}

pub(crate) fn active_master(
    context: &Context,
    _: proto::GetActiveMasterRequest,
) -> Result<proto::GetActiveMasterResponse> {
    let server_name = Some(names::server_to_proto(&context.cluster.master.name));
    Ok(proto::GetActiveMasterResponse { server_name })
}

pub(crate) fn masters(
    context: &Context,
    _: proto::GetMastersRequest,
) -> Result<proto::GetMastersResponse> {
    let server_name = names::server_to_proto(&context.cluster.master.name);
    let entry = proto::GetMastersResponseEntry { server_name, is_active: true };
    Ok(proto::GetMastersResponse { master_servers: vec![entry] })
}

pub(crate) fn meta_locations(
    context: &Context,
    _: proto::GetMetaRegionLocationsRequest,
) -> Result<proto::GetMetaRegionLocationsResponse> {
    let server = context.cluster.meta_server();
    let location = region::location_to_proto(&RegionInfo::meta(), Some(&server.name), None);
    Ok(proto::GetMetaRegionLocationsResponse { meta_locations: vec![location] })
}

pub(crate) fn bootstrap_nodes(
    context: &Context,
    _: proto::GetBootstrapNodesRequest,
) -> Result<proto::GetBootstrapNodesResponse> {
    let servers = context.cluster.region_servers();
    let server_name = servers.iter().map(|server| names::server_to_proto(&server.name)).collect();
    Ok(proto::GetBootstrapNodesResponse { server_name })
}
