//! Repairs, as HBCK2 asks for them. `hbase:meta` is made from the manifest and cannot differ from what
//! is served, so most of them find nothing to repair.

use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_model::Result;
use rowhouse_store::Region;

use super::master::{procedure, region};
use crate::server::Context;

/// HBase's -1: no procedure was begun.
const NO_PROCEDURE: u64 = u64::MAX;

pub(crate) fn run_chore(
    _: &Context,
    _: proto::RunHbckChoreRequest,
) -> Result<proto::RunHbckChoreResponse> {
    Ok(proto::RunHbckChoreResponse { ran: true })
}

/// Takes regions into service that are not. Regions that are not known are passed over.
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

/// Takes regions out of service. Regions that are not known are passed over.
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

/// Bypasses no procedure: none is under way.
pub(crate) fn bypass(
    _: &Context,
    request: proto::BypassProcedureRequest,
) -> Result<proto::BypassProcedureResponse> {
    Ok(proto::BypassProcedureResponse { bypassed: vec![false; request.proc_id.len()] })
}

/// Repairs nothing: a server that has crashed is this process, whose log was read when it was started
/// again.
pub(crate) fn server_crashed(
    _: &Context,
    request: proto::ScheduleServerCrashProcedureRequest,
) -> Result<proto::ScheduleServerCrashProcedureResponse> {
    let pid = vec![NO_PROCEDURE; request.server_name.len()];
    Ok(proto::ScheduleServerCrashProcedureResponse { pid })
}

pub(crate) fn unknown_servers(
    _: &Context,
    _: proto::ScheduleScPsForUnknownServersRequest,
) -> Result<proto::ScheduleScPsForUnknownServersResponse> {
    Ok(proto::ScheduleScPsForUnknownServersResponse { pid: Vec::new() })
}

pub(crate) fn fix_meta(_: &Context, _: proto::FixMetaRequest) -> Result<proto::FixMetaResponse> {
    Ok(proto::FixMetaResponse {})
}
