//! Reads one row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Cell, CellRef, Columns, Get, Key, Qualifiers, Result, Row, RowBuilder, Scan, TimeRange,
};

use super::family::{FamilyReader, FirstCell, Query, Rows, find};
use super::newest_version::NewestVersion;
use super::post_filter::PostFilter;
use super::row::{CELLS_BETWEEN_CHECKS, ReadBudget, RowRead};
use super::scan::{NO_END_REQUEST, Opening, ScanCursor, ScanLimits, Scanned};
use super::{Pending, ReadAt, ReadContext, ReadPoint, ReadTrace};
use crate::cells::Cells;
use crate::family::FamilyStore;

/// Limits of a non-blocking read: returned cell bytes (at a hundred bytes per cell, 0.2 ms), cells
/// matched, and the time for reads that do not count cells.
const BYTES_AT_ONCE_MAX: u64 = 256 << 10;
const CELLS_AT_ONCE_MAX: u64 = 16 * CELLS_BETWEEN_CHECKS;
const MOMENT: Duration = Duration::from_millis(1);

/// A read of one row.
#[derive(Clone, Copy)]
pub(crate) struct ReadRequest<'a> {
    pub(crate) get: &'a Get,
    pub(crate) at: RowVersion<'a>,
    pub(crate) limit: ReadLimit,
    /// Whether the read counts as a request to the region. The store's own reads do not.
    pub(crate) is_counted: bool,
}

/// How much a read may do before it ends without a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadLimit {
    /// Reads the whole row.
    Unlimited,
    /// The row's cells have at most this many bytes. A filter that must see the whole row still
    /// gets all cells.
    Bytes(u64),
    /// There are few cells to return and to skip: for callers that must not block.
    NonBlocking,
}

/// The row version that a read sees.
#[derive(Clone, Copy)]
pub(crate) enum RowVersion<'p> {
    Current,
    /// The current version, with cells that are about to be committed. For gets that return every
    /// visible cell in their columns.
    With(&'p Pending),
    /// The version at a sequence number. For gets that return every visible cell in their columns.
    AsOf(u64),
    /// That at a read point.
    At(&'p ReadPoint),
}

impl<'a> ReadRequest<'a> {
    /// Returns a request for the whole row as it is now, which counts.
    #[inline]
    pub(crate) fn new(get: &'a Get) -> Self {
        Self { get, at: RowVersion::Current, limit: ReadLimit::Unlimited, is_counted: true }
    }

    /// Returns a request for the whole row at `point`, which counts.
    pub(crate) fn at_point(get: &'a Get, point: &'a ReadPoint) -> Self {
        Self { at: RowVersion::At(point), ..Self::new(get) }
    }

    /// Returns the read point, if the request has one.
    #[inline]
    pub(crate) fn point(&self) -> Option<&'a ReadPoint> {
        match self.at {
            RowVersion::At(point) => Some(point),
            RowVersion::Current | RowVersion::With(_) | RowVersion::AsOf(_) => None,
        }
    }
}

impl<'p> RowVersion<'p> {
    #[inline]
    fn read_at(self, context: &ReadContext<'_>) -> ReadAt<'p> {
        match self {
            Self::Current => ReadAt::of(context, None),
            Self::With(pending) => ReadAt::Pending(pending),
            Self::AsOf(sequence) => ReadAt::Sequence(sequence),
            Self::At(point) => ReadAt::Point(point),
        }
    }
}

impl ReadLimit {
    /// Returns the budget for a read that counts cells.
    #[inline]
    fn budget(self) -> ReadBudget {
        match self {
            Self::Unlimited => ReadBudget::WHOLE,
            Self::Bytes(bytes) => ReadBudget { bytes, ..ReadBudget::WHOLE },
            Self::NonBlocking => ReadBudget {
                bytes: BYTES_AT_ONCE_MAX,
                judged_max: CELLS_AT_ONCE_MAX,
                ..ReadBudget::WHOLE
            },
        }
    }

