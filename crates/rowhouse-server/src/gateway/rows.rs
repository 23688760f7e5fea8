//! Gets, mutations and batches.

use std::collections::HashMap;

use bytes::Bytes;
use prost::Message;
use rowhouse_format::convert::CellPlacement;
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, IndexedResult, MultiCall, MultiResult, RegionActions,
};
use rowhouse_format::convert::mutate::{self, MutateCall};
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::{get, result};
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_model::{Condition, Error, ErrorKind, Get, Mutation, Row, TableName};

use super::session::{At, Attempts, Place, Reply, Session, exception, is_refusal_for_now};
use crate::limits::{GATEWAY_WRITTEN_OUT_MAX, SHORT_CALL_BYTES};
use crate::memory::{CALL_BYTES, Reserved};

/// A get or mutation in a batch.
#[derive(Clone, Debug)]
pub(crate) enum RowAction {
    Get(Get),
    Mutate(Mutation),
}

impl RowAction {
    fn row(&self) -> &Bytes {
        match self {
            Self::Get(get) => get.row(),
            Self::Mutate(mutation) => mutation.row(),
        }
    }

    /// Returns how many bytes the action has in a request, roughly.
    fn byte_len(&self) -> u64 {
        let cells = match self {
            Self::Get(get) => get::to_proto(get).encoded_len() as u64,
            Self::Mutate(mutation) => cell_bytes(mutation),
        };
        cells + self.row().len() as u64 + 64
    }
}

/// An action's answer: the row of a get, the new cells from an increment or append, or an empty
/// row.
pub(crate) type ActionAnswer = Result<Row, Exception>;

/// A row, and what its bytes have reserved.
pub(crate) struct ReadRow {
    pub(crate) row: Row,
    pub(crate) memory: Option<Reserved>,
}

/// What a mutation did.
pub(crate) struct Mutated {
    /// False if the mutation's condition did not hold.
    pub(crate) done: bool,
    /// The new cells from an increment or append.
    pub(crate) row: Row,
    pub(crate) memory: Option<Reserved>,
}

impl Session {
    /// Reserves what a request takes once it is written out in full: gets that have the same
    /// columns for each row, cells that have the key of their row. `memory` is what the request
    /// itself has reserved; a larger reservation takes the place of it.
    ///
    /// # Errors
    /// `InvalidRequest` above [`GATEWAY_WRITTEN_OUT_MAX`].
    pub(crate) async fn reserve_written_out(
        &self,
        bytes: u64,
        memory: Option<Reserved>,
    ) -> Result<Option<Reserved>, Error> {
        if bytes > GATEWAY_WRITTEN_OUT_MAX {
            return Err(Error::invalid(format!(
                "the request is too large once each row has its columns and each cell its row: \
                 bytes={bytes}, max={GATEWAY_WRITTEN_OUT_MAX}"
            )));
        }
        // The actions, their copies for regions, the message, and its cells.
        let needed = 4 * bytes + CALL_BYTES;
        let reserved = memory.as_ref().map_or(SHORT_CALL_BYTES as u64, Reserved::bytes);
        if needed <= reserved.max(SHORT_CALL_BYTES as u64 + CALL_BYTES) {
            return Ok(memory);
        }
        // What waits for memory holds none.
        drop(memory);
        Ok(Some(self.reserve(needed).await))
    }

    /// Reads a row; without cells if there is none.
    ///
    /// # Errors
    /// As [`Session::at_row`].
    pub(crate) async fn get(&self, table: &TableName, read: &Get) -> Result<ReadRow, Exception> {
        let make = |region: RegionRef| {
            Ok(proto::GetRequest { region: region.to_proto(), get: get::to_proto(read) })
        };
        let mut reply = self.at_row(table, read.row(), make).await?;
        let Some(result) = reply.message.result else {
            return Ok(ReadRow { row: Row::default(), memory: None });
        };
        let read = result::from_proto(result, &mut reply.cells).map_err(exception)?;
        Ok(ReadRow { row: read.row, memory: reply.memory })
    }

