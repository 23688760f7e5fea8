//! The ZooKeeper port: answers clients that look for the cluster there.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicI64, Ordering};

use bytes::BytesMut;
use rowhouse_format::zk::{self, Session, SessionStatus, Znodes};
use rowhouse_model::{Error, ErrorKind, Result, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::cluster::Cluster;
use crate::server::Context;

/// The node that the others lie under; every stock client looks there.
const PARENT: &str = "/hbase";

/// What clients find. It does not change while the server runs: a restarted server is another one.
pub(crate) fn nodes(cluster: &Cluster) -> Result<Znodes> {
    let started = i64::try_from(cluster.master.start_code).unwrap_or(i64::MAX);
    let servers: Vec<_> =
        cluster.region_servers().iter().map(|server| server.name.clone()).collect();
    let nodes = zk::Cluster {
        parent: PARENT,
        cluster_id: &cluster.id,
        master: &cluster.master,
        info_port: None,
        meta_server: &cluster.meta_server().name,
        region_servers: &servers,
    };
    zk::znodes(nodes, started, Timestamp::from_millis(started)?)
}

/// Serves a connection until either side ends it.
pub(crate) async fn serve(stream: TcpStream, peer: SocketAddr, context: Context) {
    static SESSIONS: AtomicI64 = AtomicI64::new(1);
    let started = context.cluster.master.start_code as i64;
    let id = (started << 16) + SESSIONS.fetch_add(1, Ordering::Relaxed);
    match run(stream, &context, Session::new(id, [0; 16])).await {
        Ok(()) => tracing::debug!(%peer, "zookeeper session ended"),
        Err(error) => tracing::info!(%peer, %error, "zookeeper session broke"),
    }
}

async fn run(mut stream: TcpStream, context: &Context, mut session: Session) -> Result<()> {
    let mut stop = context.stop.clone();
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
        let status = session.feed(&mut input, &context.nodes, &mut output)?;
        stream.write_all(&output).await.map_err(broken)?;
        output.clear();
        if status == SessionStatus::Closed {
            break;
        }
    }
    // The client may be gone already.
    let _ = stream.shutdown().await;
    Ok(())
}
