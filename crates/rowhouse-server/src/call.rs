//! A call and what the answer needs: the client, the deadlines, the memory and the accounting.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use parking_lot::Mutex;
use prost::Message;
use rowhouse_format::convert::CellPlacement;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, CellCodec, Request};
use rowhouse_model::{Error, ErrorKind, KeyValue, Result};
use rowhouse_store::WaitMode;

use crate::access::Identity;
use crate::context::Context;
use crate::limits::{
    CLIENT_WAIT_MIN, SCAN_ANSWER_WAIT, SCAN_ANSWER_WAIT_MIN, SHORT_CALL_BYTES, SHORT_CALL_WAIT,
    WORKER_SLICE,
};
use crate::memory::{CALL_BYTES, ConnectionMemory, Reserved, SMALL_ANSWER_BYTES};
use crate::slow_log::ScanSource;

/// The client properties that answers depend on.
#[derive(Clone)]
pub(crate) struct Client {
    /// The cell block encoding; without one, cells are written inside the messages.
    pub(crate) codec: Option<CellCodec>,
    /// The HBase release that the client announces, as (major, minor).
    pub(crate) release: Option<(u32, u32)>,
    pub(crate) caller: Arc<Caller>,
    pub(crate) share: Arc<Share>,
}

/// What a connection may take from the server.
pub(crate) struct Share {
    pub(crate) memory: ConnectionMemory,
    /// Held by the connection's call that waits for memory.
    pub(crate) memory_turn: tokio::sync::Mutex<()>,
    /// Held by the connection's call that waits for a worker thread.
    pub(crate) thread_turn: tokio::sync::Mutex<()>,
    /// The scanners that the connection's calls have opened.
    pub(crate) scanners: Arc<AtomicUsize>,
    is_closed: AtomicBool,
}

