//! Queries in transactions.

use rowhouse_model::{Bytes, ErrorKind, Result};
use rowhouse_query::{IndexQuery, IndexRows, PlanRows, ReadFrom, Written};
use rowhouse_schema::Plan;

use super::rows::RowsOf;
use super::source::TableSource;
use super::{By, Query, QueryRow, QueryRows};
use crate::backend::{EmbeddedTransaction, IndexReadPoint};
use crate::table::Table;

impl Query<'_> {
    /// Reads the rows as a transaction sees them, and counts as read what the answer depends on.
    pub(crate) async fn rows_in(
        self,
        transaction: &mut EmbeddedTransaction<'_>,
    ) -> Result<Vec<QueryRow>> {
        let plan = self.explain()?;
        let offset = usize::try_from(self.offset).unwrap_or(usize::MAX);
        let mut rows = match self.index_rows_in(transaction, &plan).await? {
            Some(rows) => rows,
            None => self.key_rows_in(transaction, plan).await?,
        };
        rows.drain(..offset.min(rows.len()));
        Ok(rows)
    }

    /// Returns `None` if the rows are to be read by the key.
    async fn index_rows_in(
        &self,
        transaction: &mut EmbeddedTransaction<'_>,
        key_plan: &Plan,
    ) -> Result<Option<Vec<QueryRow>>> {
        let limit = self.rows_max();
        let mut access = self.access(key_plan.clone(), limit, false).await?;
        let Some((plan, order)) = access.take_index() else { return Ok(None) };
        let name = self.table.name();
        let at = match (transaction.index_view(self.table.id(), plan.index()), &self.by) {
            // It may be newer than the read point.
            (Err(_), By::Any) => None,
            (at, _) => at?,
        };
        let Some(at) = at else { return self.by_key_instead().map(|()| None) };
        let query = self.index_query(plan, order, key_plan.clone(), limit)?;
        let mut written = Written::new(transaction.written_rows(name), false);
        let gets = written.gets(&query.plan)?;
        let rows = gets.iter().map(|get| at.rows.get(get)).collect::<Result<_>>()?;
        written.add_rows(&query.plan, &query.entries, rows)?;
        let rows_at = at.rows.clone();
        let entries_at = at.entries();
        transaction.note_read(&entries_at, query.entries.ranges());
        match (read_all(self.table, query, at, written).await, &self.by) {
            (Ok(Some((found, read))), _) => {
                transaction.note_rows_read(&rows_at, &read);
                Ok(Some(found))
            }
            (Ok(None), _) => self.by_key_instead().map(|()| None),
            // The index, or a row, cannot be read.
            (Err(error), By::Any)
                if matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Io) =>
            {
                Ok(None)
            }
            (Err(error), _) => Err(error),
        }
    }

    async fn key_rows_in(
        self,
        transaction: &mut EmbeddedTransaction<'_>,
        plan: Plan,
    ) -> Result<Vec<QueryRow>> {
        let view = transaction.view(self.table.id())?;
        transaction.note_read(&view, plan.ranges());
        let table = self.table;
        let source = TableSource::at(table, view);
        let rows = PlanRows::open(source, ReadFrom::Rows, self.key_query(plan)?).await?;
        QueryRows::new(table, RowsOf::Plan(Box::new(rows))).collect().await
    }
}

/// Returns all rows for a query by an index, and the keys for the rows that were read; `None` if
/// the index has more entries than are to be sorted.
async fn read_all(
    table: &Table,
    query: IndexQuery,
    at: IndexReadPoint,
    written: Written,
) -> Result<Option<(Vec<QueryRow>, Vec<Bytes>)>> {
    let source = TableSource::by_index(table, query.plan.index(), Some(at))?;
    let Some(mut rows) = IndexRows::open(source, query, written).await? else {
        return Ok(None);
    };
    rows.note_rows();
    let mut reading = QueryRows::new(table, RowsOf::Index(Box::new(rows)));
    let mut found = Vec::new();
    while let Some(row) = reading.next().await? {
        found.push(row);
    }
    Ok(Some((found, reading.take_noted())))
}
