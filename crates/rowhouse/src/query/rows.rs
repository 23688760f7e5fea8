//! Executes a plan: reads its ranges and returns the matching rows in order.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use rowhouse_model::{Bytes, Columns, Result, Row, RowRange, Scan};
use rowhouse_schema::{Direction, KeySchema, Plan, RowSequence, StreamMerge};
use tokio::task::{JoinError, JoinSet};

use super::QueryRow;
use super::parts::{RangeReader, RangeScans};
use crate::table::Table;

/// Maximum number of scans being opened concurrently. All scans stay open while their rows are
/// merged.
const OPENING_MAX: usize = 32;

/// The rows of a query, in the plan's order or reversed, read on demand. [`QueryRows::next`]
/// returns them one by one, [`QueryRows::collect`] all of them; as a [`Stream`] they are used with
/// the combinators of other crates.
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
    reader: RowReader,
    streams: Vec<RangeStream>,
    /// Merges the rows of several streams; `None` with a single stream.
    merge: Option<StreamMerge<QueryRow>>,
    /// Reusable buffer for a key.
    key: Vec<u8>,
}

/// The state shared by all streams.
struct RowReader {
    table: Table,
    schema: KeySchema,
    plan: Plan,
    scan: Scan,
    /// The scans needed for each range.
    reads: Arc<RangeReader>,
    /// The requested columns, if additional ones are read.
    shown: Option<Columns>,
    /// The number of rows still to return.
    left: u64,
    with_misfits: bool,
    not_fitting: u64,
    /// The number of rows omitted because a column used in a condition does not fit its type.
    unreadable: u64,
}

/// A sequence of ranges, read one after the other.
struct RangeStream {
    ranges: VecDeque<RowRange>,
    /// A row that was already read.
    first: Option<Row>,
    current: Option<RangeScans>,
    /// The range after `current`. Kept here and not in the future of a caller, so that a caller
    /// that drops the future does not open it again.
    opening: Option<Opening>,
}

type Opening = Pin<Box<dyn Future<Output = Result<RangeScans>> + Send + Sync>>;

/// The scan of a stream's first range and its first row.
struct Opened {
    at: usize,
    rows: RangeScans,
    first: Option<Row>,
}

impl QueryRows {
    pub(super) async fn open(
        table: &Table,
        schema: &KeySchema,
        plan: Plan,
        mut scan: Scan,
        limit: u64,
        with_misfits: bool,
    ) -> Result<Self> {
        let merged = plan.order().sequence() == RowSequence::Merged;
        let direction = if scan.reversed { Direction::Reverse } else { Direction::Forward };
        let streams = match merged {
            true => {
                plan.streams().map(|stream| RangeStream::new(stream.ranges(), direction)).collect()
            }
            false => vec![RangeStream::new(plan.ranges(), direction)],
        };
        let merge = merged.then(|| StreamMerge::new(&plan, direction));
        let (table, schema) = (table.clone(), schema.clone());
        let shown = add_condition_columns(&mut scan.columns, &plan);
        let reads = Arc::new(RangeReader::new(&table, &plan, &scan.columns).await?);
        let (left, not_fitting, unreadable) = (limit, 0, 0);
        let reader = RowReader {
            table,
            schema,
            plan,
            scan,
            reads,
            shown,
            left,
            with_misfits,
            not_fitting,
            unreadable,
        };
        let mut rows = Self { reader, streams, merge, key: Vec::new() };
        // Opening the streams here reports the table's errors before the first row is requested.
        rows.open_streams().await?;
        Ok(rows)
    }

    /// Opens the first range of each stream, several concurrently, and reads the first row of each.
    async fn open_streams(&mut self) -> Result<()> {
        let mut opening = JoinSet::new();
        for at in 0..self.streams.len() {
            let Some(range) = self.streams[at].ranges.pop_front() else { continue };
            if opening.len() == OPENING_MAX {
                self.take_opened(opening.join_next().await)?;
            }
            let (reads, scan) = (Arc::clone(&self.reader.reads), self.reader.limited_scan());
            opening.spawn(async move {
                let mut rows = reads.open(scan, range).await?;
                let first = rows.next().await?;
                Ok(Opened { at, rows, first })
            });
        }
        while !opening.is_empty() {
            self.take_opened(opening.join_next().await)?;
        }
        Ok(())
    }

    fn take_opened(&mut self, opened: Option<Result<Result<Opened>, JoinError>>) -> Result<()> {
        let Opened { at, rows, first } = match opened {
            Some(Ok(opened)) => opened?,
            Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
            None => return Ok(()),
        };
        let stream = &mut self.streams[at];
        (stream.current, stream.first) = (Some(rows), first);
        Ok(())
    }