    /// Makes a mutation, with a condition if there is one. `memory` is what the mutation's bytes
    /// have reserved, with [`CALL_BYTES`], if it is large.
    ///
    /// # Errors
    /// As [`Session::at_row`].
    pub(crate) async fn mutate(
        &self,
        table: &TableName,
        mutation: &Mutation,
        condition: Option<&Condition>,
        mut memory: Option<Reserved>,
    ) -> Result<Mutated, Exception> {
        let mut attempts = Attempts::default();
        loop {
            let called = match self.locate(table, At::Row(mutation.row())) {
                Ok(place) => {
                    let call = MutateCall {
                        region: place.region,
                        mutation: mutation.clone(),
                        nonce: None,
                        condition: condition.cloned(),
                    };
                    let message = call.to_proto(CellPlacement::Block).map_err(exception)?;
                    self.call(&place.server, &message, mutation.cells(), memory.take()).await
                }
                Err(exception) => Err(exception),
            };
            let mut reply = match called {
                Ok(reply) => reply,
                Err(exception) => {
                    attempts.wait(exception).await?;
                    let bytes = cell_bytes(mutation);
                    if bytes > SHORT_CALL_BYTES as u64 {
                        memory = Some(self.reserve(2 * bytes + CALL_BYTES).await);
                    }
                    continue;
                }
            };
            let done = reply.message.processed.unwrap_or(true);
            let row = mutate::answer_from_proto(reply.message, &mut reply.cells);
            return Ok(Mutated { done, row: row.map_err(exception)?, memory: reply.memory });
        }
    }

    /// Makes gets and mutations on any rows. What one fails with does not prevent the others.
    /// `memory` is what the actions' bytes have reserved, with [`CALL_BYTES`], if there are many.
    pub(crate) async fn batch(
        &self,
        table: &TableName,
        actions: &[RowAction],
        mut memory: Option<Reserved>,
    ) -> BatchAnswers {
        let mut batch = BatchAnswers::default();
        let mut answers: Vec<Option<ActionAnswer>> = actions.iter().map(|_| None).collect();
        let mut attempts = Attempts::default();
        loop {
            let mut refusal = None;
            for (place, indexes) in self.by_region(table, actions, &mut answers) {
                let called = self.call_region(place, actions, &indexes, &mut memory, &batch).await;
                let outcome = called.and_then(|mut reply| {
                    let result = MultiResult::from_proto(reply.message, &mut reply.cells);
                    Ok((result.map_err(exception)?, reply.memory))
                });
                match outcome {
                    Ok((result, held)) => {
                        if take_answers(result, &indexes, &mut answers) {
                            batch.memory.extend(held);
                        }
                    }
                    Err(failed) => {
                        indexes.iter().for_each(|&at| answers[at] = Some(Err(failed.clone())));
                    }
                }
            }
            // Those that were refused for a while are made again.
            for answer in &mut answers {
                if let Some(Err(exception)) = answer
                    && is_refusal_for_now(exception)
                {
                    refusal = answer.take().and_then(Result::err);
                }
            }
            let Some(refusal) = refusal else { break };
            if let Err(exception) = attempts.wait(refusal).await {
                let open = answers.iter_mut().filter(|answer| answer.is_none());
                open.for_each(|answer| *answer = Some(Err(exception.clone())));
                break;
            }
        }
        batch.answers = answers.into_iter().map(|answer| answer.unwrap_or_else(lost)).collect();
        batch
    }

