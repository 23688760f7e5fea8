//! Decommissions region servers and stops the server.

use rowhouse_format::convert::names;
use rowhouse_format::proto;
use rowhouse_model::Result;

use crate::server::Context;

pub(crate) fn shutdown(
    context: &Context,
    _: proto::ShutdownRequest,
) -> Result<proto::ShutdownResponse> {
    context.cluster.stop_request.ask("MasterService.Shutdown", "")?;
    Ok(proto::ShutdownResponse {})
}

/// Stops the process, which is both master and region server.
pub(crate) fn stop_master(
    context: &Context,
    _: proto::StopMasterRequest,
) -> Result<proto::StopMasterResponse> {
    context.cluster.stop_request.ask("MasterService.StopMaster", "")?;
    Ok(proto::StopMasterResponse {})
}

pub(crate) fn decommissioned(
    context: &Context,
    _: proto::ListDecommissionedRegionServersRequest,
) -> Result<proto::ListDecommissionedRegionServersResponse> {
    let servers = context.cluster.maintenance.decommissioned();
    let server_name = servers.iter().map(names::server_to_proto).collect();
    Ok(proto::ListDecommissionedRegionServersResponse { server_name })
}

/// Marks servers as decommissioned. Their regions stay where they are assigned. Servers
/// that are not online are skipped, as in HBase.
pub(crate) fn decommission(
    context: &Context,
    request: proto::DecommissionRegionServersRequest,
) -> Result<proto::DecommissionRegionServersResponse> {
    let servers = request.server_name.into_iter().map(names::server_from_proto);
    for server in servers.collect::<Result<Vec<_>>>()? {
        if context.cluster.region_servers().iter().any(|online| online.name == server) {
            context.cluster.maintenance.set_decommissioned(server, true);
        } else {
            tracing::warn!(%server, "only an online server can be decommissioned");
        }
    }
    Ok(proto::DecommissionRegionServersResponse {})
}

/// Removes a server's mark. No region moves, since none has left.
pub(crate) fn recommission(
    context: &Context,
    request: proto::RecommissionRegionServerRequest,
) -> Result<proto::RecommissionRegionServerResponse> {
    let server = names::server_from_proto(request.server_name)?;
    context.cluster.maintenance.set_decommissioned(server, false);
    Ok(proto::RecommissionRegionServerResponse {})
}

/// Returns the servers that are not known to be dead: all of them.
pub(crate) fn clear_dead(
    _: &Context,
    request: proto::ClearDeadServersRequest,
) -> Result<proto::ClearDeadServersResponse> {
    Ok(proto::ClearDeadServersResponse { server_name: request.server_name })
}
