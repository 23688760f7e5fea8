//! Procedures. HBase runs slow operations in the background, and clients poll them by number. Here
//! an operation is complete when the number is returned.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rowhouse_format::convert::procedure::ProcedureCall;
use rowhouse_format::convert::procedure::fault::{self, FaultCall};
use rowhouse_format::convert::procedure::follower::{self, FollowerCall};
use rowhouse_format::convert::procedure::heat::{self, HeatCall};
use rowhouse_format::convert::procedure::index::{IndexCall, IndexOperation};
use rowhouse_format::convert::procedure::promotion::PromotionCall;
use rowhouse_format::convert::procedure::query_index::{self, QueryIndexCall};
use rowhouse_format::convert::procedure::region_server::{RegionServerCall, RegionServerChange};
use rowhouse_format::convert::procedure::state::StateCall;
use rowhouse_format::convert::procedure::{backup, index};
use rowhouse_format::proto;
use rowhouse_format::proto::get_procedure_result_response::State;
use rowhouse_model::{Bytes, Error, IndexStatus, Result, Scan, Snapshot};
use rowhouse_query::QueryScan;
use rowhouse_schema::IndexState;
use rowhouse_store::LayoutChange;

use super::{snapshot, table};
use crate::call::CallContext;
use crate::context::Context;
use crate::lifecycle::End;
use crate::states;

static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// Returns a completed procedure's number.
pub(crate) fn done() -> Option<u64> {
    Some(LAST_ID.fetch_add(1, Ordering::Relaxed) + 1)
}

/// Aborts nothing: a procedure with a number is complete.
pub(crate) fn abort(
    _: &Context,
    _: proto::AbortProcedureRequest,
) -> Result<proto::AbortProcedureResponse> {
    Ok(proto::AbortProcedureResponse { is_procedure_aborted: false })
}

pub(crate) fn result(
    _: &Context,
    request: proto::GetProcedureResultRequest,
) -> Result<proto::GetProcedureResultResponse> {
    let known = (1..=LAST_ID.load(Ordering::Relaxed)).contains(&request.proc_id);
    let state = if known { State::Finished } else { State::NotFound };
    Ok(proto::GetProcedureResultResponse { state: state.into(), ..Default::default() })
}

/// The longest time after which stock clients give up to ask whether a check or repair is done.
const INDEX_EXPECTED_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// The longest time for which a call waits for a check. It is shorter than the call timeout in
/// HBase's clients, a minute.
const INDEX_WAIT: Duration = Duration::from_secs(20);

/// Runs a procedure that a client names by signature. A backup and an index check or repair
/// continue after the answer; all others are complete.
pub(crate) fn exec(
    context: &Context,
    request: proto::ExecProcedureRequest,
) -> Result<proto::ExecProcedureResponse> {
    let store = &context.cluster.store;
    let mut expected_timeout = snapshot::EXPECTED_MILLIS;
    let mut return_data = None;
    match ProcedureCall::from_proto(&request.procedure)? {
        ProcedureCall::Flush { table, families } => {
            table::flush_families(&*store.table(&table)?, &families)?;
        }
        ProcedureCall::Snapshot { table, name } => {
            store.take_snapshot(Snapshot::new(&name, table)?)?;
        }
        ProcedureCall::Backup(call) => context.cluster.backups.begin(store, call)?,
        ProcedureCall::Fault(call) => return_data = Some(change_faults(context, call)?),
        ProcedureCall::Follower(call) => return_data = change_followers(context, call)?,
        ProcedureCall::Heat(call) => return_data = Some(heat(context, &call)?),
        ProcedureCall::QueryIndex(call) => return_data = Some(query_index(context, &call)?),
        ProcedureCall::RegionServer(call) => change_region_server(context, call)?,
        ProcedureCall::Promotion(call) => promote(context, call)?,
        ProcedureCall::State(call) => change_state(context, &call)?,
        ProcedureCall::Index(call) => {
            begin_index(context, &call)?;
            expected_timeout = INDEX_EXPECTED_MILLIS;
        }
    }
    let expected_timeout = Some(expected_timeout);
    Ok(proto::ExecProcedureResponse { expected_timeout, return_data })
}

