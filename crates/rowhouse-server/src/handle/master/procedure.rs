//! Procedures. HBase runs slow operations in the background, and clients poll them by number. Here
//! an operation is complete when its number is returned.

use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_format::convert::backup;
use rowhouse_format::convert::procedure::ProcedureCall;
use rowhouse_format::proto;
use rowhouse_format::proto::get_procedure_result_response::State;
use rowhouse_model::{Error, Result, Snapshot};

use super::{snapshot, table};
use crate::server::Context;

static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// Returns the number of a completed procedure.
pub(crate) fn done() -> Option<u64> {
    Some(LAST_ID.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Aborts nothing: a procedure with a number is complete.
pub(crate) fn abort(
    _: &Context,
    _: proto::AbortProcedureRequest,
) -> Result<proto::AbortProcedureResponse> {
    Ok(proto::AbortProcedureResponse { is_procedure_aborted: false })
}

pub(crate) fn result(
    _: &Context,
    request: proto::GetProcedureResultRequest,
) -> Result<proto::GetProcedureResultResponse> {
    let known = (1..=LAST_ID.load(Ordering::Relaxed)).contains(&request.proc_id);
    let state = if known { State::Finished } else { State::NotFound };
    Ok(proto::GetProcedureResultResponse { state: state.into(), ..Default::default() })
}

/// Runs a procedure that a client names by its signature. A backup continues after the answer; all
/// others are complete.
pub(crate) fn exec(
    context: &Context,
    request: proto::ExecProcedureRequest,
) -> Result<proto::ExecProcedureResponse> {
    let store = &context.cluster.store;
    match ProcedureCall::from_proto(&request.procedure)? {
        ProcedureCall::Flush { table, families } => {
            table::flush_families(&*store.table(&table)?, &families)?;
        }
        ProcedureCall::Snapshot { table, name } => {
            store.take_snapshot(Snapshot::new(&name, table)?)?;
        }
        ProcedureCall::Backup(call) => context.cluster.backups.begin(store, call)?,
    }
    let expected_timeout = Some(snapshot::EXPECTED_MILLIS);
    Ok(proto::ExecProcedureResponse { expected_timeout, return_data: None })
}

/// Returns the progress of a procedure that was started by its signature.
pub(crate) fn is_done(
    context: &Context,
    request: proto::IsProcedureDoneRequest,
) -> Result<proto::IsProcedureDoneResponse> {
    let unsaid = || Error::invalid("the request names no procedure");
    let done = || proto::IsProcedureDoneResponse { done: Some(true), snapshot: None };
    match ProcedureCall::from_proto(&request.procedure.ok_or_else(unsaid)?)? {
        // A flush is complete when the call that runs it returns.
        ProcedureCall::Flush { .. } => Ok(done()),
        ProcedureCall::Snapshot { name, .. } => {
            context.cluster.store.snapshot(&name).map(|_| done())
        }
        ProcedureCall::Backup(call) => {
            Ok(backup::status_to_proto(&call, &context.cluster.backups.status(&call)?))
        }
    }
}
