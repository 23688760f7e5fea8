//! Deletes of many rows: those that a query returns, or those in a range.

use std::fmt;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, DeleteRows, DeletedCells, Error, Mutation, Result, RowRange, TimeRange, Timestamp,
};
use rowhouse_schema::{Direction, Plan, Predicate, TimeZone, zone_name};

use super::{By, Query, QueryRows};
use crate::backend::Side;
use crate::rows::Rows;
use crate::table::Table;

/// A deletion of many rows, from [`Query::delete`] and [`Table::delete_rows`]. Nothing is deleted
/// before [`RowDeletion::run`] or [`RowDeletion::step`].
///
/// Rows are deleted as by single deletes, in batches: no range has a marker of its own. Readers see
/// some rows gone before others. Indexes, full-text indexes and observers follow. The deletion
/// holds the keys of one batch. If it is interrupted, the same deletion run again goes on with the
/// rows that are left.
///
/// In this process and on a rowhouse server, a row is deleted only if it matches the query when it
/// is deleted: conditions on columns are checked again with the row locked. A condition with
/// `matches` holds for the row as the search saw it. On Apache HBase a row is deleted as the scan
/// saw it, with what was written to it since.
///
/// ```
/// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
/// let mut deletion = mail.query("user = 'bob' and at < 2020").delete().batch_rows(1_000);
/// while deletion.step().await? {
///     println!("{} rows so far", deletion.deleted());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a deletion does nothing before `run` or `step`"]
pub struct RowDeletion<'t> {
    table: &'t Table,
    request: Result<DeleteRows>,
    /// The query, unless all rows in the range are deleted.
    query: Option<Query<'t>>,
    rest: Rest,
    deleted: u64,
}

/// The rows that are left.
enum Rest {
    /// All; nothing was deleted yet.
    All,
    /// Those in the request's range, which the store or a server finds.
    InRange,
    /// Those whose keys this client has still to read, after the deletes of keys that it has read.
    OfKeys(Keys, Vec<Mutation>),
    None,
}

/// The keys that a client reads.
enum Keys {
    OfQuery(Box<QueryRows>),
    OfScan(Box<Rows>),
}

/// The most batches in a step of a client that reads the keys, and how long it begins further ones.
const STEP_BATCHES_MAX: usize = 100;
const STEP_TIME: Duration = Duration::from_secs(1);

/// Something that removes the same rows at less cost than a deletion: [`RowDeletion::advice`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeleteAdvice {
    /// All rows are to be deleted: truncating the table removes the files.
    Truncate,
    /// So many regions lie in the deletion as a whole: truncating a region removes the files.
    TruncateRegions(usize),
    /// The query selects by age alone, by this field in the key: cells of families with a TTL end
    /// without a delete.
    TimeToLive(String),
}

impl fmt::Display for DeleteAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncate => write!(
                f,
                "every row that fits the template is deleted: truncate empties a table without \
                 reading it"
            ),
            Self::TruncateRegions(regions) => write!(
                f,
                "all rows of {regions} region(s) are deleted: truncate_region empties a region \
                 without reading it"
            ),
            Self::TimeToLive(field) => write!(
                f,
                "rows are deleted by their age alone ({field}): the TTL of a family removes cells \
                 by age, without deletes"
            ),
        }
    }
}

