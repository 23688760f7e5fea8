//! Queries by key fields, by declared columns, and by fields in column qualifiers: their rows and
//! pages, predicates given as values, and plans.
//!
//! What does a query read, before it reads anything?
//!
//! ```
//! use rowhouse::TableSpec;
//! use rowhouse::query::Predicate;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
//! let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
//! let mail = database.create_table(spec).await?;
//!
//! let plan = mail.query("user = 'bob' and at during 2022-12").explain()?;
//! assert_eq!(plan.ranges().len(), 1);
//! assert!(plan.is_exact());
//! assert!(mail.query("at during 2022-12").explain()?.reads_whole_table());
//!
//! // The same query, with values of the program.
//! let asked = Predicate::all().eq("user", "bob").during("at", "2022-12")?;
//! assert_eq!(mail.query_where(asked).explain()?.ranges(), plan.ranges());
//! # database.close().await
//! # }
//! ```

mod access;
mod analyze;
pub mod delete;
#[cfg(not(feature = "search"))]
mod no_search;
mod row;
mod rows;
#[cfg(feature = "search")]
mod search;
mod source;
mod transact;

use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, Error, Result, Scan, TimeRange};
use rowhouse_query::{
    EntryOrder, IndexQuery, IndexRows, KeyQuery, PlanRows, Projection, ReadFrom, Written,
    add_condition_columns,
};
use rowhouse_schema::{KeySchema, TimeZone};
use rowhouse_store::ReadTrace;

pub use crate::analysis::{Analysis, StepTime};
pub use row::QueryRow;
pub use rowhouse_query::{Access, AccessPath};
pub use rowhouse_schema::{
    ColumnFilter, Direction, Estimate, EstimatedRows, FieldOrder, IndexPlan, OrderedField, Plan,
    PlanOrder, PlanPart, PlanStream, Predicate, QualifierPlan, QualifierRange, RANGES_MAX,
    Residual, RowSequence, Statistics, StreamMerge,
};
pub use rowhouse_store::{
    FamilyReads, FileReads, RangeEstimate, ReadReport, ReadTotals, RegionReads, TableReads,
};
pub use rows::QueryRows;

#[cfg(feature = "search")]
pub use search::{Facet, Snippet};

use rows::RowsOf;
#[cfg(feature = "search")]
use search::SearchOrder;
use source::TableSource;

use crate::table::Table;

/// A query built by [`Table::query`]. [`Query::explain`] and [`Query::rows`] report mistakes in it.
///
/// ```
/// # use rowhouse::{Result, Table};
/// # async fn example(blog: Table) -> Result<()> {
/// let query = blog.query("blogger = '123' and at during 2022-12").column("cf", "title").limit(10);
/// println!("{}", query.explain()?);
/// let mut posts = query.rows().await?;
/// while let Some(post) = posts.next().await? {
///     println!("{} {}", post, post.text("cf", "title").unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a query does nothing before `rows`"]
pub struct Query<'t> {
    table: &'t Table,
    asked: Result<(&'t KeySchema, Predicate)>,
    zone: TimeZone,
    /// The columns, versions and time range to read from each row.
    scan: Scan,
    limit: Option<u64>,
    offset: u64,
    /// The page token after which the query resumes.
    after: Option<String>,
    direction: Direction,
    with_misfits: bool,
    keys_only: bool,
    by: By,
    #[cfg(feature = "search")]
    search_order: SearchOrder,
    /// The trace to which the reads add, if the query is analyzed.
    trace: Option<Arc<ReadTrace>>,
}

/// How rows are to be read.
enum By {
    /// As reads least.
    Any,
    Key,
    /// By the index with this name.
    Index(String),
}

impl<'t> Query<'t> {
    pub(crate) fn new(table: &'t Table, predicate: Result<Predicate>) -> Self {
        Self {
            table,
            asked: predicate.and_then(|predicate| Ok((table.key_schema()?, predicate))),
            zone: TimeZone::UTC,
            scan: Scan::all(),
            limit: None,
            offset: 0,
            after: None,
            direction: Direction::Forward,
            with_misfits: false,
            keys_only: false,
            by: By::Any,
            #[cfg(feature = "search")]
            search_order: SearchOrder::Key,
            trace: None,
        }
    }

