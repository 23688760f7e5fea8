//! How much of a table lies in row ranges, estimated without reading it.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Columns, ErrorKind, FamilyDescriptor, Put, RowRange, Scan, TableDescriptor, TableName,
};
use rowhouse_store::{RangeEstimate, Store, Table};

/// Rows of the table, and the ones among them that are in the second file or memstore.
const ROWS: u32 = 15_000;
const SECOND_EVERY: u32 = 3;

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn table(store: &Store) -> Arc<Table> {
    store.table(&name()).unwrap()
}

fn row(number: u32) -> String {
    format!("r{number:06}")
}

fn rows(first: u32, end: u32) -> RowRange {
    RowRange::new(row(first), row(end))
}

/// Values are longer from row to row, and begin short again every hundred rows.
fn put(number: u32) -> Put {
    let value = vec![b'v'; 20 + (number % 100) as usize];
    let put = Put::new(row(number)).unwrap().add("f", "q", value).unwrap();
    put.add("g", "q", "other").unwrap()
}

fn family(name: &'static str) -> FamilyDescriptor {
    FamilyDescriptor::new(name).unwrap().attribute("BLOCKSIZE", "1024")
}

/// Returns a table of four regions, with small blocks so that indexes have several levels.
fn filled(flushed: bool) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table_of = TableDescriptor::new(name()).family(family("f")).family(family("g"));
    let splits: Vec<Bytes> = [2_500, 7_500, 14_500].map(|at| row(at).into()).to_vec();
    store.create_table(table_of, &splits).unwrap();
    for second in [false, true] {
        for number in (0..ROWS).filter(|number| number.is_multiple_of(SECOND_EVERY) == second) {
            table(&store).mutate(&put(number).into()).unwrap();
        }
        if flushed {
            table(&store).flush().unwrap();
        }
    }
    (dir, store)
}

fn of(family: &str) -> Columns {
    let mut columns = Columns::all();
    columns.add_family(family.to_owned());
    columns
}

fn estimate(store: &Store, ranges: &[RowRange], columns: &Columns) -> RangeEstimate {
    table(store).estimate(ranges, columns).unwrap()
}

/// Returns the bytes and cells that a scan over the ranges reads.
fn scanned(store: &Store, ranges: &[RowRange], columns: &Columns) -> RangeEstimate {
    let mut read = RangeEstimate::default();
    for range in ranges {
        let scan = Scan { columns: columns.clone(), ..Scan::new(range.clone()) };
        let mut scanner = table(store).scan(scan).unwrap();
        while let Some(row) = scanner.next().unwrap() {
            read.cells += row.len() as u64;
            read.bytes +=
                row.to_cells().iter().map(|cell| cell.as_bytes().len() as u64).sum::<u64>();
        }
    }
    read
}

/// Checks the cell count. Bytes may be half as many more: small blocks have large headers.
fn check_within(factor: f64, estimated: RangeEstimate, read: RangeEstimate, of: &str) {
    for (estimated, read, most) in
        [(estimated.cells, read.cells, factor), (estimated.bytes, read.bytes, 1.5 * factor)]
    {
        let quotient = estimated as f64 / read as f64;
        assert!((1.0 / factor..most).contains(&quotient), "{of}: {estimated}, read={read}");
    }
}

/// Ranges over more than ten blocks in each file, within one region and over several.
fn large_ranges() -> Vec<RowRange> {
    vec![
        RowRange::all(),
        RowRange::new("", row(1_250)),
        RowRange::new(row(14_000), ""),
        rows(0, 500),
        rows(600, 1_700),
        rows(2_000, 3_000),
        rows(2_450, 14_550),
        rows(7_000, 7_500),
        rows(7_500, 8_000),
        RowRange::prefix(b"r01"),
        RowRange::prefix(b"r002"),
    ]
}

#[test]
fn estimates_of_files_are_near_the_amounts_of_a_scan() {
    let (dir, store) = filled(true);
    store.close().unwrap();
    let store = Store::open(dir.path()).unwrap();
    for columns in [Columns::all(), of("f"), of("g")] {
        for range in large_ranges() {
            let ranges = [range.clone()];
            let shown = format!("{range:?}");
            let estimated = estimate(&store, &ranges, &columns);
            let read = scanned(&store, &ranges, &columns);
            check_within(1.5, estimated, read, &shown);
            // Now the blocks at the ends are in the cache.
            check_within(1.3, estimate(&store, &ranges, &columns), read, &shown);
        }
    }
}

