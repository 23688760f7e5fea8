//! Executes many actions in one call. Actions fail independently.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use rowhouse_format::convert::multi::{
    Action, ActionResult, IndexedAction, IndexedResult, MultiCall, MultiResult, RegionActions,
    RegionResult,
};
use rowhouse_format::convert::mutate::check_condition_row;
use rowhouse_format::proto;
use rowhouse_model::{
    Error, ErrorKind, Get, Mutation, MutationOutcome, Result, RowCondition, escape,
};
use rowhouse_store::{NonBlocking, Region, Store, WaitMode};

use super::get::{self, InRoom};
use super::{bytes_of, endpoint};
use crate::answer::ResumableCall;
use crate::call::CallContext;
use crate::cluster::ServedRegion;
use crate::context::Context;
use crate::limits::MULTI_ANSWER_BYTES_MAX;

/// A call with many actions, and the progress.
pub(crate) struct Multi {
    remaining: VecDeque<RegionActions>,
    /// The remaining work in the current region.
    current: Option<RegionWork>,
    answers: Vec<Result<RegionResult>>,
    answer_bytes: AnswerBytes,
}

/// The remaining work in a region.
#[expect(clippy::large_enum_variant, reason = "a call has one at a time, on its stack")]
enum RegionWork {
    AsOne { region: Arc<Region>, conditions: Vec<RowCondition>, mutations: Vec<Mutation> },
    IndependentActions(IndependentActions),
}

impl ResumableCall for Multi {
    type Answer = MultiResult;

    fn parse(call_context: &CallContext) -> Result<Self> {
        let request = call_context.message::<proto::MultiRequest>()?;
        let cells = &mut call_context.request.cells(call_context.client.codec);
        let call = MultiCall::from_proto(request, cells)?;
        let has_limit = call_context.client.is_at_least(1, 2);
        Ok(Self {
            remaining: call.regions.into(),
            current: None,
            answers: Vec::new(),
            answer_bytes: AnswerBytes { bytes: 0, has_limit },
        })
    }

    fn resume(&mut self, call_context: &CallContext) -> Result<NonBlocking<MultiResult>> {
        let context = &call_context.context;
        loop {
            let current = self.current.take().map(Ok);
            let mut todo =
                match current.or_else(|| Some(begin(context, self.remaining.pop_front()?))) {
                    None => break,
                    Some(Ok(todo)) => todo,
                    Some(Err(refused)) => {
                        self.answers.push(Err(refused));
                        continue;
                    }
                };
            let done = match &mut todo {
                RegionWork::AsOne { region, conditions, mutations } => {
                    all_or_nothing(region, conditions, mutations, call_context.wait_mode)
                }
                RegionWork::IndependentActions(each) => {
                    Ok(each.resume(call_context, &mut self.answer_bytes))
                }
            };
            match done {
                Ok(NonBlocking::Done(answer)) => self.answers.push(Ok(answer)),
                Err(refused) => self.answers.push(Err(refused)),
                Ok(NonBlocking::WouldBlock) => {
                    self.current = Some(todo);
                    return Ok(NonBlocking::WouldBlock);
                }
            }
        }
        Ok(NonBlocking::Done(MultiResult { regions: std::mem::take(&mut self.answers) }))
    }

    fn is_started(&self) -> bool {
        let is_some = |todo: &RegionWork| matches!(todo, RegionWork::IndependentActions(each) if !each.answers.is_empty());
        !self.answers.is_empty() || self.current.as_ref().is_some_and(is_some)
    }

    fn reply(
        &self,
        call_context: &CallContext,
        answer: MultiResult,
        out: &mut BytesMut,
    ) -> Result<()> {
        let message = answer.to_proto(call_context.cells_in());
        call_context.reply_with(out, &message, answer.cells())
    }
}

fn begin(context: &Context, region_actions: RegionActions) -> Result<RegionWork> {
    let region = context.cluster.region(&context.server, &region_actions.region)?;
    if let ServedRegion::Stored(region) = &region {
        region.check_serving()?;
    }
    let actions = region_actions.actions?;
    if !region_actions.atomic && region_actions.condition.is_none() {
        return Ok(RegionWork::IndependentActions(IndependentActions::new(region, actions)));
    }
    let mutations: Vec<Mutation> = actions.into_iter().map(mutation_of).collect::<Result<_>>()?;
    let conditions = Vec::from_iter(region_actions.condition);
    // Mutations without a condition may affect several rows, as on HBase.
    for condition in &conditions {
        mutations.iter().try_for_each(|mutation| check_condition_row(condition, mutation))?;
    }
    let region = match region {
        ServedRegion::Stored(region) => region,
        ServedRegion::System(table, _) => return Err(Store::refuse_write(&table)),
    };
    // HBase ignores the condition on an empty mutation list.
    let conditions = if mutations.is_empty() { Vec::new() } else { conditions };
    Ok(RegionWork::AsOne { region, conditions, mutations })
}

