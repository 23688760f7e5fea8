//! Queries by the fields of the key.

use std::borrow::Cow;

use rowhouse_model::{Bytes, Columns, Error, Result, Row, RowRange, Scan, TimeRange};
use rowhouse_schema::{KeySchema, NotFitting, Plan, Predicate, TimeZone, Value, Values};

use crate::rows::Rows;
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

    /// Runs it. The ranges of the plan are read one after the other, each at the moment it is
    /// reached.
    ///
    /// # Errors
    /// As [`Query::explain`] and [`Table::scan`].
    pub async fn rows(self) -> Result<QueryRows> {
        let (schema, predicate) = self.asked?;
        let plan = schema.plan_in(&predicate, &self.zone)?;
        let mut rows = QueryRows {
            table: self.table.clone(),
            schema: schema.clone(),
            scan: self.scan,
            left: self.limit.unwrap_or(u64::MAX),
            fitting_only: self.fitting_only,
            next_range: 0,
            current: None,
            not_fitting: 0,
            plan,
        };
        // What the table refuses is told here, not with the first row.
        rows.open_next().await?;
        Ok(rows)
    }
}

/// The rows of a query, in the order of its plan, read as they are asked for.
pub struct QueryRows {
    table: Table,
    schema: KeySchema,
    plan: Plan,
    scan: Scan,
    left: u64,
    fitting_only: bool,
    next_range: usize,
    current: Option<Rows>,
    not_fitting: u64,
}

impl QueryRows {
    /// The next row; `None` behind the last.
    ///
    /// A row in the plan's ranges whose key does not fit the template is no error: it is returned
    /// with its bytes and without values, unless [`Query::fitting_only`] was asked for, and counted.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub async fn next(&mut self) -> Result<Option<QueryRow>> {
        while self.left > 0 {
            let Some(rows) = &mut self.current else { return Ok(None) };
            let Some(row) = rows.next().await? else {
                self.open_next().await?;
                continue;
            };
            if let Some(row) = self.admit(row) {
                self.left -= 1;
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// All rows that are left, in memory.
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub async fn collect(mut self) -> Result<Vec<QueryRow>> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }

    /// How many rows so far had keys that do not fit the template.
    pub fn not_fitting(&self) -> u64 {
        self.not_fitting
    }

    /// How the rows are found.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn admit(&mut self, row: Row) -> Option<QueryRow> {
        let values = self.schema.decode(row.key());
        match &values {
            Ok(values) if !self.plan.matches(values) => return None,
            Ok(_) => {}
            Err(_) => {
                self.not_fitting += 1;
                if self.fitting_only {
                    return None;
                }
            }
        }
        Some(QueryRow { row, values })
    }

    /// Opens the next range, if there is one.
    async fn open_next(&mut self) -> Result<()> {
        let range: Option<&RowRange> = self.plan.ranges().get(self.next_range);
        self.current = match range {
            Some(range) => Some(self.table.scan(self.scan_of(range.clone())).await?),
            None => None,
        };
        self.next_range += 1;
        Ok(())
    }

    fn scan_of(&self, range: RowRange) -> Scan {
        let mut scan = Scan { range, ..self.scan.clone() };
        // Where every row of the range is returned, the limit saves the backend reading ahead.
        let returned = self.plan.is_exact() && !self.fitting_only;
        scan.limit = (returned && self.left < u64::MAX).then_some(self.left);
        scan
    }
}

/// A row of a query: its cells, and its key taken apart.
#[derive(Clone, Debug)]
pub struct QueryRow {
    row: Row,
    values: Result<Values, NotFitting>,
}

impl QueryRow {
    /// A field of the key; `None` if the template has no such field or the key does not fit it.
    pub fn key(&self, field: &str) -> Option<&Value> {
        self.values.as_ref().ok()?.get(field)
    }

    /// All fields of the key, or why it does not fit the template.
    ///
    /// # Errors
    /// The byte at which the key does not fit, and what the template asks for there.
    pub fn values(&self) -> Result<&Values, &NotFitting> {
        self.values.as_ref()
    }

    /// The key's bytes.
    pub fn key_bytes(&self) -> &[u8] {
        self.row.key()
    }

    /// The newest value of a column.
    pub fn bytes(&self, family: &str, qualifier: &str) -> Option<Bytes> {
        self.row.value(family, qualifier)
    }

    /// The newest value of a column as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self, family: &str, qualifier: &str) -> Option<Cow<'_, str>> {
        self.row.cell(family, qualifier).map(|cell| String::from_utf8_lossy(cell.value()))
    }

    /// The newest value of a column that holds a counter.
    ///
    /// # Errors
    /// `InvalidRequest` for a column that holds something else.
    pub fn counter(&self, family: &str, qualifier: &str) -> Result<Option<i64>> {
        self.row.counter(family, qualifier)
    }

    /// The cells.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// The cells, taken.
    pub fn into_row(self) -> Row {
        self.row
    }
}

impl std::fmt::Display for QueryRow {
    /// The fields of the key, or its bytes as HBase prints them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.values {
            Ok(values) => write!(f, "{values}"),
            Err(_) => f.write_str(&rowhouse_model::escape(self.key_bytes())),
        }
    }
}
