//! Deletes the rows of a query, or of a key range.
//!
//! Rows are found by their keys alone, with the columns that conditions are on, and deleted in
//! batches by the ordinary write path: indexes, full-text indexes and observers follow, and the
//! markers are the same as in single deletes.

use std::time::{Duration, Instant};

use rowhouse_model::{Bytes, DeleteRows, DeletedRows, Error, Mutation, Result, RowRange, Scan};
use rowhouse_schema::{Plan, Predicate, TimeZone, parse_zone};
use rowhouse_store::{Region, RegionScanner, ScanLimits, Scanned, Store};

use crate::region::{QueryScan, scan_query, scan_search};
use crate::search::Search;
use crate::table_query::TableQuery;

/// Key bytes at which a batch ends.
const BATCH_BYTES_MAX: usize = 256 << 10;
/// The most batches in a call.
const BATCHES_MAX: usize = 100;
/// How long a call reads rows, and begins further batches.
const CALL_TIME: Duration = Duration::from_secs(1);

/// Deletes rows of one region, from the request's first row on, until the region ends, or for a
/// second or 100 batches.
///
/// A row is deleted only if it matches when it is deleted: conditions on columns are checked again
/// with the row locked. A condition with `matches` is not: it holds for the row as the search saw
/// it. Rows whose keys do not fit the table's template do not match.
///
/// An error after rows were deleted is not returned: the answer ends before the first row that was
/// not, and the next call reports the error if it persists. So no count is lost with an error.
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
    delete_rows_for(CALL_TIME, store, search, region, request)
}

/// As [`delete_rows`], with the time for which rows are read.
fn delete_rows_for(
    time: Duration,
    store: &Store,
    search: Option<&Search>,
    region: &Region,
    request: &DeleteRows,
) -> Result<DeletedRows> {
    request.check()?;
    region.check_serving()?;
    let mut scan = request.scan();
    scan.range = scan.range.intersect(&region.info().range);
    let (mut rows, plan) = match &request.query {
        None => (region.scan(&scan)?, None),
        Some(query) => open_query(store, search, region, query, request.zone.as_deref(), &scan)?,
    };
    let mut start = scan.range.start;
    // Opening a scan may take long, and each call has to make progress.
    let until = Instant::now() + time;
    let mut deleted = 0;
    for nth in 0..BATCHES_MAX {
        // The row that failed in the last call is deleted alone: if it fails again, nothing was
        // deleted before, and the error is returned.
        let rows_max = if nth == 0 { 1 } else { request.batch_rows as usize };
        let (batch, paused) = match next_batch(&mut rows, request, rows_max, until) {
            Err(error) if deleted == 0 => return Err(error),
            // The next call begins after the deleted rows, and reports the error if it persists.
            Err(_) => break,
            Ok(batch) => batch,
        };
        if batch.is_empty() && paused.is_none() {
            let next = next_region(&region.info().range, &request.range, plan.as_ref());
            return Ok(DeletedRows { rows: deleted, next });
        }
        let mut failed = None;
        for (delete, outcome) in batch.iter().zip(delete_batch(region, &batch, plan.as_ref())) {
            match outcome {
                Ok(is_deleted) => deleted += u64::from(is_deleted),
                Err(error) => failed = failed.or(Some((delete.row().clone(), error))),
            }
        }
        match failed {
            Some((_, error)) if deleted == 0 => return Err(error),
            Some((row, _)) => return Ok(DeletedRows { rows: deleted, next: Some(row) }),
            None => {}
        }
        if let Some(last) = batch.last() {
            start = [&last.row()[..], &[0]].concat().into();
        }
        if let Some(row) = paused {
            start = start.max(row);
            break;
        }
        if Instant::now() >= until {
            break;
        }
    }
    Ok(DeletedRows { rows: deleted, next: Some(start) })
}

