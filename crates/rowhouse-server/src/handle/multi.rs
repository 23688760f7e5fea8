//! Many actions in one call. An action that fails leaves the others.

use bytes::BytesMut;
use rowhouse_format::convert::multi::{
    Action, ActionAnswer, MultiAnswer, MultiCall, NumberedAction, NumberedAnswer, RegionActions,
};
use rowhouse_format::proto;
use rowhouse_model::{Error, Mutation, MutationOutcome, Result};
use rowhouse_store::Store;

use super::get;
use super::mutate::named;
use crate::cluster::Served;
use crate::dispatch::Exchange;
use crate::limits::SHORT_MULTI_BYTES;

/// Whether the call is small. (A sync in it would be shared by few.)
pub(crate) fn is_short(exchange: &Exchange) -> bool {
    exchange.request.message.len() + exchange.request.cells.len() <= SHORT_MULTI_BYTES
}

pub(crate) fn multi(exchange: &Exchange, out: &mut BytesMut) -> Result<()> {
    let request = exchange.message::<proto::MultiRequest>()?;
    let call = MultiCall::from_proto(request, &mut exchange.request.cells(exchange.codec))?;
    let regions = call.regions.into_iter().map(|actions| answer_region(exchange, actions));
    let answer = MultiAnswer { regions: regions.collect() };
    exchange.reply_with(out, &answer.to_proto(exchange.cells_in()), answer.cells())
}

fn answer_region(exchange: &Exchange, actions: RegionActions) -> Result<Vec<NumberedAnswer>> {
    let context = &exchange.context;
    if actions.atomic {
        return Err(Error::unsupported("mutateRow (an atomic batch) is not supported"));
    }
    let region = context.cluster.region(&context.server, &actions.region)?;
    if let Served::Stored(region) = &region {
        region.check_serving()?;
    }
    let mut answers = Vec::new();
    // Neighbouring mutations go to the region together.
    let mut together: Vec<(u32, Mutation)> = Vec::new();
    for NumberedAction { index, action } in actions.actions? {
        match action {
            Ok(Action::Mutate(mutation, nonce)) => {
                together.push((index, named(mutation, nonce)));
            }
            Ok(Action::Get(get)) => {
                mutate(&region, &mut together, &mut answers);
                let answer = get::read(&region, &get).map(|row| match get.existence_only {
                    true => ActionAnswer::Exists(!row.is_empty()),
                    false => ActionAnswer::Row(row),
                });
                answers.push(NumberedAnswer { index, answer });
            }
            Err(error) => answers.push(NumberedAnswer { index, answer: Err(error) }),
        }
    }
    mutate(&region, &mut together, &mut answers);
    Ok(answers)
}

fn mutate(region: &Served, together: &mut Vec<(u32, Mutation)>, answers: &mut Vec<NumberedAnswer>) {
    let (indexes, mutations): (Vec<u32>, Vec<Mutation>) = together.drain(..).unzip();
    let outcomes: Vec<Result<MutationOutcome>> = match region {
        Served::Stored(region) => region.batch(&mutations),
        Served::System(table, _) => {
            mutations.iter().map(|_| Err(Store::refuse_write(table))).collect()
        }
    };
    let answered = indexes.into_iter().zip(mutations).zip(outcomes);
    answers.extend(answered.map(|((index, mutation), outcome)| {
        let answer = outcome.map(|outcome| match mutation {
            Mutation::Put(_) | Mutation::Delete(_) => ActionAnswer::Done,
            Mutation::Increment(_) => ActionAnswer::Row(outcome.row),
        });
        NumberedAnswer { index, answer }
    }));
}
