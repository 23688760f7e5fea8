//! Brings the index entries up to date with a load's rows.

use std::sync::Arc;

use rowhouse_model::{Bytes, ErrorKind, Key, Result};

use super::loading::Installed;
use crate::cells::Cells;
use crate::indexed::{IndexedTables, MaintainedIndex};
use crate::store::{RepairingIndexes, Store};
use crate::store_file::FileCursor;
use crate::table::Table;
use crate::write::index_fill::{Mending, ROWS_AT_ONCE, mend};

impl Store {
    /// Writes the entries for the rows in a load, and removes the entries that these rows had
    /// before; then the indexes are ready. If the rows cannot be read as they were before, the
    /// indexes are repaired as a whole.
    pub(super) fn index_loaded_rows(
        &self,
        table: &Arc<Table>,
        repairing: &RepairingIndexes,
        load: &Installed,
    ) -> Result<()> {
        let Some(indexed) = IndexedTables::of_table(self.effects(), table.name())? else {
            return Ok(());
        };
        for maintained in
            indexed.indexes.iter().filter(|maintained| repairing.was_ready(maintained.table.id()))
        {
            let mended = match mend_loaded_rows(table, maintained, load) {
                Ok(()) => self.note_index_ready(&maintained.table),
                Err(error) if error.kind() == ErrorKind::UnknownScanner => {
                    self.repair_index(maintained.table.id())
                }
                Err(error) => Err(error),
            };
            // The load is done. The index was dropped, or the table is being changed.
            if let Err(error) = mended {
                let index = maintained.table.name();
                tracing::warn!(%error, %index, "an index is repaired after a load");
            }
        }
        self.request_index_builds();
        Ok(())
    }
}

fn mend_loaded_rows(
    table: &Arc<Table>,
    maintained: &MaintainedIndex,
    load: &Installed,
) -> Result<()> {
    for file in &load.files {
        let mut cells = FileCursor::open_once(file, &Key::row_start(b""))?;
        let mut rows: Vec<Bytes> = Vec::with_capacity(ROWS_AT_ONCE);
        loop {
            let next = cells.cell().map(|cell| Bytes::copy_from_slice(cell.key.row));
            if next.is_none() || rows.len() == ROWS_AT_ONCE {
                mend(table, maintained, &rows, Mending::Since(load.before))?;
                rows.clear();
            }
            let Some(row) = next else { break };
            cells.seek(&Key::row_end(&row))?;
            rows.push(row);
        }
    }
    Ok(())
}
