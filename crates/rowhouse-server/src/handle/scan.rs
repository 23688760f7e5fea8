//! Opens, continues and closes scanners.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult, ScanTarget, ScannedRow};
use rowhouse_format::proto;
use rowhouse_format::rpc::CellCodec;
use rowhouse_model::{Error, ErrorKind, Result, Row};
use rowhouse_query::{QueryScan, scan_region};
use rowhouse_store::{
    NonBlocking, Region, RegionScanner, ScanLimits, ScanProgress, Scanned, WaitMode,
};

use super::bytes_of;
use crate::answer::ResumableCall;
use crate::call::CallContext;
use crate::cluster::ServedRegion;
use crate::context::Context;
use crate::limits::{
    CLIENT_CELL_OVERHEAD_BYTES, READY_SCANNERS_MAX, SCAN_ANSWER_BYTES_MAX, SCANNER_LEASE,
    SCANNER_WAIT, SHORT_SCAN_ROWS,
};
use crate::scanners::{HeldScanner, PartialRow, Rows, Scanner, SystemRows};
use crate::slow_log::ScanSource;

/// A call that opens, continues or closes a scanner.
pub(crate) struct Scan {
    call: ScanCall,
    /// The answer under construction, once the scanner is held.
    reading: Option<Box<Reading>>,
}

impl ResumableCall for Scan {
    /// `None` for a call to a scanner that was closed at the end.
    type Answer = Option<ScanResult>;

    fn parse(call_context: &CallContext) -> Result<Self> {
        Ok(Self { call: ScanCall::from_proto(call_context.message()?)?, reading: None })
    }

    fn resume(&mut self, call_context: &CallContext) -> Result<NonBlocking<Self::Answer>> {
        let call = &self.call;
        if call_context.wait_mode == WaitMode::NonBlocking && !is_short(call_context, call) {
            return Ok(NonBlocking::WouldBlock);
        }
        let mut reading = match self.reading.take() {
            Some(reading) => reading,
            None => match begin(call_context, call)? {
                NonBlocking::Done(ScannerState::Reading(reading)) => reading,
                NonBlocking::Done(ScannerState::Answered(answer)) => {
                    return Ok(NonBlocking::Done(answer));
                }
                NonBlocking::WouldBlock => return Ok(NonBlocking::WouldBlock),
            },
        };
        if !reading.continue_reading(call_context, call)? {
            self.reading = Some(reading);
            return Ok(NonBlocking::WouldBlock);
        }
        Ok(NonBlocking::Done(Some(reading.end(call_context, call)?)))
    }

    fn is_started(&self) -> bool {
        self.reading.is_some()
    }

    fn reply(
        &self,
        call_context: &CallContext,
        answer: Self::Answer,
        out: &mut BytesMut,
    ) -> Result<()> {
        // As in HBase, the answer from a closed scanner does not show whether there are more
        // results: the client then continues in the next region.
        let Some(answer) = answer else {
            return call_context.reply(out, &proto::ScanResponse::default());
        };
        call_context.reply_with(out, &answer.to_proto(call_context.cells_in()), answer.cells())
    }
}

/// Returns true if the call requests few rows that are cheap to read one by one. A scan usually
/// sends the limit as the row count, or requests all rows.
fn is_short(call_context: &CallContext, call: &ScanCall) -> bool {
    let comes_fast = match &call.target {
        ScanTarget::Open { scan, .. } => Scanner::is_short_of(scan),
        ScanTarget::Scanner(id) => call_context.context.server.scanners.is_short(*id),
    };
    let rows = call.limit.map_or(call.rows, |limit| limit.min(call.rows));
    // A client that cannot join partial rows gets whole rows of any length.
    comes_fast && call.client_handles_partials && rows <= SHORT_SCAN_ROWS
}

/// The scanner state when a call starts.
enum ScannerState {
    /// There is nothing to read.
    Answered(Option<ScanResult>),
    Reading(Box<Reading>),
}

fn begin(call_context: &CallContext, call: &ScanCall) -> Result<NonBlocking<ScannerState>> {
    match &call.target {
        ScanTarget::Open { region, scan } => {
            let reading = open(call_context, call, region, scan)?;
            Ok(NonBlocking::Done(ScannerState::Reading(Box::new(reading))))
        }
        ScanTarget::Scanner(id) => resume(call_context, call, *id),
    }
}

