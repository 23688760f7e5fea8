//! Executes a plan: reads its ranges and returns the rows or entries that match, in order.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Columns, Result, Row, RowRange, Scan};
use rowhouse_schema::{Direction, KeySchema, Plan, RowSequence, StreamMerge};
use tokio::task::{JoinError, JoinSet};

use super::QueryRow;
use super::parts::{RangeReader, RangeScans, ScanBy};
use crate::backend::is_blocking;
use crate::table::Table;

/// Maximum number of scans being opened concurrently. All scans stay open while their rows are
/// merged.
const OPENING_MAX: usize = 32;

/// The rows of the ranges of a plan that match it, in the plan's order or reversed: rows of a
/// table, or entries of an index.
pub(super) struct PlanRows {
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

impl PlanRows {
    /// Opens the rows of a table.
    pub(super) async fn open(
        table: &Table,
        schema: &KeySchema,
        plan: Plan,
        mut scan: Scan,
        limit: u64,
        with_misfits: bool,
        by: ScanBy,
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
        let reads = Arc::new(RangeReader::new(&table, &plan, &scan.columns, by).await?);
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

    /// Opens the first range of each stream, and reads the first row of each: several concurrently,
    /// except on a blocking thread, which waits for no other.
    async fn open_streams(&mut self) -> Result<()> {
        let mut opening = JoinSet::new();
        for at in 0..self.streams.len() {
            let Some(range) = self.streams[at].ranges.pop_front() else { continue };
            if opening.len() == OPENING_MAX {
                self.take_opened(opening.join_next().await)?;
            }
            let (reads, scan) = (Arc::clone(&self.reader.reads), self.reader.limited_scan());
            let open = async move {
                let mut rows = reads.open(scan, range).await?;
                let first = rows.next().await?;
                Ok(Opened { at, rows, first })
            };
            if is_blocking() {
                self.take_opened(Some(Ok(open.await)))?;
            } else {
                opening.spawn(open);
            }
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

    pub(super) fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<QueryRow>>> {
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

    /// The number of rows omitted so far because a value does not fit the type of its column.
    pub(super) fn unreadable(&self) -> u64 {
        self.reader.unreadable
    }

    /// The number of rows so far whose keys do not fit the template.
    pub(super) fn not_fitting(&self) -> u64 {
        self.reader.not_fitting
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.reader.plan
    }
}

/// Adds the columns that conditions need; returns the requested columns if more are read.
pub(super) fn add_condition_columns(columns: &mut Columns, plan: &Plan) -> Option<Columns> {
    let asked = columns.clone();
    if let Some(filter) = plan.column_filter() {
        columns.include(&filter.reads());
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
        let columns = Arc::clone(self.table.declared_columns());
        Some(QueryRow::new(row, values, columns, None))
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
        let all_match = self.plan.is_exact() || self.reads.is_by_server();
        let limited = all_match && self.left < u64::MAX;
        scan.limit = limited.then_some(self.left);
        scan
    }
}