    /// Adds a family to the columns to read.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let page = mail.query("user = 'bob'").family("d").page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn family(mut self, family: &str) -> Self {
        self.scan.columns.add_family(family.to_owned());
        self
    }

    /// Adds a column to the columns to read. Rows that have no such column are not returned.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let subjects = mail.query("user = 'bob'").column("d", "subject").page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn column(mut self, family: &str, qualifier: &str) -> Self {
        self.add_column(family.to_owned().into(), qualifier.to_owned().into());
        self
    }

    /// Adds a column, unless the whole family is already included.
    fn add_column(&mut self, family: Bytes, qualifier: Bytes) {
        let columns = &mut self.scan.columns;
        if columns.is_all() || !columns.has_column(&family, &qualifier) {
            columns.add_column(family, qualifier);
        }
    }

    /// Adds a declared column to the columns to read, by name. If the column's qualifiers contain
    /// data, this adds the whole family; conditions on the qualifiers' fields restrict it to the
    /// matching cells.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// for row in mail.query("user = 'bob'").named("subject").page(50).await?.rows {
    ///     println!("{:?}", row.column("subject")?);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn named(mut self, name: &str) -> Self {
        match self.table.column_schema().and_then(|columns| columns.column(name)) {
            Ok(column) => {
                let family = Bytes::copy_from_slice(column.family());
                match column.qualifier() {
                    Some(qualifier) => {
                        let qualifier = Bytes::copy_from_slice(qualifier);
                        self.add_column(family, qualifier);
                    }
                    None => self.scan.columns.add_family(family),
                }
            }
            Err(error) => self.asked = self.asked.and(Err(error)),
        }
        self
    }

    /// Replaces the columns to read. Columns needed only by conditions are read too but not
    /// returned. Cells selected by conditions on qualifier fields (`price.at`) are returned in
    /// addition.
    ///
    /// ```
    /// # use rowhouse::{Columns, Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let mut columns = Columns::all();
    /// columns.add_column("d", "subject");
    /// let page = mail.query("user = 'bob' and size > 10000").columns(columns).page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn columns(mut self, columns: Columns) -> Self {
        self.scan.columns = columns;
        self
    }

    /// Reads only cells with timestamps inside `range`.
    ///
    /// ```
    /// # use rowhouse::{Result, Table, TimeRange, Timestamp};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let start = Timestamp::from_millis(1_640_995_200_000)?;
    /// let stop = Timestamp::from_millis(1_672_531_200_000)?;
    /// let written_in_2022 = TimeRange::new(start, stop)?;
    /// let page = mail.query("user = 'bob'").time_range(written_in_2022).page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn time_range(mut self, range: TimeRange) -> Self {
        self.scan.time_range = range;
        self
    }

    /// Reads up to `versions` versions for each column; the default is 1.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// for row in mail.query("user = 'bob'").versions(3).page(50).await?.rows {
    ///     row.row().cells().for_each(|cell| println!("{} {:?}", cell.timestamp(), cell.value()));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn versions(mut self, versions: u32) -> Self {
        self.scan.versions = versions;
        self
    }

    /// Stops after `rows` rows.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let newest = mail.query("user = 'bob'").limit(10).rows().await?.collect().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Skips the first `rows` rows. They are still read, so a distant page costs as much as all
    /// pages before it; [`Query::after`] avoids this.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let third_page = mail.query("user = 'bob'").offset(100).page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn offset(mut self, rows: u64) -> Self {
        self.offset = rows;
        self
    }

    /// Resumes after a page, with the token in [`Page::next`]. The token encodes where the page
    /// ends, and no other state is retained. It stays valid while the table's template does not
    /// change, even if rows are added and deleted, regions split or servers restart. See
    /// [`Query::page`].
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let page = mail.query("user = 'bob'").page(50).await?;
    /// if let Some(token) = &page.next {
    ///     // The token may have been sent to a browser and back.
    ///     let next = mail.query("user = 'bob'").after(token).page(50).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn after(mut self, token: &str) -> Self {
        self.after = Some(token.to_owned());
        self
    }

    /// Returns the rows in reverse order. Limits, offsets and pages count from the end. A page
    /// token resumes only in the direction it was created in.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let oldest = mail.query("user = 'bob'").reversed().limit(1).rows().await?.next().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reversed(mut self) -> Self {
        self.direction = Direction::Reverse;
        self.scan.reversed = true;
        self
    }

    /// Sets the time zone for times in the query that name no zone, in fields that name none
    /// (`tz`); the default is UTC.
    ///
    /// ```
    /// # use rowhouse::{Result, Table, key::TimeZone};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let zone = TimeZone::get("Asia/Shanghai").expect("a zone of the IANA database");
    /// let today = mail.query("user = 'bob' and at during 2022-12-24").zone(zone).page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }

    /// Also returns rows in the ranges whose keys do not fit the template. Conditions on key fields
    /// do not apply to them. Without this, such rows are only counted: [`QueryRows::not_fitting`].
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let mut rows = mail.query("user = 'bob'").with_misfits().rows().await?;
    /// while let Some(row) = rows.next().await? {
    ///     match row.values() {
    ///         Ok(values) => println!("{values}"),
    ///         Err(why) => println!("{row}: {why}"),
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_misfits(mut self) -> Self {
        self.with_misfits = true;
        self
    }

    /// Reads by this index, in index order. Limits, offsets and pages count in this order, and a
    /// page token is valid only for the same index.
    ///
    /// Without this, an embedded database reads by an index if that reads much less, and the rows
    /// come in key order. A cluster is read by an index only with this. It has no read points: each
    /// row is read after the entry that leads to it, and is returned only if it matches then. A row
    /// that changes during the query is returned as it was at some time, or missed if it moves from
    /// an entry not yet read to one that was passed.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// // What are the ten largest mails?
    /// let mut mails = mail.query("size > 0").using("by_size").limit(10).rows().await?;
    /// while let Some(mail) = mails.next().await? {
    ///     println!("{mail}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn using(mut self, index: &str) -> Self {
        self.by = By::Index(index.to_owned());
        self
    }

    /// Reads by the key, not by an index.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let page = mail.query("sender = 'eve'").using_key().page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn using_key(mut self) -> Self {
        self.by = By::Key;
        self
    }

    /// Returns the query plan by the key, which can be printed.
    ///
    /// ```
    /// # fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let plan = mail.query("user = 'bob' and at during 2022-12").explain()?;
    /// assert!(!plan.reads_whole_table(), "{plan}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::key_schema`] and [`Predicate::parse`]; `InvalidRequest` for a name that is
    /// neither a key field nor a column, and for a value that does not fit the type.
    pub fn explain(&self) -> Result<Plan> {
        let (schema, predicate) = match &self.asked {
            Ok(asked) => asked,
            Err(error) => return Err(error.clone()),
        };
        let plan = self.table.declared_columns().plan(schema, predicate, &self.zone)?;
        match (&self.after, &self.by) {
            (Some(token), By::Any | By::Key) => plan.resume(token, self.direction),
            // The token is an index token.
            (Some(_), By::Index(_)) | (None, _) => Ok(plan),
        }
    }

    /// How many rows to read.
    fn rows_max(&self) -> u64 {
        self.limit.unwrap_or(u64::MAX).saturating_add(self.offset)
    }

    /// Estimates how much is stored in the plan's ranges, in the families to read, without reading
    /// it; `None` on a cluster, which has no such call. Takes microseconds to a few milliseconds,
    /// and more if files are read for the first time.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let query = mail.query("user = 'bob'");
    /// if let Some(stored) = query.estimate().await? {
    ///     println!("about {} cells, {} bytes", stored.cells, stored.bytes);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::explain`] and [`Table::scan`].
    pub async fn estimate(&self) -> Result<Option<RangeEstimate>> {
        let plan = self.explain()?;
        let mut columns = self.scan.columns.clone();
        add_condition_columns(&mut columns, &plan);
        self.table.estimate(plan.ranges(), &columns).await
    }

    /// Runs the query. The plan's ranges are read one after the other, each at a read point taken
    /// when it is reached. If rows are spread over buckets, all buckets are read concurrently, one
    /// range from each at a time, and their rows are merged into key order without the computed key
    /// fields.
    ///
    /// Conditions on qualifier fields may require a separate scan for their family. An embedded
    /// database then reads the whole query at one read point, which it holds for at most an hour.
    /// On a cluster, a row changed between the scans may be returned with old cells from one family
    /// and new cells from another.
    ///
    /// ```
    /// use futures_util::TryStreamExt;
    ///
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let mut rows = mail.query("user = 'bob'").rows().await?;
    /// while let Some(row) = rows.next().await? {
    ///     println!("{row}");
    /// }
    ///
    /// // As a stream.
    /// let rows = mail.query("user = 'bob'").rows().await?;
    /// let keys: Vec<String> = rows.map_ok(|row| row.to_string()).try_collect().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::explain`] and [`Table::scan`].
    pub async fn rows(self) -> Result<QueryRows> {
        if self.has_matches() {
            return self.search_rows().await;
        }
        self.check_order()?;
        let plan = self.explain()?;
        self.read(plan).await
    }

    /// Returns the row count, without the cells. A query with `matches` takes it from the index;
    /// any other reads the rows. Limits and pages do not apply.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// println!("{} mails", mail.query("user = 'bob'").count().await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`].
    pub async fn count(self) -> Result<u64> {
        if self.has_matches() {
            return self.search_count().await;
        }
        let mut query = Self { keys_only: true, ..self };
        (query.limit, query.offset, query.after) = (None, 0, None);
        let mut rows = query.rows().await?;
        let mut count = 0;
        while rows.next().await?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Returns the row keys, in row order. A query with `matches` takes them from the index and
    /// reads no cells; any other reads the rows.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let keys = mail.query("user = 'bob'").limit(10).keys().await?;
    /// let gets = keys.into_iter().map(rowhouse::Get::new).collect::<Result<_, _>>()?;
    /// let mails = mail.get_many(gets).await;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`].
    pub async fn keys(self) -> Result<Vec<Bytes>> {
        if self.has_matches() {
            return self.search_keys().await;
        }
        let mut rows = Self { keys_only: true, ..self }.rows().await?;
        let mut keys = Vec::new();
        while let Some(row) = rows.next().await? {
            keys.push(Bytes::copy_from_slice(row.key_bytes()));
        }
        Ok(keys)
    }

    /// Reads a page with up to `rows` keys, with a token for the next page, as [`Query::page`]
    /// does. A query with `matches` takes them from the index and reads no cells; any other reads
    /// the rows.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let page = mail.query("body matches 'hbase'").by_score().keys_page(50).await?;
    /// if let Some(token) = &page.next {
    ///     let rows = mail.query("body matches 'hbase'").by_score().after(token).page(50).await?;
    ///     println!("{} more", rows.rows.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::page`].
    pub async fn keys_page(self, rows: usize) -> Result<KeysPage> {
        if self.has_matches() {
            return self.search_keys_page(rows).await;
        }
        let by_key = Self { keys_only: true, ..self };
        let Page { rows, next, left_out, unreadable } = by_key.page(rows).await?;
        let keys = rows.iter().map(|row| Bytes::copy_from_slice(row.key_bytes())).collect();
        Ok(KeysPage { keys, next, left_out, unreadable })
    }

    /// Refuses an order that only a query with `matches` has.
    fn check_order(&self) -> Result<()> {
        #[cfg(feature = "search")]
        if self.search_order != SearchOrder::Key {
            return Err(Error::invalid(
                "only a query with `matches` has rows by score or by a field",
            ));
        }
        Ok(())
    }

    /// Runs the query, given the plan by the key.
    async fn read(self, plan: Plan) -> Result<QueryRows> {
        let access = self.access(plan.clone(), self.rows_max(), false).await?;
        self.read_by(access, plan).await
    }

    /// Runs the query in the chosen way, given the plan by the key.
    async fn read_by(self, mut access: Access, plan: Plan) -> Result<QueryRows> {
        let limit = self.rows_max();
        let offset = self.offset;
        let by_index = match access.take_index() {
            Some((index, order)) => self.open_index(index, order, plan.clone(), limit).await?,
            None => None,
        };
        let mut rows = match by_index {
            Some(rows) => rows,
            None => {
                let source = match (self.by_server(&plan).await?, self.traced_point().await?) {
                    (Some(query), _) => TableSource::server(self.table, query),
                    (None, Some(point)) => TableSource::at(self.table, point),
                    (None, None) => {
                        TableSource::by_key(self.table, &plan, &self.projection()).await?
                    }
                };
                let table = self.table;
                let open = PlanRows::open(source, ReadFrom::Rows, self.key_query(plan)?);
                QueryRows::new(table, RowsOf::Plan(Box::new(open.await?)))
            }
        };
        for _ in 0..offset {
            if rows.next().await?.is_none() {
                break;
            }
        }
        Ok(rows)
    }

    /// Opens the query's rows by an index. Returns `None` if the query is to be read by the key
    /// after all.
    async fn open_index(
        &self,
        plan: IndexPlan,
        order: EntryOrder,
        key_plan: Plan,
        limit: u64,
    ) -> Result<Option<QueryRows>> {
        let query = self.index_query(plan, order, key_plan, limit)?;
        let opened = match (self.open_now(query).await, &self.by) {
            // It may have been dropped meanwhile; the read by the key reports other errors.
            (Err(_), By::Any) => None,
            (opened, _) => opened?,
        };
        match opened {
            Some(rows) => Ok(Some(QueryRows::new(self.table, RowsOf::Index(Box::new(rows))))),
            None => self.by_key_instead().map(|()| None),
        }
    }

    /// Opens a query's rows by an index at the current read point. Returns `None` if the index is
    /// not ready now, or has more entries than are to be sorted.
    async fn open_now(&self, query: IndexQuery) -> Result<Option<IndexRows<TableSource>>> {
        let backend = self.table.backend();
        let at = backend.index_read_point(self.table.id(), query.plan.index()).await?;
        if at.is_none() && backend.has_read_points() {
            return Ok(None);
        }
        let written = match at {
            Some(_) => Written::default(),
            None => self.written_by_clients(&query).await?,
        };
        let at = match &self.trace {
            Some(trace) => at.map(|at| at.traced(trace)),
            None => at,
        };
        let source = TableSource::by_index(self.table, query.plan.index(), at)?;
        let rows = IndexRows::open(source, query, written).await?;
        Ok(match self.by {
            By::Any => rows.map(IndexRows::or_by_key),
            By::Key | By::Index(_) => rows,
        })
    }

    /// What is returned from each row.
    fn projection(&self) -> Projection {
        Projection { columns: self.scan.columns.clone(), keys_only: self.keys_only }
    }

    /// Returns the query for a plan by the key.
    fn key_query(self, plan: Plan) -> Result<KeyQuery> {
        let limit = self.rows_max();
        let Self { asked, scan, keys_only, with_misfits, .. } = self;
        Ok(KeyQuery { key: asked?.0.clone(), plan, scan, keys_only, limit, with_misfits })
    }

    /// Reads the rows that clients are writing, where these maintain the index. They are read
    /// before the entries: the entries from a write that has ended are there.
    async fn written_by_clients(&self, query: &IndexQuery) -> Result<Written> {
        let Some(rows) = self.table.backend().unsettled_rows(self.table.name()).await? else {
            return Ok(Written::default());
        };
        let mut written = Written::new(rows.into_iter().collect(), true);
        let rows = self.table.get_many(written.gets(&query.plan)?).await;
        let rows = rows.into_iter().collect::<Result<_>>()?;
        written.add_rows(&query.plan, &query.entries, rows)?;
        Ok(written)
    }

    fn index_query(
        &self,
        plan: IndexPlan,
        order: EntryOrder,
        key_plan: Plan,
        limit: u64,
    ) -> Result<IndexQuery> {
        let entries = match (&self.after, order) {
            (Some(token), EntryOrder::Index) => plan.plan().resume(token, self.direction)?,
            _ => plan.plan().clone(),
        };
        let direction = self.direction;
        let projection = self.projection();
        let key = self.table.key_schema()?.clone();
        let columns = self.table.declared_columns();
        let columns = columns.declared().cloned();
        Ok(IndexQuery {
            key,
            columns,
            plan,
            entries,
            order,
            key_plan,
            direction,
            projection,
            limit,
        })
    }

    /// Refuses to read by the key what names an index.
    fn by_key_instead(&self) -> Result<()> {
        match &self.by {
            By::Index(name) => Err(Error::invalid(format!(
                "index {name} cannot serve the query: it was altered meanwhile"
            ))),
            By::Any | By::Key => Ok(()),
        }
    }

    /// Reads a page with up to `rows` rows, with a token for the next page. If rows are merged from
    /// buckets, rows whose keys do not fit the template are omitted even with
    /// [`Query::with_misfits`]: they have no position in the order at which a next page could
    /// resume.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let mails = || mail.query("user = 'bob'");
    /// let first = mails().page(50).await?;
    /// if let Some(token) = &first.next {
    ///     let second = mails().after(token).page(50).await?;
    ///     println!("{} more", second.rows.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`]; `InvalidRequest` for a token that is damaged or belongs to another query
    /// or template.
    pub async fn page(mut self, rows: usize) -> Result<Page> {
        if self.has_matches() {
            return self.search_page(rows).await;
        }
        self.check_order()?;
        let plan = self.explain()?;
        self.with_misfits &= plan.order().sequence() != RowSequence::Merged;
        let with_misfits = self.with_misfits;
        let direction = self.direction;
        // One additional row shows whether there is a next page.
        let wanted = (rows as u64).saturating_add(1);
        let limit = self.limit.map_or(wanted, |limit| limit.min(wanted));
        let mut reading = self.limit(limit).read(plan).await?;
        let mut found = Vec::new();
        while let Some(row) = reading.next().await? {
            found.push(row);
        }
        let more = found.len() > rows;
        found.truncate(rows);
        let token = |last: &QueryRow| reading.page_token(last, direction);
        let next = found.last().filter(|_| more).map(token).transpose()?;
        let left_out = if with_misfits { 0 } else { reading.not_fitting() };
        Ok(Page { rows: found, next, left_out, unreadable: reading.unreadable() })
    }
}

