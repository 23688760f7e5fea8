//! Executes a plan: reads the ranges and returns the rows or entries that match, in order.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Columns, Result, Row, RowRange, Scan};
use rowhouse_schema::{Direction, KeySchema, Plan, RowSequence, StreamMerge};

use crate::parts::{RangeReader, RangeScans};
use crate::projection::{Projection, add_condition_columns};
use crate::row::MatchingRow;
use crate::source::{ReadFrom, Reading, Source};

/// How many scans are opened concurrently at most. All scans stay open while their rows are merged.
const OPENING_MAX: usize = 32;

/// The rows in a plan's ranges that match the plan, in the plan's order or reversed: table rows, or
/// index entries.
pub struct PlanRows<S: Source> {
    reader: RowReader<S>,
    streams: Vec<RangeStream<S>>,
    /// Merges rows from several streams; `None` with a single stream.
    merge: Option<StreamMerge<MatchingRow>>,
    /// Reusable buffer for a key.
    key: Vec<u8>,
}

/// A query by the key.
pub struct KeyQuery {
    /// The key template.
    pub key: KeySchema,
    /// The plan to read.
    pub plan: Plan,
    /// The columns, versions, times and direction to read.
    pub scan: Scan,
    /// True if only row keys are required: see [`Projection`].
    pub keys_only: bool,
    /// The most rows to return.
    pub limit: u64,
    /// Whether rows whose keys do not fit the template are returned, and not left out.
    pub with_misfits: bool,
}

/// The state shared by all streams.
struct RowReader<S> {
    schema: KeySchema,
    plan: Plan,
    scan: Scan,
    /// The scans needed for each range.
    reads: Arc<RangeReader<S>>,
    /// The requested columns, if additional ones are read.
    shown: Option<Columns>,
    /// How many rows are still to return.
    left: u64,
    with_misfits: bool,
    not_fitting: u64,
    /// How many rows are omitted because a column used in a condition does not fit the column type.
    unreadable: u64,
}

/// Ranges in sequence, read one after the other.
struct RangeStream<S: Source> {
    ranges: VecDeque<RowRange>,
    /// A row that was already read.
    first: Option<Row>,
    current: Option<RangeScans<S::Rows>>,
    /// The range after `current`. Held here and not in a caller's future, so that a caller that
    /// drops the future does not open it again.
    opening: Option<Reading<RangeScans<S::Rows>>>,
}

/// The scan over a stream's first range and the first row.
struct Opened<R> {
    at: usize,
    rows: RangeScans<R>,
    first: Option<Row>,
}

impl<S: Source> PlanRows<S> {
    /// Opens table rows, or index entries.
    ///
    /// # Errors
    /// As for the source.
    pub async fn open(source: S, from: ReadFrom, query: KeyQuery) -> Result<Self> {
        let KeyQuery { key, plan, mut scan, keys_only, limit, with_misfits } = query;
        let merged = plan.order().sequence() == RowSequence::Merged;
        let direction = if scan.reversed { Direction::Reverse } else { Direction::Forward };
        let streams = if merged {
            plan.streams().map(|stream| RangeStream::new(stream.ranges(), direction)).collect()
        } else {
            vec![RangeStream::new(plan.ranges(), direction)]
        };
        let merge = merged.then(|| StreamMerge::new(&plan, direction));
        let projection = Projection { columns: std::mem::take(&mut scan.columns), keys_only };
        let reads = Arc::new(RangeReader::new(source, from, &plan, &projection));
        let shown = if reads.returns_only_matching() {
            None
        } else {
            add_condition_columns(&mut projection.columns.clone(), &plan)
        };
        let reader = RowReader {
            schema: key,
            plan,
            scan,
            reads,
            shown,
            left: limit,
            with_misfits,
            not_fitting: 0,
            unreadable: 0,
        };
        let mut rows = Self { reader, streams, merge, key: Vec::new() };
        // Opening the streams here reports the table's errors before the first row is requested.
        rows.open_streams().await?;
        Ok(rows)
    }