impl<'t> Query<'t> {
    /// Deletes the rows that the query returns. It has no limit, offset, page, order, time range,
    /// versions or columns: whole rows are deleted, in no particular order. Count them first with
    /// [`Query::count`].
    ///
    /// Rows whose keys do not fit the template stay. Times are in the zone of [`Query::zone`].
    /// [`Query::using`] names an index on Apache HBase alone. Elsewhere the index is chosen, and a
    /// deletion with `using` is refused.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let old = || mail.query("user = 'bob' and at < 2020");
    /// println!("{} rows to delete", old().count().await?);
    /// println!("{} rows deleted", old().delete().run().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(self) -> RowDeletion<'t> {
        RowDeletion {
            table: self.table,
            request: self.delete_request(),
            query: Some(self),
            rest: Rest::All,
            deleted: 0,
        }
    }

    fn delete_request(&self) -> Result<DeleteRows> {
        let has = |part: &str| {
            Error::invalid(format!("a deletion deletes all rows of a query, it has no {part}"))
        };
        let parts = [
            (self.limit.is_some(), "limit"),
            (self.offset > 0, "offset"),
            (self.after.is_some(), "page"),
            (self.direction != Direction::Forward, "order"),
            (self.check_order().is_err(), "order"),
            (!self.scan.columns.is_all(), "columns"),
            (self.scan.versions != 1, "versions"),
            (self.scan.time_range != TimeRange::ALL, "time range"),
            (self.with_misfits, "rows whose keys do not fit the template"),
        ];
        if let Some((_, part)) = parts.iter().find(|(is_set, _)| *is_set) {
            return Err(has(part));
        }
        let plan = self.delete_plan()?;
        plan.refuse_qualifiers()?;
        let (_, predicate) = self.asked.as_ref().map_err(Clone::clone)?;
        let mut request = DeleteRows::new(RowRange::all());
        request.query = Some(predicate.to_string());
        if self.zone != TimeZone::UTC {
            let name = zone_name(&self.zone);
            request.zone = Some(name.ok_or_else(|| has("zone without a name"))?);
        }
        Ok(request)
    }

    /// Returns the plan by the key, without conditions with `matches`.
    fn delete_plan(&self) -> Result<Plan> {
        let (schema, predicate) = self.asked.as_ref().map_err(Clone::clone)?;
        let predicate = predicate.without_matches();
        self.table.declared_columns().plan(schema, &predicate, &self.zone)
    }

    /// Checks that the query means the same as text.
    fn check_text(&self, text: &str) -> Result<()> {
        let (schema, _) = self.asked.as_ref().map_err(Clone::clone)?;
        let read = Predicate::parse(text).and_then(|read| {
            let read = read.without_matches();
            self.table.declared_columns().plan(schema, &read, &self.zone)
        });
        if read.is_ok_and(|read| self.delete_plan().is_ok_and(|plan| plan.selects_as(&read))) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the query means something else as text, give its times as times: query={text}"
        )))
    }
}

impl Table {
    /// Deletes cells in all rows in a range: the whole rows, a family, or a column. The table needs
    /// no row-key template.
    ///
    /// ```
    /// use rowhouse::{DeletedCells, RowRange};
    ///
    /// # async fn example(logs: rowhouse::Table) -> rowhouse::Result<()> {
    /// let of_2019 = RowRange::prefix(b"2019-");
    /// println!("{} rows", logs.delete_rows(of_2019, DeletedCells::Row).run().await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete_rows(&self, range: RowRange, cells: DeletedCells) -> RowDeletion<'_> {
        RowDeletion {
            table: self,
            request: Ok(DeleteRows { cells, ..DeleteRows::new(range) }),
            query: None,
            rest: Rest::All,
            deleted: 0,
        }
    }
}

