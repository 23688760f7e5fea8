//! Read points for reads that belong together.

use std::sync::Arc;

use rowhouse_model::{Bytes, Error, Get, Result, Row, Scan};
use rowhouse_schema::{Index, IndexSchema};
use rowhouse_store::{IndexRead, ReadPoint, ReadTrace, Store, Table};

use super::rows::EmbeddedRows;
use crate::backend::read_ahead::ReadAhead;

/// A table read point, held for reads that belong together.
#[derive(Clone)]
pub(crate) struct TableReadPoint {
    pub(super) table: Arc<Table>,
    pub(super) point: Arc<ReadPoint>,
}

impl TableReadPoint {
    /// Returns the table's families.
    pub(crate) fn families(&self) -> impl Iterator<Item = &Bytes> {
        self.table.descriptor().families().iter().map(|family| family.name())
    }

    /// Returns the same read point, at which reads add to a trace.
    pub(crate) fn traced(&self, trace: &Arc<ReadTrace>) -> Self {
        Self { table: Arc::clone(&self.table), point: Arc::new(self.point.traced(trace)) }
    }

    /// Reads a row at this read point. Takes a few microseconds, or waits for the disk.
    pub(crate) fn get(&self, get: &Get) -> Result<Row> {
        self.table.get_at(get, &self.point)
    }

    /// Opens a scan at this read point.
    pub(crate) async fn scan(&self, scan: Scan, ahead: &Arc<ReadAhead>) -> Result<EmbeddedRows> {
        let Self { table, point } = self.clone();
        EmbeddedRows::open(scan, ahead, move |scan| table.scan_at(scan, &point)).await
    }
}

/// A read point for a table and for the entries in an index on it.
pub(crate) struct IndexReadPoint {
    /// The table.
    pub(crate) rows: TableReadPoint,
    /// The table with the entries.
    entries: TableReadPoint,
    store: Store,
}

impl IndexReadPoint {
    /// Returns `None` if the index has been declared anew.
    pub(super) fn new(store: &Store, read: IndexRead, index: &Index) -> Result<Option<Self>> {
        let IndexRead { table, entries, point } = read;
        let declared = table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        if !declared.contains(index) {
            return Ok(None);
        }
        let entries = TableReadPoint { table: entries, point: Arc::clone(&point) };
        let rows = TableReadPoint { table, point };
        Ok(Some(Self { rows, entries, store: store.clone() }))
    }

    /// Returns the same read point, at which reads add to a trace.
    pub(crate) fn traced(self, trace: &Arc<ReadTrace>) -> Self {
        let rows = self.rows.traced(trace);
        let entries = self.entries.traced(trace);
        Self { rows, entries, ..self }
    }

    /// Returns the read point for the table with the entries.
    pub(crate) fn entries(&self) -> TableReadPoint {
        self.entries.clone()
    }

    /// Returns the time by which cells expire.
    pub(crate) fn now_millis(&self) -> i64 {
        self.store.now_millis()
    }

    /// Reports an error from reading the entries: an index with damaged entries is put off.
    pub(crate) fn report_damage(&self, error: &Error) {
        self.store.report_index_damage(&self.entries.table, error);
    }
}
