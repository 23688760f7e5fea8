//! A call and what its answer needs: its client, its deadlines and its accounting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use prost::Message;
use rowhouse_format::convert::CellPlacement;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, CellCodec, Request};
use rowhouse_model::{Error, ErrorKind, KeyValue, Result};
use rowhouse_store::WaitMode;

use crate::handle::slow_log;
use crate::limits::{
    CLIENT_WAIT_MIN, SCAN_ANSWER_WAIT, SCAN_ANSWER_WAIT_MIN, SHORT_CALL_BYTES, SHORT_CALL_WAIT,
};
use crate::server::Context;

/// The properties of a client that answers depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    /// The encoding of cell blocks; without one, cells are written inside the messages.
    pub(crate) codec: Option<CellCodec>,
    /// The HBase release that the client announces, as (major, minor).
    pub(crate) release: Option<(u32, u32)>,
    pub(crate) caller: Arc<Caller>,
}

impl Client {
    /// Returns whether the client announces this HBase release or a newer one. A client that
    /// announces none counts as older.
    pub(crate) fn is_at_least(&self, major: u32, minor: u32) -> bool {
        self.release.is_some_and(|release| release >= (major, minor))
    }
}

/// The remote end of a connection.
#[derive(Debug, Default)]
pub(crate) struct Caller {
    /// `host:port`.
    pub(crate) address: String,
    /// The user name that the client claims, unverified.
    pub(crate) user: String,
}

/// A call with everything that answering it needs.
pub(crate) struct CallContext {
    /// Of one connection, so that the calls of others do not contend for its count of references.
    pub(crate) context: Arc<Context>,
    pub(crate) request: Request,
    pub(crate) client: Client,
    /// When the call arrived.
    pub(crate) arrived: Instant,
    /// When its processing started.
    begun: Instant,
    /// Whether the call may block: not on the connection's task.
    pub(crate) wait_mode: WaitMode,
}

impl CallContext {
    /// Returns the context of a call that arrived at `arrived`.
    pub(crate) fn new(
        context: Arc<Context>,
        client: Client,
        request: Request,
        arrived: Instant,
    ) -> Self {
        let wait_mode = WaitMode::NonBlocking;
        Self { context, request, client, arrived, begun: arrived, wait_mode }
    }

    /// Notes that the call is on a worker thread, where its processing starts unless it `is_begun`.
    pub(crate) fn move_to_worker(&mut self, is_begun: bool) {
        self.wait_mode = WaitMode::Blocking;
        if !is_begun {
            self.begun = Instant::now();
        }
    }

    /// Returns the client's timeout for the answer, if it sent one.
    fn client_timeout(&self) -> Option<Duration> {
        let millis = u64::from(self.request.timeout_ms?);
        Some(Duration::from_millis(millis).max(CLIENT_WAIT_MIN))
    }

    /// Returns whether the client's timeout has passed.
    pub(crate) fn is_expired(&self) -> bool {
        self.client_timeout().is_some_and(|client_timeout| self.arrived.elapsed() > client_timeout)
    }

    /// Returns how long the call waited and how long it was processed until `now`.
    pub(crate) fn times(&self, now: Instant) -> (Duration, Duration) {
        (self.begun - self.arrived, now - self.begun)
    }

    /// Returns the deadline of a scan that starts reading now: after half of the client's timeout
    /// it answers with a heartbeat.
    pub(crate) fn heartbeat_deadline(&self) -> Instant {
        let half =
            self.client_timeout().map_or(SCAN_ANSWER_WAIT, |client_timeout| client_timeout / 2);
        let until = self.arrived + half.min(SCAN_ANSWER_WAIT);
        // The minimum lets scans that waited long for a thread still read rows.
        until.max(Instant::now() + SCAN_ANSWER_WAIT_MIN)
    }

    /// Returns when a call on the connection's task has run too long and moves to a worker thread.
    pub(crate) fn pause(&self) -> Option<Instant> {
        (self.wait_mode == WaitMode::NonBlocking).then(|| self.arrived + SHORT_CALL_WAIT)
    }

    /// Returns whether the request is small enough to be tried on the connection's task.
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

    /// Writes the answer, followed by its cells if the connection has a codec.
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

    /// Counts a call that was answered with so many bytes, and logs it where it was slow or large.
    pub(crate) fn finish(&self, bytes: usize) {
        let now = Instant::now();
        self.count(now, false);
        if let Some(cap) = &self.context.server.cap {
            cap.charge(bytes);
        }
        slow_log::note(self, bytes, now);
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

    /// Returns the error of a method that is never supported, with the reason.
    pub(crate) fn refused<T>(&self, why: &str) -> Result<T> {
        let method = self.request.method;
        let name = format!("{}.{}", method.service().name(), method.name());
        Err(Error::unsupported(format!("{name} is not supported: {why}")))
    }
}
