//! Solr's select handler over full-text indexes (`docs/search.md`, "Solr's clients").
//!
//! [`params`] has the table of parameters, [`request`] reads them, [`search`] runs the search, and
//! [`json`] and [`javabin`] write the [`answer`].

mod answer;
mod cursor;
mod documents;
mod facets;
mod highlight;
mod javabin;
mod json;
mod params;
mod request;
mod search;
mod shared;

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use rowhouse_model::{Action, Error, ErrorKind, Result};

use self::answer::Data;
use self::params::Params;
use super::state::{Web, failed};

pub(super) use self::shared::Solr;
use crate::http::body::{self, Read};
use crate::http::{Connection, HeldAnswer};
use crate::limits::{SOLR_BYTES_PER_BYTE, SOLR_FORM_BYTES_MAX, SOLR_SEARCH_WAIT};
use crate::memory::{CALL_BYTES, CallMemory, Reserved};

/// Answers what is below `/solr/`: `TABLE/select` and `TABLE/admin/ping`, and refuses the others.
pub(super) async fn answer(
    State(web): State<Web>,
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    Extension(connection): Extension<Connection>,
    request: Request,
) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let solr = Arc::clone(&web.solr);
    let form = if method == Method::POST {
        tokio::time::timeout(SOLR_SEARCH_WAIT, solr.forms.acquire()).await.map(Some)
    } else {
        Ok(None)
    };
    let Ok(_form) = form else {
        return Failure::new(StatusCode::SERVICE_UNAVAILABLE, "too many forms are being read")
            .response(&Params::default(), started);
    };
    let Received { params, failure } = Received::read(query.as_deref(), request).await;
    let (table, handler) = path.split_once('/').unwrap_or((&path, ""));
    let is_read = matches!(method, Method::GET | Method::HEAD | Method::POST);
    let (status, why) = match handler.trim_end_matches('/') {
        "select" | "admin/ping" if !is_read => {
            (StatusCode::METHOD_NOT_ALLOWED, "it takes GET and POST")
        }
        handler @ ("select" | "admin/ping") => {
            return match failure {
                Some(failure) => failure.response(&params, started),
                None if handler == "select" => {
                    select(web, connection, table, params, started).await
                }
                None => ping(&web, table, &params, started),
            };
        }
        "update" => (StatusCode::BAD_REQUEST, UPDATES),
        other if other.starts_with("update/") => (StatusCode::BAD_REQUEST, UPDATES),
        _ => (StatusCode::NOT_FOUND, "TABLE/select and TABLE/admin/ping are"),
    };
    let message = format!("{method} /solr/{path} is not served: {why}");
    Failure::new(status, message).response(&params, started)
}

const UPDATES: &str = "rows are written by HBase's protocol";

/// Answers a search.
async fn select(
    web: Web,
    connection: Connection,
    table: &str,
    params: Params,
    started: Instant,
) -> Response {
    // Searches take turns; a client that waits too long gets an error.
    let permit = Arc::clone(&web.solr.searches).acquire_owned();
    let Ok(Ok(permit)) = tokio::time::timeout(SOLR_SEARCH_WAIT, permit).await else {
        return Failure::new(StatusCode::SERVICE_UNAVAILABLE, "too many searches are running")
            .response(&params, started);
    };
    let calls = Arc::clone(&web.context.cluster.call_memory);
    let memory = tokio::time::timeout(SOLR_SEARCH_WAIT, calls.large(CALL_BYTES)).await;
    let Ok(memory) = memory else {
        let message = "answers that others have not taken hold the memory of calls";
        return Failure::new(StatusCode::SERVICE_UNAVAILABLE, message).response(&params, started);
    };
    let table = table.to_owned();
    let answered = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let mut memory = AnswerMemory { calls, reserved: memory, connection };
        match search::answer(&web, &table, &params, started, &mut memory) {
            Ok(answer) => written(StatusCode::OK, &params, &answer, Some(memory)),
            Err(error) => Failure::of(&error).response(&params, started),
        }
    });
    answered.await.unwrap_or_else(|error| failed(&error))
}

/// Answers clients that ask whether a table is there.
fn ping(web: &Web, table: &str, params: &Params, started: Instant) -> Response {
    match search::table_of(web, table) {
        Ok(_) => {
            let header = params.header(0, started);
            let status = ("status".to_owned(), Data::text("OK"));
            written(StatusCode::OK, params, &Data::Named(vec![header, status]), None)
        }
        Err(error) => Failure::of(&error).response(params, started),
    }
}

/// A request whose body was read.
struct Received {
    /// The parameters in the address and in a form, as far as they can be read.
    params: Params,
    /// Why they are not all.
    failure: Option<Failure>,
}

impl Received {
    async fn read(query: Option<&str>, request: Request) -> Self {
        let has_form = request.method() == Method::POST;
        let kind = request.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_owned();
        let body = body::read(request.into_body()).await;
        let mut params = Params::default();
        let of_address = add_query(&mut params, query.unwrap_or_default().as_bytes());
        let of_form = if has_form { add_form(&mut params, &kind, body) } else { Ok(()) };
        Self { params, failure: of_address.and(of_form).err() }
    }
}

