//! Reads at a read point with a trace: they return what other reads return, and the trace tells
//! what they looked at.

use std::sync::Arc;

use proptest::prelude::*;
use rowhouse_model::{
    Cell, Delete, FamilyDescriptor, Filter, Get, Put, Row, RowRange, Scan, TableDescriptor,
    TableName, TimeRange, Timestamp,
};
use rowhouse_store::{
    CompactionSettings, FileReads, ReadPoint, ReadReport, ReadTrace, Settings, Store, Table,
};

fn open(dir: &std::path::Path, families: &[FamilyDescriptor]) -> (Store, Arc<Table>) {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let descriptor = TableDescriptor::new(name.clone());
    let descriptor = families.iter().cloned().fold(descriptor, TableDescriptor::family);
    store.create_table(descriptor, &["m".into()]).unwrap();
    let table = store.table(&name).unwrap();
    (store, table)
}

fn family(name: &'static str) -> FamilyDescriptor {
    FamilyDescriptor::new(name).unwrap().versions(3)
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

fn put(table: &Table, row: &str, family: &'static str, at: i64, value: &str) {
    let put = Put::new(row.to_owned()).unwrap();
    let put = put.add_at(family, "q", millis(at), value).unwrap();
    table.mutate(&put.into()).unwrap();
}

/// Runs reads at the current read point, and returns what they looked at.
fn traced<T>(store: &Store, read: impl FnOnce(&Arc<ReadPoint>) -> T) -> (T, ReadReport) {
    let trace = Arc::<ReadTrace>::default();
    let point = Arc::new(store.read_point().traced(&trace));
    let result = read(&point);
    (result, trace.report())
}

fn rows(table: &Arc<Table>, scan: &Scan, point: &Arc<ReadPoint>) -> Vec<Row> {
    let mut scanner = table.scan_at(scan.clone(), point).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap()).collect()
}

fn files(report: &ReadReport) -> Vec<&FileReads> {
    let regions = report.tables.iter().flat_map(|table| &table.regions);
    regions.flat_map(|region| &region.families).flat_map(|family| &family.files).collect()
}

#[test]
fn a_trace_shows_why_each_file_was_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), &[family("a").versions(1)]);
    for (rows, at) in [(["b", "d"], 1), (["b", "e"], 20), (["x", "y"], 1)] {
        rows.iter().for_each(|row| put(&table, row, "a", at, "v"));
        table.flush().unwrap();
    }
    put(&table, "b", "a", 30, "in memory");

    let (row, report) = traced(&store, |point| table.get_at(&Get::new("d").unwrap(), point));
    assert_eq!(row.unwrap().cells().count(), 1);
    let [first, second] = files(&report)[..] else { panic!("{report:?}") };
    assert_eq!((first.reads, first.cells_read, first.left_out()), (1, 1, 0));
    assert_eq!((second.reads, second.left_out_by_bloom), (0, 1), "it has b and e");
    assert_eq!(first.blocks_cached + first.blocks_from_disk, 1);
    assert!(first.parts_read.iter().any(|read| *read));
    let total = report.total();
    assert_eq!((total.gets, total.scans, total.regions), (1, 0, 1));
    assert_eq!((total.files_read, total.files_left_out), (1, 1));

    let since_20 = TimeRange::new(millis(20), millis(100)).unwrap();
    let scan = Scan { time_range: since_20, ..Scan::new(RowRange::new("", "m")) };
    let (result, report) = traced(&store, |point| rows(&table, &scan, point));
    assert_eq!(result.len(), 2, "b from memory and e");
    let [first, second] = files(&report)[..] else { panic!("{report:?}") };
    assert_eq!((first.left_out_by_times, second.reads), (1, 1));
    let family = &report.tables[0].regions[0].families[0];
    assert_eq!((family.memory_cells, family.cells_returned), (1, 2));

    let (_, report) =
        traced(&store, |point| rows(&table, &Scan::new(RowRange::new("e", "f")), point));
    assert_eq!(files(&report)[0].left_out_by_rows, 1);
}

#[test]
fn a_get_of_one_column_leaves_out_files_older_than_the_put_it_finds() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), &[family("a")]);
    for at in [10, 20, 30] {
        put(&table, "b", "a", at, &at.to_string());
        table.flush().unwrap();
    }
    let column = Get::new("b").unwrap().column("a", "q");
    let read = |get: &Get| {
        let (row, report) = traced(&store, |point| table.get_at(get, point).unwrap());
        let times = row.cells().map(|cell| cell.timestamp().as_millis()).collect::<Vec<_>>();
        let of_file = |file: &&FileReads| (file.reads, file.left_out_by_newer);
        (times, files(&report).iter().map(of_file).collect::<Vec<_>>())
    };
    let left_out = (0, 1);
    let opened = (1, 0);
    assert_eq!(read(&column), (vec![30], vec![left_out, left_out, opened]));
    let all = vec![opened; 3];
    assert_eq!(read(&column.clone().versions(2)), (vec![30, 20], all.clone()));
    assert_eq!(read(&Get::new("b").unwrap()), (vec![30], all.clone()), "no column is named");
    // A file with a put as old as a marker in memory may matter, and so may every older file.
    let delete = Delete::new("b").unwrap().column("a", "q", millis(30)).unwrap();
    table.mutate(&delete.into()).unwrap();
    assert_eq!(read(&column), (vec![], all));
    put(&table, "b", "a", 31, "in memory");
    assert_eq!(read(&column), (vec![31], vec![left_out; 3]));
}