/// Swaps a table with an index on it, unless an earlier attempt at the same call has done so.
fn promote(context: &Context, call: PromotionCall) -> Result<()> {
    let PromotionCall { table, index, before, after } = call;
    let layouts = LayoutChange { before, after };
    context.cluster.store.promote_index_once(&table, &index, &layouts)
}

/// Returns the followers of changes, or removes one.
fn change_followers(context: &Context, call: FollowerCall) -> Result<Option<Bytes>> {
    let store = &context.cluster.store;
    match call {
        FollowerCall::List => Ok(Some(follower::followers_to_bytes(store.followers()))),
        FollowerCall::Drop(name) => store.drop_follower(&name).map(|()| None),
    }
}

/// Adds, lists or removes rules for faults; returns them.
///
/// # Errors
/// `Unsupported` unless the server was started with permission for faults; `InvalidRequest` for a
/// region server that there is not.
fn change_faults(context: &Context, call: FaultCall) -> Result<Bytes> {
    let faults = context.cluster.faults.as_ref().ok_or_else(|| {
        Error::unsupported(
            "clients may not make calls of this server fail unless it is started with --allow-faults",
        )
    })?;
    let statuses = match call {
        FaultCall::Add(rule) => {
            if let Some(server) = rule.server {
                context.cluster.members.check_number(server)?;
            }
            vec![faults.add(rule, Instant::now())?]
        }
        FaultCall::List => faults.list(),
        FaultCall::Remove(id) => faults.remove(id)?,
    };
    Ok(fault::statuses_to_bytes(&statuses))
}

/// Resets, saves or restores all tables, or deletes a state.
///
/// # Errors
/// `Unsupported` unless the server was started with permission for it.
fn change_state(context: &Context, call: &StateCall) -> Result<()> {
    if !context.cluster.options.allow_reset {
        return Err(Error::unsupported(
            "clients may not replace all tables of this server unless it is started with --allow-reset",
        ));
    }
    let store = &context.cluster.store;
    match call {
        StateCall::Reset => states::reset(store),
        StateCall::Save { name } => states::save(store, name),
        StateCall::Restore { name } => states::restore(store, name),
        StateCall::Delete { name } => states::delete(store, name),
    }
}

fn change_region_server(context: &Context, call: RegionServerCall) -> Result<()> {
    let cluster = &context.cluster;
    let number = call.number;
    match call.change {
        RegionServerChange::Start => cluster.start_region_server(number).map(drop),
        RegionServerChange::Stop => cluster.end_region_server(number, End::Stop),
        RegionServerChange::Kill => cluster.end_region_server(number, End::Kill),
    }
}

/// Runs a procedure that a client names by signature, and returns what it reports. An index check
/// that takes long reports how far it is; the same call again waits for the same check.
pub(crate) fn exec_with_answer(call_context: &CallContext, out: &mut BytesMut) -> Result<()> {
    let request = call_context.message::<proto::ExecProcedureRequest>()?;
    let context = &call_context.context;
    let return_data = match ProcedureCall::from_proto(&request.procedure)? {
        ProcedureCall::Fault(call) => change_faults(context, call)?,
        ProcedureCall::Heat(call) => heat(context, &call)?,
        ProcedureCall::QueryIndex(call) => query_index(context, &call)?,
        ProcedureCall::Index(call) => index_answer(context, &call)?,
        // HBase's client polls the other call after a pause, and this one not at all.
        ProcedureCall::State(call) => {
            change_state(context, &call)?;
            Bytes::new()
        }
        _ => {
            return Err(Error::unsupported(format!(
                "only the procedures of faults, heat, indexes, queries and states return data: signature={}",
                request.procedure.signature
            )));
        }
    };
    let return_data = Some(return_data);
    call_context.reply(out, &proto::ExecProcedureResponse { expected_timeout: None, return_data })
}

