//! Changing one row.

use bytes::BytesMut;
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::proto;
use rowhouse_model::{Durability, Result};
use rowhouse_store::Store;

use crate::cluster::Served;
use crate::dispatch::Exchange;

pub(crate) fn read(exchange: &Exchange) -> Result<MutateCall> {
    let request = exchange.message::<proto::MutateRequest>()?;
    let mut call = MutateCall::from_proto(request, &mut exchange.request.cells(exchange.codec))?;
    call.mutation = call.mutation.with_nonce(call.nonce);
    Ok(call)
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
    let outcome = match &call.condition {
        None => Some(region.mutate(&call.mutation)?),
        Some(condition) => region.mutate_if(condition, &call.mutation)?,
    };
    let Some(outcome) = outcome else { return exchange.reply(out, &mutate::not_done()) };
    if !call.mutation.is_delta() {
        return exchange.reply(out, &mutate::done());
    }
    let mut answer = mutate::done_with(&outcome.row, exchange.cells_in());
    answer.processed = call.condition.map(|_| true);
    exchange.reply_with(out, &answer, outcome.row.cells())
}
