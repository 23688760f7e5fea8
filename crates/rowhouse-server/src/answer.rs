//! Answers calls: on the connection's task while that neither blocks nor takes long, otherwise on a
//! worker thread, in slices of time and within reserved memory. Limits the worker threads, drops
//! calls of clients that have given up, and counts and logs all calls.

use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, Method, Request};
use rowhouse_model::{Error, ErrorKind, Result};
use rowhouse_store::NonBlocking;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::call::{CallContext, Client};
use crate::dispatch::route;
use crate::limits::{READERS_MIN, READERS_PER_PROCESSOR, WORKERS_MAX};
use crate::memory::Reserved;
use crate::server::Context;

/// A call that is tried on the connection's task and resumed on a worker thread if it would block,
/// has taken long there, or has a large answer.
pub(crate) trait ResumableCall: Send + Sized + 'static {
    /// The result of the work, which [`ResumableCall::reply`] writes.
    type Answer;

    /// Decodes the request and looks up its region or scanner.
    fn parse(call_context: &CallContext) -> Result<Self>;

    /// Does the remaining work. Returns `WouldBlock` at [`CallContext::pause`], after
    /// [`CallContext::outgrow`], and in non-blocking mode before an operation that would block or
    /// when the answer outgrows [`CallContext::answer_room`].
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
pub(crate) type Work = Box<dyn FnOnce(&CallContext, &mut BytesMut) -> Result<Routed> + Send>;

impl Routed {
    /// Leaves a whole call to a worker thread.
    pub(crate) fn to_worker(
        work: impl FnOnce(&CallContext, &mut BytesMut) -> Result<()> + Send + 'static,
    ) -> Self {
        let work = |context: &CallContext, out: &mut BytesMut| {
            work(context, out)?;
            Ok(Self::Answered)
        };
        Self::Pending { work: Box::new(work), is_begun: false }
    }
}

/// Tries a call on the connection's task. A large one is left to a worker thread unparsed.
pub(crate) fn try_here<C: ResumableCall>(
    call_context: &CallContext,
    out: &mut BytesMut,
) -> Result<Routed> {
    if !call_context.is_small() {
        let work =
            |context: &CallContext, out: &mut BytesMut| resume(C::parse(context)?, context, out);
        return Ok(Routed::Pending { work: Box::new(work), is_begun: false });
    }
    resume(C::parse(call_context)?, call_context, out)
}

/// Does work of a call until it is answered, or until it leaves the rest for later.
fn resume(
    mut call: impl ResumableCall,
    call_context: &CallContext,
    out: &mut BytesMut,
) -> Result<Routed> {
    match call.resume(call_context)? {
        NonBlocking::Done(answer) => {
            call.reply(call_context, answer, out)?;
            Ok(Routed::Answered)
        }
        NonBlocking::WouldBlock => {
            let is_begun = call.is_begun();
            Ok(Routed::Pending {
                work: Box::new(|context, out| resume(call, context, out)),
                is_begun,
            })
        }
    }
}