impl RowDeletion<'_> {
    /// Sets how many rows are deleted at once, in one log record: 1 to 10,000. The default is 500.
    pub fn batch_rows(mut self, rows: u32) -> Self {
        if let Ok(request) = &mut self.request {
            request.batch_rows = rows;
        }
        self
    }

    /// Deletes only cells up to this timestamp; by default all that are there.
    pub fn timestamp(mut self, timestamp: Timestamp) -> Self {
        if let Ok(request) = &mut self.request {
            request.timestamp = timestamp;
        }
        self
    }

    /// Returns the number of deleted rows. A row that no longer matched is not counted, nor is a
    /// row deleted by a call whose answer was lost.
    pub fn deleted(&self) -> u64 {
        self.deleted
    }

    /// Deletes all rows, and returns how many there were.
    ///
    /// # Errors
    /// As [`RowDeletion::step`]. Rows may have been deleted before.
    pub async fn run(mut self) -> Result<u64> {
        while self.step().await? {}
        Ok(self.deleted)
    }

    /// Deletes rows for about a second, or 100 batches; returns true if rows may be left.
    ///
    /// # Errors
    /// As [`Query::rows`] and [`Table::delete`]; `InvalidRequest` for a query with a limit or
    /// another part that a deletion does not have, and a batch size out of bounds; `Unsupported`
    /// for conditions on qualifier fields. After an error, a new deletion goes on.
    pub async fn step(&mut self) -> Result<bool> {
        if matches!(self.rest, Rest::All) {
            self.rest = self.begin().await?;
        }
        match &mut self.rest {
            Rest::None => {}
            Rest::OfKeys(..) => self.delete_keys().await?,
            Rest::All | Rest::InRange => {
                let request = self.request.clone()?;
                let done = self.table.backend().delete_rows(self.table.id(), request).await?;
                self.deleted += done.rows;
                match (done.next, &mut self.request) {
                    (Some(next), Ok(request)) => request.range.start = next,
                    _ => self.rest = Rest::None,
                }
            }
        }
        Ok(!matches!(self.rest, Rest::None))
    }

    /// Checks the request, and decides who finds the rows.
    async fn begin(&mut self) -> Result<Rest> {
        let request = self.request.as_ref().map_err(Clone::clone)?;
        request.check()?;
        let backend = self.table.backend();
        let finds = match backend.side() {
            Side::Embedded(_) => true,
            Side::Cluster(_) => backend.answers_queries().await?,
        };
        if finds {
            if let (Some(query), Some(text)) = (&self.query, &request.query) {
                let index = match &query.by {
                    By::Any => None,
                    By::Key => Some("key"),
                    By::Index(index) => Some(&index[..]),
                };
                if let Some(index) = index {
                    return Err(Error::invalid(format!(
                        "a deletion chooses its index here: leave out index={index}"
                    )));
                }
                query.check_text(text)?;
            }
            return Ok(Rest::InRange);
        }
        let keys = match (self.query.take(), &request.query) {
            (Some(query), _) => {
                Keys::OfQuery(Box::new(Query { keys_only: true, ..query }.rows().await?))
            }
            // Without the query, all rows in the range would be deleted.
            (None, Some(query)) => {
                return Err(Error::invalid(format!(
                    "the first step of this deletion failed, begin a new one: query={query}"
                )));
            }
            (None, None) => Keys::OfScan(Box::new(self.table.scan(request.scan()).await?)),
        };
        Ok(Rest::OfKeys(keys, Vec::new()))
    }

    /// Deletes rows whose keys this client reads.
    async fn delete_keys(&mut self) -> Result<()> {
        let request = self.request.clone()?;
        let started = Instant::now();
        for _ in 0..STEP_BATCHES_MAX {
            let Rest::OfKeys(keys, batch) = &mut self.rest else { return Ok(()) };
            while batch.len() < request.batch_rows as usize
                && let Some(key) = keys.next().await?
            {
                batch.push(request.delete_of(key)?.into());
            }
            let is_last = batch.len() < request.batch_rows as usize;
            let mut failed = None;
            // If this step is dropped or fails, the next one repeats the deletes.
            let outcomes = self.table.batch(batch.clone()).await;
            for (delete, outcome) in std::mem::take(batch).into_iter().zip(outcomes) {
                match outcome {
                    Ok(_) => self.deleted += 1,
                    Err(error) => {
                        batch.push(delete);
                        failed = failed.or(Some(error));
                    }
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
            if is_last {
                self.rest = Rest::None;
                return Ok(());
            }
            if started.elapsed() > STEP_TIME {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns what would remove the same rows at less cost, or most of them. Nothing is read but
    /// the regions' bounds.
    ///
    /// # Errors
    /// As [`RowDeletion::step`], except for errors from deletes.
    pub async fn advice(&self) -> Result<Vec<DeleteAdvice>> {
        let request = self.request.as_ref().map_err(Clone::clone)?;
        let plan = self.query.as_ref().map(Query::delete_plan).transpose()?;
        let has_matches = self.query.as_ref().is_some_and(Query::has_matches);
        let mut advice = Vec::new();
        // A hash in the key does not tell all values apart.
        let is_by_key = |plan: &Plan| plan.is_exact() && plan.candidates().next().is_none();
        let is_whole = request.cells == DeletedCells::Row
            && request.timestamp.is_latest()
            && !has_matches
            && plan.as_ref().is_none_or(is_by_key);
        if is_whole {
            let whole_rows = std::slice::from_ref(&request.range);
            let ranges = plan.as_ref().map_or(whole_rows, Plan::ranges);
            let is_all = |range: &RowRange| range.start.is_empty() && range.stop.is_empty();
            if plan.as_ref().map_or(is_all(&request.range), Plan::reads_whole_table) {
                advice.push(DeleteAdvice::Truncate);
            } else {
                let regions = self.table.regions().await?;
                let covers = |all: &RowRange| ranges.iter().any(|it| it.intersect(all) == *all);
                match regions.iter().filter(|region| covers(&region.range)).count() {
                    0 => {}
                    regions => advice.push(DeleteAdvice::TruncateRegions(regions)),
                }
            }
        }
        if let Some(field) = plan.as_ref().and_then(Plan::age_field).filter(|_| !has_matches) {
            advice.push(DeleteAdvice::TimeToLive(field.to_owned()));
        }
        Ok(advice)
    }
}

impl Keys {
    async fn next(&mut self) -> Result<Option<Bytes>> {
        let copied = Bytes::copy_from_slice;
        Ok(match self {
            Self::OfQuery(rows) => rows.next().await?.map(|row| copied(row.key_bytes())),
            Self::OfScan(rows) => rows.next().await?.map(|row| copied(row.key())),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rowhouse_model::Scan;

    use super::*;
    use crate::observer::{Additions, Observer, RowChange};
    use crate::{Put, TableSpec};

    struct Refusing(Arc<AtomicBool>);

    impl Observer for Refusing {
        fn row_changes(&self, change: &RowChange, _: &mut Additions<'_>) -> Result<()> {
            let is_refused = change.row[..] == b"x3"[..] && self.0.load(Ordering::Relaxed);
            if is_refused { Err(Error::invalid("not now")) } else { Ok(()) }
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_failed_step_of_keys_that_the_client_read_is_repeated() {
        let dir = tempfile::tempdir().unwrap();
        let database = crate::open(dir.path().to_str().unwrap()).await.unwrap();
        let table = database.create_table(TableSpec::new("t").family("d")).await.unwrap();
        for nth in 0..10 {
            let put = Put::new(format!("x{nth}")).unwrap().add("d", "q", "v").unwrap();
            table.put(put).await.unwrap();
        }
        let refuses = Arc::new(AtomicBool::new(true));
        database.observe("t", Refusing(Arc::clone(&refuses))).await.unwrap();
        let mut deletion = table.delete_rows(RowRange::all(), DeletedCells::Row).batch_rows(4);
        let scan = deletion.request.as_ref().unwrap().scan();
        let keys = Keys::OfScan(Box::new(table.scan(scan).await.unwrap()));
        deletion.rest = Rest::OfKeys(keys, Vec::new());
        for _ in 0..2 {
            assert!(deletion.step().await.is_err());
        }
        assert_eq!(deletion.deleted(), 6, "the refused row was not, in two batches of four");
        refuses.store(false, Ordering::Relaxed);
        assert_eq!(deletion.run().await.unwrap(), 10);
        assert_eq!(table.scan(Scan::all()).await.unwrap().collect().await.unwrap(), []);
        database.close().await.unwrap();
    }
}
