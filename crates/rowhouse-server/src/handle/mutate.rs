//! Changing one row.

use std::sync::Arc;

use bytes::BytesMut;
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::proto;
use rowhouse_model::{MutationOutcome, Result};
use rowhouse_store::{Region, Store, Tried};

use crate::cluster::Served;
use crate::dispatch::{Done, Exchange};

pub(crate) fn mutate(exchange: &Exchange, out: &mut BytesMut) -> Result<Done> {
    if !exchange.is_small() {
        return Ok(Done::Long(Box::new(|exchange, out| {
            let (region, call) = asked(exchange)?;
            reply(exchange, &call, change(&region, &call)?, out)
        })));
    }
    let (region, call) = asked(exchange)?;
    if let Tried::Done(outcome) = change_at_once(&region, &call)? {
        reply(exchange, &call, outcome, out)?;
        return Ok(Done::Answered);
    }
    Ok(Done::Long(Box::new(move |exchange, out| {
        reply(exchange, &call, change(&region, &call)?, out)
    })))
}

fn asked(exchange: &Exchange) -> Result<(Arc<Region>, MutateCall)> {
    let request = exchange.message::<proto::MutateRequest>()?;
    let cells = &mut exchange.request.cells(exchange.client.codec);
    let mut call = MutateCall::from_proto(request, cells)?;
    call.mutation = call.mutation.with_nonce(call.nonce);
    let context = &exchange.context;
    match context.cluster.region(&context.server, &call.region)? {
        Served::Stored(region) => Ok((region, call)),
        Served::System(table, _) => Err(Store::refuse_write(&table)),
    }
}

fn change(region: &Region, call: &MutateCall) -> Result<Option<MutationOutcome>> {
    match &call.condition {
        None => region.mutate(&call.mutation).map(Some),
        Some(condition) => region.mutate_if(condition, &call.mutation),
    }
}

fn change_at_once(region: &Region, call: &MutateCall) -> Result<Tried<Option<MutationOutcome>>> {
    let region = region.at_once();
    match &call.condition {
        None => Ok(region.mutate(&call.mutation)?.map(Some)),
        Some(condition) => region.mutate_if(condition, &call.mutation),
    }
}

fn reply(
    exchange: &Exchange,
    call: &MutateCall,
    outcome: Option<MutationOutcome>,
    out: &mut BytesMut,
) -> Result<()> {
    let Some(outcome) = outcome else { return exchange.reply(out, &mutate::not_done()) };
    if !call.mutation.is_delta() {
        return exchange.reply(out, &mutate::done());
    }
    let mut answer = mutate::done_with(&outcome.row, exchange.cells_in());
    answer.processed = call.condition.is_some().then_some(true);
    exchange.reply_with(out, &answer, outcome.row.cells())
}