fn open(
    call_context: &CallContext,
    call: &ScanCall,
    region: &RegionRef,
    scan: &OpenScan,
) -> Result<Reading> {
    let context = &call_context.context;
    let (rows, read_point) = match context.cluster.region(&context.server, region)? {
        ServedRegion::Stored(region) => {
            let ignores_tags = call_context.client.codec != Some(CellCodec::KeyValueWithTags);
            let scanner = open_region(context, &region, scan, call.limit, ignores_tags)?;
            let read_point = scanner.read_point();
            (Rows::Stored(region, Box::new(scanner)), read_point)
        }
        ServedRegion::System(name, table) => {
            if scan.query.is_some() {
                return Err(Error::unsupported(format!("{name} has no row-key template to query")));
            }
            (Rows::System(Box::new(SystemRows::new(table, scan.clone())?)), 0)
        }
    };
    let id = context.server.scanners.next_id();
    let scanner = Scanner::new(rows, scan, &context.server.scanners);
    let mut reading = Reading::new(call_context, call, id, ScannerHandle::New(Box::new(scanner)));
    // Only clients that support heartbeats continue after an answer without rows.
    let reads_on = call.client_handles_heartbeats && !call.close;
    let bytes_max = scan.result_bytes_max.filter(|_| reads_on);
    reading.prefetch = bytes_max.map(Prefetch::new);
    reading.answer.ttl_ms = u32::try_from(SCANNER_LEASE.as_millis()).ok();
    reading.answer.read_point = Some(read_point);
    Ok(reading)
}

/// Opens a region scan, which reads the rows that match the query, if the scan has one.
/// `ignores_tags` is that of [`QueryScan`].
pub(super) fn open_region(
    context: &Context,
    region: &Region,
    scan: &OpenScan,
    limit: Option<u32>,
    ignores_tags: bool,
) -> Result<RegionScanner> {
    let OpenScan { query, scan, read_point: as_of, .. } = scan;
    match query {
        None => region.scan_as_of(scan, *as_of),
        Some(query) => {
            let limit = limit.map(u64::from);
            let query = QueryScan { query, scan, limit, as_of: *as_of, ignores_tags };
            scan_region(&context.cluster.store, Some(&context.cluster.search), region, &query)
        }
    }
}

fn resume(
    call_context: &CallContext,
    call: &ScanCall,
    id: u64,
) -> Result<NonBlocking<ScannerState>> {
    let scanners = &call_context.context.server.scanners;
    let answered = |answer| Ok(NonBlocking::Done(ScannerState::Answered(Some(answer))));
    if call.close && call.rows == 0 {
        close(call_context, id)?;
        return answered(ScanResult {
            scanner: Some(id),
            more_results: true,
            more_results_in_region: Some(true),
            ..ScanResult::default()
        });
    }
    let scanner = match scanners.find(id) {
        Ok(scanner) => scanner,
        Err(unknown) => {
            let Some(next_call) = scanners.ended(id) else { return Err(unknown) };
            // HBase treats the call as a repetition unless it has the sequence number after the
            // next one.
            return match call.next_call_seq.filter(|&number| number != next_call + 1) {
                Some(number) => Err(out_of_order(id, next_call + 1, number)),
                None => Ok(NonBlocking::Done(ScannerState::Answered(None))),
            };
        }
    };
    let held = match call_context.wait_mode {
        WaitMode::Blocking => scanner.try_lock_arc_for(SCANNER_WAIT),
        WaitMode::NonBlocking => match scanner.try_lock_arc() {
            None => return Ok(NonBlocking::WouldBlock),
            held => held,
        },
    };
    // Another call uses the scanner and may itself be waiting for a thread. HBase does not wait for
    // it.
    let mut scanner = held.ok_or_else(|| {
        let message = format!("another call for the scanner is running: scanner={id}");
        Error::new(ErrorKind::OutOfOrderScanner, message)
    })?;
    note_source(call_context, &scanner);
    if let Some(number) = call.next_call_seq {
        if number != scanner.next_call {
            return Err(out_of_order(id, scanner.next_call, number));
        }
        scanner.next_call += 1;
    }
    // A renewal is a normal call that returns no rows.
    if call.renew {
        let scanner = Some(id);
        return answered(ScanResult { scanner, more_results: true, ..ScanResult::default() });
    }
    let Context { cluster, server } = &*call_context.context;
    if let Some(region) = scanner.region()
        && let Err(error) = cluster.check_scanned(server, region)
    {
        scanners.close(id);
        return Err(error);
    }
    let reading = Reading::new(call_context, call, id, ScannerHandle::Open(scanner));
    Ok(NonBlocking::Done(ScannerState::Reading(Box::new(reading))))
}

