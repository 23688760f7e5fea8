//! The three lookups in ZooKeeper. Each uses a separate session: answers are cached, so the next
//! lookup comes only after a server has failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};
use rowhouse_format::zk::{self, client};
use rowhouse_model::{Error, ErrorKind, Result, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use crate::Settings;
use crate::connection::{Address, dial};
use crate::retry::{Failure, from_now};

/// The requested session timeout in milliseconds; HBase's `zookeeper.session.timeout`.
const SESSION_TIMEOUT_MS: i32 = 90_000;
/// The xids for a session's single request and for the close.
const QUESTION_XID: i32 = 1;
const CLOSE_XID: i32 = 2;

/// A ZooKeeper ensemble and the path to the cluster's znodes.
pub(super) struct Ensemble {
    addresses: Vec<Address>,
    znode: String,
    settings: Arc<Settings>,
    first: AtomicUsize,
}

impl Ensemble {
    pub(super) fn new(addresses: Vec<Address>, znode: String, settings: Arc<Settings>) -> Self {
        Self { addresses, znode, settings, first: AtomicUsize::new(0) }
    }

    pub(super) async fn cluster_id(&self, deadline: Instant) -> Result<Option<String>, Failure> {
        self.read("hbaseid", zk::read_cluster_id, deadline).await
    }

    pub(super) async fn active_master(
        &self,
        deadline: Instant,
    ) -> Result<Option<ServerName>, Failure> {
        self.read("master", zk::read_master, deadline).await
    }

    pub(super) async fn meta_server(
        &self,
        deadline: Instant,
    ) -> Result<Option<ServerName>, Failure> {
        self.read("meta-region-server", zk::read_meta_server, deadline).await
    }

    /// Reads a cluster znode; returns `None` if it does not exist.
    async fn read<T>(
        &self,
        name: &str,
        read: impl Fn(&Bytes) -> Result<T>,
        deadline: Instant,
    ) -> Result<Option<T>, Failure> {
        let path = format!("{}/{name}", self.znode);
        let Some(data) = self.data(&path, deadline).await? else { return Ok(None) };
        let value = read(&data).map_err(|error| {
            let message = format!("{}, path={path}", error.message());
            Failure::unknown(error.with_message(message))
        })?;
        Ok(Some(value))
    }

    async fn data(&self, path: &str, deadline: Instant) -> Result<Option<Bytes>, Failure> {
        let count = self.addresses.len();
        let first = self.first.load(Ordering::Relaxed);
        let mut failed = Error::invalid("no address of ZooKeeper");
        for at in (0..count).map(|step| (first + step) % count) {
            let address = &self.addresses[at];
            // One server must not use up the next server's time.
            let limit = deadline.min(from_now(self.settings.connect_timeout));
            match timeout_at(limit, fetch(address, path)).await {
                Ok(Ok(data)) => {
                    self.first.store(at, Ordering::Relaxed);
                    return Ok(data);
                }
                Ok(Err(error)) => failed = error,
                Err(_) => {
                    let message = format!("no response from ZooKeeper in time: address={address}");
                    failed = Error::new(ErrorKind::Timeout, message);
                }
            }
            tracing::debug!(%address, error = %failed, "no response");
        }
        Err(Failure::before(failed))
    }
}

/// Reads a znode from one server; returns `None` if it does not exist.
async fn fetch(address: &Address, path: &str) -> Result<Option<Bytes>> {
    let mut session = Session::open(address).await?;
    let mut request = BytesMut::new();
    client::put_get_data(&mut request, QUESTION_XID, path);
    session.send(&request).await?;
    let data = loop {
        let reply = client::Reply::decode(session.receive().await?)?;
        // Any other frame is an unsolicited notification.
        if reply.xid == QUESTION_XID {
            break reply.data();
        }
    };
    session.close().await;
    data
}

/// Returns true if a ZooKeeper server listens at an address.
pub(super) async fn answers(address: &Address) -> bool {
    match Session::open(address).await {
        Ok(mut session) => {
            session.close().await;
            true
        }
        Err(_) => false,
    }
}

/// A session with one server.
struct Session {
    address: Address,
    stream: TcpStream,
    input: BytesMut,
}

impl Session {
    async fn open(address: &Address) -> Result<Self> {
        let stream = dial(address).await.map_err(|error| {
            let message = format!("cannot connect to ZooKeeper: {error}, address={address}");
            Error::new(ErrorKind::Connection, message).with_source(error)
        })?;
        let mut session = Self { address: address.clone(), stream, input: BytesMut::new() };
        let mut request = BytesMut::new();
        client::put_connect(&mut request, SESSION_TIMEOUT_MS);
        session.send(&request).await?;
        client::read_connected(session.receive().await?)?;
        Ok(session)
    }

    /// Closes the session, so that the server does not keep it until it expires.
    async fn close(&mut self) {
        /// Limit on the time to close; the answer has already arrived.
        const LIMIT: std::time::Duration = std::time::Duration::from_secs(1);
        let mut request = BytesMut::new();
        client::put_close(&mut request, CLOSE_XID);
        if self.send(&request).await.is_ok() {
            // The server answers and closes. Closing first would reset the connection while the
            // server still writes.
            let _ = timeout(LIMIT, self.receive()).await;
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await.map_err(|error| self.broken(error))
    }

    async fn receive(&mut self) -> Result<Bytes> {
        loop {
            if let Some(frame) = client::frames().next(&mut self.input)? {
                return Ok(frame);
            }
            match self.stream.read_buf(&mut self.input).await {
                Ok(0) => return Err(self.broken(std::io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    fn broken(&self, error: std::io::Error) -> Error {
        let message = format!("connection to ZooKeeper lost: {error}, address={}", self.address);
        Error::new(ErrorKind::Connection, message).with_source(error)
    }
}
