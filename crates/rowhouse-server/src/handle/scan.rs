//! Scanners: opened, gone on with, closed.

use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::scan::{OpenScan, ScanAnswer, ScanCall, ScanTarget, ScannedRow};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result, Row};
use rowhouse_store::{ScanLimits, Scanned};

use crate::cluster::Served;
use crate::dispatch::Exchange;
use crate::limits::{SCAN_ANSWER_BYTES_MAX, SCAN_ANSWER_WAIT, SCANNER_LEASE, SHORT_SCAN_ROWS};
use crate::scanners::{Rows, Scanner, SystemRows};

pub(crate) fn read(exchange: &Exchange) -> Result<ScanCall> {
    ScanCall::from_proto(exchange.message()?)
}

/// Whether the call looks at few rows. A scan usually names its limit as the number of rows it wants,
/// or all there are, and a filter may look at many for one: then it may be long.
pub(crate) fn is_short(exchange: &Exchange, call: &ScanCall) -> bool {
    let is_filtered = match &call.target {
        ScanTarget::Open { scan, .. } => scan.scan.filter.is_some(),
        ScanTarget::Scanner(id) => exchange.context.server.scanners.is_filtered(*id),
    };
    !is_filtered && call.limit.map_or(call.rows, |limit| limit.min(call.rows)) <= SHORT_SCAN_ROWS
}

pub(crate) fn scan(exchange: &Exchange, call: ScanCall, out: &mut BytesMut) -> Result<()> {
    let answer = match &call.target {
        ScanTarget::Open { region, scan } => open(exchange, &call, region, scan)?,
        ScanTarget::Scanner(id) => go_on(exchange, &call, *id)?,
    };
    let message: proto::ScanResponse = answer.to_proto(exchange.cells_in());
    exchange.reply_with(out, &message, answer.cells())
}

fn open(
    exchange: &Exchange,
    call: &ScanCall,
    region: &RegionRef,
    scan: &OpenScan,
) -> Result<ScanAnswer> {
    let context = &exchange.context;
    let (rows, read_point) = match context.cluster.region(&context.server, region)? {
        Served::Stored(region) => {
            let scanner = region.scan(&scan.scan)?;
            let read_point = scanner.read_point();
            (Rows::Stored(region, Box::new(scanner)), read_point)
        }
        Served::System(_, table) => {
            (Rows::System(Box::new(SystemRows::new(table, scan.clone())?)), 0)
        }
    };
    let mut scanner = Scanner::new(rows, scan);
    let scanners = &context.server.scanners;
    let id = scanners.next_id();
    let mut answer = read_rows(&mut scanner, call)?;
    if stays_open(call, &answer) {
        scanners.keep(id, scanner, scan.scan.filter.is_some())?;
    }
    answer.scanner = Some(id);
    answer.ttl_ms = u32::try_from(SCANNER_LEASE.as_millis()).ok();
    answer.read_point = Some(read_point);
    Ok(answer)
}

fn go_on(exchange: &Exchange, call: &ScanCall, id: u64) -> Result<ScanAnswer> {
    let scanners = &exchange.context.server.scanners;
    if call.close && call.rows == 0 {
        // Clients of long ago close what was closed at the region's end.
        if !scanners.was_given(id) {
            scanners.find(id)?;
        }
        scanners.close(id);
        return Ok(ScanAnswer {
            scanner: Some(id),
            more_results: true,
            more_results_in_region: Some(true),
            ..ScanAnswer::default()
        });
    }
    let scanner = scanners.find(id)?;
    let mut scanner = scanner.lock();
    if let Some(number) = call.next_call_seq {
        if number != scanner.next_call {
            return Err(Error::new(
                ErrorKind::OutOfOrderScanner,
                format!(
                    "Expected nextCallSeq: {} But the nextCallSeq got from client: {number}; scanner={id}",
                    scanner.next_call
                ),
            ));
        }
        scanner.next_call += 1;
    }
    // A renewal is a call like any other, but for its rows.
    if call.renew {
        let scanner = Some(id);
        return Ok(ScanAnswer { scanner, more_results: true, ..ScanAnswer::default() });
    }
    let answer = scanner.check_serving().and_then(|()| read_rows(&mut scanner, call));
    match &answer {
        Ok(answer) if stays_open(call, answer) => {}
        // Behind an error the scanner's place is not known.
        Ok(_) | Err(_) => scanners.close(id),
    }
    // asynchbase looks for the number in every answer.
    Ok(ScanAnswer { scanner: Some(id), ..answer? })
}

