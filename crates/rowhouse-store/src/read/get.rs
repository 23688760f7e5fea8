//! Reads one row.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{Cell, Columns, Get, Result, Row, RowBuilder, Scan, TimeRange};

use super::family::{FamilyReader, FirstCell, Query, Rows, find};
use super::newest_version::NewestVersion;
use super::post_filter::PostFilter;
use super::row::{CELLS_BETWEEN_CHECKS, ReadBudget, RowRead};
use super::scan::{NOT_ASKED, Opening, ScanCursor, ScanLimits, Scanned};
use super::{Pending, ReadAt, ReadContext, ReadPoint, ReadTrace};
use crate::cells::Cells;
use crate::family::FamilyStore;
use crate::wait_mode::NonBlocking;

/// Limits of a non-blocking read: bytes of returned cells (at a hundred bytes per cell, 0.2 ms),
/// cells matched, and the time for reads that do not count cells.
const BYTES_AT_ONCE_MAX: u64 = 256 << 10;
const CELLS_AT_ONCE_MAX: u64 = 16 * CELLS_BETWEEN_CHECKS;
const MOMENT: Duration = Duration::from_millis(1);

/// Reads one row at `point`, or at the current read point.
pub(crate) fn read_row(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    point: Option<&ReadPoint>,
) -> Result<Row> {
    if !is_plain(get) {
        return read_filtered_row(context, families, get, point);
    }
    let asked = asked(get);
    loop {
        let mut cells = None;
        let at = ReadAt::of(context, point);
        match read_cells(context, families, get, &asked, at, ReadBudget::WHOLE, &mut cells)? {
            CellsRead::TooOld | CellsRead::Unsure => {}
            CellsRead::Some | CellsRead::All => return Ok(finish(cells)),
        }
    }
}

/// As [`read_row`], at a read point that has this trace.
#[cold]
pub(crate) fn read_row_traced(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    point: &ReadPoint,
    trace: &ReadTrace,
) -> Result<Row> {
    let row = read_row(context, families, get, Some(point))?;
    // A scanner counts its rows itself.
    if is_plain(get) {
        trace.add_get(families, &row);
    }
    Ok(row)
}

/// Reads one row with cells that are about to be committed, for a get that returns every visible
/// cell of its columns.
pub(crate) fn read_row_pending(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    pending: &Pending,
) -> Result<Row> {
    let asked = asked(get);
    loop {
        let mut cells = None;
        let at = ReadAt::Pending(pending);
        match read_cells(context, families, get, &asked, at, ReadBudget::WHOLE, &mut cells)? {
            // A region that is being replaced: the next attempt finds out.
            CellsRead::TooOld | CellsRead::Unsure => std::thread::yield_now(),
            CellsRead::Some | CellsRead::All => return Ok(finish(cells)),
        }
    }
}

/// A row at a time.
#[derive(Clone)]
pub(crate) struct TimedRow {
    pub(crate) row: Row,
    /// The last time in milliseconds at which the row shows the same cells, if nothing writes to
    /// it; `i64::MAX` if none of its cells expires.
    pub(crate) until_millis: i64,
    /// A timestamp that no delete marker of the columns read is newer than; `i64::MIN` if there is
    /// no marker.
    pub(crate) newest_marker_millis: i64,
}

