//! Metrics and health over HTTP, for Prometheus and supervisors.
//!
//! There is no authentication, so it listens on loopback unless told otherwise, and answers only
//! requests whose `Host` is this machine: a page in a browser cannot read it by a name that
//! resolves to loopback.

use std::net::{IpAddr, SocketAddr};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;

use crate::limits::{HANDSHAKE_WAIT, WEB_HEADER_BYTES_MAX};
use crate::metrics;
use crate::server::Context;

/// Serves a connection until either side ends it.
pub(crate) async fn serve(stream: TcpStream, peer: SocketAddr, mut context: Context) {
    let service = TowerToHyperService::new(routes(context.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HANDSHAKE_WAIT)
        .max_buf_size(WEB_HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = context.stop.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%peer, %error, "web connection lost");
    }
}

fn routes(context: Context) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/health", get(health))
        .route("/metrics", get(render_metrics))
        .route("/rs-status", get(tasks))
        .layer(middleware::from_fn_with_state(context.clone(), check_host))
        .with_state(context)
}

async fn index(State(context): State<Context>) -> String {
    format!(
        "rowhouse {}, region server {}\n\n/health   200 while writes are taken, 503 with the reason otherwise\n/metrics  for Prometheus\n/rs-status  running tasks, for HBase's shell\n",
        env!("CARGO_PKG_VERSION"),
        context.server.name
    )
}

async fn health(State(context): State<Context>) -> Response {
    match context.cluster.store.check_writable() {
        Ok(()) => "ok\n".into_response(),
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

async fn render_metrics(State(context): State<Context>) -> Response {
    // Sizes are asked of each region, which takes locks.
    match tokio::task::spawn_blocking(move || metrics::render(&context.cluster)).await {
        Ok(text) => {
            let content_type = HeaderValue::from_static("text/plain; version=0.0.4");
            ([(CONTENT_TYPE, content_type)], text).into_response()
        }
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")).into_response(),
    }
}

/// Returns the running tasks as HBase's `/rs-status?format=json` does: the command `processlist` of
/// its shell reads them there.
async fn tasks(State(context): State<Context>) -> Response {
    let tasks = context.cluster.store.tasks();
    let tasks = tasks.into_iter().map(|task| {
        serde_json::json!({
            "description": task.description,
            "status": task.status,
            "state": "RUNNING",
            "starttimems": task.begun_millis,
            "statustimems": task.begun_millis,
        })
    });
    let content_type = HeaderValue::from_static("application/json");
    let json = serde_json::Value::Array(tasks.collect()).to_string();
    ([(CONTENT_TYPE, content_type)], json).into_response()
}

/// Refuses a request for another host.
async fn check_host(State(context): State<Context>, request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_this_machine(host, &context.server.name.host) {
        return next.run(request).await;
    }
    let message = format!("the request is for another host: {host:?}\n");
    (StatusCode::FORBIDDEN, message).into_response()
}

/// Whether a `Host` header names this machine: by an address, as `localhost`, or by the name that
/// clients of HBase's protocol are told. Other names may be of a page that tries to reach it.
fn is_this_machine(header: &str, advertised: &str) -> bool {
    let host = match header.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => header.rsplit_once(':').map_or(header, |(host, _)| host),
    };
    host.parse::<IpAddr>().is_ok()
        || ["localhost", advertised].iter().any(|name| name.eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_localhost_and_the_advertised_name_are_this_machine() {
        for host in ["127.0.0.1:16030", "[::1]:16030", "localhost", "LocalHost:80", "db1:16030"] {
            assert!(is_this_machine(host, "db1"), "{host}");
        }
        for host in ["", "evil.example", "evil.example:16030", "127.0.0.1.evil.example:80", "db2"] {
            assert!(!is_this_machine(host, "db1"), "{host}");
        }
    }
}