fn stays_open(call: &ScanCall, answer: &ScanAnswer) -> bool {
    !call.close && answer.more_results && answer.more_results_in_region == Some(true)
}

/// Reads as many rows as the call and the limits on an answer allow.
fn read_rows(scanner: &mut Scanner, call: &ScanCall) -> Result<ScanAnswer> {
    let bytes_max = scanner.bytes_max.unwrap_or(SCAN_ANSWER_BYTES_MAX).min(SCAN_ANSWER_BYTES_MAX);
    let until = call.client_handles_heartbeats.then(|| Instant::now() + SCAN_ANSWER_WAIT);
    let mut answer = ScanAnswer { more_results: true, ..ScanAnswer::default() };
    let mut limit = RowLimit { left: call.limit, partial_row: scanner.partial_row.take() };
    let mut bytes = 0;
    let mut at_end = false;
    while answer.rows.len() < call.rows as usize && bytes < bytes_max {
        // A client that cannot join the parts of a row gets whole rows.
        let row_bytes = if call.client_handles_partials { bytes_max - bytes } else { u64::MAX };
        match scanner.next(&ScanLimits { bytes: row_bytes, until })? {
            Scanned::Row { row, is_partial } => {
                if limit.ends_before(&row) {
                    answer.more_results = false;
                    break;
                }
                bytes += bytes_of(&row);
                let is_last = limit.ends_behind(&row, is_partial);
                answer.rows.push(ScannedRow { row, partial: is_partial });
                if is_last {
                    answer.more_results = false;
                    break;
                }
            }
            Scanned::Paused(row) => {
                answer.heartbeat = true;
                answer.cursor = (scanner.wants_cursor && answer.rows.is_empty()).then_some(row);
                break;
            }
            Scanned::End => {
                at_end = true;
                break;
            }
        }
    }
    // Told that the region is at its end, the client need not close the scanner. Behind the limit
    // it will not ask again.
    if call.rows > 0 && !at_end && answer.more_results && !call.close {
        at_end = !scanner.may_have_more()?;
    }
    if at_end && let Some(last) = answer.rows.last_mut() {
        last.partial = false;
    }
    if answer.rows.is_empty() && scanner.is_filter_done() {
        // In the regions behind this one neither.
        answer.more_results = false;
    }
    scanner.partial_row = limit.partial_row;
    answer.more_results_in_region = Some(!at_end);
    Ok(answer)
}

/// The rows that a scan may still give, of which several results may be parts.
struct RowLimit {
    left: Option<u32>,
    /// The row of the last result, if more of it may follow.
    partial_row: Option<Bytes>,
}

impl RowLimit {
    /// Whether the limit is reached by a row that turns out to have ended, since this one is another.
    fn ends_before(&mut self, row: &Row) -> bool {
        match self.partial_row.take_if(|partial| partial != row.key()) {
            Some(_) => self.count(),
            None => false,
        }
    }

    /// Whether the limit is reached by this row.
    fn ends_behind(&mut self, row: &Row, is_partial: bool) -> bool {
        if is_partial {
            self.partial_row = Some(Bytes::copy_from_slice(row.key()));
            return false;
        }
        self.partial_row = None;
        self.count()
    }

    fn count(&mut self) -> bool {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        self.left == Some(0)
    }
}

fn bytes_of(row: &Row) -> u64 {
    row.cells().map(|cell| cell.as_bytes().len() as u64).sum()
}
