//! RPC throttling, answered as by a master without quotas: nothing is throttled, and the switches
//! stay off.

use rowhouse_format::proto;
use rowhouse_model::Result;

use crate::context::Context;

pub(crate) fn switch_rpc_throttle(
    _: &Context,
    _: proto::SwitchRpcThrottleRequest,
) -> Result<proto::SwitchRpcThrottleResponse> {
    Ok(proto::SwitchRpcThrottleResponse { previous_rpc_throttle_enabled: false })
}

pub(crate) fn rpc_throttle(
    _: &Context,
    _: proto::IsRpcThrottleEnabledRequest,
) -> Result<proto::IsRpcThrottleEnabledResponse> {
    Ok(proto::IsRpcThrottleEnabledResponse { rpc_throttle_enabled: false })
}

pub(crate) fn switch_exceed_throttle(
    _: &Context,
    _: proto::SwitchExceedThrottleQuotaRequest,
) -> Result<proto::SwitchExceedThrottleQuotaResponse> {
    Ok(proto::SwitchExceedThrottleQuotaResponse { previous_exceed_throttle_quota_enabled: false })
}
