//! Decommissions region servers and stops the server.

use rowhouse_format::convert::names;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_model::Result;

use crate::context::Context;

pub(crate) fn shutdown(
    context: &Context,
    _: proto::ShutdownRequest,
) -> Result<proto::ShutdownResponse> {
    context.cluster.stop_request.request("MasterService.Shutdown", "")?;
    Ok(proto::ShutdownResponse {})
}

/// Stops the process: the master is part of it.
pub(crate) fn stop_master(
    context: &Context,
    _: proto::StopMasterRequest,
) -> Result<proto::StopMasterResponse> {
    context.cluster.stop_request.request("MasterService.StopMaster", "")?;
    Ok(proto::StopMasterResponse {})
}

pub(crate) fn decommissioned(
    context: &Context,
    _: proto::ListDecommissionedRegionServersRequest,
) -> Result<proto::ListDecommissionedRegionServersResponse> {
    let servers = context.cluster.members.decommissioned();
    let server_name = servers.iter().map(names::server_to_proto).collect();
    Ok(proto::ListDecommissionedRegionServersResponse { server_name })
}

/// Marks servers as decommissioned and moves their regions away, if the request says so.
pub(crate) fn decommission(
    context: &Context,
    request: proto::DecommissionRegionServersRequest,
) -> Result<proto::DecommissionRegionServersResponse> {
    let servers = request.server_name.into_iter().map(names::server_from_proto);
    let servers: Vec<_> = servers.collect::<Result<_>>()?;
    context.cluster.decommission(&servers, request.offload)?;
    Ok(proto::DecommissionRegionServersResponse {})
}

/// Removes a server's mark, and moves regions back to it.
pub(crate) fn recommission(
    context: &Context,
    request: proto::RecommissionRegionServerRequest,
) -> Result<proto::RecommissionRegionServerResponse> {
    let server = names::server_from_proto(request.server_name)?;
    let regions = request.region.into_iter().map(|region| {
        let name = RegionRef::from_proto(region);
        name.encoded_name().map(str::to_owned)
    });
    context.cluster.recommission(&server, &regions.collect::<Result<Vec<_>>>()?)?;
    Ok(proto::RecommissionRegionServerResponse {})
}

/// Forgets dead servers. Returns the servers that were not known to be dead.
pub(crate) fn clear_dead(
    context: &Context,
    request: proto::ClearDeadServersRequest,
) -> Result<proto::ClearDeadServersResponse> {
    let servers = request.server_name.into_iter().map(names::server_from_proto);
    let servers = servers.collect::<Result<Vec<_>>>()?;
    let unknown = context.cluster.members.clear_dead(servers);
    let server_name = unknown.iter().map(names::server_to_proto).collect();
    Ok(proto::ClearDeadServersResponse { server_name })
}
