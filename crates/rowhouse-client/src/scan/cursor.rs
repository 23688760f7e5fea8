//! A scan's position, and how the scan continues.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult, ScannedRow};
use rowhouse_model::{ErrorKind, Result, Row, Scan, TableName};
use tokio::time::Instant;

use super::join::Joiner;
use super::parts::RowParts;
use crate::Client;
use crate::connection::CallRequest;
use crate::locate::{Located, RegionTarget};
use crate::retry::{Attempts, Failure};

/// Rows requested per call by default: as many as fit.
const ROWS_MAX: u32 = i32::MAX as u32;
/// Maximum cell bytes in one answer; HBase's `hbase.client.scanner.max.result.size`.
const RESULT_BYTES_MAX: u64 = 2 * 1024 * 1024;

/// A scan between two answers.
pub(super) struct Cursor {
    client: Client,
    table: TableName,
    /// The remaining scan: range and limit shrink as rows arrive.
    scan: Scan,
    /// The query that selects rows, if the scan has one.
    query: Option<String>,
    open: Option<OpenScanner>,
    joiner: Joiner,
    /// Replaces the joiner if rows are returned in parts.
    parts: Option<RowParts>,
    finished: bool,
}

/// A scanner on a server.
struct OpenScanner {
    located: Arc<Located>,
    id: u64,
    next_call_seq: u64,
}

impl Cursor {
    pub(super) fn new(client: Client, table: TableName, scan: Scan, query: Option<String>) -> Self {
        let parts = scan.batch.map(|_| RowParts::default());
        let joiner = Joiner::default();
        Self { client, table, scan, query, open: None, joiner, parts, finished: false }
    }

    /// Returns true if there are no more rows.
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Returns the next rows, at least one unless the scan is finished.
    pub(super) async fn next_rows(&mut self) -> Result<VecDeque<Row>> {
        let client = self.client.clone();
        let mut attempts = Attempts::new(client.settings());
        let mut state_checked = false;
        loop {
            let failure = match self.step(attempts.deadline()).await {
                Ok(rows) if rows.is_empty() && !self.finished => {
                    // A heartbeat, or a region without rows. Earlier failures still count: the next
                    // call might fail at the same position again.
                    attempts.extend_deadline();
                    continue;
                }
                Ok(rows) => return Ok(rows),
                Err(failure) => failure,
            };
            // The current row is read again from the start.
            self.joiner.clear();
            let given_up = async {
                let end = attempts.end();
                client.refuse_disabled(&self.table, &failure, &mut state_checked, end).await?;
                attempts.wait(failure, true).await
            };
            if let Err(error) = given_up.await {
                self.finished = true;
                return Err(error);
            }
        }
    }

    /// Makes one call.
    async fn step(&mut self, deadline: Instant) -> Result<VecDeque<Row>, Failure> {
        let located = match &self.open {
            Some(open) => open.located.clone(),
            None => {
                let locator = self.client.locator();
                locator.locate(&self.table, self.place(), deadline).await?
            }
        };
        let message = self.call(&located).to_proto();
        let is_meta_call = located.is_meta();
        let request = CallRequest { message, cells: &[], is_meta_call, deadline };
        let answer = match self.client.connections().call(&located.server, request).await {
            Ok((message, mut cells)) => {
                ScanResult::from_proto(message, &mut cells).map_err(Failure::unknown)
            }
            Err(failure) => Err(failure),
        };
        match answer {
            Ok(answer) => Ok(self.take(located, answer)),
            Err(failure) => {
                self.client.locator().forget(&located, &failure);
                // The server has closed or lost the scanner; if not, it may close it now.
                match failure.error.kind() {
                    ErrorKind::UnknownScanner | ErrorKind::ScannerReset => drop(self.open.take()),
                    _ => self.close(),
                }
                Err(failure)
            }
        }
    }

