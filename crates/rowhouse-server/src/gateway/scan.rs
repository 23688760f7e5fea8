//! Scans over all regions of a table.

use bytes::Bytes;
use rowhouse_format::convert::scan::{OpenScan, ScanCall, ScanResult};
use rowhouse_format::exception::Exception;
use rowhouse_model::{Error, ErrorKind, Row, RowRange, Scan, TableName};

use super::session::{At, Attempts, Place, Session, exception};
use crate::memory::Reserved;

/// Rows that a scan requests by default in a call: as many as fit.
const ROWS_MAX: u32 = i32::MAX as u32;
/// The most cell bytes in one answer: HBase's `hbase.client.scanner.max.result.size`.
const RESULT_BYTES_MAX: u64 = 2 << 20;

/// A scan's parts beside the [`Scan`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ScanOptions {
    /// The query that selects rows, in the query language.
    pub(crate) query: Option<String>,
}

/// A scan of a table, between two calls. It belongs to no connection: each call has a session.
pub(crate) struct GatewayScan {
    table: TableName,
    /// The remaining scan: the range shrinks as rows arrive.
    scan: Scan,
    options: ScanOptions,
    open: Option<OpenScanner>,
    /// Whether the last row that was returned may have more cells, in a scan with a batch.
    is_inside_row: bool,
    is_finished: bool,
    /// Why the scan cannot go on: it failed inside a row.
    failed: Option<Exception>,
}

/// A scanner on a region server.
struct OpenScanner {
    place: Place,
    id: u64,
    next_call: u64,
}

/// Rows, and what their bytes have reserved.
#[derive(Default)]
pub(crate) struct ScannedRows {
    /// Empty at the end of the scan. In a scan with [`Scan::batch`], parts of rows.
    pub(crate) rows: Vec<Row>,
    pub(crate) memory: Option<Reserved>,
}

impl GatewayScan {
    /// Begins a scan. [`Scan::limit`] counts rows over all regions. [`Scan::caching`] is the most
    /// rows in a call.
    pub(crate) fn new(table: TableName, scan: Scan, options: ScanOptions) -> Self {
        let is_finished = scan.limit == Some(0);
        Self { table, scan, options, open: None, is_inside_row: false, is_finished, failed: None }
    }

