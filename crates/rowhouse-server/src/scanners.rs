//! Open scanners by number, each with a lease that calls renew.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::{ArcMutexGuard, Mutex, RawMutex};
use rowhouse_filter::FilterRun;
use rowhouse_format::convert::scan::{OpenScan, ScannedRow};
use rowhouse_format::meta::MetaTable;
use rowhouse_model::{Bytes, Error, ErrorKind, Result, Row};
use rowhouse_store::{Region, RegionScanner, ScanLimits, ScanProgress, Scanned};

use crate::filtered::filter_row;
use crate::limits::{
    CLOSED_SCANNERS_MAX, CONNECTION_SCANNERS_MAX, SCANNER_LEASE, SCANNERS_AHEAD_BYTES_MAX,
    SCANNERS_MAX, SHORT_SCAN_BYTES,
};
use crate::slow_log::ScanSource;

/// One region server's scanners.
pub(crate) struct Scanners {
    first_id: u64,
    next_id: AtomicU64,
    open: Mutex<HashMap<u64, Entry>>,
    /// The scanners closed last without an error, each with the sequence number that the next call
    /// would have had.
    closed: Mutex<VecDeque<(u64, u64)>>,
    /// Row bytes that scanners hold for their next call.
    ahead_bytes: Arc<AtomicU64>,
}

struct Entry {
    scanner: Arc<Mutex<Scanner>>,
    /// How many scanners the calls on the same connection have open.
    of_connection: Arc<AtomicUsize>,
    is_short: bool,
    /// When a call for it last started or ended.
    used: Instant,
}

/// A scanner locked by a call. The guard can move to another thread.
pub(crate) type HeldScanner = ArcMutexGuard<RawMutex, Scanner>;

/// A scan over one region and the position in it.
pub(crate) struct Scanner {
    rows: Rows,
    /// The row that was left in the middle, if the last one was.
    pub(crate) partial_row: Option<PartialRow>,
    /// A row or partial row that was read already and is returned first.
    ahead: Option<Ahead>,
    ahead_bytes: Arc<AtomicU64>,
    /// The sequence number that the next call must have.
    pub(crate) next_call: u64,
    /// Maximum cell bytes that the client accepts in one answer; `None` leaves it to the server.
    pub(crate) bytes_max: Option<u64>,
    /// Whether the client requests the position when a scan has returned no results.
    pub(crate) needs_cursor: bool,
    /// Whether results are cell batches, so that a row can have several results.
    pub(crate) has_batch: bool,
    /// Where the rows come from, once the scanner waits for further calls.
    pub(crate) source: Option<Arc<ScanSource>>,
    is_short: bool,
}

/// A row that was left in the middle: more may follow.
pub(crate) enum PartialRow {
    /// The last part was returned. What follows is a separate result.
    Returned(Bytes),
    /// The last part ends the answer under construction, and the call was paused. What follows is
    /// joined to it: clients expect only an answer's last result to be a partial row.
    Paused(Bytes),
}

impl PartialRow {
    pub(crate) fn key(&self) -> &Bytes {
        let (Self::Returned(key) | Self::Paused(key)) = self;
        key
    }

    /// Returns the row after the answer with the last part was sent.
    pub(crate) fn returned(self) -> Self {
        let (Self::Returned(key) | Self::Paused(key)) = self;
        Self::Returned(key)
    }
}

