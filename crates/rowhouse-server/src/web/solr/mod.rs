//! Solr's select handler over full-text indexes (`docs/search.md`, "Solr's clients").
//!
//! [`params`] has the table of parameters, [`request`] reads them, [`search`] runs the search, and
//! [`json`] and [`javabin`] write the [`answer`].

mod answer;
mod cursor;
mod documents;
mod facets;
mod form;
mod highlight;
mod javabin;
mod json;
mod params;
mod request;
mod search;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::{Path, RawQuery, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use rowhouse_model::{Error, ErrorKind, Result};
use rowhouse_search::{Found, PinnedViews};
use tokio::sync::Semaphore;

use self::answer::Data;
use self::params::Params;
use super::{Web, failed};
use crate::limits::{
    HANDSHAKE_WAIT, SOLR_FORM_BYTES_MAX, SOLR_SEARCH_WAIT, SOLR_SEARCHES_MAX, SOLR_VIEWS_MAX,
};

/// What the searches of Solr's clients share.
pub(super) struct Solr {
    /// A permit for each search that may run.
    searches: Arc<Semaphore>,
    /// Searches whose pages by score go on.
    kept: PinnedViews<Mutex<Found>>,
}

impl Solr {
    pub(super) fn new() -> Self {
        let searches = Arc::new(Semaphore::new(SOLR_SEARCHES_MAX));
        Self { searches, kept: PinnedViews::new(SOLR_VIEWS_MAX) }
    }
}

/// Answers what is below `/solr/`: `TABLE/select` and `TABLE/admin/ping`, and refuses the others.
pub(super) async fn answer(
    State(web): State<Web>,
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    request: Request,
) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let (table, handler) = path.split_once('/').unwrap_or((&path, ""));
    let is_read = matches!(method, Method::GET | Method::HEAD | Method::POST);
    let (status, why) = match handler.trim_end_matches('/') {
        "select" if is_read => return select(web, table, query, request, begun).await,
        "admin/ping" if is_read => return ping(&web, table, query, begun),
        "select" | "admin/ping" => (StatusCode::METHOD_NOT_ALLOWED, "it takes GET and POST"),
        "update" => (StatusCode::BAD_REQUEST, UPDATES),
        other if other.starts_with("update/") => (StatusCode::BAD_REQUEST, UPDATES),
        _ => (StatusCode::NOT_FOUND, "TABLE/select and TABLE/admin/ping are"),
    };
    // Over HTTP/2, SolrJ takes an answer before the end of its request for a broken connection.
    if let Err(failure) = body_of(request).await {
        tracing::debug!(why = failure.message, "the body of a refused request was not read");
    }
    let params = Params::of_query(query.as_deref().unwrap_or_default()).unwrap_or_default();
    let message = format!("{method} /solr/{path} is not served: {why}");
    Failure::new(status, message).response(&params, begun)
}

const UPDATES: &str = "rows are written by HBase's protocol";

/// Answers a search.
async fn select(
    web: Web,
    table: &str,
    query: Option<String>,
    request: Request,
    begun: Instant,
) -> Response {
    let params = match params_of(query, request).await {
        Ok(params) => params,
        Err(error) => return error.response(&Params::default(), begun),
    };
    // Searches take turns; a client that waits too long is told so.
    let permit = Arc::clone(&web.solr.searches).acquire_owned();
    let Ok(Ok(permit)) = tokio::time::timeout(SOLR_SEARCH_WAIT, permit).await else {
        return Failure::new(StatusCode::SERVICE_UNAVAILABLE, "too many searches are running")
            .response(&params, begun);
    };
    let table = table.to_owned();
    let answered = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        match search::answer(&web, &table, &params, begun) {
            Ok(answer) => written(StatusCode::OK, &params, &answer),
            Err(error) => Failure::of(&error).response(&params, begun),
        }
    });
    answered.await.unwrap_or_else(|error| failed(&error))
}

/// Answers clients that ask whether a table is there.
fn ping(web: &Web, table: &str, query: Option<String>, begun: Instant) -> Response {
    let params = match Params::of_query(query.as_deref().unwrap_or_default()) {
        Ok(params) => params,
        Err(error) => return Failure::of(&error).response(&Params::default(), begun),
    };
    match search::table_of(web, table) {
        Ok(_) => {
            let header = params.header(0, begun);
            let status = ("status".to_owned(), Data::text("OK"));
            written(StatusCode::OK, &params, &Data::Named(vec![header, status]))
        }
        Err(error) => Failure::of(&error).response(&params, begun),
    }
}

/// Returns the parameters of the address, and of a form.
async fn params_of(query: Option<String>, request: Request) -> Result<Params, Failure> {
    let mut params = Params::of_query(query.as_deref().unwrap_or_default())
        .map_err(|error| Failure::of(&error))?;
    if request.method() != Method::POST {
        return Ok(params);
    }
    let kind = request.headers().get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let message = format!(
            "a POST to select takes application/x-www-form-urlencoded: Content-Type={kind}"
        );
        return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let bytes = body_of(request).await?;
    let form = std::str::from_utf8(&bytes)
        .map_err(|_| Failure::new(StatusCode::BAD_REQUEST, "the form is not UTF-8"))?;
    params.add_query(form).map_err(|error| Failure::of(&error))?;
    Ok(params)
}

/// Reads the body of a request.
async fn body_of(request: Request) -> Result<Bytes, Failure> {
    let body = axum::body::to_bytes(request.into_body(), SOLR_FORM_BYTES_MAX);
    match tokio::time::timeout(HANDSHAKE_WAIT, body).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => {
            let message = format!("the form is too long: max={SOLR_FORM_BYTES_MAX}");
            Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
        Err(_) => Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "the form did not arrive in time")),
    }
}

/// Why there is no answer.
struct Failure {
    status: StatusCode,
    message: String,
}

impl Failure {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    fn of(error: &Error) -> Self {
        let status = match error.kind() {
            ErrorKind::TableNotFound => StatusCode::NOT_FOUND,
            ErrorKind::InvalidRequest | ErrorKind::Unsupported | ErrorKind::UnknownScanner => {
                StatusCode::BAD_REQUEST
            }
            ErrorKind::RegionTooBusy | ErrorKind::ServerNotRunning | ErrorKind::Timeout => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error.message())
    }

    fn response(self, params: &Params, begun: Instant) -> Response {
        let code = i32::from(self.status.as_u16());
        let error = Data::Named(vec![
            ("msg".to_owned(), Data::text(self.message)),
            ("code".to_owned(), Data::Int(code)),
        ]);
        let answer = Data::Named(vec![params.header(code, begun), ("error".to_owned(), error)]);
        written(self.status, params, &answer)
    }
}

/// Writes an answer in the form that the client asked for; in JSON, if it asked for another one.
fn written(status: StatusCode, params: &Params, answer: &Data) -> Response {
    let (kind, body) = match params.get("wt") {
        Some("javabin") => ("application/octet-stream", javabin::written(answer)),
        _ => {
            let is_indented = !matches!(params.get("indent"), Some("off" | "false"));
            ("application/json;charset=utf-8", json::written(answer, is_indented).into_bytes())
        }
    };
    (status, [(CONTENT_TYPE, kind)], body).into_response()
}
