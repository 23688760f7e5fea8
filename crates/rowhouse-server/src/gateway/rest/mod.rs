//! HBase's REST interface.

use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::Gateway;

/// What the connections share.
#[derive(Clone)]
pub(crate) struct Rest {
    gateway: Gateway,
}

impl Rest {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self { gateway }
    }
}

/// Serves a connection until either side ends it.
pub(crate) async fn serve(_: TcpStream, peer: SocketAddr, rest: Rest) {
    tracing::debug!(%peer, id = rest.gateway.cluster.id, "connected");
}

/// Ends scanners that no client continues.
pub(crate) async fn expire(_: Rest, mut stop: watch::Receiver<bool>) {
    let _ = stop.changed().await;
}
