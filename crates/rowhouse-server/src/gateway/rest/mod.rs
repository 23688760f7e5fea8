//! HBase's REST interface (`docs/hbase.md`).
//!
//! | file | content |
//! |---|---|
//! | `routes.rs` | which resource answers which path |
//! | `rows.rs`, `scans.rs`, `scanners.rs` | rows |
//! | `tables.rs`, `namespaces.rs`, `cluster.rs` | schemas, namespaces, status |
//! | `user.rs` | the user of a request |
//! | `request.rs`, `row_spec.rs`, `media.rs` | parts of requests |
//! | `model.rs`, `read/` | bodies of requests |
//! | `write/`, `refusal.rs` | answers |
//! | `proto.rs` | HBase's messages |

mod cluster;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzz;
mod media;
mod model;
mod namespaces;
mod proto;
mod read;
mod refusal;
mod request;
mod routes;
mod row_spec;
mod rows;
mod scanners;
mod scans;
mod tables;
mod user;
mod write;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use tokio::net::TcpStream;
use tokio::sync::watch;

use self::scanners::Scanners;
use super::Gateway;
use crate::call::Share;
use crate::http::HttpPort;
use crate::limits::REST_HEADER_BYTES_MAX;

/// What the connections share.
#[derive(Clone)]
pub(crate) struct Rest {
    gateway: Gateway,
    scanners: Arc<Scanners>,
}

impl Rest {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self { gateway, scanners: Arc::default() }
    }
}

/// What the requests on a connection share.
#[derive(Clone)]
struct RestConnection {
    rest: Rest,
    share: Arc<Share>,
}

/// Serves a connection until either side ends it.
pub(crate) async fn serve(stream: TcpStream, peer: SocketAddr, rest: Rest) {
    let share = rest.gateway.share();
    let cluster = Arc::clone(&rest.gateway.cluster);
    let port = HttpPort {
        access: &cluster.access,
        stop: cluster.master.stopping(),
        header_bytes_max: REST_HEADER_BYTES_MAX,
        title_case: true,
    };
    let connection = RestConnection { rest, share: Arc::clone(&share) };
    let routes = Router::new().fallback(routes::answer).with_state(connection);
    port.serve(stream, peer, routes).await;
    share.close();
}

/// The interval at which unused scanners are looked for.
const EXPIRY_LOOK: Duration = Duration::from_secs(60);

/// Ends scanners that no client continues.
pub(crate) async fn expire(rest: Rest, mut stop: watch::Receiver<bool>) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(EXPIRY_LOOK) => rest.scanners.expire(Instant::now()),
            _ = stop.changed() => return,
        }
    }
}
