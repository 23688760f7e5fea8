//! Reads the rows of a range with one or several scans: a family with conditions on its qualifiers
//! needs its own scan.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Columns, Result, Row, RowRange, Scan};
use rowhouse_schema::{Plan, PlanPart};

use crate::backend::{ReadAhead, TableReadPoint};
use crate::rows::Rows;
use crate::table::Table;

/// How the scans of a plan are made.
pub(super) enum ScanBy {
    /// At this read point, if one is given.
    Point(Option<TableReadPoint>),
    /// By a server that answers this query, and returns only rows that match.
    Server(String),
}

/// The scans needed for each range.
pub(super) struct RangeReader {
    table: Table,
    parts: Vec<PlanPart>,
    /// The shared read point, if there are several scans and the backend supports one.
    read_point: Option<TableReadPoint>,
    ahead: Arc<ReadAhead>,
    /// The query, if a server answers it: it then returns only rows that match.
    by_server: Option<String>,
}

/// The scans of one range, joined row by row. Usually there is only one.
pub(super) struct RangeScans {
    parts: Vec<Part>,
    range: RowRange,
    reversed: bool,
    /// The number of rows still to read, if the scans have a limit.
    left: Option<u64>,
    rest: Option<RowRange>,
}

struct Part {
    rows: Rows,
    /// A row that was read and not yet returned.
    next: Option<Row>,
    ended: bool,
}

impl RangeReader {
    /// Determines the scans for a plan and these columns. A plan with conditions on qualifiers is
    /// not read by a server.
    pub(super) async fn new(
        table: &Table,
        plan: &Plan,
        columns: &Columns,
        by: ScanBy,
    ) -> Result<Self> {
        let (table, ahead) = (table.clone(), ReadAhead::of_processors());
        let (at, by_server) = match by {
            ScanBy::Point(at) => (at, None),
            ScanBy::Server(query) => (None, Some(query)),
        };
        if plan.qualifiers().is_empty() {
            let parts = plan.parts(columns);
            return Ok(Self { table, parts, read_point: at, ahead, by_server });
        }
        let is_given = at.is_some();
        let read_point = if is_given { at } else { table.read_point().await? };
        let mut columns = columns.clone();
        if let Some(read_point) = read_point.as_ref().filter(|_| columns.is_all()) {
            // Name the families, so that the general scan excludes those with their own scan.
            read_point.families().for_each(|family| columns.add_family(family.clone()));
        }
        let parts = plan.parts(&columns);
        let read_point = read_point.filter(|_| is_given || parts.len() > 1);
        Ok(Self { table, parts, read_point, ahead, by_server: None })
    }

    /// Whether only rows that match the query are read.
    pub(super) fn is_by_server(&self) -> bool {
        self.by_server.is_some()
    }

    /// Starts reading a range with the settings of `scan`.
    pub(super) async fn open(self: Arc<Self>, scan: Scan, range: RowRange) -> Result<RangeScans> {
        let (reversed, left) = (scan.reversed, scan.limit);
        let mut opened = Vec::with_capacity(self.parts.len());
        for PlanPart { columns, filter } in &self.parts {
            let (range, columns) = (range.clone(), columns.clone());
            let filter = filter.clone().map(Box::new);
            let scan = Scan { range, columns, filter, ..scan.clone() };
            let rows = match (&self.read_point, &self.by_server) {
                (Some(read_point), _) => Rows::at(read_point, scan, &self.ahead).await?,
                (None, None) => self.table.scan_with(scan, &self.ahead).await?,
                (None, Some(query)) => {
                    self.table.backend().scan_matching(self.table.name(), scan, query)?
                }
            };
            opened.push(Part { rows, next: None, ended: false });
        }
        Ok(RangeScans { parts: opened, range, reversed, left, rest: None })
    }
}

impl RangeScans {
    /// Returns the next row that has cells in any part, or `None` after the last. The method is
    /// cancel-safe: a caller that drops the future and calls again misses no row.
    pub(super) async fn next(&mut self) -> Result<Option<Row>> {
        poll_fn(|context| self.poll_row(context)).await
    }

    pub(super) fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>> {
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

    /// Returns the rows of the range after the last one, if the limit ended the scans.
    pub(super) fn take_rest(&mut self) -> Option<RowRange> {
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
        let of_key = |part: &mut Part| part.next.take_if(|row| row.key() == key);
        let row = together(self.parts.iter_mut().filter_map(of_key).collect());
        Poll::Ready(Ok(Some(row)))
    }
}

impl Part {
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.next.is_none() && !self.ended {
            self.next = ready!(self.rows.poll_row(context))?;
            self.ended = self.next.is_none();
        }
        Poll::Ready(Ok(()))
    }
}

/// Returns the rows after `row`, in the order of reading.
fn following(row: &[u8], reversed: bool) -> RowRange {
    match reversed {
        true => RowRange::new(Bytes::new(), row.to_vec()),
        false => RowRange::new([row, &[0]].concat(), Bytes::new()),
    }
}

/// Joins the cells of one row; there is at least one part. Each family is in only one part, so
/// sorting by family is enough.
pub(super) fn together(mut rows: Vec<Row>) -> Row {
    if rows.len() == 1 {
        return rows.swap_remove(0);
    }
    let mut cells: Vec<_> = rows.iter().flat_map(Row::to_cells).collect();
    cells.sort_by(|a, b| a.family().cmp(b.family()));
    Row::new(cells)
}

#[cfg(test)]
mod tests {
    use rowhouse_schema::Predicate;

    use super::*;
    use crate::TableSpec;

    /// Returns the number of scans per range and whether they share a read point.
    async fn reads(families: &[&str], query: &str, columns: &Columns) -> (usize, bool) {
        let dir = tempfile::tempdir().unwrap();
        let database = crate::open(dir.path().to_str().unwrap()).await.unwrap();
        let spec = TableSpec::new("t").key("[user string]").columns("f:[at seconds 4] price u8");
        let spec = families.iter().fold(spec, |spec, family| spec.family(family));
        let table = database.create_table(spec).await.unwrap();
        let (key, asked) = (table.key_schema().unwrap(), Predicate::parse(query).unwrap());
        let plan = table.declared_columns().plan(key, &asked, &rowhouse_schema::TimeZone::UTC);
        let reads =
            RangeReader::new(&table, &plan.unwrap(), columns, ScanBy::Point(None)).await.unwrap();
        database.close().await.unwrap();
        (reads.parts.len(), reads.read_point.is_some())
    }

    #[tokio::test]
    async fn a_second_scan_is_made_only_for_families_that_there_are() {
        let all = Columns::all();
        assert_eq!(reads(&["f"], "price.at > 5", &all).await, (1, false));
        assert_eq!(reads(&["f", "d"], "price.at > 5", &all).await, (2, true));
        assert_eq!(reads(&["f", "d"], "user = 'bob'", &all).await, (1, false));
        let mut one = Columns::all();
        one.add_family("f");
        assert_eq!(reads(&["f", "d"], "price.at > 5", &one).await, (1, false));
    }
}
