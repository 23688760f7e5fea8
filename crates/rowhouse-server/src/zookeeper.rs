//! The ZooKeeper port, for clients that look up the cluster there.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::BytesMut;
use parking_lot::Mutex;
use rowhouse_format::zk::{self, Session, SessionStatus, Znodes};
use rowhouse_model::{Error, ErrorKind, Result, ServerName, TableName, TableState, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use crate::cluster::{Cluster, Version};
use crate::limits::{HANDSHAKE_WAIT, INPUT_BYTES_MIN, ZOOKEEPER_LONG_REQUESTS_MAX};

/// The parent node, every stock client's default.
const PARENT: &str = "/hbase";

/// The nodes that clients read. A restarted server counts as a new one.
pub(crate) struct Nodes {
    cluster: Arc<Cluster>,
    started: Timestamp,
    /// A permit for each request that is longer than what a connection reads otherwise.
    long_requests: Semaphore,
    /// The nodes and the cluster version that they reflect.
    shown: Mutex<(Option<Version>, Znodes)>,
}

impl Nodes {
    pub(crate) fn new(cluster: Arc<Cluster>) -> Result<Self> {
        let started = i64::try_from(cluster.master.name.start_code).unwrap_or(i64::MAX);
        let at = Timestamp::from_millis(started)?;
        let nodes = Names::new(&cluster).read(|cluster| zk::znodes(cluster, started, at))?;
        let long_requests = Semaphore::new(ZOOKEEPER_LONG_REQUESTS_MAX);
        Ok(Self { cluster, long_requests, started: at, shown: Mutex::new((None, nodes)) })
    }

    /// Calls `read` with the current nodes.
    fn read<T>(&self, read: impl FnOnce(&Znodes) -> T) -> Result<T> {
        let mut shown = self.shown.lock();
        let (version, nodes) = &mut *shown;
        let now = self.cluster.version();
        if *version != Some(now) {
            let system = [TableName::meta(), TableName::namespace_table()];
            let system = system.map(|name| (name, TableState::Enabled));
            let tables = self.cluster.store.tables();
            let tables = tables.iter().map(|table| (table.name().clone(), table.state()));
            let tables = system.into_iter().chain(tables);
            Names::new(&self.cluster).read(|cluster| {
                zk::set_servers(nodes, cluster, self.started)?;
                zk::set_table_states(nodes, cluster, tables, self.started)
            })?;
            *version = Some(now);
        }
        Ok(read(nodes))
    }
}

/// Server names in the nodes.
struct Names<'a> {
    cluster: &'a Cluster,
    meta_server: ServerName,
    region_servers: Vec<ServerName>,
}

impl<'a> Names<'a> {
    fn new(cluster: &'a Cluster) -> Self {
        let servers = cluster.region_servers();
        Self {
            cluster,
            meta_server: cluster.meta_server().name.clone(),
            region_servers: servers.iter().map(|server| server.name.clone()).collect(),
        }
    }

    fn read<T>(&self, read: impl FnOnce(zk::Cluster<'_>) -> T) -> T {
        read(zk::Cluster {
            parent: PARENT,
            cluster_id: &self.cluster.id,
            master: &self.cluster.master.name,
            info_port: None,
            meta_server: &self.meta_server,
            region_servers: &self.region_servers,
        })
    }
}

/// Serves a connection until either side closes it.
pub(crate) async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    nodes: Arc<Nodes>,
    stop: watch::Receiver<bool>,
) {
    static SESSIONS: AtomicI64 = AtomicI64::new(1);
    let started = nodes.cluster.master.name.start_code as i64;
    let id = (started << 16) + SESSIONS.fetch_add(1, Ordering::Relaxed);
    match run(stream, &nodes, stop, Session::new(id, [0; 16])).await {
        Ok(()) => tracing::debug!(%peer, "zookeeper session ended"),
        Err(error) if error.kind() == ErrorKind::Protocol => {
            tracing::warn!(%peer, %error, "the zookeeper client was refused, closed");
        }
        Err(error) => tracing::info!(%peer, %error, "zookeeper session lost"),
    }
}

async fn run(
    mut stream: TcpStream,
    nodes: &Nodes,
    mut stop: watch::Receiver<bool>,
    mut session: Session,
) -> Result<()> {
    let mut input = BytesMut::new();
    let mut output = BytesMut::new();
    let mut memory = None;
    let broken =
        |source| Error::new(ErrorKind::Connection, format!("{source}")).with_source(source);
    // A client that sends the first request in pieces has no more time than one that sends none.
    let connected_until = Instant::now() + HANDSHAKE_WAIT;
    while !*stop.borrow() {
        let until = match (session.is_connected(), &memory) {
            (false, _) => connected_until,
            (true, None) => Instant::now() + session.timeout(),
            (true, Some((_, until))) => *until,
        };
        if memory.is_none() && input.len() > INPUT_BYTES_MIN {
            // It has as long as the first request.
            let permit = nodes.long_requests.acquire().await.expect("an open semaphore");
            memory = Some((permit, Instant::now() + HANDSHAKE_WAIT));
        }
        input.reserve(INPUT_BYTES_MIN);
        let read = tokio::select! {
            read = tokio::time::timeout_at(until, stream.read_buf(&mut input)) => read,
            _ = stop.changed() => break,
        };
        let Ok(read) = read else {
            return Err(Error::new(ErrorKind::Timeout, "the client was silent for too long"));
        };
        if read.map_err(broken)? == 0 {
            break;
        }
        let status = nodes.read(|nodes| {
            // Watches fire when their client sends something, at the latest the next ping.
            session.notify(nodes, &mut output);
            session.feed(&mut input, nodes, &mut output)
        })??;
        let written = tokio::time::timeout(session.timeout(), stream.write_all(&output)).await;
        let Ok(written) = written else {
            return Err(Error::new(ErrorKind::Timeout, "the client takes no answers"));
        };
        written.map_err(broken)?;
        output.clear();
        if input.is_empty() && memory.take().is_some() {
            input = BytesMut::new();
        }
        if status == SessionStatus::Closed {
            break;
        }
    }
    // The client may already be gone.
    let _ = stream.shutdown().await;
    Ok(())
}
