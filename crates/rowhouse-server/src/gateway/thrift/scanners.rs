//! Open scanners. They belong to no connection, as in HBase: a number opened on one is read on
//! others.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use parking_lot::Mutex;
use rowhouse_format::convert::scan::OpenScan;
use rowhouse_format::thrift::{Answer, Args, Failure, Method, Pairs, TScan};
use rowhouse_model::{Error, ErrorKind, Filter, ListOperator, Row, Scan};
use tokio::sync::watch;

use super::call::{Outcome, Returned, attributes, required, table_name};
use super::failure::{Thrown, local, of_row};
use super::read::{columns, time_range};
use crate::gateway::{GatewayScan, ScanOptions, Session, exception};
use crate::limits::{
    THRIFT_CONNECTION_SCANNERS_MAX, THRIFT_JOINED_BYTES, THRIFT_SCANNER_BYTES_MAX,
    THRIFT_SCANNER_LIFE, THRIFT_SCANNERS_MAX,
};

/// All open scanners.
#[derive(Default)]
pub(super) struct Scanners {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next: i32,
    scanners: HashMap<i32, Arc<Scanner>>,
    /// Of the scanners' requests.
    bytes: usize,
}

struct Scanner {
    /// `None` once it is closed.
    scan: tokio::sync::Mutex<Option<GatewayScan>>,
    is_sorted: bool,
    /// The bytes of the scan's bounds, columns and filter.
    bytes: usize,
    used: Mutex<Instant>,
    /// The scanners that were opened on the same connection.
    of_connection: Arc<AtomicUsize>,
}

