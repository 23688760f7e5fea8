//! Region scans that carry a query: by the key, or by an index where that reads less.

use rowhouse_model::{Bytes, Error, Result, Row, RowRange, Scan, TableName};
use rowhouse_schema::{Direction, IndexPlan, IndexSchema, KeySchema, Plan, Predicate};
use rowhouse_store::{
    IndexRead, Region, RegionScanner, RowSelection, SelectedRows, Store, is_unreadable,
};

use crate::at_point::{StoreSource, at_once};
use crate::choose::Access;
use crate::covered::Covered;
use crate::entries::Written;
use crate::entry_reader::{EntryQuery, EntryReader};
use crate::judge::{EntryOrder, entry_header};
use crate::projection::Projection;
use crate::search::{self, Search};
use crate::source::{EntryHit, Source};
use crate::table_query::{TableQuery, is_closed, key_of};

/// A scan over the rows in one region that match a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryScan<'a> {
    /// The query, in the query language. Times without a zone are UTC.
    pub query: &'a str,
    /// The scan, all of which applies to the rows that match: a filter sees no others. Conditions
    /// on columns are decided by the newest cells in the scan's time range, whether or not the scan
    /// returns these columns.
    pub scan: &'a Scan,
    /// The most rows that will be read, for choosing an index; `None` for all.
    pub limit: Option<u64>,
    /// As for [`Region::scan_as_of`]; 0 for the current read point. A query with `matches` is
    /// always answered at the current read point.
    pub as_of: u64,
    /// Whether the caller uses neither the tags nor the sequence numbers of cells. Index entries,
    /// which have none, can then be the answer.
    pub ignores_tags: bool,
}

/// Reads a scan's rows that lie in a region and match a query, in scan order. Rows whose keys do
/// not fit the table's template do not match, nor do rows in which a column that decides has a
/// value that does not fit the column type. An index is used where that reads clearly less, and
/// never for a scan with a time range, with several versions, or raw. Entries that are certain,
/// decide all conditions and cover the scan's columns are the answer without their rows, except
/// with a filter, a batch, or limits for each family.
///
/// Conditions with `matches` are answered by `search`.
///
/// ```
/// use rowhouse_model::{FamilyDescriptor, Put, Scan, TableDescriptor, TableName};
/// use rowhouse_query::{QueryScan, scan_region};
/// use rowhouse_store::Store;
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path())?;
/// let name = TableName::parse("mail")?;
/// let mail = TableDescriptor::new(name.clone())
///     .family(FamilyDescriptor::new("d")?)
///     .attribute("rowhouse.key", "1 [user text]")
///     .attribute("rowhouse.columns", "1 d:n count u64");
/// store.create_table(mail, &[])?;
/// let mail = store.table(&name)?;
/// for (user, count) in [("ann", 3u64), ("bob", 7)] {
///     let put = Put::new(user)?.add("d", "n", count.to_be_bytes().to_vec())?;
///     mail.mutate(&put.into())?;
/// }
///
/// let scan = Scan::all();
/// let query = "count > 5";
/// let query = QueryScan { query, scan: &scan, limit: None, as_of: 0, ignores_tags: true };
/// let mut rows = scan_region(&store, None, &mail.regions()[0], &query)?;
/// assert_eq!(rows.next()?.unwrap().key(), b"bob");
/// assert!(rows.next()?.is_none());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Errors
/// As [`Region::scan`]; `InvalidRequest` for a query that is wrong, and for a table without a
/// row-key template; `Unsupported` for conditions on qualifier fields, for declarations from a
/// newer version, and for `matches` in a scan with a time range or without a search; as for the
/// search.
pub fn scan_region(
    store: &Store,
    search: Option<&Search>,
    region: &Region,
    request: &QueryScan<'_>,
) -> Result<RegionScanner> {
    region.check_serving()?;
    let table = store.table(&region.info().table)?;
    // The table may have replaced the one that the region belongs to.
    region.check_serving()?;
    let predicate = Predicate::parse(request.query)?;
    if predicate.has_matches() {
        key_of(&table)?;
        return scan_search(search, region, &predicate, request.scan);
    }
    let query = table_query(store, &region.info().table, predicate)?;
    scan_query(store, region, query, request)
}

