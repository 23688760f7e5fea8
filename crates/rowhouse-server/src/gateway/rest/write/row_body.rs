//! An answer with rows.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::Frame;
use rowhouse_format::exception::Exception;
use rowhouse_model::Row;

use super::row_writer::{Form, RowWriter, frame_len};
use crate::gateway::rest::media::Media;
use crate::gateway::{GatewayScan, ScannedRows, Session};
use crate::http::{Connection, HeldAnswer};
use crate::limits::{REST_PART_BYTES, REST_SCAN_ROWS};
use crate::memory::Reserved;

/// A scan that is closed when nobody reads on.
pub(in crate::gateway::rest) struct OpenScan {
    scan: Option<GatewayScan>,
    /// How many more results there may be: rows, or parts of rows in a scan with a batch.
    left: u64,
    session: Session,
}

impl OpenScan {
    pub(in crate::gateway::rest) fn new(scan: GatewayScan, left: u64, session: &Session) -> Self {
        Self { scan: Some(scan), left, session: session.clone() }
    }

    /// Returns the next rows, as [`GatewayScan::next`].
    pub(in crate::gateway::rest) async fn next(&mut self) -> Result<ScannedRows, Exception> {
        let Some(scan) = self.scan.as_mut().filter(|_| self.left > 0) else {
            return Ok(ScannedRows::default());
        };
        let count = u32::try_from(self.left).unwrap_or(u32::MAX).min(REST_SCAN_ROWS);
        let mut scanned = scan.next(&self.session, count, None).await?;
        scanned.rows.truncate(count as usize);
        self.left -= scanned.rows.len() as u64;
        Ok(scanned)
    }

    /// Returns true if there are no more rows.
    pub(in crate::gateway::rest) fn is_finished(&self) -> bool {
        self.left == 0 || self.scan.as_ref().is_none_or(GatewayScan::is_finished)
    }
}

impl Drop for OpenScan {
    fn drop(&mut self) {
        if let Some(mut scan) = self.scan.take_if(|scan| scan.is_open()) {
            let session = self.session.clone();
            tokio::spawn(async move { scan.end(&session).await });
        }
    }
}

/// Rows to answer with.
pub(in crate::gateway::rest) struct RowAnswer {
    pub(in crate::gateway::rest) form: Form,
    pub(in crate::gateway::rest) media: Media,
    pub(in crate::gateway::rest) rows: VecDeque<Row>,
    /// What the rows have reserved.
    pub(in crate::gateway::rest) memory: Vec<Reserved>,
    /// Where more rows come from.
    pub(in crate::gateway::rest) scan: Option<OpenScan>,
}

impl RowAnswer {
    /// Returns the response: whole if it is small, otherwise written while the client reads.
    pub(in crate::gateway::rest) fn response(self, connection: &Connection) -> Response {
        let Self { form, media, rows, memory, scan } = self;
        let bytes: u64 = rows.iter().map(Row::byte_len).sum();
        let scan = scan.filter(|scan| !scan.is_finished());
        if matches!(form, Form::ProtobufFrames { .. })
            && let Some(len) = rows.iter().map(frame_len).find(|&len| len > u16::MAX.into())
        {
            return too_long(len);
        }
        let mut writer = RowWriter::new(form);
        writer.push(rows);
        let headers = [(CONTENT_TYPE, media.name())];
        if scan.is_none() {
            writer.end();
        }
        if scan.is_none() && bytes <= REST_PART_BYTES as u64 {
            let mut body = Vec::with_capacity(2 * bytes as usize + 64);
            loop {
                match writer.next() {
                    Ok(Some(part)) => body.extend_from_slice(&part),
                    Ok(None) => return (headers, body).into_response(),
                    Err(error) => return too_long(error.0),
                }
            }
        }
        let held = memory.first().map(|_| connection).and_then(|connection| {
            let calls = scan.as_ref().map(|scan| &scan.session);
            calls.map(|session| connection.hold_answer(&session.cluster().call_memory))
        });
        let body = RowBody { writer, memory, scan, fetching: None, _held: held };
        (headers, Body::new(body)).into_response()
    }
}

fn too_long(len: usize) -> Response {
    crate::gateway::rest::refusal::Refusal::too_large(format_args!(
        "a row does not fit a frame of {} bytes: len={len}: request JSON, XML or a get",
        u16::MAX
    ))
    .into_response()
}

/// What a fetch of more rows returns.
type Fetched = (OpenScan, Result<ScannedRows, Exception>);

/// A body that is written while the client reads. Memory for rows is released before more rows are
/// requested.
struct RowBody {
    writer: RowWriter,
    memory: Vec<Reserved>,
    scan: Option<OpenScan>,
    fetching: Option<Pin<Box<dyn Future<Output = Fetched> + Send>>>,
    _held: Option<HeldAnswer>,
}

/// Why a body ends early: the connection is cut.
type BodyError = Box<dyn std::error::Error + Send + Sync>;

impl RowBody {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, BodyError>> {
        loop {
            if let Some(fetching) = &mut self.fetching {
                let (scan, fetched) = ready!(fetching.as_mut().poll(context));
                self.fetching = None;
                let ScannedRows { rows, memory } = fetched.map_err(|exception| {
                    tracing::info!(class = %exception.class, message = exception.message, "a REST scan broke off");
                    format!("{}: {}", exception.class, exception.message)
                })?;
                if rows.is_empty() || scan.is_finished() {
                    self.writer.end();
                } else {
                    self.scan = Some(scan);
                }
                self.memory.extend(memory);
                self.writer.push(rows);
            }
            let next = self.writer.next().map_err(|error| {
                tracing::info!(len = error.0, "a row does not fit a frame of a REST scan");
                format!("a row does not fit a frame: len={}", error.0)
            })?;
            if next.is_some() || self.writer.has_ended() {
                return Poll::Ready(Ok(next));
            }
            self.memory.clear();
            match self.scan.take() {
                Some(mut scan) => {
                    self.fetching = Some(Box::pin(async move {
                        let fetched = scan.next().await;
                        (scan, fetched)
                    }));
                }
                None => self.writer.end(),
            }
        }
    }
}

impl HttpBody for RowBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let next = ready!(self.get_mut().poll(context));
        Poll::Ready(next.transpose().map(|part| part.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.writer.has_ended()
    }
}
