//! The rows that a scan of the embedded store returns.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Error, Result, Row, Scan};
use rowhouse_store::TableScanner;

use crate::backend::blocking::blocking;
use crate::backend::read_ahead::{PendingResult, ReadAhead};

/// Rows in a scan's first batch, so that the first row arrives quickly; later batches are larger.
const BATCH_ROWS_FIRST: usize = 16;
/// Maximum rows in a batch, unless the scan sets another limit.
const BATCH_ROWS_MAX: usize = 1024;
/// Cell bytes at which a batch ends.
const BATCH_BYTES_MAX: usize = 1 << 20;

/// A scan's rows, read ahead in batches. The second batch is started when half of the first is
/// consumed, each later one with the first row of the batch before it.
pub(crate) struct EmbeddedRows {
    read: VecDeque<Row>,
    /// The next batch is started when this many rows in the current one remain.
    read_on_at: usize,
    state: ScanState,
    batch_rows: usize,
    batch_rows_max: usize,
    ahead: Arc<ReadAhead>,
}

enum ScanState {
    Idle(Box<TableScanner>),
    /// Stored here and not in a caller's future, so that a caller that drops the future loses no
    /// rows.
    Reading(PendingResult<(Box<TableScanner>, Result<Batch>)>),
    Done,
}

struct Batch {
    rows: VecDeque<Row>,
    /// Whether the batch ended because it is large enough, not because the scan ended.
    more: bool,
}

impl EmbeddedRows {
    /// Returns rows that are read already.
    pub(super) fn of(read: VecDeque<Row>, ahead: &Arc<ReadAhead>) -> Self {
        let state = ScanState::Done;
        let ahead = Arc::clone(ahead);
        Self { read, read_on_at: 0, state, batch_rows: 0, batch_rows_max: 0, ahead }
    }

    /// Opens a scan and reads the first rows.
    pub(super) async fn open(
        scan: Scan,
        ahead: &Arc<ReadAhead>,
        open: impl FnOnce(Scan) -> Result<TableScanner> + Send + 'static,
    ) -> Result<Self> {
        let batch_rows_max = scan.caching.map_or(BATCH_ROWS_MAX, |rows| rows.max(1) as usize);
        let batch_rows = BATCH_ROWS_FIRST.min(batch_rows_max);
        let (scanner, batch) = blocking(move || {
            let mut scanner = Box::new(open(scan)?);
            let batch = read_batch(&mut scanner, batch_rows)?;
            Ok::<_, Error>((scanner, batch))
        })
        .await?;
        let read = VecDeque::new();
        let state = ScanState::Done;
        let ahead = Arc::clone(ahead);
        let mut rows = Self { read, read_on_at: 0, state, batch_rows, batch_rows_max, ahead };
        rows.take(scanner, batch);
        // The first batch may be enough.
        rows.read_on_at /= 2;
        Ok(rows)
    }

    /// Returns the current batch's next row.
    #[inline]
    fn next_ready(&mut self) -> Option<Row> {
        if self.read.len() <= self.read_on_at {
            self.read_on();
        }
        self.read.pop_front()
    }

    pub(crate) fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
        loop {
            if let Some(row) = self.next_ready() {
                return Poll::Ready(Ok(Some(row)));
            }
            match &mut self.state {
                ScanState::Done | ScanState::Idle(_) => return Poll::Ready(Ok(None)),
                ScanState::Reading(batch) => {
                    let read = ready!(Pin::new(batch).poll(context));
                    self.state = ScanState::Done;
                    let (scanner, batch) = read?;
                    self.take(scanner, batch?);
                }
            }
        }
    }

    /// Starts reading the next batch, unless it is already being read.
    fn read_on(&mut self) {
        self.state = match std::mem::replace(&mut self.state, ScanState::Done) {
            ScanState::Idle(mut scanner) => {
                let rows = (self.batch_rows * 4).min(self.batch_rows_max);
                self.batch_rows = rows;
                ScanState::Reading(self.ahead.ask(move || {
                    let batch = read_batch(&mut scanner, rows);
                    (scanner, batch)
                }))
            }
            other => other,
        };
    }

    fn take(&mut self, scanner: Box<TableScanner>, batch: Batch) {
        self.read = batch.rows;
        self.read_on_at = self.read.len();
        if batch.more {
            self.state = ScanState::Idle(scanner);
        }
    }
}

/// Reads one row batch. Rows before an error are dropped, since the scan ends there.
fn read_batch(scanner: &mut TableScanner, rows_max: usize) -> Result<Batch> {
    scanner.begin_call();
    let batch = read_rows(scanner, rows_max);
    scanner.end_call();
    batch
}

fn read_rows(scanner: &mut TableScanner, rows_max: usize) -> Result<Batch> {
    let mut rows = VecDeque::new();
    let mut bytes = 0;
    while rows.len() < rows_max && bytes < BATCH_BYTES_MAX {
        let Some(row) = scanner.next()? else { return Ok(Batch { rows, more: false }) };
        bytes += row.cells().map(|cell| cell.as_bytes().len()).sum::<usize>();
        rows.push_back(row);
    }
    Ok(Batch { rows, more: true })
}