/// As [`scan_region`], for a query without `matches`.
pub(crate) fn scan_query(
    store: &Store,
    region: &Region,
    query: TableQuery,
    request: &QueryScan<'_>,
) -> Result<RegionScanner> {
    let ranges = ranges_within(&query.plan, &request.scan.range.intersect(&region.info().range));
    if request.as_of == 0
        && let Some((plan, order)) = choose(store, &query, request, &ranges)?
    {
        let opened = match RowsByIndex::open(store, &query, &plan, order, request, &ranges) {
            // The caller has not named the index.
            Err(error) if is_closed(&error) => None,
            Err(error) if is_unreadable(&error) => {
                tracing::warn!(%error, index = plan.index().name(), "a query is read by the key");
                None
            }
            opened => opened?,
        };
        if let Some((read, rows)) = opened
            && region.is_readable_at(&read.point)
        {
            let hull = hull_of(&ranges);
            let rows = select(rows, hull, request.scan, query.key, query.plan);
            return region.scan_selected(request.scan, rows, Some(&read.point), None);
        }
    }
    let as_of = Some(request.as_of).filter(|&sequence| sequence > 0);
    let hull = hull_of(&ranges);
    let rows = in_order(ranges, request.scan.reversed).into_iter();
    let rows = rows.map(|range| Ok(SelectedRows::Range(range)));
    let rows = select(rows, hull, request.scan, query.key, query.plan);
    region.scan_selected(request.scan, rows, None, as_of)
}

/// Returns the plan by the index that [`scan_region`] would use for a query, if the table had one
/// region; `None` if that reads by the key. Nothing is read for it but estimates.
///
/// # Errors
/// As [`scan_region`]; `TableNotFound`; `InvalidRequest` for a query with `matches`, which is
/// always answered by a full-text index.
pub fn query_index(
    store: &Store,
    table: &TableName,
    request: &QueryScan<'_>,
) -> Result<Option<IndexPlan>> {
    let query = table_query(store, table, Predicate::parse(request.query)?)?;
    let ranges = ranges_within(&query.plan, &request.scan.range);
    if request.as_of != 0 {
        return Ok(None);
    }
    Ok(choose(store, &query, request, &ranges)?.map(|(plan, _)| plan))
}

fn table_query(store: &Store, table: &TableName, predicate: Predicate) -> Result<TableQuery> {
    let query = TableQuery::new(store.table(table)?, predicate)?;
    query.plan.refuse_qualifiers()?;
    Ok(query)
}

fn choose(
    store: &Store,
    query: &TableQuery,
    request: &QueryScan<'_>,
    ranges: &[RowRange],
) -> Result<Option<(IndexPlan, EntryOrder)>> {
    let limit = request.limit.unwrap_or(u64::MAX);
    let mut access: Access = query.access(store, request.scan, ranges, limit, false)?;
    Ok(access.take_index())
}

/// Opens a scan over the rows in a range that match a query with `matches`. The scanner takes the
/// rows that the search has found one after the other, and judges them by the rest of the query.
#[cfg(feature = "search")]
pub(crate) fn scan_search(
    search: Option<&Search>,
    region: &Region,
    predicate: &Predicate,
    scan: &Scan,
) -> Result<RegionScanner> {
    let range = scan.range.intersect(&region.info().range);
    if scan.time_range != rowhouse_model::TimeRange::ALL || !scan.family_time_ranges.is_empty() {
        return Err(Error::unsupported("a query with `matches` cannot have a time range"));
    }
    let search = search.ok_or_else(search::refused)?;
    let rowhouse_search::SearchedRows { table, point, keys } =
        search.rows(&region.info().table, predicate, &range, direction_of(scan))?;
    // The region was replaced since.
    if !region.is_readable_at(&point) {
        return Err(region.not_serving());
    }
    let query = TableQuery::new(table, predicate.without_matches())?;
    let rows = keys.map(|row| Ok(SelectedRows::Range(RowRange::row(&row?))));
    let rows = select(rows, range, scan, query.key, query.plan);
    region.scan_selected(scan, rows, Some(&point), None)
}

#[cfg(not(feature = "search"))]
pub(crate) fn scan_search(
    _: Option<&Search>,
    _: &Region,
    _: &Predicate,
    _: &Scan,
) -> Result<RegionScanner> {
    Err(search::refused())
}

fn select(
    rows: impl Iterator<Item = Result<SelectedRows>> + Send + Sync + 'static,
    hull: RowRange,
    scan: &Scan,
    key: KeySchema,
    plan: Plan,
) -> RowSelection {
    RowSelection::new(Box::new(rows), hull, scan.reversed, key, plan)
}

/// Returns the range from the first to the last one.
fn hull_of(ranges: &[RowRange]) -> RowRange {
    match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) => RowRange::new(first.start.clone(), last.stop.clone()),
        _ => RowRange::new("\0", "\0"),
    }
}

/// Returns a plan's ranges inside a range, in key order.
fn ranges_within(plan: &Plan, range: &RowRange) -> Vec<RowRange> {
    let ranges = plan.ranges().iter().map(|planned| planned.intersect(range));
    ranges.filter(|range| !range.is_empty()).collect()
}

fn in_order(mut ranges: Vec<RowRange>, reversed: bool) -> Vec<RowRange> {
    if reversed {
        ranges.reverse();
    }
    ranges
}

