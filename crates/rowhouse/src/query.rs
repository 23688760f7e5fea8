//! Queries by the fields of the key, by declared columns, and by the fields of their qualifiers.

mod parts;
mod row;
mod rows;

use rowhouse_model::{Bytes, Columns, Error, Result, Scan, TimeRange};
use rowhouse_schema::{Direction, KeySchema, Plan, Predicate, RowSequence, TimeZone};

pub use row::QueryRow;
pub use rows::QueryRows;

use crate::table::Table;

/// A query, ready to run: made by [`Table::query`]. A mistake in it is told by [`Query::explain`]
/// and [`Query::rows`].
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
    /// What is read of each row.
    scan: Scan,
    limit: Option<u64>,
    offset: u64,
    /// The token of the page that it goes on behind.
    after: Option<String>,
    direction: Direction,
    fitting_only: bool,
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
            fitting_only: false,
        }
    }

    /// Reads a family (and what else is named).
    pub fn family(mut self, family: &str) -> Self {
        self.scan.columns.add_family(family.to_owned());
        self
    }

    /// Reads a column (and what else is named). A row without any of the columns is not found.
    pub fn column(mut self, family: &str, qualifier: &str) -> Self {
        self.add_column(family.to_owned().into(), qualifier.to_owned().into());
        self
    }

    /// Adds a column to what is named; one of a family that is read as a whole is there already.
    fn add_column(&mut self, family: Bytes, qualifier: Bytes) {
        let columns = &mut self.scan.columns;
        if columns.is_all() || !columns.has_column(&family, &qualifier) {
            columns.add_column(family, qualifier);
        }
    }

    /// Reads a declared column by its name (and what else is named); of a name that many qualifiers have, the
    /// whole family, of which conditions on the fields of its qualifiers leave those that fit.
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

    /// Reads these columns instead of those named before. What only conditions on columns need is read too,
    /// and not shown; cells that conditions on the fields of qualifiers (`price.at`) ask for are shown beside them.
    pub fn columns(mut self, columns: Columns) -> Self {
        self.scan.columns = columns;
        self
    }

    /// Looks only at cells with timestamps inside `range`.
    pub fn time_range(mut self, range: TimeRange) -> Self {
        self.scan.time_range = range;
        self
    }

    /// Reads up to `versions` versions of each column; 1 by default.
    pub fn versions(mut self, versions: u32) -> Self {
        self.scan.versions = versions;
        self
    }

    /// Stops after `rows` rows.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Leaves out the first rows, which are read all the same: a page far behind costs all before it.
    /// [`Query::after`] does not.
    pub fn offset(mut self, rows: u64) -> Self {
        self.offset = rows;
        self
    }

    /// Goes on behind a page, with the [`Page::next`] that came with it. The token holds where the page
    /// ended, and nothing is kept for it anywhere: it is good as long as the table has its template, after
    /// rows came and went, regions split and servers started again.
    pub fn after(mut self, token: &str) -> Self {
        self.after = Some(token.to_owned());
        self
    }

    /// Gives the rows from the last to the first. Limits, offsets and pages count from there; a page is
    /// gone on with in the direction it was read in.
    pub fn reversed(mut self) -> Self {
        self.direction = Direction::Reverse;
        self.scan.reversed = true;
        self
    }

    /// The zone of times in the query that name none and are of a field that names none (`tz`); UTC by default.
    pub fn zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }

    /// Leaves out rows whose keys do not fit the template. They are still counted, by
    /// [`QueryRows::not_fitting`].
    pub fn fitting_only(mut self) -> Self {
        self.fitting_only = true;
        self
    }

    /// How the rows would be found: the plan prints itself.
    ///
    /// # Errors
    /// As [`Table::key_schema`] and [`Predicate::parse`]; `InvalidRequest` for a name that is neither a field
    /// of the key nor a column, or a value that it cannot have.
    pub fn explain(&self) -> Result<Plan> {
        let (schema, predicate) = match &self.asked {
            Ok(asked) => asked,
            Err(error) => return Err(Error::new(error.kind(), error.message())),
        };
        let plan = self.table.declared_columns().plan(schema, predicate, &self.zone)?;
        match &self.after {
            Some(token) => plan.resume(token, self.direction),
            None => Ok(plan),
        }
    }

    /// Runs it. The ranges of the plan are read one after the other, each at the moment it is reached;
    /// where rows are spread over buckets, one range of each bucket at a time, beginning with all of them
    /// at once, and the rows come in the order of the key without its computed fields.
    ///
    /// Where conditions on the fields of qualifiers make a scan of their own necessary, beside one of the other
    /// families, a database in this process reads all of the query at one moment, for an hour at most; on a cluster a row
    /// that is changed between the scans may be given half old and half new.
    ///
    /// # Errors
    /// As [`Query::explain`] and [`Table::scan`].
    pub async fn rows(self) -> Result<QueryRows> {
        let plan = self.explain()?;
        self.read(plan).await
    }

    /// Reads what a plan of the query says.
    async fn read(self, plan: Plan) -> Result<QueryRows> {
        let (schema, _) = self.asked?;
        let limit = self.limit.unwrap_or(u64::MAX).saturating_add(self.offset);
        let open = QueryRows::open(self.table, schema, plan, self.scan, limit, self.fitting_only);
        let mut rows = open.await?;
        for _ in 0..self.offset {
            if rows.next().await?.is_none() {
                break;
            }
        }
        Ok(rows)
    }

    /// Reads a page of so many rows, and tells how to go on behind it. Where rows are merged from buckets,
    /// those whose keys do not fit the template are left out: they have no place that a next page could
    /// begin behind.
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
    /// As [`Query::rows`]; `InvalidRequest` for a token that was damaged, or made for another query or
    /// template.
    pub async fn page(mut self, rows: usize) -> Result<Page> {
        let plan = self.explain()?;
        let fitting_only = self.fitting_only || plan.order().sequence() == RowSequence::Merged;
        self.fitting_only = fitting_only;
        let direction = self.direction;
        // One more tells whether there is a next page.
        let wanted = (rows as u64).saturating_add(1);
        let limit = self.limit.map_or(wanted, |limit| limit.min(wanted));
        let mut reading = self.limit(limit).read(plan).await?;
        let mut found = Vec::new();
        while let Some(row) = reading.next().await? {
            found.push(row);
        }
        let more = found.len() > rows;
        found.truncate(rows);
        let token = |last: &QueryRow| reading.plan().page_token(last.key_bytes(), direction);
        let next = found.last().filter(|_| more).map(token).transpose()?;
        let left_out = if fitting_only { reading.not_fitting() } else { 0 };
        Ok(Page { rows: found, next, left_out, unreadable: reading.unreadable() })
    }
}

/// Some rows of a query, and how to go on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page {
    /// The rows, in the order of the query.
    pub rows: Vec<QueryRow>,
    /// What [`Query::after`] takes for the next page; nothing behind the last row.
    pub next: Option<String>,
    /// How many rows were met and left out, for keys that do not fit the template. The next page may
    /// meet some of them again.
    pub left_out: u64,
    /// How many rows were met and left out, for a column asked for that is no value of its type.
    pub unreadable: u64,
}
