//! Repairs requested by HBCK2. `hbase:meta` is generated from the manifest and cannot differ from
//! the served regions, so most repairs find nothing to do.

use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_model::Result;
use rowhouse_store::Region;

use super::master::{procedure, region};
use crate::context::Context;

/// HBase's -1: no procedure was started.
const NO_PROCEDURE: u64 = u64::MAX;

/// Reports that the chore ran: it would compare `hbase:meta` with the served regions.
pub(crate) fn run_chore(
    _: &Context,
    _: proto::RunHbckChoreRequest,
) -> Result<proto::RunHbckChoreResponse> {
    Ok(proto::RunHbckChoreResponse { ran: true })
}

/// Brings unassigned regions into service. Unknown regions are skipped.
pub(crate) fn assign(
    context: &Context,
    request: proto::AssignsRequest,
) -> Result<proto::AssignsResponse> {
    let pid = for_each(context, request.region, |region| {
        if region.check_serving().is_ok() {
            return Ok(NO_PROCEDURE);
        }
        context.cluster.store.assign_region(&region.name().full)?;
        Ok(procedure::done().unwrap_or(NO_PROCEDURE))
    })?;
    Ok(proto::AssignsResponse { pid })
}

/// Removes regions from service. Unknown regions are skipped.
pub(crate) fn unassign(
    context: &Context,
    request: proto::UnassignsRequest,
) -> Result<proto::UnassignsResponse> {
    let pid = for_each(context, request.region, |region| {
        if region.check_serving().is_err() {
            return Ok(NO_PROCEDURE);
        }
        context.cluster.store.unassign_region(&region.name().full)?;
        Ok(procedure::done().unwrap_or(NO_PROCEDURE))
    })?;
    Ok(proto::UnassignsResponse { pid })
}

/// Calls `repair` for each region that exists, and returns the procedure ids.
fn for_each(
    context: &Context,
    regions: Vec<proto::RegionSpecifier>,
    mut repair: impl FnMut(&Region) -> Result<u64>,
) -> Result<Vec<u64>> {
    let mut pids = Vec::with_capacity(regions.len());
    for name in regions {
        if let Some(region) = region::find(context, &RegionRef::from_proto(name))? {
            pids.push(repair(&region)?);
        }
    }
    Ok(pids)
}

/// Bypasses no procedure: none is ever under way.
pub(crate) fn bypass(
    _: &Context,
    request: proto::BypassProcedureRequest,
) -> Result<proto::BypassProcedureResponse> {
    Ok(proto::BypassProcedureResponse { bypassed: vec![false; request.proc_id.len()] })
}

/// Repairs nothing: an ending region server's regions go to others at once, and the process replays
/// the log when it restarts.
pub(crate) fn server_crashed(
    _: &Context,
    request: proto::ScheduleServerCrashProcedureRequest,
) -> Result<proto::ScheduleServerCrashProcedureResponse> {
    let pid = vec![NO_PROCEDURE; request.server_name.len()];
    Ok(proto::ScheduleServerCrashProcedureResponse { pid })
}

/// Starts no procedure: no region is on a server that the cluster does not know.
pub(crate) fn unknown_servers(
    _: &Context,
    _: proto::ScheduleScPsForUnknownServersRequest,
) -> Result<proto::ScheduleScPsForUnknownServersResponse> {
    Ok(proto::ScheduleScPsForUnknownServersResponse { pid: Vec::new() })
}

/// Repairs nothing, as `hbase:meta` has no holes or overlaps.
pub(crate) fn fix_meta(_: &Context, _: proto::FixMetaRequest) -> Result<proto::FixMetaResponse> {
    Ok(proto::FixMetaResponse {})
}