/// Closes a scanner for the client. HBase's clients also close scanners that the server has already
/// closed at a region's end.
fn close(call_context: &CallContext, id: u64) -> Result<()> {
    let scanners = &call_context.context.server.scanners;
    match scanners.find(id) {
        Ok(scanner) => {
            // A call under way continues, and drops the scanner when it ends.
            let next_call = scanner.try_lock().map(|scanner| {
                note_source(call_context, &scanner);
                scanner.next_call
            });
            match next_call {
                Some(next_call) => scanners.end(id, next_call),
                None => scanners.close(id),
            }
            Ok(())
        }
        Err(_) if scanners.was_given(id) => Ok(()),
        Err(unknown) => Err(unknown),
    }
}

fn out_of_order(id: u64, expected: u64, number: u64) -> Error {
    let message = format!(
        "Expected nextCallSeq: {expected} But the nextCallSeq got from client: {number}; scanner={id}"
    );
    Error::new(ErrorKind::OutOfOrderScanner, message)
}

/// The scanner that a call reads from.
enum ScannerHandle {
    New(Box<Scanner>),
    Open(HeldScanner),
}

impl ScannerHandle {
    fn get(&mut self) -> &mut Scanner {
        match self {
            Self::New(scanner) => scanner,
            Self::Open(scanner) => scanner,
        }
    }
}

/// An answer with less room than this takes no further row.
const ROOM_BYTES_MIN: u64 = 32 << 10;
/// The usual block size.
const BLOCK_BYTES: u64 = 64 << 10;
/// Bytes that a row and a cell hold in addition to the cells.
const ROW_BYTES: u64 = 128;
const CELL_BYTES: u64 = 32;

/// An answer under construction: as many rows as the call and the answer limits permit.
struct Reading {
    id: u64,
    scanner: ScannerHandle,
    answer: ScanResult,
    /// The scan's remaining row limit; several results can be parts of one row.
    rows_left: Option<u32>,
    /// The scanner's progress before the call.
    before: ScanProgress,
    /// Cell bytes in the answer, and their maximum.
    bytes: u64,
    bytes_max: u64,
    /// Bytes that the answer holds, and up to which memory is known to be reserved.
    held: u64,
    held_max: u64,
    /// Answer size by the client's count, and the maximum; set for the answer to an open.
    prefetch: Option<Prefetch>,
    /// When to send a heartbeat, if the client supports heartbeats.
    until: Option<Instant>,
    at_end: bool,
}

impl Reading {
    fn new(
        call_context: &CallContext,
        call: &ScanCall,
        id: u64,
        mut scanner: ScannerHandle,
    ) -> Self {
        let from = scanner.get();
        let bytes_max = from.bytes_max.unwrap_or(SCAN_ANSWER_BYTES_MAX).min(SCAN_ANSWER_BYTES_MAX);
        Self {
            id,
            before: from.progress(),
            scanner,
            // asynchbase expects the scanner's number in every answer.
            answer: ScanResult { scanner: Some(id), more_results: true, ..ScanResult::default() },
            rows_left: call.limit,
            bytes: 0,
            bytes_max,
            held: 0,
            held_max: 0,
            prefetch: None,
            until: call.client_handles_heartbeats.then(|| call_context.heartbeat_deadline()),
            at_end: false,
        }
    }

    /// Reads until the answer is complete, or until the call's pause; returns `false` in the latter
    /// case.
    fn continue_reading(&mut self, call_context: &CallContext, call: &ScanCall) -> Result<bool> {
        self.scanner.get().begin_call();
        let read = self.read_rows(call_context, call);
        self.scanner.get().end_call();
        read.map_err(|error| {
            // The scanner's position is unknown after an error.
            call_context.context.server.scanners.close(self.id);
            reset(call_context, error)
        })
    }

