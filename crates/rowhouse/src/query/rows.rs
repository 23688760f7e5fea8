//! Query rows, read by the key or by an index.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use rowhouse_model::{Bytes, Result};
use rowhouse_query::{IndexRows, PlanRows};
use rowhouse_schema::{Direction, Plan};

use super::QueryRow;
#[cfg(not(feature = "search"))]
use super::no_search::SearchRows;
#[cfg(feature = "search")]
use super::search::SearchRows;
use super::source::TableSource;
use crate::declared::DeclaredColumns;
use crate::table::Table;

/// A query's rows, in the query's order or reversed, read on demand. [`QueryRows::next`] returns
/// them one by one, [`QueryRows::collect`] returns all; as a [`Stream`] they are used with
/// combinators from other crates.
///
/// ```
/// use futures_util::{StreamExt, TryStreamExt};
///
/// // How are rows handled eight at a time, in their order?
/// # async fn send(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> { Ok(()) }
/// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
/// let rows = mail.query("user = 'bob'").rows().await?;
/// let sent = rows.map(async |row| send(row?).await).buffered(8);
/// sent.try_for_each(async |()| Ok(())).await?;
/// # Ok(())
/// # }
/// ```
pub struct QueryRows {
    rows: RowsOf,
    columns: Arc<DeclaredColumns>,
}

/// How the rows are read.
pub(super) enum RowsOf {
    /// The ranges in the plan by the key.
    Plan(Box<PlanRows<TableSource>>),
    /// The entries in an index, and the rows to which they lead.
    Index(Box<IndexRows<TableSource>>),
    /// The rows that a full-text index finds.
    Search(Box<SearchRows>),
}

impl QueryRows {
    pub(super) fn new(table: &Table, rows: RowsOf) -> Self {
        Self { rows, columns: Arc::clone(table.declared_columns()) }
    }

    /// Returns the next row, or `None` after the last. The method is cancel-safe: a caller that
    /// drops the future and calls again misses no row.
    ///
    /// A row whose key does not fit the template is not an error: it is counted and left out. With
    /// [`Query::with_misfits`] it is returned, with the bytes and without values. Among rows merged
    /// from several buckets such a row has no defined position; it is returned when it is read.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let mut rows = mail.query("user = 'bob'").rows().await?;
    /// while let Some(row) = rows.next().await? {
    ///     println!("{row} {}", row.text("d", "subject").unwrap_or_default());
    /// }
    /// println!("keys of no template: {}", rows.not_fitting());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`crate::Rows::next`]; the rows end with the first.
    ///
    /// [`Query::with_misfits`]: super::Query::with_misfits
    pub async fn next(&mut self) -> Result<Option<QueryRow>> {
        poll_fn(|context| self.poll_row(context)).await
    }

    fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<QueryRow>>> {
        let found = match &mut self.rows {
            RowsOf::Plan(rows) => rows.poll_row(context),
            RowsOf::Index(rows) => rows.poll_row(context),
            RowsOf::Search(rows) => return rows.poll_row(context),
        };
        let with_columns = |found| QueryRow::new(found, Arc::clone(&self.columns));
        found.map_ok(|row| row.map(with_columns))
    }

    /// Takes the rows that were read for entries, if they were noted.
    pub(super) fn take_noted(&mut self) -> Vec<Bytes> {
        match &mut self.rows {
            RowsOf::Plan(_) | RowsOf::Search(_) => Vec::new(),
            RowsOf::Index(rows) => rows.take_noted(),
        }
    }

    /// Returns the token for a page that ends with this row.
    pub(super) fn page_token(&self, last: &QueryRow, direction: Direction) -> Result<String> {
        match (&self.rows, &last.found.entry) {
            (RowsOf::Index(rows), Some(entry)) => rows.entry_plan().page_token(entry, direction),
            _ => self.plan().page_token(last.key_bytes(), direction),
        }
    }

    /// Reads all remaining rows into memory.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let rows = mail.query("user = 'bob'").limit(100).rows().await?.collect().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`crate::Rows::next`].
    pub async fn collect(mut self) -> Result<Vec<QueryRow>> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }

    /// Returns how many rows so far were omitted because a column used in a condition holds an
    /// invalid value for the column type. An index leads only to some of these rows.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let mut rows = mail.query("size > 10000").rows().await?;
    /// while let Some(row) = rows.next().await? {
    ///     println!("{row}");
    /// }
    /// println!("rows whose size is no number: {}", rows.unreadable());
    /// # Ok(())
    /// # }
    /// ```
    pub fn unreadable(&self) -> u64 {
        match &self.rows {
            RowsOf::Plan(rows) => rows.unreadable(),
            RowsOf::Index(rows) => rows.unreadable(),
            RowsOf::Search(_) => 0,
        }
    }

    /// Returns how many rows so far had keys that do not fit the template, whether or not they were
    /// returned. Rows rejected by conditions on columns are not counted. An index does not lead to
    /// these rows.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let mut rows = mail.query("user = 'bob'").rows().await?;
    /// while rows.next().await?.is_some() {}
    /// println!("keys of no template: {}", rows.not_fitting());
    /// # Ok(())
    /// # }
    /// ```
    pub fn not_fitting(&self) -> u64 {
        match &self.rows {
            RowsOf::Plan(rows) => rows.not_fitting(),
            // Such rows have neither entries nor documents.
            RowsOf::Index(_) | RowsOf::Search(_) => 0,
        }
    }

    /// Returns how many words in the full-text index texts are too long to be indexed, and so are
    /// not found: more than 32,766 bytes. A word counts for each analyser, and may count again
    /// where the row changed. 0 for a query without `matches`.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let rows = mail.query("body matches 'hbase'").rows().await?;
    /// println!("words that no search finds: {}", rows.long_words());
    /// # Ok(())
    /// # }
    /// ```
    pub fn long_words(&self) -> u64 {
        match &self.rows {
            RowsOf::Plan(_) | RowsOf::Index(_) => 0,
            RowsOf::Search(rows) => rows.long_words(),
        }
    }

    /// Returns the query plan by the key, whether or not an index is read.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let rows = mail.query("user = 'bob'").rows().await?;
    /// println!("ranges: {}", rows.plan().ranges().len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn plan(&self) -> &Plan {
        match &self.rows {
            RowsOf::Plan(rows) => rows.plan(),
            RowsOf::Index(rows) => rows.key_plan(),
            RowsOf::Search(rows) => rows.plan(),
        }
    }

    /// Returns the name of the index that is read; `None` if the rows are read by the key.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let rows = mail.query("sender = 'eve'").rows().await?;
    /// println!("read by {}", rows.index().unwrap_or("the key"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn index(&self) -> Option<&str> {
        match &self.rows {
            RowsOf::Plan(_) => None,
            RowsOf::Index(rows) => Some(rows.index().name()),
            RowsOf::Search(rows) => Some(rows.index()),
        }
    }
}

/// The same rows as from [`QueryRows::next`], in the same order, and equally cancel-safe. After an
/// error the stream ends.
impl Stream for QueryRows {
    type Item = Result<QueryRow>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_row(context).map(Result::transpose)
    }
}
