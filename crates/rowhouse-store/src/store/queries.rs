//! Scans of regions by queries: by the key, or by an index where that reads less.

use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, Error, Filter, Result, RowRange, Scan, TableName, TimeRange};
use rowhouse_schema::{
    COLLECTED_ENTRIES_MAX, ColumnSchema, Direction, ENTRY_FAMILY, IndexCost, IndexPlan,
    IndexSchema, IndexState, KEY_ATTRIBUTE, KeySchema, Plan, Predicate, TimeZone,
};

use super::Store;
use crate::catalog::IndexRead;
use crate::read::{RegionScanner, RowSelection};
use crate::region::{Region, not_serving};
use crate::table::Table;

/// The most bytes of row keys from an index that a scanner holds.
const INDEX_BYTES_MAX: usize = 16 << 20;

/// A scan of the rows of one region that match a query.
#[derive(Clone, Copy, Debug)]
pub struct QueryScan<'a> {
    /// The query, in the query language. Times without a zone are UTC.
    pub query: &'a str,
    /// The scan, all of which applies to the rows that match: a filter sees no others. Conditions
    /// on columns are decided by the newest cells in the scan's time range, whether or not the scan
    /// returns these columns.
    pub scan: &'a Scan,
    /// The most rows that will be read, for the choice of an index; `None` for all.
    pub limit: Option<u64>,
    /// As for [`Region::scan_as_of`]; 0 for the current read point. A query with `matches` is
    /// always answered at the current read point.
    pub as_of: u64,
}

/// A query of a table.
struct TableQuery {
    table: Arc<Table>,
    key: KeySchema,
    columns: Option<ColumnSchema>,
    predicate: Predicate,
    plan: Plan,
}

impl Store {
    /// Reads the rows of a scan that lie in this region and match a query, in the order of the
    /// scan. Rows whose keys do not fit the table's template do not match, nor do rows in which a
    /// column that decides has a value that is not of its type. An index is used where that reads
    /// clearly less, and never for a scan with a time range, of several versions, or raw.
    ///
    /// Conditions with `matches` are answered by a full-text index, through the search that
    /// [`Store::set_row_search`] has set.
    ///
    /// ```
    /// use rowhouse_model::{FamilyDescriptor, Put, Scan, TableDescriptor, TableName};
    /// use rowhouse_store::{QueryScan, Store};
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
    /// let query = QueryScan { query: "count > 5", scan: &scan, limit: None, as_of: 0 };
    /// let mut rows = store.scan_query(&mail.regions()[0], &query)?;
    /// assert_eq!(rows.next()?.unwrap().key(), b"bob");
    /// assert!(rows.next()?.is_none());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Region::scan`]; `InvalidRequest` for a query that is wrong, and for a table without a
    /// row-key template; `Unsupported` for conditions on the fields of qualifiers, for declarations
    /// of a newer version, and for `matches` in a scan with a time range or without a search; those
    /// of [`RowSearch::search`](crate::RowSearch::search).
    pub fn scan_query(&self, region: &Region, asked: &QueryScan<'_>) -> Result<RegionScanner> {
        region.check_serving()?;
        let table = self.table(&region.info().table)?;
        // The table may have taken the place of the one that the region belongs to.
        region.check_serving()?;
        let range = asked.scan.range.intersect(&region.info().range);
        let predicate = Predicate::parse(asked.query)?;
        if predicate.has_matches() {
            key_of(&table)?;
            return self.scan_search(region, &predicate, asked.scan, range);
        }
        let query = TableQuery::new(table, predicate)?;
        let ranges = query.plan.ranges().iter().map(|planned| planned.intersect(&range));
        let ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
        if let Some(index) = self.choose_index(&query, asked, &ranges)?
            && let Some((read, rows)) = self.rows_by_index(&query, &index, &ranges)?
            && read.point.has_seen(region.families())
        {
            let rows = query.select(rows, asked.scan);
            return region.open_selected(asked.scan, Some(rows), Some(&read.point), None);
        }
        let as_of = Some(asked.as_of).filter(|&sequence| sequence > 0);
        region.open_selected(asked.scan, Some(query.select(ranges, asked.scan)), None, as_of)
    }

