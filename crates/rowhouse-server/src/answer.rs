//! Answers calls: on the connection's task while that neither blocks nor takes long, otherwise on a
//! worker thread, in slices of time and within reserved memory. Limits the worker threads, drops
//! calls from clients that have given up, and counts and logs all calls.

use std::sync::Arc;

use bytes::BytesMut;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, Method};
use rowhouse_model::{Error, ErrorKind, Result};
use rowhouse_store::NonBlocking;

use crate::call::CallContext;
use crate::memory::Reserved;
use crate::slow_calls;
use crate::workers::{Permits, Workers};

/// A call that is tried on the connection's task and resumed on a worker thread if it would block,
/// has taken long there, or has a large answer.
pub(crate) trait ResumableCall: Send + Sized + 'static {
    /// The work's result, which [`ResumableCall::reply`] writes.
    type Answer;

    /// Decodes the request and looks up the region or scanner.
    fn parse(call_context: &CallContext) -> Result<Self>;

    /// Does the remaining work. Returns `WouldBlock` at [`CallContext::pause`], after
    /// [`CallContext::outgrow`], and in non-blocking mode before an operation that would block or
    /// when the answer outgrows [`CallContext::answer_room`].
    fn resume(&mut self, call_context: &CallContext) -> Result<NonBlocking<Self::Answer>>;

    /// Returns true if part of the work is done: then the rest is done even if the client has given
    /// up.
    fn is_started(&self) -> bool {
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
    Pending { work: Work, is_started: bool },
}

/// A call's remaining work, for a worker thread.
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
        Self::Pending { work: Box::new(work), is_started: false }
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
        return Ok(Routed::Pending { work: Box::new(work), is_started: false });
    }
    resume(C::parse(call_context)?, call_context, out)
}

/// Does a call's work until the call is answered, or until it leaves the rest for later.
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
            let is_started = call.is_started();
            Ok(Routed::Pending {
                work: Box::new(|context, out| resume(call, context, out)),
                is_started,
            })
        }
    }
}

/// A call that waits for memory and for a worker thread.
pub(crate) struct PendingCall {
    pub(crate) call_context: CallContext,
    pub(crate) work: Work,
    pub(crate) is_started: bool,
}

/// Answer bytes, and what they have reserved.
#[derive(Default)]
pub(crate) struct Answer {
    /// Empty if the call was dropped.
    pub(crate) bytes: BytesMut,
    /// Held until the bytes are written.
    #[cfg_attr(
        not(any(feature = "rest", feature = "thrift")),
        allow(dead_code, reason = "only gateways take it out")
    )]
    pub(crate) memory: Option<Reserved>,
    /// Whether the connection is cut instead of an answer.
    pub(crate) is_cut: bool,
}

impl Answer {
    /// Returns an answer for which this was reserved before it was made.
    pub(crate) fn small(bytes: BytesMut, mut memory: Option<Reserved>) -> Self {
        if let Some(memory) = &mut memory {
            memory.shrink_to(bytes.len() as u64);
        }
        Self { bytes, memory, is_cut: false }
    }
}

/// Counts a call that was answered with so many bytes, and logs it if it was slow or large.
pub(crate) fn account(call_context: &CallContext, bytes: usize) {
    let now = call_context.finish(bytes);
    slow_calls::note(call_context, bytes, now);
}

/// What has happened to a call on a worker thread.
enum Ran {
    Answered(Answer),
    /// The rest waits for another turn.
    Paused(Box<PendingCall>),
}

impl PendingCall {
    /// Runs the call, for about a time slice if it can be paused, and writes the answer. If the
    /// client's timeout has passed before the call starts, the connection has closed, or the server
    /// was killed, the call is dropped without an answer, as on HBase.
    fn run(self) -> Ran {
        let Self { mut call_context, work, is_started } = self;
        let Some(_running) = call_context.context.server.begin_call() else {
            return Ran::Answered(Answer::default());
        };
        call_context.move_to_worker(is_started);
        let method = call_context.request.method;
        if !is_started && call_context.is_expired() {
            let timeout = call_context.request.timeout_ms;
            tracing::warn!(?method, timeout, "a call was dropped after its client's timeout");
            return Ran::Answered(Answer::default());
        }
        // What reads can end in the middle. What writes is done to the end.
        if call_context.client.share.is_closed() && (!is_started || method == Method::Scan) {
            tracing::debug!(?method, "a call was dropped: its connection has closed");
            return Ran::Answered(Answer::default());
        }
        let mut bytes = BytesMut::new();
        match work(&call_context, &mut bytes) {
            Ok(Routed::Answered) => account(&call_context, bytes.len()),
            Ok(Routed::Pending { work, is_started }) => {
                return Ran::Paused(Box::new(Self { call_context, work, is_started }));
            }
            Err(error) => call_context.refuse(&mut bytes, &error),
        }
        let memory = call_context.into_memory(bytes.len());
        Ran::Answered(Answer { bytes, memory, is_cut: false })
    }

    /// Whether the call may take a whole processor for long, and can be paused.
    fn is_reader(&self) -> bool {
        self.call_context.request.method == Method::Scan
    }

    /// Runs the call on worker threads once there is memory and a thread for it, and returns the
    /// answer.
    pub(crate) async fn finish(mut self, workers: &Workers) -> Answer {
        let call_id = self.call_context.request.call_id;
        loop {
            let permits = self.admit(workers).await;
            match permits.run(move || self.run()).await {
                Ok(Ran::Answered(answer)) => return answer,
                Ok(Ran::Paused(rest)) => self = *rest,
                Err(panic) => {
                    // Without an answer the client would wait until the timeout.
                    tracing::error!(%panic, "a call broke off");
                    let message = "the call broke off inside the server";
                    let error = Error::new(ErrorKind::OutcomeUnknown, message);
                    let mut bytes = BytesMut::new();
                    rpc::encode_exception(&mut bytes, call_id, &Exception::from(&error));
                    return Answer { bytes, ..Answer::default() };
                }
            }
        }
    }

    /// Waits until the call has the memory and a thread.
    async fn admit(&mut self, workers: &Workers) -> Permits {
        let is_reader = self.is_reader();
        let share = Arc::clone(&self.call_context.client.share);
        // A call that was paused has the memory, and does not wait after a call that waits for
        // memory.
        if !self.call_context.try_reserve() {
            let _turn = share.memory_turn.lock().await;
            self.call_context.reserve().await;
        }
        workers.admit(is_reader, &share.thread_turn).await
    }
}