/// Adds the parameters in an address or a form. If they cannot be read, adds the answer form alone.
fn add_query(params: &mut Params, query: &[u8]) -> Result<(), Failure> {
    let added = match std::str::from_utf8(query) {
        Ok(text) => params.add_query(text).map_err(|error| Failure::of(&error)),
        Err(_) => Err(Failure::new(StatusCode::BAD_REQUEST, "the form is not UTF-8")),
    };
    added.inspect_err(|_| params.add_answer_form(query))
}

/// Adds the parameters in a POST body. As in Solr, an empty one has none, whatever its type.
fn add_form(params: &mut Params, kind: &str, body: Read) -> Result<(), Failure> {
    let is_form = kind.eq_ignore_ascii_case("application/x-www-form-urlencoded");
    match body {
        Read::Whole(bytes) if bytes.is_empty() => Ok(()),
        Read::Whole(bytes) if is_form => add_query(params, &bytes),
        Read::Whole(_) => {
            let message = format!(
                "a POST to select takes application/x-www-form-urlencoded: Content-Type={kind}"
            );
            Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
        }
        Read::TooLong(end) => {
            params.add_answer_form(&end);
            let message = format!("the form is too long: max={SOLR_FORM_BYTES_MAX}");
            Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
        Read::Lost => {
            Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "the form did not arrive in time"))
        }
    }
}

/// Characters in an error message. A message may repeat what the client sent.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// Why there is no answer.
struct Failure {
    status: StatusCode,
    message: String,
}

impl Failure {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(MESSAGE_CHARS_MAX) {
            message.truncate(end);
            message.push('…');
        }
        Self { status, message }
    }

    fn of(error: &Error) -> Self {
        let status = match error.kind() {
            ErrorKind::TableNotFound => StatusCode::NOT_FOUND,
            ErrorKind::UnknownScanner => StatusCode::BAD_REQUEST,
            // Nothing in the request is wrong.
            ErrorKind::TableNotEnabled => StatusCode::SERVICE_UNAVAILABLE,
            _ => match error.action() {
                Action::FixRequest => StatusCode::BAD_REQUEST,
                Action::Retry | Action::Relocate => StatusCode::SERVICE_UNAVAILABLE,
                Action::Reopen | Action::Report => StatusCode::INTERNAL_SERVER_ERROR,
            },
        };
        Self::new(status, error.described())
    }

    fn response(self, params: &Params, started: Instant) -> Response {
        let code = i32::from(self.status.as_u16());
        let error = Data::Named(vec![
            ("msg".to_owned(), Data::text(self.message)),
            ("code".to_owned(), Data::Int(code)),
        ]);
        let answer = Data::Named(vec![params.header(code, started), ("error".to_owned(), error)]);
        written(self.status, params, &answer, None)
    }
}

/// What a search answer has reserved.
struct AnswerMemory {
    calls: Arc<CallMemory>,
    reserved: Reserved,
    connection: Connection,
}

impl AnswerMemory {
    /// Reserves what documents with so many cell bytes hold.
    ///
    /// # Errors
    /// `RegionTooBusy` if it is not free.
    fn hold(&mut self, bytes: u64) -> Result<()> {
        while self.reserved.bytes() < bytes * SOLR_BYTES_PER_BYTE {
            let more = self.reserved.bytes();
            if !self.calls.grow(&mut self.reserved, more, None) {
                let message = format!(
                    "answers hold the memory of calls; ask for fewer rows, or later: bytes={bytes}"
                );
                return Err(Error::new(ErrorKind::RegionTooBusy, message));
            }
        }
        Ok(())
    }

    /// Returns what an answer with so many bytes has reserved, from now on for a limited time.
    ///
    /// # Errors
    /// As [`AnswerMemory::hold`].
    fn of_body(mut self, bytes: usize) -> Result<(Reserved, HeldAnswer)> {
        self.hold(bytes as u64 / SOLR_BYTES_PER_BYTE)?;
        self.reserved.shrink_to(bytes as u64);
        let held = self.connection.hold_answer(&self.calls);
        Ok((self.reserved, held))
    }
}

/// An answer's bytes, which hold their memory until they are sent.
struct Body {
    bytes: Vec<u8>,
    _memory: Option<(Reserved, HeldAnswer)>,
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Writes an answer in the form that the client requested; in JSON, if it requested another one.
fn written(
    status: StatusCode,
    params: &Params,
    answer: &Data,
    memory: Option<AnswerMemory>,
) -> Response {
    let (kind, body) = match params.get("wt") {
        Some("javabin") => ("application/octet-stream", javabin::written(answer)),
        _ => {
            let is_indented = !matches!(params.get("indent"), Some("off" | "false"));
            ("application/json;charset=utf-8", json::written(answer, is_indented).into_bytes())
        }
    };
    let memory = match memory.map(|memory| memory.of_body(body.len())).transpose() {
        Ok(memory) => memory,
        Err(error) => return Failure::of(&error).response(params, Instant::now()),
    };
    let body = Bytes::from_owner(Body { bytes: body, _memory: memory });
    (status, [(CONTENT_TYPE, kind)], body).into_response()
}
