//! Executes a plan: reads its ranges and returns the matching rows in order.

use std::collections::VecDeque;
use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, Result, Row, RowRange, Scan};
use rowhouse_schema::{Direction, KeySchema, Plan, RowSequence, StreamMerge};
use tokio::task::{JoinError, JoinSet};

use super::QueryRow;
use super::parts::{RangeReader, RangeScans};
use crate::table::Table;

/// Maximum number of scans being opened concurrently. All scans stay open while their rows are
/// merged.
const OPENING_MAX: usize = 32;

/// The rows of a query, in the plan's order or reversed, read on demand.
pub struct QueryRows {
    reader: RowReader,
    streams: Vec<Stream>,
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
    reads: RangeReader,
    /// The requested columns, if additional ones are read.
    shown: Option<Columns>,
    /// The number of rows still to return.
    left: u64,
    fitting_only: bool,
    not_fitting: u64,
    /// The number of rows omitted because a column used in a condition does not fit its type.
    unreadable: u64,
}

/// A sequence of ranges, read one after the other.
struct Stream {
    ranges: VecDeque<RowRange>,
    /// A row that was already read.
    first: Option<Row>,
    current: Option<RangeScans>,
}

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
        fitting_only: bool,
    ) -> Result<Self> {
        let merged = plan.order().sequence() == RowSequence::Merged;
        let direction = if scan.reversed { Direction::Reverse } else { Direction::Forward };
        let streams = match merged {
            true => plan.streams().map(|stream| Stream::new(stream.ranges(), direction)).collect(),
            false => vec![Stream::new(plan.ranges(), direction)],
        };
        let merge = merged.then(|| StreamMerge::new(&plan, direction));
        let (table, schema) = (table.clone(), schema.clone());
        let shown = add_condition_columns(&mut scan.columns, &plan);
        let reads = RangeReader::new(&table, &plan, &scan.columns).await?;
        let (left, not_fitting, unreadable) = (limit, 0, 0);
        let reader = RowReader {
            table,
            schema,
            plan,
            scan,
            reads,
            shown,
            left,
            fitting_only,
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
            let (reads, scan) = (self.reader.reads.clone(), self.reader.scan());
            opening.spawn(async move {
                let mut rows = reads.open(&scan, range).await?;
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
    /// A row whose key does not fit the template is not an error: unless [`Query::fitting_only`] is
    /// set, it is returned with its bytes and without values, and counted. Among rows merged from
    /// several buckets such a row has no defined position; it is returned when it is read.
    ///
    /// # Errors
    /// As [`crate::Rows::next`].
    ///
    /// [`Query::fitting_only`]: super::Query::fitting_only
    pub async fn next(&mut self) -> Result<Option<QueryRow>> {
        if self.reader.left == 0 {
            return Ok(None);
        }
        let Self { reader, streams, merge, key } = self;
        let found = match merge {
            None => streams[0].next_matching(reader).await?,
            Some(merge) => loop {
                let Some(wanted) = merge.wanted() else { break merge.next_row() };
                match streams[wanted].next_matching(reader).await? {
                    None => merge.end(),
                    Some(row) if row.values.is_err() => break Some(row),
                    Some(row) if merge.is_next(row.row.key())? => break Some(row),
                    Some(row) => {
                        key.clear();
                        key.extend_from_slice(row.row.key());
                        merge.offer(key, row)?;
                    }
                }
            },
        };
        if found.is_some() {
            reader.left -= 1;
        }
        Ok(found)
    }

    /// Reads all remaining rows into memory.
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
    pub fn unreadable(&self) -> u64 {
        self.reader.unreadable
    }

    /// Returns how many rows so far had keys that do not fit the template. Rows rejected by
    /// conditions on columns are not counted.
    pub fn not_fitting(&self) -> u64 {
        self.reader.not_fitting
    }

    /// Returns the plan of the query.
    pub fn plan(&self) -> &Plan {
        &self.reader.plan
    }
}

/// Adds the columns that conditions need; returns the requested columns if more are read.
fn add_condition_columns(columns: &mut Columns, plan: &Plan) -> Option<Columns> {
    let asked = columns.clone();
    for column in plan.column_filter().into_iter().flat_map(|filter| filter.columns()) {
        let (family, qualifier) = (column.family(), column.qualifier().unwrap_or_default());
        if !columns.has_column(family, qualifier) {
            columns.add_column(Bytes::copy_from_slice(family), Bytes::copy_from_slice(qualifier));
        }
    }
    (asked != *columns || !plan.qualifiers().is_empty()).then_some(asked)
}

impl Stream {
    fn new(ranges: &[RowRange], direction: Direction) -> Self {
        let ranges = ranges.iter().cloned();
        let ranges = match direction {
            Direction::Forward => ranges.collect(),
            Direction::Reverse => ranges.rev().collect(),
        };
        Self { ranges, first: None, current: None }
    }

    /// Returns the next matching row, or `None` after the last.
    async fn next_matching(&mut self, reader: &mut RowReader) -> Result<Option<QueryRow>> {
        while let Some(row) = self.next(reader).await? {
            if let Some(row) = reader.admit(row) {
                return Ok(Some(row));
            }
        }
        Ok(None)
    }

    /// Returns the next row of the ranges.
    async fn next(&mut self, reader: &RowReader) -> Result<Option<Row>> {
        loop {
            if let Some(row) = self.first.take() {
                return Ok(Some(row));
            }
            if let Some(rows) = &mut self.current {
                if let Some(row) = rows.next_ready() {
                    return Ok(Some(row));
                }
                if let Some(row) = rows.next().await? {
                    return Ok(Some(row));
                }
                self.current = None;
            }
            let Some(range) = self.ranges.front() else { return Ok(None) };
            // Remove a range only after it is open: the caller may drop the future earlier.
            self.current = Some(reader.open(range.clone()).await?);
            self.ranges.pop_front();
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
            if self.fitting_only {
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
    async fn open(&self, range: RowRange) -> Result<RangeScans> {
        self.reads.open(&self.scan(), range).await
    }

    /// Returns the scan settings for each range.
    fn scan(&self) -> Scan {
        let mut scan = self.scan.clone();
        // If every row of the range is returned, the limit keeps the backend from reading ahead
        // needlessly. It is not divided by the number of buckets, because all rows may be in one
        // bucket.
        let returned = self.plan.is_exact() && !self.fitting_only;
        scan.limit = (returned && self.left < u64::MAX).then_some(self.left);
        scan
    }
}
