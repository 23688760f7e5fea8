//! Answers calls: on the connection's task while that neither blocks nor takes long, otherwise on a
//! worker thread. Limits the worker threads, drops calls of clients that have given up, and counts
//! and logs all calls.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, Request};
use rowhouse_model::{Error, ErrorKind, Result};
use rowhouse_store::NonBlocking;
use tokio::sync::Semaphore;

use crate::call::{CallContext, Client};
use crate::dispatch::route;
use crate::limits::WORKERS_MAX;
use crate::server::Context;

/// A call that is tried on the connection's task and resumed on a worker thread if it would block
/// or has taken long there.
pub(crate) trait ResumableCall: Send + Sized + 'static {
    /// The result of the work, which [`ResumableCall::reply`] writes.
    type Answer;

    /// Decodes the request and looks up its region or scanner.
    fn parse(call_context: &CallContext) -> Result<Self>;

    /// Does the remaining work. In non-blocking mode returns `WouldBlock` before an operation
    /// that would block, and at [`CallContext::pause`].
    fn resume(&mut self, call_context: &CallContext) -> Result<NonBlocking<Self::Answer>>;

    /// Returns whether some of the work is done: then the rest is done even if the client has given
    /// up.
    fn is_begun(&self) -> bool {
        false
    }

    /// Writes the answer.
    fn reply(&self, _: &CallContext, answer: Self::Answer, out: &mut BytesMut) -> Result<()>;
}

/// The result of routing a call.
pub(crate) enum Routed {
    /// The answer is written.
    Answered,
    /// The call may block or take long, or has taken long: the rest is for a worker thread.
    Pending { work: Work, is_begun: bool },
}

/// The remaining work of a call, for a worker thread.
pub(crate) type Work = Box<dyn FnOnce(&CallContext, &mut BytesMut) -> Result<()> + Send>;

impl Routed {
    /// Leaves a whole call to a worker thread.
    pub(crate) fn to_worker(
        work: impl FnOnce(&CallContext, &mut BytesMut) -> Result<()> + Send + 'static,
    ) -> Self {
        Self::Pending { work: Box::new(work), is_begun: false }
    }
}

/// Tries a call on the connection's task. A large one is left to a worker thread unparsed.
pub(crate) fn try_here<C: ResumableCall>(
    call_context: &CallContext,
    out: &mut BytesMut,
) -> Result<Routed> {
    if !call_context.is_small() {
        return Ok(Routed::to_worker(|context, out| finish(C::parse(context)?, context, out)));
    }
    let mut call = C::parse(call_context)?;
    if let NonBlocking::Done(answer) = call.resume(call_context)? {
        call.reply(call_context, answer, out)?;
        return Ok(Routed::Answered);
    }
    let is_begun = call.is_begun();
    Ok(Routed::Pending { work: Box::new(|context, out| finish(call, context, out)), is_begun })
}

/// Does the rest of a call on a worker thread.
fn finish(
    mut call: impl ResumableCall,
    call_context: &CallContext,
    out: &mut BytesMut,
) -> Result<()> {
    let answer = call.resume(call_context)?.done();
    call.reply(call_context, answer, out)
}

/// Answers a call that arrived at `arrived`, or returns the rest of it for a worker thread.
pub(crate) fn answer(
    context: &Arc<Context>,
    client: Client,
    request: Request,
    arrived: Instant,
    out: &mut BytesMut,
) -> Option<PendingCall> {
    // The connection of a server that was killed is cut.
    let _running = context.server.begin_call()?;
    context.server.requests.count();
    let call_context = CallContext::new(Arc::clone(context), client, request, arrived);
    if context.server.is_stopping() {
        let stopping = Error::new(ErrorKind::ServerNotRunning, "the server is stopping");
        call_context.refuse(out, &stopping);
        return None;
    }
    let written = out.len();
    match route(&call_context, out) {
        Ok(Routed::Answered) => call_context.finish(out.len() - written),
        Ok(Routed::Pending { work, is_begun }) => {
            return Some(PendingCall { call_context, work, is_begun });
        }
        Err(error) => call_context.refuse(out, &error),
    }
    None
}

/// A call that waits for a worker thread.
pub(crate) struct PendingCall {
    call_context: CallContext,
    work: Work,
    is_begun: bool,
}

impl PendingCall {
    /// Runs the call and writes its answer. If the client's timeout has passed before the call
    /// starts, or its server was killed, the call is dropped without an answer, as on HBase.
    fn run(self, out: &mut BytesMut) {
        let Self { mut call_context, work, is_begun } = self;
        let Some(_running) = call_context.context.server.begin_call() else { return };
        call_context.move_to_worker(is_begun);
        if !is_begun && call_context.is_expired() {
            let (method, timeout) = (call_context.request.method, call_context.request.timeout_ms);
            tracing::warn!(?method, timeout, "a call was dropped after its client's timeout");
            return;
        }
        match work(&call_context, out) {
            Ok(()) => call_context.finish(out.len()),
            Err(error) => call_context.refuse(out, &error),
        }
    }
}

/// The worker threads of a region server. At most [`WORKERS_MAX`] calls run at once; the others
/// wait in the order in which they came. Threads start on demand and end when idle.
pub(crate) struct Workers {
    permits: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(WORKERS_MAX)) }
    }
}

impl Workers {
    /// Runs a call once a thread is free for it and returns the bytes of its answer.
    pub(crate) async fn run(&self, call: PendingCall) -> BytesMut {
        let call_id = call.call_context.request.call_id;
        // `acquire_owned` cannot fail: the semaphore is never closed.
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let answered = tokio::task::spawn_blocking(move || {
            let mut out = BytesMut::new();
            call.run(&mut out);
            drop(permit);
            out
        });
        answered.await.unwrap_or_else(|panic| {
            // Without an answer the client would wait until its timeout.
            tracing::error!(%panic, "a call broke off");
            let error =
                Error::new(ErrorKind::OutcomeUnknown, "the call broke off inside the server");
            let mut out = BytesMut::new();
            rpc::encode_exception(&mut out, call_id, &Exception::from(&error));
            out
        })
    }
}
