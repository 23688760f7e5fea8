//! What the store asks of the search engine: searches for scans of regions that carry a query, and
//! checks of indexes.

use rowhouse_model::{Error, Result, RowRange, TableName};
use rowhouse_schema::{ColumnSchema, Direction, KeySchema, Predicate, SearchPlan, TimeZone};
use rowhouse_store::{IndexReport, RowSearch, SearchedRows, Table};

use super::Shared;
use crate::find::Asked;

impl RowSearch for Shared {
    fn search(
        &self,
        table: &TableName,
        query: &Predicate,
        range: &RowRange,
        direction: Direction,
    ) -> Result<SearchedRows> {
        let plan = plan(&*self.store.table(table)?, query, None)?;
        Ok(self.answer(table, &plan, Asked::default())?.into_rows(range, direction))
    }

    fn verify(
        &self,
        table: &TableName,
        index: &str,
        progress: &mut dyn FnMut(&IndexReport),
    ) -> Result<IndexReport> {
        self.compare_with_rows(table, index, progress)
    }
}

/// Plans a query of a table. Times without a zone are UTC, as in other scans.
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
