//! What can be switched on and off for the whole cluster.

use rowhouse_format::proto;
use rowhouse_model::{Error, RegionSwitch, Result};

use crate::server::Context;

/// Turns splits or merges on or off, for all tables and for good; answers with what was before.
pub(crate) fn set(
    context: &Context,
    request: proto::SetSplitOrMergeEnabledRequest,
) -> Result<proto::SetSplitOrMergeEnabledResponse> {
    let store = &context.cluster.store;
    let switches = request.switch_types.iter().map(|&number| switch(number));
    let switches = switches.collect::<Result<Vec<_>>>()?.into_iter();
    let before = switches.map(|switch| store.set_region_switch(switch, request.enabled));
    Ok(proto::SetSplitOrMergeEnabledResponse { prev_value: before.collect::<Result<_>>()? })
}

pub(crate) fn is_on(
    context: &Context,
    request: proto::IsSplitOrMergeEnabledRequest,
) -> Result<proto::IsSplitOrMergeEnabledResponse> {
    let enabled = context.cluster.store.region_switch(switch(request.switch_type)?);
    Ok(proto::IsSplitOrMergeEnabledResponse { enabled })
}

fn switch(number: i32) -> Result<RegionSwitch> {
    match proto::MasterSwitchType::try_from(number) {
        Ok(proto::MasterSwitchType::Split) => Ok(RegionSwitch::Split),
        Ok(proto::MasterSwitchType::Merge) => Ok(RegionSwitch::Merge),
        Err(_) => Err(Error::unsupported(format!("a switch is not known: {number}"))),
    }
}

/// Says whether snapshots go when their time has passed, for good; answers with what was before. One that is going is gone when the
/// answer comes, whether or not that is asked for.
pub(crate) fn set_snapshot_cleanup(
    context: &Context,
    request: proto::SetSnapshotCleanupRequest,
) -> Result<proto::SetSnapshotCleanupResponse> {
    let prev_snapshot_cleanup = context.cluster.store.set_snapshot_cleanup(request.enabled)?;
    Ok(proto::SetSnapshotCleanupResponse { prev_snapshot_cleanup })
}

pub(crate) fn snapshot_cleanup(
    context: &Context,
    _: proto::IsSnapshotCleanupEnabledRequest,
) -> Result<proto::IsSnapshotCleanupEnabledResponse> {
    let enabled = context.cluster.store.snapshot_cleanup();
    Ok(proto::IsSnapshotCleanupEnabledResponse { enabled })
}

/// The balancer's switch is kept while the server runs. Where a region is follows from its name, so a balancer that is on
/// finds nothing to move.
pub(crate) fn set_balancer(
    context: &Context,
    request: proto::SetBalancerRunningRequest,
) -> Result<proto::SetBalancerRunningResponse> {
    let before = context.cluster.set_balancer(request.on);
    Ok(proto::SetBalancerRunningResponse { prev_balance_value: Some(before) })
}

pub(crate) fn balancer(
    context: &Context,
    _: proto::IsBalancerEnabledRequest,
) -> Result<proto::IsBalancerEnabledResponse> {
    Ok(proto::IsBalancerEnabledResponse { enabled: context.cluster.is_balancer_on() })
}

pub(crate) fn balance(
    context: &Context,
    _: proto::BalanceRequest,
) -> Result<proto::BalanceResponse> {
    Ok(proto::BalanceResponse {
        balancer_ran: context.cluster.is_balancer_on(),
        moves_calculated: Some(0),
        moves_executed: Some(0),
    })
}