/// Deletes rows; each result is true if the row still matched.
fn delete_batch(region: &Region, batch: &[Mutation], plan: Option<&Plan>) -> Vec<Result<bool>> {
    match plan.and_then(Plan::column_filter) {
        Some(filter) => region.delete_matching(batch, filter),
        None => region.batch(batch).into_iter().map(|outcome| outcome.map(|_| true)).collect(),
    }
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
    // The table may have replaced the one that the region belongs to.
    region.check_serving()?;
    let judged = TableQuery::new_in(table, predicate.without_matches(), zone)?;
    judged.plan.refuse_qualifiers()?;
    let plan = Some(judged.plan.clone());
    let rows = if has_matches {
        scan_search(search, region, &predicate, scan)?
    } else {
        let scan = &QueryScan { query, scan, limit: None, as_of: 0, ignores_tags: true };
        scan_query(store, region, judged, scan)?
    };
    Ok((rows, plan))
}

/// Reads the next rows, and returns their deletes. If the time was over before the batch was full,
/// also returns the row at which the scan paused.
fn next_batch(
    rows: &mut RegionScanner,
    request: &DeleteRows,
    rows_max: usize,
    until: Instant,
) -> Result<(Vec<Mutation>, Option<Bytes>)> {
    let limits = ScanLimits { until: Some(until), ..ScanLimits::NONE };
    let mut batch: Vec<Mutation> = Vec::new();
    let mut bytes = 0;
    while batch.len() < rows_max && bytes < BATCH_BYTES_MAX {
        match rows.next_part(&limits)? {
            Scanned::Row { row, .. } => {
                bytes += row.key().len();
                batch.push(request.delete_of(Bytes::copy_from_slice(row.key()))?.into());
            }
            Scanned::Paused(row) => return Ok((batch, Some(row))),
            Scanned::End => break,
        }
    }
    Ok((batch, None))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rowhouse_model::{FamilyDescriptor, Put, TableDescriptor, TableName};
    use rowhouse_store::Table;

    use super::*;

    /// A table with rows `u100` to `u199`, in which a number is 1.
    fn mail(store: &Store) -> Arc<Table> {
        let name = TableName::parse("mail").unwrap();
        let mail = TableDescriptor::new(name.clone())
            .family(FamilyDescriptor::new("d").unwrap())
            .attribute("rowhouse.key", "1 [user text]")
            .attribute("rowhouse.columns", "1 d:n count u64");
        store.create_table(mail, &[]).unwrap();
        let mail = store.table(&name).unwrap();
        for nth in 100..200 {
            let put = Put::new(format!("u{nth}")).unwrap();
            let put = put.add("d", "n", 1u64.to_be_bytes()).unwrap();
            mail.mutate(&put.into()).unwrap();
        }
        mail
    }

    #[test]
    fn a_call_that_deletes_no_row_ends_with_its_time() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let mail = mail(&store);
        let region = &mail.regions()[0];
        let mut request = DeleteRows::new(RowRange::all());
        request.query = Some("count > 5".to_owned());
        let call = |request: &DeleteRows, time| {
            delete_rows_for(time, &store, None, region, request).unwrap()
        };
        let paused = DeletedRows { rows: 0, next: Some("u100".into()) };
        assert_eq!(call(&request, Duration::ZERO), paused);
        assert_eq!(call(&request, CALL_TIME), DeletedRows::default());
        request.range.start = "u150\0".into();
        assert_eq!(call(&request, Duration::ZERO).next, Some("u151".into()));
    }

    #[test]
    fn rows_that_their_condition_holds_back_do_not_count_as_writes() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let mail = mail(&store);
        let region = &mail.regions()[0];
        let written = region.requests().writes;
        let predicate = Predicate::parse("count = 1").unwrap();
        let query = TableQuery::new(Arc::clone(&mail), predicate).unwrap();
        let request = DeleteRows::new(RowRange::all());
        let rows = ["u100", "u200", "u101"];
        let batch = rows.map(|row| Mutation::from(request.delete_of(row.into()).unwrap()));
        let filter = query.plan.column_filter().unwrap();
        let deleted = region.delete_matching(&batch, filter).into_iter();
        assert_eq!(deleted.map(|it| it.unwrap()).collect::<Vec<_>>(), [true, false, true]);
        assert_eq!(region.requests().writes - written, 2);
    }
}
