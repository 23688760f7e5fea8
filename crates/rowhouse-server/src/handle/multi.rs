//! Many actions in one call. An action that fails leaves the others.

use bytes::BytesMut;
use rowhouse_format::convert::multi::{
    Action, ActionAnswer, MultiAnswer, MultiCall, NumberedAction, NumberedAnswer, RegionActions,
    RegionAnswer,
};
use rowhouse_format::convert::mutate::asked_of_row;
use rowhouse_format::proto;
use rowhouse_model::{Error, Mutation, MutationOutcome, Result, RowCondition, escape};
use rowhouse_store::Store;

use super::{endpoint, get};
use crate::cluster::Served;
use crate::dispatch::Exchange;
use crate::limits::SHORT_MULTI_BYTES;
use crate::server::Context;

/// Whether the call is small, and calls no endpoint, which may read a whole region. (A sync in it would be
/// shared by few.)
pub(crate) fn is_short(exchange: &Exchange) -> bool {
    let request = &exchange.request;
    // The message is not read twice for this: the names of all services end so, and what else holds the
    // word is merely not short.
    let names_service = || request.message.windows(7).any(|word| word == b"Service");
    request.message.len() + request.cells.len() <= SHORT_MULTI_BYTES && !names_service()
}

pub(crate) fn multi(exchange: &Exchange, out: &mut BytesMut) -> Result<()> {
    let request = exchange.message::<proto::MultiRequest>()?;
    let call = MultiCall::from_proto(request, &mut exchange.request.cells(exchange.codec))?;
    let regions = call.regions.into_iter().map(|actions| answer_region(exchange, actions));
    let answer = MultiAnswer { regions: regions.collect() };
    exchange.reply_with(out, &answer.to_proto(exchange.cells_in()), answer.cells())
}

fn answer_region(exchange: &Exchange, asked: RegionActions) -> Result<RegionAnswer> {
    let context = &exchange.context;
    let region = context.cluster.region(&context.server, &asked.region)?;
    if let Served::Stored(region) = &region {
        region.check_serving()?;
    }
    let actions = asked.actions?;
    if asked.atomic || asked.condition.is_some() {
        return all_or_nothing(&region, asked.condition.as_slice(), actions);
    }
    Ok(RegionAnswer::each(each_by_itself(context, &region, actions)))
}

/// Does all actions as one, if the condition holds. What is wrong with one of them is wrong with all.
fn all_or_nothing(
    region: &Served,
    conditions: &[RowCondition],
    actions: Vec<NumberedAction>,
) -> Result<RegionAnswer> {
    let mutation = |numbered: NumberedAction| match numbered.action? {
        Action::Mutate(mutation, nonce) => Ok(mutation.with_nonce(nonce)),
        Action::Get(get) => Err(Error::invalid(format!(
            "Atomic put and/or delete only, not a Get: row={}",
            escape(get.row())
        ))),
        Action::Service(call) => Err(Error::invalid(format!(
            "Atomic put and/or delete only, not a service call: service={}",
            call.service_name
        ))),
    };
    let mutations: Vec<Mutation> = actions.into_iter().map(mutation).collect::<Result<_>>()?;
    // Mutations without a condition may be of several rows, as on HBase.
    for asked in conditions {
        mutations.iter().try_for_each(|mutation| asked_of_row(asked, mutation))?;
    }
    let region = match region {
        Served::Stored(region) => region,
        Served::System(table, _) => return Err(Store::refuse_write(table)),
    };
    // HBase does not look at the condition of nothing.
    let conditions = if mutations.is_empty() { &[] } else { conditions };
    let Some(outcomes) = region.mutate_rows(conditions, &mutations)? else {
        return Ok(RegionAnswer::all(false, mutations.len(), None));
    };
    let grows = mutations.iter().any(Mutation::is_delta);
    let row = grows.then(|| MutationOutcome::join(&outcomes).row);
    Ok(RegionAnswer::all(true, mutations.len(), row))
}

fn each_by_itself(
    context: &Context,
    region: &Served,
    actions: Vec<NumberedAction>,
) -> Vec<NumberedAnswer> {
    let mut answers = Vec::new();
    // Neighbouring mutations go to the region together.
    let mut together: Vec<(u32, Mutation)> = Vec::new();
    for NumberedAction { index, action } in actions {
        match action {
            Ok(Action::Mutate(mutation, nonce)) => {
                together.push((index, mutation.with_nonce(nonce)));
            }
            Ok(Action::Get(get)) => {
                mutate(region, &mut together, &mut answers);
                let answer = get::read(region, &get).map(|row| match get.existence_only {
                    true => ActionAnswer::Exists(!row.is_empty()),
                    false => ActionAnswer::Row(row),
                });
                answers.push(NumberedAnswer { index, answer });
            }
            Ok(Action::Service(call)) => {
                mutate(region, &mut together, &mut answers);
                let answer = endpoint::call(context, region, call).map(ActionAnswer::Service);
                answers.push(NumberedAnswer { index, answer });
            }
            Err(error) => answers.push(NumberedAnswer { index, answer: Err(error) }),
        }
    }
    mutate(region, &mut together, &mut answers);
    answers
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
        let answer = outcome.map(|outcome| match mutation.is_delta() {
            true => ActionAnswer::Row(outcome.row),
            false => ActionAnswer::Done,
        });
        NumberedAnswer { index, answer }
    }));
}