    /// Returns the next row, or `None` after the last. The method is cancel-safe: a caller that
    /// drops the future and calls again misses no row.
    ///
    /// A row whose key does not fit the template is not an error: it is counted and left out. With
    /// [`Query::with_misfits`] it is returned, with its bytes and without values. Among rows merged
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
        if self.reader.left == 0 {
            return Poll::Ready(Ok(None));
        }
        let found = ready!(self.poll_matching(context));
        match found {
            Ok(Some(_)) => self.reader.left -= 1,
            // Not a row of another range after an error.
            Ok(None) | Err(_) => self.reader.left = 0,
        }
        Poll::Ready(found)
    }

    fn poll_matching(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<QueryRow>>> {
        let Self { reader, streams, merge, key } = self;
        let Some(merge) = merge else { return streams[0].poll_matching(reader, context) };
        loop {
            let Some(wanted) = merge.wanted() else { return Poll::Ready(Ok(merge.next_row())) };
            match ready!(streams[wanted].poll_matching(reader, context))? {
                None => merge.end(),
                Some(row) if row.values.is_err() || merge.is_next(row.row.key())? => {
                    return Poll::Ready(Ok(Some(row)));
                }
                Some(row) => {
                    key.clear();
                    key.extend_from_slice(row.row.key());
                    merge.offer(key, row)?;
                }
            }
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
    /// invalid value for its type.
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
        self.reader.unreadable
    }

    /// Returns how many rows so far had keys that do not fit the template, whether or not they were
    /// returned. Rows rejected by conditions on columns are not counted.
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
        self.reader.not_fitting
    }

    /// Returns the plan of the query.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let rows = mail.query("user = 'bob'").rows().await?;
    /// println!("ranges: {}", rows.plan().ranges().len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn plan(&self) -> &Plan {
        &self.reader.plan
    }
}

/// Adds the columns that conditions need; returns the requested columns if more are read.
pub(super) fn add_condition_columns(columns: &mut Columns, plan: &Plan) -> Option<Columns> {
    let asked = columns.clone();
    for column in plan.column_filter().into_iter().flat_map(|filter| filter.columns()) {
        let (family, qualifier) = (column.family(), column.qualifier().unwrap_or_default());
        if !columns.has_column(family, qualifier) {
            columns.add_column(Bytes::copy_from_slice(family), Bytes::copy_from_slice(qualifier));
        }
    }
    (asked != *columns || !plan.qualifiers().is_empty()).then_some(asked)
}

impl RangeStream {
    fn new(ranges: &[RowRange], direction: Direction) -> Self {
        let ranges = ranges.iter().cloned();
        let ranges = match direction {
            Direction::Forward => ranges.collect(),
            Direction::Reverse => ranges.rev().collect(),
        };
        Self { ranges, first: None, current: None, opening: None }
    }

    /// Returns the next matching row, or `None` after the last.
    fn poll_matching(
        &mut self,
        reader: &mut RowReader,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<QueryRow>>> {
        while let Some(row) = ready!(self.poll_row(reader, context))? {
            if let Some(row) = reader.admit(row) {
                return Poll::Ready(Ok(Some(row)));
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Returns the next row of the ranges.
    fn poll_row(
        &mut self,
        reader: &RowReader,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Row>>> {
        if let Some(row) = self.first.take() {
            return Poll::Ready(Ok(Some(row)));
        }
        loop {
            if let Some(rows) = &mut self.current {
                if let Some(row) = ready!(rows.poll_row(context))? {
                    return Poll::Ready(Ok(Some(row)));
                }
                // Rows that do not fit used up the limit of the scan. The rest is read without one:
                // there may be many of them.
                self.opening = rows.take_rest().map(|rest| reader.open(reader.scan.clone(), rest));
                self.current = None;
            }
            let opening = match &mut self.opening {
                Some(opening) => opening,
                None => {
                    let Some(range) = self.ranges.pop_front() else {
                        return Poll::Ready(Ok(None));
                    };
                    self.opening.insert(reader.open(reader.limited_scan(), range))
                }
            };
            let opened = ready!(opening.as_mut().poll(context));
            self.opening = None;
            self.current = Some(opened?);
        }
    }
}

/// The rows of [`QueryRows::next`], in the same order, and equally cancel-safe. After an error the
/// stream ends.
impl Stream for QueryRows {
    type Item = Result<QueryRow>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_row(context).map(Result::transpose)
    }
}

impl RowReader {
    /// Decodes the key of a row; returns the row if it matches the query.
    fn admit(&mut self, row: Row) -> Option<QueryRow> {
        let values = self.schema.decode(row.key());
        if values.as_ref().is_ok_and(|values| !self.plan.matches(values)) {
            return None;
        }
        let row = self.filter(row)?;
        if values.is_err() {
            self.not_fitting += 1;
            if !self.with_misfits {
                return None;
            }
        }
        Some(QueryRow { row, values, columns: Arc::clone(self.table.declared_columns()) })
    }

    /// Returns the requested cells of a row if the row satisfies the conditions on columns.
    fn filter(&mut self, row: Row) -> Option<Row> {
        if let Some(filter) = self.plan.column_filter() {
            match filter.matches(&row) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(_) => {
                    self.unreadable += 1;
                    return None;
                }
            }
        }
        let Some(shown) = &self.shown else { return Some(row) };
        let cells = row.cells();
        let cells = cells.filter(|cell| self.plan.shows(shown, cell.family(), cell.qualifier()));
        Some(Row::new(cells.map(|cell| cell.to_cell()).collect())).filter(|row| !row.is_empty())
    }

    /// Starts reading a range.
    fn open(&self, scan: Scan, range: RowRange) -> Opening {
        Box::pin(Arc::clone(&self.reads).open(scan, range))
    }

    /// Returns the scan settings for each range.
    fn limited_scan(&self) -> Scan {
        let mut scan = self.scan.clone();
        // If every row of the range that fits is returned, the limit keeps the backend from reading
        // ahead needlessly. It is not divided by the number of buckets, because all rows may be in
        // one bucket.
        let limited = self.plan.is_exact() && self.left < u64::MAX;
        scan.limit = limited.then_some(self.left);
        scan
    }
}
