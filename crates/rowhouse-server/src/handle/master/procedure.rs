//! Procedures: HBase does slow work behind a number that the client asks about. Here the work is
//! done when its number is given out.

use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_format::proto;
use rowhouse_format::proto::get_procedure_result_response::State;
use rowhouse_model::Result;

use crate::server::Context;

static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// The number of a procedure that is done.
pub(crate) fn done() -> Option<u64> {
    Some(LAST_ID.fetch_add(1, Ordering::Relaxed) + 1)
}

pub(crate) fn result(
    _: &Context,
    request: proto::GetProcedureResultRequest,
) -> Result<proto::GetProcedureResultResponse> {
    let known = (1..=LAST_ID.load(Ordering::Relaxed)).contains(&request.proc_id);
    let state = if known { State::Finished } else { State::NotFound };
    Ok(proto::GetProcedureResultResponse { state: state.into(), ..Default::default() })
}