/// A row that waits for the scanner's next call, counted as long as it waits.
struct Ahead {
    row: ScannedRow,
    bytes: u64,
    sum: Arc<AtomicU64>,
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.sum.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Scanner {
    pub(crate) fn new(rows: Rows, scan: &OpenScan, scanners: &Scanners) -> Self {
        Self {
            rows,
            partial_row: None,
            ahead: None,
            ahead_bytes: Arc::clone(&scanners.ahead_bytes),
            next_call: 0,
            bytes_max: scan.result_bytes_max,
            needs_cursor: scan.needs_cursor,
            has_batch: scan.scan.batch.is_some(),
            source: None,
            is_short: Self::is_short_of(scan),
        }
    }

    /// Returns true if a scan has neither filter nor query nor batch and requests few bytes in one
    /// answer. A batch is excluded because a pause could cut it short.
    pub(crate) fn is_short_of(scan: &OpenScan) -> bool {
        scan.scan.filter.is_none()
            && scan.query.is_none()
            && scan.scan.batch.is_none()
            && scan.result_bytes_max.is_some_and(|bytes| bytes <= SHORT_SCAN_BYTES)
    }

    /// Returns the region, unless it is a system region.
    pub(crate) fn region(&self) -> Option<&Arc<Region>> {
        match &self.rows {
            Rows::Stored(region, _) => Some(region),
            Rows::System(_) => None,
        }
    }

    pub(crate) fn next(&mut self, limits: &ScanLimits) -> Result<Scanned> {
        if let Some(mut ahead) = self.ahead.take() {
            let ScannedRow { row, partial: is_partial } = std::mem::take(&mut ahead.row);
            return Ok(Scanned::Row { row, is_partial });
        }
        match &mut self.rows {
            Rows::Stored(_, scanner) => scanner.next_part(limits),
            Rows::System(rows) => Ok(match rows.next()? {
                Some(row) => Scanned::Row { row, is_partial: false },
                None => Scanned::End,
            }),
        }
    }

    /// As [`RegionScanner::begin_call`].
    pub(crate) fn begin_call(&mut self) {
        match &mut self.rows {
            Rows::Stored(_, scanner) => scanner.begin_call(),
            Rows::System(_) => {}
        }
    }

    /// As [`RegionScanner::end_call`].
    pub(crate) fn end_call(&mut self) {
        match &mut self.rows {
            Rows::Stored(_, scanner) => scanner.end_call(),
            Rows::System(_) => {}
        }
    }

    /// Returns a row or partial row to the scanner; the next call reads it first.
    pub(crate) fn unread(&mut self, row: ScannedRow) {
        let bytes = row.row.byte_len();
        let sum = Arc::clone(&self.ahead_bytes);
        sum.fetch_add(bytes, Ordering::Relaxed);
        self.ahead = Some(Ahead { row, bytes, sum });
    }

    /// Returns true if there may be more rows.
    pub(crate) fn may_have_more(&mut self) -> Result<bool> {
        if self.ahead.is_some() {
            return Ok(true);
        }
        match &mut self.rows {
            Rows::Stored(_, scanner) => Ok(scanner.may_have_more()),
            Rows::System(rows) => {
                if let Some(row) = rows.next()? {
                    self.unread(ScannedRow { row, partial: false });
                }
                Ok(self.ahead.is_some())
            }
        }
    }

    /// Returns the scanner's progress.
    pub(crate) fn progress(&self) -> ScanProgress {
        match &self.rows {
            Rows::Stored(_, scanner) => scanner.progress(),
            Rows::System(rows) => rows.progress,
        }
    }

    /// As [`RegionScanner::rest`].
    pub(crate) fn rest(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.row.row = ahead.row.row.detached();
        }
        match &mut self.rows {
            Rows::Stored(_, scanner) => scanner.rest(),
            Rows::System(_) => {}
        }
    }

    /// As [`RegionScanner::follow_flushes`].
    fn follow_flushes(&mut self) -> Result<u64> {
        match &mut self.rows {
            Rows::Stored(_, scanner) => scanner.follow_flushes(),
            Rows::System(_) => Ok(0),
        }
    }

    /// Returns true if a filter has ended the scan, in this region and in all others. It has not
    /// while a row that was read before is still to be returned.
    pub(crate) fn is_filter_done(&mut self) -> bool {
        if self.ahead.is_some() {
            return false;
        }
        match &mut self.rows {
            Rows::Stored(_, scanner) => scanner.is_filter_done(),
            Rows::System(rows) => rows.is_filter_done(),
        }
    }
}

/// Where a scanner's rows come from.
pub(crate) enum Rows {
    /// A region in the store.
    Stored(Arc<Region>, Box<RegionScanner>),
    /// A system table.
    System(Box<SystemRows>),
}

/// A system table's rows, read in small batches.
pub(crate) struct SystemRows {
    table: Arc<MetaTable>,
    scan: OpenScan,
    taken: usize,
    rows: std::vec::IntoIter<Row>,
    filter: Option<FilterRun>,
    progress: ScanProgress,
}

impl SystemRows {
    const BATCH_LEN_MAX: usize = 1000;