    /// Returns the next rows, at most `rows_max`; none at the end of the scan. A scanner that has
    /// expired or moved is opened again after the last row. `memory` has
    /// [`CALL_BYTES`](crate::memory::CALL_BYTES), if the caller holds memory for earlier rows.
    ///
    /// # Errors
    /// As [`Session::at_row`]: the scan can go on. `ScannerResetException` for a scanner that is
    /// lost inside a row: each later call has the same error.
    pub(crate) async fn next(
        &mut self,
        session: &Session,
        rows_max: u32,
        mut memory: Option<Reserved>,
    ) -> Result<ScannedRows, Exception> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let mut attempts = Attempts::default();
        while !self.is_finished {
            match self.step(session, rows_max, memory.take()).await {
                Ok(scanned) if scanned.rows.is_empty() => attempts = Attempts::default(),
                Ok(scanned) => return Ok(scanned),
                Err(failed) => self.recover(session, failed, &mut attempts).await?,
            }
        }
        Ok(ScannedRows::default())
    }

    /// Goes on after a failed call.
    async fn recover(
        &mut self,
        session: &Session,
        failed: Exception,
        attempts: &mut Attempts,
    ) -> Result<(), Exception> {
        use ErrorKind::{OutOfOrderScanner, ScannerReset, UnknownScanner};
        let kind = failed.clone().into_error().kind();
        let is_lost = matches!(kind, UnknownScanner | ScannerReset | OutOfOrderScanner);
        let was_open = self.open.is_some();
        if !is_lost {
            self.close_scanner(session).await;
        }
        self.open = None;
        if self.is_inside_row {
            let message = "the scanner was lost inside a row";
            let lost = exception(Error::new(ScannerReset, message));
            self.failed = Some(lost.clone());
            Err(lost)
        } else if is_lost && was_open {
            Ok(())
        } else {
            attempts.wait(failed).await
        }
    }

    /// Makes one call.
    async fn step(
        &mut self,
        session: &Session,
        rows_max: u32,
        memory: Option<Reserved>,
    ) -> Result<ScannedRows, Exception> {
        let limit = self.scan.limit.and_then(|left| u32::try_from(left).ok());
        let rows = [self.scan.caching, limit].into_iter().flatten().fold(rows_max, u32::min);
        let rows = rows.clamp(1, ROWS_MAX);
        let (place, mut call) = match self.open.take() {
            Some(open) => {
                let call = ScanCall::next(open.id, open.next_call, rows);
                let place = open.place.clone();
                self.open = Some(open);
                (place, call)
            }
            None => {
                let at = if self.scan.reversed {
                    At::Before(&self.scan.range.stop)
                } else {
                    At::Row(&self.scan.range.start)
                };
                let place = session.locate(&self.table, at)?;
                let mut scan = OpenScan::new(self.scan.clone());
                scan.scan.caching = Some(rows);
                scan.result_bytes_max = Some(RESULT_BYTES_MAX);
                scan.query.clone_from(&self.options.query);
                let call = ScanCall::open(place.region.clone(), scan, rows);
                (place, call)
            }
        };
        // Whole rows are put together where their memory is reserved.
        call.client_handles_partials = false;
        call.limit = limit.filter(|&left| left <= ROWS_MAX);
        let mut reply = session.call(&place.server, &call.to_proto(), &[], memory).await?;
        let answer = ScanResult::from_proto(reply.message, &mut reply.cells).map_err(exception)?;
        Ok(ScannedRows { rows: self.take(place, answer), memory: reply.memory })
    }

    /// Takes an answer's rows and goes on after them.
    fn take(&mut self, place: Place, answer: ScanResult) -> Vec<Row> {
        let is_empty = answer.rows.is_empty();
        let region_ended = !answer.more_results_in_region.unwrap_or(!is_empty || answer.heartbeat);
        let row_ended = region_ended || !answer.more_results;
        let last = answer.rows.last();
        if let Some(last) = last {
            self.is_inside_row = last.partial && !row_ended;
        }
        let complete = answer.rows.iter().filter(|scanned| !scanned.partial).count() as u64;
        let rows: Vec<Row> = answer.rows.into_iter().map(|scanned| scanned.row).collect();
        if let Some(limit) = &mut self.scan.limit {
            *limit = limit.saturating_sub(complete);
        }
        if let Some(row) = rows.last() {
            self.pass_row(&Bytes::copy_from_slice(row.key()));
        }
        match &mut self.open {
            Some(open) => open.next_call += 1,
            None => {
                let open = |id| OpenScanner { place: place.clone(), id, next_call: 0 };
                self.open = answer.scanner.map(open);
            }
        }
        if !answer.more_results {
            // The server closes a scanner that has reached the limit.
            self.open = None;
            self.is_finished = true;
        } else if region_ended {
            self.open = None;
            self.pass_region(&place.range);
        }
        if self.scan.limit == Some(0) {
            self.is_finished = true;
        }
        rows
    }

    fn pass_row(&mut self, row: &Bytes) {
        if self.scan.reversed {
            self.scan.range.stop = row.clone();
        } else {
            self.scan.range.start = [row, &[0][..]].concat().into();
        }
    }

    fn pass_region(&mut self, region: &RowRange) {
        if self.scan.reversed {
            let start = &self.scan.range.start;
            self.is_finished = region.start.is_empty() || region.start <= *start;
            self.scan.range.stop = region.start.clone();
        } else {
            let stop = &self.scan.range.stop;
            self.is_finished = region.stop.is_empty() || (!stop.is_empty() && region.stop >= *stop);
            self.scan.range.start = region.stop.clone();
        }
    }

    /// Goes on at a row again, which was returned. The scan is not reversed.
    #[cfg(feature = "rest")]
    pub(crate) async fn rewind(&mut self, session: &Session, row: &[u8]) {
        self.close_scanner(session).await;
        self.scan.range.start = Bytes::copy_from_slice(row);
        self.is_inside_row = false;
        self.is_finished = false;
        self.failed = None;
    }

    /// Returns true if a scanner is open on a server.
    #[cfg(feature = "rest")]
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Returns true if there are no more rows.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Ends the scan, and closes the scanner on the server.
    pub(crate) async fn end(&mut self, session: &Session) {
        self.is_finished = true;
        self.close_scanner(session).await;
    }

    async fn close_scanner(&mut self, session: &Session) {
        let Some(open) = self.open.take() else { return };
        let message = ScanCall::close(open.id).to_proto();
        if let Err(exception) = session.call(&open.place.server, &message, &[], None).await {
            tracing::debug!(class = %exception.class, "a scanner was not closed");
        }
    }
}
