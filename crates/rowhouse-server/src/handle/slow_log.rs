//! Returns the slow log to clients.

use bytes::{Bytes, BytesMut};
use prost::Message;
use rowhouse_format::proto;
use rowhouse_model::{Error, Result};

use crate::answer::Routed;
use crate::call::CallContext;
use crate::context::Context;
use crate::slow_log::PROTOS;

/// Returns the entries in the slow or the large log, in the form for clients before HBase 2.5.
pub(crate) fn responses(call_context: &CallContext, out: &mut BytesMut) -> Result<Routed> {
    let request = call_context.message::<proto::SlowLogResponseRequest>()?;
    let slow_log_payloads = call_context.context.server.slow_log.select(&request);
    call_context.reply(out, &proto::SlowLogResponses { slow_log_payloads })?;
    Ok(Routed::Answered)
}

/// As [`responses`], in the form for newer clients.
pub(crate) fn entries(call_context: &CallContext, out: &mut BytesMut) -> Result<Routed> {
    let request = call_context.message::<proto::LogRequest>()?;
    if !request.log_class_name.contains("SlowLogResponseRequest") {
        return Err(unknown_log(&request));
    }
    let log_request = proto::SlowLogResponseRequest::decode(request.log_message)
        .map_err(|error| Error::invalid(format!("malformed request of a log: {error}")))?;
    let slow_log_payloads = call_context.context.server.slow_log.select(&log_request);
    call_context.reply(
        out,
        &proto::LogEntry {
            log_class_name: format!("{PROTOS}.AdminProtos$SlowLogResponses"),
            log_message: proto::SlowLogResponses { slow_log_payloads }.encode_to_vec().into(),
        },
    )?;
    Ok(Routed::Answered)
}

pub(crate) fn clear(
    context: &Context,
    _: proto::ClearSlowLogResponseRequest,
) -> Result<proto::ClearSlowLogResponses> {
    context.server.slow_log.clear();
    Ok(proto::ClearSlowLogResponses { is_cleaned: true })
}

/// Returns the balancer's decisions: there are none.
pub(crate) fn balancer_entries(call_context: &CallContext, out: &mut BytesMut) -> Result<Routed> {
    let request = call_context.message::<proto::LogRequest>()?;
    let known = ["BalancerDecisions", "BalancerRejections"];
    let log = known.iter().find(|log| request.log_class_name.contains(&format!("{log}Request")));
    let log = log.ok_or_else(|| unknown_log(&request))?;
    call_context.reply(
        out,
        &proto::LogEntry {
            log_class_name: format!("{PROTOS}.MasterProtos${log}Response"),
            log_message: Bytes::new(),
        },
    )?;
    Ok(Routed::Answered)
}

fn unknown_log(request: &proto::LogRequest) -> Error {
    Error::invalid(format!("Invalid request params: log={}", request.log_class_name))
}