    pub(crate) fn new(table: Arc<MetaTable>, scan: OpenScan) -> Result<Self> {
        let filter = scan.scan.filter.as_deref();
        let filter = filter.map(|filter| FilterRun::new(filter, scan.scan.reversed)).transpose()?;
        let rows = Vec::new().into_iter();
        let progress = ScanProgress::default();
        Ok(Self { table, scan, taken: 0, rows, filter, progress })
    }

    fn next(&mut self) -> Result<Option<Row>> {
        while !self.is_filter_done()
            && let Some(row) = self.next_unfiltered()
        {
            self.progress.rows_scanned += 1;
            let Some(filter) = &mut self.filter else { return Ok(Some(row)) };
            if let Some(row) = filter_row(filter, &row)? {
                return Ok(Some(row));
            }
            self.progress.rows_filtered += 1;
        }
        Ok(None)
    }

    fn next_unfiltered(&mut self) -> Option<Row> {
        if self.rows.len() == 0 {
            // A lookup needs only one row, so batches start small and grow.
            let len = self.taken.clamp(1, Self::BATCH_LEN_MAX);
            let rows: Vec<Row> = self.table.scan(&self.scan).skip(self.taken).take(len).collect();
            self.taken += rows.len();
            self.rows = rows.into_iter();
        }
        self.rows.next()
    }