/// A page of row keys from a query, and the token for the next one.
///
/// ```
/// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
/// let page = mail.query("user = 'bob'").keys_page(50).await?;
/// println!("{} keys, {}", page.keys.len(), if page.next.is_some() { "more" } else { "the end" });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeysPage {
    /// The keys, in query order.
    pub keys: Vec<Bytes>,
    /// The token for [`Query::after`], also from a page with rows; `None` after the last row.
    pub next: Option<String>,
    /// As [`Page::left_out`].
    pub left_out: u64,
    /// As [`Page::unreadable`].
    pub unreadable: u64,
}

/// A page with a query's rows and the token for the next one.
///
/// ```
/// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
/// let page = mail.query("user = 'bob'").page(50).await?;
/// page.rows.iter().for_each(|row| println!("{row}"));
/// println!("{}", if page.next.is_some() { "more" } else { "the end" });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The rows, in query order.
    pub rows: Vec<QueryRow>,
    /// The token for [`Query::after`]; `None` after the last row.
    pub next: Option<String>,
    /// How many rows were omitted because their keys do not fit the template. The next page may
    /// count some rows again.
    pub left_out: u64,
    /// How many rows were omitted because a column used in a condition holds an invalid value for
    /// the column type.
    pub unreadable: u64,
}

impl Table {
    /// Builds a query with conditions on key fields and declared columns, for example `blogger =
    /// '123' and at during 2022-12 and likes > 5`. Conditions on qualifier fields, for example
    /// `price.at during 2022-12`, select part of a wide row. Running the query reports mistakes in
    /// it.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// for row in mail.query("user = 'bob' and size > 10000").page(10).await?.rows {
    ///     println!("{row}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn query(&self, query: &str) -> Query<'_> {
        Query::new(self, Predicate::parse(query))
    }

    /// Builds a query from a predicate whose conditions are given as values.
    ///
    /// ```
    /// use rowhouse::query::Predicate;
    ///
    /// // How is a user's input used without quoting it?
    /// # async fn example(mail: rowhouse::Table, user: String) -> rowhouse::Result<()> {
    /// let page = mail.query_where(Predicate::all().eq("user", user)).page(50).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn query_where(&self, predicate: Predicate) -> Query<'_> {
        Query::new(self, Ok(predicate))
    }
}