    fn read_rows(&mut self, call_context: &CallContext, call: &ScanCall) -> Result<bool> {
        let pause = call_context.pause();
        let paused_at = self.until.map_or(pause, |until| until.min(pause));
        let takes_whole_rows = !call.client_handles_partials && !self.scanner.get().has_batch;
        while self.is_paused_in_row() || !self.is_full(call) {
            let room = self.room(call_context);
            if room < ROOM_BYTES_MIN && call_context.wait_mode == WaitMode::NonBlocking {
                return Ok(false);
            }
            if room < ROOM_BYTES_MIN && !self.is_paused_in_row() && !self.answer.rows.is_empty() {
                break;
            }
            let requested = match (call.client_handles_partials, &self.prefetch) {
                (true, None) => self.bytes_max.saturating_sub(self.bytes),
                (true, Some(prefetch)) => prefetch.bytes_max / 4,
                (false, _) => u64::MAX,
            };
            let is_cut_by_room =
                room < requested && (takes_whole_rows || call.client_handles_partials);
            let row_bytes = if is_cut_by_room { room.max(ROOM_BYTES_MIN) } else { requested };
            // A row whose parts the client cannot join is read to the end at once.
            let until = match (takes_whole_rows, self.is_paused_in_row()) {
                (true, true) => None,
                (_, false) | (false, _) => Some(paused_at),
            };
            match self.scanner.get().next(&ScanLimits { bytes: row_bytes, until })? {
                Scanned::Row { row, is_partial } => {
                    let scanned = ScannedRow { row, partial: is_partial };
                    if !self.has_room_for(call_context, &scanned.row) {
                        // A cell is returned whole, however long it is.
                        self.scanner.get().unread(scanned);
                        if call_context.wait_mode == WaitMode::NonBlocking {
                            return Ok(false);
                        }
                        if self.answer.rows.is_empty() || self.is_paused_in_row() {
                            call_context.outgrow(self.held)?;
                            return Ok(false);
                        }
                        break;
                    }
                    let can_wait = call_context.context.server.scanners.takes_ahead();
                    if self.prefetch.as_mut().is_some_and(|it| !it.admits(&scanned.row)) && can_wait
                    {
                        self.scanner.get().unread(scanned);
                        self.answer.heartbeat = self.answer.rows.is_empty();
                        break;
                    }
                    if let Some(before) = self.complete_before(&scanned.row) {
                        if self.reaches_limit() {
                            break;
                        }
                        if matches!(before, PartialRow::Paused(_)) && self.is_full(call) {
                            self.scanner.get().unread(scanned);
                            break;
                        }
                    }
                    let left = is_partial.then(|| Bytes::copy_from_slice(scanned.row.key()));
                    self.take(scanned);
                    if let Some(left) = left.as_ref().filter(|_| is_cut_by_room)
                        && !self.scanner.get().has_batch
                    {
                        let has_room = self.room(call_context) >= ROOM_BYTES_MIN;
                        let is_small = call_context.wait_mode == WaitMode::NonBlocking;
                        if has_room || is_small || takes_whole_rows {
                            self.scanner.get().partial_row = Some(PartialRow::Paused(left.clone()));
                        }
                        if is_small {
                            return Ok(false);
                        }
                        if has_room {
                            continue;
                        }
                        if takes_whole_rows {
                            call_context.outgrow(self.bytes)?;
                            return Ok(false);
                        }
                    }
                    let Some(left) = left else {
                        if self.reaches_limit() {
                            break;
                        }
                        continue;
                    };
                    let is_over = |until: Instant| Instant::now() >= until;
                    if self.bytes < self.bytes_max
                        && is_over(pause)
                        && !self.until.is_some_and(is_over)
                    {
                        // A part in a batch scan is a separate result.
                        self.scanner.get().partial_row = Some(if self.scanner.get().has_batch {
                            PartialRow::Returned(left)
                        } else {
                            PartialRow::Paused(left)
                        });
                        return Ok(false);
                    }
                    self.scanner.get().partial_row = Some(PartialRow::Returned(left));
                    // Except with a batch, only an answer's last result may be a partial row.
                    if !self.scanner.get().has_batch {
                        break;
                    }
                }
                Scanned::Paused(row) => {
                    if self.until.is_none_or(|until| Instant::now() < until) {
                        return Ok(false);
                    }
                    self.answer.heartbeat = true;
                    let sends_cursor =
                        self.scanner.get().needs_cursor && self.answer.rows.is_empty();
                    self.answer.cursor = sends_cursor.then_some(row);
                    break;
                }
                Scanned::End => {
                    self.at_end = true;
                    break;
                }
            }
        }
        Ok(true)
    }

