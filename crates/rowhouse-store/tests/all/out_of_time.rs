//! A scan that is out of time stops soon, also within a row, and resumes at the same position.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Cell, Delete, FamilyDescriptor, Filter, Put, Scan, TableDescriptor, TableName, Timestamp,
};
use rowhouse_store::{ScanLimits, Scanned, Store, Table};

const ROWS: u32 = 4;
const COLUMNS: u32 = 1500;

/// Returns a table of wide rows, in a file and in memory, with older versions and markers.
fn table(dir: &Path) -> (Store, Arc<Table>) {
    let store = Store::open(dir).unwrap();
    let name = TableName::parse("t").unwrap();
    let family = |name| FamilyDescriptor::new(name).unwrap().versions(3);
    let descriptor = TableDescriptor::new(name.clone()).family(family("a")).family(family("b"));
    store.create_table(descriptor, &[]).unwrap();
    let table = store.table(&name).unwrap();
    let at = |millis| Timestamp::from_millis(millis).unwrap();
    for millis in 1..=3 {
        for row in 0..ROWS {
            let mut put = Put::new(row.to_be_bytes().to_vec()).unwrap();
            for column in (0..COLUMNS).filter(|column| i64::from(column % 3) < millis) {
                let value = format!("{}", column % 100);
                for family in ["a", "b"] {
                    put = put.add_at(family, column.to_be_bytes(), at(millis), &*value).unwrap();
                }
            }
            table.mutate(&put.into()).unwrap();
        }
        if millis == 2 {
            table.flush().unwrap();
        }
    }
    let mut delete = Delete::new(2u32.to_be_bytes().to_vec()).unwrap();
    for column in 100..COLUMNS {
        delete = delete.column("b", column.to_be_bytes(), at(9)).unwrap();
    }
    table.mutate(&delete.into()).unwrap();
    (store, table)
}

fn filter(text: &str) -> Filter {
    Filter::parse(text).unwrap()
}

/// Returns the cells row by row and the number of pauses for a scan whose time is always over.
fn read_out_of_time(table: &Table, scan: &Scan, bytes: u64) -> (Vec<Vec<Cell>>, usize) {
    let until = Some(Instant::now() - Duration::from_secs(1));
    let mut scanner = table.regions()[0].scan(scan).unwrap();
    let mut rows = Vec::<Vec<Cell>>::new();
    let mut pauses = 0;
    loop {
        match scanner.next_part(&ScanLimits { bytes, until }).unwrap() {
            Scanned::Row { row, .. } => match rows.last_mut() {
                Some(last) if last[0].row() == row.key() => last.extend(row.to_cells()),
                _ => rows.push(row.to_cells()),
            },
            Scanned::Paused(_) => pauses += 1,
            Scanned::End => return (rows, pauses),
        }
    }
}

fn read(table: &Table, scan: &Scan) -> Vec<Vec<Cell>> {
    let mut scanner = table.regions()[0].scan(scan).unwrap();
    let rows = std::iter::from_fn(|| scanner.next().unwrap());
    let mut joined = Vec::<Vec<Cell>>::new();
    for row in rows {
        match joined.last_mut() {
            Some(last) if last[0].row() == row.key() => last.extend(row.to_cells()),
            _ => joined.push(row.to_cells()),
        }
    }
    joined
}

#[test]
fn the_time_limit_is_checked_between_rows_that_a_filter_skips() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = table(dir.path());
    let scan = Scan::all().filter(filter("ValueFilter(=, 'binary:none')"));
    let (rows, pauses) = read_out_of_time(&table, &scan, u64::MAX);
    assert!(rows.is_empty());
    // Before each row: a row has more cells than are matched between two checks of the time.
    assert_eq!(pauses, ROWS as usize);
}

#[test]
fn the_time_limit_is_checked_within_rows_that_are_returned_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = table(dir.path());
    let scan = Scan::all().filter(filter("ValueFilter(=, 'binary:none')"));
    let (rows, pauses) = read_out_of_time(&table, &scan, u64::MAX - 1);
    assert!(rows.is_empty());
    let cells = 2 * ROWS * COLUMNS;
    assert!(pauses > 2 * cells as usize / 1024, "{pauses}");
}

#[test]
fn rows_left_for_lack_of_time_go_on_where_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = table(dir.path());
    let filtered = |text| Scan::all().filter(filter(text));
    let on_demand = |text| Scan { families_on_demand: true, ..filtered(text) };
    let names = [5u32, 900, 1400].map(|column| column.to_be_bytes());
    let named = |scan| names.iter().fold(scan, |scan: Scan, name| scan.column("b", name.to_vec()));
    let scans = [
        Scan::all(),
        Scan::all().versions(3),
        named(Scan::all()),
        Scan { raw: true, ..Scan::all().versions(3) },
        Scan { batch: Some(700), limit: Some(3), ..Scan::all() },
        Scan { family_limit: Some(20), family_offset: 1300, ..Scan::all().versions(3) },
        filtered("ValueFilter(=, 'binary:7')").versions(2),
        filtered("ColumnPaginationFilter(4, 1450)"),
        filtered("ColumnCountGetFilter(2000)"),
        filtered("PageFilter(2)"),
        filtered("ValueFilter(=, 'binary:7') AND PageFilter(3)"),
        filtered("SingleColumnValueFilter('a', 'none', =, 'binary:1')"),
        on_demand("SingleColumnValueFilter('a', 'none', =, 'binary:1', true, true)"),
        on_demand("ValueFilter(=, 'binary:7')"),
    ];
    for scan in scans.iter().flat_map(|scan| [scan.clone(), scan.clone().reversed()]) {
        let expected = read(&table, &scan);
        for bytes in [u64::MAX, u64::MAX - 1, 20_000] {
            let (rows, _) = read_out_of_time(&table, &scan, bytes);
            let lens = |rows: &[Vec<Cell>]| rows.iter().map(Vec::len).collect::<Vec<_>>();
            assert_eq!(lens(&rows), lens(&expected), "{scan:?}");
            assert!(rows == expected, "{scan:?}");
        }
    }
}

#[test]
fn a_row_counts_whose_last_part_has_nothing_to_show() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = table(dir.path());
    // Row 2 comes as a whole before its markers.
    let scan = Scan { batch: Some(COLUMNS + 100), limit: Some(3), ..Scan::all() };
    let rows: Vec<_> = read(&table, &scan).iter().map(Vec::len).collect();
    assert_eq!(rows, [2 * COLUMNS as usize, 2 * COLUMNS as usize, COLUMNS as usize + 100]);
}
