//! Reads the store at one read point, on the requesting thread.

use std::future::ready;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use rowhouse_model::{Bytes, Error, ErrorKind, Result, Row, Scan};
use rowhouse_store::{IndexRead, ReadPoint, Store, Table, TableScanner};

use crate::source::{EntryHit, JudgeRows, Judged, ReadFrom, Reading, Source, SourceRows};

/// The most entry bytes that a scanner, or a page, holds.
const SORTED_BYTES_MAX: usize = 16 << 20;

/// A table in the store, and maybe the entries of one index, at a read point. Reads never wait:
/// [`at_once`] returns what they read.
#[derive(Clone)]
pub struct StoreSource {
    store: Store,
    table: Arc<Table>,
    entries: Option<Arc<Table>>,
    point: Arc<ReadPoint>,
    until: Option<Instant>,
}

/// The rows that a store scan returns.
pub struct StoreRows {
    scanner: TableScanner,
    until: Option<Instant>,
}

impl StoreSource {
    /// Reads a table's rows.
    pub fn new(store: &Store, table: Arc<Table>, point: Arc<ReadPoint>) -> Self {
        Self { store: store.clone(), table, entries: None, point, until: None }
    }

    /// Reads an index's entries, and the rows to which they lead.
    pub fn by_index(store: &Store, read: &IndexRead) -> Self {
        let table = Arc::clone(&read.table);
        let entries = Some(Arc::clone(&read.entries));
        Self { entries, ..Self::new(store, table, Arc::clone(&read.point)) }
    }

    /// Ends scans at a time, with the error `Timeout`.
    pub fn until(self, until: Option<Instant>) -> Self {
        Self { until, ..self }
    }
}

impl Source for StoreSource {
    type Rows = StoreRows;

    fn scan(&self, from: ReadFrom, scan: Scan) -> Reading<StoreRows> {
        let table = match (from, &self.entries) {
            (ReadFrom::Entries, Some(entries)) => entries,
            (ReadFrom::Rows, _) | (ReadFrom::Entries, None) => &self.table,
        };
        let until = self.until;
        let rows = |scanner| StoreRows { scanner, until };
        Box::pin(ready(table.scan_at(scan, &self.point).map(rows)))
    }

    fn judge(&self, judge: Arc<dyn JudgeRows>, hits: Vec<EntryHit>) -> Reading<Judged> {
        let get = |get: &_| self.table.get_at(get, &self.point);
        Box::pin(ready(judge.rows_at_point(hits, &get)))
    }

    fn now_millis(&self) -> Option<i64> {
        self.entries.is_some().then(|| self.store.now_millis())
    }

    fn families(&self) -> Vec<Bytes> {
        self.table.descriptor().families().iter().map(|family| family.name().clone()).collect()
    }

    fn sorted_bytes_max(&self) -> usize {
        SORTED_BYTES_MAX
    }

    fn report_damage(&self, error: &Error) {
        if let Some(entries) = &self.entries {
            self.store.report_index_damage(entries, error);
        }
    }
}

impl SourceRows for StoreRows {
    fn poll_row(&mut self, _: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            return Poll::Ready(Err(Error::new(
                ErrorKind::Timeout,
                "the time of the query is over",
            )));
        }
        Poll::Ready(self.scanner.next())
    }
}

/// Returns what a [`StoreSource`] read returns.
pub fn at_once<T>(read: impl Future<Output = T>) -> T {
    let Poll::Ready(read) = pin!(read).poll(&mut Context::from_waker(Waker::noop())) else {
        unreachable!("reads of the store are not waited for");
    };
    read
}