#[test]
fn a_file_that_a_limited_scan_does_not_reach_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), &[family("a")]);
    for row in ["b", "d", "f"] {
        put(&table, row, "a", 1, "v");
        table.flush().unwrap();
    }
    let scan = Scan { limit: Some(1), ..Scan::all() };
    let (result, report) = traced(&store, |point| rows(&table, &scan, point));
    assert_eq!(result.len(), 1);
    let reads: Vec<u64> = files(&report).iter().map(|file| file.reads).collect();
    // The end of a row is seen at the next one.
    assert_eq!(reads, [1, 1, 0]);
    let total = report.total();
    assert_eq!((total.rows_read, total.rows_returned, total.cells_read), (1, 1, 2));
}

#[test]
fn a_block_comes_from_the_disk_first_and_then_from_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), &[family("a")]);
    for nth in 0..2_000 {
        put(&table, &format!("b{nth:06}"), "a", 1, &"v".repeat(200));
    }
    table.flush().unwrap();
    let get = Get::new("b001000").unwrap();
    let read = || traced(&store, |point| table.get_at(&get, point).unwrap()).1.total();
    let first = read();
    let second = read();
    assert_eq!((first.blocks_cached, first.blocks_from_disk), (0, 1));
    assert_eq!((second.blocks_cached, second.blocks_from_disk), (1, 0));
    assert!(first.bytes_from_disk > 30_000 && first.bytes_from_disk == second.bytes_cached);

    let (result, report) = traced(&store, |point| rows(&table, &Scan::all(), point));
    let file = files(&report)[0];
    assert_eq!((result.len(), file.cells_read), (2_000, 2_000));
    assert!(file.parts_read.iter().all(|read| *read), "a full scan reads every part");
}

#[derive(Clone, Debug)]
enum Step {
    Put { row: u8, family: usize, qualifiers: u8, at: i64 },
    DeleteRow { row: u8 },
    DeleteColumn { row: u8, qualifier: u8 },
    Flush,
}

const FAMILIES: [&str; 2] = ["a", "b"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => (0u8..20, 0usize..2, 0u8..30, 0i64..4)
            .prop_map(|(row, family, qualifiers, at)| Step::Put { row, family, qualifiers, at }),
        1 => (0u8..20).prop_map(|row| Step::DeleteRow { row }),
        2 => (0u8..20, 0u8..30).prop_map(|(row, qualifier)| Step::DeleteColumn { row, qualifier }),
        2 => Just(Step::Flush),
    ];
    prop::collection::vec(step, 1..60)
}

fn key(row: u8) -> String {
    format!("{}{row}", if row.is_multiple_of(2) { "c" } else { "x" })
}

fn apply(table: &Table, step: &Step) {
    let qualifier = |nth: u8| format!("q{nth:02}");
    match *step {
        Step::Put { row, family, qualifiers, at } => {
            let mut put = Put::new(key(row)).unwrap();
            for nth in 0..=qualifiers {
                put = put.add_at(FAMILIES[family], qualifier(nth), millis(at), "v").unwrap();
            }
            table.mutate(&put.into()).unwrap();
        }
        Step::DeleteRow { row } => {
            table.mutate(&Delete::new(key(row)).unwrap().into()).unwrap();
        }
        Step::DeleteColumn { row, qualifier: nth } => {
            let delete = Delete::new(key(row))
                .unwrap()
                .column("a", qualifier(nth), Timestamp::LATEST)
                .unwrap();
            table.mutate(&delete.into()).unwrap();
        }
        Step::Flush => table.flush().unwrap(),
    }
}

fn scans() -> impl Strategy<Value = Scan> {
    let scan = (0u8..20, 0u8..20, 0usize..6, any::<bool>(), prop::option::of(1u64..6));
    scan.prop_map(|(from, to, kind, reversed, limit)| {
        let range = RowRange::new(key(from.min(to)), key(from.max(to)));
        let mut scan = Scan { limit, reversed, ..Scan::new(range) };
        match kind {
            0 => scan.columns.add_family("b"),
            1 => scan.columns.add_column("a", "q03"),
            2 => scan.versions = 3,
            3 => scan.time_range = TimeRange::new(millis(1), millis(3)).unwrap(),
            4 => scan.filter = Some(Box::new(Filter::parse("ColumnPrefixFilter('q1')").unwrap())),
            _ => {}
        }
        scan
    })
}

fn cells(rows: &[Row]) -> Vec<Cell> {
    rows.iter().flat_map(|row| row.cells().map(|cell| cell.to_cell())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_traced_read_returns_the_cells_of_a_plain_read_and_counts_them(
        steps in steps(),
        scans in prop::collection::vec(scans(), 1..6),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (store, table) = open(dir.path(), &FAMILIES.map(family));
        steps.iter().for_each(|step| apply(&table, step));
        let plain = Arc::new(store.read_point());
        for scan in scans {
            let expected = rows(&table, &scan, &plain);
            let (result, report) = traced(&store, |point| rows(&table, &scan, point));
            prop_assert_eq!(cells(&result), cells(&expected));
            let total = report.total();
            prop_assert_eq!(total.rows_returned, result.len() as u64);
            prop_assert_eq!(total.cells_returned, cells(&result).len() as u64);
            prop_assert!(total.rows_read >= total.rows_returned);
            prop_assert!(total.cells_read >= total.cells_returned);
        }
        for row in 0..20 {
            let get = Get::new(key(row)).unwrap();
            let expected = table.get_at(&get, &plain).unwrap();
            let (result, report) = traced(&store, |point| table.get_at(&get, point).unwrap());
            prop_assert_eq!(cells(&[result]), cells(std::slice::from_ref(&expected)));
            let total = report.total();
            prop_assert_eq!(total.rows_returned, u64::from(!expected.is_empty()));
            prop_assert_eq!(total.cells_returned, expected.cells().count() as u64);
        }
    }
}
