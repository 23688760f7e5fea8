//! Queries that report what they read.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{Error, Result};

use super::{Access, Query};
use crate::analysis::{Analysis, Answer, StepTimer, on_blocking_thread, refused};
use crate::backend::TableReadPoint;

impl Query<'_> {
    /// Runs the query until it ends or reaches the limit, and returns what that read and how long
    /// it took instead of the rows: tables, regions, families and files; files that were left out,
    /// and why; blocks from the cache and from the disk; cells that were looked at.
    ///
    /// The whole query is read at one read point and on one thread, so the counts are the same each
    /// time, as far as the cache is. The cell counts and the times come from a read that is
    /// watched, which is slower than others.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let analysis = mail.query("user = 'bob'").limit(20).analyze().await?;
    /// println!("{analysis}");
    /// assert!(analysis.total().rows_read <= 20, "the key answers the query");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`]; `Unsupported` on a cluster, which does not report files and blocks, and
    /// for a query with `matches`.
    pub async fn analyze(self) -> Result<Analysis> {
        if self.has_matches() {
            return Err(Error::unsupported(
                "a query with `matches` cannot be analyzed, only explained",
            ));
        }
        self.check_order()?;
        if !self.table.backend().has_read_points() {
            return Err(refused(self.table));
        }
        let (_, predicate) = self.asked?;
        let table = self.table.clone();
        let Self {
            zone, scan, limit, offset, after, direction, with_misfits, keys_only, by, ..
        } = self;
        #[cfg(feature = "search")]
        let search_order = self.search_order;
        on_blocking_thread(move || async move {
            let query = Query {
                table: &table,
                asked: Ok((table.key_schema()?, predicate)),
                zone,
                scan,
                limit,
                offset,
                after,
                direction,
                with_misfits,
                keys_only,
                by,
                #[cfg(feature = "search")]
                search_order,
                trace: Some(Arc::default()),
            };
            query.analyze_here().await
        })
        .await
    }

    async fn analyze_here(self) -> Result<Analysis> {
        let trace = self.trace.clone().unwrap_or_default();
        let timer = StepTimer::begin();
        let plan = self.explain()?;
        let access = self.access(plan.clone(), self.rows_max(), false).await?;
        let planning = Some(timer.end());

        let table = self.table;
        let asked = self.query_text();
        let ranges = ranges_of(&access);
        let mut schemas = BTreeMap::new();
        schemas.insert(table.name().clone(), table.key_schema()?.clone());
        if let Some(plan) = access.index_plan() {
            let index = plan.index();
            schemas.insert(index.table_name(table.name())?, index.template().clone());
        }
        let access_text = access.how();

        let timer = StepTimer::begin();
        let mut rows = self.read_by(access, plan).await?;
        let mut answer = Answer::default();
        while let Some(row) = rows.next().await? {
            answer.add(row.row());
        }
        // The scans count their rows when they end.
        drop(rows);
        let access = Some((access_text, ranges));
        let reading = timer.end();
        let reads = trace.report();
        Ok(Analysis { asked, access, answer, planning, reading, reads, schemas })
    }

    /// Returns the table's current read point, with the query's trace if there is one.
    pub(super) async fn traced_point(&self) -> Result<Option<TableReadPoint>> {
        let Some(trace) = &self.trace else { return Ok(None) };
        let point = self.table.read_point().await?;
        Ok(point.map(|point| point.traced(trace)))
    }

    /// Returns what the query requests, as one line.
    fn query_text(&self) -> String {
        let predicate = self.asked.as_ref().map_or_else(Error::to_string, |(_, it)| it.to_string());
        let mut text = if predicate.is_empty() {
            "query all rows".to_owned()
        } else {
            format!("query {predicate}")
        };
        if let Some(limit) = self.limit {
            text += &format!(", limit {limit}");
        }
        if self.offset > 0 {
            text += &format!(", offset {}", self.offset);
        }
        text
    }
}

/// Returns how many ranges the chosen plan has.
fn ranges_of(access: &Access) -> u64 {
    let plan = access.index_plan().map_or(access.plan(), |index| index.plan());
    plan.ranges().len() as u64
}
