//! Scan rows.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use rowhouse_client::Scanner;
use rowhouse_model::{Error, Result, Row, Scan, TableName};

use crate::backend::{Backend, EmbeddedRows, ReadAhead, Side, TableId, TableReadPoint};

/// A scan's rows, in key order, read on demand. [`Rows::next`] returns them one by one,
/// [`Rows::collect`] returns all; as a [`Stream`] they are used with combinators from other crates.
/// Dropping it ends the scan.
///
/// ```
/// use futures_util::TryStreamExt;
/// use rowhouse::{Put, Scan, TableSpec};
///
/// // How are the rows of a scan processed concurrently, or until one fails?
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
/// let users = database.create_table(TableSpec::new("users").family("u")).await?;
/// for user in ["alice", "bob", "carol"] {
///     users.put(Put::new(user)?.add("u", "name", user)?).await?;
/// }
/// let rows = users.scan(Scan::all()).await?;
/// rows.try_for_each_concurrent(8, async |row| {
///     // Send it somewhere.
///     println!("{}", String::from_utf8_lossy(row.key()));
///     Ok(())
/// })
/// .await?;
/// # database.close().await
/// # }
/// ```
pub struct Rows {
    source: Source,
}

/// Where the rows come from.
enum Source {
    Embedded(EmbeddedRows),
    Cluster(Scanner),
}

impl Backend {
    /// Opens a scan; scans that share `ahead` share the threads.
    pub(crate) async fn scan(
        &self,
        table: &TableId,
        scan: Scan,
        ahead: &Arc<ReadAhead>,
    ) -> Result<Rows> {
        Ok(Rows::new(match self.side() {
            Side::Embedded(inner) => Source::Embedded(inner.scan(table, scan, ahead).await?),
            Side::Cluster(inner) => Source::Cluster(inner.scan(table, scan)),
        }))
    }

    /// Scans the rows that match a query, on a server that [answers](Backend::answers_queries)
    /// queries.
    pub(crate) fn scan_matching(&self, table: &TableName, scan: Scan, query: &str) -> Result<Rows> {
        match self.side() {
            Side::Embedded(_) => Err(Error::unsupported("no server answers the query")),
            Side::Cluster(inner) => {
                Ok(Rows::new(Source::Cluster(inner.scan_matching(table, scan, query))))
            }
        }
    }
}

impl Rows {
    fn new(source: Source) -> Self {
        Self { source }
    }

    /// Opens a scan at a read point in the table.
    pub(crate) async fn at(
        read_point: &TableReadPoint,
        scan: Scan,
        ahead: &Arc<ReadAhead>,
    ) -> Result<Self> {
        Ok(Self::new(Source::Embedded(read_point.scan(scan, ahead).await?)))
    }

    /// Returns the next row, or `None` after the last. The method is cancel-safe: a caller that
    /// drops the future and calls again misses no row.
    ///
    /// ```
    /// # use rowhouse::{Result, Scan, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// let mut rows = users.scan(Scan::all().family("u")).await?;
    /// while let Some(row) = rows.next().await? {
    ///     println!("{:?}", row.value("u", "name"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Errors from the backend; the scan ends with the first.
    pub async fn next(&mut self) -> Result<Option<Row>> {
        poll_fn(|context| self.poll_row(context)).await
    }

    #[inline]
    pub(crate) fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
        match &mut self.source {
            Source::Embedded(rows) => rows.poll_row(context),
            Source::Cluster(rows) => Pin::new(rows).poll_next(context).map(Option::transpose),
        }
    }

    /// Reads all remaining rows into memory.
    ///
    /// ```
    /// # use rowhouse::{Result, RowRange, Scan, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// let a_to_c = users.scan(Scan::new(RowRange::new("a", "d"))).await?.collect().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Rows::next`].
    pub async fn collect(mut self) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        while let Some(row) = self.next().await? {
            rows.push(row);
        }
        Ok(rows)
    }
}

/// The same rows as from [`Rows::next`], in the same order, and equally cancel-safe. After an error
/// the stream ends.
impl Stream for Rows {
    type Item = Result<Row>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_row(context).map(Result::transpose)
    }
}
