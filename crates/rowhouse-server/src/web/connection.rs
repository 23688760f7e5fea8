//! Connections to the web port.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use tokio::net::TcpStream;

use super::routes::{monitoring_routes, routes};
use super::state::Web;
use crate::http::HttpPort;
use crate::limits::{WEB_HEADER_BYTES_MAX, WEB_MONITORING_TIME};

/// Serves a connection until either side ends it. One above
/// [`WEB_CONNECTIONS_MAX`](crate::limits::WEB_CONNECTIONS_MAX) is answered for health and metrics
/// alone, and ends soon, so that others can take its place.
pub(crate) async fn serve(stream: TcpStream, peer: SocketAddr, web: Web) {
    match Arc::clone(&web.connections).try_acquire_owned() {
        Ok(_permit) => serve_routes(stream, peer, &web, routes(web.clone())).await,
        Err(_) => {
            let served = serve_routes(stream, peer, &web, monitoring_routes(web.clone()));
            if tokio::time::timeout(WEB_MONITORING_TIME, served).await.is_err() {
                tracing::debug!(%peer, "web connection beyond the limit, closed");
            }
        }
    }
}

async fn serve_routes(stream: TcpStream, peer: SocketAddr, web: &Web, routes: Router) {
    let port = HttpPort {
        access: &web.context.cluster.access,
        stop: web.context.server.stopping(),
        header_bytes_max: WEB_HEADER_BYTES_MAX,
        title_case: false,
    };
    port.serve(stream, peer, routes).await;
}
