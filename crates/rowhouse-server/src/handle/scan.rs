//! Scanners: opened, gone on with, closed.

use bytes::BytesMut;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::scan::{OpenScan, ScanAnswer, ScanCall, ScanTarget, ScannedRow};
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result, Row};

use crate::cluster::Served;
use crate::dispatch::Exchange;
use crate::limits::{SCAN_ANSWER_BYTES_MAX, SCANNER_LEASE, SHORT_SCAN_ROWS};
use crate::scanners::{Rows, Scanner, SystemRows};

pub(crate) fn read(exchange: &Exchange) -> Result<ScanCall> {
    ScanCall::from_proto(exchange.message()?)
}

/// Whether the call reads few rows. A scan usually names its limit as the number of rows it wants,
/// or all there are: then it may be long.
pub(crate) fn is_short(call: &ScanCall) -> bool {
    call.limit.map_or(call.rows, |limit| limit.min(call.rows)) <= SHORT_SCAN_ROWS
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
            (Rows::System(Box::new(SystemRows::new(table, scan.clone()))), 0)
        }
    };
    let mut scanner = Scanner::new(rows, scan.result_bytes_max);
    let scanners = &context.server.scanners;
    let id = scanners.next_id();
    let mut answer = read_rows(&mut scanner, call)?;
    if stays_open(call, &answer) {
        scanners.keep(id, scanner)?;
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
    let limit = call.limit.unwrap_or(u32::MAX);
    let rows_max = limit.min(call.rows) as usize;
    let mut rows = Vec::new();
    let mut bytes = 0;
    let mut at_end = false;
    while rows.len() < rows_max && bytes < bytes_max {
        let Some(row) = scanner.next_row()? else {
            at_end = true;
            break;
        };
        bytes += bytes_of(&row);
        rows.push(ScannedRow { row, partial: false });
    }
    let limit_reached = call.limit.is_some_and(|limit| rows.len() >= limit as usize);
    // Told that the region is at its end, the client need not close the scanner. Behind the limit
    // it will not ask again.
    if rows_max > 0 && !at_end && !limit_reached && !call.close {
        at_end = scanner.is_at_end()?;
    }
    Ok(ScanAnswer {
        rows,
        more_results: !limit_reached,
        more_results_in_region: Some(!at_end),
        ..ScanAnswer::default()
    })
}

fn bytes_of(row: &Row) -> u64 {
    row.cells().map(|cell| cell.as_bytes().len() as u64).sum()
}
