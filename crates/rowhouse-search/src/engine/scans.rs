//! Searches for region scans that carry a query, and index checks.

use rowhouse_model::{Error, IndexReport, Result, RowRange, TableName};
use rowhouse_schema::{ColumnSchema, Direction, KeySchema, Predicate, SearchPlan, TimeZone};
use rowhouse_store::Table;

use super::SearchEngine;
use crate::find::{SearchOptions, SearchedRows};

impl SearchEngine {
    /// Searches a table range at the current read point. `query` has conditions with `matches`; the
    /// other conditions may narrow the answer.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for an invalid query, and without a full-text index that
    /// has the words; `RegionTooBusy` while the index is being built.
    pub fn rows(
        &self,
        table: &TableName,
        query: &Predicate,
        range: &RowRange,
        direction: Direction,
    ) -> Result<SearchedRows> {
        let shared = &self.shared;
        let plan = plan(&*shared.store.table(table)?, query, None)?;
        Ok(shared.answer(table, &plan, SearchOptions::default())?.into_rows(range, direction))
    }

    /// Compares a full-text index with the table's rows at the current read point.
    ///
    /// # Errors
    /// As [`Store::verify_index`](rowhouse_store::Store::verify_index); `RegionTooBusy` while the
    /// index is being built.
    pub fn verify(
        &self,
        table: &TableName,
        index: &str,
        progress: &mut dyn FnMut(&IndexReport),
    ) -> Result<IndexReport> {
        self.shared.store.check_verified(table, index)?;
        self.shared.compare_with_rows(table, index, progress)
    }
}

/// Plans a table query. Times without a zone are UTC, as in other scans.
pub(super) fn plan(table: &Table, query: &Predicate, using: Option<&str>) -> Result<SearchPlan> {
    let key = KeySchema::of_table(table.descriptor())?;
    let columns = ColumnSchema::of_table(table.descriptor())?;
    let (Some(indexes), Some(columns)) = (table.indexes()?, columns) else {
        return Err(Error::invalid(format!(
            "`matches` needs a full-text index, and table {} has none",
            table.name()
        )));
    };
    indexes.search_plan(key.as_ref(), &columns, query, &TimeZone::UTC, using)
}
