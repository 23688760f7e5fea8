//! Mutates one row.

use std::sync::Arc;

use bytes::BytesMut;
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::proto;
use rowhouse_model::{MutationOutcome, Result};
use rowhouse_store::{NonBlocking, Region, Store};

use crate::answer::ResumableCall;
use crate::call::CallContext;
use crate::cluster::ServedRegion;

/// A call that changes one row.
pub(crate) struct Mutate {
    region: Arc<Region>,
    call: MutateCall,
}

impl ResumableCall for Mutate {
    /// `None` if the condition does not hold.
    type Answer = Option<MutationOutcome>;

    fn parse(call_context: &CallContext) -> Result<Self> {
        let request = call_context.message::<proto::MutateRequest>()?;
        let cells = &mut call_context.request.cells(call_context.client.codec);
        let mut call = MutateCall::from_proto(request, cells)?;
        call.mutation = call.mutation.with_nonce(call.nonce);
        let context = &call_context.context;
        match context.cluster.region(&context.server, &call.region)? {
            ServedRegion::Stored(region) => Ok(Self { region, call }),
            ServedRegion::System(table, _) => Err(Store::refuse_write(&table)),
        }
    }

    fn resume(&mut self, call_context: &CallContext) -> Result<NonBlocking<Self::Answer>> {
        let region = self.region.in_mode(call_context.wait_mode);
        let mutation = &self.call.mutation;
        match &self.call.condition {
            None => Ok(region.mutate(mutation)?.map(Some)),
            Some(condition) => region.mutate_if(condition, mutation),
        }
    }

    fn reply(
        &self,
        call_context: &CallContext,
        outcome: Self::Answer,
        out: &mut BytesMut,
    ) -> Result<()> {
        let Some(outcome) = outcome else { return call_context.reply(out, &mutate::not_done()) };
        if !self.call.mutation.is_read_modify_write() {
            return call_context.reply(out, &mutate::done());
        }
        let mut answer = mutate::done_with(&outcome.row, call_context.cells_in());
        answer.processed = self.call.condition.is_some().then_some(true);
        call_context.reply_with(out, &answer, outcome.row.cells())
    }
}