impl Share {
    pub(crate) fn new(memory: ConnectionMemory) -> Self {
        Self {
            memory,
            memory_turn: tokio::sync::Mutex::default(),
            thread_turn: tokio::sync::Mutex::default(),
            scanners: Arc::default(),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Notes that the connection has closed: the connection's calls that have not started never
    /// will.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }
}

impl Client {
    /// Returns true if the client announces this HBase release or a newer one. A client that
    /// announces none counts as older.
    pub(crate) fn is_at_least(&self, major: u32, minor: u32) -> bool {
        self.release.is_some_and(|release| release >= (major, minor))
    }
}

/// A connection's remote end.
#[derive(Debug, Default)]
pub(crate) struct Caller {
    /// `host:port`.
    pub(crate) address: String,
    pub(crate) identity: Identity,
}

/// A call with everything that answering it needs.
pub(crate) struct CallContext {
    /// One per connection, so that calls on other connections do not contend for the reference
    /// count.
    pub(crate) context: Arc<Context>,
    pub(crate) request: Request,
    pub(crate) client: Client,
    /// When the call arrived.
    pub(crate) arrived: Instant,
    /// When processing started.
    started: Instant,
    /// Whether the call may block: not on the connection's task.
    pub(crate) wait_mode: WaitMode,
    /// The source of the scan that the call goes on with, for the slow log.
    pub(crate) scan_source: OnceLock<Arc<ScanSource>>,
    memory: Mutex<Memory>,
    /// When the call leaves its thread to others.
    slice_end: Instant,
}

/// What a call has reserved.
#[derive(Default)]
struct Memory {
    /// For a small request.
    _request: Option<Reserved>,
    /// For the call, on a worker thread, and for a large request.
    call: Option<Reserved>,
    /// The bytes in `call` that the request needs.
    request_bytes: u64,
    /// Whether a row did not fit what was reserved, so that the call waits until it has all.
    needs_all: bool,
    has_all: bool,
}

impl Memory {
    /// Returns the memory for a call whose request has reserved this.
    fn of(request: Option<Reserved>) -> Self {
        match request {
            Some(call) if call.is_large() => {
                let request_bytes = call.bytes().saturating_sub(CALL_BYTES);
                Self { call: Some(call), request_bytes, ..Self::default() }
            }
            request => Self { _request: request, ..Self::default() },
        }
    }
}

impl CallContext {
    /// Returns the context for a call that arrived at `arrived`.
    pub(crate) fn new(
        context: Arc<Context>,
        client: Client,
        request: Request,
        memory: Option<Reserved>,
        arrived: Instant,
    ) -> Self {
        Self {
            context,
            request,
            client,
            arrived,
            started: arrived,
            wait_mode: WaitMode::NonBlocking,
            scan_source: OnceLock::new(),
            memory: Mutex::new(Memory::of(memory)),
            slice_end: arrived + SHORT_CALL_WAIT,
        }
    }

    /// Notes that the call is on a worker thread, where its processing starts unless it
    /// `is_started`.
    pub(crate) fn move_to_worker(&mut self, is_started: bool) {
        let now = Instant::now();
        self.wait_mode = WaitMode::Blocking;
        self.slice_end = now + WORKER_SLICE;
        if !is_started {
            self.started = now;
        }
    }

    /// Reserves the memory with which the call starts on a worker thread, if nothing has to be
    /// waited for; returns true if it has what it needs.
    pub(crate) fn try_reserve(&mut self) -> bool {
        let memory = self.memory.get_mut();
        if memory.needs_all {
            // What the call holds is what another call on the connection may wait for.
            memory.call = None;
            return false;
        }
        if memory.call.is_none() {
            memory.call = self.client.share.memory.try_reserve(CALL_BYTES);
        }
        memory.call.is_some()
    }

    /// As [`CallContext::try_reserve`], and waits.
    pub(crate) async fn reserve(&mut self) {
        let memory = self.memory.get_mut();
        let own = &self.client.share.memory;
        if std::mem::take(&mut memory.needs_all) {
            // Two that hold some and wait for all would wait forever.
            memory.call = None;
            memory.call = Some(own.reserve(u64::MAX).await);
            memory.has_all = true;
        }
        if memory.call.is_none() {
            memory.call = Some(own.reserve(CALL_BYTES).await);
        }
    }

    /// Returns how many cell bytes may be added to the answer, which has `used` cell bytes. On a
    /// worker thread reserves more if less than half is left.
    pub(crate) fn answer_room(&self, used: u64) -> u64 {
        if self.wait_mode == WaitMode::NonBlocking {
            return SMALL_ANSWER_BYTES.saturating_sub(used);
        }
        let mut memory = self.memory.lock();
        if memory.has_all {
            return u64::MAX;
        }
        let request_bytes = memory.request_bytes;
        let Some(call) = &mut memory.call else { return 0 };
        loop {
            // Cells are in memory as rows and, for a moment, in the encoded answer.
            let of_answer = call.bytes().saturating_sub(request_bytes);
            let room = (of_answer / 2).saturating_sub(used);
            if room > of_answer / 4 || !self.client.share.memory.grow(call, of_answer) {
                return room;
            }
        }
    }

    /// Notes that a row with more than `bytes` cell bytes does not fit what the call can reserve
    /// beside others. The call is to return `WouldBlock` and is resumed once it has all call memory
    /// to itself.
    ///
    /// # Errors
    /// `ResponseTooLarge` if the call cannot wait, because the request holds much.
    pub(crate) fn outgrow(&self, bytes: u64) -> Result<()> {
        let mut memory = self.memory.lock();
        if memory.request_bytes > 0 {
            let message = format!(
                "a row with more than {bytes} bytes does not fit beside its request: request={}",
                self.request.message.len() + self.request.cells.len()
            );
            return Err(Error::new(ErrorKind::ResponseTooLarge, message));
        }
        memory.needs_all = true;
        Ok(())
    }

    /// Returns what an answer with so many bytes has reserved.
    pub(crate) fn into_memory(self, bytes: usize) -> Option<Reserved> {
        let mut call = self.memory.into_inner().call?;
        call.shrink_to(bytes as u64);
        // What a change returns has no bound that is known before.
        let missing = (bytes as u64).saturating_sub(call.bytes());
        if missing > 0 && !self.client.share.memory.grow(&mut call, missing) {
            tracing::debug!(bytes, "an answer holds more than is reserved for it");
        }
        Some(call)
    }

    /// Returns the client's timeout for the answer, if it sent one.
    fn client_timeout(&self) -> Option<Duration> {
        let millis = u64::from(self.request.timeout_ms?);
        Some(Duration::from_millis(millis).max(CLIENT_WAIT_MIN))
    }

    /// Returns true if the client's timeout has passed.
    pub(crate) fn is_expired(&self) -> bool {
        self.client_timeout().is_some_and(|client_timeout| self.arrived.elapsed() > client_timeout)
    }

    /// Returns how long the call waited and how long it was processed until `now`.
    pub(crate) fn times(&self, now: Instant) -> (Duration, Duration) {
        (self.started - self.arrived, now - self.started)
    }

    /// Returns the deadline for a scan that starts reading now: after half the client's timeout it
    /// answers with a heartbeat.
    pub(crate) fn heartbeat_deadline(&self) -> Instant {
        let half =
            self.client_timeout().map_or(SCAN_ANSWER_WAIT, |client_timeout| client_timeout / 2);
        let until = self.arrived + half.min(SCAN_ANSWER_WAIT);
        // The minimum lets scans that waited long for a thread still read rows.
        until.max(Instant::now() + SCAN_ANSWER_WAIT_MIN)
    }

    /// Returns when the call has run for long enough, and leaves its thread to others: on the
    /// connection's task to move to a worker thread, there to wait for another turn.
    pub(crate) fn pause(&self) -> Instant {
        self.slice_end
    }

    /// Returns true if the request is small enough to be tried on the connection's task.
    pub(crate) fn is_small(&self) -> bool {
        self.request.message.len() + self.request.cells.len() <= SHORT_CALL_BYTES
    }

    /// Decodes the request's message.
    pub(crate) fn message<M: Message + Default>(&self) -> Result<M> {
        self.request.message()
    }

    /// Returns where the answer's cells are written.
    pub(crate) fn cells_in(&self) -> CellPlacement {
        if self.client.codec.is_some() { CellPlacement::Block } else { CellPlacement::Message }
    }

    /// Writes the answer.
    pub(crate) fn reply(&self, out: &mut BytesMut, message: &impl Message) -> Result<()> {
        self.reply_with(out, message, [])
    }

    /// Writes the answer, followed by the cells if the connection has a codec.
    pub(crate) fn reply_with<'a>(
        &self,
        out: &mut BytesMut,
        message: &impl Message,
        cells: impl IntoIterator<Item = KeyValue<'a>, IntoIter: Clone>,
    ) -> Result<()> {
        let call_id = self.request.call_id;
        match self.client.codec {
            Some(codec) => rpc::encode_response(out, call_id, message, codec, cells),
            None => rpc::encode_response(out, call_id, message, CellCodec::default(), []),
        }
    }

    /// Counts a call that was answered with so many bytes; returns when it ended.
    pub(crate) fn finish(&self, bytes: usize) -> Instant {
        let now = Instant::now();
        self.count(now, false);
        if let Some(cap) = &self.context.server.cap {
            cap.charge(bytes);
        }
        now
    }

    fn count(&self, now: Instant, is_error: bool) {
        let calls = &self.context.server.calls;
        calls.count(self.request.method, now - self.arrived, is_error);
    }

    pub(crate) fn refuse(&self, out: &mut BytesMut, error: &Error) {
        self.count(Instant::now(), true);
        let method = self.request.method;
        match error.kind() {
            ErrorKind::Io | ErrorKind::Corruption | ErrorKind::OutcomeUnknown => {
                tracing::error!(?method, %error, "a call failed");
            }
            _ => tracing::debug!(?method, %error, "a call was refused"),
        }
        rpc::encode_exception(out, self.request.call_id, &Exception::from(error));
    }

    /// Returns the error for a method that is never supported, with the reason.
    pub(crate) fn refused<T>(&self, why: &str) -> Result<T> {
        let method = self.request.method;
        let name = format!("{}.{}", method.service().name(), method.name());
        Err(Error::unsupported(format!("{name} is not supported: {why}")))
    }
}