    /// Returns `row` unless it exceeds the limit: a read ends after the cell that does.
    #[inline]
    fn check(self, row: Row) -> Option<Row> {
        (self == Self::Unlimited || row.byte_len() <= self.budget().bytes).then_some(row)
    }
}

/// Reads one row. Returns `None` if the row exceeds the limit, and if flushes or compactions have
/// dropped cells that were visible at the requested sequence number.
pub(crate) fn read_row(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    request: &ReadRequest<'_>,
) -> Result<Option<Row>> {
    let ReadRequest { get, at, limit, .. } = *request;
    if !is_plain(get) {
        return read_filtered_row(context, families, request);
    }
    let query = query(get);
    loop {
        let mut cells = None;
        let read_at = at.read_at(context);
        match read_cells(context, families, get, &query, read_at, limit.budget(), &mut cells)? {
            CellsRead::All => return Ok(limit.check(finish(cells))),
            CellsRead::Some => return Ok(None),
            CellsRead::TooOld if matches!(at, RowVersion::AsOf(_)) => return Ok(None),
            // A region that is being replaced, or a flush between the two loads: the next attempt
            // finds out.
            CellsRead::TooOld | CellsRead::Unsure => std::thread::yield_now(),
        }
    }
}

/// Adds a read row's cells to the trace of the read point.
#[cold]
pub(crate) fn trace_row(families: &[Arc<FamilyStore>], get: &Get, row: &Row, trace: &ReadTrace) {
    // A scanner counts rows itself.
    if is_plain(get) {
        trace.add_get(families, row);
    }
}

/// A row at a time.
#[derive(Clone)]
pub(crate) struct TimedRow {
    pub(crate) row: Row,
    /// The last time in milliseconds at which the row shows the same cells, if nothing writes to
    /// it; `i64::MAX` if no cell in it expires.
    pub(crate) until_millis: i64,
    /// A timestamp that no delete marker in the columns read exceeds; `i64::MIN` if there is no
    /// marker.
    pub(crate) newest_marker_millis: i64,
}

/// Reads one row as it is at a time, which may be in the future, for a get that returns every
/// visible cell in its columns, or about the first `cells_max` in each family. Returns `None` if
/// flushes or compactions have dropped cells visible at the sequence number requested.
pub(crate) fn read_row_at_time(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    version: RowVersion<'_>,
    now_millis: i64,
    cells_max: usize,
) -> Result<Option<TimedRow>> {
    let query = query(get);
    'again: loop {
        let mut cells: Option<RowBuilder> = None;
        let mut until_millis = i64::MAX;
        let mut newest_marker_millis = i64::MIN;
        for family in families.iter().filter(|family| get.columns.selects_family(family.name())) {
            let merge = match find(family, &query, version.read_at(context))? {
                FirstCell::Merge(merge) => merge,
                FirstCell::Nothing => continue,
                FirstCell::TooOld if matches!(version, RowVersion::AsOf(_)) => return Ok(None),
                // A region that is being replaced: the next attempt finds out.
                FirstCell::TooOld => {
                    std::thread::yield_now();
                    continue 'again;
                }
            };
            let mut reader = FamilyReader::at_time(now_millis, family, &query, merge);
            let cells = cells.get_or_insert_default();
            let cells_max = cells.len().saturating_add(cells_max);
            let mut budget = ReadBudget { cells: cells_max, ..ReadBudget::WHOLE };
            reader.read_row(get.row(), &mut budget, cells)?;
            until_millis = until_millis.min(reader.own_until_millis());
            newest_marker_millis = newest_marker_millis.max(reader.newest_marker_millis());
        }
        let row = finish(cells);
        for family in families {
            let Some(ttl) = family.retention().expires_after_millis() else { continue };
            let cells = row.cells().filter(|cell| cell.family() == family.name());
            let earliest = cells.map(|cell| cell.timestamp().as_millis()).min();
            let until = earliest.map_or(i64::MAX, |at| at.saturating_add(ttl));
            until_millis = until_millis.min(until);
        }
        return Ok(Some(TimedRow { row, until_millis, newest_marker_millis }));
    }
}

/// Returns the cells and markers that a family stores for some columns in a row, with their
/// sequence numbers, in cell order: also those that no read shows. Markers for the whole family
/// come with all columns.
pub(crate) fn stored_cells(
    context: &ReadContext<'_>,
    family: &FamilyStore,
    row: &[u8],
    qualifiers: &Qualifiers,
) -> Result<Vec<(u64, Cell)>> {
    let columns = Columns::all();
    let times = BTreeMap::new();
    let query = Query {
        columns: &columns,
        time_range: TimeRange::ALL,
        family_time_ranges: &times,
        versions: u32::MAX,
        rows: Rows::One(row),
        cache_blocks: false,
        reversed: false,
        raw: true,
        filtered: false,
        post_filter: PostFilter::default(),
    };
    let mut merge = loop {
        match find(family, &query, ReadAt::of(context, None))? {
            FirstCell::Merge(merge) => break merge,
            FirstCell::Nothing => return Ok(Vec::new()),
            // A region that is being replaced, or a flush between the two loads.
            FirstCell::TooOld => std::thread::yield_now(),
        }
    };
    let mut cells = Vec::new();
    if qualifiers.is_all() {
        while let Some(cell) = merge.cell().filter(|cell| cell.key.row == row) {
            cells.push((cell.sequence, cell.to_cell()));
            merge.advance()?;
        }
    }
    for qualifier in qualifiers.named() {
        merge.seek(&Key::column_start(row, family.name(), qualifier))?;
        let is_of_column =
            |cell: &CellRef<'_>| cell.key.row == row && cell.key.qualifier == qualifier;
        while let Some(cell) = merge.cell().filter(is_of_column) {
            cells.push((cell.sequence, cell.to_cell()));
            merge.advance()?;
        }
    }
    Ok(cells)
}