fn direction_of(scan: &Scan) -> Direction {
    if scan.reversed { Direction::Reverse } else { Direction::Forward }
}

/// Returns true if a covered entry has what a scan of the newest versions returns for the row.
fn takes_entries(request: &QueryScan<'_>) -> bool {
    let Scan { filter, batch, family_limit, family_offset, .. } = request.scan;
    request.ignores_tags
        && filter.is_none()
        && batch.is_none()
        && family_limit.is_none()
        && *family_offset == 0
}

/// The rows to which index entries lead, in scan order. Where the index cannot be read any further,
/// these are all rows that are left.
struct RowsByIndex {
    entries: EntryReader<StoreSource>,
    /// How entries are the answer, if they can be.
    covered: Option<Covered>,
    source: StoreSource,
    name: String,
    /// The ranges that hold all rows, in scan order.
    ranges: Vec<RowRange>,
    reversed: bool,
    /// The last row.
    last: Option<Bytes>,
    /// The rest, if the index could not be read.
    rest: Option<std::vec::IntoIter<RowRange>>,
}

impl RowsByIndex {
    /// Opens the rows of `ranges`, and returns where they are read; `None` if the index was altered
    /// or has too many entries.
    fn open(
        store: &Store,
        query: &TableQuery,
        plan: &IndexPlan,
        order: EntryOrder,
        request: &QueryScan<'_>,
        ranges: &[RowRange],
    ) -> Result<Option<(IndexRead, Self)>> {
        let scan = request.scan;
        let index = plan.index();
        // An error says that the table or the index was dropped since.
        let Ok(Some(read)) = store.index_read_point(query.table.name(), index.name()) else {
            return Ok(None);
        };
        let now = read.table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        if read.table.id() != query.table.id() || !now.contains(index) {
            return Ok(None);
        }
        let source = StoreSource::by_index(store, &read);
        let projection = Projection { columns: scan.columns.clone(), keys_only: false };
        let covered = Covered::new(plan, &projection).filter(|_| takes_entries(request));
        let (columns, filter) = match &covered {
            Some(covered) => (covered.entry_columns(), None),
            None => entry_header(index),
        };
        let entries = EntryQuery {
            index: index.clone(),
            entries: plan.plan().clone(),
            order,
            key: query.key.clone(),
            ranges: ranges.to_vec(),
            sorts_logically: false,
            direction: direction_of(scan),
            columns,
            filter,
            retains_entries: covered.is_some(),
        };
        let opened = at_once(EntryReader::open(source.clone(), entries, Written::default()));
        if let Err(error) = &opened {
            source.report_damage(error);
        }
        Ok(opened?.map(|entries| {
            let name = index.name().to_owned();
            let reversed = scan.reversed;
            let ranges = in_order(ranges.to_vec(), reversed);
            let rows =
                Self { entries, covered, source, name, ranges, reversed, last: None, rest: None };
            (read, rows)
        }))
    }

    /// Returns the row of the next entry that leads to another row. While a value with a time to
    /// live hides another, a row has entries for both.
    fn next_row(&mut self) -> Result<Option<SelectedRows>> {
        let hit = loop {
            match at_once(self.entries.next())? {
                None => return Ok(None),
                Some(hit) if self.last.as_ref() == Some(&hit.row) => {}
                Some(hit) => break hit,
            }
        };
        let cells = self.covered_cells(&hit)?;
        let key = hit.row;
        self.last = Some(key.clone());
        Ok(Some(match cells {
            Some(cells) => SelectedRows::Covered { key, cells },
            None => SelectedRows::Range(RowRange::row(&key)),
        }))
    }

    fn covered_cells(&self, hit: &EntryHit) -> Result<Option<Row>> {
        let Some(covered) = &self.covered else { return Ok(None) };
        let Some(now) = self.source.now_millis() else { return Ok(None) };
        covered.cells(hit, now)
    }

    /// Reads the rest by the key.
    fn go_on_by_key(&mut self, error: &Error) {
        self.source.report_damage(error);
        tracing::warn!(%error, index = self.name, "the rest of a query is read by the key");
        let left = match &self.last {
            None => RowRange::all(),
            Some(last) if self.reversed => RowRange::new(Bytes::new(), last.clone()),
            Some(last) => RowRange::new([&last[..], &[0]].concat(), Bytes::new()),
        };
        let ranges = self.ranges.iter().map(|range| range.intersect(&left));
        let ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
        self.rest = Some(ranges.into_iter());
    }
}

impl Iterator for RowsByIndex {
    type Item = Result<SelectedRows>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_none() {
            match self.next_row() {
                Ok(rows) => return rows.map(Ok),
                Err(error) if is_unreadable(&error) => self.go_on_by_key(&error),
                Err(error) => return Some(Err(error)),
            }
        }
        self.rest.as_mut()?.next().map(|range| Ok(SelectedRows::Range(range)))
    }
}
