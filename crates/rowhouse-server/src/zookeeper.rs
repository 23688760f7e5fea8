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
use tokio::sync::watch;

use crate::cluster::Cluster;

/// The parent node, the default of every stock client.
const PARENT: &str = "/hbase";

/// The nodes that clients read. Only table states change while the server runs; a restarted server
/// counts as a new one.
pub(crate) struct Nodes {
    cluster: Arc<Cluster>,
    started: Timestamp,
    /// The nodes and the version of the store's catalog that they reflect.
    shown: Mutex<(Option<u64>, Znodes)>,
}

impl Nodes {
    pub(crate) fn new(cluster: Arc<Cluster>) -> Result<Self> {
        let started = i64::try_from(cluster.master.start_code).unwrap_or(i64::MAX);
        let at = Timestamp::from_millis(started)?;
        let servers = server_names(&cluster);
        let nodes = zk::znodes(described(&cluster, &servers), started, at)?;
        Ok(Self { cluster, started: at, shown: Mutex::new((None, nodes)) })
    }

    /// Calls `read` with the current nodes.
    fn read<T>(&self, read: impl FnOnce(&Znodes) -> T) -> Result<T> {
        let mut shown = self.shown.lock();
        let (version, nodes) = &mut *shown;
        let now = self.cluster.store.catalog_version();
        if *version != Some(now) {
            let system = [TableName::meta(), TableName::namespace_table()];
            let system = system.map(|name| (name, TableState::Enabled));
            let tables = self.cluster.store.tables();
            let tables = tables.iter().map(|table| (table.name().clone(), table.state()));
            let servers = server_names(&self.cluster);
            let cluster = described(&self.cluster, &servers);
            zk::set_table_states(nodes, cluster, system.into_iter().chain(tables), self.started)?;
            *version = Some(now);
        }
        Ok(read(nodes))
    }
}

fn server_names(cluster: &Cluster) -> Vec<ServerName> {
    cluster.region_servers().iter().map(|server| server.name.clone()).collect()
}

fn described<'a>(cluster: &'a Cluster, servers: &'a [ServerName]) -> zk::Cluster<'a> {
    zk::Cluster {
        parent: PARENT,
        cluster_id: &cluster.id,
        master: &cluster.master,
        info_port: None,
        meta_server: &cluster.meta_server().name,
        region_servers: servers,
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
    let started = nodes.cluster.master.start_code as i64;
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
    let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
    let broken =
        |source| Error::new(ErrorKind::Connection, format!("{source}")).with_source(source);
    while !*stop.borrow() {
        let read = tokio::select! {
            read = tokio::time::timeout(session.timeout(), stream.read_buf(&mut input)) => read,
            _ = stop.changed() => break,
        };
        let Ok(read) = read else {
            return Err(Error::new(ErrorKind::Timeout, "the client was silent for too long"));
        };
        if read.map_err(broken)? == 0 {
            break;
        }
        let status = nodes.read(|nodes| {
            // Watches fire when their client sends something, at the latest its next ping.
            session.notify(nodes, &mut output);
            session.feed(&mut input, nodes, &mut output)
        })??;
        stream.write_all(&output).await.map_err(broken)?;
        output.clear();
        if status == SessionStatus::Closed {
            break;
        }
    }
    // The client may already be gone.
    let _ = stream.shutdown().await;
    Ok(())
}
