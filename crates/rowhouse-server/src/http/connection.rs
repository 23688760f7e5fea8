//! Connections to a port for HTTP, in HTTP/1.1 or HTTP/2, with or without TLS.

use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::held_answer::Connection;
use super::paced::Paced;
use crate::access::{Access, CertificateUser, Opened, Protocol, Stream};
use crate::limits::{HANDSHAKE_WAIT, WEB_STREAMS_MAX, WEB_WRITE_WAIT};

/// How HTTP/2 begins. No HTTP/1.1 method has this name.
const HTTP_2: &[u8] = b"PRI";

/// The answer to a plain request where only TLS is accepted.
const TLS_ONLY: &[u8] = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\n\
    content-length: 28\r\nconnection: close\r\n\r\nthis port serves HTTPS only\n";

/// How long a client may take that answer.
const REFUSAL_WAIT: Duration = Duration::from_secs(2);

/// How long to wait for the remaining first bytes.
const LOOK: Duration = Duration::from_millis(5);

/// Who has opened a connection.
#[derive(Clone)]
pub(crate) struct HttpClient {
    pub(crate) peer: SocketAddr,
    /// The user whom a client certificate names, if there is one that counts.
    pub(crate) certificate: Option<Arc<CertificateUser>>,
    pub(crate) is_tls: bool,
}

/// A port for HTTP.
pub(crate) struct HttpPort<'a> {
    pub(crate) access: &'a Access,
    pub(crate) stop: watch::Receiver<bool>,
    /// Header bytes in a request.
    pub(crate) header_bytes_max: usize,
    /// Whether names of headers are written as HBase writes them: some clients do not know other
    /// cases.
    pub(crate) title_case: bool,
}

impl HttpPort<'_> {
    /// Serves a connection until either side ends it. Requests have an [`HttpClient`] and a
    /// [`Connection`].
    pub(crate) async fn serve(self, stream: TcpStream, peer: SocketAddr, routes: Router) {
        let Self { access, mut stop, header_bytes_max, title_case } = self;
        let opened = tokio::select! {
            opened = access.open(stream, peer, Protocol::Http) => opened,
            _ = stop.changed() => return,
        };
        let Opened { stream, refusal, certificate } = match opened {
            Ok(opened) => opened,
            Err(error) => return lost(peer, &error),
        };
        if refusal.is_some() {
            tokio::select! {
                // Whether the client reads it does not matter.
                _ = tokio::time::timeout(REFUSAL_WAIT, refuse_plain(stream, header_bytes_max)) => {}
                _ = stop.changed() => {}
            }
            return lost(peer, &"a plain request to a port with TLS");
        }
        let is_http_2 = tokio::select! {
            is_http_2 = tokio::time::timeout(HANDSHAKE_WAIT, begins_as_http_2(&stream)) => is_http_2,
            _ = stop.changed() => return,
        };
        let Ok(is_http_2) = is_http_2 else {
            tracing::debug!(%peer, "HTTP connection without a request");
            return;
        };
        let connection = Connection::default();
        let ended = Arc::clone(&connection.ended);
        let certificate = certificate.and_then(Result::ok).map(Arc::new);
        let client = HttpClient { peer, certificate, is_tls: stream.is_http_2().is_some() };
        let routes = routes.layer(Extension(connection)).layer(Extension(client));
        let service = TowerToHyperService::new(routes);
        let io = TokioIo::new(Paced::new(stream, WEB_WRITE_WAIT));
        // The connections have different types, and have the same methods.
        macro_rules! run {
            ($connection:expr) => {{
                let connection = $connection;
                tokio::pin!(connection);
                let ended = tokio::select! {
                    ended = &mut connection => ended,
                    () = ended.notified() => return lost(peer, &"an answer is not taken while others wait"),
                    _ = stop.changed() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                };
                ended.err()
            }};
        }
        let error = if is_http_2 {
            run!(
                http2::Builder::new(TokioExecutor::new())
                    .timer(TokioTimer::new())
                    // Ends connections to machines that are gone.
                    .keep_alive_interval(HANDSHAKE_WAIT)
                    .max_header_list_size(header_bytes_max as u32)
                    .max_concurrent_streams(WEB_STREAMS_MAX)
                    .serve_connection(io, service)
            )
        } else {
            run!(
                http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(HANDSHAKE_WAIT)
                    .max_buf_size(header_bytes_max)
                    .title_case_headers(title_case)
                    .serve_connection(io, service)
            )
        };
        if let Some(error) = error {
            lost(peer, &error);
        }
    }
}

/// Answers a plain request that only TLS may make. The request is read: to close a socket with
/// unread bytes would reset the connection, which can erase the answer.
async fn refuse_plain(mut stream: Stream, header_bytes_max: usize) -> std::io::Result<u64> {
    stream.write_all(TLS_ONLY).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(header_bytes_max as u64), &mut tokio::io::sink()).await
}

fn lost(peer: SocketAddr, error: &dyn Display) {
    tracing::debug!(%peer, %error, "HTTP connection lost");
}

/// Returns true for HTTP/2: with TLS, the client has chosen it; otherwise waits for the first
/// bytes, and leaves them to be read.
async fn begins_as_http_2(stream: &Stream) -> bool {
    if let Some(is_http_2) = stream.is_http_2() {
        return is_http_2;
    }
    let mut first = [0; HTTP_2.len()];
    loop {
        match stream.socket().peek(&mut first).await {
            Ok(count) if count == first.len() => return first == HTTP_2,
            Ok(count @ 1..) if HTTP_2.starts_with(&first[..count]) => {
                tokio::time::sleep(LOOK).await;
            }
            // The reader finds what is wrong.
            _ => return false,
        }
    }
}
