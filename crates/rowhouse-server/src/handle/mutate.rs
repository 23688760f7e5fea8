//! Mutates one row.

use std::sync::Arc;

use bytes::BytesMut;
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::proto;
use rowhouse_model::{MutationOutcome, Result};
use rowhouse_store::{NonBlocking, Region, Store};

use crate::cluster::ServedRegion;
use crate::dispatch::{CallContext, Done};

pub(crate) fn mutate(call_context: &CallContext, out: &mut BytesMut) -> Result<Done> {
    if !call_context.is_small() {
        return Ok(Done::Long(Box::new(|call_context, out| {
            let (region, call) = asked(call_context)?;
            reply(call_context, &call, change(&region, &call)?, out)
        })));
    }
    let (region, call) = asked(call_context)?;
    if let NonBlocking::Done(outcome) = change_at_once(&region, &call)? {
        reply(call_context, &call, outcome, out)?;
        return Ok(Done::Answered);
    }
    Ok(Done::Long(Box::new(move |call_context, out| {
        reply(call_context, &call, change(&region, &call)?, out)
    })))
}

fn asked(call_context: &CallContext) -> Result<(Arc<Region>, MutateCall)> {
    let request = call_context.message::<proto::MutateRequest>()?;
    let cells = &mut call_context.request.cells(call_context.client.codec);
    let mut call = MutateCall::from_proto(request, cells)?;
    call.mutation = call.mutation.with_nonce(call.nonce);
    let context = &call_context.context;
    match context.cluster.region(&context.server, &call.region)? {
        ServedRegion::Stored(region) => Ok((region, call)),
        ServedRegion::System(table, _) => Err(Store::refuse_write(&table)),
    }
}

fn change(region: &Region, call: &MutateCall) -> Result<Option<MutationOutcome>> {
    match &call.condition {
        None => region.mutate(&call.mutation).map(Some),
        Some(condition) => region.mutate_if(condition, &call.mutation),
    }
}

fn change_at_once(
    region: &Region,
    call: &MutateCall,
) -> Result<NonBlocking<Option<MutationOutcome>>> {
    let region = region.non_blocking();
    match &call.condition {
        None => Ok(region.mutate(&call.mutation)?.map(Some)),
        Some(condition) => region.mutate_if(condition, &call.mutation),
    }
}

fn reply(
    call_context: &CallContext,
    call: &MutateCall,
    outcome: Option<MutationOutcome>,
    out: &mut BytesMut,
) -> Result<()> {
    let Some(outcome) = outcome else { return call_context.reply(out, &mutate::not_done()) };
    if !call.mutation.is_read_modify_write() {
        return call_context.reply(out, &mutate::done());
    }
    let mut answer = mutate::done_with(&outcome.row, call_context.cells_in());
    answer.processed = call.condition.is_some().then_some(true);
    call_context.reply_with(out, &answer, outcome.row.cells())
}