    /// Returns how many bytes the answer may still hold.
    fn room(&mut self, call_context: &CallContext) -> u64 {
        if self.held_max.saturating_sub(self.held) < ROOM_BYTES_MIN {
            self.held_max = self.held.saturating_add(call_context.answer_room(self.held));
        }
        self.held_max.saturating_sub(self.held)
    }

    /// Returns true if there is memory for a row or partial row that was read.
    fn has_room_for(&mut self, call_context: &CallContext, row: &Row) -> bool {
        let bytes = row.byte_len();
        let mut room = self.room(call_context).max(ROOM_BYTES_MIN);
        // A read ends up to a block after the limit.
        while room.saturating_add(BLOCK_BYTES) < bytes {
            let more = call_context.answer_room(self.held.saturating_add(room));
            if more == 0 {
                return false;
            }
            room = room.saturating_add(more);
            self.held_max = self.held.saturating_add(room);
        }
        true
    }

    fn is_paused_in_row(&mut self) -> bool {
        matches!(self.scanner.get().partial_row, Some(PartialRow::Paused(_)))
    }

    /// Returns the row that was left in the middle if `row` is another one: then it is complete.
    fn complete_before(&mut self, row: &Row) -> Option<PartialRow> {
        let left = &mut self.scanner.get().partial_row;
        let complete = left.take_if(|left| left.key() != row.key())?;
        if let (PartialRow::Paused(_), Some(last)) = (&complete, self.answer.rows.last_mut()) {
            last.partial = false;
        }
        Some(complete)
    }

    /// Counts a complete row; returns true if it reaches the scan's limit, which ends the scan.
    fn reaches_limit(&mut self) -> bool {
        if let Some(left) = &mut self.rows_left {
            *left = left.saturating_sub(1);
        }
        let is_last = self.rows_left == Some(0);
        self.answer.more_results &= !is_last;
        is_last
    }

    /// Adds a row to the answer, or joins what follows to a row that the call was paused in.
    fn take(&mut self, scanned: ScannedRow) {
        let bytes = bytes_of(&scanned.row);
        self.bytes += bytes;
        self.held += bytes + ROW_BYTES + scanned.row.len() as u64 * CELL_BYTES;
        let joins = matches!(self.scanner.get().partial_row.take(), Some(PartialRow::Paused(_)));
        let Some(last) = self.answer.rows.last_mut().filter(|_| joins) else {
            return self.answer.rows.push(scanned);
        };
        let cells = last.row.cells().chain(scanned.row.cells());
        last.row = Row::new(cells.map(|cell| cell.to_cell()).collect());
        last.partial = scanned.partial;
    }

    fn is_full(&self, call: &ScanCall) -> bool {
        self.answer.rows.len() >= call.rows as usize
            || self.bytes >= self.bytes_max
            || self.prefetch.as_ref().is_some_and(Prefetch::is_full)
    }

    /// Returns the answer and keeps the scanner if there may be more rows.
    fn end(self, call_context: &CallContext, call: &ScanCall) -> Result<ScanResult> {
        let Self { id, scanner: mut held, mut answer, before, mut at_end, .. } = self;
        let scanners = &call_context.context.server.scanners;
        let scanner = held.get();
        // A client that knows that the scan is at the region's end need not close the scanner.
        // After the limit the client sends no more calls.
        if call.rows > 0 && !at_end && answer.more_results && !call.close {
            at_end = match scanner.may_have_more() {
                Ok(more) => !more,
                Err(error) => {
                    scanners.close(id);
                    return Err(error);
                }
            };
        }
        if at_end && let Some(last) = answer.rows.last_mut() {
            last.partial = false;
        }
        if answer.rows.is_empty() && scanner.is_filter_done() {
            // A filter that ended the scan ends it in all later regions too.
            answer.more_results = false;
        }
        if call.track_metrics {
            answer.metrics = metrics(call_context, before, scanner.progress());
        }
        scanner.partial_row = scanner.partial_row.take().map(PartialRow::returned);
        answer.more_results_in_region = Some(!at_end);
        let stays_open = !call.close && answer.more_results && !at_end;
        if stays_open && scanners.len() >= READY_SCANNERS_MAX {
            scanner.rest();
        }
        let next_call = scanner.next_call;
        match held {
            ScannerHandle::New(mut scanner) if stays_open => {
                scanner.source = source_of(call);
                scanners.keep(id, *scanner, &call_context.client.share.scanners)?;
            }
            // The lease starts after the call: time spent in the server does not count.
            ScannerHandle::Open(_) if stays_open => scanners.renew(id),
            ScannerHandle::New(_) | ScannerHandle::Open(_) => scanners.end(id, next_call),
        }
        Ok(answer)
    }
}