/// Answers a call that arrived at `arrived`, or returns the rest of it for a worker thread.
pub(crate) fn answer(
    context: &Arc<Context>,
    client: Client,
    request: Request,
    memory: Option<Reserved>,
    arrived: Instant,
    out: &mut BytesMut,
) -> Option<PendingCall> {
    // The connection of a server that was killed is cut.
    let _running = context.server.begin_call()?;
    context.server.requests.count();
    let call_context = CallContext::new(Arc::clone(context), client, request, memory, arrived);
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

/// A call that waits for memory and for a worker thread.
pub(crate) struct PendingCall {
    call_context: CallContext,
    work: Work,
    is_begun: bool,
}

/// The bytes of answers, and what they have reserved.
#[derive(Default)]
pub(crate) struct Answer {
    /// Empty if the call was dropped.
    pub(crate) bytes: BytesMut,
    /// Held until the bytes are written.
    pub(crate) _memory: Option<Reserved>,
}

impl Answer {
    /// Returns an answer for which this was reserved before it was made.
    pub(crate) fn small(bytes: BytesMut, mut memory: Option<Reserved>) -> Self {
        if let Some(memory) = &mut memory {
            memory.shrink_to(bytes.len() as u64);
        }
        Self { bytes, _memory: memory }
    }
}

/// What has become of a call on a worker thread.
enum Ran {
    Answered(Answer),
    /// The rest waits for another turn.
    Paused(Box<PendingCall>),
}

impl PendingCall {
    /// Runs the call, for about a slice of time if it can be paused, and writes its answer. If the
    /// client's timeout has passed before the call starts, its connection has closed, or its server
    /// was killed, the call is dropped without an answer, as on HBase.
    fn run(self) -> Ran {
        let Self { mut call_context, work, is_begun } = self;
        let Some(_running) = call_context.context.server.begin_call() else {
            return Ran::Answered(Answer::default());
        };
        call_context.move_to_worker(is_begun);
        let method = call_context.request.method;
        if !is_begun && call_context.is_expired() {
            let timeout = call_context.request.timeout_ms;
            tracing::warn!(?method, timeout, "a call was dropped after its client's timeout");
            return Ran::Answered(Answer::default());
        }
        // What reads can end in the middle. What writes is done to its end.
        if call_context.client.share.is_closed() && (!is_begun || method == Method::Scan) {
            tracing::debug!(?method, "a call was dropped: its connection has closed");
            return Ran::Answered(Answer::default());
        }
        let mut bytes = BytesMut::new();
        match work(&call_context, &mut bytes) {
            Ok(Routed::Answered) => call_context.finish(bytes.len()),
            Ok(Routed::Pending { work, is_begun }) => {
                return Ran::Paused(Box::new(Self { call_context, work, is_begun }));
            }
            Err(error) => call_context.refuse(&mut bytes, &error),
        }
        let memory = call_context.into_memory(bytes.len());
        Ran::Answered(Answer { bytes, _memory: memory })
    }

    /// Whether the call may take all of a processor for long, and can be paused.
    fn is_reader(&self) -> bool {
        self.call_context.request.method == Method::Scan
    }
}

/// The worker threads of a region server. At most [`WORKERS_MAX`] calls run at once, and of those
/// that read much a few for each processor, so that others are not slowed down; the rest waits in
/// the order in which they came, of each connection one at a time. Threads start on demand and end
/// when idle.
pub(crate) struct Workers {
    threads: Arc<Semaphore>,
    readers: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let readers = (processors * READERS_PER_PROCESSOR).max(READERS_MIN);
        Self {
            threads: Arc::new(Semaphore::new(WORKERS_MAX)),
            readers: Arc::new(Semaphore::new(readers)),
        }
    }
}

/// The right to use a thread.
struct Permits {
    _thread: OwnedSemaphorePermit,
    _reader: Option<OwnedSemaphorePermit>,
}

/// The invariant of semaphores that are never closed.
const OPEN: &str = "an open semaphore";

impl Workers {
    /// Runs a call once there is memory and a thread for it, and returns its answer.
    pub(crate) async fn run(&self, mut call: PendingCall) -> Answer {
        let call_id = call.call_context.request.call_id;
        loop {
            let permits = self.admit(&mut call).await;
            let ran = tokio::task::spawn_blocking(move || {
                let ran = call.run();
                drop(permits);
                ran
            });
            match ran.await {
                Ok(Ran::Answered(answer)) => return answer,
                Ok(Ran::Paused(rest)) => call = *rest,
                Err(panic) => {
                    // Without an answer the client would wait until its timeout.
                    tracing::error!(%panic, "a call broke off");
                    let message = "the call broke off inside the server";
                    let error = Error::new(ErrorKind::OutcomeUnknown, message);
                    let mut bytes = BytesMut::new();
                    rpc::encode_exception(&mut bytes, call_id, &Exception::from(&error));
                    return Answer { bytes, _memory: None };
                }
            }
        }
    }

    /// Waits until a call has its memory and a thread.
    async fn admit(&self, call: &mut PendingCall) -> Permits {
        let is_reader = call.is_reader();
        let share = Arc::clone(&call.call_context.client.share);
        // One call of a connection waits at a time, so that a connection with many delays others
        // only by that one. A call that was paused has its memory, and does not wait behind one
        // that waits for it.
        if !call.call_context.try_reserve() {
            let _turn = share.memory_turn.lock().await;
            call.call_context.reserve().await;
        }
        if let Some(permits) = self.try_permits(is_reader) {
            return permits;
        }
        let _turn = share.thread_turn.lock().await;
        let reader = match is_reader {
            true => Some(Arc::clone(&self.readers).acquire_owned().await.expect(OPEN)),
            false => None,
        };
        let thread = Arc::clone(&self.threads).acquire_owned().await.expect(OPEN);
        Permits { _thread: thread, _reader: reader }
    }

    fn try_permits(&self, is_reader: bool) -> Option<Permits> {
        let reader = match is_reader {
            true => Some(Arc::clone(&self.readers).try_acquire_owned().ok()?),
            false => None,
        };
        let thread = Arc::clone(&self.threads).try_acquire_owned().ok()?;
        Some(Permits { _thread: thread, _reader: reader })
    }
}
