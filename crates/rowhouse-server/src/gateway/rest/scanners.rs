//! Scanners: `PUT /TABLE/scanner`, then `GET /TABLE/scanner/ID` until 204.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use rowhouse_format::exception::Exception;
use rowhouse_model::{ErrorKind, Row, TableName};

use super::media::{self, Media};
use super::read;
use super::refusal::Refusal;
use super::request::Request;
use super::rows::form_of;
use super::write::{RowAnswer, base64};
use crate::access::new_secret;
use crate::gateway::{GatewayScan, ScanOptions, ScannedRows, Session};
use crate::limits::{
    REST_MODEL_BYTES_MAX, REST_PAGE_BYTES, REST_SCAN_ROWS, REST_SCANNER_TIME,
    REST_SCANNERS_HELD_BYTES_MAX, REST_SCANNERS_MAX,
};
use crate::memory::Reserved;

type Answer = Result<Response, Refusal>;

/// The open scanners, by the secret in the address.
#[derive(Default)]
pub(super) struct Scanners {
    open: Mutex<HashMap<String, Entry>>,
    /// Bytes of rows that all scanners hold.
    held_bytes: Arc<AtomicU64>,
}

struct Entry {
    scanner: Arc<Scanner>,
    used: Instant,
}

/// An open scanner.
struct Scanner {
    /// Nobody else may use it.
    user: String,
    table: TableName,
    /// Cells in an answer.
    batch: u32,
    state: tokio::sync::Mutex<State>,
}

/// A scanner between two answers.
struct State {
    scan: GatewayScan,
    /// Rows that were read and not returned.
    pending: VecDeque<Row>,
    /// Cells of the next row that were returned already.
    skipped: usize,
    /// Whose cells these are.
    skipped_row: Vec<u8>,
    held: Held,
}

/// Bytes that a scanner holds, of what all may.
struct Held {
    bytes: u64,
    all: Arc<AtomicU64>,
}

