//! The table rows for documents in a full-text index.

use rowhouse_model::{Bytes, Get, Result, Row};

use super::index_build::row_keys;
use crate::catalog::SearchRead;
use crate::read::RowVersion;

impl SearchRead {
    /// Reads a row's columns that the index reads, at the read point, as they are at a time.
    /// Returns the row, and the last millisecond until which it stays so without a write: a cell
    /// may expire, or a delete marker that covers cells. `i64::MAX` if nothing expires.
    ///
    /// # Errors
    /// As [`Table::get_at`](crate::Table::get_at).
    pub fn row_at_time(&self, row: &[u8], now_millis: i64) -> Result<(Row, i64)> {
        let mut get = Get::new(Bytes::copy_from_slice(row))?;
        get.columns = self.index.columns().clone();
        self.table.check_enabled()?;
        let timed = self.table.at(row, |region| {
            let region = region.at_point(&self.point, row);
            region.read_row_at_time(&get, RowVersion::At(&self.point), now_millis)
        })?;
        Ok((timed.row, timed.until_millis))
    }

    /// Returns the keys of some rows from a row on, in order; none after the last. A row that has
    /// only cells that are deleted or expired may be among them, and one that is newer than the
    /// read point.
    ///
    /// # Errors
    /// As [`Table::scan`](crate::Table::scan).
    pub fn row_keys(&self, from: &Bytes) -> Result<Vec<Bytes>> {
        // Raw: a delete marker that expires uncovers cells.
        row_keys(&self.table, from, true)
    }
}
