//! Deletes of many rows: those in a range, or those of them that match a query.
//!
//! Rows are found by their keys alone, with the columns that conditions are on, and deleted in
//! batches by the ordinary write path: indexes, full-text indexes and observers follow, and the
//! markers are those of single deletes.

use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, DeleteRows, DeletedRows, Error, Filter, Mutation, Result, RowRange, Scan,
};
use rowhouse_schema::{Plan, Predicate, TimeZone, parse_zone};
use rowhouse_store::{Region, RegionScanner, Store};

use crate::region::{QueryScan, scan_query, scan_search};
use crate::search::Search;
use crate::table_query::TableQuery;

/// Key bytes at which a batch ends.
const BATCH_BYTES_MAX: usize = 256 << 10;
/// The most batches in a call.
const BATCHES_MAX: usize = 100;
/// How long a call begins further batches.
const CALL_TIME: Duration = Duration::from_secs(1);

/// Deletes rows of one region, from the request's first row on, until the region ends, or for a
/// second or 100 batches.
///
/// A row is deleted only if it matches when it is deleted: conditions on columns are checked again
/// with the row locked. A condition with `matches` is not: it holds for the row as the search saw
/// it. Rows whose keys do not fit the table's template do not match.
///
/// An error after rows were deleted is not returned: the answer ends before the rows that were not,
/// and the next call reports it. So the count is exact, unless an answer is lost.
///
/// ```
/// use rowhouse_model::{
///     DeleteRows, FamilyDescriptor, Put, RowRange, TableDescriptor, TableName,
/// };
/// use rowhouse_query::delete_rows;
/// use rowhouse_store::Store;
///
/// # let dir = tempfile::tempdir().unwrap();
/// # let store = Store::open(dir.path())?;
/// let name = TableName::parse("mail")?;
/// let mail = TableDescriptor::new(name.clone())
///     .family(FamilyDescriptor::new("d")?)
///     .attribute("rowhouse.key", "1 [user text]");
/// store.create_table(mail, &[])?;
/// let mail = store.table(&name)?;
/// for user in ["ann", "bob", "bobby"] {
///     mail.mutate(&Put::new(user)?.add("d", "n", "1")?.into())?;
/// }
/// let mut request = DeleteRows::new(RowRange::all());
/// request.query = Some("user starts with 'bob'".to_owned());
/// let deleted = delete_rows(&store, None, &mail.regions()[0], &request)?;
/// assert_eq!((deleted.rows, deleted.next), (2, None));
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Errors
/// As [`scan_region`](crate::scan_region) and [`Region::mutate`]; `InvalidRequest` for a batch size
/// out of bounds and an unknown zone; `Unsupported` for conditions on qualifier fields, and for
/// `matches` in another zone than UTC.
pub fn delete_rows(
    store: &Store,
    search: Option<&Search>,
    region: &Region,
    request: &DeleteRows,
) -> Result<DeletedRows> {
    request.check()?;
    region.check_serving()?;
    let mut scan = Scan::new(request.range.intersect(&region.info().range));
    scan.filter = Some(Box::new(Filter::FirstKeyOnly));
    let (mut rows, plan) = match &request.query {
        None => (region.scan(&scan)?, None),
        Some(query) => open_query(store, search, region, query, request.zone.as_deref(), &scan)?,
    };
    let started = Instant::now();
    let mut deleted = 0;
    for nth in 0.. {
        let batch = next_batch(&mut rows, request);
        let batch = match batch {
            Err(error) if deleted == 0 => return Err(error),
            // The next call begins with the same rows, of which none is left.
            Err(_) => return Ok(DeletedRows { rows: deleted, next: Some(scan.range.start) }),
            Ok(batch) => batch,
        };
        let (Some(first), Some(last)) = (batch.first(), batch.last()) else { break };
        let after_last = Bytes::from([&last.row()[..], &[0]].concat());
        let first = first.row().clone();
        let filter = plan.as_ref().and_then(Plan::column_filter);
        let outcomes: Vec<Result<bool>> = match filter {
            Some(filter) => region.delete_matching(&batch, filter),
            None => region.batch(&batch).into_iter().map(|it| it.map(|_| true)).collect(),
        };
        let mut failed = None;
        for outcome in outcomes {
            match outcome {
                Ok(is_deleted) => deleted += u64::from(is_deleted),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) if deleted == 0 => return Err(error),
            Some(_) => return Ok(DeletedRows { rows: deleted, next: Some(first) }),
            None => scan.range.start = after_last,
        }
        if nth + 1 == BATCHES_MAX || started.elapsed() > CALL_TIME {
            return Ok(DeletedRows { rows: deleted, next: Some(scan.range.start) });
        }
    }
    let next = next_region(&region.info().range, &request.range, plan.as_ref());
    Ok(DeletedRows { rows: deleted, next })
}

/// Opens the rows that match a query, and returns the plan by which they are found.
fn open_query(
    store: &Store,
    search: Option<&Search>,
    region: &Region,
    query: &str,
    zone: Option<&str>,
    scan: &Scan,
) -> Result<(RegionScanner, Option<Plan>)> {
    let zone = zone.map_or(Ok(TimeZone::UTC), parse_zone)?;
    let predicate = Predicate::parse(query)?;
    let has_matches = predicate.has_matches();
    if has_matches && zone != TimeZone::UTC {
        return Err(Error::unsupported("the times in a query with `matches` are in UTC"));
    }
    let table = store.table(&region.info().table)?;
    let judged = TableQuery::new_in(table, predicate.without_matches(), zone)?;
    if let Some(qualifiers) = judged.plan.qualifiers().first() {
        return Err(Error::unsupported(format!(
            "a query with conditions on fields of qualifiers selects cells, and whole rows are \
             deleted: column={}",
            qualifiers.column().name()
        )));
    }
    let plan = Some(judged.plan.clone());
    let rows = if has_matches {
        scan_search(search, region, &predicate, scan)?
    } else {
        let scan = &QueryScan { query, scan, limit: None, as_of: 0 };
        scan_query(store, region, judged, scan)?
    };
    Ok((rows, plan))
}

/// Reads the next rows, and returns their deletes.
fn next_batch(rows: &mut RegionScanner, request: &DeleteRows) -> Result<Vec<Mutation>> {
    let mut batch: Vec<Mutation> = Vec::new();
    let mut bytes = 0;
    while batch.len() < request.batch_rows as usize && bytes < BATCH_BYTES_MAX {
        let Some(row) = rows.next()? else { break };
        bytes += row.key().len();
        batch.push(request.delete_of(Bytes::copy_from_slice(row.key()))?.into());
    }
    Ok(batch)
}

/// Returns the row at which the rest begins: after the region, at the first row that may match.
fn next_region(region: &RowRange, requested: &RowRange, plan: Option<&Plan>) -> Option<Bytes> {
    if region.stop.is_empty() {
        return None;
    }
    let rest = RowRange::new(region.stop.clone(), requested.stop.clone());
    let mut rest = Some(rest).filter(|rest| !rest.is_empty())?;
    if let Some(plan) = plan {
        let left = plan.ranges().iter().map(|range| range.intersect(&rest));
        rest = left.into_iter().find(|range| !range.is_empty())?;
    }
    Some(rest.start)
}
