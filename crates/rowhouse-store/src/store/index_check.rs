//! Compares an index with the rows of its table, and requests its repair.

use std::collections::BTreeMap;

use rowhouse_model::{Bytes, Error, Result, RowRange, TableName};
use rowhouse_schema::{IndexSchema, IndexState};

use super::Store;
use super::index_build::row_keys;
use crate::indexed::{IndexedTables, KeptIndex, no_indexes};
use crate::table::Table;
use crate::write::index_fill::compare;

/// The result of [`Store::verify_index`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexReport {
    /// Rows of the table.
    pub rows: u64,
    /// Those of them whose keys do not fit the table's template: they have no entries.
    pub unfit_rows: u64,
    /// Entries of the index; documents of a full-text index.
    pub entries: u64,
    /// Entries that a row should have and that are missing or have other covered cells; rows whose
    /// document is missing, or has other words or values.
    pub missing: u64,
    /// Entries that no row has; documents of rows that are not there, or show nothing to search.
    pub stale: u64,
}

impl IndexReport {
    /// Whether every row has its entries, and every entry its row.
    pub fn is_clean(&self) -> bool {
        self.missing == 0 && self.stale == 0
    }
}

impl Store {
    /// Compares every row of a table with its entries in an index, and every entry with its row,
    /// some at a time and each under the lock of its row, while writers go on. `progress` gets the
    /// numbers so far.
    ///
    /// A full-text index is compared at one read point: every row is analysed anew, and its
    /// document must have the same words at the same places, and the same values. Takes 8 bytes of
    /// memory for each document.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if the table has no such index. For a
    /// full-text index, `RegionTooBusy` while it is being built, `Corruption` if it is damaged, and
    /// `Unsupported` without a search engine.
    pub fn verify_index(
        &self,
        table: &TableName,
        index: &str,
        mut progress: impl FnMut(&IndexReport),
    ) -> Result<IndexReport> {
        let table = self.table(table)?;
        table.check_enabled()?;
        let kept = self.kept_index(&table, index)?;
        if kept.index.search().is_some() {
            return self.row_search()?.verify(table.name(), index, &mut progress);
        }
        let mut report = IndexReport::default();
        let mut next = Bytes::new();
        loop {
            let rows = row_keys(&table, &next, false)?;
            let Some(last) = rows.last() else { break };
            next = RowRange::row(last).stop;
            report.rows += rows.len() as u64;
            let unfit = rows.iter().filter(|row| !kept.index.fits(row));
            report.unfit_rows += unfit.count() as u64;
            report.missing += compare(&table, &kept, &rows, &BTreeMap::new())?.missing;
            progress(&report);
        }
        next = Bytes::new();
        loop {
            let entries = row_keys(&kept.table, &next, false)?;
            let Some(last) = entries.last() else { return Ok(report) };
            next = RowRange::row(last).stop;
            report.entries += entries.len() as u64;
            let by_row = kept.by_row(entries)?;
            let rows: Vec<_> = by_row.keys().cloned().collect();
            report.stale += compare(&table, &kept, &rows, &by_row)?.stale;
            progress(&report);
        }
    }

    /// Requests that an index is repaired: every row gets its entries, and entries without a row
    /// are removed; a copy is built anew. A full-text index is `repairing` until whoever writes its
    /// segments has built them anew. Queries read the table until the index is ready again
    /// ([`Store::index_state`]). An index that is off is tried again.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index.
    pub fn request_index_repair(&self, table: &TableName, index: &str) -> Result<()> {
        let table = self.table(table)?;
        let kept = self.kept_index(&table, index)?;
        // A build under way ends first.
        let _reindexing = table.reindexing.lock();
        let _changing = self.changing();
        let now = self.table(kept.table.name())?;
        if kept.index.is_copy() {
            return self.rebuild_indexes(&self.table(table.name())?, vec![now]);
        }
        self.inner.tables.set_index_state(&now, &IndexState::Repairing)?;
        self.request_index_builds();
        Ok(())
    }

    fn kept_index(&self, table: &Table, index: &str) -> Result<KeptIndex> {
        let schema: &IndexSchema = table.indexes()?.ok_or_else(|| no_indexes(table.name()))?;
        schema.index(index)?;
        let indexed = IndexedTables::of_table(self.engine(), table.name())?;
        let kept = indexed.and_then(|indexed| indexed.find(index).cloned());
        kept.ok_or_else(|| Error::invalid(format!("index {index} has no table of entries")))
    }
}