    /// Returns the next row's region target.
    fn place(&self) -> RegionTarget<'_> {
        if self.scan.reversed {
            RegionTarget::Before(&self.scan.range.stop)
        } else {
            RegionTarget::Row(&self.scan.range.start)
        }
    }

    fn call(&self, located: &Located) -> ScanCall {
        let rows = self.scan.caching.unwrap_or(ROWS_MAX).clamp(1, ROWS_MAX);
        let mut call = match &self.open {
            Some(open) => ScanCall::next(open.id, open.next_call_seq, rows),
            None => {
                let mut scan = OpenScan::new(self.scan.clone());
                scan.scan.caching = Some(rows);
                scan.result_bytes_max = Some(RESULT_BYTES_MAX);
                scan.query.clone_from(&self.query);
                ScanCall::open(located.as_region_ref(), scan, rows)
            }
        };
        // A limit that the protocol cannot represent is enforced only here.
        call.limit = self.scan.limit.and_then(|left| u32::try_from(left).ok());
        call.limit = call.limit.filter(|&left| left <= ROWS_MAX);
        call
    }

    /// Takes an answer's rows and advances past them.
    fn take(&mut self, located: Arc<Located>, answer: ScanResult) -> VecDeque<Row> {
        let is_empty = answer.rows.is_empty();
        let region_ended = !answer.more_results_in_region.unwrap_or(!is_empty || answer.heartbeat);
        // A row never continues in the next region.
        let row_ended = region_ended || !answer.more_results;
        let rows = if self.parts.is_some() {
            self.take_parts(answer.rows, row_ended)
        } else {
            self.take_rows(answer.rows, row_ended)
        };
        match &mut self.open {
            Some(open) => open.next_call_seq += 1,
            None => {
                let open = |id| OpenScanner { located: located.clone(), id, next_call_seq: 0 };
                self.open = answer.scanner.map(open);
            }
        }
        if !answer.more_results {
            // The server closes a scanner that has reached the limit.
            self.open = None;
            self.finished = true;
        } else if self.scan.limit == Some(0) {
            self.close_unless(region_ended);
            self.finished = true;
        } else if region_ended {
            self.open = None;
            self.pass_region(&located);
        }
        rows
    }

    /// Takes whole rows.
    fn take_rows(&mut self, results: Vec<ScannedRow>, row_ended: bool) -> VecDeque<Row> {
        let mut rows = self.joiner.push(results);
        if row_ended {
            rows.extend(self.joiner.finish());
        }
        if let Some(limit) = &mut self.scan.limit {
            rows.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
            *limit -= rows.len() as u64;
        }
        if let Some(row) = rows.back() {
            self.pass_row(&Bytes::copy_from_slice(row.key()));
        }
        rows
    }

    /// Takes partial rows. The server enforces the limit.
    fn take_parts(&mut self, results: Vec<ScannedRow>, row_ended: bool) -> VecDeque<Row> {
        let Some(parts) = &mut self.parts else { return VecDeque::new() };
        let mut passed = parts.push(results);
        if row_ended {
            parts.end_row(&mut passed);
        }
        if let Some(limit) = &mut self.scan.limit {
            *limit = limit.saturating_sub(passed.rows);
        }
        if let Some(row) = &passed.last {
            self.pass_row(row);
        }
        passed.parts
    }

    /// Advances the remaining range past `row`.
    fn pass_row(&mut self, row: &Bytes) {
        if self.scan.reversed {
            self.scan.range.stop = row.clone();
        } else {
            self.scan.range.start = [row, &[0][..]].concat().into();
        }
    }

    /// Advances the remaining range past a region.
    fn pass_region(&mut self, located: &Located) {
        let region = &located.region.range;
        if self.scan.reversed {
            self.finished = region.start.is_empty() || region.start <= self.scan.range.start;
            self.scan.range.stop = region.start.clone();
        } else {
            let stop = &self.scan.range.stop;
            self.finished = region.stop.is_empty() || (!stop.is_empty() && region.stop >= *stop);
            self.scan.range.start = region.stop.clone();
        }
    }

    fn close_unless(&mut self, closed: bool) {
        if closed { drop(self.open.take()) } else { self.close() }
    }

    /// Closes the scanner on the server.
    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let message = ScanCall::close(open.id).to_proto();
            self.client.connections().tell(&open.located.server, message);
        }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        self.close();
    }
}
