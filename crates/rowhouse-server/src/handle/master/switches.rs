//! Cluster-wide switches.

use rowhouse_format::proto;
use rowhouse_model::{Balanced, Error, MasterSwitch, RegionSwitch, Result};

use crate::context::Context;

/// Turns splits or merges on or off, permanently and for all tables; returns the previous states.
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
        Err(_) => Err(Error::unsupported(format!("unknown switch: {number}"))),
    }
}

/// Sets permanently whether expired snapshots are deleted; returns the previous setting. A deletion
/// under way is complete when the call returns, even if the client does not request to wait for it.
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

/// Turns the balancer on or off permanently; returns the previous state.
pub(crate) fn set_balancer(
    context: &Context,
    request: proto::SetBalancerRunningRequest,
) -> Result<proto::SetBalancerRunningResponse> {
    let before = context.cluster.store.set_master_switch(MasterSwitch::Balancer, request.on)?;
    Ok(proto::SetBalancerRunningResponse { prev_balance_value: Some(before) })
}

pub(crate) fn balancer(
    context: &Context,
    _: proto::IsBalancerEnabledRequest,
) -> Result<proto::IsBalancerEnabledResponse> {
    let enabled = context.cluster.store.master_switch(MasterSwitch::Balancer);
    Ok(proto::IsBalancerEnabledResponse { enabled })
}

/// Runs the balancer, if it is on. A dry run only counts the moves. No region is ever in
/// transition, so it makes no difference whether regions in transition are ignored.
pub(crate) fn balance(
    context: &Context,
    request: proto::BalanceRequest,
) -> Result<proto::BalanceResponse> {
    let done = if context.cluster.store.master_switch(MasterSwitch::Balancer) {
        context.cluster.balance(request.dry_run.unwrap_or(false))?
    } else {
        Balanced::default()
    };
    Ok(proto::BalanceResponse {
        balancer_ran: done.ran,
        moves_calculated: Some(done.planned),
        moves_executed: Some(done.made),
    })
}

/// Turns the normalizer on or off permanently; returns the previous state.
pub(crate) fn set_normalizer(
    context: &Context,
    request: proto::SetNormalizerRunningRequest,
) -> Result<proto::SetNormalizerRunningResponse> {
    let before = context.cluster.store.set_master_switch(MasterSwitch::Normalizer, request.on)?;
    Ok(proto::SetNormalizerRunningResponse { prev_normalizer_value: Some(before) })
}

pub(crate) fn normalizer(
    context: &Context,
    _: proto::IsNormalizerEnabledRequest,
) -> Result<proto::IsNormalizerEnabledResponse> {
    let enabled = context.cluster.store.master_switch(MasterSwitch::Normalizer);
    Ok(proto::IsNormalizerEnabledResponse { enabled })
}

/// Runs the normalizer, which plans nothing: `NORMALIZATION_ENABLED` has no effect here.
pub(crate) fn normalize(
    context: &Context,
    _: proto::NormalizeRequest,
) -> Result<proto::NormalizeResponse> {
    let normalizer_ran = context.cluster.store.master_switch(MasterSwitch::Normalizer);
    Ok(proto::NormalizeResponse { normalizer_ran })
}
