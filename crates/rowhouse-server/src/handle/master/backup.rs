//! Backups: a procedure that clients of rowhouse ask for.

use rowhouse_format::convert::backup;
use rowhouse_format::proto;
use rowhouse_model::{Error, Result};

use crate::server::Context;

pub(crate) fn begin(
    context: &Context,
    request: proto::ExecProcedureRequest,
) -> Result<proto::ExecProcedureResponse> {
    let call = backup::call_from_proto(&request.procedure)?;
    context.cluster.backups.begin(&context.cluster.store, call)?;
    Ok(proto::ExecProcedureResponse::default())
}

pub(crate) fn status(
    context: &Context,
    request: proto::IsProcedureDoneRequest,
) -> Result<proto::IsProcedureDoneResponse> {
    let unsaid = || Error::invalid("the request names no procedure");
    let call = backup::call_from_proto(&request.procedure.ok_or_else(unsaid)?)?;
    Ok(backup::status_to_proto(&call, &context.cluster.backups.status(&call)?))
}
