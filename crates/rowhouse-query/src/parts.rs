//! Reads the rows in a range with one or several scans: a family with conditions on qualifiers
//! needs a separate scan.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Result, Row, RowRange, Scan};
use rowhouse_schema::{Plan, PlanPart};

use crate::projection::Projection;
use crate::source::{ReadFrom, Source, SourceRows};

/// The scans needed for each range.
pub(crate) struct RangeReader<S> {
    source: S,
    from: ReadFrom,
    parts: Vec<PlanPart>,
}

/// The scans over one range, joined row by row. Usually there is only one.
pub(crate) struct RangeScans<R> {
    parts: Vec<Part<R>>,
    range: RowRange,
    reversed: bool,
    /// How many rows are still to read, if the scans have a limit.
    left: Option<u64>,
    rest: Option<RowRange>,
}

struct Part<R> {
    rows: R,
    /// A row that was read and not yet returned.
    next: Option<Row>,
    ended: bool,
}

impl<S: Source> RangeReader<S> {
    /// Determines the scans for a plan.
    pub(crate) fn new(source: S, from: ReadFrom, plan: &Plan, projection: &Projection) -> Self {
        let parts = if source.returns_only_matching() {
            if projection.keys_only {
                vec![projection.first_key()]
            } else {
                vec![PlanPart { columns: projection.columns.clone(), filter: None }]
            }
        } else if projection.needs_point(plan) {
            projection.parts(plan, &source.families())
        } else {
            projection.parts(plan, &[])
        };
        Self { source, from, parts }
    }

    /// Whether only rows that match the query are read.
    pub(crate) fn returns_only_matching(&self) -> bool {
        self.source.returns_only_matching()
    }

    /// Starts reading a range with the settings in `scan`.
    pub(crate) async fn open(
        self: Arc<Self>,
        scan: Scan,
        range: RowRange,
    ) -> Result<RangeScans<S::Rows>> {
        let reversed = scan.reversed;
        let left = scan.limit;
        let mut opened = Vec::with_capacity(self.parts.len());
        for PlanPart { columns, filter } in &self.parts {
            let range = range.clone();
            let columns = columns.clone();
            let filter = filter.clone().map(Box::new);
            let scan = Scan { range, columns, filter, ..scan.clone() };
            let rows = self.source.scan(self.from, scan).await?;
            opened.push(Part { rows, next: None, ended: false });
        }
        Ok(RangeScans { parts: opened, range, reversed, left, rest: None })
    }
}

impl<R: SourceRows> RangeScans<R> {
    /// Returns the next row that has cells in any part, or `None` after the last. The method is
    /// cancel-safe: a caller that drops the future and calls again misses no row.
    pub(crate) async fn next(&mut self) -> Result<Option<Row>> {
        poll_fn(|context| self.poll_row(context)).await
    }

    pub(crate) fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
        if self.left == Some(0) {
            return Poll::Ready(Ok(None));
        }
        let row = ready!(self.poll_joined(context))?;
        if let (Some(row), Some(left)) = (&row, &mut self.left) {
            *left -= 1;
            if *left == 0 {
                let rest = following(row.key(), self.reversed).intersect(&self.range);
                self.rest = Some(rest).filter(|rest| !rest.is_empty());
            }
        }
        Poll::Ready(Ok(row))
    }

    /// Returns the rows in the range after the last one, if the limit ended the scans.
    pub(crate) fn take_rest(&mut self) -> Option<RowRange> {
        self.rest.take()
    }

    fn poll_joined(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
        if let [part] = &mut self.parts[..] {
            return part.rows.poll_row(context);
        }
        let mut is_pending = false;
        for part in &mut self.parts {
            is_pending |= part.poll_fill(context)?.is_pending();
        }
        if is_pending {
            return Poll::Pending;
        }
        let keys = self.parts.iter().filter_map(|part| Some(part.next.as_ref()?.key()));
        let first = if self.reversed { keys.max() } else { keys.min() };
        let Some(key) = first.map(<[u8]>::to_vec) else { return Poll::Ready(Ok(None)) };
        let of_key = |part: &mut Part<R>| part.next.take_if(|row| row.key() == key);
        let row = together(self.parts.iter_mut().filter_map(of_key).collect());
        Poll::Ready(Ok(Some(row)))
    }
}

impl<R: SourceRows> Part<R> {
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.next.is_none() && !self.ended {
            self.next = ready!(self.rows.poll_row(context))?;
            self.ended = self.next.is_none();
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the rows after `row`, in reading order.
fn following(row: &[u8], reversed: bool) -> RowRange {
    if reversed {
        RowRange::new(Bytes::new(), row.to_vec())
    } else {
        RowRange::new([row, &[0]].concat(), Bytes::new())
    }
}

/// Joins the cells for one row; there is at least one part. Each family is in only one part, so
/// sorting by family is enough; where only keys are requested, a cell may be there twice.
pub(crate) fn together(mut rows: Vec<Row>) -> Row {
    if rows.len() == 1 {
        return rows.swap_remove(0);
    }
    let mut cells: Vec<_> = rows.iter().flat_map(Row::to_cells).collect();
    cells.sort_by(|a, b| a.family().cmp(b.family()));
    Row::new(cells)
}