    /// Returns the regions of the actions without answers, each with their indexes. An action whose
    /// region is not there is answered.
    fn by_region(
        &self,
        table: &TableName,
        actions: &[RowAction],
        answers: &mut [Option<ActionAnswer>],
    ) -> Vec<(Place, Vec<usize>)> {
        let mut failed = Vec::new();
        let mut regions: Vec<(Place, Vec<usize>)> = Vec::new();
        let mut numbers: HashMap<Bytes, usize> = HashMap::new();
        for (at, action) in actions.iter().enumerate().filter(|(at, _)| answers[*at].is_none()) {
            match self.locate(table, At::Row(action.row())) {
                Ok(place) => {
                    let number = numbers.entry(place.range.start.clone()).or_insert(regions.len());
                    if *number == regions.len() {
                        regions.push((place, Vec::new()));
                    }
                    regions[*number].1.push(at);
                }
                Err(exception) => failed.push((at, exception)),
            }
        }
        failed.into_iter().for_each(|(at, exception)| answers[at] = Some(Err(exception)));
        regions
    }

    /// Makes the actions with these indexes in their region.
    async fn call_region(
        &self,
        place: Place,
        actions: &[RowAction],
        indexes: &[usize],
        memory: &mut Option<Reserved>,
        batch: &BatchAnswers,
    ) -> Result<Reply<proto::MultiResponse>, Exception> {
        // The answer has an action's place in the message as the index.
        let numbered = (0..).zip(indexes).map(|(index, &at)| {
            let action = match &actions[at] {
                RowAction::Get(get) => Action::Get(get.clone()),
                RowAction::Mutate(mutation) => Action::Mutate(mutation.clone(), None),
            };
            IndexedAction { index, action: Ok(action) }
        });
        let region = RegionActions {
            region: place.region,
            atomic: false,
            condition: None,
            actions: Ok(numbered.collect()),
        };
        let (message, cells) = MultiCall { regions: vec![region] }.to_proto().map_err(exception)?;
        let bytes = 2 * indexes.iter().map(|&at| actions[at].byte_len()).sum::<u64>() + CALL_BYTES;
        let part = match memory {
            Some(memory) if memory.bytes() >= bytes => memory.split_off(bytes),
            _ => {
                // What waits for memory holds none.
                drop(memory.take());
                if batch.memory.is_empty() {
                    self.reserve(bytes).await
                } else {
                    self.share().memory.try_reserve(bytes).ok_or_else(out_of_memory)?
                }
            }
        };
        self.call(&place.server, &message, &cells, Some(part)).await
    }
}

/// The answers to a batch.
#[derive(Default)]
pub(crate) struct BatchAnswers {
    /// In the order of the actions.
    pub(crate) answers: Vec<ActionAnswer>,
    /// What the answers' cells have reserved.
    pub(crate) memory: Vec<Reserved>,
}

/// Takes the answers from a region. Returns true if some have cells.
fn take_answers(
    mut result: MultiResult,
    indexes: &[usize],
    answers: &mut [Option<ActionAnswer>],
) -> bool {
    let result = match result.regions.pop() {
        Some(Ok(result)) => result,
        Some(Err(error)) => {
            let exception = exception(error);
            indexes.iter().for_each(|&at| answers[at] = Some(Err(exception.clone())));
            return false;
        }
        None => return false,
    };
    let mut has_cells = false;
    for IndexedResult { index, answer } in result.answers {
        let Some(&at) = indexes.get(index as usize) else { continue };
        let row = answer.map(|result| match result {
            ActionResult::Row(row) => row,
            ActionResult::Done
            | ActionResult::Exists(_)
            | ActionResult::Service(_)
            | ActionResult::Nothing => Row::default(),
        });
        has_cells |= row.as_ref().is_ok_and(|row| !row.is_empty());
        answers[at] = Some(row.map_err(exception));
    }
    has_cells
}

fn cell_bytes(mutation: &Mutation) -> u64 {
    mutation.cells().iter().map(|cell| cell.as_bytes().len() as u64).sum()
}

fn lost() -> ActionAnswer {
    Err(exception(Error::new(ErrorKind::Protocol, "an action has no answer")))
}

fn out_of_memory() -> Exception {
    let message = "the answers before this one use up the memory for calls";
    exception(Error::new(ErrorKind::ResponseTooLarge, message))
}