    fn is_filter_done(&mut self) -> bool {
        self.filter.as_mut().is_some_and(FilterRun::is_done)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.of_connection.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Scanners {
    /// Creates an empty set. Scanner numbers start with the server's start code, so that a scanner
    /// from before a restart is never mistaken for a current one.
    pub(crate) fn new(start_code: u64) -> Self {
        let first_id = (start_code << 22) + 1;
        Self {
            first_id,
            next_id: AtomicU64::new(first_id),
            open: Mutex::default(),
            closed: Mutex::default(),
            ahead_bytes: Arc::default(),
        }
    }

    /// Returns true if a scanner may hold a row for its next call.
    pub(crate) fn takes_ahead(&self) -> bool {
        self.ahead_bytes.load(Ordering::Relaxed) < SCANNERS_AHEAD_BYTES_MAX
    }

    /// How many scanners are open.
    pub(crate) fn len(&self) -> usize {
        self.open.lock().len()
    }

    /// Returns a number that no scanner has had.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns true if a scanner with this number was opened since the server started.
    pub(crate) fn was_given(&self, id: u64) -> bool {
        (self.first_id..self.next_id.load(Ordering::Relaxed)).contains(&id)
    }

    /// Keeps a scanner for later calls. `of_connection` counts the connection's scanners.
    ///
    /// # Errors
    /// `RegionTooBusy` when too many are open; `Io` and `Corruption`.
    pub(crate) fn keep(
        &self,
        id: u64,
        mut scanner: Scanner,
        of_connection: &Arc<AtomicUsize>,
    ) -> Result<()> {
        // From here on flushes know of the scanner and keep the cells it may see.
        scanner.follow_flushes()?;
        let mut open = self.open.lock();
        if open.len() >= SCANNERS_MAX {
            return Err(Error::new(
                ErrorKind::RegionTooBusy,
                format!("too many open scanners: max={SCANNERS_MAX}"),
            ));
        }
        let count = of_connection.load(Ordering::Relaxed);
        if count >= CONNECTION_SCANNERS_MAX {
            let message =
                format!("too many open scanners of one connection: max={CONNECTION_SCANNERS_MAX}");
            return Err(Error::new(ErrorKind::RegionTooBusy, message));
        }
        of_connection.fetch_add(1, Ordering::Relaxed);
        let is_short = scanner.is_short;
        let scanner = Arc::new(Mutex::new(scanner));
        let of_connection = Arc::clone(of_connection);
        open.insert(id, Entry { scanner, of_connection, is_short, used: Instant::now() });
        Ok(())
    }

    /// Returns true if scanner `id` has a short scan, as defined by [`Scanner::is_short_of`].
    pub(crate) fn is_short(&self, id: u64) -> bool {
        self.open.lock().get(&id).is_none_or(|entry| entry.is_short)
    }

    /// Renews scanner `id`'s lease.
    pub(crate) fn renew(&self, id: u64) {
        if let Some(entry) = self.open.lock().get_mut(&id) {
            entry.used = Instant::now();
        }
    }

    /// Returns scanner `id` and renews the lease.
    ///
    /// # Errors
    /// `UnknownScanner` if it is closed, expired, or from before a restart.
    pub(crate) fn find(&self, id: u64) -> Result<Arc<Mutex<Scanner>>> {
        let mut open = self.open.lock();
        let entry = open.get_mut(&id).ok_or_else(|| {
            Error::new(
                ErrorKind::UnknownScanner,
                format!("Unknown scanner '{id}'. It was closed, its lease ran out, or the server was restarted."),
            )
        })?;
        entry.used = Instant::now();
        Ok(Arc::clone(&entry.scanner))
    }

    /// Closes scanner `id` after an error; an unknown one is ignored. Later calls for it are
    /// refused.
    pub(crate) fn close(&self, id: u64) {
        self.open.lock().remove(&id);
    }

    /// Closes scanner `id` after the scan has ended or the client has closed the scanner.
    /// `next_call` is the sequence number that the next call would have had.
    pub(crate) fn end(&self, id: u64, next_call: u64) {
        self.open.lock().remove(&id);
        let mut closed = self.closed.lock();
        if closed.len() >= CLOSED_SCANNERS_MAX {
            closed.pop_front();
        }
        closed.push_back((id, next_call));
    }

    /// Returns the sequence number that the next call to scanner `id` would have had, if it was
    /// closed without an error and is still remembered.
    pub(crate) fn ended(&self, id: u64) -> Option<u64> {
        let closed = self.closed.lock();
        closed.iter().rev().find(|(ended, _)| *ended == id).map(|&(_, next_call)| next_call)
    }

    /// Makes the scanners that wait for their next call release flushed memstores. Returns the
    /// bytes that they keep nevertheless, summed per scanner.
    pub(crate) fn follow_flushes(&self) -> u64 {
        let open: Vec<_> =
            self.open.lock().values().map(|entry| Arc::clone(&entry.scanner)).collect();
        let mut retained = 0;
        for scanner in open {
            match scanner.try_lock().map(|mut scanner| scanner.follow_flushes()) {
                Some(Ok(bytes)) => retained += bytes,
                Some(Err(error)) => tracing::warn!(%error, "an idle scanner cannot continue"),
                // It is in use and follows flushes as it reads.
                None => {}
            }
        }
        retained
    }

    /// Closes scanners whose lease has expired.
    pub(crate) fn expire(&self, now: Instant) {
        let mut open = self.open.lock();
        let before = open.len();
        open.retain(|_, entry| {
            now.saturating_duration_since(entry.used) < SCANNER_LEASE || entry.scanner.is_locked()
        });
        let expired = before - open.len();
        if expired > 0 {
            tracing::info!(expired, "scanners with expired leases were closed");
        }
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, Put, Scan, TableDescriptor, TableName};
    use rowhouse_store::Store;

    use super::*;

    #[test]
    fn idle_scanner_releases_flushed_memstores() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name = TableName::parse("t").unwrap();
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        let put_all = |value: &str| {
            for row in ["a", "b", "c"] {
                let put = Put::new(row).unwrap().add("f", "q", value).unwrap();
                table.mutate(&put.into()).unwrap();
            }
        };
        let region = Arc::clone(&table.regions()[0]);
        let scan = OpenScan {
            scan: Scan::all(),
            start_row: Bytes::new(),
            include_start: true,
            stop_row: Bytes::new(),
            include_stop: false,
            read_point: 0,
            result_bytes_max: None,
            allow_partial_results: false,
            needs_cursor: false,
            query: None,
        };
        put_all("old");
        let scanner = region.scan(&Scan::all()).unwrap();
        let scanners = Scanners::new(1);
        let scanner = Scanner::new(Rows::Stored(region, Box::new(scanner)), &scan, &scanners);
        let id = scanners.next_id();
        scanners.keep(id, scanner, &Arc::default()).unwrap();
        put_all("new");
        table.flush().unwrap();
        // A flush that did not know of the scanner would have dropped the cells that the scanner
        // reads.
        assert_eq!(scanners.follow_flushes(), 0);
        let scanner = scanners.find(id).unwrap();
        for row in ["a", "b", "c"] {
            let Scanned::Row { row: scanned, .. } = scanner.lock().next(&ScanLimits::NONE).unwrap()
            else {
                panic!("row {row} is missing")
            };
            assert_eq!(scanned.key(), row.as_bytes());
            assert_eq!(scanned.value("f", "q").unwrap(), "old");
        }
    }
}
