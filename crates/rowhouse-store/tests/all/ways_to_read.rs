//! Reverse scans, partial rows, limits per family, time ranges per family, and reads at a read
//! point: each returns the corresponding part of a plain forward read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rowhouse_model::{
    Cell, Delete, FamilyDescriptor, Filter, Get, Put, Row, RowRange, Scan, TableDescriptor,
    TableName, TimeRange, Timestamp,
};
use rowhouse_store::{
    CompactionKind, CompactionSettings, ScanLimits, Scanned, Settings, Store, Table,
};

const FAMILIES: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Step {
    Put { row: u8, family: usize, qualifiers: u8, at: i64, value_len: usize },
    Delete { row: u8, family: usize },
    Flush,
    Compact,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        // A value of 30 kB makes rows span blocks.
        12 => (0u8..24, 0usize..3, 0u8..40, 0i64..4, prop_oneof![9 => 0usize..9, 1 => Just(30_000)])
            .prop_map(|(row, family, qualifiers, at, value_len)| Step::Put {
                row, family, qualifiers, at, value_len
            }),
        1 => (0u8..24, 0usize..3).prop_map(|(row, family)| Step::Delete { row, family }),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact),
    ];
    prop::collection::vec(step, 1..50)
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

/// Rows of different lengths, some of which are prefixes of others.
fn row(number: u8) -> Vec<u8> {
    let text = [&b"k"[..], &[b'a' + number / 3], &b"xx"[..usize::from(number % 3)]];
    text.concat()
}

/// Returns a table of two regions after the steps.
fn table(dir: &std::path::Path, steps: &[Step]) -> (Store, Arc<Table>) {
    // A compaction of all files between two reads may uncover cells in memory that a marker
    // covered.
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let mut descriptor = TableDescriptor::new(name.clone());
    for (family, encoding) in FAMILIES.iter().zip(["NONE", "ROW_INDEX_V1", "NONE"]) {
        let family = FamilyDescriptor::new(*family).unwrap().versions(3);
        descriptor = descriptor.family(
            family.attribute("DATA_BLOCK_ENCODING", encoding).attribute("BLOCKSIZE", "1024"),
        );
    }
    store.create_table(descriptor, &["ke".into()]).unwrap();
    let table = store.table(&name).unwrap();
    for step in steps {
        match step {
            Step::Put { row: number, family, qualifiers, at, value_len } => {
                let mut put = Put::new(row(*number)).unwrap();
                for qualifier in 0..=*qualifiers % 8 {
                    let qualifier = [b'p' + qualifier % 8];
                    let value = vec![qualifiers.wrapping_mul(7); *value_len];
                    put = put.add_at(FAMILIES[*family], qualifier, millis(*at), value).unwrap();
                }
                table.mutate(&put.into()).unwrap();
            }
            Step::Delete { row: number, family } => {
                let delete = Delete::new(row(*number)).unwrap();
                let delete = delete.family(FAMILIES[*family], millis(2)).unwrap();
                table.mutate(&delete.into()).unwrap();
            }
            Step::Flush => table.flush().unwrap(),
            Step::Compact => table.compact(CompactionKind::Major).unwrap(),
        }
    }
    (store, table)
}

fn read(table: &Arc<Table>, scan: Scan) -> Vec<Row> {
    let mut scanner = table.scan(scan).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap()).collect()
}

/// A scan of everything, as the plain read does it.
fn all(versions: u32) -> Scan {
    Scan::all().versions(versions)
}