impl Held {
    /// Sets the bytes. Returns false, and holds none, if all scanners would hold too much.
    fn set(&mut self, bytes: u64) -> bool {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
        if self.all.fetch_add(bytes, Ordering::Relaxed) + bytes > REST_SCANNERS_HELD_BYTES_MAX {
            self.all.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.bytes = bytes;
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Scanners {
    /// Opens a scanner; returns the id. Beyond the limit the one that was not used for longest
    /// ends.
    fn open(&self, id: String, scanner: Scanner) {
        let mut open = self.open.lock();
        if open.len() >= REST_SCANNERS_MAX {
            let oldest = open.iter().min_by_key(|(_, entry)| entry.used);
            let oldest = oldest.map(|(id, _)| id.clone());
            oldest.and_then(|id| open.remove(&id));
        }
        open.insert(id, Entry { scanner: Arc::new(scanner), used: Instant::now() });
    }

    fn find(&self, id: &str, table: &TableName, user: &str) -> Option<Arc<Scanner>> {
        let mut open = self.open.lock();
        let entry = open.get_mut(id)?;
        entry.used = Instant::now();
        let scanner = &entry.scanner;
        (scanner.user == user && scanner.table == *table).then(|| Arc::clone(scanner))
    }

    fn remove(&self, id: &str) {
        self.open.lock().remove(id);
    }

    /// Ends the scanners that were not used for too long.
    pub(super) fn expire(&self, now: Instant) {
        let is_fresh = |entry: &Entry| now.duration_since(entry.used) < REST_SCANNER_TIME;
        self.open.lock().retain(|_, entry| is_fresh(entry));
    }
}

/// Opens a scanner.
pub(super) async fn create(
    request: &Request,
    scanners: &Scanners,
    table: TableName,
    body: Body,
) -> Answer {
    let body = request.read(body, media::OF_ROWS, REST_MODEL_BYTES_MAX).await?;
    let bad = |error| {
        tracing::debug!(%error, "a REST scanner was refused");
        Refusal::new(StatusCode::BAD_REQUEST, format!("Bad request\r\n{error}\r\n"))
    };
    let model = read::scanner(body.media, &body.bytes).map_err(bad)?;
    let scan = model.to_scan().map_err(bad)?;
    let id = new_secret()
        .map_err(|_| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "Unavailable\r\n"))?;
    let state = State {
        scan: GatewayScan::new(table.clone(), scan, ScanOptions::default()),
        pending: VecDeque::new(),
        skipped: 0,
        skipped_row: Vec::new(),
        held: Held { bytes: 0, all: Arc::clone(&scanners.held_bytes) },
    };
    let user = request.session.user().to_owned();
    let scanner =
        Scanner { user, table, batch: model.batch, state: tokio::sync::Mutex::new(state) };
    let location = request.location(&id);
    scanners.open(id, scanner);
    Ok((StatusCode::CREATED, [(LOCATION, location)]).into_response())
}

/// Returns a scanner's next rows, or ends it.
pub(super) async fn answer(
    request: &Request,
    scanners: &Scanners,
    table: &TableName,
    id: &str,
) -> Answer {
    let session = &request.session;
    let scanner = scanners.find(id, table, session.user()).ok_or_else(Refusal::not_found)?;
    if request.method() == "DELETE" {
        scanners.remove(id);
        let mut state = scanner.state.lock().await;
        state.pending.clear();
        state.scan.end(session).await;
        return Ok(StatusCode::OK.into_response());
    }
    let media = request.accepted(media::OF_CELLS)?;
    let (cells, rows) = match media {
        Media::Binary => (1, None),
        _ => {
            let cells = request.number::<i32>("c")?.filter(|&cells| cells > 0);
            let rows = request.number::<i32>("n")?.filter(|&rows| rows > 0);
            (cells.map_or(scanner.batch, |cells| cells as u32), rows.map(|rows| rows as u32))
        }
    };
    let form = form_of(request, table, media)?;
    let mut state = scanner.state.lock().await;
    let taken = state.take(session, cells, rows).await;
    drop(state);
    let (taken, memory) =
        taken.map_err(|exception| match exception.clone().into_error().kind() {
            ErrorKind::TableNotFound => Refusal::not_found(),
            ErrorKind::TableNotEnabled => {
                scanners.remove(id);
                Refusal::new(StatusCode::GONE, "Gone\r\n")
            }
            _ => exception.into(),
        })?;
    if taken.is_empty() {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut response = match (media, taken.front()) {
        (Media::Binary, Some(row)) => value(row),
        _ => {
            RowAnswer { form, media, rows: taken, memory, scan: None }.response(&request.connection)
        }
    };
    response.headers_mut().insert(CACHE_CONTROL, axum::http::HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// Answers with a row's only cell.
fn value(row: &Row) -> Response {
    let Some(cell) = row.cells().next() else { return StatusCode::NO_CONTENT.into_response() };
    let column = [cell.family(), b":", cell.qualifier()].concat();
    let headers = [
        (CONTENT_TYPE.as_str(), Media::Binary.name().to_owned()),
        ("x-row", base64(cell.row())),
        ("x-column", base64(&column)),
        ("x-timestamp", cell.timestamp().as_millis().to_string()),
    ];
    (headers, Body::from(cell.value_bytes())).into_response()
}

impl State {
    /// Takes at most so many cells, and rows if there is a limit. It may return fewer, and returns
    /// none at the scan's end.
    async fn take(
        &mut self,
        session: &Session,
        cells_max: u32,
        rows_max: Option<u32>,
    ) -> Result<(VecDeque<Row>, Vec<Reserved>), Exception> {
        let mut taken = VecDeque::new();
        let mut memory = Vec::new();
        let mut cells = cells_max as usize;
        let mut rows = rows_max.map_or(usize::MAX, |rows| rows as usize);
        let mut bytes = 0;
        while cells > 0 && rows > 0 && bytes < REST_PAGE_BYTES {
            if self.pending.is_empty() {
                // A call that holds memory for rows does not wait for more.
                let holds_rows = !memory.is_empty();
                let call = holds_rows.then(|| session.try_reserve_call()).flatten();
                if holds_rows && call.is_none() {
                    break;
                }
                let count = (cells.min(rows) as u32).min(REST_SCAN_ROWS);
                let ScannedRows { rows, memory: reserved } =
                    match self.scan.next(session, count, call).await {
                        Ok(scanned) => scanned,
                        // The scan has passed these rows; the next call meets the failure again.
                        Err(_) if !taken.is_empty() => break,
                        Err(exception) => return Err(exception),
                    };
                memory.extend(reserved);
                self.pending.extend(rows.into_iter().filter(|row| !row.is_empty()));
            }
            let Some(row) = self.pending.front() else { break };
            if row.key() != self.skipped_row {
                self.skipped = 0;
            }
            // Cells may have been deleted since.
            let left = row.len().saturating_sub(self.skipped);
            let part = if self.skipped == 0 && left <= cells {
                row.clone()
            } else {
                Row::new(
                    row.cells().skip(self.skipped).take(cells).map(|it| it.to_cell()).collect(),
                )
            };
            let is_whole = left <= cells;
            cells -= part.len();
            bytes += part.byte_len();
            self.skipped_row = row.key().to_vec();
            self.skipped += part.len();
            if !part.is_empty() {
                taken.push_back(part);
            }
            if is_whole {
                rows -= 1;
                self.skipped = 0;
                self.skipped_row.clear();
                self.pending.pop_front();
            }
        }
        self.hold(session).await;
        Ok((taken, memory))
    }

    /// Holds the rows that were not returned, apart from the answer, or lets them be read again.
    async fn hold(&mut self, session: &Session) {
        let bytes = self.pending.iter().map(Row::byte_len).sum();
        if self.held.set(bytes) {
            self.pending.iter_mut().for_each(|row| *row = row.detached());
            return;
        }
        if let Some(row) = self.pending.front() {
            self.scan.rewind(session, row.key()).await;
        }
        self.pending.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_held_by_scanners_are_bounded_and_given_back() {
        let all = Arc::new(AtomicU64::new(0));
        let held = || Held { bytes: 0, all: Arc::clone(&all) };
        let (mut one, mut two) = (held(), held());
        assert!(one.set(REST_SCANNERS_HELD_BYTES_MAX - 10));
        assert!(!two.set(11));
        assert!(two.set(10));
        assert!(one.set(5));
        drop((one, two));
        assert_eq!(all.load(Ordering::Relaxed), 0);
    }
}