/// Whether the get returns every visible cell in its columns.
fn is_plain(get: &Get) -> bool {
    get.filter.is_none() && get.family_limit.is_none() && get.family_offset == 0
}

fn finish(cells: Option<RowBuilder>) -> Row {
    cells.map_or_else(Row::default, RowBuilder::finish)
}

fn query(get: &Get) -> Query<'_> {
    Query {
        columns: &get.columns,
        time_range: get.time_range,
        family_time_ranges: &get.family_time_ranges,
        versions: get.versions,
        rows: Rows::One(get.row()),
        cache_blocks: get.cache_blocks,
        reversed: false,
        raw: false,
        filtered: false,
        post_filter: PostFilter::default(),
    }
}

/// The outcome of reading a row's cells.
#[derive(PartialEq)]
enum CellsRead {
    All,
    /// As many as the budget allowed.
    Some,
    /// The read point is no longer readable; no cell is usable.
    TooOld,
    /// A file that was left out may matter; no cell is usable.
    Unsure,
}

/// Adds the cells of one row to `cells` within the budget; leaves `None` if no source can have any.
fn read_cells(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    query: &Query<'_>,
    at: ReadAt<'_>,
    budget: ReadBudget,
    cells: &mut Option<RowBuilder>,
) -> Result<CellsRead> {
    let read = read_sources(context, families, get, query, at, budget, true, cells)?;
    if read != CellsRead::Unsure {
        return Ok(read);
    }
    *cells = None;
    read_sources(context, families, get, query, at, budget, false, cells)
}

/// As [`read_cells`]. With `leaves_out` it may leave out files that have only older versions.
#[expect(clippy::too_many_arguments, reason = "those of its only caller and one more")]
fn read_sources(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    query: &Query<'_>,
    at: ReadAt<'_>,
    mut budget: ReadBudget,
    leaves_out: bool,
    cells: &mut Option<RowBuilder>,
) -> Result<CellsRead> {
    if get.existence_only {
        budget.cells = 1;
    }
    for family in families.iter().filter(|family| get.columns.selects_family(family.name())) {
        let mut newest = if leaves_out { NewestVersion::of(query, family) } else { None };
        let first = match &mut newest {
            Some(newest) => newest.find(family, query, at)?,
            None => find(family, query, at)?,
        };
        match first {
            FirstCell::Merge(merge) => {
                let mut reader = FamilyReader::new(context.timestamps, family, query, merge);
                let cells = cells.get_or_insert_default();
                let read = reader.read_row(get.row(), &mut budget, cells)?;
                if read == RowRead::Part && (cells.is_empty() || !get.existence_only) {
                    return Ok(CellsRead::Some);
                }
                if newest.is_some_and(|newest| !newest.is_answered_by(family, cells)) {
                    return Ok(CellsRead::Unsure);
                }
            }
            FirstCell::Nothing => {}
            FirstCell::TooOld => return Ok(CellsRead::TooOld),
        }
        if get.existence_only && cells.as_ref().is_some_and(|cells| !cells.is_empty()) {
            break;
        }
    }
    Ok(CellsRead::All)
}

/// Reads a row through a filter or with a limit per family: scans it, as HBase does.
fn read_filtered_row(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    request: &ReadRequest<'_>,
) -> Result<Option<Row>> {
    let ReadRequest { get, at, limit, .. } = *request;
    debug_assert!(matches!(at, RowVersion::Current | RowVersion::At(_)), "a scan has no other");
    let scan = Scan {
        columns: get.columns.clone(),
        time_range: get.time_range,
        family_time_ranges: get.family_time_ranges.clone(),
        versions: get.versions,
        family_limit: get.family_limit,
        family_offset: get.family_offset,
        filter: get.filter.clone(),
        families_on_demand: get.families_on_demand,
        cache_blocks: get.cache_blocks,
        ..Scan::all()
    };
    let rows = Rows::One(get.row());
    let opening = Opening { context, families, rows, point: request.point(), as_of: None };
    let mut scanner = ScanCursor::open(&opening, &scan, None)?;
    if limit == ReadLimit::Unlimited {
        return Ok(Some(scanner.next()?.unwrap_or_default()));
    }
    let until = (limit == ReadLimit::NonBlocking).then(|| Instant::now() + MOMENT);
    let limits = ScanLimits { bytes: limit.budget().bytes, until };
    Ok(match scanner.next_part(&limits, &NO_END_REQUEST)? {
        Scanned::Row { row, is_partial: false } => limit.check(row),
        Scanned::End => Some(Row::default()),
        Scanned::Row { .. } | Scanned::Paused(_) => None,
    })
}
