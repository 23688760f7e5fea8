//! Servers for tests: real sockets and frames, with answers supplied by the test.

mod cluster;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::BytesMut;
use prost::Message;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{
    CellCodec, Request, ServerConnection, ServerEvent, encode_exception, encode_response,
};
use rowhouse_model::{Cell, Error, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::connection::{Address, lock};

pub(crate) use cluster::{FakeCluster, cell, region};

/// A server's reaction to a request.
pub(crate) enum Reply {
    /// Writes these bytes.
    Now(BytesMut),
    /// Writes these bytes after a delay; other requests are answered meanwhile.
    Later(Duration, BytesMut),
    /// Does nothing.
    Never,
    /// Closes the connection.
    Close,
}

impl Reply {
    pub(crate) fn answer(request: &Request, message: &impl Message, cells: &[Cell]) -> Self {
        let mut out = BytesMut::new();
        encode_response(
            &mut out,
            request.call_id,
            message,
            CellCodec::KeyValue,
            cells.iter().map(Cell::as_key_value),
        )
        .unwrap();
        Self::Now(out)
    }

    pub(crate) fn refuse(request: &Request, kind: ErrorKind, message: &str) -> Self {
        let mut out = BytesMut::new();
        let exception = Exception::from(&Error::new(kind, message));
        encode_exception(&mut out, request.call_id, &exception);
        Self::Now(out)
    }

    pub(crate) fn after(self, wait: Duration) -> Self {
        match self {
            Self::Now(out) => Self::Later(wait, out),
            other => other,
        }
    }
}

/// Chooses the reaction to a request.
type Handler = Arc<dyn Fn(&Request) -> Reply + Send + Sync>;

/// A server on a free port; it ends with the test's runtime.
pub(crate) struct FakeServer {
    pub(crate) address: Address,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl FakeServer {
    pub(crate) async fn start(handler: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self::serve(listener, Arc::new(handler))
    }

    pub(crate) fn serve(listener: TcpListener, handler: Handler) -> Self {
        let port = listener.local_addr().unwrap().port();
        let server = Self {
            address: Address { host: "127.0.0.1".into(), port },
            connections: Arc::default(),
            requests: Arc::default(),
        };
        let connections = server.connections.clone();
        let requests = server.requests.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(talk(stream, handler.clone(), requests.clone()));
            }
        });
        server
    }

    /// Returns how many connections were accepted so far.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Returns the requests received so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.requests).clone()
    }
}

async fn talk(stream: TcpStream, handler: Handler, requests: Arc<Mutex<Vec<Request>>>) {
    let (mut reader, mut writer) = stream.into_split();
    let (answers, mut written) = mpsc::unbounded_channel::<BytesMut>();
    let writing = tokio::spawn(async move {
        while let Some(bytes) = written.recv().await {
            if writer.write_all(&bytes).await.is_err() {
                break;
            }
        }
    });
    let mut connection = ServerConnection::new("client:1", "fake");
    let mut input = BytesMut::new();
    let mut output = BytesMut::new();
    while reader.read_buf(&mut input).await.is_ok_and(|len| len > 0) {
        while let Some(event) = connection.next(&mut input, &mut output) {
            let ServerEvent::Request(request) = event else { continue };
            lock(&requests).push(request.clone());
            match handler(&request) {
                Reply::Now(bytes) => drop(answers.send(bytes)),
                Reply::Later(wait, bytes) => {
                    let answers = answers.clone();
                    tokio::spawn(async move {
                        tokio::time::sleep(wait).await;
                        let _ = answers.send(bytes);
                    });
                }
                Reply::Never => {}
                Reply::Close => {
                    writing.abort();
                    return;
                }
            }
        }
    }
}