    /// Returns the plan by the index that [`Store::scan_query`] would use for a query, if the table
    /// had one region; `None` if that reads by the key. Nothing is read for it but estimates.
    ///
    /// # Errors
    /// As [`Store::scan_query`]; `TableNotFound`; `InvalidRequest` for a query with `matches`,
    /// which is always answered by a full-text index.
    pub fn query_index(
        &self,
        table: &TableName,
        asked: &QueryScan<'_>,
    ) -> Result<Option<IndexPlan>> {
        let query = TableQuery::new(self.table(table)?, Predicate::parse(asked.query)?)?;
        let ranges = query.plan.ranges().iter().map(|range| range.intersect(&asked.scan.range));
        let ranges: Vec<_> = ranges.filter(|range| !range.is_empty()).collect();
        self.choose_index(&query, asked, &ranges)
    }

    /// Opens a scan of the rows of a range that match a query with `matches`. The scanner takes the
    /// rows that the search has found one after the other, and judges them by the rest of the
    /// query.
    fn scan_search(
        &self,
        region: &Region,
        predicate: &Predicate,
        scan: &Scan,
        range: RowRange,
    ) -> Result<RegionScanner> {
        if scan.time_range != TimeRange::ALL || !scan.family_time_ranges.is_empty() {
            return Err(Error::unsupported("a query with `matches` cannot have a time range"));
        }
        let direction = if scan.reversed { Direction::Reverse } else { Direction::Forward };
        let search = self.row_search()?;
        let found = search.search(&region.info().table, predicate, &range, direction)?;
        // The region was replaced since.
        if !found.point.has_seen(region.families()) {
            return Err(not_serving(region.name()));
        }
        let TableQuery { key, plan, .. } =
            TableQuery::new(found.table, predicate.without_matches())?;
        let rows = RowSelection::of_rows(found.keys, range, key, plan);
        region.open_selected(scan, Some(rows), Some(&found.point), None)
    }

    /// Returns the plan by the index that reads least, if the key costs clearly more.
    fn choose_index(
        &self,
        query: &TableQuery,
        asked: &QueryScan<'_>,
        ranges: &[RowRange],
    ) -> Result<Option<IndexPlan>> {
        let scan = asked.scan;
        let is_newest = scan.versions == 1
            && !scan.raw
            && scan.time_range == TimeRange::ALL
            && scan.family_time_ranges.is_empty();
        // Declarations of a newer version are of no use, but the key is as good as ever.
        let Ok(Some(indexes)) = query.table.indexes() else { return Ok(None) };
        if !is_newest || asked.as_of != 0 {
            return Ok(None);
        }
        let key_cells = query.table.estimate(ranges, &query.columns_read(&scan.columns))?.cells;
        if IndexCost::is_key_cheap(key_cells as f64) {
            return Ok(None);
        }
        let mut candidates = Vec::new();
        for index in indexes.indexes() {
            let TableQuery { key, columns, predicate, .. } = query;
            let plan = index.plan(key, columns.as_ref(), predicate, &TimeZone::UTC, &scan.columns);
            let Ok(plan) = plan else { continue };
            let Some(entry_cells) = self.estimate_entries(&query.table, &plan)? else { continue };
            candidates.push((IndexCost { entry_cells, streams: false, is_covered: false }, plan));
        }
        let limit = asked.limit.unwrap_or(u64::MAX);
        let entries = candidates.iter().map(|(cost, plan)| cost.entries(plan));
        let key_cost = IndexCost::of_key(key_cells, limit, entries);
        let possible = candidates.into_iter().filter(|(cost, plan)| cost.is_possible(plan));
        let costs = possible.map(|(cost, plan)| (cost.cells(&plan, limit), plan));
        let least = costs.min_by(|(one, _), (other, _)| one.total_cmp(other));
        Ok(least.filter(|(cost, _)| IndexCost::is_clearly_less(*cost, key_cost)).map(|it| it.1))
    }

