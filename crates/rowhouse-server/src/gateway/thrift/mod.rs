//! HBase's interface Thrift 1.
//!
//! The protocol has no users: all clients act for one, [`Options::thrift_user`](crate::Options).
//! `docs/formats/thrift.md` has the messages.
//!
//! | file | content |
//! |---|---|
//! | `connection.rs` | messages, their memory, answers |
//! | `call.rs` | the list of methods, and their arguments |
//! | `admin.rs`, `read.rs`, `write.rs`, `scanners.rs` | the methods |
//! | `failure.rs` | exceptions as Apache's gateway sends them |

mod admin;
mod call;
mod connection;
mod failure;
mod read;
mod scanners;
mod write;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};

use self::connection::Connection;
use self::scanners::Scanners;
use super::Gateway;
use crate::access::{Identity, Opened, Protocol};
use crate::limits::THRIFT_WAITING_BYTES_MAX;

/// The user without `--thrift-user`.
const DEFAULT_USER: &str = "thrift";

/// What the connections share.
#[derive(Clone)]
pub(crate) struct Thrift {
    gateway: Gateway,
    user: Arc<str>,
    scanners: Arc<Scanners>,
    waiting: Arc<Semaphore>,
}

impl Thrift {
    pub(crate) fn new(gateway: Gateway) -> Self {
        let user = gateway.cluster.options.thrift_user.as_deref().unwrap_or(DEFAULT_USER);
        Self {
            user: user.into(),
            gateway,
            scanners: Arc::default(),
            waiting: Arc::new(Semaphore::new(THRIFT_WAITING_BYTES_MAX >> 10)),
        }
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
    let Thrift { scanners, waiting, .. } = &thrift;
    let mut connection = Connection::new(stream, peer, &session, scanners, waiting, stop);
    match connection.run().await {
        Ok(()) => tracing::debug!(%peer, "connection ended"),
        Err(error) => tracing::info!(%peer, %error, "connection lost"),
    }
    share.close();
}

/// Ends scanners that no client continues, until the server stops.
pub(crate) async fn expire(thrift: Thrift, stop: watch::Receiver<bool>) {
    scanners::expire(thrift.scanners, stop).await;
}