impl Drop for Scanner {
    fn drop(&mut self) {
        self.of_connection.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How a filter text names a query: `RowhouseQuery('sender = ''eve''')`.
const QUERY: &[u8] = b"RowhouseQuery(";
/// Stands for the query while the other filters are parsed.
const QUERY_PLACE: &str = "PageFilter(9223372036854775807)";

impl Scanners {
    /// Opens a scanner. Nothing is read, and the table and families are not looked up, before the
    /// first rows are requested, as in HBase.
    pub(super) fn open(
        &self,
        method: Method,
        args: Args,
        of_connection: &Arc<AtomicUsize>,
    ) -> Outcome<Returned> {
        let table = table_name(args.table.clone())?;
        let is_sorted = args.scan.as_ref().and_then(|scan| scan.sort_columns).unwrap_or_default();
        let bytes = byte_len(&args);
        let (scan, options) = scan_of(method, args)?;
        let scan = GatewayScan::new(table, scan, options);
        let mut open = self.open.lock();
        let count = of_connection.load(Ordering::Relaxed);
        let is_full = open.scanners.len() >= THRIFT_SCANNERS_MAX
            || count >= THRIFT_CONNECTION_SCANNERS_MAX
            || open.bytes + bytes > THRIFT_SCANNER_BYTES_MAX;
        if is_full {
            return Err(too_many(&open, count).into());
        }
        open.bytes += bytes;
        of_connection.fetch_add(1, Ordering::Relaxed);
        let scanner = Scanner {
            scan: tokio::sync::Mutex::new(Some(scan)),
            is_sorted,
            bytes,
            used: Mutex::new(Instant::now()),
            of_connection: Arc::clone(of_connection),
        };
        let mut number = open.next;
        while open.scanners.contains_key(&number) {
            number = following(number);
        }
        open.next = following(number);
        open.scanners.insert(number, Arc::new(scanner));
        Ok(Answer::I32(number).into())
    }

    fn find(&self, number: Option<i32>) -> Outcome<Arc<Scanner>> {
        let open = self.open.lock();
        let scanner = number.and_then(|number| open.scanners.get(&number));
        scanner
            .cloned()
            .ok_or_else(|| Failure::IllegalArgument("scanner ID is invalid".into()).into())
    }

    /// Returns the next rows, or parts of rows in a scan with a batch: as many as requested, fewer
    /// if they are large, none at the end.
    pub(super) async fn next(
        &self,
        session: &Session,
        number: Option<i32>,
        count: i32,
    ) -> Outcome<Returned> {
        let scanner = self.find(number)?;
        let count = u32::try_from(count)
            .map_err(|_| Thrown::IllegalArgument(format!("Illegal Capacity: {count}")))?;
        let mut scan = scanner.scan.lock().await;
        let scan = match &mut *scan {
            Some(scan) => scan,
            None => return Err(Failure::IllegalArgument("scanner ID is invalid".into()).into()),
        };
        let mut rows = Vec::new();
        let mut memory = Vec::new();
        let mut bytes = 0;
        while (rows.len() as u32) < count && !scan.is_finished() && bytes < THRIFT_JOINED_BYTES {
            // A call that holds rows does not wait for memory.
            let call = if memory.is_empty() { None } else { session.try_reserve_call() };
            if call.is_none() && !memory.is_empty() {
                break;
            }
            let scanned = scan.next(session, count - rows.len() as u32, call).await;
            *scanner.used.lock() = Instant::now();
            let scanned = match scanned {
                Ok(scanned) => scanned,
                // The scan has passed these rows; the next call meets the failure again.
                Err(_) if !rows.is_empty() => break,
                Err(exception) => return Err(of_row(exception).into()),
            };
            bytes += scanned.rows.iter().map(Row::byte_len).sum::<u64>();
            rows.extend(scanned.rows);
            memory.extend(scanned.memory);
        }
        *scanner.used.lock() = Instant::now();
        Ok(Returned { answer: Answer::Rows { rows, is_sorted: scanner.is_sorted }, memory })
    }

    /// Closes a scanner.
    pub(super) async fn close(&self, session: &Session, closed: Option<i32>) -> Outcome<Returned> {
        let scanner = self.find(closed)?;
        self.remove(|number, _| Some(*number) == closed);
        if let Some(mut scan) = scanner.scan.lock().await.take() {
            scan.end(session).await;
        }
        Ok(Answer::Void.into())
    }

    /// Ends the scanners that no client has used for a while. What they hold in the store has ended
    /// before.
    fn expire(&self, now: Instant) {
        self.remove(|_, scanner| {
            now.saturating_duration_since(*scanner.used.lock()) >= THRIFT_SCANNER_LIFE
        });
    }

    fn remove(&self, is_removed: impl Fn(&i32, &Scanner) -> bool) {
        let mut open = self.open.lock();
        open.scanners.retain(|number, scanner| !is_removed(number, scanner));
        open.bytes = open.scanners.values().map(|scanner| scanner.bytes).sum();
    }
}

/// Ends scanners that no client continues, until the server stops.
pub(super) async fn expire(scanners: Arc<Scanners>, mut stop: watch::Receiver<bool>) {
    let mut ticks = tokio::time::interval(THRIFT_SCANNER_LIFE / 6);
    loop {
        tokio::select! {
            _ = ticks.tick() => scanners.expire(Instant::now()),
            _ = stop.changed() => return,
        }
    }
}

fn following(number: i32) -> i32 {
    number.checked_add(1).unwrap_or_default()
}

/// Returns about how many bytes a scan's arguments have.
fn byte_len(args: &Args) -> usize {
    let scan = args.scan.as_ref();
    let columns = [args.columns.as_ref(), scan.and_then(|scan| scan.columns.as_ref())];
    let columns = columns.into_iter().flatten().flatten().map(|column| column.len() + 64);
    let own = [args.row.as_ref(), args.stop_row.as_ref()];
    let of_scan = scan.map(|scan| [&scan.start_row, &scan.stop_row, &scan.filter_string]);
    let texts = of_scan.into_iter().flatten().map(Option::as_ref).chain(own);
    let attributes = args.attributes.iter().flat_map(|Pairs(pairs)| pairs);
    let attributes = attributes.map(|(name, value)| name.len() + value.len());
    columns.chain(texts.flatten().map(Bytes::len)).chain(attributes).sum()
}

fn too_many(open: &Open, of_connection: usize) -> Failure {
    let message = format!(
        "too many open scanners: all={}, max={THRIFT_SCANNERS_MAX}, connection={of_connection}, \
         max={THRIFT_CONNECTION_SCANNERS_MAX}, bytes={}, max={THRIFT_SCANNER_BYTES_MAX}",
        open.scanners.len(),
        open.bytes
    );
    let error = Error::new(ErrorKind::RegionTooBusy, message);
    local(exception(error))
}

/// Returns the scan that a method opens.
fn scan_of(method: Method, args: Args) -> Outcome<(Scan, ScanOptions)> {
    let attributes = attributes(args.attributes, true)?;
    let request = match method {
        Method::ScannerOpenWithScan => required(args.scan, "scan")?,
        _ => TScan {
            start_row: Some(required(args.row, "startRow")?),
            stop_row: match method {
                Method::ScannerOpenWithStop | Method::ScannerOpenWithStopTs => {
                    Some(required(args.stop_row, "stopRow")?)
                }
                _ => None,
            },
            timestamp: args.timestamp,
            columns: args.columns,
            ..TScan::default()
        },
    };
    let start = copied(request.start_row);
    let mut scan = Scan::all();
    scan.reversed = request.reversed.unwrap_or_default();
    scan.columns = columns(
        request
            .columns
            .map(|columns| columns.into_iter().map(|column| copied(Some(column))).collect()),
    );
    scan.time_range = time_range(request.timestamp)?;
    scan.batch =
        request.batch_size.and_then(|size| u32::try_from(size).ok()).filter(|&size| size > 0);
    scan.cache_blocks = request.cache_blocks.unwrap_or(true);
    scan.raw = attributes.is_raw;
    let mut options = ScanOptions { query: attributes.query };
    if method == Method::ScannerOpenWithPrefix {
        let prefix = Filter::Prefix(start.clone());
        scan.filter = Some(Box::new(Filter::WhileMatch(Box::new(prefix))));
    }
    if let Some(text) = request.filter_string {
        let (query, filter) = filter_of(&text)?;
        options.query = query.or(options.query);
        scan.filter = filter.map(Box::new);
    }
    // Equal bounds are a scan of one row.
    let stop = copied(request.stop_row);
    let include_stop = !stop.is_empty() && stop == start;
    let mut bounds = OpenScan::new(scan);
    bounds.set_bounds((start, true), (stop, include_stop));
    let mut scan = bounds.scan;
    if scan.range.is_empty() {
        scan.limit = Some(0);
    }
    Ok((scan, options))
}

/// Returns the bytes without the message of which they are a part.
fn copied(bytes: Option<Bytes>) -> Bytes {
    bytes.map_or_else(Bytes::new, |bytes| Bytes::copy_from_slice(&bytes))
}

/// Returns the query and the filter of a filter text.
fn filter_of(text: &[u8]) -> Outcome<(Option<String>, Option<Filter>)> {
    let parse = |text: &[u8]| Filter::parse(text).map_err(|error| Thrown::illegal(&error));
    let Some(rest) = text.trim_ascii_start().strip_prefix(QUERY) else {
        return Ok((None, Some(parse(text)?)));
    };
    let Some((query, rest)) = quoted(rest) else {
        let text = String::from_utf8_lossy(text);
        let message = format!("not a query: RowhouseQuery('…') is not closed, text={text}");
        return Err(Thrown::IllegalArgument(message));
    };
    let place = parse(QUERY_PLACE.as_bytes())?;
    let filter = match parse(&[QUERY_PLACE.as_bytes(), rest].concat())? {
        filter if filter == place => None,
        Filter::List { operator: ListOperator::And, mut filters } if filters[0] == place => {
            filters.remove(0);
            Some(match filters.len() {
                1 => filters.remove(0),
                _ => Filter::List { operator: ListOperator::And, filters },
            })
        }
        _ => {
            let message = "RowhouseQuery('…') must be the only filter, or the first of filters \
                           with AND between them";
            return Err(Thrown::IllegalArgument(message.into()));
        }
    };
    Ok((Some(query), filter))
}

/// Returns the text in quotes and what follows the closing parenthesis. A quote in the text is
/// doubled.
fn quoted(text: &[u8]) -> Option<(String, &[u8])> {
    let mut rest = text.trim_ascii_start().strip_prefix(b"'")?;
    let mut value = Vec::new();
    loop {
        let end = rest.iter().position(|&byte| byte == b'\'')?;
        value.extend_from_slice(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix(b"'") {
            Some(more) => {
                value.push(b'\'');
                rest = more;
            }
            None => break,
        }
    }
    let rest = rest.trim_ascii_start().strip_prefix(b")")?;
    Some((String::from_utf8(value).ok()?, rest))
}