    /// Opens each stream's first range, and reads the first row: several streams concurrently.
    async fn open_streams(&mut self) -> Result<()> {
        let mut opening: Vec<Reading<Opened<S::Rows>>> = Vec::new();
        let mut next = 0;
        poll_fn(|context| {
            loop {
                while opening.len() < OPENING_MAX && next < self.streams.len() {
                    opening.extend(self.opening(next));
                    next += 1;
                }
                let before = opening.len();
                for at in (0..before).rev() {
                    if let Poll::Ready(opened) = opening[at].as_mut().poll(context) {
                        drop(opening.swap_remove(at));
                        let Opened { at, rows, first } = opened?;
                        let stream = &mut self.streams[at];
                        (stream.current, stream.first) = (Some(rows), first);
                    }
                }
                if opening.is_empty() && next == self.streams.len() {
                    return Poll::Ready(Ok(()));
                }
                if opening.len() == before {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Returns what opens a stream's first range, if it has one.
    fn opening(&mut self, at: usize) -> Option<Reading<Opened<S::Rows>>> {
        let range = self.streams[at].ranges.pop_front()?;
        let reads = Arc::clone(&self.reader.reads);
        let scan = self.reader.limited_scan();
        Some(Box::pin(async move {
            let mut rows = reads.open(scan, range).await?;
            let first = rows.next().await?;
            Ok(Opened { at, rows, first })
        }))
    }

    /// Returns the next row, or `None` after the last. After an error the rows have ended.
    pub fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<MatchingRow>>> {
        if self.reader.left == 0 {
            return Poll::Ready(Ok(None));
        }
        let result = ready!(self.poll_matching(context));
        match result {
            Ok(Some(_)) => self.reader.left -= 1,
            // Not a row from another range after an error.
            Ok(None) | Err(_) => self.reader.left = 0,
        }
        Poll::Ready(result)
    }

    fn poll_matching(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<MatchingRow>>> {
        let Self { reader, streams, merge, key } = self;
        let Some(merge) = merge else { return streams[0].poll_matching(reader, context) };
        loop {
            let Some(stream) = merge.requested() else { return Poll::Ready(Ok(merge.next_row())) };
            match ready!(streams[stream].poll_matching(reader, context))? {
                None => merge.end(),
                Some(row) if row.values.is_err() || merge.is_next(row.key())? => {
                    return Poll::Ready(Ok(Some(row)));
                }
                Some(row) => {
                    key.clear();
                    key.extend_from_slice(row.key());
                    merge.offer(key, row)?;
                }
            }
        }
    }

    /// How many rows are omitted so far because a value does not fit the column type.
    pub fn unreadable(&self) -> u64 {
        self.reader.unreadable
    }

    /// How many rows so far have keys that do not fit the template.
    pub fn not_fitting(&self) -> u64 {
        self.reader.not_fitting
    }

    /// The plan that is read.
    pub fn plan(&self) -> &Plan {
        &self.reader.plan
    }
}

impl<S: Source> RangeStream<S> {
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
        reader: &mut RowReader<S>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<MatchingRow>>> {
        while let Some(row) = ready!(self.poll_row(reader, context))? {
            if let Some(row) = reader.admit(row) {
                return Poll::Ready(Ok(Some(row)));
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Returns the next row in the ranges.
    fn poll_row(
        &mut self,
        reader: &RowReader<S>,
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
                // Rows that do not fit used up the scan limit. The rest is read without one: there
                // may be many of them.
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

impl<S: Source> RowReader<S> {
    /// Decodes a row key; returns the row if it matches the query.
    fn admit(&mut self, row: Row) -> Option<MatchingRow> {
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
        Some(MatchingRow::new(row, values))
    }

    /// Returns a row's requested cells if the row satisfies the conditions on columns.
    fn filter(&mut self, row: Row) -> Option<Row> {
        if let Some(filter) = self.plan.column_filter()
            && !self.reads.returns_only_matching()
        {
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
    fn open(&self, scan: Scan, range: RowRange) -> Reading<RangeScans<S::Rows>> {
        Box::pin(Arc::clone(&self.reads).open(scan, range))
    }

    /// Returns the scan settings for each range.
    fn limited_scan(&self) -> Scan {
        let mut scan = self.scan.clone();
        // If every fitting row in the range is returned, the limit keeps the backend from reading
        // ahead needlessly. It is not divided by the bucket count, because all rows may be in one
        // bucket.
        let all_match = self.plan.is_exact() || self.reads.returns_only_matching();
        let limited = all_match && self.left < u64::MAX;
        scan.limit = limited.then_some(self.left);
        scan
    }
}
