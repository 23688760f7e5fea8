//! Changing one row.

use bytes::BytesMut;
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::proto;
use rowhouse_model::{Condition, Durability, Mutation, Nonce, Result};
use rowhouse_store::Store;

use crate::cluster::Served;
use crate::dispatch::Exchange;

pub(crate) fn read(exchange: &Exchange) -> Result<MutateCall> {
    let request = exchange.message::<proto::MutateRequest>()?;
    let mut call = MutateCall::from_proto(request, &mut exchange.request.cells(exchange.codec))?;
    call.mutation = named(call.mutation, call.nonce);
    Ok(call)
}

/// A mutation that knows its nonce, where a repetition would matter.
pub(super) fn named(mut mutation: Mutation, nonce: Option<Nonce>) -> Mutation {
    if let Mutation::Increment(increment) = &mut mutation {
        increment.nonce = nonce;
    }
    mutation
}

/// Whether the call waits for nothing slower than the page cache.
pub(crate) fn is_short(exchange: &Exchange, call: &MutateCall) -> bool {
    let context = &exchange.context;
    match call.mutation.durability() {
        Durability::FsyncWal => false,
        Durability::UseDefault => match context.cluster.region(&context.server, &call.region) {
            Ok(Served::Stored(region)) => region.durability() != Durability::FsyncWal,
            _ => true,
        },
        Durability::SkipWal | Durability::AsyncWal | Durability::SyncWal => true,
    }
}

pub(crate) fn mutate(exchange: &Exchange, call: MutateCall, out: &mut BytesMut) -> Result<()> {
    let context = &exchange.context;
    let region = match context.cluster.region(&context.server, &call.region)? {
        Served::Stored(region) => region,
        Served::System(table, _) => return Err(Store::refuse_write(&table)),
    };
    let condition = call.condition.map(Condition::NoValue);
    let outcome = match &condition {
        None => Some(region.mutate(&call.mutation)?),
        Some(condition) => region.mutate_if(condition, &call.mutation)?,
    };
    let Some(outcome) = outcome else { return exchange.reply(out, &mutate::not_done()) };
    match call.mutation {
        Mutation::Put(_) | Mutation::Delete(_) => exchange.reply(out, &mutate::done()),
        Mutation::Increment(_) => {
            let mut answer = mutate::done_with(&outcome.row, exchange.cells_in());
            answer.processed = condition.map(|_| true);
            exchange.reply_with(out, &answer, outcome.row.cells())
        }
    }
}
