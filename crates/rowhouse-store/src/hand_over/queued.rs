//! Puts the rows from a load into the full-text index queues.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowhouse_model::{Bytes, Key, Result};
use rowhouse_schema::IndexState;

use super::loading::Installed;
use crate::cells::Cells;
use crate::indexed::{IndexedTables, MaintainedIndex};
use crate::store::{RepairingIndexes, Store};
use crate::store_file::FileCursor;
use crate::table::Table;
use crate::write::index_fill::ROWS_AT_ONCE;
use crate::write::queue::queue_rows;

/// The most rows from a load that are queued: above it a new index costs less.
const ROWS_MAX: usize = 100_000;

/// The most bytes in their keys.
const KEY_BYTES_MAX: usize = 64 << 20;

impl Store {
    /// Puts the rows from a load into the full-text index queues. The indexes then have the state
    /// that they had before. If the rows are too many, or a queue does not take them, the indexes
    /// stay under repair.
    pub(super) fn queue_loaded_rows(
        &self,
        table: &Arc<Table>,
        repairing: &RepairingIndexes,
        load: &Installed,
    ) -> Result<()> {
        let Some(indexed) = IndexedTables::of_table(self.effects(), table.name())? else {
            return Ok(());
        };
        let searches = indexed.searches.iter();
        let searches = searches.filter_map(|it| Some((it, repairing.state_before(it.table.id())?)));
        let searches: Vec<_> = searches.collect();
        if searches.is_empty() {
            return Ok(());
        }
        let rows = rows_of(load);
        for (maintained, before) in searches {
            let queued = match &rows {
                Ok(Some(rows)) => self.queue_all(table, maintained, rows, before),
                Ok(None) => continue,
                Err(error) => Err(error.clone()),
            };
            // The load is done. The index was dropped, or there is no room for the queue.
            if let Err(error) = queued {
                let index = maintained.table.name();
                tracing::warn!(%error, %index, "a full-text index is repaired after a load");
            }
        }
        Ok(())
    }

    fn queue_all(
        &self,
        table: &Arc<Table>,
        maintained: &MaintainedIndex,
        rows: &[Bytes],
        before: &IndexState,
    ) -> Result<()> {
        rows.chunks(ROWS_AT_ONCE).try_for_each(|rows| queue_rows(table, maintained, rows))?;
        self.set_search_state(&maintained.table, &IndexState::Repairing, before)?;
        Ok(())
    }
}

/// Returns a load's rows in order; `None` if they are too many.
fn rows_of(load: &Installed) -> Result<Option<Vec<Bytes>>> {
    let mut rows = BTreeSet::new();
    let mut bytes = 0;
    for file in &load.files {
        let mut cells = FileCursor::open_once(file, &Key::row_start(b""))?;
        while let Some(cell) = cells.cell() {
            let row = Bytes::copy_from_slice(cell.key.row);
            cells.seek(&Key::row_end(&row))?;
            bytes += row.len();
            if !rows.insert(row) {
                continue;
            }
            if rows.len() > ROWS_MAX || bytes > KEY_BYTES_MAX {
                return Ok(None);
            }
        }
    }
    Ok(Some(rows.into_iter().collect()))
}
