//! Connections to servers: one per address and service, opened on first use and reopened after it
//! broke.

mod dial;
mod open;
mod task;

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::{Bytes, BytesMut};
use rowhouse_format::rpc::{
    Body, Call, CellCodec, CellReader, ConnectionHead, RequestHead, Service, encode_request,
};
use rowhouse_model::{Cell, Error, ErrorKind, Result, ServerName};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

pub(crate) use dial::dial;

use crate::Settings;
use crate::retry::{Failure, from_now};
use crate::transport::Transport;

/// Maximum total size for the requests under way on one connection, in KiB. Each request counts as
/// at least [`CALL_KIB_MIN`], which also limits how many there are.
const IN_FLIGHT_KIB_MAX: u32 = 64 * 1024;
/// The minimum that a request counts for; it limits the calls under way to 1,024.
const CALL_KIB_MIN: u32 = 64;
/// Maximum calls under way, and the queue capacity.
const CALLS_MAX: usize = (IN_FLIGHT_KIB_MAX / CALL_KIB_MIN) as usize;
/// The cell encoding on all connections.
const CODEC: Option<CellCodec> = Some(CellCodec::KeyValue);
/// The version announced to servers; they answer older clients in older forms, for example gets
/// without cell blocks.
const CLIENT_VERSION: &str = concat!("rowhouse-", env!("CARGO_PKG_VERSION"));
/// The HBase release whose protocol this client supports.
const CLIENT_RELEASE: (u32, u32) = (2, 6);
/// HBase's priority for calls about `hbase:meta`.
const META_PRIORITY: u32 = 200;

/// A server's address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl From<&ServerName> for Address {
    fn from(server: &ServerName) -> Self {
        Self { host: server.host.clone(), port: server.port }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&ServerName::format_address(&self.host, self.port))
    }
}

/// A call's message, cells and deadline.
pub(crate) struct CallRequest<'a, M> {
    pub(crate) message: M,
    pub(crate) cells: &'a [Cell],
    /// Whether the call is about `hbase:meta`; servers prioritize these.
    pub(crate) is_meta_call: bool,
    pub(crate) deadline: Instant,
}

/// All connections that a client has.
pub(crate) struct Connections {
    settings: Arc<Settings>,
    transport: Transport,
    open: Mutex<HashMap<(Address, Service), Arc<Connection>>>,
    /// Calls are numbered across all connections, as in the Java client.
    call_id: AtomicU32,
}

impl Connections {
    pub(crate) fn new(settings: Arc<Settings>, transport: Transport) -> Self {
        Self { settings, transport, open: Mutex::default(), call_id: AtomicU32::new(0) }
    }

    /// Returns the cluster id that a server announces to everybody.
    pub(crate) async fn announced_cluster_id(&self, address: &Address) -> Result<String> {
        open::announced_cluster_id(address, &self.settings, &self.transport).await
    }

    /// Calls a server and waits for the answer.
    pub(crate) async fn call<M: Call>(
        &self,
        address: &Address,
        request: CallRequest<'_, M>,
    ) -> Result<(M::Answer, CellReader), Failure> {
        let (call_id, frame) = self.encode(&request)?;
        let connection = self.to(address, M::METHOD.service());
        let body = connection.call(call_id, frame, request.deadline).await?;
        let message = body.message::<M::Answer>().map_err(Failure::unknown)?;
        Ok((message, body.cells(CODEC)))
    }

    /// Sends a call whose answer does not matter. The call is dropped if no connection is open or
    /// the connection is at the limit.
    pub(crate) fn tell<M: Call>(&self, address: &Address, message: M) {
        let key = (address.clone(), M::METHOD.service());
        let Some(connection) = lock(&self.open).get(&key).cloned() else { return };
        let deadline = from_now(self.settings.call_timeout);
        let request = CallRequest { message, cells: &[], is_meta_call: false, deadline };
        if let Ok((call_id, frame)) = self.encode(&request) {
            connection.tell(call_id, frame);
        }
    }

    fn encode<M: Call>(&self, request: &CallRequest<'_, M>) -> Result<(u32, Bytes), Failure> {
        // Java's call ids are signed, and negative ones have special meanings.
        let call_id = self.call_id.fetch_add(1, Ordering::Relaxed) & 0x7FFF_FFFF;
        let left = request.deadline.saturating_duration_since(Instant::now()).as_millis();
        let head = RequestHead {
            call_id,
            priority: if request.is_meta_call { META_PRIORITY } else { 0 },
            timeout_ms: Some(left.clamp(1, i32::MAX as u128) as u32),
        };
        let mut frame = BytesMut::new();
        encode_request(&mut frame, head, &request.message, CODEC, request.cells)
            .map_err(Failure::before)?;
        Ok((call_id, frame.freeze()))
    }

