//! Queries by the fields of the key.

mod row;
mod rows;

use rowhouse_model::{Columns, Error, Result, Scan, TimeRange};
use rowhouse_schema::{KeySchema, Plan, Predicate, TimeZone};

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
        self.scan.columns.add_column(family.to_owned(), qualifier.to_owned());
        self
    }

    /// Reads these columns instead of those named before.
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

    /// The zone of times in the query that name none; UTC by default.
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
    /// As [`Table::key_schema`] and [`Predicate::parse`]; `InvalidRequest` for a field that the key
    /// does not have or a value that it cannot have.
    pub fn explain(&self) -> Result<Plan> {
        match &self.asked {
            Ok((schema, predicate)) => schema.plan_in(predicate, &self.zone),
            Err(error) => Err(Error::new(error.kind(), error.message())),
        }
    }

    /// Runs it. The ranges of the plan are read one after the other, each at the moment it is reached;
    /// where rows are spread over buckets, one range of each bucket at a time, beginning with all of them
    /// at once, and the rows come in the order of the key without its computed fields.
    ///
    /// # Errors
    /// As [`Query::explain`] and [`Table::scan`].
    pub async fn rows(self) -> Result<QueryRows> {
        let (schema, predicate) = self.asked?;
        let plan = schema.plan_in(&predicate, &self.zone)?;
        let limit = self.limit.unwrap_or(u64::MAX);
        QueryRows::open(self.table, schema, plan, self.scan, limit, self.fitting_only).await
    }
}