/// Notes a scanner's source for the slow log.
fn note_source(call_context: &CallContext, scanner: &Scanner) {
    if let Some(source) = &scanner.source {
        // A call that was paused and goes on has it noted.
        let _ = call_context.scan_source.set(Arc::clone(source));
    }
}

/// Returns the source of the scan that a call opens.
fn source_of(call: &ScanCall) -> Option<Arc<ScanSource>> {
    let ScanTarget::Open { region, scan } = &call.target else { return None };
    Some(Arc::new(ScanSource::new(region, &scan.start_row, &scan.stop_row)))
}

/// Returns the error that makes a client open a new scanner, if the scanner was closed by an error
/// that a retry may avoid.
fn reset(call_context: &CallContext, error: Error) -> Error {
    let is_closed = match error.kind() {
        ErrorKind::ScannerReset => !call_context.client.is_at_least(1, 4),
        kind => matches!(kind, ErrorKind::Io | ErrorKind::RegionTooBusy | ErrorKind::Timeout),
    };
    if !is_closed {
        return error;
    }
    // Clients before HBase 1.4 do not know the exception.
    let kind = if call_context.client.is_at_least(1, 4) {
        ErrorKind::ScannerReset
    } else {
        ErrorKind::UnknownScanner
    };
    Error::new(kind, format!("Scanner is closed on the server-side: {error}")).with_source(error)
}

/// Returns a scan's metrics under HBase's names, with times in milliseconds, for a client that
/// requests them.
fn metrics(
    call_context: &CallContext,
    before: ScanProgress,
    now: ScanProgress,
) -> Vec<(String, i64)> {
    let millis = |time: Duration| i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    let (waited, worked) = call_context.times(Instant::now());
    let count = |now: u64, before: u64| i64::try_from(now - before).unwrap_or(i64::MAX);
    let all = [
        ("ROWS_SCANNED", count(now.rows_scanned, before.rows_scanned)),
        ("ROWS_FILTERED", count(now.rows_filtered, before.rows_filtered)),
        ("RPC_SCAN_QUEUE_WAIT_TIME", millis(waited)),
        ("RPC_SCAN_PROCESSING_TIME", millis(worked)),
    ];
    all.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Keeps the answer to an open smaller than the client's limit for one answer, as counted by the
/// client.
///
/// HBase's `AsyncTableResultScanner` suspends a scan when the cache holds twice this limit and
/// resumes it when the cache is down to the limit, on the thread that takes rows. At a region's end
/// that thread opens the next scanner. If the answer arrives before the thread has registered the
/// callback, the thread handles the answer itself, inside `resumePrefetch`: a second suspension
/// there is lost, and the scan stalls forever. An answer smaller than the limit never causes it.
struct Prefetch {
    bytes: u64,
    bytes_max: u64,
    is_full: bool,
}

impl Prefetch {
    fn new(bytes_max: u64) -> Self {
        Self { bytes: 0, bytes_max, is_full: false }
    }

    /// Counts a row or partial row if the answer stays below the limit; returns true if it does.
    fn admits(&mut self, row: &Row) -> bool {
        let bytes = self.bytes + bytes_of(row) + row.len() as u64 * CLIENT_CELL_OVERHEAD_BYTES;
        let is_admitted = bytes < self.bytes_max;
        if is_admitted {
            self.bytes = bytes;
        }
        // In the second half the next row rarely fits, and reading it would be wasted.
        self.is_full = bytes >= self.bytes_max / 2;
        is_admitted
    }

    fn is_full(&self) -> bool {
        self.is_full
    }
}