/// Returns an atomic action's mutation. An error in one action fails all of them.
fn mutation_of(numbered: IndexedAction) -> Result<Mutation> {
    match numbered.action? {
        Action::Mutate(mutation, nonce) => Ok(mutation.with_nonce(nonce)),
        Action::Get(get) => Err(Error::invalid(format!(
            "Atomic put and/or delete only, not a Get: row={}",
            escape(get.row())
        ))),
        Action::Service(call) => Err(Error::invalid(format!(
            "Atomic put and/or delete only, not a service call: service={}",
            call.service_name
        ))),
    }
}

/// Applies all mutations atomically if the conditions hold.
fn all_or_nothing(
    region: &Region,
    conditions: &[RowCondition],
    mutations: &[Mutation],
    wait_mode: WaitMode,
) -> Result<NonBlocking<RegionResult>> {
    let outcomes = region.in_mode(wait_mode).mutate_rows(conditions, mutations)?;
    Ok(outcomes.map(|outcomes| {
        let Some(outcomes) = outcomes else {
            return RegionResult::all(false, mutations.len(), None);
        };
        let grows = mutations.iter().any(Mutation::is_read_modify_write);
        let row = grows.then(|| MutationOutcome::join(&outcomes).row);
        RegionResult::all(true, mutations.len(), row)
    }))
}

/// A call's answer size.
struct AnswerBytes {
    /// Bytes that the answers so far hold.
    bytes: u64,
    /// Whether the client retries actions that are refused because the answer is full.
    has_limit: bool,
}

/// Appends in a batch. Each returns its cells, which are as large as a table permits.
const APPENDS_AT_ONCE_MAX: usize = 4;

/// Bytes that an answer to an action holds in addition to its cells.
const ANSWER_BYTES: u64 = 128;

impl AnswerBytes {
    fn add(&mut self, answer: &ActionResult) {
        self.bytes += ANSWER_BYTES;
        match answer {
            ActionResult::Row(row) => self.bytes += bytes_of(row),
            ActionResult::Service(value) => {
                self.bytes += value.value.as_ref().map_or(0, |value| value.len() as u64);
            }
            ActionResult::Done | ActionResult::Exists(_) | ActionResult::Nothing => {}
        }
    }

    /// Returns how many cell bytes the next answer may have.
    fn room(&self, call_context: &CallContext) -> u64 {
        let room = call_context.answer_room(self.bytes);
        if self.has_limit {
            room.min(MULTI_ANSWER_BYTES_MAX.saturating_sub(self.bytes))
        } else {
            room
        }
    }

    /// Returns the error for an action that has no room.
    fn full(&self) -> Error {
        let message = format!("the response is full, retry the rest: bytes={}", self.bytes);
        Error::new(ErrorKind::ResponseTooLarge, message)
    }
}

/// A region's independent actions.
struct IndependentActions {
    region: ServedRegion,
    actions: VecDeque<IndexedAction>,
    /// The operation that would have blocked.
    step: Option<RegionOperation>,
    answers: Vec<IndexedResult>,
}

/// One operation on a region.
enum RegionOperation {
    /// Consecutive mutations, applied as one batch, each with the client's index.
    Mutate(Vec<u32>, Vec<Mutation>),
    Get(u32, Get),
    Service(u32, proto::CoprocessorServiceCall),
    Refuse(u32, Error),
}

/// What happened to an operation.
enum Taken {
    Done,
    WouldBlock(RegionOperation),
    /// There is no room for the answer, which is known to have more than so many bytes.
    Outgrown(RegionOperation, u64),
}

impl RegionOperation {
    fn indexes(self) -> Vec<u32> {
        match self {
            Self::Mutate(indexes, _) => indexes,
            Self::Get(index, _) | Self::Service(index, _) | Self::Refuse(index, _) => vec![index],
        }
    }
}

impl IndependentActions {
    fn new(region: ServedRegion, actions: Vec<IndexedAction>) -> Self {
        let answers = Vec::with_capacity(actions.len());
        Self { region, actions: actions.into(), step: None, answers }
    }

    fn resume(
        &mut self,
        call_context: &CallContext,
        answer_bytes: &mut AnswerBytes,
    ) -> NonBlocking<RegionResult> {
        while let Some(step) = self.step.take().or_else(|| self.next_step()) {
            if Instant::now() >= call_context.pause() {
                self.step = Some(step);
                return NonBlocking::WouldBlock;
            }
            let before = self.answers.len();
            let taken = match answer_bytes.room(call_context) {
                0 => Taken::Outgrown(step, answer_bytes.bytes),
                _ => self.take_step(call_context, step, answer_bytes),
            };
            match taken {
                Taken::Done => {}
                Taken::WouldBlock(step) => {
                    self.step = Some(step);
                    return NonBlocking::WouldBlock;
                }
                Taken::Outgrown(step, bytes) => {
                    let retries = answer_bytes.has_limit && answer_bytes.bytes > 0;
                    let is_on_worker = call_context.wait_mode == WaitMode::Blocking;
                    if !is_on_worker || !retries && call_context.outgrow(bytes).is_ok() {
                        self.step = Some(step);
                        return NonBlocking::WouldBlock;
                    }
                    let full = answer_bytes.full();
                    let refuse = |index| IndexedResult { index, answer: Err(full.clone()) };
                    self.answers.extend(step.indexes().into_iter().map(refuse));
                }
            }
            let done = self.answers[before..].iter().filter_map(|one| one.answer.as_ref().ok());
            done.for_each(|answer| answer_bytes.add(answer));
        }
        NonBlocking::Done(RegionResult::each(std::mem::take(&mut self.answers)))
    }