/// Begins to check or repair an index, and returns how far that is. Waits some time for a check.
fn index_answer(context: &Context, call: &IndexCall) -> Result<Bytes> {
    begin_index(context, call)?;
    let status = match call.operation {
        IndexOperation::Verify => {
            context.cluster.index_checks.wait(&call.table, &call.index, INDEX_WAIT)?
        }
        IndexOperation::Repair => index_status(context, call)?,
    };
    Ok(index::status_to_text(&status).into_bytes().into())
}

/// Returns a table's heat.
fn heat(context: &Context, call: &HeatCall) -> Result<Bytes> {
    let table = context.cluster.store.table(&call.table)?;
    let report = table.heat(call.from_millis, call.to_millis);
    Ok(heat::report_to_bytes(&report))
}

/// Returns the name of the index that answers a query.
fn query_index(context: &Context, call: &QueryIndexCall) -> Result<Bytes> {
    let scan = Scan { columns: call.columns.clone(), ..Scan::all() };
    let limit = call.limit;
    let query_scan =
        QueryScan { query: &call.query, scan: &scan, limit, as_of: 0, ignores_tags: true };
    let plan = rowhouse_query::query_index(&context.cluster.store, &call.table, &query_scan)?;
    Ok(query_index::answer_to_bytes(plan.as_ref().map(|plan| plan.index().name())))
}

/// Begins to check or repair an index, unless that is under way.
fn begin_index(context: &Context, call: &IndexCall) -> Result<()> {
    let IndexCall { table, index, operation } = call;
    let store = &context.cluster.store;
    match operation {
        IndexOperation::Verify => {
            context.cluster.index_checks.begin((store, &context.cluster.search), table, index)
        }
        IndexOperation::Repair => match store.index_state(table, index)? {
            // A retry of this call, or a build that makes all entries.
            IndexState::Building { .. } | IndexState::Repairing => Ok(()),
            _ => store.request_index_repair(table, index),
        },
    }
}

/// Returns how far an index check or repair is.
fn index_status(context: &Context, call: &IndexCall) -> Result<IndexStatus> {
    let IndexCall { table, index, operation } = call;
    match operation {
        IndexOperation::Verify => context.cluster.index_checks.status(table, index),
        IndexOperation::Repair => match context.cluster.store.index_state(table, index)? {
            IndexState::Ready => Ok(IndexStatus { is_done: true, ..IndexStatus::default() }),
            IndexState::Off(why) if !is_rebuilt(context, call)? => {
                Err(Error::invalid(format!("index {index} is off: {why}")))
            }
            _ => Ok(IndexStatus::default()),
        },
    }
}

/// Returns true if an index is off for a moment: the store builds it anew.
fn is_rebuilt(context: &Context, call: &IndexCall) -> Result<bool> {
    let store = &context.cluster.store;
    let table = store.table(&call.table)?;
    let Some(indexes) = table.indexes()? else { return Ok(false) };
    let entries = indexes.index(&call.index)?.table_name(&call.table)?;
    Ok(store.is_index_rebuilt(&*store.table(&entries)?))
}

/// Returns the progress of a procedure that was started by signature.
pub(crate) fn is_done(
    context: &Context,
    request: proto::IsProcedureDoneRequest,
) -> Result<proto::IsProcedureDoneResponse> {
    let unsaid = || Error::invalid("the request names no procedure");
    let done = || proto::IsProcedureDoneResponse { done: Some(true), snapshot: None };
    match ProcedureCall::from_proto(&request.procedure.ok_or_else(unsaid)?)? {
        // These are complete when the call that runs them returns.
        ProcedureCall::Flush { .. }
        | ProcedureCall::Fault(_)
        | ProcedureCall::Follower(_)
        | ProcedureCall::Heat(_)
        | ProcedureCall::Promotion(_)
        | ProcedureCall::QueryIndex(_)
        | ProcedureCall::RegionServer(_)
        | ProcedureCall::State(_) => Ok(done()),
        ProcedureCall::Snapshot { name, .. } => {
            context.cluster.store.snapshot(&name).map(|_| done())
        }
        ProcedureCall::Backup(call) => {
            Ok(backup::status_to_proto(&call, &context.cluster.backups.status(&call)?))
        }
        ProcedureCall::Index(call) => {
            Ok(index::status_to_proto(&call, &index_status(context, &call)?))
        }
    }
}
