//! Searches for scans of regions that carry a query.

use rowhouse_model::{Error, Result, RowRange, TableName};
use rowhouse_schema::{ColumnSchema, Direction, KeySchema, Predicate, SearchPlan, TimeZone};
use rowhouse_store::{RowSearch, SearchedRows, Table};

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
        let plan = plan(&*self.store.table(table)?, query)?;
        Ok(self.answer(table, &plan, Asked::default())?.into_rows(range, direction))
    }
}

/// Plans a query of a table. Times without a zone are UTC, as in other scans.
fn plan(table: &Table, query: &Predicate) -> Result<SearchPlan> {
    let key = KeySchema::of_table(table.descriptor())?;
    let columns = ColumnSchema::of_table(table.descriptor())?;
    let (Some(indexes), Some(columns)) = (table.indexes()?, columns) else {
        return Err(Error::invalid(format!(
            "`matches` needs a full-text index, and table {} has none",
            table.name()
        )));
    };
    indexes.search_plan(key.as_ref(), &columns, query, &TimeZone::UTC, None)
}
