//! Open scanners: by number, each on a lease that its calls renew.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;
use rowhouse_format::convert::scan::OpenScan;
use rowhouse_format::meta::MetaTable;
use rowhouse_model::{Error, ErrorKind, Result, Row};
use rowhouse_store::{Region, RegionScanner};

use crate::limits::{SCANNER_LEASE, SCANNERS_MAX};

/// The scanners of one region server.
pub(crate) struct Scanners {
    first_id: u64,
    next_id: AtomicU64,
    open: Mutex<HashMap<u64, Entry>>,
}

struct Entry {
    scanner: Arc<Mutex<Scanner>>,
    used: Instant,
}

/// A scan of one region, somewhere on its way.
pub(crate) struct Scanner {
    rows: Rows,
    /// The next row, if it had to be read to know that there is one.
    ahead: Option<Row>,
    /// The number that the next call must carry.
    pub(crate) next_call: u64,
    /// Bytes of cells the client wants in one answer; `None` leaves it to the server.
    pub(crate) bytes_max: Option<u64>,
}

impl Scanner {
    pub(crate) fn new(rows: Rows, bytes_max: Option<u64>) -> Self {
        Self { rows, ahead: None, next_call: 0, bytes_max }
    }

    /// Checks that the region still takes reads: its table may be disabled by now.
    ///
    /// # Errors
    /// `NotServingRegion`.
    pub(crate) fn check_serving(&self) -> Result<()> {
        match &self.rows {
            Rows::Stored(region, _) => region.check_serving(),
            Rows::System(_) => Ok(()),
        }
    }

    pub(crate) fn next_row(&mut self) -> Result<Option<Row>> {
        match self.ahead.take() {
            Some(row) => Ok(Some(row)),
            None => self.rows.next(),
        }
    }

    /// Whether there are no more rows.
    pub(crate) fn is_at_end(&mut self) -> Result<bool> {
        if self.ahead.is_none() {
            self.ahead = self.rows.next()?;
        }
        Ok(self.ahead.is_none())
    }
}

/// Where a scanner's rows come from.
pub(crate) enum Rows {
    /// A region of the store.
    Stored(Arc<Region>, Box<RegionScanner>),
    /// A system table.
    System(Box<SystemRows>),
}

/// The rows of a system table, read a few at a time.
pub(crate) struct SystemRows {
    table: Arc<MetaTable>,
    scan: OpenScan,
    taken: usize,
    rows: std::vec::IntoIter<Row>,
}

impl SystemRows {
    const BATCH_LEN_MAX: usize = 1000;

    pub(crate) fn new(table: Arc<MetaTable>, scan: OpenScan) -> Self {
        Self { table, scan, taken: 0, rows: Vec::new().into_iter() }
    }

    fn next(&mut self) -> Option<Row> {
        if self.rows.len() == 0 {
            // A lookup wants one row of many: little at first.
            let len = self.taken.clamp(1, Self::BATCH_LEN_MAX);
            let rows: Vec<Row> = self.table.scan(&self.scan).skip(self.taken).take(len).collect();
            self.taken += rows.len();
            self.rows = rows.into_iter();
        }
        self.rows.next()
    }
}

impl Rows {
    fn next(&mut self) -> Result<Option<Row>> {
        match self {
            Self::Stored(_, scanner) => scanner.next(),
            Self::System(rows) => Ok(rows.next()),
        }
    }
}

impl Scanners {
    /// No scanners yet. Their numbers begin with the server's start code, so that a scanner from
    /// before a restart is not taken for one of now.
    pub(crate) fn new(start_code: u64) -> Self {
        let first_id = (start_code << 22) + 1;
        Self { first_id, next_id: AtomicU64::new(first_id), open: Mutex::default() }
    }

    /// A number that no scanner has had.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether there is or was a scanner with this number since the server was started.
    pub(crate) fn was_given(&self, id: u64) -> bool {
        (self.first_id..self.next_id.load(Ordering::Relaxed)).contains(&id)
    }

    /// Keeps a scanner for later calls.
    ///
    /// # Errors
    /// `RegionTooBusy` when too many are open.
    pub(crate) fn keep(&self, id: u64, scanner: Scanner) -> Result<()> {
        let mut open = self.open.lock();
        if open.len() >= SCANNERS_MAX {
            return Err(Error::new(
                ErrorKind::RegionTooBusy,
                format!("too many open scanners: max={SCANNERS_MAX}"),
            ));
        }
        let scanner = Arc::new(Mutex::new(scanner));
        open.insert(id, Entry { scanner, used: Instant::now() });
        Ok(())
    }

    /// The scanner `id`, its lease renewed.
    ///
    /// # Errors
    /// `UnknownScanner` when it is closed, expired, or from before a restart.
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

    /// Closes the scanner `id`; fine if it is gone.
    pub(crate) fn close(&self, id: u64) {
        self.open.lock().remove(&id);
    }

    /// Closes scanners whose clients have gone silent.
    pub(crate) fn expire(&self, now: Instant) {
        let mut open = self.open.lock();
        let before = open.len();
        open.retain(|_, entry| {
            now.saturating_duration_since(entry.used) < SCANNER_LEASE || entry.scanner.is_locked()
        });
        let expired = before - open.len();
        if expired > 0 {
            tracing::info!(expired, "scanners whose lease ran out were closed");
        }
    }
}