/// Joins consecutive partial rows by row.
fn joined(parts: Vec<Row>) -> Vec<Row> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for part in parts {
        match rows.last_mut() {
            Some(row) if row[0].row() == part.key() => row.extend(part.to_cells()),
            _ => rows.push(part.to_cells()),
        }
    }
    rows.into_iter().map(Row::new).collect()
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.min(30), max_shrink_iters: 500, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn backward_is_forward_from_its_end(
        steps in steps(),
        bounds in (0u8..24, 0u8..24, any::<bool>(), any::<bool>()),
        limit in prop::option::of(0u64..9),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = table(dir.path(), &steps);
        let start = row(bounds.0.min(bounds.1));
        let stop = row(bounds.0.max(bounds.1));
        let range = RowRange::new(
            if bounds.2 { start } else { Vec::new() },
            if bounds.3 { stop } else { Vec::new() },
        );
        let forward = Scan { range, ..all(3) };
        let mut expected = read(&table, forward.clone());
        expected.reverse();
        expected.truncate(limit.map_or(usize::MAX, |limit| limit as usize));
        prop_assert_eq!(read(&table, Scan { limit, ..forward.reversed() }), expected);
    }

    #[test]
    fn parts_make_up_the_rows_and_have_the_requested_size(
        steps in steps(),
        batch in 1u32..7,
        reversed in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = table(dir.path(), &steps);
        let whole = read(&table, Scan { reversed, ..all(2) });
        let parts = read(&table, Scan { reversed, batch: Some(batch), ..all(2) });
        let mut expected = Vec::new();
        for row in &whole {
            let cells = row.to_cells();
            expected.extend(cells.chunks(batch as usize).map(|cells| Row::new(cells.to_vec())));
        }
        prop_assert_eq!(parts, expected);
    }

    #[test]
    fn rows_left_for_lack_of_room_go_on_where_they_were(
        steps in steps(),
        // Above 64 KiB, several columns are added at once.
        bytes in prop_oneof![1u64..3000, 65_537u64..200_000],
        versions in 1u32..=3,
        batch in prop::option::of(1u32..5),
        reversed in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = table(dir.path(), &steps);
        for region in table.regions() {
            let scan = Scan { reversed, ..all(versions) };
            let mut scanner = region.scan(&scan).unwrap();
            let whole: Vec<Row> = std::iter::from_fn(|| scanner.next().unwrap()).collect();
            let mut scanner = region.scan(&Scan { batch, ..scan }).unwrap();
            let mut parts = Vec::<Row>::new();
            let mut ended = 0;
            let limits = ScanLimits { bytes, until: None };
            while let Scanned::Row { row, is_partial } = scanner.next_part(&limits).unwrap() {
                // No cell follows the one that reaches the limit, as in HBase.
                let last = row.cells().last().unwrap().as_bytes().len();
                prop_assert!(bytes > 3000 || row.byte_len() < bytes + last as u64);
                ended += usize::from(!is_partial);
                parts.push(row);
            }
            prop_assert!(ended <= whole.len());
            prop_assert_eq!(joined(parts), whole);
        }
    }

    #[test]
    fn limits_per_family_cut_the_cells_of_each(
        steps in steps(),
        limit in prop::option::of(1u32..6),
        offset in 0u32..4,
        reversed in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = table(dir.path(), &steps);
        let cut = |row: &Row| {
            let cells = row.to_cells();
            let limit = limit.map_or(usize::MAX, |limit| limit as usize);
            let retained = FAMILIES.iter().flat_map(|family| {
                let of_family = cells.iter().filter(|cell| cell.family() == family.as_bytes());
                of_family.skip(offset as usize).take(limit).cloned().collect::<Vec<_>>()
            });
            Row::new(retained.collect())
        };
        let whole = read(&table, Scan { reversed, ..all(3) });
        let expected: Vec<Row> = whole.iter().map(cut).filter(|row| !row.is_empty()).collect();
        let scan = Scan { reversed, family_limit: limit, family_offset: offset, ..all(3) };
        prop_assert_eq!(read(&table, scan), expected);
        for row in &whole {
            let mut get = Get::new(row.key().to_vec()).unwrap().versions(3);
            (get.family_limit, get.family_offset) = (limit, offset);
            prop_assert_eq!(table.get(&get).unwrap(), cut(row));
        }
    }

    #[test]
    fn a_family_can_have_a_time_range_of_its_own(steps in steps(), at in 0i64..4) {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = table(dir.path(), &steps);
        let only = TimeRange::at(millis(at));
        let own = [("b".into(), only)].into();
        let with_own = read(&table, Scan { family_time_ranges: own, ..all(3) });
        let apart = |family: &'static str, range| {
            read(&table, Scan { time_range: range, ..all(3).family(family) })
        };
        let mut expected: Vec<Cell> = Vec::new();
        for (family, range) in [("a", TimeRange::ALL), ("b", only), ("c", TimeRange::ALL)] {
            expected.extend(apart(family, range).iter().flat_map(Row::to_cells));
        }
        expected.sort_by(|a, b| a.key().cmp(&b.key()));
        let cells: Vec<Cell> = with_own.iter().flat_map(Row::to_cells).collect();
        prop_assert_eq!(cells, expected);
    }
}

#[test]
fn a_scan_that_is_out_of_time_says_how_far_it_came_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let put = |row| Step::Put { row, family: 0, qualifiers: 0, at: 1, value_len: 1 };
    let (_store, table) = table(dir.path(), &(0..9).map(put).collect::<Vec<_>>());
    let mut scanner = table.regions()[0].scan(&Scan::all()).unwrap();
    let over =
        ScanLimits { until: Some(Instant::now() - Duration::from_secs(1)), ..ScanLimits::NONE };
    let mut rows = 0;
    assert_eq!(scanner.next_part(&over).unwrap(), Scanned::Paused(row(0).into()));
    while let Scanned::Row { .. } = scanner.next_part(&ScanLimits::NONE).unwrap() {
        rows += 1;
    }
    assert_eq!(rows, 9);
}

#[test]
fn a_hint_from_a_column_without_a_name_passes_markers_of_the_family_forward_alone_as_in_hbase() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = table(dir.path(), &[]);
    let put = Put::new("b").unwrap().add_at("a", "", millis(6), "").unwrap();
    table.mutate(&put.add_at("a", "xy", millis(4), "deleted").unwrap().into()).unwrap();
    table.mutate(&Delete::new("b").unwrap().family("a", millis(5)).unwrap().into()).unwrap();
    let count = |reversed| {
        let mut scan = Scan::all().filter(Filter::ColumnPrefix("xy".into()));
        scan.reversed = reversed;
        read(&table, scan).len()
    };
    assert_eq!((count(false), count(true)), (1, 0));
}

#[test]
fn a_hint_to_an_older_version_passes_markers_of_the_column_forward_alone_as_in_hbase() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = table(dir.path(), &[]);
    let put = Put::new("b").unwrap().add_at("a", "x", millis(6), "").unwrap();
    table.mutate(&put.add_at("a", "x", millis(4), "deleted").unwrap().into()).unwrap();
    table.mutate(&Delete::new("b").unwrap().column("a", "x", millis(5)).unwrap().into()).unwrap();
    let count = |reversed| {
        let timestamps = [4].into();
        let mut scan =
            Scan::all().versions(9).filter(Filter::Timestamps { timestamps, can_hint: true });
        scan.reversed = reversed;
        read(&table, scan).len()
    };
    assert_eq!((count(false), count(true)), (1, 0));
}
