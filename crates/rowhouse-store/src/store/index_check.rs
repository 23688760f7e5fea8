//! Compares an index with the table's rows, and requests a repair.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{Bytes, Error, IndexReport, Result, RowRange, TableName};
use rowhouse_schema::{Index, IndexSchema, IndexState, index_damage};

use super::Store;
use super::index_build::row_keys;
use crate::indexed::{IndexedTables, MaintainedIndex, is_in_memory, is_off_by_damage, no_indexes};
use crate::table::Table;
use crate::write::index_fill::compare;

/// Why `matches` and full-text indexes are refused by a program without a search engine.
pub const NO_SEARCH: &str = "`matches` needs a program that is built with the feature `search`";

impl Store {
    /// Compares every row in a table with the row's entries in an index, and every entry with the
    /// row, some at a time and each under the row's lock, while writers go on: a difference that is
    /// reported is there at that time. `progress` gets the numbers so far. While an index is being
    /// built or repaired, entries are missing or stale.
    ///
    /// The search engine compares full-text indexes, which it keeps.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if the table has no such index, or the
    /// index is dropped or declared anew meanwhile; `LayoutChanged` if an index is promoted
    /// meanwhile; `Corruption` if the index is damaged, which is then off; `Unsupported` for a
    /// full-text index.
    pub fn verify_index(
        &self,
        table: &TableName,
        index: &str,
        mut progress: impl FnMut(&IndexReport),
    ) -> Result<IndexReport> {
        let (table, maintained) = self.verified_index(table, index)?;
        if maintained.index.search().is_some() {
            return Err(Error::unsupported(NO_SEARCH));
        }
        let report = compare_all(&table, &maintained, &mut progress);
        if maintained.table.is_dropped() {
            // Reads of it have found nothing.
            let table = table.name();
            return Err(Error::invalid(format!(
                "an index was altered while it was compared: index={index}, table={table}"
            )));
        }
        if let Err(error) = &report {
            self.report_index_damage(&maintained.table, error);
            self.settle_index_damage();
        }
        report
    }

    /// Returns the declaration for an index that can be compared with the table.
    ///
    /// # Errors
    /// As [`Store::verify_index`].
    pub fn check_verified(&self, table: &TableName, index: &str) -> Result<Index> {
        Ok(self.verified_index(table, index)?.1.index)
    }

    fn verified_index(
        &self,
        table: &TableName,
        index: &str,
    ) -> Result<(Arc<Table>, MaintainedIndex)> {
        let table = self.table(table)?;
        table.check_enabled()?;
        let maintained = self.maintained_index(&table, index)?;
        if let Some(why) =
            index_damage(maintained.table.descriptor()).filter(|_| maintained.is_off())
        {
            let message = format!("the data of index {index} is damaged, repair it: {why}");
            return Err(Error::corruption(message));
        }
        Ok((table, maintained))
    }

    /// Requests that an index is repaired: every row gets its entries, and entries without a row
    /// are removed. A copy is built anew, and so is an index whose data is damaged. A full-text
    /// index is `repairing` until the writer of its segments has built them anew. Queries read the
    /// table until the index is ready again ([`Store::index_state`]). An index that is off is tried
    /// again.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index; `Corruption` if a table
    /// file is damaged.
    pub fn request_index_repair(&self, table: &TableName, index: &str) -> Result<()> {
        let table = self.table(table)?;
        let maintained = self.maintained_index(&table, index)?;
        // A build under way ends first.
        let _reindexing = table.reindexing.lock();
        let tables = &self.inner.tables;
        tables.check_undamaged(&*self.table(table.name())?)?;
        let now = self.table(maintained.table.name())?;
        let is_replaced = is_off_by_damage(now.descriptor()) && !maintained.index.is_copy();
        if is_replaced || is_in_memory(now.descriptor()) {
            return tables.rebuild_index(&table, &now, None);
        }
        let _changing = self.changing();
        tables.set_index_state(&*self.table(maintained.table.name())?, &IndexState::Repairing)?;
        self.request_index_builds();
        Ok(())
    }

    fn maintained_index(&self, table: &Table, index: &str) -> Result<MaintainedIndex> {
        let schema: &IndexSchema = table.indexes()?.ok_or_else(|| no_indexes(table.name()))?;
        schema.index(index)?;
        let indexed = IndexedTables::of_table(self.engine(), table.name())?;
        let maintained = indexed.and_then(|indexed| indexed.find(index).cloned());
        maintained.ok_or_else(|| Error::invalid(format!("index {index} has no table of entries")))
    }
}

/// Compares a table's rows with an index's entries, then the entries with the rows.
fn compare_all(
    table: &Arc<Table>,
    maintained: &MaintainedIndex,
    mut progress: impl FnMut(&IndexReport),
) -> Result<IndexReport> {
    let mut report = IndexReport::default();
    let mut next = Bytes::new();
    loop {
        let rows = row_keys(table, &next, false)?;
        let Some(last) = rows.last() else { break };
        next = RowRange::row(last).stop;
        report.rows += rows.len() as u64;
        let unfit = rows.iter().filter(|row| !maintained.index.fits(row));
        report.unfit_rows += unfit.count() as u64;
        report.missing += compare(table, maintained, &rows, &BTreeMap::new())?.missing;
        progress(&report);
    }
    next = Bytes::new();
    loop {
        let entries = row_keys(&maintained.table, &next, false)?;
        let Some(last) = entries.last() else { return Ok(report) };
        next = RowRange::row(last).stop;
        report.entries += entries.len() as u64;
        let by_row = maintained.by_row(entries)?;
        let rows: Vec<_> = by_row.keys().cloned().collect();
        report.stale += compare(table, maintained, &rows, &by_row)?.stale;
        progress(&report);
    }
}
