//! Queries in transactions.

use rowhouse_model::Result;
use rowhouse_schema::Plan;

use super::entries::Written;
use super::index_rows::IndexRows;
use super::parts::ScanBy;
use super::plan_rows::PlanRows;
use super::rows::Source;
use super::{By, Query, QueryRow, QueryRows};
use crate::backend::EmbeddedTransaction;

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
        let mut access = self.access(key_plan.clone(), limit).await?;
        let Some((plan, order)) = access.take_index() else { return Ok(None) };
        let name = self.table.name();
        let at = match (transaction.index_view(self.table.id(), plan.index()), &self.by) {
            // It may be newer than the read point.
            (Err(_), By::Any) => None,
            (at, _) => at?,
        };
        let Some(at) = at else { return self.by_key_instead().map(|()| None) };
        let query = self.index_query(plan, order, key_plan.clone(), limit)?;
        let written = transaction.written_rows(name);
        let written = Written::new(written, &query.plan, &query.entries, &at.rows)?;
        let (rows_at, entries_at) = (at.rows.clone(), at.entries());
        transaction.note_read(&entries_at, query.entries.ranges());
        let Some(mut rows) = IndexRows::open(self.table, query, Some(at), written).await? else {
            return self.by_key_instead().map(|()| None);
        };
        rows.note_rows();
        let mut reading = QueryRows::new(Source::Index(Box::new(rows)));
        let mut found = Vec::new();
        while let Some(row) = reading.next().await? {
            found.push(row);
        }
        transaction.note_rows_read(&rows_at, &reading.take_noted());
        Ok(Some(found))
    }

    async fn key_rows_in(
        self,
        transaction: &mut EmbeddedTransaction<'_>,
        plan: Plan,
    ) -> Result<Vec<QueryRow>> {
        let limit = self.rows_max();
        let view = transaction.view(self.table.id())?;
        transaction.note_read(&view, plan.ranges());
        let (schema, _) = self.asked?;
        let (table, with_misfits) = (self.table, self.with_misfits);
        let rows = PlanRows::open(
            table,
            schema,
            plan,
            self.scan,
            limit,
            with_misfits,
            ScanBy::Point(Some(view)),
        )
        .await?;
        QueryRows::new(Source::Plan(Box::new(rows))).collect().await
    }
}