    fn next_step(&mut self) -> Option<RegionOperation> {
        let IndexedAction { index, action } = self.actions.pop_front()?;
        let (first, nonce) = match action {
            Ok(Action::Mutate(mutation, nonce)) => (mutation, nonce),
            Ok(Action::Get(get)) => return Some(RegionOperation::Get(index, get)),
            Ok(Action::Service(call)) => return Some(RegionOperation::Service(index, call)),
            Err(refused) => return Some(RegionOperation::Refuse(index, refused)),
        };
        let mut appends = usize::from(matches!(first, Mutation::Append(_)));
        let mut indexes = vec![index];
        let mut mutations = vec![first.with_nonce(nonce)];
        while let Some(IndexedAction { index, action }) = self.actions.pop_front() {
            match action {
                Ok(Action::Mutate(mutation, nonce)) if appends < APPENDS_AT_ONCE_MAX => {
                    appends += usize::from(matches!(mutation, Mutation::Append(_)));
                    indexes.push(index);
                    mutations.push(mutation.with_nonce(nonce));
                }
                action => {
                    self.actions.push_front(IndexedAction { index, action });
                    break;
                }
            }
        }
        Some(RegionOperation::Mutate(indexes, mutations))
    }

    /// Executes a step, or returns it if it would block or the row has no room in the answer.
    fn take_step(
        &mut self,
        call_context: &CallContext,
        step: RegionOperation,
        answer_bytes: &AnswerBytes,
    ) -> Taken {
        let wait_mode = call_context.wait_mode;
        let (index, answer) = match step {
            RegionOperation::Mutate(indexes, mutations) => {
                return match self.mutate(indexes, mutations, wait_mode) {
                    None => Taken::Done,
                    Some(step) => Taken::WouldBlock(step),
                };
            }
            RegionOperation::Refuse(index, refused) => (index, Err(refused)),
            RegionOperation::Get(index, get) => {
                let row = match wait_mode {
                    WaitMode::NonBlocking => match get::read(&self.region, &get, wait_mode) {
                        Ok(NonBlocking::WouldBlock) => {
                            return Taken::WouldBlock(RegionOperation::Get(index, get));
                        }
                        Ok(NonBlocking::Done(row)) => Ok(row),
                        Err(error) => Err(error),
                    },
                    WaitMode::Blocking => {
                        let used = answer_bytes.bytes;
                        match get::read_in_room(call_context, &self.region, &get, used) {
                            Ok(InRoom::MoreThan(bytes)) => {
                                return Taken::Outgrown(RegionOperation::Get(index, get), bytes);
                            }
                            Ok(InRoom::Whole(row)) => Ok(row),
                            Err(error) => Err(error),
                        }
                    }
                };
                let answer = row.map(|row| {
                    if get.existence_only {
                        ActionResult::Exists(!row.is_empty())
                    } else {
                        ActionResult::Row(row)
                    }
                });
                (index, answer)
            }
            // The endpoint may read a whole region.
            RegionOperation::Service(..) if wait_mode == WaitMode::NonBlocking => {
                return Taken::WouldBlock(step);
            }
            RegionOperation::Service(index, call) => {
                let answer = endpoint::call(call_context, &self.region, call);
                (index, answer.map(ActionResult::Service))
            }
        };
        self.answers.push(IndexedResult { index, answer });
        Taken::Done
    }

    fn mutate(
        &mut self,
        indexes: Vec<u32>,
        mutations: Vec<Mutation>,
        wait_mode: WaitMode,
    ) -> Option<RegionOperation> {
        let outcomes = match &self.region {
            ServedRegion::Stored(region) => match region.in_mode(wait_mode).batch(&mutations) {
                NonBlocking::Done(outcomes) => outcomes,
                NonBlocking::WouldBlock => {
                    return Some(RegionOperation::Mutate(indexes, mutations));
                }
            },
            ServedRegion::System(table, _) => {
                mutations.iter().map(|_| Err(Store::refuse_write(table))).collect()
            }
        };
        let answered = indexes.into_iter().zip(mutations).zip(outcomes);
        self.answers.extend(answered.map(|((index, mutation), outcome)| {
            let answer = outcome.map(|outcome| {
                if mutation.is_read_modify_write() {
                    ActionResult::Row(outcome.row)
                } else {
                    ActionResult::Done
                }
            });
            IndexedResult { index, answer }
        }));
        None
    }
}