    /// Returns about how many cells of entries a plan reads; `None` if the index is not ready.
    fn estimate_entries(&self, table: &Table, plan: &IndexPlan) -> Result<Option<u64>> {
        // The index may have been dropped since.
        let Ok(entries) = self.table(&plan.index().table_name(table.name())?) else {
            return Ok(None);
        };
        if !IndexState::of_table(entries.descriptor())?.is_ready() {
            return Ok(None);
        }
        let estimate = entries.estimate(plan.plan().ranges(), &Columns::all())?;
        Ok(Some(estimate.cells))
    }

    /// Returns the rows of `ranges` to which the entries of an index lead, as ranges, and where
    /// they were read; `None` if the index was altered or has too many.
    fn rows_by_index(
        &self,
        query: &TableQuery,
        plan: &IndexPlan,
        ranges: &[RowRange],
    ) -> Result<Option<(IndexRead, Vec<RowRange>)>> {
        let index = plan.index();
        // An error says that the table or the index was dropped since.
        let Ok(Some(read)) = self.index_read_point(query.table.name(), index.name()) else {
            return Ok(None);
        };
        let now = read.table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        if read.table.id() != query.table.id() || !now.contains(index) {
            return Ok(None);
        }
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for range in plan.plan().ranges() {
            let mut scan = Scan::new(range.clone());
            if index.is_copy() {
                scan.filter = Some(Box::new(Filter::FirstKeyOnly));
            } else {
                scan = scan.column(ENTRY_FAMILY, "");
            }
            let mut entries = read.entries.scan_at(scan, &read.point)?;
            while let Some(entry) = entries.next()? {
                let row = index.row_key(entry.key())?;
                if !plan.holds(entry.key()) || !RowRange::one_contains(ranges, &row) {
                    continue;
                }
                bytes += row.len() + size_of::<RowRange>();
                if rows.len() == COLLECTED_ENTRIES_MAX || bytes > INDEX_BYTES_MAX {
                    return Ok(None);
                }
                rows.push(row);
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let ranges = rows.into_iter().map(|mut row| {
            row.push(0);
            let stop = Bytes::from(row);
            RowRange::new(stop.slice(..stop.len() - 1), stop)
        });
        Ok(Some((read, ranges.collect())))
    }
}

impl TableQuery {
    fn new(table: Arc<Table>, predicate: Predicate) -> Result<Self> {
        let key = key_of(&table)?;
        let columns = ColumnSchema::of_table(table.descriptor())?;
        let plan = match &columns {
            Some(columns) => key.plan_with_columns(columns, &predicate, &TimeZone::UTC)?,
            None => key.plan_in(&predicate, &TimeZone::UTC)?,
        };
        if let Some(qualifiers) = plan.qualifiers().first() {
            return Err(Error::unsupported(format!(
                "a query of a scan cannot have conditions on fields of qualifiers, use a filter: \
                 column={}",
                qualifiers.column().name()
            )));
        }
        Ok(Self { table, key, columns, predicate, plan })
    }

    /// Returns the columns that are read for a scan of `wanted`.
    fn columns_read(&self, wanted: &Columns) -> Columns {
        let mut columns = wanted.clone();
        if let Some(filter) = self.plan.column_filter() {
            columns.include(&filter.reads());
        }
        columns
    }

    fn select(self, ranges: Vec<RowRange>, scan: &Scan) -> RowSelection {
        RowSelection::of_ranges(ranges, scan.reversed, self.key, self.plan)
    }
}

fn key_of(table: &Table) -> Result<KeySchema> {
    KeySchema::of_table(table.descriptor())?.ok_or_else(|| {
        Error::invalid(format!(
            "a query needs a row-key template, and table {} has none: attribute={KEY_ATTRIBUTE}",
            table.name()
        ))
    })
}