/// The version of a row that a read sees.
#[derive(Clone, Copy)]
pub(crate) enum RowVersion<'p> {
    Current,
    /// The current one, with cells that are about to be committed.
    With(&'p Pending),
    /// That at a sequence number.
    AsOf(u64),
    /// That at a read point.
    At(&'p ReadPoint),
}

/// Reads one row as it is at a time, which may be in the future, for a get that returns every
/// visible cell of its columns. Returns `None` if flushes or compactions have dropped cells visible
/// at the sequence number asked for.
pub(crate) fn read_row_at_time(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    version: RowVersion<'_>,
    now_millis: i64,
) -> Result<Option<TimedRow>> {
    let asked = asked(get);
    'again: loop {
        let mut cells: Option<RowBuilder> = None;
        let mut until_millis = i64::MAX;
        let mut newest_marker_millis = i64::MIN;
        for family in families.iter().filter(|family| get.columns.selects_family(family.name())) {
            let at = match version {
                RowVersion::Current => ReadAt::of(context, None),
                RowVersion::With(pending) => ReadAt::Pending(pending),
                RowVersion::AsOf(sequence) => ReadAt::Sequence(sequence),
                RowVersion::At(point) => ReadAt::Point(point),
            };
            let merge = match find(family, &asked, at)? {
                FirstCell::Merge(merge) => merge,
                FirstCell::Nothing => continue,
                FirstCell::TooOld if matches!(version, RowVersion::AsOf(_)) => return Ok(None),
                // A region that is being replaced: the next attempt finds out.
                FirstCell::TooOld => {
                    std::thread::yield_now();
                    continue 'again;
                }
            };
            let mut reader = FamilyReader::at_time(now_millis, family, &asked, merge);
            let mut budget = ReadBudget::WHOLE;
            let cells = cells.get_or_insert_default();
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

/// Returns all cells and markers of a row that a family stores, with their sequence numbers, in
/// cell order: also those that no read shows.
pub(crate) fn stored_cells(
    context: &ReadContext<'_>,
    family: &FamilyStore,
    row: &[u8],
) -> Result<Vec<(u64, Cell)>> {
    let columns = Columns::all();
    let times = BTreeMap::new();
    let asked = Query {
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
        match find(family, &asked, ReadAt::of(context, None))? {
            FirstCell::Merge(merge) => break merge,
            FirstCell::Nothing => return Ok(Vec::new()),
            // A region that is being replaced, or a flush between the two loads.
            FirstCell::TooOld => std::thread::yield_now(),
        }
    };
    let mut cells = Vec::new();
    while let Some(cell) = merge.cell().filter(|cell| cell.key.row == row) {
        cells.push((cell.sequence, cell.to_cell()));
        merge.advance()?;
    }
    Ok(cells)
}

/// Reads one row at the current read point if it has few cells to return and to skip; otherwise
/// returns `WouldBlock`.
pub(crate) fn read_row_at_once(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
) -> Result<NonBlocking<Row>> {
    if !is_plain(get) {
        let limits = ScanLimits { bytes: BYTES_AT_ONCE_MAX, until: Some(Instant::now() + MOMENT) };
        return Ok(
            match filtered_scanner(context, families, get, None)?.next_part(&limits, &NOT_ASKED)? {
                Scanned::Row { row, is_partial: false } => NonBlocking::Done(row),
                Scanned::End => NonBlocking::Done(Row::default()),
                Scanned::Row { .. } | Scanned::Paused(_) => NonBlocking::WouldBlock,
            },
        );
    }
    let asked = asked(get);
    let budget =
        ReadBudget { bytes: BYTES_AT_ONCE_MAX, judged_max: CELLS_AT_ONCE_MAX, ..ReadBudget::WHOLE };
    loop {
        let mut cells = None;
        let at = ReadAt::of(context, None);
        match read_cells(context, families, get, &asked, at, budget, &mut cells)? {
            CellsRead::All => return Ok(NonBlocking::Done(finish(cells))),
            CellsRead::Some => return Ok(NonBlocking::WouldBlock),
            CellsRead::TooOld | CellsRead::Unsure => {}
        }
    }
}

/// Whether the get returns every visible cell of its columns.
fn is_plain(get: &Get) -> bool {
    get.filter.is_none() && get.family_limit.is_none() && get.family_offset == 0
}

/// Reads a row as it was at `sequence`, for a get that returns every visible cell of its columns.
/// Returns `None` if flushes or compactions have dropped cells visible then.
pub(crate) fn read_row_as_of(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    sequence: u64,
) -> Result<Option<Row>> {
    let mut cells = None;
    let at = ReadAt::Sequence(sequence);
    let read = read_cells(context, families, get, &asked(get), at, ReadBudget::WHOLE, &mut cells)?;
    Ok((read != CellsRead::TooOld).then(|| finish(cells)))
}

fn finish(cells: Option<RowBuilder>) -> Row {
    cells.map_or_else(Row::default, RowBuilder::finish)
}

fn asked(get: &Get) -> Query<'_> {
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
    asked: &Query<'_>,
    at: ReadAt<'_>,
    budget: ReadBudget,
    cells: &mut Option<RowBuilder>,
) -> Result<CellsRead> {
    let read = read_sources(context, families, get, asked, at, budget, true, cells)?;
    if read != CellsRead::Unsure {
        return Ok(read);
    }
    *cells = None;
    read_sources(context, families, get, asked, at, budget, false, cells)
}

/// As [`read_cells`]. With `leaves_out` it may leave out files that have only older versions.
#[expect(clippy::too_many_arguments, reason = "those of its only caller and one more")]
fn read_sources(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    asked: &Query<'_>,
    at: ReadAt<'_>,
    mut budget: ReadBudget,
    leaves_out: bool,
    cells: &mut Option<RowBuilder>,
) -> Result<CellsRead> {
    if get.existence_only {
        budget.cells = 1;
    }
    for family in families.iter().filter(|family| get.columns.selects_family(family.name())) {
        let mut newest = if leaves_out { NewestVersion::of(asked, family) } else { None };
        let found = match &mut newest {
            Some(newest) => newest.find(family, asked, at)?,
            None => find(family, asked, at)?,
        };
        match found {
            FirstCell::Merge(merge) => {
                let mut reader = FamilyReader::new(context.timestamps, family, asked, merge);
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

/// Reads a row through a filter or with a limit per family.
fn read_filtered_row(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    point: Option<&ReadPoint>,
) -> Result<Row> {
    Ok(filtered_scanner(context, families, get, point)?.next()?.unwrap_or_default())
}

/// Opens a scan of one row, as HBase does for such a get.
fn filtered_scanner(
    context: &ReadContext<'_>,
    families: &[Arc<FamilyStore>],
    get: &Get,
    point: Option<&ReadPoint>,
) -> Result<ScanCursor> {
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
    let opening = Opening { context, families, rows: Rows::One(get.row()), point, as_of: None };
    ScanCursor::open(&opening, &scan, None)
}
