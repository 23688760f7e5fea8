//! Full-text indexes. The store keeps their tables, queues and states; their segments are written
//! and searched by the search crate, through this interface (`docs/decisions/0073-search.md`).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use rowhouse_model::{
    Cell, Columns, Error, ErrorKind, Filter, Result, Scan, ServerTask, TableName, TableState,
    escape,
};
use rowhouse_schema::{Index, IndexState, QUEUE_FAMILY};

use super::Store;
use crate::catalog::SearchRead;
use crate::indexed::is_search_table;
use crate::region::table_not_found;
use crate::table::Table;
use crate::write::cells::write_cells;

/// The row count up to which a queue's rows are counted.
const QUEUE_COUNTED_MAX: u64 = 10_000;

/// A full-text index of a store.
pub struct SearchIndex {
    /// The table whose rows are indexed.
    pub table: TableName,
    /// The index.
    pub index: Index,
    /// The index table: queue, segments and list.
    pub entries: Arc<Table>,
    /// The state of the index.
    pub state: IndexState,
    /// Whether the table, and with it the index table, is enabled.
    pub is_enabled: bool,
    /// How many rows were put into queues since the store was opened, for all full-text indexes: if
    /// it is the same as before, no queue has a new entry.
    pub changes: u64,
}

impl Store {
    /// Returns a table and the index table of a full-text index on it with a read point for both,
    /// whatever the index state. Tables, index, state and read point belong to one point in time.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index, or one of another kind.
    pub fn search_read(&self, table: &TableName, index: &str) -> Result<SearchRead> {
        let (point, tables) = self.inner.tables.catalog.read_point(&self.inner.engine);
        tables.search_read(&Arc::new(point), table, index)
    }

    /// Returns the full-text indexes on all tables. Leaves out indexes on tables whose declarations
    /// a newer version wrote.
    ///
    /// # Errors
    /// `Unsupported` for a state from a newer version.
    pub fn search_indexes(&self) -> Result<Vec<SearchIndex>> {
        let served = self.inner.tables.catalog.entries();
        let mut indexes = Vec::new();
        let changes = self.inner.engine.rows_queued.load(Ordering::Relaxed);
        for table in served.tables.values() {
            let Ok(Some(schema)) = table.indexes() else { continue };
            for index in schema.indexes().iter().filter(|index| index.search().is_some()) {
                let name = index.table_name(table.name())?;
                let entries = served.tables.get(&name).ok_or_else(|| table_not_found(&name))?;
                indexes.push(SearchIndex {
                    table: table.name().clone(),
                    index: index.clone(),
                    entries: Arc::clone(entries),
                    state: IndexState::of_table(entries.descriptor())?,
                    is_enabled: table.state() == TableState::Enabled,
                    changes,
                });
            }
        }
        Ok(indexes)
    }

    /// Returns each full-text index's queue, unless it is empty. An index that cannot be read is
    /// left out.
    pub(super) fn search_queues(&self) -> Vec<ServerTask> {
        let indexes = self.search_indexes().unwrap_or_default();
        indexes.iter().filter_map(|index| queue_of(index).ok()?).collect()
    }

    /// Writes cells to a full-text index table: all of them in one log record, or none. They keep
    /// their timestamps. Waits for room as other writes do.
    ///
    /// A queue entry is removed by a marker that covers all versions in the entry's column up to
    /// the marker's timestamp ([`CellKind::DeleteColumn`](rowhouse_model::CellKind)). Later entries
    /// for the row have later timestamps; earlier ones, which a single-version marker would
    /// uncover, have no use.
    ///
    /// # Errors
    /// `InvalidRequest` for another table, and for a cell without a timestamp; `TableNotFound` if
    /// the table was dropped or replaced; `TableNotEnabled`; `NoSuchColumnFamily`, also for a table
    /// that is dropped or truncated meanwhile; `RegionTooBusy`.
    pub fn write_search_table(&self, entries: &Arc<Table>, cells: Vec<Cell>) -> Result<()> {
        check_search_table(entries)?;
        let now = self.table(entries.name())?;
        if now.id() != entries.id() {
            let message = format!("table {} was replaced by a new one", entries.name());
            return Err(Error::new(ErrorKind::TableNotFound, message));
        }
        now.check_enabled()?;
        if let Some(cell) = cells.iter().find(|cell| cell.timestamp().is_latest()) {
            let table = entries.name();
            let row = escape(cell.row());
            return Err(Error::invalid(format!(
                "a cell has no timestamp: table={table}, row={row}"
            )));
        }
        write_cells(entries, &cells)
    }

    /// Sets a full-text index's state, after a log sync: whatever was written for the state
    /// survives whenever it does. Returns `false`, and changes nothing, if the index has another
    /// state than `from`, or the table was dropped or replaced: rows have changed otherwise than
    /// row by row, and the queue does not have all changes.
    ///
    /// # Errors
    /// `InvalidRequest` for a table of another kind; `Io` from the log or the manifest.
    pub fn set_search_state(
        &self,
        entries: &Table,
        from: &IndexState,
        to: &IndexState,
    ) -> Result<bool> {
        check_search_table(entries)?;
        let tables = &self.inner.tables;
        let _changing = tables.changing.lock();
        self.inner.engine.check_open()?;
        let Ok(now) = tables.catalog.table(entries.name()) else { return Ok(false) };
        // A truncated table keeps its number.
        let is_it = now.id() == entries.id() && !entries.is_dropped();
        if !is_it || IndexState::of_table(now.descriptor())? != *from {
            return Ok(false);
        }
        self.inner.engine.sync_log()?;
        tables.set_index_state(&now, to)?;
        Ok(true)
    }
}

fn check_search_table(table: &Table) -> Result<()> {
    if is_search_table(table.descriptor()) {
        return Ok(());
    }
    Err(Error::invalid(format!("table {} is not that of a full-text index", table.name())))
}

/// Returns an index's queue as a task; `None` if it is empty.
fn queue_of(index: &SearchIndex) -> Result<Option<ServerTask>> {
    let mut columns = Columns::all();
    columns.add_family(QUEUE_FAMILY);
    let filter = Some(Box::new(Filter::FirstKeyOnly));
    let limit = Some(QUEUE_COUNTED_MAX + 1);
    let mut queued =
        index.entries.scan_uncounted(Scan { columns, filter, limit, ..Scan::all() })?;
    let mut rows = 0;
    let mut started_millis = i64::MAX;
    while let Some(row) = queued.next()? {
        rows += 1;
        let times = row.cells().map(|cell| cell.timestamp().as_millis());
        started_millis = times.fold(started_millis, i64::min);
    }
    let status = match rows {
        0 => return Ok(None),
        1 => "1 row waits to be written to a segment".to_owned(),
        2..=QUEUE_COUNTED_MAX => format!("{rows} rows wait to be written to a segment"),
        _ => format!("more than {QUEUE_COUNTED_MAX} rows wait to be written to segments"),
    };
    let description = format!("Queue of index {} of table {}", index.index.name(), index.table);
    Ok(Some(ServerTask { description, status, started_millis }))
}
