//! An open scanner sees the state as of its opening, also if the family is altered before a flush,
//! or if the scan reads times before the newest versions.

use std::sync::Arc;

use rowhouse_model::{
    Delete, FamilyDescriptor, Put, Scan, TableDescriptor, TableName, TimeRange, Timestamp,
};
use rowhouse_store::{RegionScanner, ScanLimits, Scanned, Store, Table};

const ROWS: u8 = 4;

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

fn family() -> FamilyDescriptor {
    FamilyDescriptor::new("f").unwrap()
}

fn store(dir: &std::path::Path, family: FamilyDescriptor) -> (Store, Arc<Table>) {
    let store = Store::open(dir).unwrap();
    let name = TableName::parse("t").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    (store, table)
}

fn put(table: &Table, at: i64) {
    for row in 0..ROWS {
        let put = Put::new(vec![row]).unwrap().add_at("f", "q", millis(at), "v").unwrap();
        table.mutate(&put.into()).unwrap();
    }
}

/// Returns the number of cells in each of the next rows.
fn rows(scanner: &mut RegionScanner, up_to: usize) -> Vec<usize> {
    let mut rows = Vec::new();
    while rows.len() < up_to
        && let Scanned::Row { row, .. } = scanner.next_part(&ScanLimits::NONE).unwrap()
    {
        rows.push(row.len());
    }
    rows
}

/// Returns the cells that an open scanner sees if it is registered before the family is altered and
/// flushed.
fn over(
    before: FamilyDescriptor,
    after: FamilyDescriptor,
    scan: Scan,
    write: fn(&Table),
) -> Vec<usize> {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = store(dir.path(), before);
    write(&table);
    let mut scanner = table.regions()[0].scan(&scan).unwrap();
    let mut seen = rows(&mut scanner, 1);
    scanner.follow_flushes().unwrap();
    store.alter_family(table.name(), after).unwrap();
    table.flush().unwrap();
    scanner.follow_flushes().unwrap();
    seen.extend(rows(&mut scanner, usize::MAX));
    seen
}

fn three_versions(table: &Table) {
    (1..4).for_each(|at| put(table, at));
}

fn put_after_a_delete(table: &Table) {
    for row in 0..ROWS {
        let delete = Delete::new(vec![row]).unwrap().column("f", "q", millis(5)).unwrap();
        table.mutate(&delete.into()).unwrap();
    }
    put(table, 1);
}

fn deleted(table: &Table) {
    put(table, 1);
    for row in 0..ROWS {
        let delete = Delete::new(vec![row]).unwrap().column("f", "q", millis(5)).unwrap();
        table.mutate(&delete.into()).unwrap();
    }
}

#[test]
fn a_scanner_sees_its_versions_where_fewer_are_declared() {
    let all = Scan::all().versions(3);
    assert_eq!(over(family().versions(3), family().versions(1), all, three_versions), [3; 4]);
}

#[test]
fn a_scanner_sees_its_cells_where_a_time_to_live_is_declared() {
    let all = Scan::all();
    let after = family().attribute("TTL", "1000");
    assert_eq!(over(family(), after, all, three_versions), [1; 4]);
}

#[test]
fn a_scanner_goes_by_the_order_of_writing_where_that_ends() {
    let before = family().attribute("NEW_VERSION_BEHAVIOR", "TRUE");
    assert_eq!(over(before, family(), Scan::all(), put_after_a_delete), [1; 4]);
}

#[test]
fn a_scanner_sees_deleted_cells_where_they_are_no_longer_retained() {
    let before = family().attribute("KEEP_DELETED_CELLS", "TRUE");
    let scan = Scan::all().time_range(TimeRange::new(millis(0), millis(3)).unwrap());
    assert_eq!(over(before, family(), scan, deleted), [1; 4]);
}

#[test]
fn a_scanner_sees_older_versions_in_its_time_range() {
    let scan = Scan::all().time_range(TimeRange::new(millis(0), millis(3)).unwrap());
    assert_eq!(over(family(), family(), scan, three_versions), [1; 4]);
}
