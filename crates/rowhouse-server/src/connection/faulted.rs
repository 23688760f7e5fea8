//! Calls that fail on demand: which call a request is for the rules, and what happens to it.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::exception::Exception;
use rowhouse_format::proto;
use rowhouse_format::rpc::{self, Method, Request, Service};
use rowhouse_model::{Error, ErrorKind, FaultCallKind, FaultEffect, TableName};

use crate::answer::Answer;
use crate::call::Share;
use crate::cluster::ServedRegion;
use crate::context::Context;
use crate::faults::FaultableCall;
use crate::limits::CLOSED_LOOK;

/// Returns the fault that a call has, if any.
pub(super) fn fault_of(context: &Context, request: &Request, now: Instant) -> Option<FaultEffect> {
    let faults = context.cluster.faults.as_ref().filter(|faults| !faults.is_empty())?;
    let is_of_region_server = matches!(request.method.service(), Service::Client | Service::Admin);
    if is_of_region_server && faults.is_dead(context.server.number, now) {
        return Some(FaultEffect::CutBefore);
    }
    let effect = faults.decide(&faultable(context, request)?, now)?;
    tracing::info!(method = ?request.method, effect = effect.name(), "a fault hits a call");
    Some(effect)
}

/// Returns the call as rules see it; `None` for calls that no rule hits, and for those without a
/// region that is here.
fn faultable(context: &Context, request: &Request) -> Option<FaultableCall> {
    let server = context.server.number;
    let call = |kind, region| {
        let table = table_of(context, region?)?;
        Some(FaultableCall { kind, table, server, continues_scan: false })
    };
    match request.method {
        Method::Get => {
            let get = request.message::<proto::GetRequest>().ok()?;
            call(FaultCallKind::Get, Some(get.region))
        }
        Method::Mutate => {
            let mutate = request.message::<proto::MutateRequest>().ok()?;
            call(FaultCallKind::Mutate, Some(mutate.region))
        }
        Method::Multi => {
            // A batch of several tables counts for the first.
            let multi = request.message::<proto::MultiRequest>().ok()?;
            let first = multi.region_action.into_iter().next();
            call(FaultCallKind::Multi, first.map(|action| action.region))
        }
        Method::Scan => {
            let scan = request.message::<proto::ScanRequest>().ok()?;
            let Some(id) = scan.scanner_id else {
                return call(FaultCallKind::Scan, scan.region);
            };
            let scanner = context.server.scanners.find(id).ok()?;
            // One that another call uses, or of a system table, is of no table that rules have.
            let table = scanner.try_lock()?.region()?.info().table.clone();
            let continues_scan = !scan.close_scanner();
            Some(FaultableCall { kind: FaultCallKind::Scan, table, server, continues_scan })
        }
        _ => None,
    }
}

/// Returns the table of a region that this server serves.
fn table_of(context: &Context, region: proto::RegionSpecifier) -> Option<TableName> {
    match context.cluster.region(&context.server, &RegionRef::from_proto(region)).ok()? {
        ServedRegion::Stored(region) => Some(region.info().table.clone()),
        ServedRegion::System(table, _) => Some(table),
    }
}

/// Returns true if an effect cuts the connection before the call begins.
pub(super) fn cuts_before(effect: FaultEffect) -> bool {
    matches!(effect, FaultEffect::CutBefore | FaultEffect::DeadServer(_))
}

/// Lets a call that is answered by `answer` fail in the way of an effect that neither cuts the
/// connection before nor has an exception.
pub(super) async fn fail(
    effect: FaultEffect,
    share: &Share,
    answer: impl Future<Output = Answer>,
) -> Answer {
    if let FaultEffect::Delay(wait) = effect
        && !delay(wait, share).await
    {
        return Answer::default();
    }
    let answer = answer.await;
    match effect {
        FaultEffect::CutAfter => Answer { is_cut: true, ..Answer::default() },
        FaultEffect::LostAnswer => Answer::default(),
        _ => answer,
    }
}

/// Writes the exception of an effect, if it has one.
pub(super) fn refuse(
    context: &Context,
    effect: FaultEffect,
    call_id: u32,
    out: &mut BytesMut,
) -> bool {
    let error = |kind| Exception::from(&Error::new(kind, "a fault on demand"));
    let exception = match effect {
        FaultEffect::RegionTooBusy => error(ErrorKind::RegionTooBusy),
        FaultEffect::NotServingRegion => error(ErrorKind::NotServingRegion),
        FaultEffect::CallQueueTooBig => Exception::call_queue_full(),
        FaultEffect::RegionMoved => Exception::region_moved(&context.server.name),
        FaultEffect::Delay(_)
        | FaultEffect::CutBefore
        | FaultEffect::CutAfter
        | FaultEffect::LostAnswer
        | FaultEffect::LostScanner
        | FaultEffect::DeadServer(_) => return false,
    };
    rpc::encode_exception(out, call_id, &exception);
    true
}

/// Waits as long as a call is delayed. Returns false if the connection has closed meanwhile, which
/// is noticed within [`CLOSED_LOOK`].
pub(super) async fn delay(delay: Duration, share: &Share) -> bool {
    let until = tokio::time::Instant::now() + delay;
    while !share.is_closed() && tokio::time::Instant::now() < until {
        let look = tokio::time::Instant::now() + CLOSED_LOOK;
        tokio::time::sleep_until(until.min(look)).await;
    }
    !share.is_closed()
}

/// Closes the scanner that a call continues.
pub(super) fn lose_scanner(context: &Context, request: &Request) {
    let scan = request.message::<proto::ScanRequest>().ok();
    if let Some(id) = scan.and_then(|scan| scan.scanner_id) {
        context.server.scanners.close(id);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rowhouse_model::FaultRule;

    use super::*;
    use crate::memory::{CallMemory, ConnectionMemory};

    #[tokio::test]
    async fn a_delay_ends_when_the_connection_has_closed() {
        let memory = Arc::new(CallMemory::new(1 << 20, 1 << 20));
        let share = Share::new(ConnectionMemory::new(&memory));
        assert!(delay(Duration::from_millis(1), &share).await);
        let close = async {
            tokio::task::yield_now().await;
            share.close();
        };
        let (goes_on, ()) = tokio::join!(delay(FaultRule::TIME_MAX, &share), close);
        assert!(!goes_on);
    }
}