#[test]
fn estimates_of_memory_are_near_the_amounts_of_a_scan() {
    let (_dir, store) = filled(false);
    for columns in [Columns::all(), of("f")] {
        for range in large_ranges() {
            let shown = format!("{range:?}");
            let ranges = [range];
            let read = scanned(&store, &ranges, &columns);
            check_within(2.0, estimate(&store, &ranges, &columns), read, &shown);
        }
    }
}

#[test]
fn small_ranges_are_exact_in_memory_and_near_in_cached_blocks() {
    for flushed in [false, true] {
        let (_dir, store) = filled(flushed);
        let columns = of("f");
        for (first, end) in [(0, 1), (100, 101), (100, 130), (2_490, 2_510), (14_990, 15_000)] {
            let ranges = [rows(first, end)];
            let uncached = estimate(&store, &ranges, &columns);
            assert!(uncached.cells <= 2 * u64::from(end - first) + 60, "{first}: {uncached:?}");
            let read = scanned(&store, &ranges, &columns);
            let cells = estimate(&store, &ranges, &columns).cells;
            // In a file, the bytes are known, and cells are assumed to have the file's average
            // size.
            let error_max = if flushed { read.cells / 2 + 2 } else { 0 };
            assert!(cells.abs_diff(read.cells) <= error_max, "{first}: {cells} {read:?}");
        }
        let nothing = [RowRange::new(row(100) + "a", row(101)), RowRange::new("s", "")];
        scanned(&store, &nothing, &columns);
        assert_eq!(estimate(&store, &nothing, &columns).cells, 0);
        assert_eq!(estimate(&store, &[], &columns), RangeEstimate::default());
    }
}

#[test]
fn of_many_ranges_some_are_estimated_for_all() {
    for flushed in [false, true] {
        let (_dir, store) = filled(flushed);
        let columns = of("f");
        let ranges: Vec<_> = (0..ROWS).step_by(60).map(|at| rows(at, at + 40)).collect();
        let read = scanned(&store, &ranges, &columns);
        check_within(1.5, estimate(&store, &ranges, &columns), read, "many ranges");
        let single: Vec<_> = (0..10_000).map(|at| RowRange::row(row(at).as_bytes())).collect();
        let cells = estimate(&store, &single, &columns).cells;
        assert!((5_000..20_000).contains(&cells), "{cells}");
    }
}

#[test]
fn an_index_of_several_levels_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    // Each row fills a block.
    store.create_table(TableDescriptor::new(name()).family(family("f")), &[]).unwrap();
    for number in 0..8_000 {
        let put = Put::new(row(number)).unwrap().add("f", "q", vec![b'v'; 1024]).unwrap();
        table(&store).mutate(&put.into()).unwrap();
    }
    table(&store).flush().unwrap();
    for (first, end) in [(0, 50), (2_900, 3_000), (1_000, 7_000), (7_900, 8_000)] {
        let cells = estimate(&store, &[rows(first, end)], &Columns::all()).cells;
        assert!(
            cells.abs_diff(u64::from(end - first)) <= 2 + u64::from(end - first) / 20,
            "{first}: {cells}"
        );
    }
}

#[test]
fn a_file_of_two_regions_counts_once() {
    let (_dir, store) = filled(true);
    let region = Arc::clone(table(&store).region_of(row(10_000).as_bytes()));
    store.split_region(&region.name().full, Some(row(11_000).into())).unwrap();
    for ranges in [[RowRange::all()], [rows(10_500, 11_500)], [rows(11_000, 12_000)]] {
        let read = scanned(&store, &ranges, &Columns::all());
        check_within(1.2, estimate(&store, &ranges, &Columns::all()), read, "after a split");
    }
}

#[test]
fn a_missing_family_and_a_disabled_table_are_refused() {
    let (_dir, store) = filled(false);
    let refused =
        |columns: &Columns| table(&store).estimate(&[RowRange::all()], columns).unwrap_err().kind();
    assert_eq!(refused(&of("nosuch")), ErrorKind::NoSuchColumnFamily);
    store.disable_table(&name()).unwrap();
    assert_eq!(refused(&Columns::all()), ErrorKind::TableNotEnabled);
}