    fn to(&self, address: &Address, service: Service) -> Arc<Connection> {
        let mut open = lock(&self.open);
        let key = (address.clone(), service);
        if let Some(connection) = open.get(&key).filter(|connection| !connection.is_broken()) {
            return connection.clone();
        }
        open.retain(|_, connection| !connection.is_broken());
        let connection =
            Connection::start(address.clone(), service, &self.settings, &self.transport);
        let connection = Arc::new(connection);
        open.insert(key, connection.clone());
        connection
    }
}

/// A connection that is open or being opened. Dropping it closes it.
struct Connection {
    address: Address,
    calls: mpsc::Sender<QueuedCall>,
    /// Permits for requests under way, in KiB; closed with the connection.
    room: Arc<Semaphore>,
    /// The reason why it ended, once it has.
    end: Arc<OnceLock<Error>>,
}

/// A call in the queue.
struct QueuedCall {
    call_id: u32,
    frame: Bytes,
    /// The answer's receiver; `None` if the answer does not matter.
    answer: Option<oneshot::Sender<Result<Body, Failure>>>,
    /// Released when the answer arrives or the receiver is dropped.
    room: OwnedSemaphorePermit,
}

impl Connection {
    fn start(
        address: Address,
        service: Service,
        settings: &Arc<Settings>,
        transport: &Transport,
    ) -> Self {
        let (calls, queue) = mpsc::channel(CALLS_MAX);
        let room = Arc::new(Semaphore::new(IN_FLIGHT_KIB_MAX as usize));
        let head = ConnectionHead {
            service,
            codec: CODEC,
            user: Some(settings.user.clone()),
            real_user: None,
            client_version: Some(CLIENT_VERSION.to_owned()),
            client_release: Some(CLIENT_RELEASE),
        };
        let end = Arc::new(OnceLock::new());
        let ended = task::Ended { room: room.clone(), why: end.clone() };
        let opening = (address.clone(), head, transport.clone());
        tokio::spawn(task::run(opening, settings.clone(), queue, ended));
        Self { address, calls, room, end }
    }

    fn is_broken(&self) -> bool {
        self.calls.is_closed()
    }

    async fn call(&self, call_id: u32, frame: Bytes, deadline: Instant) -> Result<Body, Failure> {
        let started = Instant::now();
        let broken = || match self.end.get() {
            Some(why) => why.clone(),
            None => {
                let message =
                    format!("connection lost: its runtime has ended, address={}", self.address);
                Error::new(ErrorKind::Connection, message)
            }
        };
        let timed_out = |what: &str| {
            let waited = started.elapsed().as_millis();
            let message = format!("{what}: address={}, waited_ms={waited}", self.address);
            Error::new(ErrorKind::Timeout, message)
        };
        let room = self.room.clone().acquire_many_owned(room_for(&frame));
        let room = match timeout_at(deadline, room).await {
            Ok(room) => room.map_err(|_| Failure::before(broken()))?,
            Err(_) => return Err(Failure::before(timed_out("too many pending calls"))),
        };
        let (answer, answered) = oneshot::channel();
        let call = QueuedCall { call_id, frame, answer: Some(answer), room };
        // The queue has capacity for all calls that the permits admit.
        self.calls.try_send(call).map_err(|_| Failure::before(broken()))?;
        match timeout_at(deadline, answered).await {
            Ok(Ok(outcome)) => outcome,
            // The connection's task ended with the runtime.
            Ok(Err(_)) => Err(Failure::unknown(broken())),
            Err(_) => Err(Failure::unknown(timed_out("no response in time"))),
        }
    }

    fn tell(&self, call_id: u32, frame: Bytes) {
        let Ok(room) = self.room.clone().try_acquire_many_owned(room_for(&frame)) else { return };
        // Sending fails only on a broken connection. The call is then dropped, since the answer
        // does not matter.
        let _ = self.calls.try_send(QueuedCall { call_id, frame, answer: None, room });
    }
}

fn room_for(frame: &Bytes) -> u32 {
    u32::try_from(frame.len() / 1024).unwrap_or(u32::MAX).clamp(CALL_KIB_MIN, IN_FLIGHT_KIB_MAX)
}

/// Locks a mutex and ignores poisoning: the guarded data is consistent between any two statements,
/// so a panic elsewhere does not matter.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
